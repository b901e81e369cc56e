"""Play the golden games and write them: set-ups, action texts, and the states that they end in."""

from __future__ import annotations

import argparse
from pathlib import Path

import jax

from tests.conftest import GAMES
from tests.golden import FILE, digests, write
from tests.referee.duel import agree
from tests.referee.engine import Engine

COUNT = 20
FIRST_SEED = 70000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.make", description=__doc__)
    parser.add_argument("--ruleset", default="lost_fleet")
    parser.add_argument("--out", type=Path, default=FILE)
    args = parser.parse_args()
    engine = Engine(args.ruleset, GAMES)
    seeds = range(FIRST_SEED, FIRST_SEED + COUNT)
    games = []
    for first in range(0, COUNT, GAMES):
        setups = {seed: engine.draw_setup(seed) for seed in seeds[first : first + GAMES]}
        matches = agree(engine, setups)
        ends = jax.device_get(engine.state.game)
        for lane, match in enumerate(matches):
            end = jax.tree.map(lambda leaf, lane=lane: leaf[lane], ends)
            games.append(
                {
                    "seed": match.seed,
                    "policy": match.policy,
                    "version": engine.env.version,
                    "setup": match.setup,
                    "actions": match.actions,
                    "final_vp": [int(vp) for vp in end.players.vp],
                    "digests": digests(end),
                }
            )
    write(games, args.out)
    print(f"{args.out}: {len(games)} games, {sum(len(g['actions']) for g in games)} decisions")


if __name__ == "__main__":
    main()

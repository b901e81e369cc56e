"""Random games in numbers: `python -m benchmarks.random_games --games 10000`.

Plays whole games by uniform random legal actions, checks what must hold in every one of them, and
prints the table of docs/lab/random_play.md.
"""

from __future__ import annotations

import sys
import time

import jax
import numpy as np

import gaia_jax
from benchmarks.games import UNIFORM, arguments, play


def broken(state) -> dict[str, int]:
    """Games in which something does not hold that must, by name of the invariant."""
    game = jax.tree.map(np.asarray, state.game)
    players, turn = game.players, game.turn
    held = players.power.sum(-1) + players.gaia_power
    caps = (players.credits <= 30) & (players.ore <= 15) & (players.knowledge <= 15)
    least = (players.credits >= 0) & (players.ore >= 0) & (players.knowledge >= 0)
    checks = {
        "ended in round 6": np.asarray(state.terminated) & (turn.round == 6),
        "not truncated": ~np.asarray(state.truncated),
        "VP are the sum of their sources": (players.vp == players.vp_source.sum(-1)).all(-1),
        "VP >= 0": (players.vp >= 0).all(-1),
        "resources within caps": (caps & least & (players.qic >= 0)).all(-1),
        "power tokens in range": ((players.power >= 0).all(-1) & (held < 100)).all(-1),
        "pieces within supply": (players.built <= [99, 8, 4, 3, 1, 1, 1]).all((-1, -2)),
        "satellites counted": (game.board.satellite.sum(-1) == players.satellites).all(-1),
        "one player on level 5 of a track": ((players.tracks == 5).sum(-2) <= 1).all(-1),
        "tracks in range": ((players.tracks >= 0) & (players.tracks <= 5)).all((-1, -2)),
    }
    return {name: int((~ok).sum()) for name, ok in checks.items() if not ok.all()}


def main(argv: list[str] | None = None) -> int:
    """The command line; 1 if an invariant is broken."""
    parser = arguments(__doc__)
    args = parser.parse_args(argv)
    env = gaia_jax.make(args.ruleset, players=args.players)
    run, policy = play(env, args.batch), UNIFORM.tables(env.ruleset)
    sources, decisions, factions, vps, failures = [], [], [], [], {}
    began = time.time()
    for i in range(-(-args.games // args.batch)):
        state, count, _ = run(jax.random.fold_in(jax.random.PRNGKey(args.seed), i), policy)
        for name, games in broken(state).items():
            failures[name] = failures.get(name, 0) + games
        sources.append(np.asarray(state.game.players.vp_source).reshape(-1, 18))
        vps.append(np.asarray(state.game.players.vp).ravel())
        factions.append(np.asarray(state.game.setup.faction).ravel())
        decisions.append(np.asarray(count))
        print(f"{(i + 1) * args.batch} games, {time.time() - began:.0f} s", file=sys.stderr)
    source, count = np.concatenate(sources), np.concatenate(decisions)
    vp, faction = np.concatenate(vps), np.concatenate(factions)
    ids = env.ruleset.ids
    what = f"{env.ruleset.name} {env.version}"
    print(f"{count.size} games of uniform random play, seed {args.seed}, {what}\n")
    print(f"Decisions a game: mean {count.mean():.1f}, min {count.min()}, max {count.max()}.")
    print(f"VP a seat: mean {vp.mean():.2f}, min {vp.min()}, max {vp.max()}.\n")
    print("| source | mean VP |\n| --- | --- |")
    for name, mean in zip(ids["vp_source"], source.mean(0), strict=True):
        print(f"| {name} | {mean:.2f} |")
    print("\n| faction | seats | mean VP |\n| --- | --- | --- |")
    for i, name in enumerate(ids["faction"]):
        print(f"| {name} | {(faction == i).sum()} | {vp[faction == i].mean():.2f} |")
    print(
        "\nBroken invariants: " + (", ".join(f"{k} ({v})" for k, v in failures.items()) or "none")
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

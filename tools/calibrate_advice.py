"""How near the advice of the default minute is to that of eight times its games.

    python -m tools.calibrate_advice --setups 8 --seed 35601 --out advice.json

Set-ups are those of `python -m training.advise --seed N`. The measurement is on other luck and has
other opponents: factions are dealt anew. What is measured is kept in `--out` after each set-up, and
gone on with.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from scipy import stats

import gaia_jax
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, whole
from training import zoo
from training.analysis import advice
from training.games.stats import estimate, share
from training.system import cli, devices
from training.system.environments import make_env

AGENT = "zoo/strong"
GAMES = 64  # of each faction, by default
TIMES = 8  # so many times the games
FORMAT = "gaia_jax advice measured 1"
OURS = outputs.json_with(format=FORMAT)


def told(setup: Any, advisor: advice.Advisor, seeds: range) -> dict[str, Any]:
    """VP of each faction with their intervals, from the games of some seeds."""
    boards = advice.boards_of(advisor.env, setup)
    factions, vp = [], []
    for seed in seeds:
        dealt = advice.design(boards, GAMES, seed)
        played = advisor.play(setup, dealt, seed)
        if len(played.vp) < len(dealt):
            raise KeyboardInterrupt
        factions.append(played.faction)
        vp.append(played.vp)
    every, own = np.concatenate(factions), np.concatenate(vp)
    none = np.full(every.shape, advice.NONE)
    games = advice.PlayedGames(every, own, own[..., None], none, none[..., None], [])
    found = advice.advise(games, boards, advisor.env.ruleset.ids)
    return {one.name: [one.estimate, one.low, one.high] for one in found.vp}


def compared(quick: dict[str, Any], full: dict[str, Any]) -> dict[str, Any]:
    """The rank correlation of two measurements, and how many intervals of the first hold.

    Args:
        quick, full: by faction its VP and their interval.
    """
    pairs = [(quick[name], full[name]) for name in full]
    rank = stats.spearmanr([one[0] for one, _ in pairs], [other[0] for _, other in pairs])
    held = [one[1] <= other[0] <= one[2] for one, other in pairs]
    return {"rank": float(rank.statistic), "held": held}


def report(rows: list[dict[str, Any]]) -> str:
    """Rank correlation and coverage over set-ups."""
    ranks = np.array([row["rank"] for row in rows])
    held = np.array([np.mean(row["held"]) for row in rows])
    lines = [f"{row['seed']}: rank {row['rank']:.2f}, held {sum(row['held'])}" for row in rows]
    if len(rows) > 1:
        lines.append(f"{len(rows)} set-ups: rank {estimate(ranks)}, {ranks.min():.2f} the least")
        lines.append(f"the interval holds what was measured: {share(held)}")
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.calibrate_advice", __doc__)
    parser.add_argument("--setups", type=whole(1, 1000), default=8)
    parser.add_argument("--seed", type=whole(0, 10**9), default=0, help="of the first one")
    parser.add_argument("--out", type=Path, required=True, help="what was measured, JSON")
    args: argparse.Namespace = parser.parse_args()
    outputs.check_file("--out", args.out, OURS)
    sha256 = zoo.about(AGENT)["sha256"]
    found = {"format": FORMAT, "sha256": sha256, "rows": []}
    if args.out.exists():
        found = json.loads(args.out.read_text("utf-8"))
    if found["sha256"] != sha256:
        raise UserError(f"{args.out} is of another {AGENT}")
    devices.split_cpu(0, 18 * GAMES // 4 // 64 * 64)
    env = make_env(gaia_jax, "lost_fleet", "vp", 4)
    advisor = advice.Advisor.named(env, AGENT)
    known = {row["seed"] for row in found["rows"]}
    for seed in range(args.seed, args.seed + args.setups):
        if seed in known:
            continue
        setup = env.draw_setup(jax.random.key(seed))
        quick = told(setup, advisor, range(1))
        full = told(setup, advisor, range(1, 1 + TIMES))
        row = {"seed": seed, "quick": quick, "full": full}
        found["rows"].append(row | compared(quick, full))
        outputs.write_json(args.out, found)
        print(report(found["rows"]), flush=True)
    return 0


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

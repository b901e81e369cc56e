"""Compare the advice of the default number of games with that of eight times as many.

    python -m tools.calibrate_advice --setups 8 --seed 35601 --out advice.json

Set-ups are those of `gaia advise --seed N`. The reference uses other random numbers
and other opponents: the factions are dealt again. Results are written to `--out` after each set-up;
a later call continues them.
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
TIMES = 8  # factor of the games in the reference
FORMAT = "gaia_jax advice measured 2"
OUTPUT_CHECK = outputs.json_with(format=FORMAT)


def measure_vp(setup: Any, advisor: advice.Advisor, seeds: range) -> dict[str, Any]:
    """VP of each faction with their intervals, from the games of some seeds."""
    boards = advice.boards_of(advisor.env, setup)
    factions, vp, wins = [], [], []
    for seed in seeds:
        dealt = advice.design(boards, GAMES, seed)
        played = advisor.play(setup, dealt, seed)
        if len(played.vp) < len(dealt):
            raise KeyboardInterrupt
        factions.append(played.faction)
        vp.append(played.vp)
        wins.append(played.wins)
    faction_ids, own = np.concatenate(factions), np.concatenate(vp)
    none = np.full(faction_ids.shape, advice.NONE)
    games = advice.PlayedGames(
        faction_ids, own, np.concatenate(wins), own[..., None], none, none[..., None], []
    )
    advised = advice.advise(games, boards, advisor.env.ruleset.ids)
    return {faction.name: [faction.estimate, faction.low, faction.high] for faction in advised.vp}


def compare(quick: dict[str, Any], full: dict[str, Any]) -> dict[str, Any]:
    """The rank correlation of two measurements, and which intervals of the first are right.

    Args:
        quick, full: by faction its VP and the ends of their interval.
    """
    pairs = [(quick[name], full[name]) for name in full]
    rank = stats.spearmanr(
        [estimated[0] for estimated, _ in pairs], [reference[0] for _, reference in pairs]
    )
    covered = [estimated[1] <= reference[0] <= estimated[2] for estimated, reference in pairs]
    return {"rank": float(rank.statistic), "covered": covered}


def report(rows: list[dict[str, Any]]) -> str:
    """Rank correlation and coverage over set-ups."""
    ranks = np.array([row["rank"] for row in rows])
    coverage = np.array([np.mean(row["covered"]) for row in rows])
    lines = [
        f"{row['seed']}: rank {row['rank']:.2f}, covered {sum(row['covered'])}" for row in rows
    ]
    if len(rows) > 1:
        lines.append(f"{len(rows)} set-ups: rank {estimate(ranks)}, {ranks.min():.2f} the least")
        lines.append(f"share of intervals that cover the reference: {share(coverage)}")
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.calibrate_advice", __doc__)
    parser.add_argument("--setups", type=whole(1, 1000), default=8)
    parser.add_argument("--seed", type=whole(0, 10**9), default=0, help="of the first one")
    parser.add_argument("--out", type=Path, required=True, help="results, JSON")
    args: argparse.Namespace = parser.parse_args()
    outputs.check_file("--out", args.out, OUTPUT_CHECK)
    sha256 = zoo.about(AGENT)["sha256"]
    results = {"format": FORMAT, "sha256": sha256, "rows": []}
    if args.out.exists():
        results = json.loads(args.out.read_text("utf-8"))
    if results["sha256"] != sha256:
        raise UserError(f"{args.out} is of another {AGENT}")
    devices.split_cpu(0, 18 * GAMES // 4 // 64 * 64)
    env = make_env(gaia_jax, "lost_fleet", "vp", 4)
    advisor = advice.Advisor.named(env, AGENT)
    measured_seeds = {row["seed"] for row in results["rows"]}
    for seed in range(args.seed, args.seed + args.setups):
        if seed in measured_seeds:
            continue
        setup = env.draw_setup(jax.random.key(seed))
        quick = measure_vp(setup, advisor, range(1))
        full = measure_vp(setup, advisor, range(1, 1 + TIMES))
        row = {"seed": seed, "quick": quick, "full": full}
        results["rows"].append(row | compare(quick, full))
        outputs.write_json(args.out, results)
        print(report(results["rows"]), flush=True)
    return 0


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

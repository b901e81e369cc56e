"""Join games or labels that were computed in parts.

    python -m training.merge all.parquet part-*.parquet --json games.json   # or all.csv
    python -m training.merge labels part-0 part-1                   # of training.labels --out

A game depends only on its number, so the split does not matter. A missing, damaged, foreign or
repeated part is rejected.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, wrote

from .system import cli, environments
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    suffixes = {path.suffix for path in args.parts}
    if suffixes == {".parquet"} and args.out.suffix in (".parquet", ".csv"):
        return _merge_games(args, environments.module(env_module))
    if suffixes & {".parquet", ".csv", ".npz"} or args.out.suffix:
        raise UserError("all parts must be .parquet and OUT .parquet or .csv, or all are folders")
    from .imitation import expert_data

    if args.json:
        raise UserError("labels have no report: leave out --json")
    outputs.check_folder("OUT", args.out)
    expert_data.merge(args.out, args.parts)
    wrote(args.out)
    return 0


def _merge_games(args: argparse.Namespace, module: EnvModule) -> int:
    """Join the games and report them as the command that played them does."""
    from .games import report, store

    report_file = (args.json, outputs.REPORT)
    outputs.check_files({"OUT": (args.out, outputs.nothing), "--json": report_file})
    cli.need_pyarrow(f"{args.parts[0]} needs")

    def ids_of(env: str, players: int) -> Any:
        return environments.make_env(module, env, "vp", players).ruleset.ids

    head, games = store.merge(args.parts, ids_of)
    about, ids = head.about, ids_of(head.about["env"], head.players)
    if "opponent" in about:
        result = about | {"first": head.first} | report.evaluation_report(games, ids)
        text = report.format_evaluation(result)
    else:
        result = about | report.arena_report(games, store.names_of(about), ids)
        text = report.format_arena(result)
    outputs.write_bytes(args.out, store.encode(args.out, head, games, ids))
    print(text)
    if args.json:
        outputs.write_json(args.json, result)
    wrote(args.out, args.json)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.merge", __doc__)
    text = "a Parquet or CSV file, or a folder of labels"
    parser.add_argument("out", metavar="OUT", type=Path, help=text)
    text = "Parquet files of games, or folders of labels"
    parser.add_argument("parts", metavar="PART", type=Path, nargs="+", help=text)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))

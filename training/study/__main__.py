"""Findings from a dataset, or what a position is worth.

python -m training.study docs/sample --beside docs/lab/before.json   # docs/lab/findings.md
python -m training.study DATA --figures FILE             # the numbers alone, as JSON
python -m training.study --position RECORD --at N --agent zoo/quick --playouts 200
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..system import atomic_files, cli, environments
from ..system.cli import UserError
from ..types import EnvModule

if TYPE_CHECKING:
    from ..games.schema import About

COPIES = Path("runs/study")
OURS = atomic_files.json_with("record", "at", "seat", "actions")  # the mark of a position's JSON


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        env_module: what `make`s environments; None is `gaia_jax`.
    Returns:
        The exit code.
    """
    args = _parse(argv)
    env_module = environments.module(env_module)
    if args.position:
        from ..analysis import position

        return position.main(args, env_module)
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UserError('datasets need pyarrow: pip install "gaia_jax[data]"') from error
    from ..games import dataset
    from . import figures, findings
    from .table import load

    if args.figures:
        atomic_files.check_file("--figures", args.figures, figures.OURS)
    else:
        findings.check(args.out, args.page)
    beside = figures.load(args.beside) if args.beside else None
    about = dataset.read_whole(args.data)
    kinds = {(part["env"], part["players"]) for part in about["parts"]}
    if len(kinds) > 1:
        raise UserError(f"games of several rules: {sorted(kinds)}")
    name, players = kinds.pop()
    env = dataset.env_of(args.data, env_module, name, players)
    dataset.check_games(args.data, about, env)
    if args.figures:
        table = load(args.data)
        figures.save(args.figures, args.data, table, figures.of_games(table, env.ruleset))
        cli.wrote(args.figures)
        return 0
    every = None if args.games_only else _with_decisions(args.data, about, env_module, args.decided)
    findings.write(args.data, args.out, env.ruleset, args.page, beside, every, args.decided)
    cli.wrote(args.out / f"{args.page}.md")
    return 0


def _with_decisions(data: Path, about: About, env_module: EnvModule, games: int | None) -> Path:
    """The dataset, or a copy of it in `runs/study` that has decisions; the dataset stays as it is.

    The copy is named for its games, so that it is made once.

    Args:
        games: the number of games to copy, from the first; None is all.
    """
    from ..games import dataset, decisions, export, shards

    total = about["files"][dataset.GAMES]["rows"]
    games = min(games or total, total)
    if dataset.DECISIONS in about["files"]:
        rows = about["files"][dataset.DECISIONS]["rows"]
        shards.check(data / dataset.DECISIONS, decisions.schema(), rows)
        return data
    copy = COPIES / f"{about['files'][dataset.GAMES]['sha256'][:16]}_{games}"
    if not (copy / dataset.ABOUT).exists():
        copy.mkdir(parents=True, exist_ok=True)
        groups = shards.row_groups(data / dataset.GAMES)
        first = (table.slice(0, max(games - at, 0)) for at, table in groups if at < games)
        shards.assemble(copy / dataset.GAMES, first)
        dataset.finish(copy, _first(about["parts"], games), dataset.of_files(data))
    with atomic_files.folder_lock(copy):
        export.derive(copy, env_module, policy=False)
    return copy


def _first(parts: list[dict[str, Any]], games: int) -> list[dict[str, Any]]:
    """The parts that the first games belong to."""
    selected = []
    for part in parts:
        if games > 0:
            selected.append(part | {"games": min(part["games"], games)})
        games -= part["games"]
    return selected


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.study", __doc__)
    parser.add_argument("data", nargs="?", type=Path, help="a dataset of training.export")
    parser.add_argument("--out", type=Path, default=Path("docs/lab"), help="where the page goes")
    parser.add_argument(
        "--page", metavar="NAME", default="findings", help="its name; its pictures lie in NAME/"
    )
    parser.add_argument(
        "--games-only", action="store_true",
        help="leave out what needs every decision: no game is played again",
    )  # fmt: skip
    parser.add_argument(
        "--decided", metavar="N", type=cli.whole(1, 10**9),
        help="ask what needs every decision of the first N games alone: only they are played again",
    )  # fmt: skip
    parser.add_argument(
        "--figures", metavar="FILE", type=Path,
        help="write what needs no decision as JSON, and no page: for --beside of another one",
    )  # fmt: skip
    parser.add_argument(
        "--beside", metavar="FILE", type=Path,
        help="figures of another agent's games, which the page shows beside its own",
    )  # fmt: skip
    parser.add_argument("--position", metavar="RECORD", type=Path, help="a game record")
    parser.add_argument(
        "--at", metavar="N", type=cli.whole(1, 10**4), default=1, help="the number of a decision"
    )
    parser.add_argument("--agent", default="zoo/quick", help="who plays on, at all seats")
    parser.add_argument(
        "--playouts", type=cli.whole(1, 10**5), default=64, help="of every candidate"
    )
    parser.add_argument(
        "--candidates", type=cli.whole(1, 1023), default=8, help="how many actions are tried"
    )
    parser.add_argument("--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="of play")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the outcomes here")
    cli.add_cache_flag(parser)
    args = parser.parse_args(argv)
    if bool(args.data) == bool(args.position):
        raise UserError("a dataset, or --position RECORD --at N")
    if args.json:
        atomic_files.check_file("--json", args.json, OURS)
    return args


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION of the current folder
    sys.exit(cli.run(main))

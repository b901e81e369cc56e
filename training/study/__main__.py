"""Tables of effects from a dataset.

python -m training.study docs/sample --beside docs/lab/before.json  # runs/study/findings.md
python -m training.study DATA --figures FILE                        # the numbers alone, JSON
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, whole, wrote

from ..system import cli, environments
from ..types import EnvModule

if TYPE_CHECKING:
    from ..games.schema import About

OUT = Path("runs/study")  # default of --out, and the parent of the folders of `_derive_decisions`


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    env_module = environments.module(env_module)
    cli.need_pyarrow("datasets need")
    from ..games import dataset
    from . import questions, report, results_file
    from .game_table import load

    if args.figures:
        outputs.check_file("--figures", args.figures, results_file.IS_OWN_FILE)
    else:
        report.check_outputs(args.out, args.page)
    other_results = results_file.load(args.beside) if args.beside else None
    about = dataset.read_whole(args.data)
    rules = {(part["env"], part["players"]) for part in about["parts"]}
    if len(rules) > 1:
        names = ", ".join(f"{name} for {players} players" for name, players in sorted(rules))
        raise UserError(f"a study takes games of one ruleset, {args.data} has {names}")
    name, players = rules.pop()
    if players == 1:
        raise UserError(f"a study compares the players of a game, {args.data} has games of one")
    env = dataset.env_of(args.data, env_module, name, players)
    dataset.check_games(args.data, about, env)
    decision_folder = None
    if not (args.figures or args.games_only):
        decision_folder = _derive_decisions(args.data, about, env_module, args.decided)
    table = load(args.data)
    answers = questions.answer_for_games(table, env.ruleset)
    if args.figures:
        results_file.save(args.figures, args.data, table, answers)
        wrote(args.figures)
        return 0
    decision_table, decisions = table, None
    if decision_folder is not None:
        from . import decision_counts

        decision_table = load(args.data, args.decided)
        decisions = decision_counts.load(decision_folder, len(decision_table.vp), players)
        answers |= questions.answer_for_decisions(decision_table, decisions, about.get("slots", {}))
    by_faction = questions.answer_for_factions(table, decision_table, decisions)
    num_deals = len(set(table.deal.tolist()))
    results = results_file.Results(len(table.vp), num_deals, about, answers)
    num_decision_games = None if decisions is None else len(decision_table.vp)
    built_report = report.build(results, by_faction, env.ruleset, other_results, num_decision_games)
    report.write(built_report, args.out, args.page)
    wrote(args.out / f"{args.page}.md")
    return 0


def _derive_decisions(data: Path, about: About, env_module: EnvModule, games: int | None) -> Path:
    """Find the decisions of a dataset; without any, replay its games and store the decisions.

    They are stored with a copy of the games in `runs/study`. The name of this folder has the hash
    and the number of the games, so a later run finds it and replays nothing.

    Args:
        games: how many to copy, from the first; None is all.
    Returns:
        The folder with `decisions.parquet`.
    """
    from ..games import dataset, decisions, export, parquet_files

    total = about["files"][dataset.GAMES]["rows"]
    games = min(games or total, total)
    if dataset.DECISIONS in about["files"]:
        rows = about["files"][dataset.DECISIONS]["rows"]
        parquet_files.check(data / dataset.DECISIONS, decisions.schema(), rows)
        return data
    folder = OUT / f"{about['files'][dataset.GAMES]['sha256'][:16]}_{games}"
    folder.mkdir(parents=True, exist_ok=True)
    with outputs.folder_lock(folder):
        if not (folder / dataset.ABOUT).exists():
            groups = parquet_files.row_groups(data / dataset.GAMES)
            first = (table.slice(0, max(games - at, 0)) for at, table in groups if at < games)
            parquet_files.assemble(folder / dataset.GAMES, first)
            parts = _select_first_parts(about["parts"], games)
            dataset.finish(folder, parts, dataset.of_files(data))
        export.derive(folder, env_module, policy=False)
    return folder


def _select_first_parts(parts: list[dict[str, Any]], games: int) -> list[dict[str, Any]]:
    """The entries of `parts` for the first games, with their numbers of games adjusted."""
    selected = []
    for part in parts:
        if games > 0:
            selected.append(part | {"games": min(part["games"], games)})
        games -= part["games"]
    return selected


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.study", __doc__, cache_flag=True)
    parser.add_argument("data", type=Path, help="folder of a dataset of gaia export")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the tables")
    parser.add_argument(
        "--page", metavar="NAME", default="findings", help="write NAME.md and NAME/effects.parquet"
    )
    parser.add_argument(
        "--games-only", action="store_true",
        help="skip the questions about decisions, which replay every game",
    )  # fmt: skip
    parser.add_argument(
        "--decided", metavar="N", type=whole(1, 10**9),
        help="answer the questions about decisions for the first N games only",
    )  # fmt: skip
    parser.add_argument(
        "--figures", metavar="FILE", type=Path,
        help="write the answers that need no decisions as JSON, for --beside, and no tables",
    )  # fmt: skip
    parser.add_argument(
        "--beside", metavar="FILE", type=Path,
        help="compare with the answers of another agent's games, a file of --figures",
    )  # fmt: skip
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION of the current folder
    sys.exit(cli.run(main))

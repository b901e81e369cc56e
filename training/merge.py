"""Put together what was played in parts.

    python -m training.merge all.csv part-*.csv --json arena.json   # of training.arena --csv
    python -m training.merge all.npz part-*.npz --json games.json   # of training.evaluate --save
    python -m training.merge labels part-0 part-1                   # of training.labels --out

Games depend on their numbers alone: the parts are what one command would have played, whatever the
split. A part that is missing, cut off, of other games or there twice is refused.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .system import atomic_files, cli, environments
from .system.cli import UserError
from .system.environments import EnvModule

if TYPE_CHECKING:
    from .games.formats import Part


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        env_module: what `make`s environments; None is `gaia_jax`.
    """
    args = _parse(argv)
    from .games import store
    from .games.formats import Csv, Format, Npz
    from .imitation import expert_data

    kind = args.out.suffix
    if any(part.suffix != kind for part in args.parts):
        raise UserError("all parts must be of one kind, and OUT too: .csv, .npz, or folders")
    module = environments.module(env_module)
    if kind not in (".csv", ".npz"):
        if args.json:
            raise UserError("labels have no report: leave out --json")
        atomic_files.check_folder("OUT", args.out, parents=True)
        expert_data.merge(args.out, args.parts)
        cli.wrote(args.out)
        return 0
    atomic_files.check_different({"OUT": args.out, "--json": args.json})
    atomic_files.check_file("OUT", args.out, atomic_files.nothing)
    if args.json:
        atomic_files.check_file("--json", args.json, atomic_files.REPORT)

    def ids_of(env: str, players: int) -> Any:
        return environments.make_env(module, env, "vp", players).ruleset.ids

    format: Format = Csv(ids_of) if kind == ".csv" else Npz()
    is_complete = store.merge(args.parts, format)
    try:
        result, text = _report(is_complete, kind, ids_of)
    except UserError as error:
        raise UserError(f"{args.parts[0]}: {error}") from error
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise UserError(f"{args.parts[0]} holds no {format.kind}") from error
    store.write(args.out, format, is_complete)
    print(text)
    if args.json:
        atomic_files.write_json(args.json, result)
    cli.wrote(args.out, args.json)
    return 0


def _report(part: Part, kind: str, ids_of: Callable[[str, int], Any]) -> tuple[dict[str, Any], str]:
    """What the command that played the games would have reported, and its text."""
    from .games.formats import names_of
    from .games.report import (
        arena_report,
        evaluation_report,
        format_arena,
        format_evaluation,
    )

    about, games = part.head.about, part.games
    assert games is not None
    ids = ids_of(about["env"], part.head.players)
    if kind == ".csv":
        result = about | arena_report(games, names_of(about), ids)
        return result, format_arena(result)
    result = about | {"first": part.head.first} | evaluation_report(games, ids)
    return result, format_evaluation(result)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.merge", __doc__)
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="a CSV, an npz, or a folder of labels"
    )
    parser.add_argument("parts", metavar="PART", type=Path, nargs="+", help="of the same kind")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))

"""Put together what was played in parts.

    python -m training.merge all.csv part-*.csv --json arena.json   # of training.arena --csv
    python -m training.merge all.npz part-*.npz --json games.json   # of training.evaluate --save
    python -m training.merge labels part-0 part-1                   # of training.labels --out

Games depend on their numbers alone: the parts are what one command would have played, whatever the
split. A part that is missing, cut off, of other games or there twice is refused.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training import evaluate, labels
from training.config import UserError
from training.games import results_file, table
from training.games.match import rotated
from training.games.report import format_table, report
from training.games.table import KEYS, Played, Sheet
from training.learn.checkpoint import make_env
from training.system import atomic_files, cli

LONGEST = 2**31  # bytes of a CSV


def main(argv: Sequence[str] | None = None, env_module: Any = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        env_module: what `make`s environments; None is `gaia_jax`.
    """
    args = _parse(argv)
    kind = args.out.suffix
    if any(part.suffix != kind for part in args.parts):
        raise UserError("all parts must be of one kind, and OUT too: .csv, .npz, or folders")
    if env_module is None:
        import gaia_jax as env_module
    if kind not in (".csv", ".npz"):
        if args.json:
            raise UserError("labels have no report: leave out --json")
        atomic_files.check_folder("OUT", args.out)
        labels.merge(args.out, args.parts)
        cli.wrote(args.out)
        return 0
    atomic_files.check_different({"OUT": args.out, "--json": args.json})
    atomic_files.check_file("OUT", args.out, atomic_files.nothing)
    if args.json:
        atomic_files.check_file("--json", args.json, atomic_files.REPORT)
    join = merge_arena if kind == ".csv" else merge_evaluation
    result, text = join(args.out, args.parts, env_module)
    print(text)
    if args.json:
        evaluate.write_json(result, args.json)
    cli.wrote(args.out, args.json)
    return 0


def merge_evaluation(out: Path, parts: list[Path], env_module: Any) -> tuple[dict[str, Any], str]:
    """The games of `training.evaluate --save`: written as one file; report and table."""
    about, results = results_file.merge(parts)
    env = _env_of(parts[0], env_module, about["env"], about.get("players", 4))
    try:
        result = about | evaluate.summarize(results, env.ruleset.ids)
        text = evaluate.table(result)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise UserError(f"{parts[0]} holds no games of {about['env']}") from error
    results_file.write(out, about, results)
    return result, text


def merge_arena(out: Path, parts: list[Path], env_module: Any) -> tuple[dict[str, Any], str]:
    """The games of `training.arena --csv`: written as one file; report and table."""
    read = sorted((_read_arena(path, env_module) for path in parts), key=lambda part: part[1].first)
    sheet = read[0][1]
    following = sheet.first
    for path, theirs, played in read:
        if theirs._replace(first=0) != sheet._replace(first=0):
            raise UserError(f"{path} is of another arena than {read[0][0]}")
        results_file.check_order(path, theirs.first, following)
        following += len(played.vp)
    whole = table.join([played for _, _, played in read])
    rows = table.rows_text(whole, sheet.first, sheet)
    atomic_files.write_text(out, table.head_text(sheet.ids) + rows)
    result = sheet.about | report(whole, sheet.names, sheet.ids)
    return result, format_table(result)


def _env_of(path: Path, env_module: Any, env_id: str, players: int) -> Any:
    """The environment that a file names; a UserError says which file named another."""
    try:
        return make_env(env_module, env_id, "vp", players)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _read_arena(path: Path, env_module: Any) -> tuple[Path, Sheet, Played]:
    """One CSV, which says itself what it is of."""
    try:
        text = cli.read_text(path, LONGEST, "the games")
        head, *lines = text.split("\r\n")
        rows = list(csv.DictReader([head, *lines[:-1]]))
        first, last = rows[0], rows[-1]
        about: dict[str, Any] = {key: first[key] for key in KEYS[:4]} | {"seed": int(first["seed"])}
        rotations = 1 + max(int(row["rotation"]) for row in rows)
        seen = {int(row["entry"]): row["agent"] for row in rows}
        names = [seen[i] for i in range(len(seen))]
        setups = int(last["setup"]) - int(first["setup"]) + 1
        if min(setups, rotations, int(first["setup"]) + 1) < 1:
            raise ValueError("its set-ups do not go up")
    except (OSError, ValueError, KeyError, IndexError, TypeError, csv.Error) as error:
        raise UserError(f"{path} holds no games of an arena") from error
    players = len(names)
    ids = _env_of(path, env_module, about["env"], players).ruleset.ids
    sheet = Sheet(about, names, ids, rotations, int(first["setup"]))
    whole = lines[-1] == "" and len(rows) == setups * rotations * players
    try:
        if head + "\r\n" != table.head_text(ids) or not whole:
            raise ValueError("its last games are cut off: go on with --csv FILE --resume")
        played = table.parse(lines[:-1], sheet, rotated(players)[:rotations], setups)
    except ValueError as error:
        raise UserError(f"{path}, {error}") from error
    assert played is not None
    return path, sheet, played


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

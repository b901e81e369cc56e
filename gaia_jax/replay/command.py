"""`python -m gaia_jax.replay FILE`: play a record and verify it; a page, a table, words."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gaia_jax.cli import command_line, outputs
from gaia_jax.cli.progress import status_line
from gaia_jax.language import in_language

if TYPE_CHECKING:
    from gaia_jax.env import State
    from gaia_jax.replay.record import Record

# What the files begin with that this command writes; others are not written over.
CSV_HEAD = b"decision,round,player,faction,node,action,words,"
LANGUAGE_FLAGS = "--moves, --csv, --html"
HTML_HEAD = b"<!doctype html>\n<!-- a game of gaia_jax -->\n"


def table(record: Record, state: State) -> str:
    """The players of a finished game, the best first, with what their VP came from."""
    env = record.env()
    players, sources = state.game.players, env.ruleset.ids["vp_source"]
    final_vp = players.vp.tolist()
    rows = [("place", "player", "faction", "VP", "most of it from")]
    factions = [env.ruleset.ids["faction"][int(x)] for x in state.game.setup.faction]
    order = sorted(range(len(final_vp)), key=lambda p: -final_vp[p])
    for player in order:
        vp = final_vp[player]
        place = 1 + sum(other > vp for other in final_vp)
        by = sorted(zip(players.vp_source[player].tolist(), sources, strict=True), reverse=True)
        largest_sources = ", ".join(f"{name} {amount}" for amount, name in by[:4] if amount > 0)
        rows.append((str(place), str(player), factions[player], str(vp), largest_sources))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def main(arguments: Sequence[str] | None = None, keep: bool = False) -> int:
    """Play the record that the command line names.

    Args:
        keep: keep the compiled programs for the next time.
    Returns:
        The exit code: 0 for a valid record, 2 for an invalid one, 130 after Ctrl-C.
    """
    return command_line.run(lambda: _checked(_parse(arguments), keep))


def _checked(options: argparse.Namespace, keep: bool) -> int:
    from gaia_jax.replay.record import RecordError
    from gaia_jax.xla.compilation_cache import enable_compilation_cache

    if keep:
        enable_compilation_cache()
    try:
        return _main(options)
    except RecordError as error:
        raise command_line.UserError(str(error)) from error


def _main(options: argparse.Namespace) -> int:
    import jax

    from gaia_jax.replay.record import read, states

    record = read(options.file)
    at, shows_progress = "compiling the game", not options.quiet
    played: list[State] = []
    with status_line(lambda: at, shows_progress):
        for count, state in enumerate(states(record)):
            played.append(jax.device_get(state))
            if count and (count % 20 == 0 or count == len(record.actions)):
                round_ = int(state.game.turn.round)
                at = f"round {round_}, {count}/{len(record.actions)} decisions"
    if shows_progress and record.actions:
        print(at, file=sys.stderr)
    writing = shows_progress and bool(options.csv or options.html)
    with status_line(lambda: "writing", writing), in_language(options.language):
        _write_out(record, played, options)
    if shows_progress:
        command_line.wrote(options.csv, options.html)
    count = len(record.actions)
    verdict = "verified" if record.final_vp else "unfinished"
    print(f"{options.file}: {record.ruleset} {record.version}, {count} decisions, {verdict}")
    print(table(record, played[-1]))
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_line.Parser(
        "python -m gaia_jax.replay", "Play a recorded game and verify its end."
    )
    parser.add_argument("file", metavar="FILE", help="a game record, JSON")
    parser.add_argument("--moves", action="store_true", help="print every decision in words")
    parser.add_argument("--csv", metavar="OUT.csv", type=Path, help="write a row a decision")
    parser.add_argument(
        "--html", metavar="OUT.html", type=Path, help="write the game as a page to look at"
    )
    command_line.add_language_flag(parser, LANGUAGE_FLAGS)
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    options = parser.parse_args(arguments)
    texts = (options.moves, options.csv, options.html)
    command_line.check_language(options.language, *texts, flags=LANGUAGE_FLAGS)
    # Before any work: a game takes seconds to play.
    marks = (outputs.begins(head.decode()) for head in (CSV_HEAD, HTML_HEAD))
    files = zip((options.csv, options.html), marks, strict=True)
    outputs.check_files(dict(zip(("--csv", "--html"), files, strict=True)))
    return options


def _write_out(record: Record, played: list[State], options: argparse.Namespace) -> None:
    """Write what the options request in addition to the table."""
    if not (options.moves or options.csv or options.html):
        return
    from gaia_jax.replay import move_list
    from gaia_jax.replay.page import moves, page

    if options.moves:
        for line in move_list.lines(moves(record, played)):
            print(line)
    if options.csv:
        table = io.StringIO(newline="")
        move_list.write_csv(table, record.env().ruleset.players, moves(record, played))
        outputs.write_text(options.csv, table.getvalue())
    if options.html:
        outputs.write_text(options.html, page(record, played=played))

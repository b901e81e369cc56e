"""Play recorded games of the base game and compare every line.

    python -m tests.replays.play FILE.jsonl.gz ...

A file has one JSON object a line: the set-up, and for each line of the game what was offered, what
was done and the state after it. Each difference is printed with game, line, field and both values,
and a game ends at its first line with one. The last line has the numbers of games and lines
played and of differences; the exit code is 0 where there is none.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from gaia_jax import enable_compilation_cache
from gaia_jax.importers.lines import Line, groups
from gaia_jax.importers.notation import MismatchError, planets_of, setup_of
from gaia_jax.importers.position import Script
from tests.replays import compare, options
from tests.replays.player import Player
from tests.replays.table import Position, Table

BATCH = 64  # as the duel, whose compiled step it shares
PLAYERS = (2, 3, 4)
# What is raised where a record cannot be read.
UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class Report:
    """What was found in all games."""

    def __init__(self, max_printed: int = 0) -> None:
        self.games = self.lines = self.ended = self.asked = 0
        self.max_printed = max_printed
        self.differences: list[tuple[str, str]] = []  # game, what
        self.known: Counter[str] = Counter()  # offers that differ for a known reason
        self.written: Counter[str] = Counter()  # what was written into our states

    def differs(self, game: str, line: Line | None, field: str, recorded: Any, own: Any) -> None:
        place = f"line {line.number} {line.text!r}" if line else "set-up"
        self.differences.append((game, f"{place}: {field}: {recorded}, ours {own}"))
        if len(self.differences) <= self.max_printed:
            print(f"{game}, {self.differences[-1][1]}")


def script_of(position: Position, record: dict[str, Any], report: Report) -> Script:
    """The script of one game; it ends at the first difference.

    Nothing is compared before the step `record["compared_from"]`, where there is one: a mutant's
    lines before its change are those of a record that was compared.
    """
    game = str(record.get("id"))
    line: Line | None = None
    report.games += 1
    try:
        player = Player(position, record)
        player.written = report.written
        differences: list[compare.Difference] = []
        for together in groups(player.lines):
            line = together[-1]
            compared = line.number >= record.get("compared_from", 0)
            if together[0].between:
                start, planets = position.state.game, player.planets
                yield from player.between(together)
                if compared:
                    differences = list(compare.compare_between(position, together, start, planets))
            else:
                if compared:
                    differences = list(options.compare(player, line, report))
                if not differences:
                    yield from player.line(line)
            if compared and not differences:
                differences = list(
                    compare.compare(position, line, player.waiting_for(), player.planets)
                )
            if differences:
                break
            report.lines += len(together)
        else:
            differences = list(compare.compare_end(position, record, player.before))
            report.ended += position.over and not differences
        for difference in differences:
            report.differs(game, line, *difference)
    except MismatchError as difference:
        report.differs(game, line, *difference.args)
    except UNREADABLE as error:
        report.differs(game, line, "unreadable", f"{type(error).__name__} {error}", "nothing")


def as_printed(record: dict[str, Any]) -> dict[str, Any]:
    """The record; where its map has mirror images of our tiles, with our tiles."""
    setup = record["setup"]
    if not setup.get("mirror"):
        return record
    centers = {tile: (q, r) for tile, _, q, r in setup["sectors"]}
    hexes = []
    for q, r, planet, tile in setup["hexes"]:
        center_q, center_r = centers[tile]
        hexes.append([q, 2 * center_r + center_q - q - r, planet, tile])
    return record | {"setup": setup | {"hexes": hexes}}


def play(table: Table, records: list[dict[str, Any]], report: Report) -> None:
    """Play games, `table.batch` at a time; a set-up that cannot be read counts as a difference."""
    readable, setups = [], []
    for record in records:
        try:
            if len(record["vp"]) != table.players:
                raise ValueError(f"{len(record['vp'])} players, at a table of {table.players}")
            setups.append(table.read(setup_of(as_printed(record), table.env.ruleset)))
            readable.append(record)
        except MismatchError as difference:
            report.games += 1
            report.differs(str(record.get("id")), None, *difference.args)
        except UNREADABLE as error:
            report.games += 1
            report.differs(str(record.get("id")), None, "unreadable", error, "nothing")
    for first in range(0, len(readable), table.batch):
        together = readable[first : first + table.batch]

        def script(lane: int, together: list[dict[str, Any]] = together) -> Script:
            return script_of(Position(table, lane), together[lane], report)

        mirrored = {
            lane: planets_of(record)
            for lane, record in enumerate(together)
            if record["setup"].get("mirror")
        }
        table.play(setups[first : first + table.batch], script, mirrored)


def play_all(records: list[dict[str, Any]], report: Report) -> None:
    """Play games of any number of players, each number at a table of its own."""
    for players in sorted({len(record["vp"]) for record in records}):
        group = [record for record in records if len(record["vp"]) == players]
        if players in PLAYERS:
            play(Table("base", BATCH, players), group, report)
            continue
        for record in group:
            report.games += 1
            report.differs(str(record.get("id")), None, "not base", f"{players} players", "2 to 4")


def read(files: list[Path]) -> list[dict[str, Any]]:
    """The games of files."""
    records = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            records += [json.loads(line) for line in lines]
    return records


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.replays.play", description="Play recorded games of the base game."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines, gzipped")
    parser.add_argument("--shown", type=int, default=40, help="differences that are printed")
    args = parser.parse_args()
    enable_compilation_cache()
    report = Report(args.shown)
    play_all(read(args.files), report)
    for kind, count in sorted(report.known.items()):
        print(f"offers that differ, {kind}: {count}")
    for kind, count in sorted(report.written.items()):
        print(f"written into our states, {kind}: {count}")
    print(f"to the end {report.ended}, lines whose offers were compared {report.asked}")
    print(f"games {report.games}, lines {report.lines}, differences {len(report.differences)}")
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())

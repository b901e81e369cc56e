"""Play recorded games of the base game and compare every line.

    python -m tests.replays.play FILE.jsonl.gz ...

A file has one JSON object a line: the set-up, and for each line of the game what was offered, what
was done and the state after it. Each difference is printed with game, line, field and both values;
the last line says how many games and lines were played and how many differences there were, and
the exit code is 0 where there is none.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.replays import compare, options
from tests.replays.notation import setup_of
from tests.replays.player import BETWEEN, Line, Player
from tests.replays.table import Differs, Script, Seat, Table

BATCH = 64  # as the duel, whose compiled step it shares


class Report:
    """What was found in all games."""

    def __init__(self, shown: int) -> None:
        self.games = self.lines = self.differences = 0
        self.ended = self.stopped = self.asked = 0
        self.shown = shown
        self.options: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    def differs(self, game: str, line: Line, field: str, recorded: Any, ours: Any) -> None:
        self.differences += 1
        if self.differences <= self.shown:
            print(f"{game}, line {line.number} {line.text!r}: {field}: {recorded}, ours {ours}")

    def option(self, game: str, line: Line, kind: str, what: str) -> None:
        self.options[kind] += 1
        self.examples.setdefault(kind, f"{game}, line {line.number} {line.text!r}: {what}")


def tell(seat: Seat, record: dict[str, Any], report: Report) -> Script:
    """The script of one game."""
    game, player = record["id"], Player(seat, record)
    lines = player.lines
    report.games += 1
    at = 0
    before = seat.state.game
    while at < len(lines):
        line = lines[at]
        together = [line]
        if at and lines[at - 1].after["ph"] in BETWEEN:  # type: ignore[index]
            while together[-1].after["ph"] in BETWEEN and at + len(together) < len(lines):  # type: ignore[index]
                together.append(lines[at + len(together)])
        before = seat.state.game
        try:
            if together[0] is not line or lines[at - 1].after["ph"] in BETWEEN and at:  # type: ignore[index]
                yield from player.between(together)
            else:
                options.compare(player, line, report)
                yield from player.line(line)
        except Differs as found:
            if other_brainstone(together):
                report.stopped += 1
                print(f"{game}, line {line.number} {line.text!r}: the brainstone, stopped")
                return
            report.differs(game, line, *found.args)
            return
        line = together[-1]
        at += len(together)
        waits = player.waiting[0] if player.waiting else None
        told = line.after
        assert told is not None
        told["pl"] = [compare.read_player(row) for row in told["pl"]]
        found = list(compare.compare(seat, line, waits))
        if found and other_brainstone(together) and all(moved_power(f[0]) for f in found):
            report.stopped += 1
            print(f"{game}, line {line.number} {line.text!r}: the brainstone, stopped")
            return
        report.lines += len(together)
        for difference in found:
            report.differs(game, line, *difference)
        if found:
            return
    if seat.over:
        report.ended += 1
        for number, row in enumerate(lines[-1].after["pl"]):  # type: ignore[index]
            ours = compare.final_vp(seat, before, number)
            if row["vp"] != ours:
                report.differs(game, lines[-1], f"{row['f']}.vp at the end", row["vp"], ours)


def other_brainstone(lines: list[Line]) -> bool:
    """Whether a line says where the brainstone goes."""
    return any(command[0] == "brainstone" for line in lines for command in line.commands)


def moved_power(field: str) -> bool:
    return field.startswith("taklons.") and field.split(".")[1] in ("pw", "bs", "c", "o", "k", "q")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.replays.play", description="Play recorded games of the base game."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines, gzipped")
    parser.add_argument("--shown", type=int, default=40, help="differences that are printed")
    args = parser.parse_args()
    records = []
    for file in args.files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            records += [json.loads(line) for line in lines]
    report, table = Report(args.shown), Table("base", BATCH)
    for first in range(0, len(records), BATCH):
        together = records[first : first + BATCH]
        setups = [setup_of(record, table.env.ruleset) for record in together]
        table.play(
            setups,
            lambda lane, together=together: tell(Seat(table, lane), together[lane], report),
        )
    print(f"to the end {report.ended}, stopped at the brainstone {report.stopped}")
    for kind, count in sorted(report.options.items()):
        print(f"options, {kind}: {count}, for example {report.examples[kind]}")
    print(f"games {report.games}, lines {report.lines}, differences {report.differences}")
    return 1 if report.differences else 0


if __name__ == "__main__":
    sys.exit(main())

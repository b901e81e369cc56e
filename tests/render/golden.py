"""Six pictures that were looked at: `python -m tests.render.golden DIR`.

Writes them into DIR, to be looked at in a browser, and keeps their marks in `golden.json`.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from pathlib import Path

from gaia_jax import actions, make, render, replay
from tests.render.records import RECORDS

# Decisions of the sample records: the set-up, the middle, the end.
POSITIONS = {
    "base": (130, 250),
    "lost_fleet": (20, 180, 313),
    "lost_fleet_published": (150,),
}
_FILE = Path(__file__).with_name("golden.json")


@functools.cache
def pictures(name: str) -> dict[str, str]:
    """The pictures of a record, by the number of decisions."""
    record = replay.read(RECORDS[name])
    ruleset = make(record.ruleset).ruleset
    out = {}
    for number, state in enumerate(replay.states(record)):
        if number in POSITIONS[name]:
            last = actions.from_text(ruleset, record.actions[number - 1])
            out[str(number)] = render.svg(state, ruleset, last)
        if number == max(POSITIONS[name]):
            break
    return out


def mark(picture: str) -> str:
    """What a picture is told by."""
    return hashlib.sha256(picture.encode()).hexdigest()


def kept() -> dict[str, dict[str, str]]:
    """The marks, by record and decision."""
    found: dict[str, dict[str, str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def main(folder: str) -> None:
    """Write pictures and marks."""
    marks: dict[str, dict[str, str]] = {}
    for name in POSITIONS:
        for number, picture in pictures(name).items():
            path = Path(folder) / f"{name}-{number}.svg"
            path.write_text(picture, encoding="utf-8")
            marks.setdefault(name, {})[number] = mark(picture)
            print(path)
    _FILE.write_text(json.dumps(marks, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

"""Mutants of recorded games: one value or one move changed, which the reader must report.

    python -m tests.replays.mutants FILE.jsonl.gz ... [--each 2] [--seed 0]

Each kind of change is made `--each` times, in a game and at a line drawn at random. The exit code
is 0 where all mutants were reported. What no mutant touches, because the reader does not compare
it, is in tests/replays/README.md.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gaia_jax import enable_compilation_cache
from gaia_jax.importers.lines import LEECH
from gaia_jax.importers.notation import BOARD_ACTIONS, PLANETS, SLOTS, TOKENS
from tests.replays import planted
from tests.replays.changes import Change, Record, moves, rewrite
from tests.replays.play import Report, play_all, read

ROW_NUMBERS = ("vp", "c", "o", "k", "q", "lost", "sat", "rng", "gf", "gfg", "fc")
ROW_LISTS = {"pw": 4, "res": 6, "b": 8}
TRACKS = [slot for slot in SLOTS if not slot.startswith("free")]


def lines(record: Record) -> list[int]:
    """The steps after which everything is compared: the next turn is to come."""
    steps = enumerate(record["steps"])
    return [i for i, step in steps if step["s"] and step["s"]["ph"] == "roundMove"]


def of_state(
    new: Callable[[Any, random.Random], str | None], ok: Callable[[Any], Any] = bool
) -> Change:
    """A change of the state after a line for which `ok` holds; `new` returns what it changed."""

    def change(record: Record, rng: random.Random) -> str | None:
        number = rng.choice([i for i in lines(record) if ok(record["steps"][i]["s"])])
        place = new(record["steps"][number]["s"], rng)
        return place and f"line {number}, {place}"

    return change


def of_row(new: Callable[[Any, random.Random], str | None], needs: str = "f") -> Change:
    """A change of a player's row in which the field `needs` is not empty."""

    def change(state: Any, rng: random.Random) -> str | None:
        row = rng.choice([row for row in state["pl"] if row[needs]])
        place = new(row, rng)
        return place and f"{row['f']}.{place}"

    return of_state(change, lambda state: any(row[needs] for row in state["pl"]))


def row_number(field: str) -> Change:
    def new(row: Any, rng: random.Random) -> str:
        row[field] += rng.choice((1, 2, -1))
        return field

    return of_row(new)


def row_list(field: str, place: int) -> Change:
    def new(row: Any, rng: random.Random) -> str:
        row[field][place] += rng.choice((1, -1))
        return f"{field}[{place}]"

    return of_row(new)


def row_set(field: str, other: list[str]) -> Change:
    """An entry less, or one more."""

    def new(row: Any, rng: random.Random) -> str:
        if row[field] and rng.random() < 0.6:
            row[field].remove(rng.choice(row[field]))
        else:
            row[field].append(rng.choice([name for name in other if name not in row[field]]))
        return field

    return of_row(new)


def brainstone_lies(row: Any, rng: random.Random) -> str:
    row["bs"] = rng.choice([area for area in ("area1", "area2", "area3") if area != row["bs"]])
    return "bs"


def covered(row: Any, rng: random.Random) -> str | None:
    """A tile is covered, or no more."""
    basic = [i for i, tile in enumerate(row["tech"]) if "adv" not in tile]
    if not basic:
        return None
    tile = row["tech"][basic[0]]
    row["tech"][basic[0]] = tile.removesuffix("!") if tile.endswith("!") else tile + "!"
    return "tech"


def token_spent(row: Any, rng: random.Random) -> str:
    """A green token is grey, or the other way round."""
    row["fed"][0] = row["fed"][0][:-1] + {"+": "-", "-": "+"}[row["fed"][0][-1]]
    return "fed"


def booster_held(record: Record, rng: random.Random) -> str | None:
    def new(row: Any, rng: random.Random) -> str:
        boosters = (*record["setup"]["boosters"], None)
        row["boost"] = rng.choice([b for b in boosters if b != row["boost"]])
        return "boost"

    return of_row(new)(record, rng)


def top(field: str, value: Callable[[Any, random.Random], Any]) -> Change:
    """Another value of a field of the state that is of no player."""

    def new(state: Any, rng: random.Random) -> str | None:
        was = copy.deepcopy(state[field])
        state[field] = value(state[field], rng)
        return field if state[field] != was else None

    return of_state(new)


def on_map(place: int, value: Callable[[Any, random.Random], Any]) -> Change:
    """Another planet, piece, player, guest or member on a cell that has a piece."""

    def new(state: Any, rng: random.Random) -> str | None:
        cell = rng.choice([cell for cell in state["map"] if cell[3]])
        was = cell[place]
        cell[place] = value(was, rng)
        return f"map {cell[:2]}[{place}]" if cell[place] != was else None

    return of_state(new)


def map_without(state: Any, rng: random.Random) -> str:
    cell = rng.choice([cell for cell in state["map"] if cell[3]])
    state["map"].remove(cell)
    return f"map without {cell}"


# -- moves


def move(word: str, new: Callable[[list[str], Record, random.Random], list[str] | None],
         ok: Callable[[list[str]], bool] = bool) -> Change:  # fmt: skip
    def change(record: Record, rng: random.Random) -> str | None:
        number, at, words = rng.choice(moves(record, word, ok))
        other = new(words, record, rng)
        return None if other == words else rewrite(record, number, at, other)

    return change


def elsewhere(words: list[str], record: Record, rng: random.Random) -> list[str]:
    """Another place for a building: one that somebody builds at."""
    places = sorted({w[-1] for _, _, w in moves(record, "build")} - {words[-1]})
    return [*words[:-1], rng.choice(places)]


def without(words: list[str], record: Record, rng: random.Random) -> None:
    return None


def one_of(place: int, names: list[str]) -> Callable[..., list[str]]:
    """Another name in one place."""

    def new(words: list[str], record: Record, rng: random.Random) -> list[str]:
        other = rng.choice([name for name in names if name != words[place]])
        return [*words[:place], other, *words[place + 1 :]]

    return new


def other_conversion(words: list[str], record: Record, rng: random.Random) -> list[str]:
    return [words[0], "1o", words[2], "1t" if words[3] == "1c" else "1c"]


def a_mine(record: Record, rng: random.Random) -> list[str]:
    """A mine where somebody builds some day."""
    return ["m", rng.choice(moves(record, "build"))[2][-1]]


def other_booster(words: list[str], record: Record, rng: random.Random) -> list[str]:
    rest = [booster for booster in record["setup"]["boosters"] if booster != words[-1]]
    return [words[0], rng.choice(rest)]


def no_satellite(words: list[str], record: Record, rng: random.Random) -> list[str]:
    return [words[0], ",".join([*words[1].split(","), "1A0", "2A0"]), words[2]]


def answered_otherwise(words: list[str], record: Record, rng: random.Random) -> list[str]:
    return [LEECH[1 - LEECH.index(words[0])], *words[1:]]


def of_line(new: Callable[[Record, int, random.Random], str]) -> Change:
    """A change of the lines at one of them; `new` returns what it changed."""

    def change(record: Record, rng: random.Random) -> str:
        number = rng.choice(lines(record))
        return f"line {number} {new(record, number, rng)}"

    return change


def line_twice(record: Record, number: int, rng: random.Random) -> str:
    record["steps"].insert(number, copy.deepcopy(record["steps"][number]))
    return "twice"


def line_gone(record: Record, number: int, rng: random.Random) -> str:
    del record["steps"][number]
    return "gone"


def lines_swapped(record: Record, number: int, rng: random.Random) -> str:
    steps = record["steps"]
    steps[number], steps[number + 1] = steps[number + 1], steps[number]
    return "and the next swapped"


def other_player(record: Record, number: int, rng: random.Random) -> str:
    step = record["steps"][number]
    players = len(step["s"]["pl"])
    step["p"] = (step["p"] + rng.randrange(1, players)) % players
    return "p"


def other_name(record: Record, number: int, rng: random.Random) -> str:
    step = record["steps"][number]
    name, commands = step["l"].split(" ", 1)
    names = [row["f"] for row in step["s"]["pl"] if row["f"] != name]
    step["l"] = f"{rng.choice(names)} {commands}"
    return name


# -- offers


# What that engine may offer, or not, where we do otherwise for a known reason (options.py).
ONLY_THEIRS = {
    "action": ("power2", "power3", "power4", "power6"),
    "special": ("step", "range"),
    "spend": ("1o>1c", "1k", "1q", "1pw", "2pw", "3pw", "4pw>1o", "4c", "3c", "6pw", "1t-a3"),
}


def offered_lines(record: Record, kind: str) -> list[int]:
    """The lines before which this was offered and our state is our own."""
    numbers = []
    for number, step in enumerate(record["steps"][1:], 1):
        last = record["steps"][number - 1]
        is_own = last["s"] and last["s"]["ph"] in ("roundMove", "roundLeech")
        is_own = is_own and not any(w in last["l"] for w in ("brainstone", "federation", "spend"))
        if is_own and kind in (step["op"] or {}):
            numbers.append(number)
    return numbers


def offer(kind: str, entry: Callable[[Record, random.Random], Any]) -> Change:
    """An offer less, or another one, except those that differ for a known reason."""

    def change(record: Record, rng: random.Random) -> str | None:
        number = rng.choice(offered_lines(record, kind))
        offered = record["steps"][number]["op"][kind]
        both = [x for x in offered if not str(x).startswith(ONLY_THEIRS.get(kind, ()))]
        if both and rng.random() < 0.5:
            removed = rng.choice(both)
            offered.remove(removed)
            return f"line {number}, op.{kind} without {removed}"
        new = entry(record, rng)
        if any(new in (x, x[: len(new)]) for x in offered):
            return None
        if str(new).startswith(ONLY_THEIRS.get(kind, ())):
            return None
        offered.append(new)
        return f"line {number}, op.{kind} with {new}"

    return change


def no_offer(kind: str) -> Change:
    def change(record: Record, rng: random.Random) -> str | None:
        number = rng.choice(offered_lines(record, kind))
        del record["steps"][number]["op"][kind]
        return f"line {number}, op without {kind}"

    return change


# -- the set-up and the end


def other_planet(record: Record, rng: random.Random) -> str:
    cell = rng.choice([cell for cell in record["setup"]["hexes"] if cell[2] != "e"])
    cell[2] = rng.choice([letter for letter in PLANETS if letter not in (cell[2], "l")])
    return f"set-up, {cell}"


def of_setup(key: str) -> Change:
    def change(record: Record, rng: random.Random) -> str:
        setup = record["setup"]
        if key == "tfed":
            setup[key] = rng.choice([t for t in TOKENS if t not in (setup[key], "gleens")])
            return "set-up, tfed"
        place = rng.randrange(len(setup[key]))
        fresh = [f"booster{i}" for i in range(1, 11) if f"booster{i}" not in setup[key]]
        setup[key][place] = rng.choice(fresh)
        return f"set-up, {key}[{place}]"

    return change


def tile_taken(record: Record, rng: random.Random) -> str:
    """Two tiles of the research board change places, one of which somebody takes."""
    rows = record["steps"][-1]["s"]["pl"]
    slots = [tile.rstrip("!").split("@")[1] for row in rows for tile in row["tech"]]
    basic = [slot for slot in slots if not slot.startswith("adv")]
    first = rng.choice(basic)
    second = rng.choice([slot for slot in SLOTS if slot != first])
    techs = record["setup"]["techs"]
    techs[first], techs[second] = techs[second], techs[first]
    return f"set-up, techs {first} and {second}"


def other_faction(record: Record, rng: random.Random) -> str:
    step = next(step for step in record["steps"] if " faction " in step["l"])
    step["l"] = step["l"].rsplit(" ", 1)[0] + " " + rng.choice(("moweyds", "gleens"))
    return "set-up, faction"


def final_vp(record: Record, rng: random.Random) -> str:
    rng.choice(record["vp"])[1] += rng.choice((1, -1))
    return "vp"


def final_row(record: Record, rng: random.Random) -> str:
    row = rng.choice(record["steps"][-1]["s"]["pl"])
    row["vp"] += 1
    next(pair for pair in record["vp"] if pair[0] == row["f"])[1] += 1
    return f"last line, {row['f']}.vp"


def not_ended(record: Record, rng: random.Random) -> str:
    record["ended"] = not record["ended"]
    return "ended"


def cut_short(record: Record, rng: random.Random) -> str | None:
    if not record["ended"]:
        return None
    del record["steps"][-1]
    rows = record["steps"][-1]["s"]["pl"]
    record["vp"] = [[row["f"], row["vp"]] for row in rows]
    return "the last line gone"


def _other(names: list[Any]) -> Callable[[Any, random.Random], Any]:
    return lambda was, rng: rng.choice([name for name in names if name != was])


def _less_or_more(names: list[str]) -> Callable[[Any, random.Random], Any]:
    def new(was: list[str], rng: random.Random) -> list[str]:
        if was and rng.random() < 0.5:
            return was[1:]
        return [*was, rng.choice([name for name in names if name not in was])]

    return new


def _board(was: dict[str, int], rng: random.Random) -> dict[str, int]:
    names = list(was)[1:] if was else [rng.choice(list(BOARD_ACTIONS))]
    return {name: was.get(name, 0) for name in names}


def _supply(was: dict[str, int], rng: random.Random) -> dict[str, int]:
    name = rng.choice(list(was))
    return was | {name: was[name] - 1}


BOOSTERS = [f"booster{i}" for i in range(1, 11)]
CHANGES: dict[str, Change] = {
    **{f"row.{field}": row_number(field) for field in ROW_NUMBERS},
    **{f"row.{f}[{i}]": row_list(f, i) for f, count in ROW_LISTS.items() for i in range(count)},
    "row.tech": row_set("tech", [f"tech{i}@{s}" for i, s in enumerate(SLOTS, 1)]),
    "row.tech covered": of_row(covered, "tech"),
    "row.fed": row_set("fed", ["fed1-", "fed2+", "fed6+"]),
    "row.fed spent": of_row(token_spent, "fed"),
    "row.used": row_set("used", ["=> 3o", "=> 3k"]),
    "row.bs": of_row(brainstone_lies, "bs"),
    "row.boost": booster_held,
    "ph": top("ph", _other(["roundLeech", "roundMove", "setupBooster", "endGame"])),
    "rd": top("rd", lambda was, rng: was + 1),
    "to": top("to", _other([0, 1, 2, 3])),
    "order": top("order", lambda was, rng: was[1:] + was[:1]),
    "passed": top("passed", lambda was, rng: was[1:] if was else [rng.randrange(4)]),
    "board": top("board", _board),
    "pool": top("pool", _less_or_more(BOOSTERS)),
    "fedpool": top("fedpool", _supply),
    "tfed": top("tfed", _other([*(f"fed{i}" for i in range(1, 7)), None])),
    "map planet": on_map(2, _other([letter for letter in PLANETS if letter != "l"])),
    "map piece": on_map(3, _other(["m", "ts", "lab", "PI", "ac1", "ac2", "gf", "sp"])),
    "map player": on_map(4, _other([0, 1, 2, 3])),
    "map guest": on_map(5, _other([-1, 0, 1, 2, 3])),
    "map members": on_map(6, _other(["", "0", "1", "2", "3"])),
    "map cell": of_state(map_without),
    "build elsewhere": move("build", elsewhere),
    "build another piece": move("build", one_of(1, ["m", "ts", "lab", "PI", "gf"])),
    "build nothing": move("build", without),
    "up another track": move("up", one_of(1, TRACKS)),
    "up nothing": move("up", without),
    "another tile": move("tech", one_of(1, list(SLOTS))),
    "another board action": move("action", one_of(1, list(BOARD_ACTIONS))),
    "another special": move("special", one_of(1, ["4pw", "q", "3o", "range+3", "down-lab"])),
    "leech charged": move("charge", answered_otherwise),
    "leech declined": move("decline", answered_otherwise, lambda words: words != ["decline", "up"]),
    "conversion gone": move("spend", without),
    "another conversion": move("spend", other_conversion),
    "burn more": move("burn", lambda w, *_: [w[0], str(int(w[1]) + 1)]),
    "burn nothing": move("burn", without),
    "another booster": move("booster", other_booster),
    "pass for another booster": move("pass", other_booster, lambda words: len(words) == 2),
    "another token": move("federation", one_of(2, [t for t in TOKENS if t != "gleens"])),
    "another satellite": move("federation", no_satellite),
    "brainstone elsewhere": move("brainstone", one_of(1, ["area1", "area2", "area3", "gaia"])),
    "a line twice": of_line(line_twice),
    "a line gone": of_line(line_gone),
    "lines swapped": of_line(lines_swapped),
    "another player": of_line(other_player),
    "another name": of_line(other_name),
    "op.build": offer("build", a_mine),
    "op.up": offer("up", lambda record, rng: rng.choice(TRACKS)),
    "op.action": offer("action", lambda record, rng: rng.choice(list(BOARD_ACTIONS))),
    "op.special": offer("special", lambda record, rng: rng.choice(["4pw", "3k", "3o"])),
    "op.spend": offer("spend", lambda record, rng: rng.choice(["4pw>1k", "4pw>1q"])),
    "op.pass": offer("pass", lambda record, rng: rng.choice(BOOSTERS)),
    "op.burn": no_offer("burn"),
    "op.charge": no_offer("charge"),
    "op.decline": no_offer("decline"),
    "op.federation": no_offer("federation"),
    "setup.hexes": other_planet,
    "setup.boosters": of_setup("boosters"),
    "setup.tfed": of_setup("tfed"),
    "setup.techs": tile_taken,
    "setup faction": other_faction,
    "vp": final_vp,
    "final vp": final_row,
    "ended": not_ended,
    "cut short": cut_short,
    **planted.CHANGES,
}  # fmt: skip


def first_change(original: Record, record: Record) -> int:
    """The first step that is another one; 0 where only the set-up or the end is."""
    steps = enumerate(zip(original["steps"], record["steps"], strict=False))
    return next((number for number, (first, second) in steps if first != second), 0)


def mutants(records: list[Record], per_kind: int, seed: int) -> Iterator[tuple[str, Record]]:
    """`per_kind` mutants of each kind: what was changed, and the changed record.

    Their ids are numbers, so that reports distinguish them.
    """
    number = 0
    for kind, change in CHANGES.items():
        rng = random.Random(f"{seed} {kind}")
        last = number + per_kind
        for _ in range(40 * per_kind):
            if number == last:
                break
            original = rng.choice(records)
            record = copy.deepcopy(original)
            name = record["id"]
            try:
                place = change(record, rng)
            except IndexError:  # a choice of nothing
                continue
            if place is None:
                continue
            record["id"], record["compared_from"] = number, first_change(original, record)
            yield f"{kind}: {name}, {place}", record
            number += 1


def run(
    play_games: Callable[[list[Record], Report], None],
    records: list[Record],
    per_kind: int,
    seed: int = 0,
) -> tuple[list[str], list[str]]:
    """Play mutants; those that were reported, and those that were not.

    Args:
        play_games: plays records and reports on them, as `play_all`.
    """
    names, changed = zip(*mutants(records, per_kind, seed), strict=True)
    report = Report()
    # Those that are over early share a batch.
    play_games(sorted(changed, key=lambda record: record["compared_from"]), report)
    reported = {int(game) for game, _ in report.differences}
    seen = [name for i, name in enumerate(names) if i in reported]
    return seen, [name for i, name in enumerate(names) if i not in reported]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.replays.mutants", description="Are changes of recorded games seen?"
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines, gzipped")
    parser.add_argument("--each", type=int, default=2, help="mutants of each kind")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    enable_compilation_cache()
    seen, missed = run(play_all, read(args.files), args.each, args.seed)
    for name in missed:
        print(f"not reported: {name}")
    print(f"mutants {len(seen) + len(missed)}, of {len(CHANGES)} kinds, reported {len(seen)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

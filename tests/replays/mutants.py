"""Mutants of recorded games: one value or one move changed, which the reader must report.

    python -m tests.replays.mutants FILE.jsonl.gz ... [--each 2] [--seed 0]

Each kind of change is made `--each` times, in a game and at a line drawn at random. The exit code
is 0 where all mutants were reported. What no mutant touches, because the reader does not compare
it, is in docs/reference/referee.md.
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
    return [i for i, step in enumerate(record["steps"]) if step["s"] and turn_comes(step["s"])]


def turn_comes(state: dict[str, Any]) -> bool:
    return bool(state["ph"] == "roundMove")


def draw_line(record: Record, rng: random.Random, ok: Callable[[Any], Any] = bool) -> Any:
    """The state after a line that has something to change, and where it is."""
    at = [i for i in lines(record) if ok(record["steps"][i]["s"])]
    if not at:
        return None, ""
    chosen = rng.choice(at)
    return record["steps"][chosen]["s"], f"line {chosen}"


def row_number(field: str) -> Change:
    def change(record: Record, rng: random.Random) -> str | None:
        state, where = draw_line(record, rng)
        if state is None:
            return None
        row = rng.choice(state["pl"])
        row[field] += rng.choice((1, 2, -1)) or 1
        return f"{where}, {row['f']}.{field}"

    return change


def row_list(field: str, place: int) -> Change:
    def change(record: Record, rng: random.Random) -> str | None:
        state, where = draw_line(record, rng)
        if state is None:
            return None
        row = rng.choice(state["pl"])
        row[field][place] += rng.choice((1, -1))
        return f"{where}, {row['f']}.{field}[{place}]"

    return change


def row_set(field: str, other: list[str]) -> Change:
    """An entry less, or one more."""

    def change(record: Record, rng: random.Random) -> str | None:
        state, where = draw_line(record, rng)
        if state is None:
            return None
        row = rng.choice(state["pl"])
        if row[field] and rng.random() < 0.6:
            row[field].remove(rng.choice(row[field]))
        else:
            row[field].append(rng.choice([name for name in other if name not in row[field]]))
        return f"{where}, {row['f']}.{field}"

    return change


def brainstone_lies(record: Record, rng: random.Random) -> str | None:
    state, where = draw_line(record, rng, lambda s: any(row["bs"] for row in s["pl"]))
    if state is None:
        return None
    row = next(row for row in state["pl"] if row["bs"])
    row["bs"] = rng.choice([area for area in ("area1", "area2", "area3") if area != row["bs"]])
    return f"{where}, taklons.bs"


def covered(record: Record, rng: random.Random) -> str | None:
    """A tile is covered, or no more."""
    state, where = draw_line(record, rng, lambda s: any(row["tech"] for row in s["pl"]))
    if state is None:
        return None
    row = rng.choice([row for row in state["pl"] if row["tech"]])
    basic = [i for i, tile in enumerate(row["tech"]) if "adv" not in tile]
    if not basic:
        return None
    tile = row["tech"][basic[0]]
    row["tech"][basic[0]] = tile.removesuffix("!") if tile.endswith("!") else tile + "!"
    return f"{where}, {row['f']}.tech"


def token_spent(record: Record, rng: random.Random) -> str | None:
    """A green token is grey, or the other way round."""
    state, where = draw_line(record, rng, lambda s: any(row["fed"] for row in s["pl"]))
    if state is None:
        return None
    row = rng.choice([row for row in state["pl"] if row["fed"]])
    row["fed"][0] = row["fed"][0][:-1] + {"+": "-", "-": "+"}[row["fed"][0][-1]]
    return f"{where}, {row['f']}.fed"


def booster_held(record: Record, rng: random.Random) -> str | None:
    state, where = draw_line(record, rng)
    if state is None:
        return None
    row = rng.choice(state["pl"])
    row["boost"] = rng.choice(
        [b for b in (*record["setup"]["boosters"], None) if b != row["boost"]]
    )
    return f"{where}, {row['f']}.boost"


def top(field: str, new: Callable[[Any, random.Random], Any]) -> Change:
    """Another value of a field beside the players."""

    def change(record: Record, rng: random.Random) -> str | None:
        state, where = draw_line(record, rng)
        if state is None:
            return None
        was = copy.deepcopy(state[field])
        state[field] = new(state[field], rng)
        return f"{where}, {field}" if state[field] != was else None

    return change


def on_map(place: int, new: Callable[[Any, random.Random], Any]) -> Change:
    """Another planet, piece, player, guest or member on a cell that has a piece."""

    def change(record: Record, rng: random.Random) -> str | None:
        state, where = draw_line(record, rng)
        if state is None:
            return None
        cell = rng.choice([cell for cell in state["map"] if cell[3]])
        was = cell[place]
        cell[place] = new(was, rng)
        return f"{where}, map {cell[:2]}[{place}]" if cell[place] != was else None

    return change


def map_without(record: Record, rng: random.Random) -> str | None:
    state, where = draw_line(record, rng)
    if state is None:
        return None
    cell = rng.choice([cell for cell in state["map"] if cell[3]])
    state["map"].remove(cell)
    return f"{where}, map without {cell}"


# -- moves


def move(word: str, new: Callable[[list[str], Record, random.Random], list[str] | None],
         ok: Callable[[list[str]], bool] = bool) -> Change:  # fmt: skip
    def change(record: Record, rng: random.Random) -> str | None:
        found = moves(record, word, ok)
        if not found:
            return None
        number, at, words = rng.choice(found)
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


def line_twice(record: Record, rng: random.Random) -> str:
    number = rng.choice(lines(record))
    record["steps"].insert(number, copy.deepcopy(record["steps"][number]))
    return f"line {number} twice"


def line_gone(record: Record, rng: random.Random) -> str:
    number = rng.choice(lines(record))
    del record["steps"][number]
    return f"line {number} gone"


def lines_swapped(record: Record, rng: random.Random) -> str:
    steps, number = record["steps"], rng.choice(lines(record)[:-1])
    steps[number], steps[number + 1] = steps[number + 1], steps[number]
    return f"lines {number} and {number + 1} swapped"


def other_player(record: Record, rng: random.Random) -> str:
    number = rng.choice(lines(record))
    step = record["steps"][number]
    players = len(step["s"]["pl"])
    step["p"] = (step["p"] + rng.randrange(1, players)) % players
    return f"line {number}, p"


def other_name(record: Record, rng: random.Random) -> str:
    number = rng.choice(lines(record))
    step = record["steps"][number]
    name, told = step["l"].split(" ", 1)
    names = [row["f"] for row in step["s"]["pl"] if row["f"] != name]
    step["l"] = f"{rng.choice(names)} {told}"
    return f"line {number}, {name}"


# -- offers


# What that engine may offer, or not, where we do otherwise for a known reason (options.py).
ONLY_THEIRS = {
    "action": ("power2", "power3", "power4", "power6"),
    "special": ("step", "range"),
    "spend": ("1o>1c", "1k", "1q", "1pw", "2pw", "3pw", "4pw>1o", "4c", "3c", "6pw", "1t-a3"),
}


def asked(record: Record, kind: str) -> list[int]:
    """The lines before which this was offered and our state is our own."""
    found = []
    for number, step in enumerate(record["steps"][1:], 1):
        last = record["steps"][number - 1]
        ours = last["s"] and last["s"]["ph"] in ("roundMove", "roundLeech")
        ours = ours and not any(w in last["l"] for w in ("brainstone", "federation", "spend"))
        if ours and kind in (step["op"] or {}):
            found.append(number)
    return found


def offer(kind: str, entry: Callable[[Record, random.Random], Any]) -> Change:
    """An offer less, or another one; none of those that differ for a known reason anyway."""

    def change(record: Record, rng: random.Random) -> str | None:
        at = asked(record, kind)
        if not at:
            return None
        number = rng.choice(at)
        offered = record["steps"][number]["op"][kind]
        both = [x for x in offered if not str(x).startswith(ONLY_THEIRS.get(kind, ()))]
        if both and rng.random() < 0.5:
            gone = rng.choice(both)
            offered.remove(gone)
            return f"line {number}, op.{kind} without {gone}"
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
        at = asked(record, kind)
        if not at:
            return None
        number = rng.choice(at)
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


def tile_taken(record: Record, rng: random.Random) -> str | None:
    """Two tiles of the research board change places, one of which somebody takes."""
    rows = record["steps"][-1]["s"]["pl"]
    taken = [tile.rstrip("!").split("@")[1] for row in rows for tile in row["tech"]]
    basic = [slot for slot in taken if not slot.startswith("adv")]
    if not basic:
        return None
    one = rng.choice(basic)
    other = rng.choice([slot for slot in SLOTS if slot != one])
    techs = record["setup"]["techs"]
    techs[one], techs[other] = techs[other], techs[one]
    return f"set-up, techs {one} and {other}"


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
    kept = list(was)[1:] if was else [rng.choice(list(BOARD_ACTIONS))]
    return {name: was.get(name, 0) for name in kept}


def _supply(was: dict[str, int], rng: random.Random) -> dict[str, int]:
    name = rng.choice(list(was))
    return was | {name: was[name] - 1}


BOOSTERS = [f"booster{i}" for i in range(1, 11)]
CHANGES: dict[str, Change] = {
    **{f"row.{field}": row_number(field) for field in ROW_NUMBERS},
    **{f"row.{f}[{i}]": row_list(f, i) for f, count in ROW_LISTS.items() for i in range(count)},
    "row.tech": row_set("tech", [f"tech{i}@{s}" for i, s in enumerate(SLOTS, 1)]),
    "row.tech covered": covered,
    "row.fed": row_set("fed", ["fed1-", "fed2+", "fed6+"]),
    "row.fed spent": token_spent,
    "row.used": row_set("used", ["=> 3o", "=> 3k"]),
    "row.bs": brainstone_lies,
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
    "map cell": map_without,
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
    "a line twice": line_twice,
    "a line gone": line_gone,
    "lines swapped": lines_swapped,
    "another player": other_player,
    "another name": other_name,
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
    return next((number for number, (one, other) in steps if one != other), 0)


def mutants(records: list[Record], each: int, seed: int) -> Iterator[tuple[str, Record]]:
    """`each` mutants of each kind: what was changed, and the changed record.

    Their ids are numbers, so that reports tell them apart.
    """
    number = 0
    for kind, change in CHANGES.items():
        rng = random.Random(f"{seed} {kind}")
        made, tries = 0, 0
        while made < each and tries < 40 * each:
            tries += 1
            original = rng.choice(records)
            record = copy.deepcopy(original)
            name, where = record["id"], change(record, rng)
            if where is None:
                continue
            record["id"], record["compared_from"] = number, first_change(original, record)
            yield f"{kind}: {name}, {where}", record
            made, number = made + 1, number + 1


def run(
    play_games: Callable[[list[Record], Report], None],
    records: list[Record],
    each: int,
    seed: int = 0,
) -> tuple[list[str], list[str]]:
    """Play mutants; those that were reported, and those that were not.

    Args:
        play_games: plays records and reports on them, as `play_all`.
    """
    made = list(mutants(records, each, seed))
    report = Report()
    # Those that are over early share a batch.
    early_first = sorted((record for _, record in made), key=lambda r: r["compared_from"])
    play_games(early_first, report)
    found = {game for game, _ in report.differences}
    told = [what for what, _ in made]
    seen = [what for i, what in enumerate(told) if str(i) in found]
    return seen, [what for i, what in enumerate(told) if str(i) not in found]


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
    for what in missed:
        print(f"not reported: {what}")
    print(f"mutants {len(seen) + len(missed)}, of {len(CHANGES)} kinds, reported {len(seen)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

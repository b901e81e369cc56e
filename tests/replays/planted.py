"""Faults of a careless recorder: the same in the line and in all states after it.

`tests.replays.mutants` plants them; each passed the reader once, or would say too little.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from gaia_jax.importers.lines import BETWEEN
from gaia_jax.importers.notation import PLANETS, cell_from_log, hex_names
from tests.replays.changes import Change, Record, moves, rewrite

# -- inside income and Gaia phase, and at set-up


def states(record: Record, ok: Callable[[str, str], bool]) -> list[int]:
    """The steps by the phases before and after them."""
    numbered = [(number, step["s"]) for number, step in enumerate(record["steps"]) if step["s"]]
    return [number for (_, last), (number, s) in pairwise(numbered) if ok(last["ph"], s["ph"])]


def inside(last: str, phase: str) -> bool:
    """Income or the Gaia phase continues."""
    return last in BETWEEN and phase in BETWEEN


def at_set_up(last: str, phase: str) -> bool:
    return last.startswith("setup") and phase.startswith("setup")


def changed(ok: Callable[[str, str], bool], new: Callable[[Any, Record, Any], str]) -> Change:
    """A change of the state after such a line; `new` makes it and describes it."""

    def change(record: Record, rng: random.Random) -> str | None:
        number = rng.choice(states(record, ok))
        return f"line {number}, {new(record['steps'][number]['s'], record, rng)}"

    return change


def more_vp(state: Any, record: Record, rng: random.Random) -> str:
    row = rng.choice(state["pl"])
    row["vp"] += rng.choice((1, -1))
    return f"{row['f']}.vp"


def another_level(state: Any, record: Record, rng: random.Random) -> str:
    row, track = rng.choice(state["pl"]), rng.randrange(6)
    row["res"][track] += 1
    return f"{row['f']}.res[{track}]"


def a_tile_more(state: Any, record: Record, rng: random.Random) -> str:
    row = rng.choice(state["pl"])
    tiles = [f"{tile}@{slot}" for slot, tile in record["setup"]["techs"].items()]
    row["tech"].append(rng.choice([tile for tile in tiles if tile not in row["tech"]]))
    return f"{row['f']}.tech"


def a_piece(place: int, names: list[Any]) -> Callable[[Any, Record, Any], str]:
    """Another planet, piece, player or member on a cell that has a piece."""

    def new(state: Any, record: Record, rng: random.Random) -> str:
        cell = rng.choice([cell for cell in state["map"] if cell[3]])
        cell[place] = rng.choice([name for name in names if name != cell[place]])
        return f"map {cell[:2]}[{place}]"

    return new


def another_player(state: Any, record: Record, rng: random.Random) -> str:
    players = len(state["pl"])
    state["to"] = (state["to"] + rng.randrange(1, players)) % players
    return "to"


def another_order(state: Any, record: Record, rng: random.Random) -> str:
    state["order"] = state["order"][1:] if state["order"] else [0]
    return "order"


def a_booster_less(state: Any, record: Record, rng: random.Random) -> str:
    state["pool"].remove(rng.choice(state["pool"]))
    return "pool"


# -- in the line and in all states after it


def own_cells(state: Any, player: int) -> set[tuple[int, int]]:
    """Where a player has something, satellites too."""
    mine = str(player)
    return {(c[0], c[1]) for c in state["map"] if c[4] == player or c[5] == player or mine in c[6]}


def around(cell: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for dq, dr in ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)):
        yield cell[0] + dq, cell[1] + dr


def satellite_moved(in_space: bool) -> Change:
    """A satellite on a planet, or on an empty space away from every piece of the player."""

    def change(record: Record, rng: random.Random) -> str | None:
        cells = recorded_cells(record)
        planets = {(q, r): planet for q, r, planet, _ in record["setup"]["hexes"]}
        candidates = []
        for number, at, words in moves(record, "federation"):
            step = record["steps"][number]
            had = own_cells(record["steps"][number - 1]["s"], step["p"])
            for name in words[1].split(","):
                if cells[name] not in had and planets[cells[name]] == "e":
                    candidates.append((number, at, words, name))
        number, at, words, name = rng.choice(candidates)
        step, last = record["steps"][number], record["steps"][-1]["s"]
        ever = {(c[0], c[1]) for c in last["map"] if c[3] or c[6]}
        has = own_cells(last, step["p"])
        places = [
            other
            for other, cell in cells.items()
            if cell not in ever
            and (planets[cell] == "e") == in_space
            and has.isdisjoint(around(cell))
        ]
        other = rng.choice(sorted(places))
        names = ",".join(sorted({*words[1].split(","), other} - {name}))
        for later in record["steps"][number:]:
            move_mark(later["s"]["map"], str(step["p"]), cells[name], cells[other], planets)
        return rewrite(record, number, at, [words[0], names, *words[2:]])

    return change


def recorded_cells(record: Record) -> dict[str, tuple[int, int]]:
    """By name, the cells as the states give them."""
    cells = {cell_from_log(q, r): (q, r) for q, r, *_ in record["setup"]["hexes"]}
    return {name: cells[cell] for name, cell in hex_names(record["setup"]).items()}


def move_mark(
    rows: list[Any], mine: str, of: tuple[int, int], to: tuple[int, int], planets: dict[Any, str]
) -> None:
    """A satellite of player `mine` on another cell."""
    for row in [row for row in rows if (row[0], row[1]) == of]:
        row[6] = row[6].replace(mine, "")
        if row[2] == "e" and not row[3] and not row[6]:
            rows.remove(row)
    target_row = next((row for row in rows if (row[0], row[1]) == to), None)
    if target_row is None:
        target_row = [*to, planets[to], "", -1, -1, ""]
        rows.append(target_row)
    target_row[6] = "".join(sorted({*target_row[6], mine}))


def dearer_ore(record: Record, rng: random.Random) -> str | None:
    """Ore for 4 power, as only the Nevlas with the institute pay it."""
    candidates = [
        (number, at, words)
        for number, at, words in moves(record, "spend", lambda w: w[1::2] == ["3pw", "1o"])
        if not record["steps"][number]["l"].startswith("nevlas")
    ]
    number, at, _ = rng.choice(candidates)
    return rewrite(record, number, at, ["spend", "4pw", "for", "1o"])


# -- the set-up


def neutral_player(record: Record, rng: random.Random) -> str:
    """It counts otherwise, or is there where it should not be."""
    setup = record["setup"]
    counts = setup.setdefault("neutral", None) or dict.fromkeys(setup["final"], 4)
    tile = rng.choice(sorted(counts))
    setup["neutral"] = counts | {tile: counts[tile] + 1}
    return f"set-up, neutral {tile}"


def another_variant(record: Record, rng: random.Random) -> str:
    record["opts"]["factionVariant"] = rng.choice(("beta", "more-balanced"))
    return "set-up, factionVariant"


def fewer_sectors(record: Record, rng: random.Random) -> str:
    setup = record["setup"]
    removed = rng.choice(setup["sectors"])
    setup["sectors"].remove(removed)
    setup["hexes"] = [cell for cell in setup["hexes"] if cell[3] != removed[0]]
    return f"set-up, without sector {removed[0]}"


PLANET_LETTERS = [letter for letter in PLANETS if letter not in ("l", "m", "g")]
CHANGES: dict[str, Change] = {
    "between vp": changed(inside, more_vp),
    "between res": changed(inside, another_level),
    "between tech": changed(inside, a_tile_more),
    "between map planet": changed(inside, a_piece(2, PLANET_LETTERS)),
    "between map piece": changed(inside, a_piece(3, ["m", "ts", "lab", "PI", "ac1", "ac2", "gf"])),
    "between map player": changed(inside, a_piece(4, [0, 1, 2, 3])),
    "between map members": changed(inside, a_piece(6, ["", "0", "1", "2", "3"])),
    "between to": changed(inside, another_player),
    "between order": changed(inside, another_order),
    "between pool": changed(inside, a_booster_less),
    "set-up to": changed(at_set_up, another_player),
    "set-up order": changed(at_set_up, another_order),
    "set-up pool": changed(at_set_up, a_booster_less),
    "satellite on a planet": satellite_moved(in_space=False),
    "satellite apart": satellite_moved(in_space=True),
    "dearer ore": dearer_ore,
    "setup.neutral": neutral_player,
    "another variant": another_variant,
    "fewer sectors": fewer_sectors,
}

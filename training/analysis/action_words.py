"""Actions in words that name the planet, the structure and the part of the map."""

from __future__ import annotations

import numpy as np

from gaia_jax.render import Table, say_at
from gaia_jax.render.board import HEIGHT, WIDTH, Places, places
from gaia_jax.render.names import PLANETS, STRUCTURES
from gaia_jax.render.texts import phrase


def words_with_place(table: Table, text: str) -> str:
    """An action of the table's position in words, with the planet or structure on its cell."""
    words, cell = say_at(table, text), cell_of(table, text)
    if cell < 0:
        return words
    kind = table.ids["structure"][table.map.structure[cell]]
    planet = PLANETS[table.ids["planet"][table.map.planet[cell]]]
    if table.node == "START":
        return phrase("name-and-state", name=words, state=_place_words(table, cell))
    if words.endswith(f": {planet}"):
        return words if kind == "NONE" else phrase("next-to", move=words, piece=STRUCTURES[kind])
    if kind != "NONE":  # the words name the structure
        return phrase("name-and-state", name=words, state=planet)
    return phrase("labelled", label=words, text=planet)


def _place_words(table: Table, cell: int) -> str:
    """A planet's place on the map, in words that no free planet of its kind shares."""
    positions, cells = places(table.ruleset), table.map
    alike = np.flatnonzero((cells.planet == cells.planet[cell]) & (cells.structure == 0)).tolist()
    side = _side(positions, cell)
    near = [c for c in alike if _side(positions, c) == side]
    across = np.ptp([positions.x[c] for c in near]) >= np.ptp([positions.y[c] for c in near])
    near.sort(
        key=lambda c: (
            (positions.x[c], positions.y[c]) if across else (positions.y[c], positions.x[c])
        )
    )
    if len(near) == 1:
        return phrase("part-of-map", part=side)
    k, ends = near.index(cell), ("left", "right") if across else ("upper", "lower")
    if len(near) > 3:
        phrase_id = "place-from-left" if across else "place-from-top"
        return phrase(phrase_id, part=side, n=k + 1)
    corner = (ends[0], "middle", ends[1])[k if len(near) == 3 else 2 * k]
    return phrase(f"one-{corner}", part=side)


def cell_of(table: Table, text: str) -> int:
    """The cell of an action; -1 if it has none."""
    actions = table.ruleset.actions
    return int(actions.cell[actions.by_text[text]])


def place_words(table: Table, cell: int) -> str:
    """The part of the map that contains a cell."""
    return _side(places(table.ruleset), cell)


def _side(positions: Places, cell: int) -> str:
    """The ninth of the map that contains a cell."""
    high = ("top", "middle", "bottom")[min(int(3 * positions.y[cell] / HEIGHT), 2)]
    wide = ("left", "centre", "right")[min(int(3 * positions.x[cell] / WIDTH), 2)]
    return phrase(f"part-{high}-{wide}")

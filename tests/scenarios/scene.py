"""A bare map with a few planets, and the things of a player by their ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components.factions import FACTION_BOARDS
from gaia_jax.state import Node
from tests.scenarios.table import Table

# Where the ships lie, and what fills the other six interspace cells.
SHIPS = {"TWILIGHT": "1,2", "ECLIPSE": "4,-6", "REBELLION": "-3,1", "TF_MARS": "8,-5"}
INTERFACE = {
    "-2,3": "Asteroid", "-1,-2": "Asteroid", "2,-3": "Empty", "3,-1": "Asteroid", "6,-2": "Proto",
    "7,-7": "Asteroid",
}  # fmt: skip
# A cell at a distance of 1 from each ship.
NEXT_TO = {"TWILIGHT": "1,1", "ECLIPSE": "4,-5", "REBELLION": "-2,1", "TF_MARS": "8,-6"}

POOR = {"credits": 0, "ore": 0, "knowledge": 0, "qic": 0, "power": (0, 0, 0)}
_OTHERS = ("XENOS", "GEODENS", "TERRANS", "FIRAKS", "AMBAS", "HADSCH_HALLAS", "ITARS")
_MISSIONS = [
    "RM-FED-5VP", "RM-PI-ACAD-1-5VP", "RM-PI-ACAD-2-5VP", "RM-TS-3VP", "RM-TS-4VP",
    "RM-GAIA-3VP", "RM-GAIA-4VP",
]  # fmt: skip
# Everything that is dealt except the map, so that no scenario depends on the draw.
DEALT = {
    "ships": SHIPS,
    "interface": INTERFACE,
    "basic_tiles": {
        "terraforming": "BT8_PIAC_4",
        "navigation": "BT2_INC_O1_CH1",
        "ai": "BT5_INC_C1_K1",
        "gaia": "BT6_GAIA_3VP",
        "economy": "BT7_TYPES_K",
        "science": "BT3_O1_Q1",
        "free_1": "BT9_7VP",
        "free_2": "BT4_INC_C4",
        "free_3": "BT1_ACT_CHARGE4",
    },
    "advanced_tiles": {
        "terraforming": "TS-4VP",
        "navigation": "SA-O-3",
        "ai": "RS-2VP",
        "gaia": "MINE-2VP",
        "economy": "DG-2VP-PASS",
        "science": "AST-2VP-PASS",
        "extra": "SA-K-3",
    },
    "extra_condition": "B",
    "tf5_token": "FT_12VP",
    "ship_tokens": {
        "TWILIGHT": "SFT_4VP_2O_1Q",
        "ECLIPSE": "SFT_4VP_4K",
        "REBELLION": "SFT_TF3_MINE",
        "TF_MARS": "SFT_8VP_8C",
    },
    "ship_tiles": {
        "REBELLION": "LF-NAV+1",
        "TF_MARS": "LF-ORE1-KN3",
        "ECLIPSE": "LF-TF2-FREE-MINE",
    },
    "artifacts": ["ART-ORE-CRED", "ART-TYPE-VP", "ART-ORE3CR3", "ART-FED-BOOST"],
    "boosters": ["RB1", "RB2", "RB3", "RB4", "RB5", "RB6", "RB7"],
    "final_missions": ["ASTEROID_PROTO_BUILDINGS", "PLANET_TYPES"],
    "economy_side": "B",
    "colour_order": ["Red", "Black", "Brown", "Orange", "Blue", "Yellow", "White"],
}


def four(*factions: str) -> tuple[str, ...]:
    """These factions, filled up to four with others of other boards."""
    chosen = list(factions)
    for other in _OTHERS:
        board = next(sides for sides in FACTION_BOARDS if other in sides)
        if len(chosen) < 4 and not set(board) & set(chosen):
            chosen.append(other)
    return tuple(chosen)


def scene(
    *factions: str, planets: dict[str, str], round: int = 1, mission: str = "RM-FED-5VP", **setup
) -> Table:
    """The action phase of a round on a map that holds the ships and `planets` alone.

    Args:
        factions: of players 0, 1, ...; the rest is filled up.
        planets: cell "q,r" to one of ids["planet"].
        mission: the round tile of that round; the default scores federation tokens only.
        setup: keys of the set-up file with other values, and `ruleset`, the id of another one;
            of `base`, which lacks many of the pieces below, all else is drawn.
    """
    tiles = [m for m in _MISSIONS if m != mission][:5]
    tiles.insert(round - 1, mission)
    ruleset = setup.get("ruleset", "lost_fleet")
    dealt = {} if ruleset == "base" else dict(DEALT)
    if ruleset == "lost_fleet_published":
        dealt["final_missions"] = ["ASTEROID_BUILDINGS", "PLANET_TYPES"]
    dealt |= {"round_tiles": tiles} | setup
    return cleared(Table(factions=four(*factions), **dealt).start(round), planets)


def cleared(table: Table, planets: dict[str, str]) -> Table:
    """The table with a map that holds the ships and `planets` alone, as in `scene`."""
    board = table.game.board.replace(planet=planets_alone(table, planets))
    state = table.state.replace(game=table.game.replace(board=board))
    return Table(ruleset=table.ruleset, state=state, stale=True)


def planets_alone(table: Table, planets: Mapping[Any, str]) -> Array:
    """`planet` of a board that holds the ships and `planets` alone, by their cells."""
    ids = table.env.ruleset.ids["planet"]
    codes = np.array(table.game.board.planet)
    codes[codes != ids.index("Ship")] = ids.index("Empty")
    for cell, name in planets.items():
        codes[table.cell(cell)] = ids.index(name)
    return jnp.asarray(codes)


def own(table: Table, player: int, *items: str, **fields) -> Table:
    """The player owns tiles, advanced tiles, artifacts, tokens, and has shuttles on ships, by id.

    Tokens lie green side up where they have one. `fields` are those of `Table.give`.
    """
    ids, row = table.env.ruleset.ids, table.player(player)
    new = {name: getattr(row, name) for name in ("tiles", "advanced", "artifacts", "shuttles")}
    tokens, green = list(row.tokens), row.green
    kinds = {"tile": "tiles", "advanced": "advanced", "artifact": "artifacts", "ship": "shuttles"}
    for item in items:
        if item in ids["token"]:
            tokens[ids["token"].index(item)] += 1
            green += item != "FT_12VP"
            continue
        kind = next(k for k in kinds if item in ids[k])
        new[kinds[kind]] |= 1 << ids[kind].index(item)
    return table.give(player, **new, tokens=tuple(tokens), green=green, **fields)


def holding(table: Table, booster: str, player: int = 0) -> Table:
    """The player has that booster."""
    return table.give(player, booster=table.env.ruleset.ids["booster"].index(booster))


def upgraded(table: Table, to: str) -> Table:
    """The structure at 0,0 becomes `to`, by choice where there is one."""
    table = table.play("upgrade 0,0")
    return table.play(f"piece {to}") if table.node == Node.PIECE else table


def camp(
    structures: dict[str, str],
    faction: str = "TERRANS",
    planets: dict[str, str] | None = None,
    power: tuple[int, int, int] = (9, 0, 0),
    **setup,
) -> Table:
    """Structures of player 0 on Red planets, {cell: structure}; power and no other resources."""
    names = dict.fromkeys(structures, "Red") | (planets or {})
    table = scene(faction, planets=names, **setup).place(0, structures)
    return table.give(0, **POOR | {"power": power})


def form(table: Table, *cells: str) -> Table:
    """The federation of the groups whose lowest cells these are; without any, the first picks."""
    table = table.play("form_federation", *(f"pick {cell}" for cell in cells))
    while not cells and table.node == Node.FEDERATION:
        table = table.play(min(table.options("pick")))
    return table


def at(table: Table, player: int, **levels: int) -> Table:
    """The player's research levels, by track; the others are 0."""
    tracks = table.env.ruleset.ids["track"]
    return table.give(player, tracks=tuple(levels.get(track, 0) for track in tracks))


def piece(table: Table, cell: str) -> str:
    """The structure on the cell, one of ids["structure"]."""
    code = int(table.game.board.structure[table.cell(cell)])
    return table.env.ruleset.ids["structure"][code]


def planet(table: Table, cell: str) -> str:
    """What the cell holds, one of ids["planet"]."""
    return table.env.ruleset.ids["planet"][int(table.game.board.planet[table.cell(cell)])]


def last_to_pass(table: Table, player: int = 0) -> Table:
    """The others have passed, each with a booster; this player is to move."""
    others = [p for p in range(4) if p != player]
    passed = [0] * 4
    for k, other in enumerate(others, 1):
        table = holding(table, f"RB{k}", other)
        passed[other] = k
    return holding(table, "RB4", player).set_turn(passed=np.int8(passed)).turn(player)

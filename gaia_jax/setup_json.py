"""A set-up as JSON that a person can read and edit, and back.

Cells are "q,r", players are numbers 0 to 3, everything else is an id of `components/`. Lists of
tiles are in the order of their slots, `factions` in the order of the players; objects name the
slot, ship or cell.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from gaia_jax.components import (
    artifacts,
    boosters,
    costs,
    factions,
    federation_tokens,
    map_tiles,
    missions,
    planets,
    research,
    tech_tiles,
)
from gaia_jax.geometry import hex_distance
from gaia_jax.rules.draw import LOST_FLEET_TABLES, Setup

_SECTORS = tuple(tile.id for tile in map_tiles.SECTOR_TILES)
_DEEP = tuple(tile.id for tile in map_tiles.DEEP_TILES)
_FACTIONS = tuple(faction.id for faction in factions.FACTIONS)
_BASIC = tuple(tile.id for tile in tech_tiles.BASIC_TILES)
_SHIP_TILES = tuple(tile.id for tile in tech_tiles.SHIP_TILES)
_ADVANCED = tuple(tile.id for tile in tech_tiles.ADVANCED_TILES)
_BASE_TOKENS = tuple(token.id for token in federation_tokens.BASE_TOKENS)
_SHIP_TOKENS = tuple(token.id for token in federation_tokens.SHIP_TOKENS)
_ARTIFACTS = tuple(artifact.id for artifact in artifacts.ARTIFACTS)
_BOOSTERS = tuple(booster.id for booster in boosters.BOOSTERS)
_ROUND_TILES = tuple(tile.id for tile in missions.ROUND_TILES)
_PLAYERS = tuple(range(costs.NUM_PLAYERS))
_INTERFACE = tuple(f"{q},{r}" for q, r in map_tiles.INTERFACE_CELLS)
_INTERFACE_INDEX = LOST_FLEET_TABLES.geometry.interface_cells
_SHIP = planets.PLANETS.index("Ship")
_BASIC_SLOTS = (*research.TRACKS, "free_1", "free_2", "free_3")
_ADVANCED_SLOTS = (*research.TRACKS, "extra")

_KEYS = (
    "sectors",
    "ships",
    "interface",
    "deep",
    "factions",
    "turn_order",
    "basic_tiles",
    "advanced_tiles",
    "extra_condition",
    "tf5_token",
    "ship_tokens",
    "ship_tiles",
    "artifacts",
    "boosters",
    "round_tiles",
    "final_missions",
    "economy_side",
    "colour_order",
)


def setup_to_dict(setup: Setup) -> dict[str, Any]:
    """One set-up in readable ids.

    Args:
        setup: Setup of one game.
    Returns:
        What `setup_from_json` reads.
    Raises:
        ValueError: `setup` is a batch of set-ups, or holds an index out of range.
    """
    if np.ndim(setup.economy_side):
        raise ValueError(f"one set-up is wanted, not a batch of {np.shape(setup.economy_side)}")
    return {
        "sectors": _turned(_SECTORS, setup.sector_tile, setup.sector_rotation),
        "ships": _named(
            map_tiles.SHIPS, _INTERFACE, [_interface_place(cell) for cell in setup.ship_cell]
        ),
        "interface": {
            cell: _name(planets.PLANETS, content)
            for cell, content in zip(_INTERFACE, setup.interface, strict=True)
            if int(content) != _SHIP
        },
        "deep": _turned(_DEEP, setup.deep_tile, setup.deep_rotation),
        "factions": _names(_FACTIONS, setup.faction),
        "turn_order": [int(player) for player in setup.turn_order],
        "basic_tiles": _named(_BASIC_SLOTS, _BASIC, setup.basic_slot),
        "advanced_tiles": _named(_ADVANCED_SLOTS, _ADVANCED, setup.advanced),
        "extra_condition": _name(tech_tiles.EXTRA_CONDITIONS, setup.extra_condition),
        "tf5_token": _name(_BASE_TOKENS, setup.tf5_token),
        "ship_tokens": _named(map_tiles.SHIPS, _SHIP_TOKENS, setup.ship_token),
        "ship_tiles": _named(tech_tiles.SHIP_TILE_SHIPS, _SHIP_TILES, setup.ship_tile),
        "artifacts": _names(_ARTIFACTS, setup.artifacts),
        "boosters": _names(_BOOSTERS, setup.boosters),
        "round_tiles": _names(_ROUND_TILES, setup.round_tiles),
        "final_missions": _names(missions.FINAL_MISSIONS, setup.final_missions),
        "economy_side": _name(research.ECONOMY_SIDES, setup.economy_side),
        "colour_order": _names(planets.TERRAFORM_CYCLE, setup.colour_order),
    }


def setup_to_json(setup: Setup) -> str:
    """`setup_to_dict` as JSON text, one line a key."""
    lines = [
        f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in setup_to_dict(setup).items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def setup_from_json(source: str | Mapping[str, Any]) -> Setup:
    """The set-up that `source` describes.

    Args:
        source: what `setup_to_json` or `setup_to_dict` wrote, possibly edited.
    Returns:
        Setup of one game.
    Raises:
        ValueError: the set-up is broken; the message names the place, the value and the choices.
    """
    data = _parse(source) if isinstance(source, str) else source
    _object("set-up", data, _KEYS)
    sector_tile, sector_rotation = _read_sectors(data["sectors"])
    interface, ship_cell = _read_interface(data["ships"], data["interface"])
    deep_tile, deep_rotation = _read_deep(data["deep"])

    def some(key: str, ids: Sequence[Hashable], count: int) -> np.ndarray:
        return _different(key, dict(enumerate(_list(key, data[key], count))), ids)

    def slots(key: str, places: Sequence[str], ids: Sequence[Hashable]) -> np.ndarray:
        _object(key, data[key], places)
        return _different(key, {place: data[key][place] for place in places}, ids)

    def one(key: str, ids: Sequence[Hashable]) -> np.ndarray:
        return np.array(_index(key, data[key], ids))

    fields = {
        "sector_tile": sector_tile,
        "sector_rotation": sector_rotation,
        "interface": interface,
        "deep_tile": deep_tile,
        "deep_rotation": deep_rotation,
        "faction": _read_factions(some("factions", _FACTIONS, costs.NUM_PLAYERS)),
        "turn_order": some("turn_order", _PLAYERS, costs.NUM_PLAYERS),
        "basic_slot": slots("basic_tiles", _BASIC_SLOTS, _BASIC),
        "advanced": slots("advanced_tiles", _ADVANCED_SLOTS, _ADVANCED),
        "extra_condition": one("extra_condition", tech_tiles.EXTRA_CONDITIONS),
        "tf5_token": one("tf5_token", _BASE_TOKENS),
        "ship_token": slots("ship_tokens", map_tiles.SHIPS, _SHIP_TOKENS),
        "ship_tile": slots("ship_tiles", tech_tiles.SHIP_TILE_SHIPS, _SHIP_TILES),
        "artifacts": some("artifacts", _ARTIFACTS, costs.ARTIFACTS_IN_PLAY),
        "boosters": some("boosters", _BOOSTERS, costs.BOOSTERS_IN_PLAY),
        "round_tiles": some("round_tiles", _ROUND_TILES, costs.ROUNDS),
        "final_missions": some(
            "final_missions", missions.FINAL_MISSIONS, costs.FINAL_MISSIONS_IN_PLAY
        ),
        "economy_side": one("economy_side", research.ECONOMY_SIDES),
        "colour_order": some("colour_order", planets.TERRAFORM_CYCLE, len(planets.TERRAFORM_CYCLE)),
    }
    arrays = {name: jnp.asarray(value, jnp.int8) for name, value in fields.items()}
    return Setup(ship_cell=jnp.asarray(ship_cell, jnp.int16), **arrays)


# Writing.


def _interface_place(cell: Any) -> int:
    """The index in INTERFACE_CELLS of a cell of the map, -1 for any other."""
    places = np.flatnonzero(int(cell) == _INTERFACE_INDEX)
    return int(places[0]) if len(places) else -1


def _name(ids: Sequence[str], index: Any) -> str:
    if not 0 <= int(index) < len(ids):
        raise ValueError(f"{int(index)} is no index of {_choices(ids)}")
    return ids[int(index)]


def _names(ids: Sequence[str], indices: Any) -> list[str]:
    return [_name(ids, index) for index in indices]


def _named(places: Sequence[str], ids: Sequence[str], indices: Any) -> dict[str, str]:
    return dict(zip(places, _names(ids, indices), strict=True))


def _turned(ids: Sequence[str], tiles: Any, rotations: Any) -> list[dict[str, Any]]:
    return [
        {"tile": name, "rotation": int(turns)}
        for name, turns in zip(_names(ids, tiles), rotations, strict=True)
    ]


# Reading. `where` is the place in the set-up that an error names.


def _parse(text: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in items]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"the set-up has the key {key!r} twice in one object")
        return dict(items)

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise ValueError(f"the set-up is not JSON: {error}") from error


def _choices(ids: Sequence[Hashable]) -> str:
    return ", ".join(str(id) for id in ids)


def _object(where: str, value: Any, keys: Sequence[str]) -> None:
    """An object with just these keys."""
    found = list(value) if isinstance(value, Mapping) else None
    if found is None:
        raise ValueError(f"{where}: an object is wanted, not {value!r}")
    for key in found:
        if key not in keys:
            raise ValueError(f"{where}: unknown key {key!r}; known are {_choices(keys)}")
    for key in keys:
        if key not in found:
            raise ValueError(f"{where}: key {key!r} is missing")


def _list(where: str, value: Any, count: int) -> list[Any]:
    if not isinstance(value, list | tuple) or len(value) != count:
        raise ValueError(f"{where}: a list of {count} is wanted, not {value!r}")
    return list(value)


def _index(where: str, value: Any, ids: Sequence[Hashable]) -> int:
    """The index of `value` in `ids`, of the same type: neither 1.0 nor True stands for 1."""
    for index, id in enumerate(ids):
        if type(value) is type(id) and value == id:
            return index
    raise ValueError(f"{where}: unknown value {value!r}; choose from {_choices(ids)}")


def _different(where: str, values: Mapping[Any, Any], ids: Sequence[Hashable]) -> np.ndarray:
    """The indices of `values`, no two of them the same; the keys name the places."""
    indices = [_index(f"{where}[{place!r}]", value, ids) for place, value in values.items()]
    for index in indices:
        if indices.count(index) > 1:
            raise ValueError(f"{where}: {ids[index]!r} stands there twice")
    return np.array(indices)


def _read_turned(
    where: str, value: Any, count: int, ids: Sequence[str], turns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Different tiles, each with a rotation below `turns`."""
    entries = _list(where, value, count)
    for place, entry in enumerate(entries):
        _object(f"{where}[{place}]", entry, ("tile", "rotation"))
    tiles = _different(where, {i: entry["tile"] for i, entry in enumerate(entries)}, ids)
    rotations = [
        _index(f"{where}[{place}]['rotation']", entry["rotation"], range(turns))
        for place, entry in enumerate(entries)
    ]
    return tiles, np.array(rotations)


def _read_sectors(value: Any) -> tuple[np.ndarray, np.ndarray]:
    tiles, rotations = _read_turned("sectors", value, len(_SECTORS), _SECTORS, 6)
    for slot in map_tiles.CENTER_SLOTS:
        tile = _SECTORS[tiles[slot]]
        if tile not in map_tiles.CENTER_POOL:
            pool = _choices(map_tiles.CENTER_POOL)
            raise ValueError(f"sectors[{slot}]: {tile!r} cannot lie there; choose from {pool}")
    return tiles, rotations


def _read_deep(value: Any) -> tuple[np.ndarray, np.ndarray]:
    faces, rotations = _read_turned("deep", value, len(map_tiles.DEEP_SLOTS), _DEEP, 3)
    _exclusive("deep", faces, _DEEP, "are two sides of one tile")
    return faces, rotations


def _read_factions(faction: np.ndarray) -> np.ndarray:
    _exclusive("factions", faction, _FACTIONS, "are two sides of one board")
    return faction


def _exclusive(where: str, sides: np.ndarray, ids: Sequence[str], reason: str) -> None:
    """Of the ids 2i and 2i + 1 only one is there."""
    for side in sides:
        if side ^ 1 in sides:
            raise ValueError(f"{where}: {ids[side]!r} and {ids[side ^ 1]!r} {reason}")


def _read_interface(ships: Any, rest: Any) -> tuple[np.ndarray, np.ndarray]:
    """The contents of the interspace cells, and the cell of each ship (MAP-07)."""
    _object("ships", ships, map_tiles.SHIPS)
    places = _different("ships", {ship: ships[ship] for ship in map_tiles.SHIPS}, _INTERFACE)
    for a, ship in enumerate(map_tiles.SHIPS):
        for b, other in enumerate(map_tiles.SHIPS[:a]):
            cells = map_tiles.INTERFACE_CELLS[places[a]], map_tiles.INTERFACE_CELLS[places[b]]
            if hex_distance(*cells) < map_tiles.SHIP_MIN_DISTANCE:
                raise ValueError(
                    f"ships: {other} at {ships[other]!r} and {ship} at {ships[ship]!r} are closer"
                    f" than {map_tiles.SHIP_MIN_DISTANCE}"
                )
    free = [cell for place, cell in enumerate(_INTERFACE) if place not in places]
    _object("interface", rest, free)
    contents = [rest[cell] for cell in free]
    kinds = tuple(dict.fromkeys(map_tiles.INTERFACE_TILES))
    for cell, content in zip(free, contents, strict=True):
        _index(f"interface[{cell!r}]", content, kinds)
    for kind in kinds:
        count, wanted = contents.count(kind), map_tiles.INTERFACE_TILES.count(kind)
        if count != wanted:
            raise ValueError(f"interface: {wanted} of {kind!r} are wanted, not {count}")
    interface = [planets.PLANETS.index(rest.get(cell, "Ship")) for cell in _INTERFACE]
    return np.array(interface), _INTERFACE_INDEX[places]

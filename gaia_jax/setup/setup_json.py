"""A set-up as JSON that a person can read and edit, and back.

Cells are "q,r", players are numbers from 0, everything else is an id of `components/`. Lists of
tiles are in the order of their slots, `factions` in the order of the players; objects name the
slot, ship or cell.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.cli.arguments import known, shown
from gaia_jax.components import costs, map_tiles, planets, research
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.definition import check_ruleset
from gaia_jax.setup.automa_json import automa_to_dict, read_automa
from gaia_jax.setup.json_values import (
    check_list,
    check_object,
    choices,
    different,
    index_of,
    parse,
    read_turned,
)
from gaia_jax.setup.map_check import check_map
from gaia_jax.state import Setup
from gaia_jax.xla.struct import leaves

# Players who decide, in any ruleset.
SEATS = (1, 2, 3, 4)
_SHIP = planets.PLANETS.index("Ship")
_BASIC_SLOTS = (*research.TRACKS, "free_1", "free_2", "free_3")


class _Entry(NamedTuple):
    """A key of a set-up that is one field of `Setup`: what is chosen, and for which places."""

    key: str
    field: str
    ids: Sequence[Hashable]
    # The names of the places, in an object; how many there are, in a list; None for a single one.
    places: Sequence[str] | int | None


def _entries(r: Ruleset) -> list[_Entry]:
    """All of them in the order in which they are written; where nothing is to choose, none."""
    ids, cycle = r.ids, planets.TERRAFORM_CYCLE
    sides = research.ECONOMY_SIDES[: len(r.economy_income)]
    missions = costs.FINAL_MISSIONS_IN_PLAY
    drawn = any(faction.drawn_colours for faction in r.factions)
    entries = (
        _Entry("factions", "faction", ids["faction"], r.seats),
        # Against the Automa the human is first (AUT-01).
        _Entry("turn_order", "turn_order", range(r.seats if not r.automa else 0), r.seats),
        _Entry("basic_tiles", "basic_slot", _of(r.basic_tiles), _BASIC_SLOTS),
        _Entry("advanced_tiles", "advanced", ids["advanced"], ids["advanced_slot"]),
        _Entry("extra_condition", "extra_condition", r.extra_conditions, None),
        _Entry("tf5_token", "tf5_token", _of(r.base_tokens), None),
        _Entry("ship_tokens", "ship_token", _of(r.ship_tokens), r.ships),
        _Entry("ship_tiles", "ship_tile", _of(r.ship_tiles), r.ship_tile_ships),
        _Entry("artifacts", "artifacts", ids["artifact"], r.artifacts_in_play),
        _Entry("boosters", "boosters", ids["booster"], r.boosters_in_play),
        _Entry("round_tiles", "round_tiles", ids["round_tile"], costs.ROUNDS),
        _Entry("final_missions", "final_missions", r.final_missions, missions),
        _Entry("economy_side", "economy_side", sides if len(sides) > 1 else (), None),
        _Entry("colour_order", "colour_order", cycle if drawn else (), len(cycle)),
    )
    return [entry for entry in entries if entry.ids]


def _of(pieces: Sequence[Any]) -> tuple[str, ...]:
    return tuple(piece.id for piece in pieces)


def _interface(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(f"{q},{r}" for q, r in ruleset.map.interface_cells)


def setup_to_dict(setup: Setup, ruleset: Ruleset) -> dict[str, Any]:
    """One set-up in readable ids.

    Args:
        setup: Setup of one game.
        ruleset: of that game, such as `env.ruleset`. What it does not have is left out.
    Returns:
        What `setup_from_json` reads.
    Raises:
        ValueError: `setup` is a batch of set-ups, holds an index out of range, or is of another
            ruleset; TypeError: it is no set-up.
    """
    _check_setup(setup, ruleset)
    r, parts = ruleset, ruleset.map
    data: dict[str, Any] = {} if r.seats == 4 else {"players": r.seats}
    laid = len(setup.sector_tile) - _left_out(r, setup)
    data["sectors"] = _turned(
        _of(parts.sector_tiles), setup.sector_tile[:laid], setup.sector_rotation[:laid], 6
    )
    if r.ships:
        places = [_interface_place(r, cell) for cell in setup.ship_cell]
        data["ships"] = _named(r.ships, _interface(r), places)
    if parts.interface_cells:
        data["interface"] = {
            cell: _name(planets.PLANETS, content)
            for cell, content in zip(_interface(r), setup.interface, strict=True)
            if int(content) != _SHIP
        }
    if parts.deep_slots:
        data["deep"] = _turned(_of(parts.deep_tiles), setup.deep_tile, setup.deep_rotation, 3)
    for entry in _entries(r):
        value = getattr(setup, entry.field)
        if entry.key == "factions":
            value = value[: r.seats]
        if entry.places is None:
            data[entry.key] = _name(entry.ids, value)
        elif isinstance(entry.places, int):
            data[entry.key] = _names(entry.ids, value)
        else:
            data[entry.key] = _named(entry.places, entry.ids, value)
    if r.automa:
        data["automa"] = automa_to_dict(setup, r)
    return data


def setup_to_json(setup: Setup, ruleset: Ruleset) -> str:
    """`setup_to_dict` as JSON text, one line a key."""
    written = setup_to_dict(setup, ruleset)
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in written.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def setup_from_json(source: str | Mapping[str, Any], ruleset: Ruleset) -> Setup:
    """The set-up that `source` describes.

    Args:
        source: what `setup_to_json` or `setup_to_dict` wrote, possibly edited.
        ruleset: of the game that it is for, such as `env.ruleset`.
    Returns:
        Setup of one game.
    Raises:
        ValueError: the set-up is broken; the message names the place, the value and the choices.
        TypeError: `ruleset` is none.
    """
    check_ruleset(ruleset)
    data = parse(source) if isinstance(source, str) else source
    r = ruleset
    data = _without_players(r, data)
    check_object("set-up", data, _keys(r))
    sector_tile, sector_rotation = _read_sectors(r, data["sectors"])
    interface, ship_cell = _read_interface(r, data.get("ships", {}), data.get("interface", {}))
    deep_tile, deep_rotation = _read_deep(r, data.get("deep", []))

    fields: dict[str, Any] = {
        "sector_tile": sector_tile,
        "sector_rotation": sector_rotation,
        "interface": interface,
        "ship_cell": ship_cell,
        "deep_tile": deep_tile,
        "deep_rotation": deep_rotation,
        # Where a ruleset has none.
        **dict.fromkeys(("extra_condition", "economy_side"), 0),
        **dict.fromkeys(("ship_token", "ship_tile", "artifacts", "colour_order"), ()),
    }
    for entry in _entries(r):
        fields[entry.field] = _read_entry(entry, data[entry.key])
    draws = None
    if r.automa:
        faction, draws = read_automa(data["automa"], r, int(fields["faction"][0]))
        fields["faction"] = np.append(fields["faction"], faction)
        fields["turn_order"] = np.arange(r.players)
    _check_boards(r, fields["faction"])
    declared = leaves(Setup)
    typed = {x: np.asarray(value, declared[x].dtype) for x, value in fields.items()}
    setup = Setup(**jax.device_put(typed), automa=draws)
    check_map(r, setup)
    return setup


def players_of(data: object) -> int:
    """For how many players a set-up is: its `players`, else the number of its factions, else 4.

    Raises:
        ValueError: `data` is no object, or its number of players is none.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"set-up: must be an object, got {shown(data)}")
    factions, subject = data.get("factions"), "players"
    players = data.get(subject, 4)
    if subject not in data and isinstance(factions, list | tuple):
        players, subject = len(factions), "the number of factions"
    if type(players) is not int or players not in SEATS:
        known = choices(SEATS)
        raise ValueError(f"set-up: {subject} must be one of {known}, not {shown(players)}")
    return players


def _without_players(ruleset: Ruleset, data: object) -> Any:
    """The set-up without its number of players, which must be that of the ruleset."""
    if not isinstance(data, Mapping) or "players" not in data:
        return data
    if players_of(data) != ruleset.seats:
        raise ValueError(
            f"set-up: it is for {players_of(data)} players, this game for {ruleset.seats}"
        )
    return {key: value for key, value in data.items() if key != "players"}


def _left_out(ruleset: Ruleset, setup: Setup) -> int:
    """The number of last places without a tile (PLA-04)."""
    spare = len(ruleset.map.spare_tiles)
    return spare if spare and (np.asarray(setup.sector_tile)[-spare:] == -1).all() else 0


def _keys(ruleset: Ruleset) -> tuple[str, ...]:
    """The keys of a set-up; those of what the ruleset does not have are missing."""
    laid = {
        "sectors": True,
        "ships": bool(ruleset.ships),
        "interface": bool(ruleset.map.interface_cells),
        "deep": bool(ruleset.map.deep_slots),
    }
    return (
        *(key for key, is_present in laid.items() if is_present),
        *(entry.key for entry in _entries(ruleset)),
        *(["automa"] if ruleset.automa else []),
    )


# Writing.


def _interface_place(ruleset: Ruleset, cell: Any) -> int:
    """The index of a cell of the map among the interspace cells, -1 for any other."""
    places = np.flatnonzero(int(cell) == ruleset.geometry.interface_cells)
    return int(places[0]) if len(places) else -1


def _check_setup(setup: Any, ruleset: Ruleset) -> None:
    """One set-up of numbers that are known, with as many of them as the ruleset has pieces."""
    check_ruleset(ruleset)
    if not isinstance(setup, Setup):
        raise TypeError(f"setup must be a Setup, not {shown(setup)}")
    if np.ndim(setup.economy_side):
        raise ValueError(f"setup must be one set-up, got a batch of {np.shape(setup.economy_side)}")
    if (setup.automa is None) is not (ruleset.automa is None):
        raise ValueError(f"setup is of another ruleset than {ruleset.name!r}: see setup.automa")
    parts = vars(setup) | (vars(setup.automa) if setup.automa else {})
    for name, value in parts.items():
        if name == "automa":
            continue
        if not known(value):
            raise TypeError(f"setup.{name} must be numbers, not {shown(value)}")
        dtype = np.asarray(value).dtype
        if not np.issubdtype(dtype, np.integer):
            raise TypeError(f"setup.{name} must be integers, not {dtype}: {shown(value)}")
    sizes = {
        "sector_tile": len(ruleset.map.sector_tiles),
        "interface": len(ruleset.map.interface_cells),
        "deep_tile": len(ruleset.map.deep_slots),
        "ship_cell": len(ruleset.ships),
        "advanced": len(ruleset.ids["advanced_slot"]),
        "faction": ruleset.players,
        "turn_order": ruleset.players,
        "boosters": ruleset.boosters_in_play,
        "artifacts": ruleset.artifacts_in_play,
    }
    for name, size in sizes.items():
        shape = np.shape(getattr(setup, name))
        if shape != (size,):
            raise ValueError(
                f"setup.{name} is of shape {shape}, {ruleset.name!r} has {size}: is the set-up of"
                " another ruleset?"
            )


def _place(ids: Sequence[Hashable], index: Any) -> int:
    if not 0 <= int(index) < len(ids):
        raise ValueError(f"{int(index)} is no index of {choices(ids)}")
    return int(index)


def _name(ids: Sequence[Hashable], index: Any) -> Any:
    return ids[_place(ids, index)]


def _names(ids: Sequence[Hashable], indices: Any) -> list[Any]:
    return [_name(ids, index) for index in indices]


def _named(places: Sequence[str], ids: Sequence[Hashable], indices: Any) -> dict[str, Any]:
    return dict(zip(places, _names(ids, indices), strict=True))


def _turned(ids: Sequence[str], tiles: Any, rotations: Any, turns: int) -> list[dict[str, Any]]:
    return [
        {"tile": name, "rotation": _place(range(turns), rotation)}
        for name, rotation in zip(_names(ids, tiles), rotations, strict=True)
    ]


# Reading. Each check is given first the `path`, the place that an error names.


def _read_sectors(ruleset: Ruleset, value: object) -> tuple[np.ndarray, np.ndarray]:
    parts = ruleset.map
    tile_ids = _of(parts.sector_tiles)
    spare = len(parts.spare_tiles)
    if spare and isinstance(value, list | tuple) and len(value) == len(tile_ids) - spare:
        left = tuple(tile for tile in tile_ids if tile not in parts.spare_tiles)
        tiles, rotations = read_turned("sectors", value, len(left), left, 6)
        return np.append(tiles, [-1] * spare), np.append(rotations, [0] * spare)
    tiles, rotations = read_turned("sectors", value, len(tile_ids), tile_ids, 6)
    for slot in parts.center_slots:
        tile = tile_ids[tiles[slot]]
        if tile not in parts.center_pool:
            pool = choices(parts.center_pool)
            raise ValueError(f"sectors[{slot}]: {tile!r} cannot lie there; choose from {pool}")
    return tiles, rotations


def _read_deep(ruleset: Ruleset, value: object) -> tuple[np.ndarray, np.ndarray]:
    tile_ids = _of(ruleset.map.deep_tiles)
    faces, rotations = read_turned("deep", value, len(ruleset.map.deep_slots), tile_ids, 3)
    for face in faces:
        if face ^ 1 in faces:
            sides = f"{tile_ids[face]!r} and {tile_ids[face ^ 1]!r}"
            raise ValueError(f"deep: {sides} are two sides of one tile")
    return faces, rotations


def _read_entry(entry: _Entry, value: object) -> np.ndarray:
    """The indices of a value."""
    key, places = entry.key, entry.places
    if places is None:
        return np.array(index_of(key, value, entry.ids))
    if isinstance(places, int):
        return different(key, dict(enumerate(check_list(key, value, places))), entry.ids)
    written = check_object(key, value, places)
    return different(key, {place: written[place] for place in places}, entry.ids)


def _check_boards(ruleset: Ruleset, faction: np.ndarray) -> None:
    """No two factions of one board."""
    faction_ids = ruleset.ids["faction"]
    chosen = {faction_ids[index] for index in faction}
    for a, b in ruleset.faction_boards:
        if {a, b} <= chosen:
            raise ValueError(f"factions: {a!r} and {b!r} are two sides of one board")


def _read_interface(ruleset: Ruleset, ships: Any, rest: Any) -> tuple[np.ndarray, np.ndarray]:
    """The contents of the interspace cells, and the cell of each ship (MAP-07)."""
    parts, cells = ruleset.map, _interface(ruleset)
    check_object("ships", ships, ruleset.ships)
    places = different("ships", {ship: ships[ship] for ship in ruleset.ships}, cells)
    for a, ship in enumerate(ruleset.ships):
        for b, other in enumerate(ruleset.ships[:a]):
            cell_pair = parts.interface_cells[places[a]], parts.interface_cells[places[b]]
            if map_tiles.hex_distance(*cell_pair) < map_tiles.SHIP_MIN_DISTANCE:
                raise ValueError(
                    f"ships: {other} at {ships[other]!r} and {ship} at {ships[ship]!r} are closer"
                    f" than {map_tiles.SHIP_MIN_DISTANCE}"
                )
    free = [cell for place, cell in enumerate(cells) if place not in places]
    check_object("interface", rest, free)
    contents = [rest[cell] for cell in free]
    kinds = tuple(dict.fromkeys(parts.interface_tiles))
    for cell, content in zip(free, contents, strict=True):
        index_of(f"interface[{cell!r}]", content, kinds)
    for kind in kinds:
        count, expected = contents.count(kind), parts.interface_tiles.count(kind)
        if count != expected:
            raise ValueError(f"interface: must have {expected} of {kind!r}, got {count}")
    interface = [planets.PLANETS.index(rest.get(cell, "Ship")) for cell in cells]
    return np.array(interface), ruleset.geometry.interface_cells[places]

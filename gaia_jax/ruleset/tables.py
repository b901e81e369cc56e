"""The arrays that the rules read, made from the pieces and prices of a ruleset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gaia_jax.components import common, costs, missions, research, ships
from gaia_jax.components.common import Gain
from gaia_jax.ruleset import operations
from gaia_jax.ruleset.faction_table import FactionTable, gain_vector, make_faction_table
from gaia_jax.ruleset.pieces import Pieces

# The place of each operation by its id.
Index: TypeAlias = Mapping[str, int]


def _triggers(pieces: Sequence[Any], events: tuple[str, ...]) -> np.ndarray:
    out = np.zeros((len(pieces), len(events)), np.int8)
    for i, piece in enumerate(pieces):
        if piece.trigger:
            out[i, events.index(piece.trigger[0])] = piece.trigger[1]
    return out


def _pass_vp(pieces: Sequence[Any], counts: tuple[str, ...]) -> np.ndarray:
    out = np.zeros((len(pieces), len(counts)), np.int8)
    for i, piece in enumerate(pieces):
        if piece.pass_per:
            out[i, counts.index(piece.pass_per.count)] = piece.pass_per.vp
    return out


def _action_operations(pieces: Pieces, row: Index) -> np.ndarray:
    """(A,) int16, the operation of an action at TURN, AFTER and PIECE; 0 if it has no operation.

    Explorations, artifacts, academy B and the action of a faction depend on the game (`decode`).
    """
    space = pieces.actions
    out = np.zeros(space.num_actions, np.int16)
    cells = space.geometry.num_cells
    out[:cells] = row["mine"]
    out[cells : 2 * cells] = row["project"]
    for verb, ids in space.groups:
        for i, argument in enumerate(ids):
            name = "research" if verb == "advance" else f"{verb} {argument}"
            name = f"upgrade {argument}" if verb == "piece" else name
            name = "pass" if verb in ("booster", "pass") else name
            out[space.first[verb] + i] = row.get(name, 0)
    return out


@dataclass(frozen=True, eq=False)
class Tables:
    """The arrays that the rules read, numpy."""

    verbs: dict[str, int]  # the number of each verb
    index: np.ndarray  # (A, 4) int16: verb, argument, cell (0 where there is none), operation
    ops: np.ndarray  # (operations, K) int16, read as `OperationRow`
    op: dict[str, int]  # the row of each operation by its id
    faction: FactionTable
    # Free actions: which need the PI, what they are to the Nevlas, to the Terrans (GAI-08).
    free_needs_pi: np.ndarray  # (free actions,) bool
    bundles: np.ndarray  # (free actions,) int16, operations, 0 none (FRE-07)
    conversions: np.ndarray  # (free actions,) int16
    # Operations by what they are made from, int16.
    upgrade_op: np.ndarray  # (structures,)
    advanced_op: np.ndarray  # (advanced tiles,)
    token_op: np.ndarray  # (tokens,)
    artifact_op: np.ndarray  # (artifacts,)
    tinkering_op: np.ndarray  # (tinkering tiles,)
    tinkering_round: np.ndarray  # (tinkering tiles, 3) int8, the rounds that a tile belongs to
    # Scoring: VP by event or by counted thing, int8.
    round_events: np.ndarray  # (round tiles, events)
    tile_events: np.ndarray  # (tiles, events)
    advanced_events: np.ndarray  # (advanced tiles, events)
    booster_pass: np.ndarray  # (boosters, counts)
    advanced_pass: np.ndarray  # (advanced tiles, counts)
    prizes: np.ndarray  # (4,) int8, of a final mission by rank
    end_vp: np.ndarray  # (levels,) int8, of a track at the end
    # Gains, (..., 9) int8 in the order of GAIN_FIELDS.
    booster_income: np.ndarray  # (boosters, 9)
    tile_income: np.ndarray  # (tiles, 9)
    artifact_income: np.ndarray  # (artifacts, 9)
    economy_income: np.ndarray  # (sides, levels, 9)
    science_income: np.ndarray  # (levels, 9)
    level_bonus: np.ndarray  # (tracks, levels, 9)
    # Tiles, tokens, pieces, int8.
    range_bonus: np.ndarray  # (tiles,)
    power_value: np.ndarray  # (pieces,), by `Board.piece`
    tile_power: np.ndarray  # (tiles,), what a tile makes of a PI or an academy
    green: np.ndarray  # (tokens,) bool
    virtual_planet: np.ndarray  # (artifacts,), planet of an artifact mine (ART-03), -1 none
    pieces: np.ndarray  # (structures,), the supply of each
    shuttle_charge: np.ndarray  # (slots of a ship,)
    # The research board, int8 by level.
    ore_per_step: np.ndarray
    navigation_range: np.ndarray
    project_cost: np.ndarray


def make_tables(pieces: Pieces, ops: tuple[operations.Operation, ...], row: Index) -> Tables:
    """Every table of a ruleset.

    Args:
        ops: all operations, "none" first.
        row: the place of each of them by its id.
    """
    names = common.STRUCTURES
    power = [costs.POWER_VALUE[name] for name in names]
    return Tables(
        op=dict(row),
        ops=operations.operation_table(ops),
        faction=make_faction_table(pieces, row),
        free_needs_pi=np.array([a.needs_pi for a in pieces.free_actions]),
        bundles=np.array([row.get(f"bundle {a.id}", 0) for a in pieces.free_actions], np.int16),
        conversions=np.array(
            [row.get(f"terrans {a.id}", 0) for a in pieces.free_actions], np.int16
        ),
        power_value=np.array([*power, 0], np.int8),
        pieces=np.array([0, *(costs.PIECES[name] for name in names[1:])], np.int8),
        shuttle_charge=np.array(ships.SHUTTLE_CHARGE, np.int8),
        **_index_tables(pieces, row),
        **_operation_tables(pieces, row),
        **_scoring_tables(pieces),
        **_gain_tables(pieces),
        **_piece_tables(pieces),
        ore_per_step=np.array(research.ORE_PER_STEP, np.int8),
        navigation_range=np.array(research.NAVIGATION_RANGE, np.int8),
        project_cost=np.array(research.PROJECT_COST, np.int8),
    )


def _index_tables(pieces: Pieces, row: Index) -> dict[str, Any]:
    """Verb, argument, cell and operation of each index."""
    space = pieces.actions
    verbs = [*("mine", "project", "upgrade", "pick"), *(verb for verb, _ in space.groups)]
    verb = np.zeros(space.num_actions, np.int8)
    argument = np.zeros(space.num_actions, np.int8)
    cells = space.geometry.num_cells
    for i in range(4):
        verb[i * cells : (i + 1) * cells] = i
    for name, ids in space.groups:
        at = space.first[name]
        verb[at : at + len(ids)] = verbs.index(name)
        argument[at : at + len(ids)] = np.arange(len(ids))
    parts = [verb, argument, np.maximum(space.cell, 0), _action_operations(pieces, row)]
    return {
        "verbs": {name: i for i, name in enumerate(verbs)},
        "index": np.stack(parts, axis=-1).astype(np.int16),
    }


def _tiles(pieces: Pieces) -> tuple[Any, ...]:
    return (*pieces.basic_tiles, *pieces.ship_tiles)


def _tokens(pieces: Pieces) -> tuple[Any, ...]:
    return (*pieces.base_tokens, pieces.gleens_token, *pieces.ship_tokens)


def _operation_tables(pieces: Pieces, row: Index) -> dict[str, Any]:
    """Operations by what they are made from."""

    def rows(verb: str, pieces: Iterable[Any]) -> np.ndarray:
        return np.array([row[f"{verb} {piece.id}"] for piece in pieces] or [0], np.int16)

    upgrades = [row[f"upgrade {name}"] for name in common.STRUCTURES[2:]]
    rounds = [t.rounds for t in pieces.tinkering_tiles] or [(0, 0, 0)]
    return {
        "upgrade_op": np.array([0, 0, *upgrades], np.int16),
        "advanced_op": rows("advanced", pieces.advanced_tiles),
        "token_op": rows("token", _tokens(pieces)),
        "artifact_op": rows("artifact", pieces.artifacts),
        "tinkering_op": rows("tinkering", pieces.tinkering_tiles),
        "tinkering_round": np.array(rounds, np.int8),
    }


def _scoring_tables(pieces: Pieces) -> dict[str, Any]:
    """VP by event, by counted thing, at the end."""
    events, counts = common.EVENTS, common.COUNTS
    rounds = np.zeros((len(pieces.round_tiles), len(events)), np.int8)
    for i, tile in enumerate(pieces.round_tiles):
        rounds[i, events.index(tile.event)] = tile.vp
    return {
        "round_events": rounds,
        "tile_events": _triggers(_tiles(pieces), events),
        "advanced_events": _triggers(pieces.advanced_tiles, events),
        "booster_pass": _pass_vp(pieces.boosters, counts),
        "advanced_pass": _pass_vp(pieces.advanced_tiles, counts),
        "prizes": np.array(missions.FINAL_PRIZES, np.int8),
        "end_vp": np.array(research.END_VP, np.int8),
    }


def _gain_tables(pieces: Pieces) -> dict[str, Any]:
    """Incomes and level bonuses."""

    def gains(amounts: Iterable[Gain[int]]) -> np.ndarray:
        return np.array([gain_vector(x) for x in amounts], np.int8)

    return {
        "booster_income": gains(b.income for b in pieces.boosters),
        "tile_income": gains(t.income for t in _tiles(pieces)),
        "artifact_income": gains([a.income for a in pieces.artifacts] or [Gain()]),
        "economy_income": np.array([gains(side) for side in pieces.economy_income]),
        "science_income": gains(research.SCIENCE_INCOME),
        "level_bonus": np.array([gains(track) for track in research.LEVEL_BONUS]),
    }


def _piece_tables(pieces: Pieces) -> dict[str, Any]:
    """Facts of tiles, tokens, artifacts."""
    planet = pieces.ids["planet"].index
    mines = [planet(a.virtual_mine) if a.virtual_mine else -1 for a in pieces.artifacts]
    return {
        "range_bonus": np.array([t.range_bonus for t in _tiles(pieces)], np.int8),
        "tile_power": np.array([t.power_value_pi_ac or 0 for t in _tiles(pieces)], np.int8),
        "green": np.array([t.green for t in _tokens(pieces)]),
        "virtual_planet": np.array(mines or [-1], np.int8),
    }

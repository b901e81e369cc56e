"""GameState -> Observation, seen from one seat; docs/reference/observation.md has its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.observation import scaling as scaling
from gaia_jax.observation.automa import AUTOMA
from gaia_jax.observation.cells import CELLS
from gaia_jax.observation.game import GLOBALS
from gaia_jax.observation.players import PLAYER_BLOCKS
from gaia_jax.observation.view import Block, View
from gaia_jax.observation.view import seats as seat_names
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState
from gaia_jax.xla.struct import pytree


@pytree
class Observation:
    """The game as one player sees it: all of it but the order of the Automa's cards (GEN-05)."""

    cells: Array  # (C, Fc) int8
    players: Array  # (P, Fp) int16, own seat first, then as they follow in turn order
    globals: Array  # (Fg,) int16


class Feature(NamedTuple):
    """One column of an observation."""

    name: str
    low: int
    high: int
    scaling: str  # the function of `gaia_jax.observation.scaling` that networks apply to it


# Of each table: the function of `gaia_jax.observation.scaling` that networks apply; its dtype.
SCALINGS = {"cells": "soft_sign", "players": "symlog", "globals": "symlog"}
DTYPES = {"cells": np.int8, "players": np.int16, "globals": np.int16}


@dataclass(frozen=True)
class ObservationSpec:
    """The columns of an observation, in their order."""

    cells: tuple[Feature, ...]
    players: tuple[Feature, ...]
    globals: tuple[Feature, ...]


def features(ruleset: Ruleset) -> ObservationSpec:
    """Name, range and scaling of every column of an observation under a ruleset."""
    blocks = {"cells": CELLS, "players": PLAYER_BLOCKS, "globals": global_blocks(ruleset)}
    tables = {
        table: tuple(
            Feature(name, block.low, block.high, SCALINGS[table])
            for block in blocks[table]
            for name in block.columns(ruleset)
        )
        for table in blocks
    }
    return ObservationSpec(**tables)


def vector_features(ruleset: Ruleset) -> tuple[Feature, ...]:
    """Name, raw range and scaling of every entry of an observation as a vector, in its order.

    Names are those of the table, the row and the column: "cells.17.planet.Red",
    "players.own.vp", "globals.round.0".
    """
    spec = features(ruleset)
    cells = range(ruleset.geometry.num_cells)
    rows = [("cells", f"cells.{cell}") for cell in cells]
    rows += [("players", f"players.{seat}") for seat in seat_names(ruleset)]
    rows += [("globals", "globals")]
    return tuple(
        column._replace(name=f"{row}.{column.name}")
        for table, row in rows
        for column in getattr(spec, table)
    )


def leading_shapes(ruleset: Ruleset) -> dict[str, tuple[int, ...]]:
    """The shape of each table of an observation but for its columns."""
    cells, players = ruleset.geometry.num_cells, ruleset.players
    return {"cells": (cells,), "players": (players,), "globals": ()}


def global_blocks(ruleset: Ruleset) -> tuple[Block, ...]:
    """The blocks of the table `globals`."""
    return (*GLOBALS, *AUTOMA) if ruleset.automa else GLOBALS


def seats(game: GameState, player: Array) -> Array:
    """(P,) int32, `player`, then the others as they follow in the turn order of the round."""
    order = game.turn.order.astype(jnp.int32)
    first = jnp.argmax(order == player)
    return order[(first + jnp.arange(game.num_players)) % game.num_players]


def observe(ruleset: Ruleset, game: GameState, player: Array) -> Observation:
    """The observation of a player, computed on request and kept nowhere.

    Args:
        ruleset: the ruleset, static.
        game: one game.
        player: () int32.
    """
    view = View(ruleset, game, seats(game, player))
    players = _table("players", PLAYER_BLOCKS, view)
    return Observation(
        cells=_table("cells", CELLS, view),
        players=players[view.seats],
        globals=_table("globals", global_blocks(ruleset), view),
    )


def _table(name: str, blocks: tuple[Block, ...], view: View) -> Array:
    """(*lead, F), the columns of all blocks of a table side by side.

    Each block has its final dtype before they are joined (cells, on a CPU: 4 times as fast as
    joining int16 and narrowing the whole).
    """
    parts, lead = [], leading_shapes(view.ruleset)[name]
    for block in blocks:
        values = jnp.asarray(block.read(view)).astype(DTYPES[name])
        parts.append(values.reshape(*lead, len(block.columns(view.ruleset))))
    return jnp.concatenate(parts, axis=-1)

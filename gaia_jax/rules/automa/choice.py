"""How the Automa chooses among its options: by a direction, a number, a distance (AUT-16 to 18)."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.automa_table import CardNumbers
from gaia_jax.state import HUMAN, Board
from gaia_jax.xla.struct import pytree, static

# The greatest distance that counts; a map is smaller.
FAR = 31


@pytree
class TieBreaker:
    """One rule of an order: of the options left those with the least value remain."""

    value: Array  # (C,) int32, from 0; the last rule's is different everywhere
    size: int = static()  # how many values it has
    name: str = static()  # key of `[automa_tie_breaker]` in `render/texts.toml`


class Order(NamedTuple):
    """Options, and the rules that choose one of them, the first rule first."""

    options: Array  # (C,) bool
    tie_breakers: tuple[TieBreaker, ...]


def numbered(options: Array, card: CardNumbers) -> Array:
    """(n,) bool, the option that a support card's number names (AUT-17).

    Args:
        options: (n,) bool, from left to right.
    """
    count = options.sum()
    steps = (card.number - 1) % jnp.maximum(count, 1)
    number = jnp.where(card.from_right > 0, count - 1 - steps, steps)
    return options & (jnp.cumsum(options) - 1 == number)


def directional(ruleset: Ruleset, reverse: Array) -> Array:
    """(C,) int32, the place of each cell in the order of a direction (AUT-16).

    Args:
        reverse: () int32, 1 from the bottom right.
    """
    rank = jnp.asarray(ruleset.automa_table.reading_rank)
    return jnp.where(reverse > 0, len(rank) - 1 - rank, rank)


def distance_to_human(ruleset: Ruleset, board: Board) -> Array:
    """(C,) int32, distance to the nearest planet with a structure of the human (AUT-18).

    Guest mines count, stations and gaiaformers do not.
    """
    built = board.structures_of(HUMAN) | board.guests_of(HUMAN)
    distance = jnp.asarray(ruleset.geometry.distance)
    return jnp.where(built, distance, np.int8(FAR)).min(-1).astype(jnp.int32)


def first(order: Order) -> tuple[Array, Array]:
    """The option that the tie-breakers choose.

    Returns:
        () int32, the cell, and () bool, there is an option.
    """
    options = order.options
    key = jnp.zeros(options.shape, jnp.int32)
    for rule in order.tie_breakers:
        key = key * rule.size + rule.value
    return jnp.argmin(jnp.where(options, key, jnp.iinfo(jnp.int32).max)), options.any()

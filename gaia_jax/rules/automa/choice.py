"""How the Automa chooses among its options: by a direction, a number, a distance (AUT-16 to 18)."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.automa_table import CardNumbers
from gaia_jax.state import GAIAFORMER, HUMAN, NONE, Board

# The greatest distance that counts; a map is smaller.
FAR = 31


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
    built = (board.piece_owner == HUMAN) & (board.piece != NONE) & (board.piece != GAIAFORMER)
    built |= board.has_guest & (board.lantids == HUMAN)
    distance = jnp.asarray(ruleset.geometry.distance)
    return jnp.where(built, distance, np.int8(FAR)).min(-1).astype(jnp.int32)


def first(options: Array, *digits: tuple[Array, int]) -> tuple[Array, Array]:
    """The option that is least in the first digit, of these in the second, and so on.

    Args:
        options: (C,) bool.
        digits: (C,) int32 from 0, and how many values it has; the last is different everywhere.
    Returns:
        () int32, the cell, and () bool, there is an option.
    """
    key = jnp.zeros(options.shape, jnp.int32)
    for digit, size in digits:
        key = key * size + digit
    return jnp.argmin(jnp.where(options, key, jnp.iinfo(jnp.int32).max)), options.any()

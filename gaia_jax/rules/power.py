"""The power cycle: charging, spending, discarding, the Gaia area, the brainstone (LEE-01, ACT-05).

Every function takes one player's row and works on its bowls. The brainstone is a token that
`power` does not count; it moves first when charged (INC-03) and leaves last (FED-06).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.state import GAIA_AREA, NO_BRAINSTONE, Players

# Power that the brainstone is worth when spent from bowl III.
BRAINSTONE_POWER = 3


def capacity(me: Players) -> Array:
    """() int32, the most power that can be charged: two for each token in I, one in II (LEE-01)."""
    stone = jnp.where(me.brainstone == 0, 2, jnp.where(me.brainstone == 1, 1, 0))
    return 2 * me.power[..., 0] + me.power[..., 1] + stone


def charge(me: Players, amount: Array) -> Players:
    """Charge: bowl I to II while I lasts, then II to III; the rest is lost (LEE-01, INC-03).

    Args:
        me: a player's row.
        amount: () int32, >= 0.
    """
    one, two, three = (me.power[..., i] for i in range(3))
    stone = me.brainstone
    lift = (stone == 0) & (amount >= 1)
    stone = jnp.where(lift, 1, stone)
    rest = amount - lift
    first = jnp.minimum(rest, one)
    rest = rest - first
    lift = (stone == 1) & (rest >= 1)
    stone = jnp.where(lift, 2, stone)
    second = jnp.minimum(rest - lift, two + first)
    power = jnp.stack([one - first, two + first - second, three + second], axis=-1)
    return me.replace(power=power, brainstone=stone)


def add_tokens(me: Players, first: Array, third: Array) -> Players:
    """New tokens into bowl I and into bowl III."""
    return me.replace(power=me.power + jnp.stack([first, 0 * first, third], axis=-1))


def spendable(me: Players, worth: Array) -> Array:
    """() int32, power to be spent from bowl III; `worth` of an ordinary token (ACT-05..07)."""
    return me.power[..., 2] * worth + BRAINSTONE_POWER * (me.brainstone == 2)


def spend(me: Players, cost: Array, worth: Array) -> tuple[Players, Array]:
    """Spend `cost` power: tokens from bowl III to I, moving as few as possible (ACT-06, ACT-07).

    Returns:
        The row, and whether the brainstone moved.
    """
    ordinary = (cost + worth - 1) // worth
    stone = (me.brainstone == 2) & (cost > 0)
    stone &= (cost >= BRAINSTONE_POWER) | (me.power[..., 2] < cost)
    moved = jnp.where(stone, jnp.maximum(cost - BRAINSTONE_POWER, 0), ordinary)
    power = me.power + jnp.stack([moved, 0 * moved, -moved], axis=-1)
    return me.replace(power=power, brainstone=jnp.where(stone, 0, me.brainstone)), stone


def held(me: Players) -> Array:
    """() int32, tokens in bowls I to III, the brainstone as one of them."""
    return me.power.sum(-1) + ((me.brainstone >= 0) & (me.brainstone != GAIA_AREA))


def _take(me: Players, count: Array) -> tuple[Array, Array]:
    """Take ordinary tokens from I, then II, then III; how many could not be taken."""
    bowls = []
    for i in range(3):
        taken = jnp.minimum(count, me.power[..., i])
        bowls.append(me.power[..., i] - taken)
        count = count - taken
    return jnp.stack(bowls, axis=-1), count


def discard(me: Players, count: Array) -> Players:
    """Tokens out of the game: bowls I, II, III, the brainstone last (FED-06, ART-01, TAK-01)."""
    bowls, rest = _take(me, count)
    return me.replace(power=bowls, brainstone=jnp.where(rest > 0, NO_BRAINSTONE, me.brainstone))


def to_gaia_area(me: Players, count: Array) -> Players:
    """A Gaia project's tokens: bowls I, II, III, within a bowl the brainstone last (GPJ-02)."""
    bowls, stone, ordinary = [], me.brainstone, 0
    for i in range(3):
        taken = jnp.minimum(count, me.power[..., i])
        bowls.append(me.power[..., i] - taken)
        count, ordinary = count - taken, ordinary + taken
        lift = (stone == i) & (count > 0)
        stone = jnp.where(lift, GAIA_AREA, stone)
        count = count - lift
    return me.replace(
        power=jnp.stack(bowls, axis=-1), brainstone=stone, gaia_power=me.gaia_power + ordinary
    )


def burnable(me: Players) -> Array:
    """() bool, two tokens in bowl II, one of them ordinary (FRE-02, FRE-04)."""
    return me.power[..., 1] + (me.brainstone == 1) >= 2


def burn(me: Players, happens: Array, to_gaia: Array) -> Players:
    """One ordinary token of bowl II goes, another (the brainstone first) moves to III (FRE-04).

    Args:
        happens: () int32, 0 or 1.
        to_gaia: () int32, 1 where the burned token goes to the Gaia area (FRE-05).
    """
    stone = happens * (me.brainstone == 1)
    change = jnp.stack([0 * happens, stone - 2 * happens, happens - stone], axis=-1)
    return me.replace(
        power=me.power + change,
        brainstone=me.brainstone + stone,
        gaia_power=me.gaia_power + happens * to_gaia,
    )


def leave_gaia_area(me: Players, happens: Array, bowl: Array) -> Players:
    """All tokens return from the Gaia area, the brainstone to bowl I (GAI-05, GAI-07).

    Args:
        happens: () bool; bowl: () int32, 1 or 2, where ordinary tokens go.
    """
    n = jnp.where(happens, me.gaia_power, 0)
    back = jnp.stack([n * (bowl == 1), n * (bowl == 2), 0 * n], axis=-1)
    return me.replace(
        power=me.power + back,
        gaia_power=me.gaia_power - n,
        brainstone=jnp.where(happens & (me.brainstone == GAIA_AREA), 0, me.brainstone),
    )

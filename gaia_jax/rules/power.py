"""The power cycle: charging, spending, discarding, the Gaia area, the brainstone (LEE-01, ACT-05).

Every function takes one player's row and works on its bowls. The brainstone is a token that
`power` does not count; it moves first when charged (INC-03) and leaves last (FED-06).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.costs import BRAINSTONE_POWER
from gaia_jax.state import GAIA_AREA, NO_BRAINSTONE, Players
from gaia_jax.xla.packed import slice_columns


def bowls(me: Players) -> tuple[Array, Array, Array]:
    """Ordinary tokens in bowls I, II, III, each () int32.

    They are changed one by one and put together last: XLA looks through a stack of numbers, not
    through a sum of stacks.
    """
    bowl_1, bowl_2, bowl_3 = (slice_columns(me.power, bowl) for bowl in range(3))
    return bowl_1, bowl_2, bowl_3


def with_bowls(
    me: Players, bowl_1: Array, bowl_2: Array, bowl_3: Array, **changes: Array
) -> Players:
    """The row with those ordinary tokens, and other fields changed."""
    return me.replace(power=jnp.stack([bowl_1, bowl_2, bowl_3], axis=-1), **changes)


def capacity(me: Players) -> Array:
    """() int32, the most power that can be charged: two for each token in I, one in II (LEE-01)."""
    brainstone = jnp.where(me.brainstone == 0, 2, jnp.where(me.brainstone == 1, 1, 0))
    bowl_1, bowl_2, _ = bowls(me)
    return 2 * bowl_1 + bowl_2 + brainstone


def charge(me: Players, amount: Array) -> Players:
    """Charge: bowl I to II while I lasts, then II to III; the rest is lost (LEE-01, INC-03).

    Args:
        me: a player's row.
        amount: () int32, >= 0.
    """
    bowl_1, bowl_2, bowl_3 = bowls(me)
    brainstone = me.brainstone
    lift = (brainstone == 0) & (amount >= 1)
    brainstone = jnp.where(lift, 1, brainstone)
    rest = amount - lift
    first = jnp.minimum(rest, bowl_1)
    rest = rest - first
    lift = (brainstone == 1) & (rest >= 1)
    brainstone = jnp.where(lift, 2, brainstone)
    second = jnp.minimum(rest - lift, bowl_2 + first)
    return with_bowls(
        me, bowl_1 - first, bowl_2 + first - second, bowl_3 + second, brainstone=brainstone
    )


def add_tokens(me: Players, first: Array, third: Array) -> Players:
    """New tokens into bowl I and into bowl III."""
    bowl_1, bowl_2, bowl_3 = bowls(me)
    return with_bowls(me, bowl_1 + first, bowl_2, bowl_3 + third)


def spendable(me: Players, worth: Array) -> Array:
    """() int32, power to be spent from bowl III; `worth` of an ordinary token (ACT-05..07)."""
    return me.power[..., 2] * worth + BRAINSTONE_POWER * (me.brainstone == 2)


def spend(me: Players, cost: Array, worth: Array, reverse: Array) -> tuple[Players, Array]:
    """Spend `cost` power: tokens from bowl III to I, moving as few as possible (ACT-06, ACT-07).

    Args:
        worth: () int32, of an ordinary token; reverse: () bool, the brainstone pays for what
            ordinary tokens would pay for, and the other way round (A21).
    Returns:
        The row, and whether the brainstone moved.
    """
    ordinary = (cost + worth - 1) // worth
    spends_brainstone = (me.brainstone == 2) & (cost > 0)
    spends_brainstone &= ((cost >= BRAINSTONE_POWER) ^ reverse) | (me.power[..., 2] < cost)
    moved = jnp.where(spends_brainstone, jnp.maximum(cost - BRAINSTONE_POWER, 0), ordinary)
    bowl_1, bowl_2, bowl_3 = bowls(me)
    left = jnp.where(spends_brainstone, 0, me.brainstone)
    me = with_bowls(me, bowl_1 + moved, bowl_2, bowl_3 - moved, brainstone=left)
    return me, spends_brainstone


def total_tokens(me: Players) -> Array:
    """() int32, tokens in bowls I to III, the brainstone as one of them."""
    return sum(bowls(me)) + ((me.brainstone >= 0) & (me.brainstone != GAIA_AREA))


def discard(me: Players, count: Array) -> Players:
    """Tokens out of the game: bowls I, II, III, the brainstone last (FED-06, ART-01, TAK-01)."""
    left = []
    for tokens in bowls(me):
        discarded = jnp.minimum(count, tokens)
        left.append(tokens - discarded)
        count = count - discarded
    return with_bowls(me, *left, brainstone=jnp.where(count > 0, NO_BRAINSTONE, me.brainstone))


def to_gaia_area(me: Players, count: Array, reverse: Array) -> Players:
    """A Gaia project's tokens: bowls I, II, III, within a bowl the brainstone last (GPJ-02).

    Args:
        reverse: () bool, the brainstone comes after the ordinary tokens of all bowls (A21).
    """
    left, brainstone, ordinary = [], me.brainstone, 0 * me.gaia_power
    for i, tokens in enumerate(bowls(me)):
        moved = jnp.minimum(count, tokens)
        left.append(tokens - moved)
        count, ordinary = count - moved, ordinary + moved
        lift = (brainstone == i) & (count > 0) & ~reverse
        brainstone = jnp.where(lift, GAIA_AREA, brainstone)
        count = count - lift
    last = reverse & (count > 0) & (brainstone >= 0)
    brainstone = jnp.where(last, GAIA_AREA, brainstone)
    return with_bowls(me, *left, brainstone=brainstone, gaia_power=me.gaia_power + ordinary)


def burnable(me: Players) -> Array:
    """() bool, two tokens in bowl II, one of them ordinary (FRE-02, FRE-04)."""
    return me.power[..., 1] + (me.brainstone == 1) >= 2


def burn(me: Players, happens: Array, to_gaia: Array, reverse: Array) -> Players:
    """One ordinary token of bowl II goes, another (the brainstone first) moves to III (FRE-04).

    Args:
        happens: () int32, 0 or 1.
        to_gaia: () int32, 1 where the burned token goes to the Gaia area (FRE-05).
        reverse: () bool, two ordinary tokens where there are two (A21).
    """
    bowl_1, bowl_2, bowl_3 = bowls(me)
    brainstone = happens * ((me.brainstone == 1) & ~(reverse & (bowl_2 >= 2)))
    return with_bowls(
        me,
        bowl_1,
        bowl_2 + brainstone - 2 * happens,
        bowl_3 + happens - brainstone,
        brainstone=me.brainstone + brainstone,
        gaia_power=me.gaia_power + happens * to_gaia,
    )


def leave_gaia_area(me: Players, happens: Array, bowl: Array) -> Players:
    """All tokens return from the Gaia area, the brainstone to bowl I (GAI-05, GAI-07).

    Args:
        happens: () bool; bowl: () int32, 1 or 2, where ordinary tokens go.
    """
    n = jnp.where(happens, me.gaia_power, 0)
    bowl_1, bowl_2, bowl_3 = bowls(me)
    return with_bowls(
        me,
        bowl_1 + n * (bowl == 1),
        bowl_2 + n * (bowl == 2),
        bowl_3,
        gaia_power=me.gaia_power - n,
        brainstone=jnp.where(happens & (me.brainstone == GAIA_AREA), 0, me.brainstone),
    )

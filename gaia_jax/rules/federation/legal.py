"""Which sets of groups are legal federations, given what it costs to connect them (A10, A25).

Sets of groups are the first axis, 1 << MAX_GROUPS bitmasks of their numbers; n rows are the last.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.rules.federation.groups import MAX_GROUPS
from gaia_jax.rules.federation.paths import GIVEN, NO_LEAST, Paths, Terrain

MAX_FEDERATIONS = 128  # of more legal federations these count, the first by bitmask (A10)


def legal_sets(
    terrain: Terrain, paths: Paths, limit: Array, surplus_allowed: bool
) -> tuple[Array, Array]:
    """Over all sets of groups: what could be paid, and what is legal and counts.

    Args:
        limit: (n,), the greatest cost within the tokens.
    Returns:
        (1 << MAX_GROUPS, n) bool, connected, powerful enough, payable: there is a legal one if and
        only if there is one of these; (1 << MAX_GROUPS, n) bool, legal, for rows that find all.
    """
    cost = paths.cost.reshape(2, GIVEN, -1)
    cost = jnp.where(terrain.terminals & GIVEN != 0, cost[1], cost[0])
    power = terrain.power[:MAX_GROUPS].astype(jnp.int16)
    total, least = _set_power(power)
    required = terrain.required.astype(jnp.int16)
    payable = (cost <= limit) & (total >= required)
    if not surplus_allowed:
        payable &= total - least < required

    def counted() -> Array:
        if not surplus_allowed:
            return _first(payable)
        return _first(_without_surplus(payable, cost, total, required))

    # Most searches only ask if there is one. An accelerator would wait for the answer to this.
    if jax.default_backend() != "cpu":
        return payable, counted()
    builds = jnp.any((terrain.find_all > 0) & (terrain.terminals != 0))
    none = jnp.zeros_like(payable)
    return payable, lax.cond(builds, counted, lambda: none)


def _set_power(power: Array) -> tuple[Array, Array]:
    """Total and least power of the groups in each set.

    Args:
        power: (MAX_GROUPS, n) int16.
    Returns:
        (1 << MAX_GROUPS, n) int16; the same, NO_LEAST for the empty set.
    """
    half = MAX_GROUPS // 2
    within = ((jnp.arange(1 << half)[:, None] >> jnp.arange(half)) & 1 != 0)[None, :, :, None]
    halves = power.reshape(2, 1, half, -1)
    total = jnp.sum(jnp.where(within, halves, 0), axis=2, dtype=jnp.int16)  # (2, 64, n)
    least = jnp.min(jnp.where(within, halves, jnp.int16(NO_LEAST)), axis=2)
    total = total[1][:, None] + total[0][None]
    least = jnp.minimum(least[1][:, None], least[0][None])
    return total.reshape(GIVEN, -1), least.reshape(GIVEN, -1)


def _without_surplus(payable: Array, cost: Array, total: Array, required: Array) -> Array:
    """The payable sets of which no strong enough part costs less (A25).

    Args:
        payable: (1 << MAX_GROUPS, n) bool; cost, total: (1 << MAX_GROUPS, n), satellites and power
            of each set; required: (n,).
    Returns:
        (1 << MAX_GROUPS, n) bool.
    """
    # The least cost of the strong enough parts of each set: after group i, of those that differ
    # from the set in groups up to i. A set is a part of itself.
    least = jnp.where(total >= required, cost, jnp.iinfo(cost.dtype).max)
    for group in range(MAX_GROUPS):
        pairs = least.reshape(-1, 2, 1 << group, cost.shape[1])  # without the group, and with it
        without = jnp.broadcast_to(pairs[:, :1], pairs.shape).reshape(cost.shape)
        least = jnp.minimum(least, without)
    return payable & (least >= cost)


def _first(legal: Array) -> Array:
    """The first MAX_FEDERATIONS of each row."""
    sets = jnp.arange(GIVEN, dtype=jnp.int16)[:, None]

    def before(end: Array) -> Array:
        return legal & (sets < end)

    def raise_bit(i: Array, end: Array) -> Array:
        """Keep a bit of `end` if no more than MAX_FEDERATIONS lie before it."""
        raised = end + (GIVEN >> i).astype(jnp.int16)
        count = jnp.sum(before(raised), axis=0, dtype=jnp.int16)
        return jnp.where(count <= MAX_FEDERATIONS, raised, end)

    count = jnp.sum(legal, axis=0, dtype=jnp.int16)
    turns = jnp.where(jnp.any(count > MAX_FEDERATIONS), MAX_GROUPS + 1, 1)
    return before(lax.fori_loop(0, turns, raise_bit, jnp.zeros_like(count)))


def groups_beside(legal: Array, picks: Array) -> Array:
    """(n,) int32: all groups that are in a legal federation with the picks."""
    sets = jnp.arange(GIVEN, dtype=jnp.int16)[:, None]
    picks = picks.astype(jnp.int16)
    containing = jnp.where(legal & (sets & picks == picks), sets, 0)
    groups: Array = lax.reduce(containing, jnp.int16(0), lax.bitwise_or, (0,))
    return groups.astype(jnp.int32)

"""The rewards of a game (A3)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

REWARDS = ("margin", "rank", "win", "vp")
VP_SCALE = 100
# What an illegal action costs the player (RL-02).
ILLEGAL = -1.0


def reward_at_end(kind: str, vp: Array) -> Array:
    """The rewards at the end of a game.

    Args:
        kind: "margin", "rank" or "win".
        vp: (P,) int16, the final VP.
    Returns:
        (P,) float32.
    """
    # Whole numbers until the last division: a tie pays exactly 0.
    vp, players = vp.astype(jnp.int32), vp.shape[0]
    if kind == "margin":
        ahead = players * vp - vp.sum()  # of the mean of the others, times players - 1
        return ahead.astype(jnp.float32) / ((players - 1) * VP_SCALE)
    better = (vp[None] > vp[:, None]).sum(-1)
    same = (vp[None] == vp[:, None]).sum(-1)
    if kind == "win":
        return jnp.where(better == 0, 1 / same, 0.0).astype(jnp.float32)
    twice_place = 2 * better + same - 1  # twice the mean of the places that the tied share, from 0
    return (1 - twice_place / (players - 1)).astype(jnp.float32)


def reward_by_vp(before: Array, after: Array) -> Array:
    """The reward "vp" of a decision: the change of each player's VP.

    Args:
        before, after: (P,) int16.
    Returns:
        (P,) float32.
    """
    return (after - before).astype(jnp.float32) / VP_SCALE

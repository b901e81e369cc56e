"""Generalized advantages where the seats decide in an irregular order."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from ..system.devices import GAMES


def opponent_adjusted_reward(reward: Array, weight: float) -> Array:
    """Own reward less `weight` times the mean reward of the others, at each decision.

    Args:
        reward: (..., P). weight: 1 turns VP into the reward "margin", spread over the game.
    """
    if not weight:
        return reward  # there may be no others
    others = (reward.sum(-1, keepdims=True) - reward) / (reward.shape[-1] - 1)
    return reward - weight * others


def head_adjusted_advantages(
    reward: Array,
    value: Array,
    last_value: Array,
    done: Array,
    player: Array,
    gae_lambda: float | Array,
    head: Array,
) -> tuple[Array, Array]:
    """`advantages` minus the estimates of an advantage head for later decisions of any seat.

    After the deal nothing is random: a seat's return is its value plus the advantages of all later
    decisions, of all movers. Those of the policy have mean 0, so leaving them out takes away noise
    and no signal (direct advantage estimation, arXiv 2109.06093, for several movers; the same as
    the control variate of AIVAT, arXiv 1612.06915).

    Args:
        head: (T, N, P), the head's advantages of the decisions made, by player; the others are
            those of `advantages`.
    Returns:
        Advantages of the decisions, the targets of the head, and value targets, (T, N, P).
    """
    later, target = advantages(reward - head, value, last_value, done, player, gae_lambda)
    return later + head, target


def advantages(
    reward: Array,
    value: Array,
    last_value: Array,
    done: Array,
    player: Array,
    gae_lambda: float | Array,
) -> tuple[Array, Array]:
    """Generalized advantages of all seats, each over its own decisions, gamma 1.

    Turns interleave irregularly. Every state has a value for every seat, and a seat's residuals of
    all steps are summed backwards, decayed by lambda only where that seat decides: between two of
    its decisions the values cancel and the sum of the rewards remains. At the end of the rollout
    every seat bootstraps from its value of the last state; the end of a game cuts all sums.

    Args:
        reward, value: (T, N, P). last_value: (N, P), of the state after the rollout.
        done: (T, N) bool. player: (T, N), the deciding player.
    Returns:
        advantages and value targets, (T, N, P).
    """
    seats = value.shape[-1]
    decides = player[..., None] == jnp.arange(seats)  # (T, N, P)
    next_decides = jnp.concatenate([decides[1:], jnp.ones_like(decides[:1])])
    next_value = jnp.concatenate([value[1:], last_value[None]])
    continues = 1.0 - done[..., None].astype(value.dtype)
    residual = reward + continues * next_value - value
    decay = continues * jnp.where(next_decides, gae_lambda, 1.0)

    def backwards(later: Array, x: tuple[Array, Array]) -> tuple[Array, Array]:
        residual, decay = x
        advantage = residual + decay * later
        return advantage, advantage

    start = jnp.zeros_like(last_value)
    _, advantage = jax.lax.scan(backwards, start, (residual, decay), reverse=True)
    return advantage, advantage + value


def squared_advantages(advantage: Array, has_choice: Array) -> Array:
    """() float32, squared advantages summed over seats: the mean over decisions with a choice.

    Those of a forced decision are 0, whatever the head estimates. Each device divides by the mean
    of the devices' counts, so that the mean over devices is that over all such decisions.

    Args:
        advantage: (B, P). has_choice: (B,) bool.
    """
    count = jax.lax.pmean(has_choice.sum(dtype=jnp.float32), GAMES)
    squared = jnp.square(advantage).sum(-1, where=has_choice[:, None])
    return squared.sum() / jnp.maximum(count, 1e-6)

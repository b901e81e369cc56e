"""Expert iteration: what a one-layer search says of a part of the states, for the policy to learn.

At each step one game in `ppo.search_every` is looked into: the likeliest actions are each tried
once, and the policy is drawn towards softmax(logits + worth of the position that follows). Unlike
an advantage this says something of actions that were not played.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from training.agents.base import VP_SCALE, policy_agent
from training.config import PPOConfig, UserError
from training.search import SearchOptions, search_targets


class Lesson(NamedTuple):
    """M states that were looked into, and what the search says of them."""

    seen: Any  # what the network reads, `Network.view`
    target: Array  # (M, W) float32, a policy in the network's index of actions
    open: Array  # (M,) float32, 1 where there is something to choose
    changed: Array  # (M,) float32, 1 where the search plays what the policy finds not likeliest


Teacher = Callable[[Any, Any, Any, Array, Array], Lesson]


def make_teacher(auto: Any, network: Any, ppo: PPOConfig, games: int) -> Teacher:
    """(params, states (N,), seen (N,), keys (N,), step) -> the lesson of every k-th game.

    k is `ppo.search_every`; which games they are goes round with the step.

    Args:
        auto: the environment with auto-reset.
        games: N, of this device.
    Raises:
        UserError: N is no multiple of k.
    """
    every, env = ppo.search_every, auto.env
    if games % every:
        raise UserError(f"ppo.search_every must divide the games of a device, {games}, got {every}")
    policy = policy_agent(env, network, None, "policy").policy
    assert policy is not None
    vp = ppo.reward_scale / VP_SCALE
    options = SearchOptions(
        max_depth=1, value_scale=ppo.search_scale / (SearchOptions().visit_offset * vp)
    )

    def teach(params: Any, state: Any, seen: Any, keys: Array, step: Array) -> Lesson:
        rows = jnp.arange(games // every) * every + step % every
        some, seen = (jax.tree.map(lambda x: x[rows], tree) for tree in (state, seen))
        found = search_targets(
            env, policy.evaluate, params, some, keys[rows], ppo.search, ppo.reward_scale, options
        )
        width = seen.mask.shape[-1]
        action = jax.vmap(network.to_action, (None, 0), 1)(
            seen, jnp.broadcast_to(jnp.arange(width)[:, None], (width, len(rows)))
        )
        target = jnp.take_along_axis(found.policy, action, axis=-1, mode="clip")
        open_ = some.legal_action_mask.sum(-1) > 1
        return Lesson(seen, jnp.where(seen.mask, target, 0), 1.0 * open_, 1.0 * found.changed)

    return teach


def split(lessons: Lesson, minibatches: int) -> Lesson:
    """(T, M, ...) -> (minibatches, T / minibatches * M, ...)."""

    def parts(x: Array) -> Array:
        x = x.reshape(-1, minibatches, *x.shape[1:])
        return jnp.moveaxis(x, 1, 0).reshape(minibatches, -1, *x.shape[3:])

    return jax.tree.map(parts, lessons)


def lesson_loss(logits: Array, lesson: Lesson) -> tuple[Array, dict[str, Array]]:
    """Cross entropy to the targets above the least it can be: the KL from target to policy.

    Args:
        logits: (M, W), of the network now.
    Returns:
        The mean over the open states, and numbers for the log.
    """
    count = jnp.maximum(lesson.open.sum(), 1.0)
    aim = lesson.target
    log_aim = jnp.log(jnp.maximum(aim, 1e-30))
    apart = jnp.sum(jnp.where(aim > 0, aim * (log_aim - jax.nn.log_softmax(logits)), 0), axis=-1)
    entropy = -jnp.sum(jnp.where(aim > 0, aim * log_aim, 0), axis=-1)
    loss = (apart * lesson.open).sum() / count
    return loss, {
        "search/kl": loss,
        "search/changed": (lesson.changed * lesson.open).sum() / count,
        "search/entropy": (entropy * lesson.open).sum() / count,
    }

"""Expert iteration: what a search says of a part of the states, for the policy to learn.

At every `ppo.search_every`-th step all games are looked into: the likeliest actions are tried, once
or along the policy's own moves (`ppo.search_form`), and the policy is drawn towards softmax(logits
+ worth of what follows). Unlike an advantage this says something of actions that were not played.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from training.agents.base import VP_SCALE, policy_agent
from training.agents.search import DEFAULTS
from training.config import PPOConfig
from training.search import SearchOptions, search_targets


class Lesson(NamedTuple):
    """M states that were looked into, and what the search says of them."""

    seen: Any  # what the network reads, `Network.view`
    target: Array  # (M, W) float32, a policy in the network's index of actions
    open: Array  # (M,) float32, 1 where there is something to choose that was looked into
    changed: Array  # (M,) float32, 1 where the search plays what the policy finds not likeliest


Teacher = Callable[[Any, Any, Any, Array], Lesson]


def make_teacher(auto: Any, network: Any, ppo: PPOConfig) -> Teacher:
    """(params, states (N,), seen (N,), keys (N,)) -> the lessons of all N.

    Args:
        auto: the environment with auto-reset.
    """
    env = auto.env
    policy = policy_agent(env, network, None, "policy").policy
    assert policy is not None
    scale = ppo.search_scale * VP_SCALE / ppo.reward_scale / SearchOptions().visit_offset
    if ppo.search_form == "lines":
        most, _ = DEFAULTS["lines"]  # as many lines as at play
        options = SearchOptions(lines=True, considered=most, value_scale=scale)
    else:
        options = SearchOptions(max_depth=1, value_scale=scale)

    def teach(params: Any, state: Any, seen: Any, keys: Array) -> Lesson:
        found = search_targets(
            env, policy.evaluate, params, state, keys, ppo.search, ppo.reward_scale, options
        )
        width = seen.mask.shape[-1]
        action = jax.vmap(network.to_action, (None, 0), 1)(
            seen, jnp.broadcast_to(jnp.arange(width)[:, None], (width, len(keys)))
        )
        target = jnp.take_along_axis(found.policy, action, axis=-1, mode="clip")
        taught = found.looked & (state.legal_action_mask.sum(-1) > 1)
        return Lesson(seen, jnp.where(seen.mask, target, 0), 1.0 * taught, 1.0 * found.changed)

    return teach


def split(lessons: Lesson, minibatches: int) -> Lesson:
    """(T, M, ...) -> (minibatches, T / minibatches * M, ...)."""

    def parts(x: Array) -> Array:
        x = x.reshape(-1, minibatches, *x.shape[1:])
        return jnp.moveaxis(x, 1, 0).reshape(minibatches, -1, *x.shape[3:])

    return jax.tree.map(parts, lessons)


def lesson_loss(logits: Array, lesson: Lesson) -> tuple[Array, dict[str, Array]]:
    """The KL from policy to target: it moves the policy by the mean of what searches have found.

    The other way round, the cross entropy to the targets, it is drawn to the mean of the targets:
    where they are noisy that is flatter than each of them, and flatter again at the next update.

    Args:
        logits: (M, W), of the network now.
    Returns:
        The mean over the states that teach, and numbers for the log.
    """
    count = jnp.maximum(lesson.open.sum(), 1.0)
    aim = lesson.target
    log_aim = jnp.log(jnp.maximum(aim, 1e-30))
    log_policy = jax.nn.log_softmax(logits)
    apart = jnp.sum(jnp.exp(log_policy) * (log_policy - log_aim), axis=-1)  # 0 where illegal
    entropy = -jnp.sum(jnp.where(aim > 0, aim * log_aim, 0), axis=-1)
    loss = (apart * lesson.open).sum() / count
    return loss, {
        "search/kl": loss,
        "search/taught": lesson.open.mean(),
        "search/changed": (lesson.changed * lesson.open).sum() / count,
        "search/entropy": (entropy * lesson.open).sum() / count,
    }

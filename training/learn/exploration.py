"""Decisions tried off the policy: what a policy never draws it learns nothing of.

A tried decision teaches that decision alone (`advantages`): how it went against what the position
was worth. Every position after it is one that the policy plays from, so that it also learns to play
on with what it would not have chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.command_line import UserError
from training.config import PPOConfig
from training.learn.metrics import verb_ranges
from training.networks.factored_head import ILLEGAL_LOGIT

Explorer = Callable[[Array, Any, Array, Array, Array], tuple[Array, Array]]


def make_explorer(env: Any, network: Any, ppo: PPOConfig) -> Explorer | None:
    """(logits (N, W), seen (N,), open (N,), keys (N,), fade ()) -> logits to draw from, tried (N,).

    `fade` is what is left of the configured parts, 1 to 0.

    Raises:
        UserError: a verb that the environment does not have, or a part outside 0..1.
    """
    verbs = parts(env, ppo.explore_verbs)
    if not ppo.explore and not verbs:
        return None

    def explore(
        logits: Array, seen: Any, open_: Array, keys: Array, fade: Array
    ) -> tuple[Array, Array]:
        chance = jax.vmap(lambda key: jax.random.uniform(key, (1 + len(verbs),)))(keys)
        tried = (chance[:, 0] < ppo.explore * fade) & open_
        drawn = jnp.where(tried[:, None], logits / ppo.explore_temperature, logits)
        width = seen.mask.shape[-1]
        choices = jnp.broadcast_to(jnp.arange(width)[:, None], (width, len(logits)))
        action = jax.vmap(network.to_action, (None, 0), 1)(seen, choices)
        for number, (of_verb, part) in enumerate(verbs, 1):
            offered = jnp.asarray(of_verb)[action] & seen.mask
            now = (chance[:, number] < part * fade) & offered.any(-1) & open_
            drawn = jnp.where(now[:, None], jnp.where(offered, 0.0, ILLEGAL_LOGIT), drawn)
            tried |= now
        return drawn, tried

    return explore


def parts(env: Any, text: str) -> list[tuple[np.ndarray, float]]:
    """`VERB=PART,...` -> for each verb its actions (A,) bool, and the part.

    Raises:
        UserError: see `make_explorer`.
    """
    rules = env.ruleset
    ranges = verb_ranges(rules) if hasattr(rules, "actions") else {}
    out = []
    for item in filter(None, (x.strip() for x in text.split(","))):
        verb, part = _part(item, "ppo.explore_verbs")
        if verb not in ranges:
            raise UserError(
                f"ppo.explore_verbs: no verb {verb!r}; verbs are: {', '.join(ranges) or 'none'}"
            )
        first, last = ranges[verb]
        numbers = np.arange(env.num_actions)
        out.append(((numbers >= first) & (numbers < last), part))
    return out


def _part(item: str, setting: str) -> tuple[str, float]:
    """`NAME=PART` -> the name and the part."""
    name, _, number = item.rpartition("=")
    try:
        part = float(number)
    except ValueError:
        part = -1.0
    if not 0 <= part <= 1:
        raise UserError(f"{setting}: {name} wants a part from 0 to 1, got {number!r}")
    return name, part

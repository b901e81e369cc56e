"""Decisions tried off the policy: what a policy never draws it learns nothing of.

A tried decision teaches that decision alone (`advantages`): how it went against what the position
was worth. Every position after it is one that the policy plays from, so that it also learns to play
on with what it would not have chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli import UserError
from training.config import PPOConfig
from training.diagnostics import verb_ranges
from training.kinds import ILLEGAL_LOGIT

Explorer = Callable[[Array, Any, Array, Array, Array], tuple[Array, Array]]


class Favourites(NamedTuple):
    """What a player prefers to all else of a verb, from a game's first decision to its last."""

    verbs: np.ndarray  # (A,) int16, the number of each action's verb
    actions: np.ndarray  # (K,) int32, the favourites
    until: np.ndarray  # (K,) float32, where the part of each ends in [0, 1]

    def swap(
        self, network: Any, state: Any, seen: Any, choice: Array, open_: Array, fade: Array
    ) -> tuple[Array, Array]:
        """Choices (N,), and where they were swapped for a favourite (N,).

        A choice is swapped where its player's favourite is another action of the same verb and
        legal.

        Args:
            state: (N, ...), before the decisions.
            seen: (N, ...), what the network read of it.
            open_: (N,) bool, where a choice may be swapped.
            fade: (), what is left of the configured parts, 1 to 0.
        """
        lot = jax.vmap(lot_of)(state.game.setup, state.current_player)
        number = jnp.sum(lot[:, None] >= self.until * fade, axis=-1)
        has = number < len(self.actions)
        favourite = jnp.asarray(self.actions)[jnp.minimum(number, len(self.actions) - 1)]
        action = network.to_action(seen, choice)
        verb = jnp.asarray(self.verbs)
        instead = network.to_choice(seen, favourite)
        legal = jnp.take_along_axis(seen.mask, instead[:, None], axis=-1)[:, 0]
        swapped = open_ & has & legal & (action != favourite) & (verb[action] == verb[favourite])
        return jnp.where(swapped, instead, choice), swapped


def lot_of(setup: Any, player: Array) -> Array:
    """() float32 in [0, 1), the same for a player at every decision of a game.

    Drawn from the set-up, because a state has no random numbers: nothing is random after it.

    Args:
        setup: `Setup` of one game.
        player: () int, whose lot it is.
    """
    drawn = jnp.concatenate([jnp.ravel(x).astype(jnp.uint32) for x in jax.tree.leaves(setup)])
    odd = 2 * np.arange(len(drawn), dtype=np.uint32) + 1
    key = jax.random.fold_in(jax.random.key(0), (drawn * odd * odd * odd).sum(dtype=jnp.uint32))
    return jax.random.uniform(jax.random.fold_in(key, player))


def make_favourites(env: Any, text: str) -> Favourites | None:
    """`VERB ARGUMENT=PART,...`: in so much of a game's seats that action is the favourite.

    Raises:
        UserError: an unknown action, or parts outside 0..1, each or all together.
    """
    named = []
    for item in filter(None, (x.strip() for x in text.split(","))):
        name, part = _part(item, "ppo.explore_favourites")
        verb, _, argument = name.partition(" ")
        ids = env.ruleset.actions.ids if hasattr(env.ruleset, "actions") else {}
        if argument not in ids.get(verb, ()):
            known = [f"{verb} {x}" for x in ids.get(verb, ())] or list(ids)
            raise UserError(
                f"ppo.explore_favourites: no action {name!r}; there are: {', '.join(known) or '-'}"
            )
        named.append((env.ruleset.actions.index(verb, argument), part))
    if not named:
        return None
    until = np.cumsum([part for _, part in named])
    if until[-1] > 1:
        raise UserError(f"ppo.explore_favourites: the parts add up to {until[-1]:g}, more than 1")
    space = env.ruleset.actions
    starts = sorted(set(space.first.values()))
    verbs = np.searchsorted(starts, np.arange(env.num_actions), side="right").astype(np.int16)
    actions = np.array([action for action, _ in named], np.int32)
    return Favourites(verbs, actions, until.astype(np.float32))


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

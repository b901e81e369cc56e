"""The opponents of `gaia_jax.adapters.single_agent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.adapters.single_agent_state import Params
from gaia_jax.env import State
from gaia_jax.sampling import sample_legal, sample_policy


class Model(Protocol):
    """An opponent with parameters, such as `gaia_training.make_baseline_model` gives."""

    params: Any

    @property
    def apply(self) -> Callable[[Any, Any], Any]:
        """(params, state of one game) -> logits (A,), or a tuple that begins with them."""


RANDOM = "random"
# RANDOM; a function of one state that gives what `Model.apply` gives; a `Model`.
Opponent: TypeAlias = "str | Callable[[State], Any] | Model"


def distinct_opponents(opponents: Sequence[Opponent]) -> tuple[Opponent, ...]:
    """The opponents without repetitions."""
    return tuple({id(opponent): opponent for opponent in opponents}.values())


def opponent_actions(
    opponents: Sequence[Opponent], params: Params, states: State, seats: Array, uniforms: Array
) -> Array:
    """(B,) int32, what the opponents that decide play.

    Args:
        opponents: S-1, in the order of seats after the learner's.
        params: of the `distinct_opponents`.
        states: (B, ...); seats: (B,) int32, the learners'.
        uniforms: (B,) float32 in [0, 1), of the draws.
    """
    mask = states.legal_action_mask
    after_own = (states.current_player - seats) % (len(opponents) + 1)
    actions = jnp.zeros(len(seats), jnp.int32)
    for opponent, arrays in zip(distinct_opponents(opponents), params.opponents, strict=True):
        if opponent == RANDOM:
            drawn = jax.vmap(sample_legal)(mask, uniforms)
        else:
            policy: Any = opponent
            function = getattr(policy, "apply", lambda _, state, policy=policy: policy(state))
            logits = jax.vmap(function, (None, 0))(arrays, states)
            logits = logits[0] if isinstance(logits, tuple) else logits
            drawn = sample_policy(logits.astype(jnp.float32), mask, uniforms)
        seats_of = np.array([False, *(other is opponent for other in opponents)])
        actions = jnp.where(jnp.asarray(seats_of)[after_own], drawn, actions)
    return actions

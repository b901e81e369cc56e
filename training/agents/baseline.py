"""Agents as pure functions: states -> logits and values, for your own training program."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_batching import custom_vmap

import gaia_jax
from gaia_jax.cli.command_line import UserError
from gaia_jax.state import GameState
from gaia_jax.xla.jax_config import own_jax_config

from ..networks.factored_head import ILLEGAL_LOGIT
from ..system.batched import clear_end_marks
from ..types import Environment, EnvState, Params
from .registry import FILE, ZOO, environment_of, make_agent, parse_name

Evaluate = Callable[[Any, Any], tuple[Array, Array]]


@dataclasses.dataclass(frozen=True, eq=False)
class BaselineModel:
    """An agent as parameters and a pure function, under `jit`, `vmap` and `scan`.

    `model(state)` is `model.apply(model.params, state)`:

    state: one game, or a batch with any leading axes (...).
    logits: (..., A) float32, -1e9 where illegal; already divided by the agent's temperature.
    values: (..., P) float32, by player: the remaining VP that the agent expects.

    Pass a whole batch instead of using `vmap`: this is faster on a CPU.
    """

    name: str
    env: Any  # the environment that it plays
    params: Any
    apply: Evaluate

    def __call__(self, state: EnvState) -> tuple[Array, Array]:
        return self.apply(self.params, state)


def make_baseline_model(name: str = "zoo/strong", env: Environment | None = None) -> BaselineModel:
    """An agent as a pure function from states to logits and values, as pgx has it.

        model = make_baseline_model("zoo/strong")
        logits, values = model(state)                  # state of a game, or of a batch of games
        action = jax.random.categorical(key, logits)   # as the agent in an arena

    Strength, mean VP of 512 duplicate games of these four at one table (README.md):
    zoo/strong 175.2, greedy 101.7, zoo/quick 93.9, random 24.9.
    Cite them as given in `CITATION.cff`.

    Args:
        name: `random`, `greedy`, `zoo/NAME`, RUN, RUN@UPDATE, FILE.npz of `save_agent`, a level.
            `random` has logits 0 and values 0. `greedy` has logit 0 at its choice, -1e9 elsewhere;
            its values are those of the position, up to a constant of the game.
        env: the environment to play; None: that of `zoo/NAME` or FILE.npz, for the others
            `lost_fleet`.
    Raises:
        UserError: an unknown name, an agent of another game, or one without logits: a search, a
            function of yours (`make_agent` has these).
    """
    parts = parse_name(name)
    if parts.search is not None:
        raise UserError(no_logits(name))
    if env is None:
        own = parts.kind in (ZOO, FILE)
        env = environment_of(name, gaia_jax) if own else gaia_jax.make("lost_fleet", "vp")
    agent = make_agent(name, env)
    if parts.base == "random":
        evaluate: Evaluate = _random
    elif parts.base == "greedy":
        evaluate = _greedy(env)
    elif agent.policy is None:
        raise UserError(no_logits(name))
    else:
        policy = agent.policy

        def evaluate(params: Params, state: EnvState) -> tuple[Array, Array]:
            logits, values = policy.evaluate(params, state)
            return logits / policy.temperature, values / policy.vp

    return BaselineModel(name, env, agent.params, _any_batch(evaluate))


def no_logits(name: str) -> str:
    """The error for an agent that is no function from states to logits."""
    return f"agent {name!r} has no logits; make_agent gives its moves"


def _any_batch(evaluate: Evaluate) -> Evaluate:
    """`evaluate` of (B,) states for one state or any leading axes; under `vmap` the whole batch."""

    def single(params: Params, state: EnvState) -> tuple[Array, Array]:
        logits, values = apply(params, jax.tree.map(lambda x: x[None], state))
        return logits[0], values[0]

    unbatched = custom_vmap(single)

    @unbatched.def_vmap
    def _(size: int, batched: tuple[Params, EnvState], params: Params, state: EnvState) -> Any:
        if any(jax.tree.leaves(batched[0])):  # parameters of their own for each row
            axes = jax.tree.map(lambda x: 0 if x else None, tuple(batched))
            return jax.vmap(single, axes)(params, state), (True, True)
        state = jax.tree.map(
            lambda x, along: x if along else jnp.broadcast_to(x, (size, *x.shape)),
            state, batched[1],
        )  # fmt: skip
        return apply(params, state), (True, True)

    @own_jax_config
    def apply(params: Params, state: EnvState) -> tuple[Array, Array]:
        lead = state.current_player.shape
        if not lead:
            outputs: tuple[Array, Array] = unbatched(params, state)
            return outputs
        rows, legal = math.prod(lead), state.legal_action_mask
        flat = jax.tree.map(lambda x: x.reshape(rows, *x.shape[len(lead) :]), state)
        logits, values = evaluate(params, flat)
        values = values.reshape(*lead, values.shape[-1])
        return jnp.where(legal, logits.reshape(legal.shape), ILLEGAL_LOGIT), values

    return apply


def _random(params: Params, state: EnvState) -> tuple[Array, Array]:
    """Each legal action alike, and nothing expected."""
    return jnp.zeros(state.legal_action_mask.shape), jnp.zeros(state.rewards.shape)


def _greedy(env: Environment) -> Evaluate:
    """Its choice, and what it makes of the position for each player, less the VP that are there."""
    from .greedy import GreedySearch

    search = GreedySearch(env)
    seats = np.arange(env.num_players)

    def evaluate(params: Params, state: EnvState) -> tuple[Array, Array]:
        choice = search.choose(params, clear_end_marks(state), state.legal_action_mask)
        numbers = jnp.arange(state.legal_action_mask.shape[-1])
        logits = jnp.where(numbers == choice[:, None], 0.0, ILLEGAL_LOGIT)

        def worth(game: GameState, player: Array) -> Array:
            return search.worth(params, game, player)

        by_seat = jax.vmap(jax.vmap(worth, (None, 0)), (0, None))
        return logits, by_seat(state.game, jnp.asarray(seats)) - state.game.players.vp

    return evaluate

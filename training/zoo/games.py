"""Games that a shipped agent played with its most probable actions, and a check by replay."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..system.batched import dealing, stepping
from ..system.environments import policy_mask, with_short_turns
from ..types import Environment, EnvState, Params, PolicyNetwork

GAMES = 16
LONGEST = 1024  # decisions of a game, more than any had
RECORDED = 0x200  # folded into the seed: no set-up of training or evaluation


class Recorded(NamedTuple):
    """B games, T decisions: shorter games end with -1."""

    actions: np.ndarray  # (T, B) int16
    vp: np.ndarray  # (B, P) int16


class Replayed(NamedTuple):
    """The results of playing or replaying; T is the number of decisions of the longest game."""

    actions: np.ndarray  # (T, B) int16, -1 where the game is over
    gap: np.ndarray  # (T, B) float32, how far the logit of the action is below the best one
    vp: np.ndarray  # (B, P) int16
    over: np.ndarray  # (B,) bool


# (params, forced (LONGEST, B) int16) -> Replayed
Player = Callable[[Params, np.ndarray], Replayed]


@cache
def _game(env: Environment) -> tuple[Any, Any]:
    """(keys (B,)) -> states and (states, actions (B,)) -> states: compiled once for all agents."""
    return dealing(env), stepping(env)


def make_player(env: Environment, network: PolicyNetwork) -> Player:
    """(params, forced (LONGEST, B) int16) -> Replayed; forced below 0: the most probable action.

    Games have whole turns; if `env` has short turns, the agent plays with short turns.
    Network and game are compiled separately: one program for both compiles slowly for each agent.
    """
    init, step = _game(with_short_turns(env, False))

    @jax.jit
    def decide(params: Params, state: EnvState, forced_action: Array) -> tuple[Array, Array, Array]:
        over = state.terminated | state.truncated
        observation = jax.vmap(env.observe)(state, state.current_player)
        logits, _ = network.apply(params, observation, policy_mask(env, state.legal_action_mask))
        action = jnp.where(forced_action >= 0, forced_action, jnp.argmax(logits, axis=-1)).astype(
            jnp.int32
        )
        logit = jnp.take_along_axis(logits, action[:, None], axis=-1)[:, 0]
        return action, jnp.where(over, 0.0, logits.max(-1) - logit), over

    def play(params: Params, forced: np.ndarray) -> Replayed:
        key = jax.random.fold_in(jax.random.key(0), RECORDED)
        state = init(jax.random.split(key, GAMES))
        actions, gaps = [], []
        for forced_action in forced.astype(np.int32):
            action, gap, over = decide(params, state, forced_action)
            if over.all():
                break
            actions.append(np.where(over, -1, action).astype(np.int16))
            gaps.append(np.asarray(gap))
            state = step(state, action)
        over = np.asarray(state.terminated | state.truncated)
        vp = np.asarray(state.game.players.vp).astype(np.int16)
        return Replayed(np.stack(actions), np.stack(gaps), vp, over)

    return play


def record(player: Player, params: Params) -> Recorded:
    """The games of an agent, by a player of `make_player`."""
    out: Replayed = player(params, np.full((LONGEST, GAMES), -1, np.int16))
    assert out.over.all(), "a game is longer than LONGEST"
    return Recorded(out.actions, out.vp)


def replay(player: Player, params: Params, recorded: Recorded) -> Replayed:
    """Play the recorded actions."""
    length, games = recorded.actions.shape
    forced = np.full((LONGEST, games), -1, np.int16)
    forced[:length] = recorded.actions
    out: Replayed = player(params, forced)
    return out

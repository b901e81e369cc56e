"""The states and results of games of `gaia_jax.adapters.single_agent`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from gaia_jax.env import State
from gaia_jax.xla.struct import Struct, pytree


@pytree
class Params(Struct):
    """The parameters of an environment in gymnax's interface."""

    opponents: tuple[Any, ...]  # the parameters of each of the different opponents


@pytree
class SingleAgentState(Struct):
    """One game in which the learner decides, or that is over."""

    env_state: State
    seat: Array  # () int32, the learner's
    episode_return: Array  # () float32, rewards of the learner in this game so far
    episode_length: Array  # () int32, decisions of the learner in this game so far


@pytree
class Outcome(Struct):
    """Events since the learner's last decision, and the result of the game that ended."""

    reward: Array  # () float32, of the learner
    terminated: Array  # () bool
    truncated: Array  # () bool
    illegal: Array  # () bool, the learner's action was illegal
    episode_return: Array  # () float32; this and all below: 0 where no game ended
    episode_length: Array  # () int32
    vp: Array  # () int16, of the learner
    vp_margin: Array  # () float32, own VP minus the mean of the others
    won: Array  # () bool, no player has more VP
    federations: Array  # () int8, formed by the learner


def no_outcome(games: int) -> Outcome:
    """Of B games in which nothing has happened yet."""
    dtypes = {
        "reward": jnp.float32, "terminated": bool, "truncated": bool, "illegal": bool,
        "episode_return": jnp.float32, "episode_length": jnp.int32, "vp": jnp.int16,
        "vp_margin": jnp.float32, "won": bool, "federations": jnp.int8,
    }  # fmt: skip
    return Outcome(**{name: jnp.zeros(games, dtype) for name, dtype in dtypes.items()})


def result_of(seat: Array, state: State, episode_return: Array, episode_length: Array) -> Outcome:
    """The outcome of a game that has ended, but for its reward."""
    players = state.game.players
    vp = players.vp.astype(jnp.int32)
    others = (vp.sum() - vp[seat]) / (len(vp) - 1)
    return Outcome(
        reward=jnp.zeros((), jnp.float32),
        terminated=state.terminated,
        truncated=state.truncated,
        illegal=jnp.zeros((), bool),
        episode_return=episode_return,
        episode_length=episode_length,
        vp=players.vp[seat],
        vp_margin=(vp[seat] - others).astype(jnp.float32),
        won=vp[seat] == vp.max(),
        federations=players.formed[seat].astype(jnp.int8),
    )

"""An environment that starts a new game where one ended."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax import Array

from gaia_jax.cli.arguments import one_key, scalar, shown
from gaia_jax.env import GaiaEnv, State
from gaia_jax.env_state import StateT
from gaia_jax.state import GameState, Setup
from gaia_jax.xla.compact_vmap import compact_vmap
from gaia_jax.xla.jax_config import own_jax_config
from gaia_jax.xla.struct import ComparedByAttributes, pytree


@pytree
class AutoState(State):
    """A state that may be the first of a new game.

    Then `terminated`, `truncated`, `rewards`, `illegal`, `final_vp` and `final_source` tell of the
    game that ended, all else of the new one. In a solo game P = 2 and S = 1, as in `State`.
    """

    final_vp: Array  # (P,) int16, VP of the game that ended with the last decision; else 0
    final_source: Array  # (P, 18) int16, the same by ids["vp_source"]
    illegal: Array  # () bool, the last decision was illegal and cut the game short


@dataclasses.dataclass(frozen=True, eq=False)
class AutoReset(ComparedByAttributes):
    """The interface of `GaiaEnv`, but `step` takes a key and starts new games; see `auto_reset`."""

    env: GaiaEnv

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy and pickle ask for these before `env` is there
            raise AttributeError(name)
        return getattr(self.env, name)

    def init(self, key: Array) -> AutoState:
        """A new game with a set-up drawn from `key`."""
        return auto_state(self.env.init(key))

    def init_from(self, setup: Setup) -> AutoState:
        """A new game with a given set-up."""
        return auto_state(self.env.init_from(setup))

    @own_jax_config
    def step(self, state: AutoState, action: Array | int, key: Array) -> AutoState:
        """The state after the decision, or where that ended the game the first of a new one.

        Args:
            state: one state; for a batch, `jax.vmap(auto.step)` with a key for each game.
            action: () int32.
            key: one key of `jax.random`, used only where the game ends.
        Raises:
            TypeError, ValueError: as `GaiaEnv.step`; `state` is no `AutoState`; `key` is no key.
        """
        env = self.env
        if not isinstance(state, AutoState):
            raise TypeError(f"state must be an AutoState of auto_reset, not {shown(state)}")
        one_key("key", key)
        # What ended before this decision does not freeze the game that was dealt since.
        no = jnp.zeros((), bool)
        action = scalar("action", action)
        after = env.decide(state.replace(terminated=no, truncated=no), action)
        ended = after.terminated | after.truncated
        fresh = deal_where(env, ended, key, after).replace(terminated=no, truncated=no)
        return env.with_mask(fresh).replace(
            terminated=after.terminated,
            truncated=after.truncated,
            step_count=jnp.where(ended, 0, after.step_count),
            final_vp=jnp.where(ended, after.game.players.vp, 0).astype(jnp.int16),
            final_source=jnp.where(ended, after.game.players.vp_source, 0).astype(jnp.int16),
            illegal=~env.is_legal(state, action),
        )


def deal_where(env: GaiaEnv, ended: Array, key: Array, state: StateT) -> StateT:
    """The state with a new game and its player where `ended`; all else, the mask too, stays.

    Args:
        ended: () bool.
        key: one key, of the new game's set-up.
    """
    # One decision in some hundreds ends a game, and dealing costs more than deciding.
    game = compact_vmap(partial(_deal, env), ended, (key,), state.game)
    player = jnp.where(ended, game.turn.player, state.current_player)
    return state.replace(game=game, current_player=player)


def _deal(env: GaiaEnv, key: Array) -> GameState:
    """A new game."""
    return env.deal(env.draw_setup(key))


def auto_reset(env: GaiaEnv) -> AutoReset:
    """`env` with a `step(state, action, key)` that starts a new game where one ended.

    The new game's set-up is drawn from `key`. `terminated`, `truncated`, `rewards` (S,),
    `final_vp` (P,) int16, `final_source` (P, 18) int16 and `illegal` () bool of the state tell of
    the game that ended; in a solo game P = 2, with a row of the Automa, and S = 1. An illegal
    action ends a game early: leave games with `illegal` out of a mean of `final_vp`.

    Raises:
        TypeError: `env` is no environment of `gaia_jax.make`, or resets already.
    """
    if isinstance(env, AutoReset):
        raise TypeError("env is an AutoReset already; auto_reset takes what gaia_jax.make made")
    if not isinstance(env, GaiaEnv):
        raise TypeError(
            f"env must be a GaiaEnv as gaia_jax.make makes them, or of a subclass "
            f"(docs/guide/environment.md), not {shown(env)}"
        )
    return AutoReset(env)


@own_jax_config
def auto_state(state: State) -> AutoState:
    """A state of the bare environment as one of `auto_reset`, with no game ended yet."""
    fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}
    none = jnp.zeros_like(state.game.players.vp_source, jnp.int16)
    return AutoState(
        **fields,
        final_vp=jnp.zeros_like(state.game.players.vp),
        final_source=none,
        illegal=jnp.zeros_like(state.terminated),
    )


__all__ = ["AutoReset", "AutoState", "auto_reset", "auto_state"]

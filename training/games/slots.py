"""Games in lanes: where one ends, the next begins, so that few lanes stand still.

A batch of games that all begin together runs on for its longest one: by the zoo's agents a quarter
of its decisions are played beside games that have ended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from training.agents import Agent
from training.games.engine import decide, over, replace_illegal
from training.games.match import EVALUATION
from training.games.records import LONGEST
from training.system.fast_compile import jit_once

STRIDE = 16  # decisions of every lane between two looks for games that have ended


class Ended(NamedTuple):
    """N games of P players, in their order."""

    setups: Any  # Setup, leading axis N
    actions: Any  # (N, LONGEST) int16
    decisions: Any  # (N,) int32
    vp: Any  # (N, P) int16
    sources: Any  # (N, P, K) int16, VP by source
    illegal: Any  # (N, P) int16, illegal moves, replaced by the first legal one


class _Carry(NamedTuple):
    """B lanes, N games."""

    state: Any  # (B, ...)
    game: Array  # (B,) int32, the game of the lane; N where none is left
    clock: Array  # (B,) int32, its decisions so far
    illegal: Array  # (B, P) int16, of the game
    begun: Array  # () int32
    ended: tuple[Array, ...]  # of `Ended`: actions to illegal


class Lanes:
    """A table of agents that plays N games in B lanes; compiled by `compile`."""

    def __init__(self, env: Any, agents: list[Agent], sits: np.ndarray, deals: int, lanes: int):
        """
        Args:
            agents: those of the table.
            sits: (R, P), which agent sits where in each rotation.
            deals: set-ups that are played, each in every rotation: N = deals * R.
            lanes: B, games that are played at the same time; at most N.
        """
        self._env, self._agents, self._deals, self._lanes = env, agents, deals, lanes
        self._rotations, self.games = len(sits), deals * len(sits)
        self._seats = np.tile(sits, (deals, 1))  # (N, P)
        self._params = [agent.params for agent in agents]
        self._programs: tuple[Any, Any, Any] | None = None

    def compile(self) -> None:
        """Compile everything, once."""
        if self._programs:
            return
        key, first = jax.random.key(0), jnp.int32(0)
        draw, begin = jit_once(self._draw), jit_once(self._begin)
        advance = jax.jit(self._advance, donate_argnums=4)
        pool = jax.eval_shape(draw, key, first)
        carry = jax.eval_shape(begin, pool)
        self._programs = (
            draw.lower(key, first).compile(),
            begin.lower(pool).compile(),
            advance.lower(self._params, key, first, pool, carry).compile(),
        )

    def play(self, seed: int, first: int) -> Ended:
        """The games of the set-ups from number `first` on, on the host.

        They are those that `training.games.match` plays with the same seed.
        """
        self.compile()
        assert self._programs
        draw, begin, advance = self._programs
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), EVALUATION))
        at = jnp.int32(first)
        pool = draw(keys[0], at)
        carry, left = begin(pool), True
        while left:
            carry, left = advance(self._params, keys[1], at, pool, carry)
        return jax.device_get(Ended(pool.game.setup, *carry.ended))

    def _draw(self, key: Array, first: Array) -> Any:
        """All games before their first decision: states (N, ...)."""
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(self._deals))
        # One key draws the whole set-up and nothing is random afterwards: R equal games.
        return jax.vmap(self._env.init)(jnp.repeat(keys, self._rotations))

    def _begin(self, pool: Any) -> _Carry:
        """The first B games."""
        games, lanes, players = self.games, self._lanes, self._seats.shape[1]
        ended = (
            jnp.zeros((games, LONGEST), jnp.int16),
            jnp.zeros(games, jnp.int32),
            jnp.zeros((games, players), jnp.int16),
            jnp.zeros_like(pool.game.players.vp_source, jnp.int16),
            jnp.zeros((games, players), jnp.int16),
        )
        return _Carry(
            state=jax.tree.map(lambda x: x[:lanes], pool),
            game=jnp.arange(lanes),
            clock=jnp.zeros(lanes, jnp.int32),
            illegal=jnp.zeros((lanes, players), jnp.int16),
            begun=jnp.int32(lanes),
            ended=ended,
        )

    def _step(self, params: list[Any], keys: Array, carry: _Carry) -> _Carry:
        """A decision in every lane."""
        state, game, agents = carry.state, carry.game, self._agents
        sits = jnp.asarray(self._seats)[jnp.minimum(game, self.games - 1), state.current_player]
        turn = jnp.where(over(state), -1, sits)
        keys = jax.vmap(jax.random.fold_in)(keys, carry.clock)
        action = jnp.zeros(self._lanes, jnp.int32)
        for number, (agent, own) in enumerate(zip(agents, params, strict=True)):
            action = decide(agent, own, state, turn == number, keys, len(agents), action)
        everyone = jnp.arange(self._seats.shape[1])
        here = (everyone == state.current_player[:, None]) & (turn >= 0)[:, None]
        action, illegal = replace_illegal(action, state.legal_action_mask)
        actions, *rest = carry.ended
        place = jnp.where(turn >= 0, carry.clock, LONGEST)
        actions = actions.at[game, place].set(action.astype(jnp.int16), mode="drop")
        return carry._replace(
            state=jax.vmap(self._env.step)(state, action),
            clock=carry.clock + (turn >= 0),
            illegal=carry.illegal + (here & illegal[:, None]),
            ended=(actions, *rest),
        )

    def _refill(self, carry: _Carry, pool: Any) -> _Carry:
        """Note the games that have ended; their lanes begin those that are left."""
        games = self.games
        done = over(carry.state) & (carry.game < games)
        where = jnp.where(done, carry.game, games)
        held = carry.state.game.players
        noted = (carry.clock, held.vp, held.vp_source, carry.illegal)
        actions, *rest = carry.ended
        rest = [
            old.at[where].set(new.astype(old.dtype), mode="drop")
            for old, new in zip(rest, noted, strict=True)
        ]
        following = carry.begun + jnp.cumsum(done, dtype=jnp.int32) - 1
        begins = done & (following < games)
        fresh = jnp.minimum(following, games - 1)

        def put(old: Array, new: Array) -> Array:
            return jnp.where(begins.reshape(-1, *(1,) * (old.ndim - 1)), new[fresh], old)

        return _Carry(
            state=jax.tree.map(put, carry.state, pool),
            game=jnp.where(begins, following, jnp.where(done, games, carry.game)),
            clock=jnp.where(begins, 0, carry.clock),
            illegal=jnp.where(begins[:, None], jnp.int16(0), carry.illegal),
            begun=jnp.minimum(carry.begun + done.sum(dtype=jnp.int32), games),
            ended=(actions, *rest),
        )

    def _advance(
        self, params: list[Any], key: Array, first: Array, pool: Any, carry: _Carry
    ) -> tuple[_Carry, Array]:
        """STRIDE decisions in every lane, then the next games; whether games are left."""
        numbers = first * self._rotations + carry.game
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, numbers)

        def going(held: tuple[Array, _Carry]) -> Array:
            return (held[0] < STRIDE) & ~over(held[1].state).all()

        def one(held: tuple[Array, _Carry]) -> tuple[Array, _Carry]:
            return held[0] + 1, self._step(params, keys, held[1])

        _, carry = jax.lax.while_loop(going, one, (jnp.int32(0), carry))
        carry = self._refill(carry, pool)
        return carry, (carry.game < self.games).any()

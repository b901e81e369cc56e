"""Games that a shipped agent played, likeliest action first, and whether it still plays them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

GAMES = 16
LONGEST = 1024  # decisions of a game, more than any had
RECORDED = 0x200  # folded into the seed: no set-up of training or evaluation


class Recorded(NamedTuple):
    """B games, T decisions: shorter games end with -1."""

    actions: np.ndarray  # (T, B) int16
    vp: np.ndarray  # (B, P) int16


class Replayed(NamedTuple):
    """What came of playing, or of replaying."""

    actions: Array  # (LONGEST, B) int16
    gap: Array  # (LONGEST, B) float32, how far the logit of the action is below the best one
    vp: Array  # (B, P) int16
    over: Array  # (B,) bool


def make_player(env: Any, network: Any, games: int = GAMES) -> Any:
    """(params, forced (LONGEST, B) int16) -> Replayed, compiled; forced below 0: the likeliest."""

    def play(params: Any, forced: Array) -> Replayed:
        key = jax.random.fold_in(jax.random.key(0), RECORDED)
        state = jax.vmap(env.init)(jax.random.split(key, games))

        def step(carry: tuple[Any, Array, Replayed]) -> tuple[Any, Array, Replayed]:
            state, clock, out = carry
            mask = state.legal_action_mask
            over = state.terminated | state.truncated
            observation = jax.vmap(env.observe)(state, state.current_player)
            logits, _ = network.apply(params, observation, mask)
            wanted = forced[clock].astype(jnp.int32)
            action = jnp.where(wanted >= 0, wanted, jnp.argmax(logits, axis=-1))
            logit = jnp.take_along_axis(logits, action[:, None], axis=-1)[:, 0]
            gap = jnp.where(over, 0.0, logits.max(-1) - logit)
            out = out._replace(
                actions=out.actions.at[clock].set(jnp.where(over, -1, action).astype(jnp.int16)),
                gap=out.gap.at[clock].set(gap),
            )
            return jax.vmap(env.step)(state, action.astype(jnp.int32)), clock + 1, out

        def going(carry: tuple[Any, Array, Replayed]) -> Array:
            state, clock, _ = carry
            return (clock < LONGEST) & ~(state.terminated | state.truncated).all()

        shape = (LONGEST, games)
        blank = Replayed(
            jnp.full(shape, -1, jnp.int16),
            jnp.zeros(shape),
            jnp.zeros((games, env.num_players), jnp.int16),
            jnp.zeros(games, bool),
        )
        state, _, out = jax.lax.while_loop(going, step, (state, jnp.int32(0), blank))
        over = state.terminated | state.truncated
        return out._replace(vp=state.game.players.vp.astype(jnp.int16), over=over)

    return jax.jit(play)


def record(player: Any, params: Any, games: int = GAMES) -> Recorded:
    """The games of an agent, by a player of `make_player`."""
    out = jax.device_get(player(params, jnp.full((LONGEST, games), -1, jnp.int16)))
    assert out.over.all(), "a game is longer than LONGEST"
    length = int((out.actions >= 0).any(1).sum())
    return Recorded(out.actions[:length], out.vp)


def replay(player: Any, params: Any, recorded: Recorded) -> Replayed:
    """Play the recorded actions."""
    length, games = recorded.actions.shape
    forced = np.full((LONGEST, games), -1, np.int16)
    forced[:length] = recorded.actions
    out: Replayed = jax.device_get(player(params, jnp.asarray(forced)))
    return out

"""Duplicate matches: the same set-ups, played once for each way to seat the agents."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from training.agents import Agent

EVALUATION = 0x5EED  # folded into the seed: apart from every set-up of training
NUM_SEATS = 4
GAMES_AT_ONCE = 1024


class Results(NamedTuple):
    """Finished games. S set-ups, R = 4 rotations of the seats, P = 4 players."""

    agent: np.ndarray  # (S, R, P) which agent sat there
    vp: np.ndarray  # (S, R, P) final VP
    vp_source: np.ndarray  # (S, R, P, K) the same by source
    federations: np.ndarray  # (S, R, P) formed; tokens of tracks and of factions are none
    faction: np.ndarray  # (S, R, P)
    decisions: np.ndarray  # (S, R) of all players


class Match:
    """A table of agents and the rotations in which they sit; compiled at the first `play`."""

    def __init__(self, env: Any, agents: list[Agent], seating: np.ndarray, setups: int):
        """
        Args:
            agents: the agents of the match.
            seating: (R, P), which agent sits where in each rotation.
            setups: S, how many set-ups are played, each once for each rotation.
        """
        self._agents, self._seating, self._setups = agents, np.asarray(seating), setups
        self._at_once = min(setups, max(GAMES_AT_ONCE // len(seating), 1))
        self._run = jax.jit(_make_batch(env, agents, self._seating, self._at_once))

    def play(self, seed: int, params: list[Any] | None = None) -> Results:
        """Play all games, many in lockstep.

        Args:
            seed: which set-ups; the same seed gives the same ones, and the same games.
            params: instead of the agents' own parameters.
        """
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), EVALUATION))
        params = params or [agent.params for agent in self._agents]
        firsts = range(0, self._setups, self._at_once)
        parts = [jax.device_get(self._run(params, *keys, first)) for first in firsts]
        whole = jax.tree.map(lambda *x: np.concatenate(x)[: self._setups], *parts)
        sits = np.broadcast_to(self._seating, (self._setups, *self._seating.shape))
        return Results(sits, *whole)


def _make_batch(env: Any, agents: list[Agent], seating: np.ndarray, setups: int) -> Any:
    """The pure function that plays `setups` set-ups from number `first` on."""
    rotations = len(seating)
    sits = np.tile(seating, (setups, 1))  # (B, P), B = S * R
    games = np.arange(setups * rotations)

    def over(state: Any) -> Array:
        return state.terminated | state.truncated

    def batch(params: list[Any], setup_key: Array, play_key: Array, first: Array) -> Any:
        setup_keys = jax.vmap(jax.random.fold_in, (None, 0))(setup_key, first + jnp.arange(setups))
        # One key draws the whole set-up and nothing is random afterwards: R equal games.
        state = jax.vmap(env.init)(jnp.repeat(setup_keys, rotations))
        play_key = jax.random.fold_in(play_key, first)

        def step(carry: tuple[Any, Array, Array]) -> tuple[Any, Array, Array]:
            state, decisions, clock = carry
            keys = jax.random.split(jax.random.fold_in(play_key, clock), len(agents))
            chosen = [
                agent.act(own, state, key)
                for agent, own, key in zip(agents, params, keys, strict=True)
            ]
            turn = jnp.asarray(sits)[games, state.current_player]
            action = jnp.stack(chosen)[turn, games]
            decisions += ~over(state)
            return jax.vmap(env.step)(state, action), decisions, clock + 1

        start = (state, jnp.zeros(len(games), jnp.int32), jnp.int32(0))
        state, decisions, _ = jax.lax.while_loop(lambda c: ~over(c[0]).all(), step, start)
        players = state.game.players
        faction = state.game.setup.faction
        out = (players.vp, players.vp_source, players.formed, faction, decisions)
        return jax.tree.map(lambda x: x.reshape(setups, rotations, *x.shape[1:]), out)

    return batch


def one_against_three() -> np.ndarray:
    """(4, 4): agent 0 in each seat once, agent 1 in the others."""
    return 1 - np.eye(NUM_SEATS, dtype=np.int32)


def wins(vp: np.ndarray) -> np.ndarray:
    """(..., P) VP -> (..., P) the game's one win, shared among those with the most VP."""
    best = vp == vp.max(axis=-1, keepdims=True)
    return best / best.sum(axis=-1, keepdims=True)


class Estimate(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def estimate(values: np.ndarray) -> Estimate:
    """Mean of independent values (S,) with Student's 95 % interval; nan bounds below two values."""
    from scipy import stats

    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return Estimate(mean, float(mean - half), float(mean + half))

"""Duplicate matches: the same set-ups, played once for each way to seat the agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from training.agents import Agent
from training.games.engine import make_batch, mesh_of
from training.games.records import LONGEST, Recorder
from training.games.results import Results, joined
from training.system.fast_compile import jit_once

EVALUATION = 0x5EED  # folded into the seed: apart from every set-up of training
GAMES_AT_ONCE = 1024


Progress = Callable[[int], object]


class Match:
    """A table of agents and the rotations in which they sit; compiled at the first `play`."""

    def __init__(
        self,
        env: Any,
        agents: list[Agent],
        seating: np.ndarray,
        setups: int | range,
        games_at_once: int = GAMES_AT_ONCE,
        describe: Callable[[Any], dict[str, Array]] | None = None,
        counted_actions: np.ndarray | None = None,
        recorder: Recorder | None = None,
    ):
        """
        Args:
            agents: the agents of the match.
            seating: (R, P), which agent sits where in each rotation.
            setups: S, how many set-ups are played, each once for each rotation; or which ones. A
                game depends on its number alone, so that a match may be played in parts.
            games_at_once: at most so many games in lockstep, on all devices together.
            describe: ended games (B,) -> what else to note of them, (B, P) by name.
            counted_actions: (W, A) bool, sets of actions to count.
            recorder: writes a record of each game.
        """
        which = range(setups) if isinstance(setups, int) else setups
        self._recorder, self._first, self._setups = recorder, which.start, len(which)
        self._agents, self._seating = agents, np.asarray(seating)
        self.at_once = min(self._setups, max(games_at_once // len(seating), 1))
        self._describe = describe or (lambda game: {})
        self._counted_actions = (
            np.zeros((0, env.num_actions), bool) if counted_actions is None else counted_actions
        )
        self._mesh = mesh_of(agents, self.at_once, len(self._seating))
        longest = LONGEST if recorder else 0
        self._start, self._advance = make_batch(
            env, agents, self._seating, self.at_once, self._counted_actions, longest, self._mesh
        )
        self._end = jit_once(lambda state: self._describe(state.game))

    def play(
        self,
        seed: int,
        params: list[Any] | None = None,
        progress: Progress = lambda ended: None,
        done: Results | None = None,
        save: Callable[[Results], object] = lambda results: None,
    ) -> Results:
        """Play all games, many in lockstep.

        Args:
            seed: which set-ups; the same seed gives the same ones, and the same games.
            params: instead of the agents' own parameters.
            progress: told how many of the games have ended, again and again.
            done: the first ones, played before.
            save: told of all games so far, after each batch.
        """
        parts = [] if done is None else [done]
        for before in range(len(parts[0].vp) if parts else 0, self._setups, self.at_once):
            ended = before * len(self._seating)

            def tell(more: int, ended: int = ended) -> None:
                progress(min(ended + more, self._setups * len(self._seating)))

            played = self.play_batch(seed, self._first + before, params, tell)
            parts.append(jax.tree.map(lambda x, n=self._setups - before: x[:n], played))
            save(joined(parts))
        return joined(parts)

    def compile(self, seed: int = 0, params: list[Any] | None = None) -> None:
        """Compile everything; `play` does it where this was not called.

        Args:
            params: instead of the agents' own parameters.
        """
        key, params = jax.random.key(seed), self._placed(params)
        carry = jax.eval_shape(self._start, key, 0)
        self._start = self._start.lower(key, 0).compile()
        self._advance = self._advance.lower(params, key, 0, carry).compile()

    def play_batch(
        self,
        seed: int,
        first: int,
        params: list[Any] | None = None,
        progress: Progress = lambda ended: None,
    ) -> Results:
        """The games of `at_once` set-ups from number `first` on.

        Args:
            progress: told how many of the batch's games have ended, again and again.
        """
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), EVALUATION))
        params = self._placed(params)
        carry, ended = self._start(keys[0], first), 0
        while ended < self.at_once * len(self._seating):
            carry, count = self._advance(params, keys[1], first, carry)
            ended = int(np.sum(jax.device_get(count)))
            progress(ended)
        state = carry.state
        players = state.game.players
        faction = state.game.setup.faction
        if self._recorder:
            games = (state.game.setup, carry.played, carry.decisions, players.vp)
            count = min(self.at_once, self._first + self._setups - first)
            self._recorder.batch(seed, first, self._seating, count, games)
        out = (players.vp, players.vp_source, players.formed, faction, carry.decisions)
        seats = (carry.counted, carry.decided, carry.illegal)
        out = jax.device_get((*out, self._end(state), *seats))
        shape = (self.at_once, len(self._seating))
        out = jax.tree.map(lambda x: x.reshape(*shape, *x.shape[1:]), out)
        sits = np.broadcast_to(self._seating, (*shape, self._seating.shape[1]))
        return Results(sits, *out)

    def _placed(self, params: list[Any] | None) -> list[Any]:
        """The agents' parameters, or others, on every device that plays."""
        params = params or [agent.params for agent in self._agents]
        if self._mesh is None:
            return params
        placed: list[Any] = jax.device_put(params, NamedSharding(self._mesh, P()))
        return placed


def one_against_the_rest(players: int) -> np.ndarray:
    """(P, P): agent 0 in each seat once, agent 1 in the others."""
    return 1 - np.eye(players, dtype=np.int32)


def one_against_three() -> np.ndarray:
    """`one_against_the_rest` at a table of four."""
    return one_against_the_rest(4)


def scores(vp: np.ndarray, illegal: np.ndarray | None) -> np.ndarray:
    """(..., P) VP that count: none for who moved illegally in the game.

    Args:
        illegal: (..., P), illegal moves; None: of nobody.
    """
    return vp if illegal is None else np.where(illegal > 0, np.minimum(vp, 0), vp)


def _order(vp: np.ndarray, illegal: np.ndarray | None) -> np.ndarray:
    """(..., P) what the players of a game are ranked by: those who moved illegally are last."""
    return vp if illegal is None else np.where(illegal > 0, -np.inf, vp)


def wins(vp: np.ndarray, illegal: np.ndarray | None = None) -> np.ndarray:
    """(..., P) VP -> (..., P) the game's one win, shared among those with the most VP.

    Args:
        illegal: (..., P), illegal moves: one, and the game is not won.
    """
    order = _order(vp, illegal)
    best = order == order.max(axis=-1, keepdims=True)
    return np.where(np.isfinite(order), best / best.sum(axis=-1, keepdims=True), 0.0)


class Estimate(NamedTuple):
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def rotated(players: int = 4) -> np.ndarray:
    """(P, P): agent i in seat i, then each one seat further; every agent sits in every seat."""
    seats = np.arange(players, dtype=np.int32)
    return (seats - seats[:, None]) % players


def places(vp: np.ndarray, illegal: np.ndarray | None = None) -> np.ndarray:
    """(..., P) VP -> (..., P) places 1 to P, the mean of theirs for those who tie.

    Args:
        illegal: (..., P), illegal moves: one, and the place is the last.
    """
    vp = _order(vp, illegal)
    better = (vp[..., None, :] > vp[..., :, None]).sum(-1)
    equal = (vp[..., None, :] == vp[..., :, None]).sum(-1)
    return better + (equal + 1) / 2


def estimate(values: np.ndarray, low: float = -np.inf, high: float = np.inf) -> Estimate:
    """Mean of independent values (S,) with Student's 95 % interval; nan bounds below two values.

    Args:
        low, high: no value can lie outside, and no bound does.
    """
    from scipy import stats

    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, float("nan"), float("nan"))
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return Estimate(mean, max(float(mean - half), low), min(float(mean + half), high))


def share(values: np.ndarray) -> Estimate:
    """`estimate` of shares, within [0, 1]."""
    return estimate(values, 0.0, 1.0)


def illegal_moves(illegal: np.ndarray, decided: np.ndarray, mine: np.ndarray) -> dict[str, Any]:
    """Illegal moves of the seats in `mine`, all (S, R, P).

    Returns:
        `moves`, `decisions`, `rate`; `forfeits`, the games that were lost by them.
    """
    moves, decisions = int(illegal[mine].sum()), int(decided[mine].sum())
    lost = int(((illegal > 0) & mine).any(-1).sum())
    return {
        "moves": moves, "decisions": decisions, "rate": moves / max(decisions, 1),
        "forfeits": lost,
    }  # fmt: skip


def told(moves: dict[str, Any]) -> str:
    """`illegal_moves` in words."""
    return (
        f"{moves['moves']} illegal moves in {moves['decisions']} decisions "
        f"({100 * moves['rate']:.2f} %), {moves['forfeits']} games forfeited: last place, no VP"
    )

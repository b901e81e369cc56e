"""Duplicate matches: the same set-ups, played once for each way to seat the agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from training.agents import Agent
from training.batched import step_among
from training.game_records import LONGEST, Recorder
from training.once import jit_once
from training.results import Results, joined
from training.search.keys import fold_in

EVALUATION = 0x5EED  # folded into the seed: apart from every set-up of training
GAMES_AT_ONCE = 1024
STRIDE = 16  # decisions of every game between two looks from outside


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
            games_at_once: at most so many games in lockstep.
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
        self._start, self._advance = _make_batch(
            env,
            agents,
            self._seating,
            self.at_once,
            self._counted_actions,
            LONGEST if recorder else 0,
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
        key, params = jax.random.key(seed), params or [agent.params for agent in self._agents]
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
        params = params or [agent.params for agent in self._agents]
        carry, ended = self._start(keys[0], first), 0
        while ended < self.at_once * len(self._seating):
            carry, count = self._advance(params, keys[1], first, carry)
            ended = int(count)
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


class _Carry(NamedTuple):
    """Games under way, B = S * R."""

    state: Any
    decisions: Array  # (B,) int32
    clock: Array  # () int32, decisions since the start of the batch
    counted: Array  # (B, P, W) int32
    decided: Array  # (B, P) int32
    illegal: Array  # (B, P) int32
    played: Array  # (B, L) int16, the actions, where records are written; else L is 0


def over(state: Any) -> Array:
    """(B,) bool, which games have ended."""
    return state.terminated | state.truncated


def _make_batch(
    env: Any,
    agents: list[Agent],
    seating: np.ndarray,
    setups: int,
    counted_actions: np.ndarray,
    longest: int = 0,
) -> Any:
    """The compiled start of a batch of set-ups, and some decisions in all its games."""
    rotations, players = seating.shape
    sits = np.tile(seating, (setups, 1))  # (B, P)
    batch, games = len(sits), np.arange(len(sits))

    def start(setup_key: Array, first: Array) -> _Carry:
        setup_keys = jax.vmap(jax.random.fold_in, (None, 0))(setup_key, first + jnp.arange(setups))
        # One key draws the whole set-up and nothing is random afterwards: R equal games.
        state = jax.vmap(env.init)(jnp.repeat(setup_keys, rotations))
        none = jnp.zeros((batch, players), jnp.int32)
        counted = jnp.zeros((*none.shape, len(counted_actions)), jnp.int32)
        played = jnp.zeros((batch, longest), jnp.int16)
        return _Carry(state, jnp.zeros(batch, jnp.int32), jnp.int32(0), counted, none, none, played)

    def step(params: list[Any], game_keys: Array, carry: _Carry) -> _Carry:
        state = carry.state
        turn = jnp.where(over(state), -1, jnp.asarray(sits)[games, state.current_player])
        keys = fold_in(game_keys, carry.clock)
        action = jnp.zeros(batch, jnp.int32)
        for number, (agent, own) in enumerate(zip(agents, params, strict=True)):
            action = decide(agent, own, state, turn == number, keys, len(agents), action)
        here = (jnp.arange(players) == state.current_player[:, None]) & (turn >= 0)[:, None]
        action, illegal = replace_illegal(action, state.legal_action_mask)
        seen = jnp.asarray(counted_actions)[:, action].T  # (B, W)
        played = carry.played
        if longest:
            place = jnp.where(turn >= 0, carry.decisions, longest)
            played = played.at[games, place].set(action.astype(jnp.int16), mode="drop")
        return _Carry(
            step_among(env, _lanes(agents, batch), state, action),
            carry.decisions + (turn >= 0),
            carry.clock + 1,
            carry.counted + (here[:, :, None] & seen[:, None]),
            carry.decided + here,
            carry.illegal + (here & illegal[:, None]),
            played,
        )

    def advance(
        params: list[Any], play_key: Array, first: Array, carry: _Carry
    ) -> tuple[_Carry, Array]:
        """STRIDE decisions in every game, fewer when all have ended; how many have ended."""
        stop = carry.clock + STRIDE
        keys = jax.vmap(jax.random.fold_in, (None, 0))(play_key, first * rotations + games)
        carry = jax.lax.while_loop(
            lambda c: (c.clock < stop) & ~over(c.state).all(),
            lambda c: step(params, keys, c),
            carry,
        )
        return carry, over(carry.state).sum()

    return jit_once(start), jax.jit(advance)


def _lanes(agents: list[Agent], games: int) -> int:
    """How many games the agents play ahead side by side, at most; 0 where none does."""
    return max((agent.lanes(games) for agent in agents if agent.lanes), default=0)


def replace_illegal(action: Array, mask: Array) -> tuple[Array, Array]:
    """The first legal action where one is illegal, and where that is; both (B,).

    The game goes on to its end, for the sake of the others: whoever moved illegally is last in it.
    The environment itself would end the game, which pays for whoever leads just then.

    Args:
        action: (B,) int32, anything. mask: (B, A), the legal actions.
    """
    inside = (action >= 0) & (action < mask.shape[1])
    there = jnp.take_along_axis(mask, jnp.where(inside, action, 0)[:, None], axis=1)[:, 0]
    illegal = ~(inside & there)
    return jnp.where(illegal, jnp.argmax(mask, axis=1).astype(jnp.int32), action), illegal


def decide(
    agent: Agent, params: Any, state: Any, own: Array, keys: Array, agents: int, action: Array
) -> Array:
    """`action` (B,) with the decisions of one agent in the games where it is to decide.

    Args:
        own: (B,) bool, those games.
        keys: (B,), of this decision in each game.
        agents: how many share the batch: an agent is called on so much of it at a time.
    """
    mask = state.legal_action_mask
    batch, number = mask.shape

    def only(mask: Array, own: Array) -> Array:
        """One legal action where the agent is not asked."""
        first = jnp.arange(number) == jnp.argmax(mask, axis=-1)[:, None]
        return jnp.where(own[:, None], mask, first)

    def draws(keys: Array) -> Array:
        return keys if agent.by_game else keys[0]

    if agent.cheap_when_forced or agents == 1:
        return jnp.where(own, agent.act(params, state, only(mask, own), draws(keys)), action)
    size = -(-batch // agents)
    total = own.sum(dtype=jnp.int32)
    ids = jnp.arange(batch, dtype=jnp.int32)
    place = jnp.where(own, jnp.cumsum(own, dtype=jnp.int32) - 1, batch)
    rows = jnp.zeros(batch, jnp.int32).at[place].set(ids, mode="drop")

    def chunk(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        first, action = carry
        turn = first + jnp.arange(size)
        some = rows[jnp.minimum(turn, total - 1)]
        states = jax.tree.map(lambda x: x[some], state)
        chosen = agent.act(params, states, only(mask[some], turn < total), draws(keys[some]))
        where = jnp.where(turn < total, some, batch)
        return first + size, action.at[where].set(chosen, mode="drop")

    return jax.lax.while_loop(lambda c: c[0] < total, chunk, (jnp.int32(0), action))[1]


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

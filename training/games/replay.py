"""Replay rows of `games.parquet`, to verify them and to note their decisions."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.state import Setup
from gaia_jax.xla.stored_programs import env_jit

from ..system.batched import stepping
from ..types import EnvState, SetupEnvironment
from .schema import setup_and_seats
from .stats import places, wins

STRIDE = 64  # T, decisions that one compiled call plays
BATCH = 256

Row = dict[str, Any]


class Seen(NamedTuple):
    """T consecutive decisions of B games, with notes on the position before each."""

    live: np.ndarray  # (T, B) bool, a decision of the game
    legal: np.ndarray  # (T, B) bool, the action of the row is legal
    choices: np.ndarray  # (T, B) legal actions
    extras: dict[str, np.ndarray]  # (T, B, ...) results of `extras`


Extras = Callable[[Any, Array], dict[str, Array]]


def nothing(state: EnvState, action: Array) -> dict[str, Array]:
    """`extras` that note nothing."""
    return {}


@functools.lru_cache(maxsize=8)
def _compiled(env: SetupEnvironment, extras: Extras) -> tuple[Any, Any]:
    """`init_from` of set-ups, and some decisions: (states, actions (T, B), decisions left (B,))
    -> (states, left) and `Seen`.
    """

    def advance(state: EnvState, actions: Array, left: Array) -> Any:
        rows = jnp.arange(len(left))

        def replay_step(carry: tuple[EnvState, Array], action: Array) -> Any:
            state, left = carry
            live = (left > 0) & ~(state.terminated | state.truncated)
            action = action.astype(jnp.int32)
            inside = action < env.num_actions
            legal_action = jnp.where(inside, action, 0)
            legal = inside & state.legal_action_mask[rows, legal_action]
            seen = (live, legal, state.legal_action_mask.sum(-1), extras(state, legal_action))
            plays = live & legal

            def select(new: Array, old: Array) -> Array:
                return jnp.where(plays.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

            state = jax.tree.map(select, stepping(env)(state, legal_action), state)
            return (state, jnp.where(plays, left - 1, 0)), seen

        return jax.lax.scan(replay_step, (state, left), actions)

    return env_jit(env, "init_from", batched=True), jax.jit(advance)


class Replayer:
    """Plays rows in batches, compiled once."""

    def __init__(self, env: SetupEnvironment, batch: int = BATCH, extras: Extras = nothing):
        """`extras`: (states (B, ...), actions (B,)) -> notes before each decision (B, ...)."""
        self.env, self.batch = env, batch
        self._start, self._advance = _compiled(env, extras)

    def compile(self) -> None:
        """Compile everything, by games without a decision."""
        shapes = jax.eval_shape(self.env.draw_setup, jax.random.key(0))
        setups = jax.tree.map(lambda x: jnp.zeros((self.batch, *x.shape), x.dtype), shapes)
        actions = jnp.zeros((STRIDE, self.batch), jnp.uint16)
        none = jnp.zeros(self.batch, jnp.int32)
        jax.block_until_ready(self._advance(self._start(setups), actions, none))

    def start(self, setups: Sequence[Setup]) -> Any:
        """Games before their first decision; B of them, the last one repeated."""
        setups = list(setups) + [setups[-1]] * (self.batch - len(setups))
        return self._start(jax.tree.map(lambda *x: jnp.stack(x), *setups))

    def play(self, setups: Sequence[Setup], actions: Sequence[np.ndarray]) -> Iterator[Any]:
        """Play at most B games: yields (first decision, Seen) repeatedly, then the end states."""
        length = max(len(x) for x in actions)
        padded = np.zeros((-(-length // STRIDE) * STRIDE, self.batch), np.uint16)
        for game, own in enumerate(actions):
            padded[: len(own), game] = own
        counts = [len(x) for x in actions] + [0] * (self.batch - len(actions))
        carry = (self.start(setups), jnp.asarray(counts, jnp.int32))
        for first in range(0, len(padded), STRIDE):
            state, left = carry
            chunk = jnp.asarray(padded[first : first + STRIDE])
            carry, seen = self._advance(state, chunk, left)
            yield first, Seen(*jax.device_get(seen))
        yield -1, jax.device_get(carry)


def wrong_rows(replayer: Replayer, rows: Sequence[Row]) -> list[tuple[int, str]]:
    """Rows that do not match their replay: the index of each in `rows`, and the difference.

    The set-up must fit the ruleset and its columns, every action must be legal, the last one must
    end the game, and VP, sources, places and wins must equal those of the replay.
    """
    errors: dict[int, str] = {}
    for first in range(0, len(rows), replayer.batch):
        batch = rows[first : first + replayer.batch]
        good, setups = [], []
        for at, row in enumerate(batch):
            try:
                setup = setup_from_json(row["setup"], replayer.env.ruleset)
                _check_columns(row)
                setups.append(setup)
                good.append(at)
            except (ValueError, TypeError, KeyError) as error:
                errors[first + at] = f"set-up: {error}"
        if good:
            for lane, message in _played(replayer, [batch[at] for at in good], setups).items():
                errors[first + good[lane]] = message
    return sorted(errors.items())


def _check_columns(row: Row) -> None:
    """Check the columns of the set-up against its JSON."""
    for name, value in setup_and_seats(json.loads(row["setup"])).items():
        if row[name] != value:
            raise ValueError(f"column {name} is {row[name]!r}, in the set-up {value!r}")


def _played(replayer: Replayer, rows: list[Row], setups: Sequence[Setup]) -> dict[int, str]:
    """The errors of rows with readable set-ups, by index."""
    actions = [np.asarray(row["actions"], np.uint16) for row in rows]
    wrong: dict[int, str] = {}
    for first, seen in replayer.play(setups, actions):
        if first < 0:
            state, left = seen
            break
        for number, lane in np.argwhere(seen.live & ~seen.legal):
            if lane < len(rows):
                action = int(actions[lane][first + number])
                wrong.setdefault(int(lane), f"action {first + number} is {action}: not legal")
    over = state.terminated | state.truncated
    for lane, row in enumerate(rows):
        if lane in wrong:
            continue
        if not over[lane]:
            wrong[lane] = f"the game is not over after {len(actions[lane])} decisions"
        elif left[lane]:
            wrong[lane] = f"the game is over {left[lane]} decisions before the last one"
        elif message := _end(row, state.game.players, lane, replayer.env.ruleset.ids["vp_source"]):
            wrong[lane] = message
    return wrong


def _end(row: Row, players: Any, lane: int, sources: Sequence[str]) -> str:
    """The first difference between a row and the replayed end of its game; "" for none."""
    vp, illegal = np.asarray(players.vp[lane]), np.asarray(row["illegal"])
    replayed: dict[str, Any] = {"vp": vp.tolist(), "decisions": len(row["actions"])}
    for source, name in enumerate(sources):
        replayed[f"vp_{name}"] = np.asarray(players.vp_source[lane])[:, source].tolist()
    replayed["place"] = places(vp, illegal).astype(np.float32).tolist()
    replayed["win"] = wins(vp, illegal).astype(np.float32).tolist()
    for name, value in replayed.items():
        if row[name] != value:
            return f"{name} {row[name]}, the replay {value}"
    return ""


def name_of(number: int, row: Row) -> str:
    """The name of a row in messages."""
    place = f"seed {row['seed']}, deal {row['deal']}, rotation {row['rotation']}"
    return f"row {number} ({place})"

"""Matches: agents at a table play set-ups in slots (`games/slots.py`).

If its agents draw by game, a game depends only on its number, not on other games or the device, up
to rounding of networks in batches of another size. So a match may be played in parts.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from gaia_jax.xla.compact_vmap import in_chunks
from gaia_jax.xla.fast_compile import jit_fast_compile

from ..agents import Agent
from ..system.batched import dealing, step_among
from ..system.devices import (
    GAMES,
    LEAST_GAMES,
    cores,
    first_devices,
    playing_devices,
    shares,
    split_cpu,
)
from . import table
from .records import LONGEST
from .slots import Slots, on_devices, over, play_stride, refill, store_results
from .table import Games

EVALUATION = 0x5EED  # folded into the seed, so that set-ups differ from all of training
GAMES_AT_ONCE = 1024
# Smaller batches would compile another program and leave a second core idle.
LEAST_BATCH = 2 * LEAST_GAMES

Progress = Callable[[int], object]


@dataclasses.dataclass(frozen=True, eq=False)
class _Batch:
    """The games that one device plays: each of its set-ups once for each rotation."""

    env: Any
    agents: list[Agent]
    seating: np.ndarray  # (R, P), the agent of each seat in each rotation
    setups: int
    slots: int  # B, at most N
    moves: bool  # whether the actions are stored
    shared: bool  # with other devices, each with its own set-ups

    @property
    def games(self) -> int:
        """N."""
        return self.setups * len(self.seating)

    def own_first(self, first: Array) -> Array:
        """The number of this device's first set-up, from that of all devices."""
        return first + self.setups * jax.lax.axis_index(GAMES) if self.shared else first

    def notes(self, state: Any, clock: Array, counts: Array) -> dict[str, Array]:
        """The stored results of ended games, without the actions."""
        noted = table.make_notes(self.env.ruleset)(state.game, counts)
        return noted | {"decisions": clock}

    def start(self, setup_key: Array, first: Array) -> tuple[Any, Slots]:
        """All games before their first decision (N, ...), and the first B of them in the slots."""
        numbers = self.own_first(first) + jnp.arange(self.setups)
        setup_keys = jax.vmap(jax.random.fold_in, (None, 0))(setup_key, numbers)
        # One key draws the whole set-up and nothing is random afterwards: R equal games.
        pool = dealing(self.env)(jnp.repeat(setup_keys, len(self.seating)))
        slots, players = self.slots, self.seating.shape[1]
        state = jax.tree.map(lambda x: x[:slots], pool)
        clock = jnp.zeros(slots, jnp.int32)
        counts = jnp.zeros((slots, players, len(table.COUNTED)), jnp.int32)
        shapes = jax.eval_shape(self.notes, state, clock, counts)
        results = {
            name: jnp.zeros((self.games, *x.shape[1:]), x.dtype) for name, x in shapes.items()
        }
        results["actions"] = jnp.zeros((self.games, LONGEST if self.moves else 0), jnp.int16)
        following = jnp.full(1, slots, jnp.int32)
        return pool, Slots(state, jnp.arange(slots), clock, counts, following, results)

    def step(self, params: list[Any], game_keys: Array, slots: Slots) -> Slots:
        """One decision in every slot."""
        state, clock, results = slots.state, slots.clock, slots.results
        sits = jnp.asarray(self.seating)[slots.job % len(self.seating), state.current_player]
        turn = jnp.where(over(state), -1, sits)
        if self.slots == self.games:
            # All running games have made equally many decisions. An agent that draws for a
            # whole batch with the key of its first game keeps drawing after that game ends.
            clock = jnp.broadcast_to(clock.max(), clock.shape)
        keys = jax.vmap(jax.random.fold_in)(game_keys, clock)
        action = jnp.zeros(self.slots, jnp.int32)
        for number, (agent, own) in enumerate(zip(self.agents, params, strict=True)):
            action = decide(agent, own, state, turn == number, keys, len(self.agents), action)
        seats = jnp.arange(self.seating.shape[1])
        is_players_turn = (seats == state.current_player[:, None]) & (turn >= 0)[:, None]
        action, illegal = replace_illegal(action, state.legal_action_mask)
        leech = jnp.asarray(table.leech_actions(self.env.ruleset, self.env.num_actions))
        after = step_among(self.env, _widest(self.agents, self.slots), state, action)
        formed = table.federations_by_round(
            self.env.ruleset, state.game, after.game, state.current_player
        )
        decided = jnp.ones((1, self.slots), bool)
        seen = jnp.concatenate([leech[:, action], formed, decided, illegal[None]])
        if self.moves:
            place = jnp.where(turn >= 0, slots.clock, LONGEST)
            actions = results["actions"].at[slots.job, place]
            results = results | {"actions": actions.set(action.astype(jnp.int16), mode="drop")}
        return slots._replace(
            state=after,
            clock=slots.clock + (turn >= 0),
            own=slots.own + (is_players_turn[:, :, None] & seen.T[:, None]),
            results=results,
        )

    def advance(
        self, params: list[Any], play_key: Array, first: Array, pool: Any, slots: Slots
    ) -> tuple[Slots, Array]:
        """STRIDE decisions in every slot, then the next games; (1,) how many have ended.

        No device waits for another here: one with longer games may take minutes more.
        """
        numbers = self.own_first(first) * len(self.seating) + slots.job
        keys = jax.vmap(jax.random.fold_in, (None, 0))(play_key, numbers)
        slots = play_stride(partial(self.step, params, keys), slots)
        slots = store_results(slots, self.notes(slots.state, slots.clock, slots.own))
        if self.slots < self.games:
            refilled = refill(
                slots, self.games, lambda job: (jax.tree.map(lambda x: x[job], pool), 0)
            )
            # A slot without a next game keeps its job: agents that draw by batch use its key.
            has_job = refilled.job < self.games
            slots = refilled._replace(job=jnp.where(has_job, refilled.job, slots.job))
        return slots, slots.num_ended


class Match:
    """Entries at a table and the rotations in which they sit; compiled at the first `play`."""

    def __init__(
        self,
        env: Any,
        agents: Sequence[Agent],
        seating: np.ndarray,
        setups: int | range,
        games_at_once: int = GAMES_AT_ONCE,
        slots: int | None = None,
        moves: bool = False,
    ):
        """
        Args:
            agents: the entries of the match; entries of one agent are decided together.
            seating: (R, P), which entry sits where in each rotation.
            setups: number S of set-ups, or their numbers; each is played once for each rotation.
            games_at_once: maximum number of games in a batch, on all devices together, before the
                shares of the devices are made equal.
            slots: maximum number of games of a batch that run at the same time; None: all.
            moves: keep the set-ups and actions of the games.
        """
        self.setups = range(setups) if isinstance(setups, int) else setups
        self.seating, self._moves = np.asarray(seating), moves
        same = [next(j for j, x in enumerate(agents) if x is agent) for agent in agents]
        self._which = sorted(set(same))  # entries, the first of each agent
        self._params = [agent.params for agent in agents]
        # Parameters are given to a program, they are no part of it.
        different = [agents[i]._replace(params=()) for i in self._which]
        # Set-ups of a batch, and with those that fill it up.
        self.batch, self.at_once = batch_sizes(
            len(self.setups), len(seating), games_at_once, max_devices(different)
        )
        self._mesh = mesh_of(different, self.at_once, len(self.seating))
        share = self.at_once // (self._mesh.size if self._mesh else 1)
        count = min(slots or self.at_once * len(seating), share * len(seating))
        sits = np.searchsorted(self._which, np.asarray(same))[self.seating]
        batch = _Batch(env, different, sits, share, count, moves, self._mesh is not None)
        self._start, self._advance = _programs(batch, self._mesh)
        self.is_compiled = False

    def compile(self, params: list[Any] | None = None) -> None:
        """Compile everything, once; `params` replace the entries' own parameters."""
        if self.is_compiled:
            return
        key, first = jax.random.key(0), jnp.int32(0)
        pool, slots = self._start.eval_shape(key, first)
        self._start = self._start.lower(key, first).compile()
        args = (self._placed(params), key, first, pool, slots)
        self._advance = self._advance.lower(*args).compile()
        self.is_compiled = True

    def play(
        self,
        seed: int,
        params: list[Any] | None = None,
        progress: Progress = lambda ended: None,
        setups: range | None = None,
        save: Callable[[int, Games], object] = lambda first, games: None,
    ) -> Games:
        """Play games, batch by batch; the rows of all.

        Args:
            seed: of the set-ups and the games.
            params: replace the entries' own parameters.
            progress: called repeatedly with the number of finished games.
            setups: numbers of set-ups; None: all. If an agent draws for a whole batch, they must
                begin with the first of a batch.
            save: called with each batch and the number of its first set-up.
        """
        parts, rotations, setups = [], len(self.seating), setups or self.setups
        for first in setups[:: self.at_once]:
            before, left = first - setups.start, setups.stop - first

            def report(ended: int, before: int = before, left: int = left) -> None:
                progress(before * rotations + min(ended, left * rotations))

            games = self.play_batch(seed, first, params, report).slice(0, left)
            save(first, games)
            parts.append(Games(**games.rows()))
        return table.join(parts)

    def play_batch(
        self,
        seed: int,
        first: int,
        params: list[Any] | None = None,
        progress: Progress = lambda ended: None,
    ) -> Games:
        """The games of `at_once` set-ups from number `first` on; see `play`."""
        self.compile(params)
        start_time, params, at = time.monotonic(), self._placed(params), jnp.int32(first)
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), EVALUATION))
        (pool, slots), ended = self._start(keys[0], at), 0
        shape = (self.at_once, len(self.seating))
        while ended < shape[0] * shape[1]:
            slots, count = self._advance(params, keys[1], at, pool, slots)
            ended = int(np.sum(jax.device_get(count)))
            progress(ended)
        ended_games, setups = jax.device_get(
            (slots.results, pool.game.setup if self._moves else None)
        )
        columns = jax.tree.map(
            lambda x: x.reshape(*shape, *x.shape[1:]), ended_games | {"setups": setups}
        )
        if not self._moves:
            columns["actions"] = None
        seats = np.broadcast_to(self.seating, (*shape, self.seating.shape[1]))
        seconds = np.full(shape, (time.monotonic() - start_time) / np.prod(shape))
        return Games(entry=seats, seconds=seconds, **columns)

    def _placed(self, params: list[Any] | None) -> list[Any]:
        """The agents' parameters, from those of the entries, on every device that plays."""
        entry_params = [(params or self._params)[entry] for entry in self._which]
        if self._mesh is None:
            return entry_params
        placed: list[Any] = jax.device_put(entry_params, NamedSharding(self._mesh, P()))
        return placed


def _programs(batch: _Batch, mesh: Mesh | None) -> tuple[Any, Any]:
    """`_Batch.start` and `_Batch.advance` to compile, on one device or on those of a mesh."""
    if mesh is None:
        return jit_fast_compile(batch.start), jax.jit(batch.advance, donate_argnums=4)
    start = on_devices(batch.start, mesh, P(), P())
    advance = on_devices(batch.advance, mesh, P(), P(), P(), P(GAMES), P(GAMES))
    replicated, split = NamedSharding(mesh, P()), NamedSharding(mesh, P(GAMES))
    placed: dict[str, Any] = {
        "in_shardings": (replicated, replicated, replicated, split, split),
        "out_shardings": split,
    }
    return (
        jit_fast_compile(start, in_shardings=(replicated, replicated), out_shardings=split),
        jax.jit(advance, donate_argnums=4, **placed),
    )


def batch_sizes(
    setups: int, rotations: int, games_at_once: int, devices: int | None
) -> tuple[int, int]:
    """The set-ups of a batch, and with those that make the shares of the devices equal.

    Batches are of equal size, so that the last one is not played for a few set-ups, unless they
    would have fewer than LEAST_BATCH games.

    Args:
        games_at_once: maximum number of games in a batch.
        devices: `max_devices`.
    """
    largest = min(setups, max(games_at_once // rotations, 1))
    if devices is None:
        return largest, largest
    equal = -(-setups // -(-setups // largest))
    batch = max(equal, min(largest, LEAST_BATCH // rotations))
    count = playing_devices(batch * rotations, devices)
    return batch, -(-batch // count) * count


def max_devices(agents: Sequence[Agent]) -> int | None:
    """The most devices that may share a batch; None: an agent draws for a batch, which stays whole.

    Several processes play on one device each.
    """
    if not all(agent.by_game for agent in agents):
        return None
    return 1 if jax.process_count() > 1 else jax.device_count()


def split_cpu_for(games: int, rotations: int, games_at_once: int) -> None:
    """Split the CPU into the devices that share a batch of a match. Call it before any array."""
    batch, _ = batch_sizes(-(-games // rotations), rotations, games_at_once, 1)
    games = batch * rotations
    split_cpu(playing_devices(games, cores()), games)


def mesh_of(agents: list[Agent], setups: int, rotations: int) -> Mesh | None:
    """The devices that share the set-ups of a batch; None if one plays them all.

    The shares are equal, with at least `LEAST_GAMES` games each.
    """
    count = shares(setups, rotations, max_devices(agents) or 1)
    return None if count == 1 else first_devices(count)


def _widest(agents: list[Agent], games: int) -> int:
    """The largest batch that an agent plays ahead; 0 if none does."""
    return max((agent.slots(games) for agent in agents if agent.slots), default=0)


def replace_illegal(action: Array, mask: Array) -> tuple[Array, Array]:
    """Replace illegal actions (B,) by the first legal one; also returns which were illegal (B,).

    The game continues for the other seats; the seat that moved illegally is ranked last.
    The environment would end the game, which favours the leading seat.
    """
    inside = (action >= 0) & (action < mask.shape[1])
    is_legal = jnp.take_along_axis(mask, jnp.where(inside, action, 0)[:, None], axis=1)[:, 0]
    illegal = ~(inside & is_legal)
    return jnp.where(illegal, jnp.argmax(mask, axis=1).astype(jnp.int32), action), illegal


def decide(
    agent: Agent, params: Any, state: Any, own: Array, keys: Array, agents: int, action: Array
) -> Array:
    """`action` (B,) with the decisions of one agent in its games.

    Args:
        own: (B,) bool, the games where it decides.
        keys: (B,), of this decision in each game.
        agents: the number of agents: each is called on that fraction of the batch at a time.
    """
    mask = state.legal_action_mask
    batch, number = mask.shape

    def only(mask: Array, own: Array) -> Array:
        """One legal action where another agent decides."""
        first = jnp.arange(number) == jnp.argmax(mask, axis=-1)[:, None]
        return jnp.where(own[:, None], mask, first)

    def draws(keys: Array) -> Array:
        return keys if agent.by_game else keys[0]

    if agent.cheap_when_forced or agents == 1:
        return jnp.where(own, agent.act(params, state, only(mask, own), draws(keys)), action)

    def chunk(live: Array, rows: tuple[Any, Array, Array]) -> Array:
        states, mask, keys = rows
        return agent.act(params, states, only(mask, live), draws(keys))

    decided: Array = in_chunks(chunk, -(-batch // agents), own, action, (state, mask, keys))
    return decided

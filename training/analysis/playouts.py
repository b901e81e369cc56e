"""Play positions out: a given first action, then one agent at all seats.

Playouts of one position with the same sample number draw the same random numbers at each decision.
Two actions with the same effect therefore end alike; others soon diverge (docs/lab/review.md).

Playouts use short turns (`gaia_jax.make`) if the environment supports them: no conversion follows
a main action, and no decision ends a turn. `recorded_game.whole_moves` restores the ends of turns.
A start position after a main action is an exception: one conversion may still be its first action.

In a solo game a playout starts with the Automa's unseen cards drawn again, by position and sample.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..agents import Agent
from ..agents.base import redraw_hidden
from ..games.slots import Slots, on_devices, over, play_stride, refill, store_results
from ..system.batched import one_row, step_among, take_rows
from ..system.devices import GAMES, LEAST_GAMES, first_devices
from ..system.environments import with_short_turns
from ..types import Environment, EnvState, Params
from .actions import decision_note

SLOTS = 256  # simultaneous playouts on each device: the network's data fit in a core's cache
OPENING_MOVES = 192  # stored actions that hold the set-up and rounds 1 and 2
# Folded into the seed: random numbers that neither training nor evaluation uses.
PLAYOUT_STREAM = 0x0FF
# Of `shared_playouts`: a hint fills the slots; reviews and advice rarely exceed these numbers of
# positions and jobs.
SHARED_SLOTS, SHARED_LEAST = 32, (512, 4096)


class Jobs(NamedTuple):
    """J playouts, started in this order."""

    position: np.ndarray  # (J,) index of the start position
    action: np.ndarray  # (J,) the first action, a legal one; -1: the agent chooses it
    sample: np.ndarray  # (J,) jobs of the same position and sample draw the same random numbers


class Ends(NamedTuple):
    """The results of J playouts; those that Ctrl-C interrupted have `ended` False."""

    vp: np.ndarray  # (J, P) int16
    # (J, M) int16, the first actions after `Jobs.action`, then -1; without ends of turns, which
    # `recorded_game.whole_moves` adds.
    moves: np.ndarray
    ended: np.ndarray  # (J,) bool
    sources: np.ndarray  # (J, P, K) int16, VP by source
    notes: np.ndarray  # (J, M) int16, result of `note` at the position of each of `moves`

    def at(self, index: Any) -> Ends:
        """The results at an index of all arrays."""
        return Ends(*(x[index] for x in self))


Note = Callable[[EnvState], Array]  # of B states: (B,)


class Candidates(NamedTuple):
    """K first actions at one position, each played out with the same random numbers."""

    position: int  # index of the start position
    actions: Sequence[int] | np.ndarray  # (K,) legal ones; -1: the agent chooses it
    samples: range  # the n values of `Jobs.sample`


def jobs_of(candidates: Sequence[Candidates]) -> Jobs:
    """The n playouts of each action, in this order."""
    jobs = [(own, int(action)) for own in candidates for action in own.actions]
    lengths = [len(own.samples) for own, _ in jobs]
    return Jobs(
        np.repeat([own.position for own, _ in jobs], lengths),
        np.repeat([action for _, action in jobs], lengths),
        np.concatenate([np.array(own.samples) for own, _ in jobs]),
    )


def split_ends(ends: Ends, candidates: Sequence[Candidates]) -> list[Ends]:
    """The results of `jobs_of` for each of the candidates, as arrays (K, n, ...)."""
    counts = [len(own.actions) * len(own.samples) for own in candidates]
    parts = zip(*(np.split(x, np.cumsum(counts)[:-1]) for x in ends), strict=True)
    return [
        Ends(*(x.reshape(len(own.actions), len(own.samples), *x.shape[1:]) for x in part))
        for own, part in zip(candidates, parts, strict=True)
    ]


def join_ends(parts: Sequence[Ends]) -> Ends:
    """Several results as one, along the first axis of their arrays."""
    return Ends(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@dataclasses.dataclass(frozen=True, eq=False)
class _Device:
    """The playouts of one device."""

    env: Environment
    agent: Agent
    slots: int  # B
    moves: int  # M
    note: Note | None

    def begin(self, key: Array, pool: EnvState, jobs: Jobs, total: Array) -> Slots:
        """The first playouts in the slots."""
        batch, count = self.slots, len(jobs.action)
        state = jax.tree.map(lambda x: jnp.broadcast_to(x[:1], (batch, *x.shape[1:])), pool)
        kinds = pool.game.players.vp_source.shape[1:]
        results = {
            "vp": jnp.zeros((count, *kinds[:1]), jnp.int16),
            "moves": jnp.full((count, self.moves), -1, jnp.int16),
            "ended": jnp.zeros(count, bool),
            "sources": jnp.zeros((count, *kinds), jnp.int16),
            "notes": jnp.full((count, self.moves if self.note else 0), -1, jnp.int16),
        }
        zero = jnp.zeros(batch, jnp.int32)
        empty = Slots(state, zero + count, zero, zero - 1, jnp.zeros(1, jnp.int32), results)
        return self.refill(key, pool, jobs, total, empty)

    def keys(self, key: Array, jobs: Jobs, job: Array) -> Array:
        """(B,) the keys of B jobs."""
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, jobs.position[job])
        return jax.vmap(jax.random.fold_in)(keys, jobs.sample[job])

    def refill(self, key: Array, pool: EnvState, jobs: Jobs, total: Array, slots: Slots) -> Slots:
        """Start the next playouts in the slots whose playouts have ended."""

        def start(job: Array) -> tuple[Any, Array]:
            state = jax.tree.map(lambda x: x[jobs.position[job]], pool)
            state = redraw_hidden(self.env, state, self.keys(key, jobs, job))
            return state, jobs.action[job]

        return refill(slots, total[0], start)

    def step(self, params: Params, keys: Array, slots: Slots) -> Slots:
        """One decision in every slot.

        Args:
            keys: (B,) of the playouts in the slots.
            slots: their `own` is (B,) `Jobs.action` until it is played, then -1.
        """
        keys = jax.vmap(jax.random.fold_in)(keys, slots.clock)
        mask = slots.state.legal_action_mask
        key = keys if self.agent.by_game else keys[0]
        agent_action = self.agent.act(params, slots.state, mask, key)
        action = jnp.where(slots.own >= 0, slots.own, agent_action)
        results = slots.results
        moves, notes = results["moves"], results["notes"]
        if self.moves:
            is_stored = ~over(slots.state) & (slots.clock > 0)  # `moves` begins after `Jobs.action`
            column = jnp.where(is_stored, slots.clock - 1, self.moves)
            moves = moves.at[slots.job, column].set(action.astype(jnp.int16), mode="drop")
            if self.note:
                note = self.note(slots.state).astype(jnp.int16)
                notes = notes.at[slots.job, column].set(note, mode="drop")
        lookahead_rows = self.agent.slots(self.slots) if self.agent.slots else 0
        return slots._replace(
            state=step_among(self.env, lookahead_rows, slots.state, action),
            own=jnp.full_like(slots.own, -1),
            clock=slots.clock + 1,
            results=results | {"moves": moves, "notes": notes},
        )

    def advance(
        self, params: Params, key: Array, pool: EnvState, jobs: Jobs, total: Array, slots: Slots
    ) -> tuple[Slots, Array]:
        """Play `games.slots.STRIDE` decisions in every slot, then start the next playouts.

        Returns:
            The slots; (1,) the number of ended playouts.
        """
        at = jnp.minimum(slots.job, len(jobs.action) - 1)
        keys = self.keys(key, jobs, at)
        slots = play_stride(partial(self.step, params, keys), slots)
        players = slots.state.game.players
        ends = {
            "vp": players.vp.astype(jnp.int16),
            "sources": players.vp_source.astype(jnp.int16),
            "ended": jnp.ones(self.slots, bool),
        }
        slots = self.refill(key, pool, jobs, total, store_results(slots, ends))
        return slots, slots.num_ended


class Playouts:
    """Plays positions out with one agent; compiled once for each size of a request."""

    def __init__(
        self,
        env: Environment,
        agent: Agent,
        moves: int = 0,
        slots: int = SLOTS,
        note: Note | None = None,
        least: tuple[int, int] = (1, 1),
    ):
        """
        Args:
            moves: M, the number of stored actions of a playout.
            slots: on each device, at most.
            note: an int16 to store with each of them, from the position before it.
            least: numbers of positions and of jobs to which smaller requests are padded, so that
                they share one program.
        """
        self.env = with_short_turns(env, True)
        self.agent, self._moves, self._max_slots = agent, moves, slots
        self._note, self._least = note, least
        self._programs: dict[tuple[int, int], tuple[Any, Any, Any]] = {}

    def play(
        self,
        states: EnvState,
        jobs: Jobs,
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
        capacity: int = 0,
    ) -> Ends:
        """Play J jobs to the end of their games. Ctrl-C gives what has ended until then.

        Args:
            states: N positions, each before a decision.
            progress: called repeatedly with the number of finished playouts.
            capacity: compile for at least this many jobs, for larger requests later.
        Raises:
            ValueError: there is no job.
        """
        count = len(jobs.action)
        if not count:
            raise ValueError("nothing to play out")
        least_positions, least_jobs = self._least
        capacity = max(count, capacity, least_jobs)
        devices = (
            min(jax.device_count(), max(capacity // LEAST_GAMES, 1)) if self.agent.by_game else 1
        )
        share = _power_of_two(-(-capacity // devices))
        begin, advance, put_on_devices = self._program(devices, min(share, self._max_slots))
        # Jobs of early positions take longer and usually come first. Device d therefore plays the
        # jobs d, d + devices, ...: each device has as many long ones.
        job_of_row = np.arange(share * devices).reshape(share, devices).T.ravel()
        padded = Jobs(*(x[job_of_row % len(x)].astype(np.int32) for x in jobs))
        total = np.array([len(range(d, count, devices)) for d in range(devices)], np.int32)
        positions = len(states.current_player)
        size = _power_of_two(max(positions, least_positions))
        pool = take_rows(states, np.minimum(np.arange(size), positions - 1))
        key = jax.random.fold_in(jax.random.key(seed), PLAYOUT_STREAM)
        params, key, pool, padded, total = put_on_devices(
            self.agent.params, key, pool, padded, total
        )
        slots, ended = begin(key, pool, padded, total), 0
        try:
            while ended < count:
                slots, ended_by_device = advance(params, key, pool, padded, total, slots)
                ended = int(np.sum(jax.device_get(ended_by_device)))
                progress(ended)
        except KeyboardInterrupt:
            if not ended:
                raise
        row_of_job = np.argsort(job_of_row, kind="stable")[:count]
        return Ends(*(np.asarray(slots.results[name])[row_of_job] for name in Ends._fields))

    def prepare(self, state: EnvState) -> None:
        """Compile the program of the smallest requests, with a game that is over.

        Args:
            state: any state of the environment.
        """
        states: Any = one_row(state)
        over_states = states.replace(terminated=np.ones(1, bool))
        self.play_candidates(over_states, [Candidates(0, [-1], range(1))])

    def release(self) -> None:
        """Drop the compiled programs; the next request compiles them again or loads them."""
        self._programs.clear()

    def play_candidates(
        self,
        states: EnvState,
        candidates: Sequence[Candidates],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
        capacity: int = 0,
    ) -> list[Ends]:
        """Play out candidates; arguments as of `play`, results as of `split_ends`."""
        ends = self.play(states, jobs_of(candidates), seed, progress, capacity)
        return split_ends(ends, candidates)

    def _program(self, devices: int, slots: int) -> tuple[Any, Any, Any]:
        if (devices, slots) not in self._programs:
            device = _Device(self.env, self.agent, slots, self._moves, self._note)
            self._programs[devices, slots] = _programs(device, first_devices(devices))
        return self._programs[devices, slots]


def shared_playouts(env: Environment, agent: Agent) -> Playouts:
    """Playouts whose single program serves hints, checks of moves, reviews and advice.

    It stores `OPENING_MOVES` actions and their `decision_note`.
    """
    return Playouts(env, agent, OPENING_MOVES, SHARED_SLOTS, decision_note, least=SHARED_LEAST)


def _programs(device: _Device, mesh: Mesh) -> tuple[Any, Any, Any]:
    """`begin`, `advance`, and the function that puts their arguments on the devices of the mesh."""
    begin = on_devices(device.begin, mesh, P(), P(), P(GAMES), P(GAMES))
    advance = on_devices(device.advance, mesh, P(), P(), P(), P(GAMES), P(GAMES), P(GAMES))
    replicated, split = NamedSharding(mesh, P()), NamedSharding(mesh, P(GAMES))

    def put_on_devices(
        params: Params, key: Array, pool: EnvState, jobs: Jobs, total: np.ndarray
    ) -> Any:
        return jax.device_put(
            (params, key, pool, jobs, total), (replicated, replicated, replicated, split, split)
        )

    return jax.jit(begin), jax.jit(advance), put_on_devices


def _power_of_two(count: int) -> int:
    """The least power of two >= count, which keeps the number of compiled sizes low."""
    return 1 << max(count - 1, 0).bit_length()

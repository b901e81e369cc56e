"""Many games side by side: every agent decides where it is its turn, on one device or on several.

Where its agents draw by game, a game depends on its number alone: neither on the games beside it
nor on the device that plays it, up to the rounding of networks in batches of another size.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from training.agents import Agent
from training.search.keys import fold_in
from training.system.batched import step_among
from training.system.devices import GAMES, first_devices, shares
from training.system.fast_compile import jit_once

STRIDE = 16  # decisions of every game between two looks from outside


class _Carry(NamedTuple):
    """Games under way, B = S * R."""

    state: Any
    decisions: Array  # (B,) int32, since the start of the batch
    counted: Array  # (B, P, W) int32
    decided: Array  # (B, P) int32
    illegal: Array  # (B, P) int32
    played: Array  # (B, L) int16, the actions, where records are written; else L is 0


def over(state: Any) -> Array:
    """(B,) bool, which games have ended."""
    return state.terminated | state.truncated


@dataclasses.dataclass(frozen=True, eq=False)
class _Batch:
    """The games that one device plays: each of its set-ups once for each rotation."""

    env: Any
    agents: list[Agent]
    seating: np.ndarray  # (R, P)
    setups: int
    counted_actions: np.ndarray  # (W, A) bool
    longest: int  # decisions of a game that are written down
    shared: bool  # with other devices, each with its own set-ups

    @property
    def sits(self) -> np.ndarray:
        """(B, P), the agent in each seat of each game."""
        return np.tile(self.seating, (self.setups, 1))

    def own_first(self, first: Array) -> Array:
        """The number of this device's first set-up, from that of all devices."""
        return first + self.setups * jax.lax.axis_index(GAMES) if self.shared else first

    def start(self, setup_key: Array, first: Array) -> _Carry:
        """The games before their first decision."""
        batch, players = self.sits.shape
        number = self.own_first(first) + jnp.arange(self.setups)
        setup_keys = jax.vmap(jax.random.fold_in, (None, 0))(setup_key, number)
        # One key draws the whole set-up and nothing is random afterwards: R equal games.
        state = jax.vmap(self.env.init)(jnp.repeat(setup_keys, len(self.seating)))
        none = jnp.zeros((batch, players), jnp.int32)
        counted = jnp.zeros((*none.shape, len(self.counted_actions)), jnp.int32)
        played = jnp.zeros((batch, self.longest), jnp.int16)
        return _Carry(state, jnp.zeros(batch, jnp.int32), counted, none, none, played)

    def step(self, params: list[Any], game_keys: Array, carry: _Carry) -> _Carry:
        """One decision in every game."""
        state, (batch, players) = carry.state, self.sits.shape
        games = np.arange(batch)
        turn = jnp.where(over(state), -1, jnp.asarray(self.sits)[games, state.current_player])
        # All games that go on have made equally many.
        keys = fold_in(game_keys, carry.decisions.max())
        action = jnp.zeros(batch, jnp.int32)
        for number, (agent, own) in enumerate(zip(self.agents, params, strict=True)):
            action = decide(agent, own, state, turn == number, keys, len(self.agents), action)
        here = (jnp.arange(players) == state.current_player[:, None]) & (turn >= 0)[:, None]
        action, illegal = replace_illegal(action, state.legal_action_mask)
        seen = jnp.asarray(self.counted_actions)[:, action].T  # (B, W)
        played = carry.played
        if self.longest:
            place = jnp.where(turn >= 0, carry.decisions, self.longest)
            played = played.at[games, place].set(action.astype(jnp.int16), mode="drop")
        return _Carry(
            step_among(self.env, _lanes(self.agents, batch), state, action),
            carry.decisions + (turn >= 0),
            carry.counted + (here[:, :, None] & seen[:, None]),
            carry.decided + here,
            carry.illegal + (here & illegal[:, None]),
            played,
        )

    def advance(
        self, params: list[Any], play_key: Array, first: Array, carry: _Carry
    ) -> tuple[_Carry, Array]:
        """STRIDE decisions in every game, fewer when all have ended; (1,) how many have ended.

        No device waits for another here: one with longer games may take minutes more.
        """
        number = self.own_first(first) * len(self.seating) + np.arange(len(self.sits))
        keys = jax.vmap(jax.random.fold_in, (None, 0))(play_key, number)
        _, carry = jax.lax.while_loop(
            lambda c: (c[0] < STRIDE) & ~over(c[1].state).all(),
            lambda c: (c[0] + 1, self.step(params, keys, c[1])),
            (jnp.int32(0), carry),
        )
        return carry, over(carry.state).sum()[None]


def make_batch(
    env: Any,
    agents: list[Agent],
    seating: np.ndarray,
    setups: int,
    counted_actions: np.ndarray,
    longest: int,
    mesh: Mesh | None,
) -> tuple[Any, Any]:
    """The start of a batch of set-ups, and some decisions in all its games; not compiled yet.

    Args:
        seating: (R, P), which agent sits where in each rotation.
        setups: S, on all devices together; B = S * R games.
        counted_actions: (W, A) bool, sets of actions to count.
        longest: decisions of a game that are written down.
        mesh: the D devices that share the set-ups, of `mesh_of`; None: one plays them all.
    Returns:
        (key of the set-ups, number of the first one) -> games, and (the agents' parameters, key of
        the play, number of the first set-up, games) -> games, how many have ended on each device
        (D,).
    """
    share = setups if mesh is None else setups // mesh.size
    batch = _Batch(env, agents, seating, share, counted_actions, longest, mesh is not None)
    if mesh is None:
        return jit_once(batch.start), jax.jit(batch.advance)
    # check_vma: the environment's kernels on demand (custom_vmap) cannot state how they vary.
    map_ = partial(jax.shard_map, mesh=mesh, out_specs=P(GAMES), check_vma=False)
    start = map_(batch.start, in_specs=(P(), P()))
    advance = map_(batch.advance, in_specs=(P(), P(), P(), P(GAMES)))
    one, split = NamedSharding(mesh, P()), NamedSharding(mesh, P(GAMES))
    return (
        jit_once(start, in_shardings=(one, one), out_shardings=split),
        jax.jit(advance, in_shardings=(one, one, one, split), out_shardings=split),
    )


def mesh_of(agents: list[Agent], setups: int, rotations: int) -> Mesh | None:
    """The devices that share the set-ups of a batch; None where one plays them all.

    As many as the set-ups fall into equal shares for, of at least `LEAST_GAMES` games each. Of
    several processes each plays on one device. An agent that draws for a whole batch would draw
    otherwise for each share of it, so with one of these nothing is shared.
    """
    if jax.process_count() > 1 or not all(agent.by_game for agent in agents):
        return None
    count = shares(setups, rotations, jax.device_count())
    return None if count == 1 else first_devices(count)


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

"""Whole games by a policy of weights, many at once, watched decision by decision.

`play_statistics` and `coverage` are played with this. A policy is a table: how
many times each action counts at each node. A legal action is drawn in proportion.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.actions import PLANES
from gaia_jax.env import GaiaEnv, State
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import NODES, Setup
from gaia_jax.testing import sample_legal
from gaia_jax.xla.struct import pytree

# More decisions than a game of any policy here takes.
LONGEST = 4096
# Distances to the nearest own structure that a policy tells apart; the last one is "or more".
DISTANCES = 8
# What a cell's weight is multiplied by that touches an own federation, and one that does not.
ALIKE = ((1,) * DISTANCES, (1,) * DISTANCES)
# How often a faction has the taste of its own.
OWN = 0.75
# Terraforming steps that a policy tells apart.
STEPS = 4


@dataclass(frozen=True)
class Policy:
    """How many times an action counts in the draw.

    `weights` are by "NODE: text", "NODE: verb", "text" or "verb"; the first of these that is there
    counts, and `other` where none is. Each of `tastes` changes some of them; every seat of a game
    has one taste, drawn at the start; a faction in `own` has that one in three games of four. A
    faction of `seated` sits in so many games as it says, of all of `seated` together; "" leaves
    the set-up as it is drawn. `near` are factors of the cells of `mine`, `upgrade` and
    `pick`, by distance from the nearest own structure: of cells beside an own federation, and of
    the others. `cheap` are factors of the same cells by the terraforming steps that the planet
    needs; of planets that need none, or something else, the first.
    """

    name: str
    weights: dict[str, int] = field(default_factory=dict)
    other: int = 1
    tastes: tuple[dict[str, int], ...] = ({},)
    own: dict[str, dict[str, int]] = field(default_factory=dict)
    seated: dict[str, int] = field(default_factory=lambda: {"": 1})
    near: tuple[tuple[int, ...], tuple[int, ...]] = ALIKE
    cheap: tuple[int, ...] = (1,) * STEPS

    def tables(self, rules: Ruleset, tastes: int = 1) -> Tables:
        """The policy as arrays for one ruleset.

        Args:
            rules: the ruleset.
            tastes: T at least, the first one over again: T decides the compilation.
        Raises:
            ValueError: a name that is no node, verb or action.
        """
        every = (*self.tastes, *self.own.values())
        rows = [self._rows(rules, self.weights | taste) for taste in every]
        rows += rows[:1] * (tastes - len(rows))
        ids = rules.ids["faction"]
        own = [list(self.own).index(x) + len(self.tastes) if x in self.own else -1 for x in ids]
        seated = [self.seated.get(x, 0) for x in (*ids, "")]
        return Tables(
            weights=jnp.array(np.stack(rows), jnp.int32),
            drawn=jnp.int32(len(self.tastes)),
            own=jnp.array(own, jnp.int32),
            seated=jnp.array(seated, jnp.int32),
            near=jnp.array(self.near, jnp.int32),
            cheap=jnp.array(self.cheap, jnp.int32),
        )

    def _rows(self, rules: Ruleset, weights: dict[str, int]) -> np.ndarray:
        texts = rules.actions.texts
        known = {*texts, *(text.split()[0] for text in texts)}
        for name in weights:
            node, _, action = name.rpartition(": ")
            if node not in ("", *NODES) or action not in known:
                raise ValueError(f"policy {self.name}: {name!r} is no node and action")
        out = np.full((len(NODES), len(texts)), self.other)
        for i, node in enumerate(NODES):
            for j, text in enumerate(texts):
                verb = text.split()[0]
                for name in (f"{node}: {text}", f"{node}: {verb}", text, verb):
                    if name in weights:
                        out[i, j] = weights[name]
                        break
        return out


@pytree
class Tables:
    """A policy as arrays: T tastes, N nodes, A actions, F factions. No weight is below 1."""

    weights: Array  # (T, N, A) int32
    drawn: Array  # () int32, so many tastes are drawn; the rest are factions' own
    own: Array  # (F,) int32, the taste of a faction, -1 none
    seated: Array  # (F + 1,) int32, weights of the factions to be seated; the last one is nobody
    near: Array  # (2, DISTANCES) int32: beside an own federation, elsewhere
    cheap: Array  # (STEPS,) int32

    def deal(self, rules: Ruleset, setup: Setup, key: Array) -> tuple[Setup, Array]:
        """The set-up with a faction of `seated` in it, and the taste of each seat, (P,) int32.

        It takes the seat of the other side of its board, or the first seat (SET-10).
        """
        players = rules.players
        draw = jax.random.uniform(key, (2 * players + 1,))
        board = jnp.array([x.board for x in rules.factions] + [-1], jnp.int32)
        guest = sample_legal(self.seated, draw[-1])
        faction = setup.faction.astype(jnp.int32)
        seat = jnp.argmax(board[faction] == board[guest])
        seats = (jnp.arange(players) == seat) & (guest < len(rules.factions))
        faction = jnp.where(seats, guest, faction)
        taste = jnp.minimum((draw[:players] * self.drawn).astype(jnp.int32), self.drawn - 1)
        own = self.own[faction]
        taste = jnp.where((own >= 0) & (draw[players:-1] < OWN), own, taste)
        faction = faction.astype(setup.faction.dtype)
        return dataclasses.replace(setup, faction=faction), taste

    def choose(self, rules: Ruleset, state: State, taste: Array, uniform: Array) -> Array:
        """A legal action drawn by the weights.

        Args:
            rules: the ruleset of the game.
            state: one state.
            taste: (P,) int32, 0 .. T-1, of each seat.
            uniform: () float32 in [0, 1).
        Returns:
            () int32.
        """
        board, player = state.game.board, state.current_player
        weights = self.weights[taste[player], state.game.turn.node.astype(jnp.int32)]
        own = (board.federation_bits.astype(jnp.int32) >> player) & 17 != 0
        padded = jnp.concatenate([own, jnp.zeros(1, bool)])
        beside = padded[rules.geometry.neighbors].any(-1)
        distance = jnp.minimum(board.distance_to_own[player].astype(jnp.int32), DISTANCES - 1)
        near = self.near[jnp.where(beside, 0, 1), distance]
        steps = state.game.steps[player][board.planet.astype(jnp.int32)]
        near *= self.cheap[jnp.clip(steps.astype(jnp.int32), 0, STEPS - 1)]
        ones = jnp.ones_like(near)
        planes = [ones if plane == "project" else near for plane in PLANES]
        rest = jnp.ones(weights.shape[0] - len(PLANES) * near.shape[0], jnp.int32)
        weights = weights * jnp.concatenate([*planes, rest])
        return sample_legal(jnp.where(state.legal_action_mask, weights, 0), uniform)


UNIFORM = Policy("uniform")


class Watch(Protocol):
    """What is noted of games while they are played; both methods are traced."""

    def start(self, states: State) -> Any:
        """The record before the first decision of a batch."""

    def see(self, record: Any, before: State, action: Array, after: State, live: Array) -> Any:
        """The record after one decision in each of B games; `live` (B,) had not ended before it."""


class Nothing:
    """Watches nothing."""

    def start(self, states: State) -> tuple[()]:
        """Nothing."""
        return ()

    def see(
        self, record: tuple[()], before: State, action: Array, after: State, live: Array
    ) -> tuple[()]:
        """Nothing."""
        return ()


def play(
    env: GaiaEnv, batch: int, watch: Watch | None = None
) -> Callable[[Array, Tables], tuple[State, Array, Any]]:
    """A compiled function that plays `batch` games to their ends.

    It takes a key and the tables of a policy, and returns the final states [B], the decisions of
    each game (B,) int32 and the record of `watch`. Policies with the same number of tastes share
    one compilation.
    """
    seen: Watch = watch or Nothing()

    def games(key: Array, policy: Tables) -> tuple[State, Array, Any]:
        first, then = jax.random.split(key)
        setup = jax.vmap(env.draw_setup)(jax.random.split(first, batch))
        draws = jax.random.split(jax.random.fold_in(key, 1), batch)
        setup, taste = jax.vmap(lambda s, k: policy.deal(env.ruleset, s, k))(setup, draws)
        state = jax.vmap(env.init_from)(setup)

        def going(carry: Any) -> Array:
            state, count, i, _ = carry
            return ~(state.terminated | state.truncated).all() & (i < LONGEST)

        def one(carry: Any) -> Any:
            state, count, i, record = carry
            uniform = jax.random.uniform(jax.random.fold_in(then, i), (batch,))
            live = ~(state.terminated | state.truncated)
            choose = jax.vmap(lambda s, t, u: policy.choose(env.ruleset, s, t, u))
            action = choose(state, taste, uniform)
            after = jax.vmap(env.step)(state, action)
            record = seen.see(record, state, action, after, live)
            return after, count + live, i + 1, record

        start = state, jnp.zeros(batch, jnp.int32), jnp.int32(0), seen.start(state)
        state, count, _, record = jax.lax.while_loop(going, one, start)
        return state, count, record

    return jax.jit(games)


def broken(state: State) -> dict[str, int]:
    """Games in which something does not hold that must, by name of the invariant."""
    game = jax.tree.map(np.asarray, state.game)
    players, turn = game.players, game.turn
    held = players.power.sum(-1) + players.gaia_power
    caps = (players.credits <= 30) & (players.ore <= 15) & (players.knowledge <= 15)
    least = (players.credits >= 0) & (players.ore >= 0) & (players.knowledge >= 0)
    checks = {
        "ended in round 6": np.asarray(state.terminated) & (turn.round == 6),
        "not truncated": ~np.asarray(state.truncated),
        "VP are the sum of their sources": (players.vp == players.vp_source.sum(-1)).all(-1),
        "VP >= 0": (players.vp >= 0).all(-1),
        "resources within caps": (caps & least & (players.qic >= 0)).all(-1),
        "power tokens in range": ((players.power >= 0).all(-1) & (held < 100)).all(-1),
        "pieces within supply": (players.built <= [99, 8, 4, 3, 1, 1, 1]).all((-1, -2)),
        "satellites counted": (game.board.satellite.sum(-1) == players.satellites).all(-1),
        "one player on level 5 of a track": ((players.tracks == 5).sum(-2) <= 1).all(-1),
        "tracks in range": ((players.tracks >= 0) & (players.tracks <= 5)).all((-1, -2)),
    }
    return {name: int((~ok).sum()) for name, ok in checks.items() if not ok.all()}


def arguments(doc: str) -> argparse.ArgumentParser:
    """What every command asks that plays many games; `doc` is its docstring."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ruleset", default="lost_fleet")
    parser.add_argument("--players", type=int, default=4, help="2 and 3 for base alone")
    return parser

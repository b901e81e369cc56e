"""The environment over rules of three lines: its contract is tested without compiling the game."""

from __future__ import annotations

import dataclasses
import functools
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.env import GaiaEnv
from gaia_jax.observation import Observation
from gaia_jax.rules.setup import new_game
from gaia_jax.ruleset import LOST_FLEET, Ruleset
from gaia_jax.setup.draw import draw_setup
from gaia_jax.state import GameState, Node
from gaia_jax.testing.facts import facts


@functools.cache
def _games(ruleset: Ruleset) -> GameState:
    """A few real games before their first decision."""
    deal = jax.jit(jax.vmap(lambda key: new_game(ruleset, draw_setup(key, ruleset))))
    return jax.device_get(deal(jax.random.split(jax.random.key(0), 8)))


def one_game() -> GameState:
    """A game of lost_fleet before its first decision, numpy."""
    return jax.tree.map(lambda x: x[0], _games(LOST_FLEET))


@dataclasses.dataclass(frozen=True, repr=False)
class StubEnv(GaiaEnv):
    """Players decide in turn; an action a pays a % 3 VP; the game ends after `length` decisions.

    Every third action is legal, which ones changes with each decision. All games start from one of
    eight set-ups, but for `many_setups`.
    """

    ruleset: Any = LOST_FLEET
    length: int = 9
    many_setups: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _games(self.ruleset)  # here, where nothing is being traced

    def draw_setup(self, key: Array) -> Any:
        if self.many_setups:
            return super().draw_setup(key)
        index = jax.random.bits(key) % 8
        return jax.tree.map(lambda x: jnp.asarray(x)[index], _games(self.ruleset).setup)

    def deal(self, setup: Any) -> GameState:
        if self.many_setups:
            return super().deal(setup)
        games = _games(self.ruleset)
        same = (games.setup.sector_rotation == setup.sector_rotation).all(-1)
        game = jax.tree.map(lambda x: jnp.asarray(x)[jnp.argmax(same)], games)
        return game.replace(setup=setup)

    def observe(self, state: Any, player: Any) -> Observation:
        spec, cells = self.observation_spec, self.ruleset.geometry.num_cells
        values = facts(self.ruleset, state.game, self.seats(state, player))
        sizes = {"cells": (cells,), "players": (self.num_players,), "globals": ()}
        tables = {}
        for table, size in sizes.items():
            zero = jnp.zeros(size, jnp.int16)
            columns = [values[table].get(c.name, zero) for c in getattr(spec, table)]
            tables[table] = jnp.stack([x.astype(jnp.int16) for x in columns], axis=-1)
        return Observation(**tables | {"cells": tables["cells"].astype(jnp.int8)})

    def legal_mask(self, game: GameState) -> Array:
        """What `check` holds the masks of this game, and of its faulty sisters, against."""
        ended = game.turn.node == Node.ENDED
        return (jnp.arange(self.num_actions) % 3 == game.turn.setup_done % 3) | ended

    def _play(self, game: GameState, action: Array, active: Array) -> GameState:
        turn, players = game.turn, game.players
        clock, mover = turn.setup_done + 1, jnp.arange(self.num_players) == turn.player
        after = game.replace(
            players=players.replace(
                vp=players.vp + mover * (action % 3),
                vp_source=players.vp_source.at[:, 0].add((mover * (action % 3)).astype(jnp.int16)),
            ),
            turn=turn.replace(
                setup_done=clock,
                player=(turn.player + 1) % self.num_players,
                node=jnp.where(clock.astype(int) >= self.length, Node.ENDED, turn.node),
            ),
        )
        return jax.tree.map(lambda new, old: jnp.where(active, new, old), after, game)


def _know_nothing(params: Any, observation: Any, mask: Array) -> tuple[Array, Array]:
    return jnp.where(mask, 0.0, -1e9), jnp.zeros((len(mask), 4))


def blank_agent(env: Any, name: str) -> Any:
    """An agent whose network knows nothing: all logits and values are 0."""
    from training.agents.base import policy_agent

    return policy_agent(env, SimpleNamespace(apply=_know_nothing), (), name)

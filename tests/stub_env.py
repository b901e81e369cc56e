"""The environment over rules of three lines: its contract is tested without compiling the game."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.env import GaiaEnv
from gaia_jax.observation import Observation
from gaia_jax.rules.draw import draw_setup
from gaia_jax.rules.setup import new_game
from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.state import GameState, Node


@functools.cache
def _one_game() -> GameState:
    deal = jax.jit(lambda key: new_game(LOST_FLEET, draw_setup(key)))
    return jax.device_get(deal(jax.random.key(0)))


@dataclasses.dataclass(frozen=True, repr=False)
class StubEnv(GaiaEnv):
    """Players decide in turn; an action a pays a % 3 VP; the game ends after `length` decisions.

    Every third action is legal, which ones changes with each decision. All games start from one
    set-up, but for `many_setups`.
    """

    ruleset: Any = LOST_FLEET
    length: int = 9
    many_setups: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_game()  # here, where nothing is being traced

    def draw_setup(self, key: Array) -> Any:
        if self.many_setups:
            return super().draw_setup(key)
        return jax.tree.map(jnp.asarray, _one_game().setup)

    def deal(self, setup: Any) -> GameState:
        if self.many_setups:
            return super().deal(setup)
        return jax.tree.map(jnp.asarray, _one_game())

    def observe(self, state: Any, player: Any) -> Observation:
        spec = self.observation_spec
        return Observation(
            jnp.zeros((self.ruleset.geometry.num_cells, len(spec.cells)), jnp.int8),
            jnp.zeros((self.num_players, len(spec.players)), jnp.int16),
            jnp.zeros(len(spec.globals), jnp.int16),
        )

    def _play(self, game: GameState, action: Array, plays: Array) -> GameState:
        turn, players = game.turn, game.players
        clock, here = turn.placed + 1, jnp.arange(self.num_players) == turn.player
        after = game.replace(
            players=players.replace(vp=players.vp + here * (action % 3)),
            turn=turn.replace(
                placed=clock,
                player=(turn.player + 1) % self.num_players,
                node=jnp.where(clock.astype(int) >= self.length, Node.ENDED, turn.node),
            ),
        )
        return jax.tree.map(lambda new, old: jnp.where(plays, new, old), after, game)

    def legal_mask(self, game: GameState) -> Array:
        ended = game.turn.node == Node.ENDED
        return (jnp.arange(self.num_actions) % 3 == game.turn.placed % 3) | ended

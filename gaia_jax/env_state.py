"""The state of an environment: a game, and what learners read next to it."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn, Self, TypeVar

import numpy as np
from jax import Array

from gaia_jax.state import GameState
from gaia_jax.xla.struct import pytree, static


@pytree
class State:
    """One game and what a learner needs to know of it. Nothing in it is random.

    Its arrays are those of one game, of A actions and S players who decide; `jax.vmap` of the
    environment's methods adds a leading axis to all of them. The game has rows for P players: in a
    solo game P = 2, with the Automa, and S = 1; in any other P = S.
    """

    # Users import it from there, and programs of `jax.export` store this name.
    __module__ = "gaia_jax.env"

    game: GameState
    current_player: Array  # () int32, who decides; of an ended game, who decided last
    legal_action_mask: Array  # (A,) bool; all True at the end of a game (A7)
    rewards: Array  # (S,) float32, of the last decision
    terminated: Array  # () bool, the game is over, or an illegal action ended it
    truncated: Array  # () bool, the guard of `max_steps` ended it
    step_count: Array  # () int32, decisions taken in this game
    ruleset: str = static()  # the variant's id; no leaf, part of the structure

    def replace(self, **changes: Any) -> Self:
        """A copy with the named fields changed.

        Raises:
            TypeError: an unknown name.
        """
        return dataclasses.replace(self, **changes)

    @property
    def observation(self) -> NoReturn:
        """None is kept, so that `step` costs no more: `env.observe(state, player)` makes one.

        `gaia_jax.adapters.pgx.PgxEnv` has states with `observation`, as pgx has them.

        Raises:
            AttributeError: always; the message names the call.
        """
        raise AttributeError(
            "a state keeps no observation: env.observe(state, state.current_player) makes one, "
            "and states of gaia_jax.adapters.pgx.PgxEnv have it"
        )

    def _repr_html_(self) -> str | None:
        """The table as a picture, in notebooks; a batch of states has none."""
        if np.ndim(self.current_player):
            return None
        from gaia_jax.render import svg  # few need it

        return svg(self)


StateT = TypeVar("StateT", bound=State)  # a state, and the subclass that it is of

"""Passing: which booster is taken (PAS-01, SET-13)."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.components import costs
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState, Node


def open_boosters(ruleset: Ruleset, game: GameState) -> Array:
    """(boosters,) bool, in play and without an owner (PAS-01)."""
    kinds = jnp.arange(len(ruleset.boosters))
    in_play = (kinds[:, None] == game.setup.boosters).any(-1)
    return in_play & ~(kinds[:, None] == game.players.booster).any(-1)


def options(seat: Seat) -> dict[str, Array]:
    """`booster`, ending the set-up or passing in rounds 1 to 5; `pass` in round 6."""
    my_turn, last = seat.at(Node.TURN), seat.game.turn.round == costs.ROUNDS
    takes_booster = seat.at(Node.BOOSTER) | my_turn & ~last
    return {
        "pass": (my_turn & last)[None],
        "booster": open_boosters(seat.ruleset, seat.game) & takes_booster,
    }

"""Power in and outside of federations at the end of a game.

Much power outside with few federations is a lack of clusters or of satellites; surplus power in
federations is what another federation could have used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import federation
from gaia_jax.rules.seat import Seat
from gaia_jax.state import PI, GameState


def federation_power(rules: Any) -> Callable[[Any], dict[str, Array]]:
    """A function of games (B,) that gives, (B, P) int32 by name:

    `satellites`: laid; `surplus_power`: power in federations above what they required (FED-09),
    with what joined them later; too much for Xenos who build their institute after a federation,
    which lowers the requirement counted for all of them; `unfederated_power`: power of all other
    structures and stations.
    It returns nothing for rules without an index of actions.
    """

    def of_player(game: GameState, player: Array) -> dict[str, Array]:
        seat = Seat.of(rules, game, player)
        value = federation.power_values(seat).astype(jnp.int32)
        outside = federation.unfederated(game, player)
        inside = federation.members(game, player) & ~outside
        board = seat.faction
        required = jnp.where(
            seat.me.built[PI] > 0, board.federation_requirement_pi, board.federation_requirement
        )
        return {
            "satellites": seat.me.satellites,
            "surplus_power": (value * inside).sum() - required * seat.me.formed,
            "unfederated_power": (value * outside).sum(),
        }

    def of_games(games: Any) -> dict[str, Array]:
        if not hasattr(rules, "actions"):
            return {}
        players = jnp.arange(games.players.vp.shape[-1])
        per_player = jax.vmap(of_player, in_axes=(None, 0))
        return jax.vmap(per_player, in_axes=(0, None))(games, players)

    return of_games

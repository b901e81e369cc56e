"""The set-up that the rulebook recommends for a first game: map and factions are given."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components.base_game import FIRST_FACTIONS, FIRST_ROTATION
from gaia_jax.ruleset import ruleset_of
from gaia_jax.setup.automa_draw import automa_choice
from gaia_jax.setup.draw import draw_setup
from gaia_jax.state import Setup
from gaia_jax.xla.jax_config import own_jax_config


@own_jax_config
def first_game(players: int = 4, key: Array | None = None, automa: str | None = None) -> Setup:
    """The rulebook's first game of `base`: tiles in the order of their numbers, given factions.

    Tiles, tokens, boosters and missions are drawn, as the rulebook has it.

    Args:
        players: 1 to 4.
        key: one key of `jax.random` for what is drawn; that of seed 0 where there is none.
        automa: for one player, the level of the Automa, which plays Taklons.
    Returns:
        Setup of one game, for `gaia_jax.make("base", players=players)`. Player 0 is the first.
    Raises:
        ValueError: another number of players, or an unknown level.
    """
    ruleset = ruleset_of("base", players)
    choice = automa_choice(ruleset, automa, None)
    drawn = draw_setup(jax.random.key(0) if key is None else key, ruleset, automa=choice)
    places = len(ruleset.map.sector_tiles)
    factions = [ruleset.ids["faction"].index(id) for id in FIRST_FACTIONS[players]]
    return drawn.replace(
        sector_tile=jnp.arange(places, dtype=jnp.int8),
        sector_rotation=jnp.full(places, FIRST_ROTATION, jnp.int8),
        faction=jnp.array(factions, jnp.int8),
        turn_order=jnp.arange(len(factions), dtype=jnp.int8),
    )

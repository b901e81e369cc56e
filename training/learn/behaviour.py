"""What a game that has ended says of how its players played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from training.types import Game, Rules


def behaviour_of(rules: Rules) -> Callable[[Any], dict[str, Array]]:
    """A function of ended games (B,) that gives the behaviour of their players, (B, P) by name.

    Of rules without an index of actions it tells the federations alone.
    """
    known = hasattr(rules, "actions")
    start = np.asarray(rules.tables.faction.start_tracks).sum(-1) if known else np.zeros(1)

    def popcount(bits: Array) -> Array:
        return ((bits[..., None].astype(jnp.int32) >> jnp.arange(31)) & 1).sum(-1)

    def read(game: Game) -> dict[str, Array]:
        p = game.players
        values = {
            "order": jnp.argsort(game.setup.turn_order, axis=-1) + 1,
            "federations": p.formed,
        }
        if known:
            own = jnp.asarray(start)[game.setup.faction.astype(jnp.int32)]
            values |= {
                "advanced_tiles": popcount(p.advanced),
                "research_steps": p.tracks.astype(jnp.int32).sum(-1) - own,
                "ships": popcount(p.shuttles),
                "artifacts": popcount(p.artifacts),
                "credits_left": p.credits,
                "ore_left": p.ore,
                "knowledge_left": p.knowledge,
                "qic_left": p.qic,
                "tokens_left": p.power.astype(jnp.int32).sum(-1) + p.gaia_power,
            }
        return {name: x.astype(jnp.int32) for name, x in values.items()}

    return read

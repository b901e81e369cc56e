"""The rules for the map of a set-up that was not drawn: what may touch, what must be there."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.components import planets
from gaia_jax.ruleset import Ruleset
from gaia_jax.setup.draw import board_planets, lacks_planets
from gaia_jax.setup.draw_tables import draw_tables
from gaia_jax.state import Setup

# One program: each operation outside of one is a program that takes about 1 MB.
_board_planets = jax.jit(board_planets, static_argnums=1)


def check_map(ruleset: Ruleset, setup: Setup) -> None:
    """Check the map that a set-up lays out (A23, PLA-10).

    Raises:
        ValueError: planets of one type touch across tiles, or a final mission lacks its planets.
    """
    laid = np.asarray(_board_planets(setup, ruleset))
    required = ruleset.map.required_planets
    if required and lacks_planets(jnp.asarray(laid), setup.final_missions, draw_tables(ruleset)):
        raise ValueError(
            f"deep: {required.mission} requires {required.number} {required.planet} on the map;"
            f" turn {required.side!r} over"
        )
    if ruleset.map.same_types_touch:
        return
    cells = [f"{q},{r}" for q, r in ruleset.geometry.cells.tolist()]
    for first, second in draw_tables(ruleset).across.tolist():
        planet = planets.PLANETS[laid[first]]
        if laid[first] == laid[second] and planet not in ("Empty", "Ship"):
            raise ValueError(
                f"sectors: {planet} on {cells[first]!r} touches {planet} on {cells[second]!r} of"
                " another tile; turn one of them"
            )

"""Tables of a ruleset for the scripted player, numpy arrays made once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from gaia_jax.components import costs
from gaia_jax.components.common import Gain
from gaia_jax.ruleset import GAIN_FIELDS, gain_vector

from ...types import Environment
from .weights import NEAR

# Planets that can carry a mine.
COLOURS = ("Red", "Orange", "Yellow", "Brown", "Black", "White", "Blue")


def make_tables(env: Environment) -> SimpleNamespace:
    """The arrays; C cells, F factions, G = 9 fields of a gain in the order of GAIN_FIELDS."""
    rules, t = env.ruleset, env.ruleset.tables
    ids = rules.ids
    planet = {name: i for i, name in enumerate(ids["planet"])}
    distance = np.asarray(rules.geometry.distance).astype(np.int32)
    kinds = np.arange(len(ids["planet"]))

    def isin(*names: str) -> np.ndarray:
        return np.isin(kinds, [planet[name] for name in names])

    return SimpleNamespace(
        rules=rules,
        cells=rules.geometry.num_cells,
        actions=rules.actions.num_actions,
        near=np.array((*NEAR, 0.0), np.float32)[np.minimum(distance, len(NEAR))],  # (C, C)
        colour=isin(*COLOURS),
        gaia=isin("Gaia"),
        proto=isin("Proto"),
        rock=isin("Asteroid"),
        transdim=isin("Transdim"),
        open=isin(*COLOURS, "Gaia", "Proto", "Asteroid", "Transdim"),
        rounds=costs.ROUNDS,
        caps=np.array([costs.CAPS["credits"], costs.CAPS["ore"], costs.CAPS["knowledge"]]),
        g={name: i for i, name in enumerate(GAIN_FIELDS)},
        **_factions(env),
        **_tiles(env),
        # The research board.
        end_vp=t.end_vp,
        ore_per_step=t.ore_per_step,
        navigation_range=t.navigation_range,
        power_value=t.power_value,
        ids=ids,
    )


def _factions(env: Environment) -> dict[str, Any]:
    """Tables of the factions."""
    rules, f = env.ruleset, env.ruleset.tables.faction
    return {
        "booster_income": env.ruleset.tables.booster_income,  # (boosters, G)
        "requirement": f.federation_requirement,
        "requirement_pi": f.federation_requirement_pi,
        "academy_action": np.array([gain_vector(x.academy_b_action) for x in rules.factions]),
        "has_special": np.array([x.special is not None for x in rules.factions]),
        "special_needs_pi": np.array([x.special_needs_pi or x.tinkering for x in rules.factions]),
    }


def _tiles(env: Environment) -> dict[str, Any]:
    """Tiles, boosters and special actions."""
    rules, t = env.ruleset, env.ruleset.tables
    ids = rules.ids
    tile_by_id = {x.id: x for x in (*rules.basic_tiles, *rules.advanced_tiles)}

    def special_gain(name: str) -> list[int]:
        gain = tile_by_id[name].special if name in tile_by_id else None
        return gain_vector(gain or Gain())

    triggers = np.concatenate([t.tile_events, t.advanced_events])
    return {
        # Tiles.
        "triggers": triggers,  # (basic, ship and advanced tiles, events) VP
        "advanced_pass": t.advanced_pass,
        "booster_pass": t.booster_pass,
        "tile_power": t.tile_power,
        "tile_range": t.range_bonus,
        "specials": np.array([special_gain(name) for name in ids["special"]]),
        "special": list(ids["special"]),
        "booster_special": np.array([x.special is not None for x in rules.boosters]),
    }

"""Rulesets: every table and switch of each variant of the game."""

from gaia_jax.ruleset.definition import Ruleset
from gaia_jax.ruleset.faction_row import FactionRow
from gaia_jax.ruleset.faction_table import GAIN_FIELDS, gain_vector
from gaia_jax.ruleset.pieces import CHARGE_ATOMS, INCOME_ATOMS, LEECH_CHOICES
from gaia_jax.ruleset.variants import (
    BASE,
    BASE_FOR_THREE,
    BASE_FOR_TWO,
    LOST_FLEET,
    LOST_FLEET_PUBLISHED,
    PUBLISHED_FOR_THREE,
    PUBLISHED_FOR_TWO,
    RULESETS,
    VARIANTS,
    ruleset_of,
)

__all__ = [
    "BASE",
    "BASE_FOR_THREE",
    "BASE_FOR_TWO",
    "CHARGE_ATOMS",
    "FactionRow",
    "GAIN_FIELDS",
    "INCOME_ATOMS",
    "LEECH_CHOICES",
    "LOST_FLEET",
    "LOST_FLEET_PUBLISHED",
    "PUBLISHED_FOR_THREE",
    "PUBLISHED_FOR_TWO",
    "RULESETS",
    "Ruleset",
    "VARIANTS",
    "gain_vector",
    "ruleset_of",
]

"""Rulesets: every table and switch of each variant of the game."""

from gaia_jax.ruleset.definition import CHARGE_ATOMS, INCOME_ATOMS, LEECH_CHOICES, Ruleset
from gaia_jax.ruleset.faction_row import GAIN_FIELDS, FactionRow, gain_vector
from gaia_jax.ruleset.variants import (
    BASE,
    BASE_FOR_THREE,
    BASE_FOR_TWO,
    LOST_FLEET,
    LOST_FLEET_PUBLISHED,
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
    "RULESETS",
    "Ruleset",
    "VARIANTS",
    "gain_vector",
    "ruleset_of",
]

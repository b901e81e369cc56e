"""Positions of solo games that the scenarios of the Automa share; X01 to X18 are examples."""

import jax.numpy as jnp

from gaia_jax.state import AUTOMA, HUMAN
from tests.scenarios.automa.solo import RULES, solo

GEODENS = ((-2, 1), (-3, 4))
ITARS = ((-3, 2), (5, -1))
X07 = {"terraforming": 1, "navigation": 3, "ai": 4, "gaia": 4, "economy": 2, "science": 4}


def arranged(automa="GEODENS", **kwargs):
    """X08: both have mines, far from each other."""
    return solo("ITARS", automa, **kwargs).mines(AUTOMA, *GEODENS).mines(HUMAN, *ITARS)


def xenos():
    """X06: Xenos against Itars."""
    return solo("ITARS", "XENOS").mines(AUTOMA, (1, -2), (0, 3)).mines(HUMAN, *ITARS)


def taklons(**kwargs):
    """X09: the factions of the first game at their places."""
    table = solo("HADSCH_HALLAS", "TAKLONS", **kwargs).mines(AUTOMA, (1, -1), (2, -4))
    return table.mines(HUMAN, (-2, 0), (4, -3))


def terrans():
    """X10: Terrans with Transdim planets around them."""
    return solo("ITARS", "TERRANS").mines(AUTOMA, (0, 1), (1, 2)).mines(HUMAN, (-2, 0), (-2, 5))


def hadsch_hallas():
    """X12: two mines as close to the human."""
    table = solo("TAKLONS", "HADSCH_HALLAS").mines(AUTOMA, (-2, 0), (4, -3))
    return table.place(AUTOMA, (1, -2), "PI").mines(HUMAN, (1, -1), (2, -4))


def firaks(structure):
    """X13: Firaks with their PI and a structure."""
    table = solo("ITARS", "FIRAKS").mines(HUMAN, *ITARS)
    return table.place(AUTOMA, (1, -5), structure).place(AUTOMA, (-1, 5), "PI")


def passing(round):
    """X15: the Automa passes and has RB9; three boosters are in the row, the round tile pays."""
    tiles = ["RM-TF-2VP", "RM-TS-4VP", "RM-RS-2VP", "RM-TS-3VP", "RM-FED-5VP", "RM-GAIA-4VP"]
    tiles[round - 1] = "RM-MINE-2VP"
    table, ids = arranged(round=round, round_tiles=tiles).deck(8, 12, 2, 3), RULES.ids["booster"]
    row = [*(ids.index(x) for x in ("RB2", "RB7", "RB1")), -1, -1]
    automa = table.game.automa.replace(booster_row=jnp.array(row, jnp.int8))
    return table._arranged(automa=automa).give(AUTOMA, booster=ids.index("RB9"))


def alptrauma():
    """X17: an upgrade to a trading station at the highest level."""
    table = solo("ITARS", "HADSCH_HALLAS", "alptrauma").mines(AUTOMA, (-2, 0))
    return table.mines(HUMAN, (5, -1)).cards(1, 10)

"""The 14 round boosters (SET-09, PAS-04)."""

from dataclasses import dataclass

from gaia_jax.components.common import Gain, Per


@dataclass(frozen=True)
class Booster:
    """A booster: income, VP on returning it, and the special action, named by the booster.

    RB6 is an instant gaiaforming, RB11 range +3, RB13 a mine with one free step.
    """

    id: str
    income: Gain[int]
    pass_per: Per[int] | None = None
    special: str | None = None


BOOSTERS = (
    Booster("RB1", Gain(ore=1, knowledge=1)),
    Booster("RB2", Gain(charge=4), pass_per=Per("pi_academies", vp=4)),
    Booster("RB3", Gain(credits=3), pass_per=Per("deep_sectors", vp=2)),
    Booster("RB4", Gain(ore=1), pass_per=Per("gaiaformers", vp=3)),
    Booster("RB5", Gain(credits=4), pass_per=Per("gaia_planets", vp=1)),
    Booster("RB6", Gain(charge=2), special="RB6"),
    Booster("RB7", Gain(ore=1), pass_per=Per("mines", vp=1)),
    Booster("RB8", Gain(ore=1), pass_per=Per("planet_types", vp=1)),
    Booster("RB9", Gain(ore=1, tokens=2)),
    Booster("RB10", Gain(credits=2, qic=1)),
    Booster("RB11", Gain(charge=2), special="RB11"),
    Booster("RB12", Gain(knowledge=1), pass_per=Per("research_labs", vp=3)),
    Booster("RB13", Gain(credits=2), special="RB13"),
    Booster("RB14", Gain(ore=1), pass_per=Per("trading_stations", vp=2)),
)

# Free terraforming steps of RB13's action; RB11's range is costs.RANGE_BONUS.
RB13_FREE_STEPS = 1

"""The research board: six tracks of levels 0 to 5 (RES-01 to RES-10)."""

from gaia_jax.components.common import Cost, Gain, Per

TRACKS = ("terraforming", "navigation", "ai", "gaia", "economy", "science")
MAX_LEVEL = 5

RESEARCH_COST = Cost(knowledge=4)
# Charge on reaching level 3 of any track, before the bonus of the level (RES-03).
CHARGE_AT_3 = 3
# VP at the end by level (RES-10).
END_VP = (0, 0, 0, 4, 8, 12)

# By level of the terraforming track (MIN-02).
ORE_PER_STEP = (3, 3, 2, 1, 1, 1)
# By level of the navigation track (MIN-04).
NAVIGATION_RANGE = (1, 1, 2, 2, 3, 4)
# Power tokens of a Gaia project by level of the gaia track; at level 0 there is no gaiaformer.
PROJECT_COST = (0, 6, 6, 4, 3, 3)

_NONE: Gain[int] = Gain()
# LEVEL_BONUS[track][level], once, on reaching the level. Terraforming 5 also gives the federation
# token of that space, navigation 5 the Lost Planet, gaia 5 also GAIA_5_PER.
LEVEL_BONUS = (
    (_NONE, Gain(ore=2), _NONE, _NONE, Gain(ore=2), _NONE),
    (_NONE, Gain(qic=1), _NONE, Gain(qic=1), _NONE, _NONE),
    (_NONE, Gain(qic=1), Gain(qic=1), Gain(qic=2), Gain(qic=2), Gain(qic=4)),
    (
        _NONE,
        Gain(gaiaformers=1),
        Gain(tokens=3),
        Gain(gaiaformers=1),
        Gain(gaiaformers=1),
        Gain(vp=4),
    ),
    (_NONE, _NONE, _NONE, _NONE, _NONE, Gain(ore=3, credits=6, charge=6)),
    (_NONE, _NONE, _NONE, _NONE, _NONE, Gain(knowledge=9)),
)
GAIA_5_PER = Per("gaia_planets", vp=1)

# ECONOMY_INCOME[side][level]; an overlay covers levels 3 and 4 (SET-05). Side A is 0, side B 1.
ECONOMY_SIDES = ("A", "B")
_ECONOMY_1 = Gain(credits=2, charge=1)
_ECONOMY_2 = Gain(ore=1, credits=2, charge=2)
ECONOMY_INCOME = (
    (
        _NONE,
        _ECONOMY_1,
        _ECONOMY_2,
        Gain(ore=1, credits=2, charge=3),
        Gain(ore=2, credits=2, charge=2),
        _NONE,
    ),
    (
        _NONE,
        _ECONOMY_1,
        _ECONOMY_2,
        Gain(ore=1, credits=3, vp=1),
        Gain(ore=2, credits=4, vp=1),
        _NONE,
    ),
)
SCIENCE_INCOME = (
    _NONE,
    Gain(knowledge=1),
    Gain(knowledge=2),
    Gain(knowledge=3),
    Gain(knowledge=4),
    _NONE,
)

"""The four ships of the Lost Fleet: their actions and the slots for shuttles (EXP, ACT-02)."""

from dataclasses import dataclass

from gaia_jax.components.common import NOTHING, Cost, Gain, Per


@dataclass(frozen=True)
class ShipAction:
    """An action printed on a ship, once a round for the whole table, for players with a shuttle.

    Without a `ship` it is printed on the research board, for everybody.

    Effects: TECH a tech tile; UPGRADE_TS, UPGRADE_RL a free upgrade to that structure; RETRIGGER
    an own federation token again; RANGE +3 range for a mine or an exploration; INSTANT_GAIA
    an instant gaiaforming; MINE_TF1 a mine with one free step; RESEARCH a step on any track;
    ASTEROID_MINE a mine on an asteroid, nothing else paid but range.
    """

    id: str
    ship: str | None
    cost: Cost[int]
    gain: Gain[int] = NOTHING
    per: Per[int] | None = None
    effect: str | None = None
    free_steps: int = 0


SHIP_ACTIONS = (
    ShipAction("REB_Q", "REBELLION", Cost(qic=3), effect="TECH"),
    ShipAction("REB_P", "REBELLION", Cost(power=3), effect="UPGRADE_TS"),
    ShipAction("REB_K", "REBELLION", Cost(knowledge=2), Gain(credits=2, qic=1)),
    ShipAction("TWI_Q", "TWILIGHT", Cost(qic=3), effect="RETRIGGER"),
    ShipAction("TWI_P", "TWILIGHT", Cost(power=3), effect="UPGRADE_RL"),
    ShipAction("TWI_K", "TWILIGHT", Cost(knowledge=1), effect="RANGE"),
    ShipAction("TFM_P", "TF_MARS", Cost(power=2), effect="INSTANT_GAIA"),
    ShipAction("TFM_C", "TF_MARS", Cost(credits=5), effect="MINE_TF1", free_steps=1),
    ShipAction("TFM_Q", "TF_MARS", Cost(qic=2), Gain(vp=2), Per("basic_tiles", vp=1)),
    ShipAction("ECL_Q", "ECLIPSE", Cost(qic=2), Gain(vp=2), Per("planet_types", vp=1)),
    ShipAction("ECL_P", "ECLIPSE", Cost(power=3, knowledge=2), effect="RESEARCH"),
    ShipAction("ECL_C", "ECLIPSE", Cost(credits=6), effect="ASTEROID_MINE"),
)

# Charge for the first to fourth shuttle on a ship (EXP-02).
SHUTTLE_CHARGE = (0, 2, 2, 3)
# The ship where artifacts and their action are (SET-20).
ARTIFACT_SHIP = "TWILIGHT"

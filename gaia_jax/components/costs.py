"""Prices, supplies and limits that are the same for every faction (GEN-07, GEN-08, UPG-01)."""

from gaia_jax.components.common import Cost

ROUNDS = 6

START_VP = 10
# Gains beyond a cap are lost (GEN-07). QIC, power tokens and VP have none.
CAPS = {"ore": 15, "knowledge": 15, "credits": 30}

# Building (MIN-02, UPG-01). An upgrade is priced by what is placed, also in the Bescods' order.
MINE_COST = Cost(ore=1, credits=2)
UPGRADE_COST = {
    "TS": Cost(ore=2, credits=6),
    "RL": Cost(ore=3, credits=5),
    "PI": Cost(ore=4, credits=6),
    "AC_A": Cost(ore=6, credits=6),
    "AC_B": Cost(ore=6, credits=6),
}
# A trading station with another player's structure within NEIGHBOUR_DISTANCE (UPG-03).
TS_NEIGHBOUR_COST = Cost(ore=2, credits=3)
NEIGHBOUR_DISTANCE = 2

# Supply of each player (UPG-02, FED-17, GEN-13).
PIECES = {"MINE": 8, "TS": 4, "RL": 3, "PI": 1, "AC_A": 1, "AC_B": 1}
SATELLITES = 25
HIVE_STATIONS = 6
MOWEYDS_RINGS = 6

# Power for leech and federations (LEE-06), without stations, rings and the tile BT8_PIAC_4; the
# Lost Planet has that of a mine.
POWER_VALUE = {"NONE": 0, "MINE": 1, "TS": 2, "RL": 2, "PI": 3, "AC_A": 3, "AC_B": 3}
STATION_POWER = 1
RING_POWER = 2

LEECH_DISTANCE = 2

# Power that the brainstone is worth when spent from bowl III (ACT-06, FRE-10).
BRAINSTONE_POWER = 3

# Range (MIN-05): one QIC reaches two cells farther.
RANGE_PER_QIC = 2
# Range of booster RB11 and the Twilight's knowledge action.
RANGE_BONUS = 3

# Final scoring (FIN-11): one VP for that many credits, ore and knowledge together.
RESOURCES_PER_VP = 3

# Boosters in play beyond one a player (SET-09), final missions in play (SET-08).
SPARE_BOOSTERS = 3
FINAL_MISSIONS_IN_PLAY = 2

"""The start and first income of each faction by the numeric checks of the rulings.

For tests of the engine. The referee's tests hold their own copy: they were written by other eyes.
"""

# Credits, ore, knowledge, QIC and bowls at the start, bonuses of tracks included; gaiaformers; the
# same resources after the first income without a booster; charge and tokens into bowl I of it.
GOLDEN = {
    "HIVES": ((15, 4, 3, 1), (2, 2, 0), 0, (15, 5, 4, 2), 4, 1),
    "HADSCH_HALLAS": ((15, 4, 3, 1), (2, 4, 0), 0, (20, 7, 4, 1), 1, 0),
    "GEODENS": ((15, 6, 3, 1), (2, 4, 0), 0, (15, 9, 4, 1), 0, 0),
    "BAL_TAKS": ((15, 4, 3, 1), (2, 2, 0), 1, (15, 7, 4, 1), 0, 0),
    "XENOS": ((15, 4, 3, 2), (2, 4, 0), 0, (15, 7, 4, 2), 0, 0),
    "GLEENS": ((15, 5, 3, 1), (2, 4, 0), 0, (15, 8, 4, 1), 0, 0),
    "TAKLONS": ((15, 4, 3, 1), (2, 4, 0), 0, (15, 7, 4, 1), 0, 0),
    "AMBAS": ((15, 4, 3, 2), (2, 4, 0), 0, (15, 8, 4, 2), 0, 0),
    "FIRAKS": ((15, 3, 2, 1), (2, 4, 0), 0, (15, 6, 4, 1), 0, 0),
    "BESCODS": ((15, 4, 3, 1), (2, 4, 0), 0, (15, 7, 3, 1), 0, 0),
    "ITARS": ((15, 5, 3, 1), (4, 4, 0), 0, (15, 8, 3, 1), 0, 1),
    "NEVLAS": ((15, 4, 2, 1), (4, 2, 0), 0, (15, 7, 4, 1), 0, 0),
    "TERRANS": ((15, 4, 3, 1), (4, 4, 0), 1, (15, 7, 4, 1), 0, 0),
    "LANTIDS": ((13, 4, 3, 1), (0, 4, 0), 0, (13, 7, 4, 1), 0, 1),
    "TINKEROIDS": ((15, 4, 2, 1), (4, 2, 0), 0, (15, 5, 4, 1), 4, 1),
    "DARKANIANS": ((15, 7, 3, 2), (4, 2, 0), 0, (17, 9, 4, 2), 1, 0),
    "SPACE_GIANTS": ((15, 6, 3, 2), (4, 4, 0), 0, (15, 8, 4, 2), 0, 0),
    "MOWEYDS": ((15, 6, 5, 1), (4, 4, 0), 1, (15, 8, 6, 1), 0, 0),
}

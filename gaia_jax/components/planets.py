"""The contents of a cell of the map, and the distances of colours (GEN-09, GEN-10)."""

# Contents of a cell. Transdim becomes Gaia when gaiaformed; Lost is placed on an empty cell. Ship
# is no space at all: a ship, or a place whose tile is left out.
PLANETS = (
    "Empty",
    "Red",
    "Orange",
    "Yellow",
    "Brown",
    "Black",
    "White",
    "Blue",
    "Gaia",
    "Proto",
    "Asteroid",
    "Lost",
    "Transdim",
    "Ship",
)

# The 11 types that count for diversity; Transdim is none.
PLANET_TYPES = (
    "Red",
    "Orange",
    "Yellow",
    "Brown",
    "Black",
    "White",
    "Blue",
    "Gaia",
    "Proto",
    "Asteroid",
    "Lost",
)

# The terraforming steps between two home colours are their distance on this ring, at most 3.
TERRAFORM_CYCLE = ("Red", "Orange", "Yellow", "Brown", "Black", "White", "Blue")
FIRST_COLOUR = PLANETS.index(TERRAFORM_CYCLE[0])  # the ring is a run of PLANETS

# Steps that a protoplanet needs, for every faction.
PROTO_STEPS = 3
# VP for the mine on a protoplanet.
PROTO_VP = 6

# Tinkeroids and Moweyds: three drawn colours need 3 steps, the other four 1 (INI-09).
DRAWN_COLOURS = 3
DRAWN_COLOUR_STEPS = 3
OTHER_COLOUR_STEPS = 1

"""Round tiles and final missions (SET-07, SET-08, RMS, FIN)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RoundTile:
    """`vp` each time `event`, one of EVENTS, happens in the round."""

    id: str
    event: str
    vp: int


ROUND_TILES = (
    RoundTile("RM-DIV-3VP", "new_type", 3),
    RoundTile("RM-TF-2VP", "terraform_step", 2),
    RoundTile("RM-GAIA-3VP", "gaia_mine", 3),
    RoundTile("RM-GAIA-4VP", "gaia_mine", 4),
    RoundTile("RM-MINE-2VP", "mine", 2),
    RoundTile("RM-SECTOR-3VP", "new_sector", 3),
    RoundTile("RM-FED-5VP", "federation_token", 5),
    RoundTile("RM-TS-3VP", "trading_station", 3),
    RoundTile("RM-TS-4VP", "trading_station", 4),
    RoundTile("RM-RS-2VP", "research_step", 2),
    RoundTile("RM-PI-ACAD-1-5VP", "pi_academy", 5),
    RoundTile("RM-PI-ACAD-2-5VP", "pi_academy", 5),
)

FINAL_MISSIONS = (
    "BUILDINGS",
    "DEEP_SECTORS",
    "PLANET_TYPES",
    "PI_AC_DISTANCE",
    "SATELLITES",
    "ASTEROID_PROTO_BUILDINGS",
    "MAIN_SECTORS",
    "GAIA_BUILDINGS",
    "FEDERATION_BUILDINGS",
)

# VP by rank; players who tie share the sum of their ranks (FIN-02).
FINAL_PRIZES = (18, 12, 6, 0)

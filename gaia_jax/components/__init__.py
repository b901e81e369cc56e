"""The printed pieces of Gaia Project and The Lost Fleet, as plain data.

No arrays, no rules: each module can be proof-read against the box. Ids are the words that
action texts, set-ups and logs use; the order of a tuple is the order of every array axis over it.
"""

from gaia_jax.components import (
    artifacts,
    automa,
    base_game,
    boosters,
    common,
    costs,
    factions,
    federation_tokens,
    free_actions,
    map_tiles,
    missions,
    planets,
    power_actions,
    published,
    research,
    ships,
    tech_tiles,
    tinkering,
)

__all__ = [
    "artifacts",
    "automa",
    "base_game",
    "boosters",
    "common",
    "costs",
    "factions",
    "federation_tokens",
    "free_actions",
    "map_tiles",
    "missions",
    "planets",
    "power_actions",
    "published",
    "research",
    "ships",
    "tech_tiles",
    "tinkering",
]

"""Recorded games of the default ruleset and the states that they end in.

    python -m tests.golden.make

plays and writes them. They are made again only where a new version is meant to play otherwise
(docs/reference/rulesets.md); a refactoring, a speed-up, another ruleset must leave them as they
are.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("lost_fleet.json.gz")

# What everyone at the table sees at the end, under the names of `gaia_jax.state`.
PUBLIC = {
    "board": "planet structure owner gaiaformer guest station ring satellite federated",
    "players": "vp vp_source credits ore knowledge qic power gaia_power brainstone tracks built"
    " colonized guests sectors tiles covered advanced tokens green formed satellites stations rings"
    " gaiaformers gaiaformers_out gaiaformers_gaia shuttles artifacts booster used tinkering",
    "turn": "round node order passed power_used ship_used advanced_left artifacts_left token_supply"
    " ship_tokens track_token",
}


def digests(game: Any) -> dict[str, str]:
    """A short hash of each public field of one game.

    Args:
        game: a `GameState` of numpy arrays.
    """
    hashes = {}
    for part, names in PUBLIC.items():
        for name in names.split():
            value = np.asarray(getattr(getattr(game, part), name)).astype("<i4")
            text = f"{value.shape}".encode() + value.tobytes()
            hashes[f"{part}.{name}"] = hashlib.sha256(text).hexdigest()[:12]
    return hashes


def read(path: Path = FILE) -> list[dict[str, Any]]:
    """The recorded games: seed, policy, version, setup, actions, final_vp, digests."""
    return json.loads(gzip.decompress(path.read_bytes()))


def write(games: list[dict[str, Any]], path: Path = FILE) -> None:
    """Write games; the same games make the same file."""
    text = json.dumps(games, separators=(",", ":")).encode()
    path.write_bytes(gzip.compress(text, mtime=0))

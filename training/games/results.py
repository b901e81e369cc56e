"""Finished games of a match."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np


class Results(NamedTuple):
    """Finished games. S set-ups, R rotations of the seats, P players."""

    agent: np.ndarray  # (S, R, P) which agent sat there
    vp: np.ndarray  # (S, R, P) final VP
    vp_source: np.ndarray  # (S, R, P, K) the same by source
    federations: np.ndarray  # (S, R, P) formed; tokens of tracks and of factions are none
    faction: np.ndarray  # (S, R, P)
    decisions: np.ndarray  # (S, R) of all players
    more: dict[str, np.ndarray] = {}  # (S, R, P) what `describe` says of the ends
    counted: np.ndarray | None = (
        None  # (S, R, P, W) how often actions of `counted_actions` were taken
    )
    decided: np.ndarray | None = None  # (S, R, P) decisions of the seat
    illegal: np.ndarray | None = None  # (S, R, P) illegal moves of the seat; one forfeits the game

    def arrays(self) -> dict[str, Any]:
        """By name, as a file holds them; without `more`."""
        held = self._replace(more={})._asdict()
        return {name: x for name, x in held.items() if isinstance(x, np.ndarray)}

    @classmethod
    def of_arrays(cls, arrays: dict[str, Any]) -> Results:
        """The other way."""
        return cls(**arrays)


def joined(parts: list[Results]) -> Results:
    """The set-ups of all parts, in order."""
    return Results(*jax.tree.map(lambda *x: np.concatenate(x), *parts))

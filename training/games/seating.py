"""Who sits where: every way to turn a table is a game of a set-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def rotated(players: int = 4) -> np.ndarray:
    """(P, P): entry i in seat i, then each one seat further; every entry sits in every seat."""
    seats = np.arange(players, dtype=np.int32)
    return (seats - seats[:, None]) % players


def one_against_the_rest(players: int) -> np.ndarray:
    """(P, P): agent 0 in each seat once, agent 1 in the others."""
    return 1 - np.eye(players, dtype=np.int32)


def entries(names: Sequence[str]) -> list[str]:
    """What tables call the entries: a name that is there again gets its number behind it."""
    before = [list(names[:i]).count(name) for i, name in enumerate(names)]
    return [f"{name} #{n + 1}" if n else name for name, n in zip(names, before, strict=True)]

"""The action index of a ruleset: four planes of cells, then the actions without a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaia_jax.ruleset.geometry import Geometry

PLANES = ("mine", "project", "upgrade", "pick")

# Verbs whose text has no argument.
BARE = ("end_turn", "skip", "pass", "form_federation", "commit")


@dataclass(frozen=True, eq=False)
class ActionSpace:
    """The action index of one ruleset.

    `groups` are (verb, ids) in the order of the index after the planes; a bare verb has the ids
    ("",), and one that the ruleset has not has none.
    """

    geometry: Geometry
    groups: tuple[tuple[str, tuple[str, ...]], ...]

    @cached_property
    def first(self) -> dict[str, int]:
        """The first index of each verb, planes included."""
        cells = self.geometry.num_cells
        out = {plane: i * cells for i, plane in enumerate(PLANES)}
        at = len(PLANES) * cells
        for verb, ids in self.groups:
            out[verb] = at
            at += len(ids)
        return out

    @cached_property
    def num_actions(self) -> int:
        """A, the size of the index."""
        return len(PLANES) * self.geometry.num_cells + sum(len(ids) for _, ids in self.groups)

    @cached_property
    def ids(self) -> dict[str, tuple[str, ...]]:
        """The arguments of each verb without a cell."""
        return dict(self.groups)

    def index(self, verb: str, argument: str = "") -> int:
        """The index of a verb without a cell; KeyError or ValueError if it is unknown."""
        return self.first[verb] + self.ids[verb].index(argument)

    @cached_property
    def cell(self) -> np.ndarray:
        """(A,) int16, the cell that an action names, or -1."""
        cells = self.geometry.num_cells
        out = np.full(self.num_actions, -1, np.int16)
        out[: len(PLANES) * cells] = np.tile(np.arange(cells), len(PLANES))
        return out

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of every index."""
        cells = [f"{q},{r}" for q, r in self.geometry.cells.tolist()]
        out = [f"{plane} {cell}" for plane in PLANES for cell in cells]
        for verb, ids in self.groups:
            out += [verb if verb in BARE else f"{verb} {argument}" for argument in ids]
        return tuple(out)

    @cached_property
    def by_text(self) -> dict[str, int]:
        """The index of every text."""
        return {text: i for i, text in enumerate(self.texts)}

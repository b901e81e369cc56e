"""The action index: four planes of cells, then the actions without a cell; and its text notation.

`docs/reference/actions.md` lists every node and which of these actions it offers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gaia_jax.cli.arguments import shown, whole

if TYPE_CHECKING:
    from gaia_jax.geometry import Geometry
    from gaia_jax.ruleset import Ruleset

PLANES = ("mine", "project", "upgrade", "pick")

# Verbs whose text has no argument.
BARE = ("end_turn", "skip", "pass", "form_federation", "commit")


@dataclass(frozen=True, eq=False)
class ActionSpace:
    """Which index means what, for one ruleset.

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


def to_text(ruleset: Ruleset, action: int) -> str:
    """The text of an action index, such as `mine 3,-2` or `power PA_7C`.

    Args:
        ruleset: whose index it is.
        action: 0 .. A-1.
    Raises:
        ValueError: an index outside 0 .. A-1; TypeError: no integer, or no ruleset.
    """
    space = _space(ruleset)
    return space.texts[whole("action", action, 0, space.num_actions - 1)]


def from_text(ruleset: Ruleset, text: str) -> int:
    """The action index of a text; white space around and between its words does not matter.

    Raises:
        ValueError: an unknown verb, cell or id; the message names it and the choices.
        TypeError: no text, or no ruleset.
    """
    space = _space(ruleset)
    if not isinstance(text, str):
        raise TypeError(f"an action's text must be a str, not {shown(text)}")
    words = text.split()
    action = space.by_text.get(" ".join(words))
    if action is not None:
        return action
    verbs = (*PLANES, *(verb for verb, ids in space.groups if ids))
    if not words or words[0] not in verbs:
        raise ValueError(f"action {shown(text)}: unknown verb, one of {', '.join(verbs)}")
    verb = words[0]
    if verb in PLANES:
        raise ValueError(f"action {shown(text)}: {verb} wants a cell of the map as q,r")
    if verb in BARE:
        raise ValueError(f"action {shown(text)}: {verb} takes no argument")
    raise ValueError(f"action {shown(text)}: {verb} wants one of {', '.join(space.ids[verb])}")


def _space(ruleset: Any) -> ActionSpace:
    space = getattr(ruleset, "actions", None)
    if not isinstance(space, ActionSpace):
        raise TypeError(f"ruleset must be a Ruleset such as env.ruleset, not {shown(ruleset)}")
    return space

"""The action index as text: `mine 3,-2`, `power PA_7C`; `ruleset/action_space.py` lays it out.

`docs/reference/actions.md` lists every node and which of these actions it offers.
"""

from __future__ import annotations

from gaia_jax.cli.arguments import shown, whole_number
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.action_space import BARE, PLANES, ActionSpace
from gaia_jax.ruleset.definition import check_ruleset

__all__ = ["BARE", "PLANES", "ActionSpace", "from_text", "to_text"]


def to_text(ruleset: Ruleset, action: int) -> str:
    """The text of an action index, such as `mine 3,-2` or `power PA_7C`.

    Args:
        ruleset: whose index it is.
        action: 0 .. A-1.
    Raises:
        ValueError: an index outside 0 .. A-1; TypeError: no integer, or no ruleset.
    """
    space = _space(ruleset)
    return space.texts[whole_number("action", action, 0, space.num_actions - 1)]


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
        raise ValueError(f"action {shown(text)}: {verb} requires a cell as q,r")
    if verb in BARE:
        raise ValueError(f"action {shown(text)}: {verb} takes no argument")
    raise ValueError(f"action {shown(text)}: {verb} requires one of {', '.join(space.ids[verb])}")


def _space(ruleset: Ruleset) -> ActionSpace:
    check_ruleset(ruleset)
    return ruleset.actions

"""Special actions that the recorded engine allows although their whole gain is lost (A27)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaia_jax.importers.position import brainstone_and_tokens, is_full
from tests.replays.table import Position

# What a special action gains, in recorded units.
SPECIALS = {
    "special SA-K-3": "3k",
    "special SA-O-3": "3o",
    "special SA-QIC-CRED": "1q,5c",
    "special AC_B": "1q",
}


def can_charge(position: Position) -> bool:
    """Whether the decider has a token in bowl I or II."""
    stone, tokens = brainstone_and_tokens(position.state.game, position.player)
    return tokens[0] + tokens[1] > 0 or stone in (0, 1)


def is_used(position: Position, text: str) -> bool:
    """Whether the decider has used that special action this round; True for other actions."""
    ids, (verb, _, name) = position.rules.ids["special"], text.partition(" ")
    used = int(position.state.game.players.used[position.player])
    return verb != "special" or bool(used >> ids.index(name) & 1)


def special_is_void(position: Position, text: str) -> bool:
    """Whether the whole gain of a special action that the decider has not used would be lost."""
    if position.node != "TURN" or is_used(position, text):
        return False
    if text == "special BT1_ACT_CHARGE4":
        return not can_charge(position)
    if text not in SPECIALS:
        return False
    faction = position.rules.factions[int(position.state.game.setup.faction[position.player])]
    bal_taks = text == "special AC_B" and faction.id == "BAL_TAKS"
    return is_full(position, "4c" if bal_taks else SPECIALS[text], position.player)


def allow(position: Position, text: str) -> None:
    """Make the action legal in the state, so that the next step carries it out."""
    state: Any = position.state
    mask = np.array(state.legal_action_mask)
    mask[position.rules.actions.by_text[text]] = True
    position.set_state(state.replace(legal_action_mask=mask))

"""Special actions that the recorded engine allows although their whole gain is lost (A27)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaia_jax.importers.seat import brainstone_and_tokens, is_full
from tests.replays.table import Seat

# What a special action gains, in recorded units.
SPECIALS = {
    "special SA-K-3": "3k",
    "special SA-O-3": "3o",
    "special SA-QIC-CRED": "1q,5c",
    "special AC_B": "1q",
}


def can_charge(seat: Seat) -> bool:
    """Whether the decider has a token in bowl I or II."""
    stone, tokens = brainstone_and_tokens(seat.state.game, seat.player)
    return tokens[0] + tokens[1] > 0 or stone in (0, 1)


def is_used(seat: Seat, text: str) -> bool:
    """Whether the decider has used that special action this round; True for other actions."""
    ids, (verb, _, name) = seat.rules.ids["special"], text.partition(" ")
    used = int(seat.state.game.players.used[seat.player])
    return verb != "special" or bool(used >> ids.index(name) & 1)


def special_is_void(seat: Seat, text: str) -> bool:
    """Whether the whole gain of a special action that the decider has not used would be lost."""
    if seat.node != "TURN" or is_used(seat, text):
        return False
    if text == "special BT1_ACT_CHARGE4":
        return not can_charge(seat)
    if text not in SPECIALS:
        return False
    faction = seat.rules.factions[int(seat.state.game.setup.faction[seat.player])]
    bal_taks = text == "special AC_B" and faction.id == "BAL_TAKS"
    return is_full(seat, "4c" if bal_taks else SPECIALS[text], seat.player)


def allow(seat: Seat, text: str) -> None:
    """Make the action legal in the state, so that the next step carries it out."""
    state: Any = seat.state
    mask = np.array(state.legal_action_mask)
    mask[seat.rules.actions.by_text[text]] = True
    seat.set_state(state.replace(legal_action_mask=mask))

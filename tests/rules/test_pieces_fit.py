"""The state has room for the pieces of every ruleset: indices, bits and rows by kind of piece."""

import pytest

from gaia_jax.ruleset import VARIANTS
from gaia_jax.state import Players, Setup, Turn
from gaia_jax.xla.struct import leaves

pytestmark = pytest.mark.no_compile

# A piece as an index, by the attribute of the ruleset that lists the pieces.
INDICES = {
    Setup: {
        "faction": "factions",
        "basic_slot": "basic_tiles",
        "advanced": "advanced_tiles",
        "tf5_token": "base_tokens",
        "ship_token": "ship_tokens",
        "ship_tile": "ship_tiles",
        "artifacts": "artifacts",
        "boosters": "boosters",
        "round_tiles": "round_tiles",
        "final_missions": "final_missions",
        "economy_side": "economy_income",
        "extra_condition": "extra_conditions",
    },
    Players: {"booster": "boosters", "tinkering": "tinkering_tiles"},
    Turn: {"pending_op": "operations", "free_mine": "operations"},
}
# A bit for each piece, and a row for each, by kind in `Ruleset.ids`.
BITS = {
    Players: {
        "sectors": "sector",
        "tiles": "tile",
        "covered": "tile",
        "advanced": "advanced",
        "shuttles": "ship",
        "artifacts": "artifact",
        "used": "special",
        "tinkered": "tinkering",
        "income": "income",
    },
    Turn: {"power_used": "power_action", "advanced_left": "advanced_slot", "ship_tokens": "ship"},
}
ROWS = {"tracks": "track", "built": "structure", "colonized": "planet", "tokens": "token"}


@pytest.mark.parametrize("ruleset", VARIANTS.values(), ids=lambda ruleset: ruleset.name)
def test_the_state_has_room_for_every_piece(ruleset):
    for kind, fields in INDICES.items():
        declared = leaves(kind) if kind is Setup else kind.fields
        for name, pieces in fields.items():
            number = len(getattr(ruleset, pieces))
            message = f"state.py: {kind.__name__}.{name} ends before the last of {number} {pieces}"
            assert number - 1 <= declared[name].high, message
    for kind, fields in BITS.items():
        for name, pieces in fields.items():
            number = len(ruleset.ids[pieces])
            message = f"state.py: {kind.__name__}.{name} has no bit for each of {number} {pieces}"
            assert 2**number - 1 <= kind.fields[name].high, message
    for name, pieces in ROWS.items():
        number, room = len(ruleset.ids[pieces]), Players.fields[name].shape[0]
        assert number <= room, f"state.py: Players.{name} has {room} places for {number} {pieces}"
    shared = len(ruleset.shared_actions)
    assert 2**shared - 1 <= Turn.fields["ship_used"].high, f"state.py: ship_used, {shared} actions"

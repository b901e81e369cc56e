"""Where a recorded player puts the brainstone.

The recorded engine asks for its place after every charge, payment, project and discard where it
could be elsewhere: `brainstone area3` after the command. In our rules it moves first when
charged (INC-03) and leaves last (FED-06), and `free brainstone` turns its place in payments and
projects for a turn (A21). What a player chose beyond that is written into our state: the brainstone
and an ordinary token change places, nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gaia_jax.importers.notation import MismatchError
from gaia_jax.importers.position import BRAINSTONE_AREAS, brainstone_and_tokens
from gaia_jax.state import GAIA_AREA
from tests.replays.table import Position


def place_brainstone(position: Position, before: Any, player: int, place: int) -> bool:
    """Let the brainstone lie where it was put: it and an ordinary token change places.

    Args:
        before: the game before the command that moved tokens.
    Returns:
        Whether it did not lie there.
    Raises:
        MismatchError: there is no such token.
    """
    state = position.state
    stone, tokens = brainstone_and_tokens(state.game, player)
    if stone == place:
        return False
    was, old_tokens = brainstone_and_tokens(before, player)
    if 0 <= place < GAIA_AREA and 0 <= stone < GAIA_AREA:
        source, target = place, stone
    elif place in (GAIA_AREA, -1) and stone == was and 0 <= was < GAIA_AREA:
        # It went instead of the last token that went.
        went = [bowl for bowl in range(GAIA_AREA) if old_tokens[bowl] > tokens[bowl]]
        if not went:
            raise MismatchError("brainstone", place, stone)
        source, target = place, went[-1]
    else:
        raise MismatchError("brainstone", place, stone)
    if source >= 0 and tokens[source] < 1:
        raise MismatchError("brainstone", place, stone)
    if source >= 0:
        tokens[source] -= 1
    tokens[target] += 1
    write(position, player, place, tokens)
    return True


def write(position: Position, player: int, place: int, tokens: list[int]) -> None:
    """Change where one player's brainstone and tokens lie."""
    state = position.state
    players = state.game.players
    power, stones = np.array(players.power), np.array(players.brainstone)
    gaia = np.array(players.gaia_power)
    power[player], gaia[player], stones[player] = tokens[:3], tokens[3], place
    players = players.replace(power=power, gaia_power=gaia, brainstone=stones)
    position.set_state(state.replace(game=state.game.replace(players=players)))


def adopt(position: Position, player: int, row: dict[str, Any], choices: list[int]) -> bool:
    """After income: where the brainstone was left, if only it and a token have changed places.

    Args:
        row: the recorded player; choices: the places that were named, in their order.
    """
    stone, tokens = brainstone_and_tokens(position.state.game, player)
    place = -1 if row["bs"] is None else BRAINSTONE_AREAS[row["bs"]]
    recorded = [bowl + (i == place) for i, bowl in enumerate(row["pw"])]
    own = [bowl + (i == stone) for i, bowl in enumerate(tokens)]
    # Later charges move it on, none moves it back.
    if (
        place == stone
        or recorded != own
        or not (0 <= stone < GAIA_AREA and choices[-1] <= place < GAIA_AREA)
    ):
        return False
    write(position, player, place, list(row["pw"]))
    return True

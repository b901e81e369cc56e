"""The power cycle: charging, spending, discarding."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.referee.player import Player

BOWL_I, BOWL_II, BOWL_III, GAIA_AREA, NOWHERE = 0, 1, 2, 3, -1
BRAINSTONE_POWER = 3


def in_bowl(player: Player, bowl: int) -> int:
    """Tokens in a bowl, the brainstone counted as one."""
    return player.bowls[bowl] + (player.brainstone == bowl)


def tokens(player: Player) -> int:
    """Tokens in the three bowls, the brainstone counted as one, without the Gaia area."""
    return sum(player.bowls) + (player.brainstone in (BOWL_I, BOWL_II, BOWL_III))


def capacity(player: Player) -> int:
    """How much can be charged (LEE-01, A13)."""
    return 2 * in_bowl(player, BOWL_I) + in_bowl(player, BOWL_II)


def charge(player: Player, amount: int) -> None:
    """Move tokens up: I to II while I lasts, then II to III; the rest is lost (LEE-01)."""
    first = min(amount, in_bowl(player, BOWL_I))
    move(player, BOWL_I, BOWL_II, first)
    move(player, BOWL_II, BOWL_III, min(amount - first, in_bowl(player, BOWL_II)))


def move(player: Player, start: int, end: int, amount: int) -> None:
    """Move tokens from bowl to bowl, the brainstone first (INC-03)."""
    if amount > 0 and player.brainstone == start:
        player.brainstone = end
        amount -= 1
    player.bowls[start] -= amount
    player.bowls[end] += amount


def discard(player: Player, amount: int) -> None:
    """Remove tokens for ever: bowl I, II, III, the brainstone last (FED-06, ART-01)."""
    for bowl in (BOWL_I, BOWL_II, BOWL_III):
        removed = min(amount, player.bowls[bowl])
        player.bowls[bowl] -= removed
        amount -= removed
    if amount:
        if amount > 1 or player.brainstone not in (BOWL_I, BOWL_II, BOWL_III):
            raise ValueError(f"player {player.number} lacks {amount} tokens")
        player.brainstone = NOWHERE


def to_gaia_area(player: Player, amount: int) -> None:
    """Tokens for a Gaia project: from bowl I, II, III, the brainstone last in each (GPJ-02).

    The other way round the brainstone comes last of all (A21).
    """
    if tokens(player) < amount:
        raise ValueError(f"player {player.number} lacks {amount} tokens")
    for bowl in (BOWL_I, BOWL_II, BOWL_III):
        moved = min(amount, player.bowls[bowl])
        player.bowls[bowl] -= moved
        player.gaia_tokens += moved
        amount -= moved
        if amount and player.brainstone == bowl and not player.brainstone_turned:
            player.brainstone = GAIA_AREA
            amount -= 1
    if amount:
        player.brainstone = GAIA_AREA


# -- spending from bowl III


def can_spend(player: Player, amount: int) -> bool:
    """Whether bowl III holds this much power (ACT-05 to ACT-07)."""
    ordinary = player.bowls[BOWL_III]
    if player.has_pi("NEVLAS"):
        return 2 * ordinary >= amount
    if player.brainstone == BOWL_III:
        return ordinary + BRAINSTONE_POWER >= amount
    return ordinary >= amount


def spends_brainstone(player: Player, amount: int) -> bool:
    """Whether the brainstone is part of a payment (ACT-06): it spares three tokens, or helps where
    tokens do not suffice; the other way round it pays what is below its worth (A21).
    """
    if player.brainstone != BOWL_III:
        return False
    suits = amount < BRAINSTONE_POWER if player.brainstone_turned else amount >= BRAINSTONE_POWER
    return suits or player.bowls[BOWL_III] < amount


def spend(player: Player, amount: int) -> None:
    """Pay power: tokens from bowl III to bowl I (ACT-05)."""
    if not can_spend(player, amount):
        raise ValueError(f"player {player.number} cannot spend {amount} power")
    if player.has_pi("NEVLAS"):
        amount = (amount + 1) // 2
    elif spends_brainstone(player, amount):
        player.brainstone = BOWL_I
        amount = max(0, amount - BRAINSTONE_POWER)
    player.bowls[BOWL_III] -= amount
    player.bowls[BOWL_I] += amount

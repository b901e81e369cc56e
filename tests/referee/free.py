"""Free actions: conversions before and after the main action (FRE-01 to FRE-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import power
from tests.referee.decision import Options

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player

A_TURN = 64  # ROU-08

# What power from bowl III buys (FRE-01); Nevlas with the PI pay in tokens worth 2 (FRE-07).
POWER = {
    "P1_to_C": (1, {"credits": 1}),
    "P3_to_O": (3, {"ore": 1}),
    "P4_to_K": (4, {"knowledge": 1}),
    "P4_to_Q": (4, {"qic": 1}),
}
NEVLAS = {
    "P1_to_C": (1, {"credits": 2}),
    "P3_to_O": (2, {"ore": 1, "credits": 1}),
    "P4_to_K": (2, {"knowledge": 1}),
    "P4_to_Q": (2, {"qic": 1}),
    "T3_to_2O": (3, {"ore": 2}),
}
# Resource for resource (FRE-02), and the Hadsch Hallas' with the PI (FRE-08).
TRADES = {
    "K_to_C": ({"knowledge": 1}, {"credits": 1}),
    "O_to_C": ({"ore": 1}, {"credits": 1}),
    "Q_to_O": ({"qic": 1}, {"ore": 1}),
}
HADSCH_HALLAS = {
    "C4_to_K": ({"credits": 4}, {"knowledge": 1}),
    "C3_to_O": ({"credits": 3}, {"ore": 1}),
    "C4_to_Q": ({"credits": 4}, {"qic": 1}),
}


def options(game: Game, player: Player) -> Options:
    """Conversions that can be paid and gain something (FRE-03)."""
    if game.free_actions_left == 0:
        return
    for name, (cost, gain) in TRADES.items():
        if player.can_pay(cost) and not player.loses(gain):
            yield f"free {name}", (trade, cost, gain)
    if player.ore:
        yield "free O_to_token", (ore_to_token,)
    if power.in_bowl(player, power.BOWL_II) >= 2:
        yield "free burn", (burn,)
    if player.has_pi("NEVLAS"):
        for name, (tokens, gain) in NEVLAS.items():
            if player.bowls[power.BOWL_III] >= tokens and not player.loses(gain):
                yield f"free {name}", (nevlas_power, tokens, gain)
    else:
        for name, (amount, gain) in POWER.items():
            if power.can_spend(player, amount) and not player.loses(gain):
                yield f"free {name}", (spend_power, amount, gain)
    if player.has_pi("HADSCH_HALLAS"):
        for name, (cost, gain) in HADSCH_HALLAS.items():
            if player.can_pay(cost) and not player.loses(gain):
                yield f"free {name}", (trade, cost, gain)
    if player.is_("BAL_TAKS") and player.gaiaformers:
        yield "free GF_to_Q", (gaiaformer_to_qic,)
    if player.is_("NEVLAS") and player.bowls[power.BOWL_III] and not player.full("knowledge"):
        yield "free T_to_K", (token_to_knowledge,)


def turning(game: Game, player: Player) -> Options:
    """The brainstone may take the other place in payments, for the rest of the turn (A21)."""
    in_bowl = player.brainstone in (power.BOWL_I, power.BOWL_II, power.BOWL_III)
    if in_bowl and not player.brainstone_turned and game.free_actions_left:
        yield "free brainstone", (turn_brainstone,)


def turn_brainstone(game: Game, player: Player) -> None:
    player.brainstone_turned = True


def trade(game: Game, player: Player, cost: dict[str, int], gain: dict[str, int]) -> None:
    player.pay(cost)
    player.gain(gain)


def ore_to_token(game: Game, player: Player) -> None:
    """A new token in bowl I, the Xenos' in bowl III (FRE-02, XEN-01)."""
    player.pay({"ore": 1})
    player.gain({"tokens_iii" if player.printed["ore_token_to_iii"] else "tokens": 1})


def burn(game: Game, player: Player) -> None:
    """One token of bowl II leaves, another moves to III: the brainstone first (FRE-04, FRE-05).

    The other way round it stays where two ordinary tokens are there (A21).
    """
    two_others = player.bowls[power.BOWL_II] >= 2
    player.bowls[power.BOWL_II] -= 1
    if player.is_("ITARS"):
        player.gaia_tokens += 1
    if player.brainstone_turned and two_others:
        player.bowls[power.BOWL_II] -= 1
        player.bowls[power.BOWL_III] += 1
    else:
        power.move(player, power.BOWL_II, power.BOWL_III, 1)


def spend_power(game: Game, player: Player, amount: int, gain: dict[str, int]) -> None:
    """The brainstone, spent for credits, gives 3 (FRE-10, A21)."""
    brainstone_spent = player.brainstone == power.BOWL_III
    power.spend(player, amount)
    brainstone_spent = brainstone_spent and player.brainstone != power.BOWL_III
    if brainstone_spent and "credits" in gain:
        gain = {"credits": power.BRAINSTONE_POWER}
    player.gain(gain)


def nevlas_power(game: Game, player: Player, tokens: int, gain: dict[str, int]) -> None:
    player.bowls[power.BOWL_III] -= tokens
    player.bowls[power.BOWL_I] += tokens
    player.gain(gain)


def gaiaformer_to_qic(game: Game, player: Player) -> None:
    """Bal T'aks; it comes back in the next Gaia phase (FRE-09)."""
    player.gaiaformers -= 1
    player.gaiaformers_in_gaia_area += 1
    player.gain({"qic": 1})


def token_to_knowledge(game: Game, player: Player) -> None:
    """Nevlas, with or without the PI (FRE-06)."""
    player.bowls[power.BOWL_III] -= 1
    player.gaia_tokens += 1
    player.gain({"knowledge": 1})

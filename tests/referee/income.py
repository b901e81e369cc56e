"""The income phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import power
from tests.referee.decision import Script, ask

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def phase(game: Game) -> Script:
    """What needs no decision comes to all players at once, then each decides in turn (GEN-06)."""
    for player in game.humans():
        for gain in plain_income(game, player):
            player.gain(gain, "ECONOMY")
        charges, tokens = power_income(game, player)
        if not (charges and tokens):
            take_power(player, charges, tokens)
    for player in game.humans():
        charges, tokens = power_income(game, player)
        if charges and tokens:
            yield from order_power(player, charges, tokens)


def order_power(player: Player, charges: dict[str, int], tokens: dict[str, int]) -> Script:
    """Charges and tokens for bowl I in the order one likes, while both are pending (INC-02)."""
    while charges and tokens:
        menu = {f"income {atom}": atom for atom in (*charges, *tokens)}
        atom = yield from ask(player.number, "INCOME", menu)
        if atom in charges:
            power.charge(player, charges.pop(atom))
        else:
            player.gain({"tokens": tokens.pop(atom)})
    take_power(player, charges, tokens)


def take_power(player: Player, charges: dict[str, int], tokens: dict[str, int]) -> None:
    """All of one kind: their order does not matter."""
    for amount in tokens.values():
        player.gain({"tokens": amount})
    for amount in charges.values():
        power.charge(player, amount)


def plain_income(game: Game, player: Player) -> list[dict[str, int]]:
    """Everything but charges and tokens for bowl I (INC-01, INC-05)."""
    printed = player.printed
    gains = [printed["income"]]
    gains += [{"ore": ore} for ore in printed["mine_income"][: len(player.mines())]]
    gains += printed["ts_income"][: player.count("TS")]
    gains += printed["rl_income"][: player.count("RL")]
    if player.count("AC_A"):
        gains.append(printed["academy_a_income"])
    if player.count("PI"):
        gains.append(printed["pi_income"])
    gains.append(economy(game, player))
    gains.append({"knowledge": game.rules.science_income[player.tracks["science"]]})
    gains.append(game.rules.boosters[player.booster])
    gains += [income for tile, income in game.rules.tile_income.items() if player.uncovered(tile)]
    if "ART-KNO1ORE1" in player.artifacts:
        gains.append({"knowledge": 1, "ore": 1})
    if "ART-CREATE-POWER" in player.artifacts:
        gains.append({"tokens_iii": 2})
    power_kinds = ("charge", "tokens")
    return [{k: n for k, n in gain.items() if k not in power_kinds} for gain in gains]


def economy(game: Game, player: Player) -> dict[str, int]:
    """The economy track, with the overlay's side of this game (SET-05)."""
    side = game.setup.get("economy_side", "A")
    income: dict[str, int] = game.rules.economy_income[side][player.tracks["economy"]]
    return income


def power_income(game: Game, player: Player) -> tuple[dict[str, int], dict[str, int]]:
    """The charges, and the new tokens for bowl I, by source."""
    printed, rules = player.printed, game.rules
    booster = rules.boosters[player.booster]
    has_pi = bool(player.count("PI"))
    tiles = [income for tile, income in rules.tile_income.items() if player.uncovered(tile)]
    charges = {
        "CH_PI": printed["pi_charge"] if has_pi else 0,
        "CH_ECO": economy(game, player).get("charge", 0),
        "CH_BOOSTER": booster.get("charge", 0),
        "CH_LABS": printed["lab_charge"] * player.count("RL"),
        "CH_TILE": sum(income.get("charge", 0) for income in tiles),
    }
    tokens = {
        "TK_FACTION": printed["income_tokens"],
        "TK_PI": printed["pi_tokens"] if has_pi else 0,
        "TK_BOOSTER": booster.get("tokens", 0),
    }
    return _positive(charges), _positive(tokens)


def _positive(atoms: dict[str, int]) -> dict[str, int]:
    return {atom: amount for atom, amount in atoms.items() if amount}

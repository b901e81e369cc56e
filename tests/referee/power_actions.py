"""The seven power actions of the research board, each once a round for the whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import mine, power
from tests.referee.decision import Options

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def options(game: Game, player: Player) -> Options:
    """The power actions that are free this round and can be paid (ACT-02)."""
    for name, printed in game.rules.power_actions.items():
        if name in game.used or not power.can_spend(player, printed["power"]):
            continue
        if name in game.rules.power_action_steps:
            terms = mine.TERMS[name]
            if mine.possible(game, player, terms):
                yield f"power {name}", (mine.choose_site, terms, name)
        else:
            yield f"power {name}", (take, name)


def take(game: Game, player: Player, name: str) -> None:
    """Pay from bowl III and take what the space gives."""
    printed = game.rules.power_actions[name]
    game.used.add(name)
    power.spend(player, printed["power"])
    player.gain(printed["gain"])

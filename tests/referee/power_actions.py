"""The seven power actions of the research board, each once a round for the whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import federation, mine, power, scoring, tech
from tests.referee.decision import Options, Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def options(game: Game, player: Player) -> Options:
    """The power actions that are free this round, can be paid and give something (ACT-02, A27)."""
    for name, printed in game.rules.power_actions.items():
        if name in game.used or not power.can_spend(player, printed["power"]):
            continue
        if name in game.rules.power_action_steps:
            terms = mine.TERMS[name]
            if mine.possible(game, player, terms):
                yield f"power {name}", (mine.choose_site, terms, name)
        elif player.may_take(printed["gain"]):
            yield f"power {name}", (take, name)


def qic_options(game: Game, player: Player) -> Options:
    """The QIC actions of the board, each once a round for the whole table (base game)."""
    for name, qic in game.rules.qic_actions.items():
        if name in game.used or player.qic < qic:
            continue
        if name == "QIC_TECH" and not tech.choices(game, player):
            continue
        if name == "QIC_TOKEN" and not federation.scorable_tokens(game, player):
            continue
        yield f"qic {name}", (use_qic, name, qic)


def use_qic(game: Game, player: Player, name: str, qic: int) -> Script:
    """A tech tile; an own token's gains again; 3 VP and 1 for each planet type."""
    effect = None
    if name == "QIC_TOKEN":
        effect = yield from ask(player.number, "TARGET", federation.scorable_tokens(game, player))
    game.used.add(name)
    player.pay({"qic": qic})
    if name == "QIC_TECH":
        yield from tech.choose(game, player)
    elif name == "QIC_TYPES":
        player.score("SHIP", 3 + len(scoring.planet_types(player)))
    else:
        yield from do(effect, game, player)


def take(game: Game, player: Player, name: str) -> None:
    """Pay from bowl III and take what the space gives."""
    printed = game.rules.power_actions[name]
    game.used.add(name)
    power.spend(player, printed["power"])
    player.gain(printed["gain"])

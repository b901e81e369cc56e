"""Rounds and turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import (
    automa,
    federation,
    fleet,
    free,
    gaia,
    income,
    leech,
    mine,
    passing,
    power_actions,
    research,
    special,
    upgrade,
)
from tests.referee.decision import Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def play_round(game: Game) -> Script:
    """Tinkering tile, income, Gaia phase, actions, clean-up (ROU-01)."""
    automa.new_deck(game)
    yield from choose_tinkering(game)
    yield from income.phase(game)
    yield from gaia.phase(game)
    yield from actions(game)
    if game.round < game.last_round:
        clean_up(game)


def choose_tinkering(game: Game) -> Script:
    """Tinkeroids choose a tile that they have not had, of this half of the game (TIN-01)."""
    for player in game.humans():
        if player.is_("TINKEROIDS"):
            fresh = [
                tile
                for tile, printed in game.rules.tinkering.items()
                if game.round in printed["rounds"] and tile not in player.tinkering_used
            ]
            menu = {f"tinkering {tile}": tile for tile in fresh}
            player.tinkering = yield from ask(player.number, "TINKERING", menu)
            player.tinkering_used.add(player.tinkering)


def actions(game: Game) -> Script:
    """Turns in turn order until all have passed (ROU-06)."""
    while not all(player.passed for player in game.players):
        for player in game.in_turn_order():
            if isinstance(player, automa.Automa):
                if not player.passed:
                    yield from automa.take_turn(game, player)
            elif not player.passed:
                yield from take_turn(game, player)
                player.brainstone_turned = False  # A21


def take_turn(game: Game, player: Player) -> Script:
    """Free actions, one main action, the others' leech, free actions (ROU-03)."""
    game.active = player
    game.free_actions_left = free.A_TURN
    while True:
        menu: dict[str, Any] = dict(free.options(game, player))
        menu.update(free.turning(game, player))
        free_count = len(menu)
        menu.update(main_actions(game, player))
        assert len(menu) > free_count  # passing is always possible (ROU-05)
        effect = yield from ask(player.number, "TURN", menu)
        yield from do(effect, game, player)
        if game.last_action.startswith("free "):
            game.free_actions_left -= 1
        else:
            break
    if player.passed:
        return  # at once, no free actions (ROU-04)
    yield from leech.resolve(game, player)
    while True:
        menu = dict(free.options(game, player))
        if not menu:
            return
        menu.update(free.turning(game, player))  # keeps no turn open by itself (A21)
        menu["end_turn"] = None
        effect = yield from ask(player.number, "AFTER", menu)
        if effect is None:
            return
        yield from do(effect, game, player)
        game.free_actions_left -= 1


def main_actions(game: Game, player: Player) -> dict[str, Any]:
    mine.look_again(game)
    menu: dict[str, Any] = {}
    for chapter in (
        mine.options,
        gaia.projects,
        upgrade.options,
        federation.options,
        research.options,
        power_actions.options,
        power_actions.qic_options,
        fleet.options,
        special.options,
        fleet.explorations,
        fleet.artifact_options,
        passing.options,
    ):
        menu.update(chapter(game, player))
    return menu


def clean_up(game: Game) -> None:
    """Spaces and special actions are free again; the pass order is the next turn order (ROU-07)."""
    game.used.clear()
    for player in game.players:
        player.used.clear()
        player.passed = False
        player.tinkering = None  # A6
    game.turn_order = [player.number for player in game.pass_order]
    game.pass_order = []

"""The research board: levels, what they give, the Lost Planet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import federation, mine, power, scoring
from tests.referee.board import Cell
from tests.referee.decision import Options, Script, ask

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player

TOP = 5


def options(game: Game, player: Player) -> Options:
    """The main action (RES-01)."""
    if player.knowledge >= game.rules.research_cost:
        for track in open_tracks(game, player):
            yield f"advance {track}", (study, track)


def study(game: Game, player: Player, track: str) -> Script:
    player.pay({"knowledge": game.rules.research_cost})
    yield from advance(game, player, track)


def can_advance(game: Game, player: Player, track: str) -> bool:
    """Level 5 takes a green token, and has room for one player (RES-02)."""
    level = player.tracks[track]
    if track == "navigation" and player.is_("BAL_TAKS") and not player.has_pi("BAL_TAKS"):
        return False  # BAL-01
    if level == TOP:
        return False
    if level == TOP - 1:
        return player.green > 0 and all(other.tracks[track] < TOP for other in game.players)
    return True


def open_tracks(game: Game, player: Player) -> list[str]:
    return [track for track in game.rules.tracks if can_advance(game, player, track)]


def enters_top(player: Player, track: str) -> bool:
    return player.tracks[track] == TOP - 1


def advance(game: Game, player: Player, track: str) -> Script:
    """One level up: token, VP, the 2-to-3 charge, then what the level gives (RES-03, A14)."""
    if not can_advance(game, player, track):
        raise ValueError(f"player {player.number} cannot advance {track}")
    level = player.tracks[track] + 1
    if level == TOP:
        player.green -= 1
    player.tracks[track] = level
    scoring.level_gained(game, player)
    if level == 3:
        power.charge(player, game.rules.charge_at_3)
    player.gain(game.rules.level_bonus[track].get(str(level), {}))
    if track == "gaia" and level in game.rules.gaiaformer_levels:
        player.gaiaformers += 1
    if level == TOP:
        if track == "terraforming":
            yield from federation.receive(game, player, game.setup["tf5_token"])  # FED-23
        elif track == "navigation":
            yield from find_lost_planet(game, player)
        elif track == "gaia":
            player.score("RESEARCH", 4 + scoring.gaia_structures(player))  # RES-05


def find_lost_planet(game: Game, player: Player) -> Script:
    """Level 5 of navigation: an empty hex in reach becomes a planet (RES-07)."""
    menu = {f"pick {game.board.text[cell]}": cell for cell in lost_planet_cells(game, player)}
    if menu:
        cell = yield from ask(player.number, "LOST_PLANET", menu)
        settle_lost_planet(game, player, cell)


def lost_planet_cells(game: Game, player: Player) -> list[Cell]:
    """Empty hexes in range, without a satellite or station of anyone."""
    occupied = set().union(*(other.satellites | other.stations for other in game.players))
    return [
        cell
        for cell, content in enumerate(game.board.planet)
        if content == "Empty" and cell not in occupied and player.range_qic(cell) <= player.qic
    ]


def settle_lost_planet(game: Game, player: Player, cell: Cell) -> None:
    """It counts as building a mine, without a mine piece (RES-08)."""
    player.pay({"qic": player.range_qic(cell)})
    game.board.planet[cell] = "Lost"
    game.board.planets.append(cell)
    news = scoring.news_of_mine(game, player, cell)
    game.board.owner[cell] = player.number
    player.structures[cell] = "MINE"
    player.lost_planet = cell
    mine.settle(game, player, cell, news)

"""The Automa: the opponent of a solo game, its cards, its turn, its passing (AUT-01 to AUT-45).

It decides nothing. All its cards are drawn in the set-up, so its turns follow from the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import automa_actions, leech
from tests.referee.automa_cards import Card, facts
from tests.referee.board import Board
from tests.referee.decision import Script
from tests.referee.player import NOWHERE, Player
from tests.referee.rules import Rules

if TYPE_CHECKING:
    from tests.referee.game import Game

SEAT = 1  # the human is player 0
PLACES = ("left", "middle", "right")
LATE_ROUNDS = (4, 5, 6)  # the right number of a round tile counts in them
VP_SOURCE = "FACTION"  # of the VP of its cards


class Automa(Player):
    """The Automa's pieces, levels and cards. It has no resources, power or tiles (AUT-15)."""

    is_automa = True

    def __init__(self, faction: str, rules: Rules, board: Board, drawn: dict[str, Any]) -> None:
        super().__init__(SEAT, faction, rules, board)
        self.drawn = drawn
        self.level: dict[str, Any] = facts()["levels"][drawn["level"]]
        self.card: dict[str, Any] = facts()["factions"][faction]  # its faction card
        self.bowls = [0, 0, 0]
        self.brainstone = NOWHERE
        self.shuttles_left = 0
        if self.card["start_track"]:
            self.tracks[self.card["start_track"]] = 1  # AUT-05
        self.deck: list[int] = []  # of this round, the top first
        self.cards_turned = 0  # of this deck
        self.turns = 0  # of this round, the one in which it passes included
        if rules.ships:
            self.shuttles.add(drawn["explored_ship"])  # its tile shows the action side (AUT-42)
        self.score("START", self.level["start_vp_fleet" if rules.ships else "start_vp"])  # AUT-45

    def score(self, source: str, vp: int) -> None:
        """Each gain of VP brings one more at the highest level; a gain of 0 is none (AUT-11)."""
        extra = self.level["extra_vp"] if vp > 0 and source != "START" else 0
        super().score(source, vp + extra)

    def supply(self, piece: str) -> int:
        """The two academies are alike (AUT-05)."""
        if piece == "AC":
            return super().supply("AC_A") + super().supply("AC_B")
        return super().supply(piece)


# -- the set-up


def start_mine(game: Game, automa: Automa) -> None:
    """The empty home planet closest to the centre; a card's direction breaks ties (AUT-06)."""
    board = game.board
    free = [
        cell
        for cell in board.planets
        if board.planet[cell] == automa.printed["home"] and board.owner[cell] is None
    ]
    centre = board.geometry.distance[board.geometry.index[centre_hex(game.rules)]]
    nearest = [cell for cell in free if centre[cell] == min(centre[c] for c in free)]
    card = facts()["cards"][automa.drawn["start_mine_cards"][len(automa.structures)]]
    cell = automa_actions.first_in_direction(game, nearest, card["direction"])
    automa.structures[cell] = "MINE"
    board.owner[cell] = automa.number
    automa.add_range_source(cell)


def centre_hex(rules: Rules) -> tuple[int, int]:
    """The middle of the sector in the middle (AUT-02)."""
    q, r = rules.map["sector_centres"][0]
    return q, r


def first_booster(game: Game, automa: Automa) -> None:
    """The place among the five that a card's lamps name (AUT-07)."""
    card = facts()["cards"][automa.drawn["booster_card"]]
    automa.booster = game.open_boosters.pop(card["setup_booster"] - 1)


# -- rounds


def new_deck(game: Game) -> None:
    """All cards of the last round and one more, shuffled (AUT-09); the set-up has their order."""
    for player in game.players:
        if isinstance(player, Automa):
            player.deck = list(player.drawn["decks"][game.round - 1])
            player.cards_turned = player.turns = 0


def turn_cards(automa: Automa) -> tuple[Card, Card | None]:
    """The support card and the action card; there is no action card if it passes (AUT-12, AUT-13).

    The first turn of a round turns two cards, each later turn one.
    """
    cards = facts()["cards"]
    if automa.cards_turned == len(automa.deck):
        return cards[automa.deck[-1]], None
    automa.cards_turned += 1 if automa.cards_turned else 2
    support, action = (cards[n] for n in automa.deck[: automa.cards_turned][-2:])
    return support, None if passes_with(automa, action) else action


def passes_with(automa: Automa, action: Card) -> bool:
    """A red action card among the three at the bottom of the deck ends the round (AUT-13)."""
    cards_below = len(automa.deck) - automa.cards_turned
    return bool(action["red"]) and cards_below < facts()["bottom_cards"]


def take_turn(game: Game, automa: Automa) -> Script:
    """Turn cards, then pass or act; the human may charge power (AUT-12 to AUT-14, AUT-30)."""
    game.active = automa
    automa.turns += 1
    support, action = turn_cards(automa)
    if action is None:
        pass_(game, automa, support)
        return
    if action["action"] == "faction":
        automa_actions.faction_action(game, automa, support)
        automa.score(VP_SOURCE, automa.card["vp"])
    else:
        automa_actions.card_action(game, automa, action["action"], support)
        automa.score(VP_SOURCE, action["vp"])
    yield from leech.resolve(game, automa)


def pass_(game: Game, automa: Automa, support: Card) -> None:
    """VP of the round tile; the booster that the support card shows (AUT-28)."""
    automa.score("ROUND_TILE", round_tile_vp(game))
    if game.round < game.last_round:
        assert automa.booster is not None
        chosen = game.open_boosters.pop(PLACES.index(support["booster"]))
        game.open_boosters.append(automa.booster)
        automa.booster = chosen
    automa.passed = True
    game.pass_order.append(automa)


def round_tile_vp(game: Game) -> int:
    """The Automa's number on the tile in force: left in rounds 1 to 3, right in 4 to 6."""
    numbers: list[int] = facts()["round_tile_vp"][game.round_tile()]
    return numbers[game.round in LATE_ROUNDS]

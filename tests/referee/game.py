"""A game: its state, whose decision is next, and what is legal."""

from __future__ import annotations

from typing import Any

from tests.referee import scoring, setup, solo, turn
from tests.referee.automa import Automa
from tests.referee.automa_cards import facts
from tests.referee.board import Board, Cell
from tests.referee.decision import NODES, Decision, Script
from tests.referee.player import Player


class IllegalAction(ValueError):
    """The text is not among the legal actions."""


class Game:
    """One game.

    `Game(setup)` is at the first decision; `legal_actions()` are the texts that `apply` takes.
    """

    last_round = 6

    def __init__(self, setup_dict: dict[str, Any], name: str = "lost_fleet") -> None:
        if solo.is_solo(setup_dict):
            solo.check(setup_dict, name)
            setup_dict = solo.seat_both(setup_dict)
        self.rules = setup.rules_of(setup_dict, name)
        setup.check(self.rules, setup_dict)
        self.setup = setup_dict
        self.board = Board(self.rules, setup_dict)
        self.round = 0
        self.turn_order: list[int] = list(setup_dict["turn_order"])
        self.open_boosters: list[str] = list(setup_dict["boosters"])
        self.advanced: dict[str, str] = dict(setup_dict["advanced_tiles"])  # not yet taken
        self.artifacts: list[str | None] = list(
            setup_dict.get("artifacts", ())
        )  # by place on Twilight
        self.ship_tokens_left: dict[str, str] = dict(setup_dict.get("ship_tokens", {}))
        copies = self.rules.base_token_copies
        if solo.is_solo(setup_dict):
            copies = facts()["token_copies"]  # AUT-03
        self.token_supply = dict.fromkeys(self.rules.base_tokens, copies)
        self.token_supply[setup_dict["tf5_token"]] -= 1  # SET-06
        self.players: list[Player] = setup.make_players(self)
        self.active: Player | None = None  # whose turn it is
        self.used: set[str] = set()  # power and ship actions of this round
        self.free_actions_left = 0
        self.events: list[Cell] = []  # hexes where somebody built, still to be offered as leech
        self.pass_order: list[Player] = []
        self.last_action = ""
        self.builders: dict[int, Any] = {}  # federation searches, by player
        self.sites: list[Any] = []  # where the player `sites_of` might build, at this decision
        self.sites_of: int | None = None
        self.given_satellites: set[Cell] | None = None  # a layout to check and adopt
        self._script = self._play()
        self.decision: Decision = next(self._script)

    def _play(self) -> Script:
        yield from setup.starting_structures(self)
        yield from setup.choose_boosters(self)
        while self.round < self.last_round:
            self.round += 1
            yield from turn.play_round(self)
        scoring.final_scoring(self)

    # -- the face

    @property
    def node(self) -> str:
        return self.decision.node

    @property
    def node_number(self) -> int:
        return NODES.index(self.decision.node)

    @property
    def current_player(self) -> int:
        return self.decision.player

    @property
    def over(self) -> bool:
        return self.decision.node == "ENDED"

    def legal_actions(self) -> set[str]:
        """The texts of all legal actions; none are listed for a game that has ended."""
        return set(self.decision.menu)

    def apply(self, text: str, satellites: set[Cell] | None = None) -> None:
        """Play an action. A federation that it commits takes `satellites`, if given and right."""
        if text not in self.decision.menu:
            raise IllegalAction(f"{text!r} at {self.node}; legal: {sorted(self.decision.menu)}")
        self.last_action = text
        self.sites_of = None
        self.given_satellites = satellites
        try:
            self.decision = self._script.send(text)
        except StopIteration:
            self.decision = Decision(self.current_player, "ENDED", {})  # A15

    # -- who comes when

    def in_turn_order(self) -> list[Player]:
        return [self.players[number] for number in self.turn_order]

    def automa(self) -> Automa:
        """The Automa of a solo game."""
        (automa,) = (player for player in self.players if isinstance(player, Automa))
        return automa

    def humans(self) -> list[Player]:
        """The players but the Automa, in turn order."""
        return [player for player in self.in_turn_order() if not player.is_automa]

    def after(self, player: Player) -> list[Player]:
        """The other players in turn order, beginning after this one (LEE-04)."""
        order = self.in_turn_order()
        place = order.index(player)
        return order[place + 1 :] + order[:place]

    def others(self, builder: Player) -> list[Player]:
        """Who is asked for leech, in order: by turn order, or as they sit (LEE-04, A11)."""
        others = self.after(builder)
        if self.rules.switches.leech_in_seat_order:
            seats = len(self.players)
            others = [self.players[(builder.number + i) % seats] for i in range(1, seats)]
        return [player for player in others if not player.is_automa]  # AUT-15

    def round_tile(self) -> str | None:
        """The round tile in force; none before the first round (INI-07)."""
        tile: str | None = self.setup["round_tiles"][self.round - 1] if self.round else None
        return tile

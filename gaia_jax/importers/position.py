"""A game that is played as in a log: its open decision, pieces, power and stocks."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np

from gaia_jax.actions import from_text
from gaia_jax.components import costs
from gaia_jax.env import State
from gaia_jax.importers.notation import PIECES, POWER_COSTS, MismatchError, amounts
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GAIA_AREA, NO_BRAINSTONE, NODES, GameState

# Yields the index of an action; the game is stepped before it resumes.
Script = Generator[int, None, None]

BRAINSTONE_AREAS = {"area1": 0, "area2": 1, "area3": 2, "gaia": GAIA_AREA, "discard": NO_BRAINSTONE}
BOWL_II, BOWL_III = 1, 2


class Position:
    """The present position of a game, on the host."""

    def __init__(self, rules: Ruleset, state: State) -> None:
        self.rules, self._state = rules, state

    @property
    def state(self) -> State:
        """The current state, of NumPy arrays."""
        return self._state

    def set_state(self, state: State) -> None:
        """The state after a step."""
        self._state = state

    @property
    def node(self) -> str:
        """The open decision."""
        return NODES[int(self.state.game.turn.node)]

    @property
    def player(self) -> int:
        """Whose it is."""
        return int(self.state.current_player)

    @property
    def decision(self) -> str:
        """The open decision and its player, in messages."""
        return f"{self.node} of player {self.player}"

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.state.terminated)

    @property
    def mask(self) -> np.ndarray:
        """(A,) bool, the legal actions."""
        return np.asarray(self.state.legal_action_mask)

    def legal(self, text: str) -> bool:
        """Whether the action of this text is legal."""
        index = self.rules.actions.by_text
        return text in index and bool(self.mask[index[text]])

    def menu(self) -> list[str]:
        """The texts of all legal actions."""
        return [self.rules.actions.texts[action] for action in np.flatnonzero(self.mask)]


# -- buildings and federations


def members(game: GameState, player: int) -> set[int]:
    """Cells of own structures, guests and stations."""
    board = game.board
    own = (np.asarray(board.owner) == player) | (np.asarray(board.guest) == player)
    if game.players.stations[player]:
        own |= np.asarray(board.station)
    return {int(cell) for cell in np.flatnonzero(own)}


def marked(game: GameState, player: int, low: int) -> set[int]:
    """Cells with the bit of the player among the federation bits; `low` 0 satellites, 4 members."""
    federation_bits = np.asarray(game.board.federation_bits).astype(int)
    return {int(cell) for cell in np.flatnonzero(federation_bits >> (player + low) & 1)}


def loose(game: GameState, player: int) -> set[int]:
    """Own structures and stations outside any federation."""
    return members(game, player) - marked(game, player, 4)


def neighbours(position: Position, cells: Iterable[int]) -> set[int]:
    """All cells next to these."""
    table = position.rules.geometry.neighbors
    return {int(n) for cell in cells for n in table[cell] if n >= 0}


def group_of(position: Position, text: str, game: GameState) -> set[int]:
    """The group of touching unfederated structures and stations that a pick names (A9)."""
    own = loose(game, position.player)
    index = from_text(position.rules, text)
    group = {int(position.rules.actions.cell[index])}
    while neighbours_left := (neighbours(position, group) & own) - group:
        group |= neighbours_left
    return group


def has_piece(position: Position, player: int, piece: str, cell: str) -> bool:
    """Whether a player has such a piece on a cell "q,r"."""
    q, r = cell.split(",")
    at, board = position.rules.geometry.cell_index[int(q), int(r)], position.state.game.board
    if piece == "gf":
        return int(board.gaiaformer[at]) == player
    if piece == "sp":
        return bool(board.station[at])
    if piece == "m" and int(board.guest[at]) == player:
        return True
    structure = position.rules.ids["structure"].index(PIECES[piece])
    return int(board.owner[at]) == player and int(board.structure[at]) == structure


# -- power and stocks


def worth(position: Position, player: int) -> int:
    """The worth of a token of bowl III for a player (ACT-07)."""
    return _power_worth(position.rules, position.state.game, player)


def _power_worth(rules: Ruleset, game: GameState, player: int) -> int:
    faction = rules.factions[int(game.setup.faction[player])]
    return int(faction.pi_power_worth) if game.players.built[player, 4] else 1


def is_full(position: Position, gain: str, player: int) -> bool:
    """Whether nothing of a conversion's gain has room."""
    game = position.state.game
    players = game.players
    names = {"c": "credits", "o": "ore", "k": "knowledge"}
    faction = position.rules.factions[int(game.setup.faction[player])]
    if faction.id == "GLEENS" and not players.built[player, 6]:
        names["q"] = "ore"  # QIC come as ore (GLE-01)
    stocks = [names.get(unit) for _, unit in amounts(gain)]
    return all(name and int(getattr(players, name)[player]) >= costs.CAPS[name] for name in stocks)


def brainstone_and_tokens(game: GameState, player: int) -> tuple[int, list[int]]:
    """The place of the brainstone, and the ordinary tokens of the bowls and the Gaia area."""
    players = game.players
    tokens = [*players.power[player].tolist(), int(players.gaia_power[player])]
    return int(players.brainstone[player]), tokens


def place_in(command: list[str]) -> int:
    """The place that a `brainstone` command names."""
    if len(command) != 2 or command[1] not in BRAINSTONE_AREAS:
        raise MismatchError("brainstone", " ".join(command), "no such place")
    return BRAINSTONE_AREAS[command[1]]


def is_spent(position: Position, player: int, cost: int) -> bool:
    """Whether our rules pay with the brainstone (ACT-06, A21)."""
    stone, tokens = brainstone_and_tokens(position.state.game, player)
    if stone != BOWL_III:
        return False
    turned = bool(position.state.game.turn.brainstone_reversed)
    return (cost >= costs.BRAINSTONE_POWER) != turned or tokens[BOWL_III] < cost


def wants_other_way(position: Position, player: int, command: list[str], place: int | None) -> bool:
    """Whether our rules would use the brainstone otherwise than recorded.

    Args:
        command: the next one; place: the brainstone's recorded place after it, None if unknown.
    """
    if position.player != player:
        return False
    stone, tokens = brainstone_and_tokens(position.state.game, player)
    name = command[0]
    if name == "action" and command[1] in POWER_COSTS and stone == BOWL_III:
        cost = POWER_COSTS[command[1]]
        return place is not None and is_spent(position, player, cost) != (place == 0)
    if name == "spend" and stone == BOWL_III:
        ((count, unit), *_), gains = amounts(command[1]), amounts(command[3])
        if unit != "pw":
            return False
        spent = tokens[BOWL_III] < count if place is None else place == 0
        once = 1 if gains[0][1] == "c" else count // gains[0][0]
        return is_spent(position, player, once) != spent
    if name == "burn" and stone == BOWL_II:
        turned = bool(position.state.game.turn.brainstone_reversed)
        return place == BOWL_II and not turned and tokens[BOWL_II] >= 2
    if name == "build" and command[1] == "gf" and place in (0, 1, 2):
        return place == stone and not bool(position.state.game.turn.brainstone_reversed)
    return False


def final_vp(rules: Ruleset, end: GameState, before: GameState, player: int) -> int:
    """VP with what the other engine makes of what is left at the end: pairs of bowl II are
    burned, power of bowl III and QIC become credits and ore, 3 of all are 1 VP.

    Args:
        before: the game before its last decision.
    """
    sources = rules.ids["vp_source"]
    plain = int(end.players.vp[player]) - int(
        end.players.vp_source[player, sources.index("RESOURCES")]
    )
    players = before.players
    two, three = int(players.power[player, 1]), int(players.power[player, 2])
    stone = int(players.brainstone[player])
    tokens_ii = two + (stone == 1)
    burned = tokens_ii // 2
    power = 0
    if stone == 2 or (stone == 1 and burned):
        power, burned = costs.BRAINSTONE_POWER, burned - (stone == 1)
    power += (three + burned) * _power_worth(rules, before, player)
    stocks = [int(getattr(players, name)[player]) for name in ("credits", "ore", "knowledge")]
    left = min(stocks[0] + power, costs.CAPS["credits"]) + stocks[2]
    left += min(stocks[1] + int(players.qic[player]), costs.CAPS["ore"])
    return plain + left // costs.RESOURCES_PER_VP

"""Federations: which are legal, how they are formed, and their tokens."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.referee import leech, mine, power, satellites, scoring, tech
from tests.referee.board import Cell
from tests.referee.decision import Options, Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player

MOST_GROUPS = 12  # A9
MOST_FEDERATIONS = 128  # A10
GIVES_A_CHOICE = ("SFT_TECH", "SFT_RANGE_MINE", "SFT_TF3_MINE")


class LayoutError(ValueError):
    """Satellites given from outside are not what the rules ask for."""


# -- what belongs together


def federation_cells(player: Player) -> set[Cell]:
    """Every hex of the player's federations: members and satellites."""
    return player.federated | player.satellites


def absorb(game: Game, player: Player) -> None:
    """Own structures and stations next to a federation join it, until none is left (FED-07)."""
    edge = federation_cells(player)
    if not edge:
        return
    neighbours = game.board.geometry.neighbours
    loose = (player.structures.keys() | player.stations) - player.federated
    joining = True
    while joining:
        joining = {c for c in loose if not edge.isdisjoint(neighbours[c])}
        player.federated |= joining
        edge = edge | joining
        loose -= joining


def power_of(player: Player, cell: Cell) -> int:
    """What a structure or a station brings into a federation (FED-09)."""
    if cell in player.stations:
        station: int = player.rules.station_power
        return station
    value = leech.power_value(player, cell, player.structures[cell])
    if not player.rules.switches.bonus_power_in_leech:
        value += leech.bonus_power(player, cell)
    return value


def groups_of(game: Game, player: Player) -> list[list[Cell]]:
    """Unfederated structures and stations that touch, numbered by their lowest cell (A9)."""
    neighbours = game.board.geometry.neighbours
    loose = (player.structures.keys() | player.stations) - player.federated
    groups = []
    while loose:
        group = [min(loose)]
        loose = loose - {group[0]}
        for cell in group:
            touching = loose.intersection(neighbours[cell])
            group += touching
            loose -= touching
        groups.append(group)
    if len(groups) > MOST_GROUPS:
        strength = [sum(power_of(player, c) for c in group) for group in groups]
        ranked = sorted(range(len(groups)), key=lambda i: (-strength[i], i))
        groups = [groups[i] for i in sorted(ranked[:MOST_GROUPS])]
    return groups


def required(game: Game, player: Player) -> int:
    """Power that the next federation needs (FED-10, FED-15)."""
    rules = game.rules.federation
    if player.is_("HIVES"):
        return int(rules["required"]) * (player.federations_formed + 1)
    return int(rules["xenos"] if player.has_pi("XENOS") else rules["required"])


# -- which federations are legal


class Builder:
    """The federations open to a player while nothing on the map changes for them."""

    def __init__(self, game: Game, player: Player) -> None:
        self.geometry = game.board.geometry
        self.groups = groups_of(game, player)
        self.given = self._existing_federation(player)
        self.allowed = self._satellite_cells(game, player)
        needed = required(game, player) - sum(power_of(player, c) for c in self.given)
        strength = [sum(power_of(player, c) for c in group) for group in self.groups]
        self.strength, self.needed = strength, needed
        self.surplus = game.rules.switches.surplus_in_federations
        self.candidates = strong_sets(strength, needed, self.surplus)
        self.search: satellites.Search | None = None
        self.legal_within: dict[int, list[int]] = {}
        self.some_within: dict[int, bool] = {}

    @staticmethod
    def _existing_federation(player: Player) -> list[Cell]:
        """The Hive's federation grows: it is one more group, already chosen (FED-15)."""
        if not player.is_("HIVES"):
            return []
        return sorted(c for c in player.federated)

    def _satellite_cells(self, game: Game, player: Player) -> set[Cell]:
        """Empty hexes, not next to an older federation (FED-04, FED-05)."""
        closed = player.satellites | player.stations
        if not player.is_("HIVES"):
            members = federation_cells(player)
            closed = closed | members
            for cell in members:
                closed.update(self.geometry.neighbours[cell])
        planet = game.board.planet
        return {c for c in range(len(planet)) if planet[c] == "Empty" and c not in closed}

    def _search_within(self, player: Player, limit: int) -> satellites.Search:
        if self.search is None or self.search.limit < limit:
            board = satellites.grid(self.geometry)
            groups = [board.set(group) for group in self.groups]
            if self.given:
                groups.append(board.set([*self.given, *player.satellites]))
            self.search = satellites.Search(board, groups, board.set(self.allowed), limit)
        return self.search

    def with_given(self, mask: int) -> int:
        """The groups of a mask, and the Hive's federation."""
        return mask | 1 << len(self.groups) if self.given else mask

    def _payable(self, player: Player, mask: int, limit: int) -> bool:
        least = self._search_within(player, limit).least(self.with_given(mask))
        return least is not None and least <= limit

    def exists(self, player: Player, limit: int) -> bool:
        """Whether some federation is legal with at most this many satellites (A10)."""
        if limit not in self.some_within:
            fewest_first = sorted(self.candidates, key=int.bit_count)
            self.some_within[limit] = any(self._payable(player, m, limit) for m in fewest_first)
        return self.some_within[limit]

    def legal(self, player: Player, limit: int) -> list[int]:
        """The legal federations as bitmasks of groups, the first 128 of them (A10)."""
        if limit not in self.legal_within:
            legal = self._frugal(player, limit) if self.surplus else self._within(player, limit)
            self.legal_within[limit] = list(itertools.islice(legal, MOST_FEDERATIONS))
        return self.legal_within[limit]

    def _within(self, player: Player, limit: int) -> Iterator[int]:
        return (m for m in self.candidates if self._payable(player, m, limit))

    def _frugal(self, player: Player, limit: int) -> Iterator[int]:
        """Candidates of which no strict subset is strong enough with fewer satellites (A25).

        A subset of a candidate comes before it, and every set between the two is strong
        enough as well; so the fewest satellites below a candidate are passed up group by group.
        """
        search = self._search_within(player, limit)
        beyond = limit + 1
        fewest: dict[int, int] = {}  # of a candidate and all its subsets
        for mask in self.candidates:
            own = search.least(self.with_given(mask))
            own = beyond if own is None else own
            smaller = (mask ^ 1 << i for i in range(len(self.groups)) if mask >> i & 1)
            below = min((fewest[m] for m in smaller if m in fewest), default=beyond)
            fewest[mask] = min(own, below)
            if own <= min(limit, below):
                yield mask


def strong_sets(strength: list[int], needed: int, surplus: bool = False) -> list[int]:
    """Sets of groups that have the power needed.

    Where no surplus is allowed, only those that would not without any one group (FED-02). Growth
    that needs no group takes none (A10).
    """
    if needed <= 0:
        return [0]
    totals, weakest = [0], [99]
    sets = []
    for mask in range(1, 1 << len(strength)):
        top = mask.bit_length() - 1
        below = mask ^ (1 << top)
        total = totals[below] + strength[top]
        least = min(weakest[below], strength[top])
        totals.append(total)
        weakest.append(least)
        if total >= needed and (surplus or needed > total - least):
            sets.append(mask)
    return sets


def builder(game: Game, player: Player) -> Builder:
    """The builder of a player, a new one when something on the map has changed for them."""
    key = (
        frozenset(player.structures.items()),
        frozenset(player.federated),
        frozenset(player.satellites),
        frozenset(player.stations),
        frozenset(player.rings),
        player.uncovered("BT8_PIAC_4"),
        player.federations_formed,
        len(game.board.planets),
    )
    if game.builders.get(player.number, (None,))[0] != key:
        game.builders[player.number] = (key, Builder(game, player))
    current: Builder = game.builders[player.number][1]
    return current


def most_satellites(game: Game, player: Player) -> int:
    """How many satellites the player can pay and has (FED-06, FED-15, FED-17)."""
    can_pay = player.qic if player.is_("HIVES") else power.tokens(player)
    return min(can_pay, game.rules.supply["satellite"] - len(player.satellites))


# -- forming one


def options(game: Game, player: Player) -> Options:
    if not tokens_to_take(game, player):
        return
    if builder(game, player).exists(player, most_satellites(game, player)):
        yield "form_federation", (form,)


def form(game: Game, player: Player) -> Script:
    """Pick groups until they are a legal federation; lay satellites; take a token (A10)."""
    work = builder(game, player)
    legal = work.legal(player, most_satellites(game, player))
    picked = 0
    while picked not in legal or (picked and work.surplus):
        menu: dict[str, int] = {
            f"pick {game.board.text[min(group)]}": 1 << number
            for number, group in enumerate(work.groups)
            if not picked >> number & 1
            and any((picked | 1 << number) & ~mask == 0 for mask in legal)
        }
        if picked in legal:
            menu["commit"] = 0
        chosen = yield from ask(player.number, "FEDERATION", menu)
        picked |= chosen
        if not chosen:
            break
    commit(game, player, work, picked)
    effect = yield from ask(player.number, "TOKEN", tokens_to_take(game, player))
    yield from do(effect, game, player)


def commit(game: Game, player: Player, work: Builder, picked: int) -> None:
    """Pay, lay the satellites, mark the members (FED-06, FED-07, FED-15)."""
    chosen = [group for number, group in enumerate(work.groups) if picked >> number & 1]
    members = {c for group in chosen for c in group}
    if game.given_satellites is None:
        _, laid = layout(game, player, work, chosen)
    else:
        laid = game.given_satellites
        check_layout(game, player, work, chosen, laid)
    if player.is_("HIVES"):
        player.pay({"qic": len(laid)})
    else:
        power.discard(player, len(laid))
    player.satellites |= laid
    player.federated |= members
    player.federations_formed += 1
    absorb(game, player)


def layout(
    game: Game, player: Player, work: Builder, chosen: list[list[Cell]]
) -> tuple[int, set[Cell]]:
    """The fewest satellites, and among those the least in touch with buildings left out (A2)."""
    groups = [*chosen]
    if work.given:
        groups.append([*work.given, *player.satellites])
    if len(groups) < 2:
        return 0, set()
    return satellites.best_layout(
        work.geometry, groups, work.allowed, buildings_touched(player, work, chosen)
    )


def buildings_touched(player: Player, work: Builder, chosen: list[list[Cell]]) -> dict[Cell, int]:
    """By hex, the number of own unfederated buildings next to it that `chosen` leaves out."""
    outside = (player.structures.keys() | player.stations) - player.federated
    outside = outside.difference(*chosen)
    neighbours = work.geometry.neighbours
    return {c: len(outside.intersection(neighbours[c])) for c in work.allowed}


def check_layout(
    game: Game, player: Player, work: Builder, chosen: list[list[Cell]], laid: set[Cell]
) -> None:
    """Satellites from outside: as few, as little in touch, allowed, and joining all (A2)."""
    text = game.board.text
    names = sorted(text[c] for c in laid)
    if not laid <= work.allowed:
        raise LayoutError(f"satellites on {[text[c] for c in laid - work.allowed]} of {names}")
    best, own = layout(game, player, work, chosen)
    touched = buildings_touched(player, work, chosen)
    worth = len(laid) * satellites.COUNT + sum(touched[c] for c in laid)
    if worth != best:
        better = sorted(text[c] for c in own)
        raise LayoutError(f"satellites {names} are worth {worth}, {better} only {best}")
    all_cells = laid.union(*chosen, work.given, player.satellites if work.given else ())
    reached, fresh = set(), {min(all_cells)}
    while fresh:
        reached |= fresh
        fresh = {n for c in fresh for n in work.geometry.neighbours[c]} & all_cells - reached
    if reached != all_cells:
        raise LayoutError(f"satellites {names} do not join the federation")


# -- tokens


def tokens_to_take(game: Game, player: Player) -> dict[str, tuple[Any, ...]]:
    """A base kind in supply, or the token of a ship with an own shuttle (FED-18, FED-20)."""
    menu: dict[str, tuple[Any, ...]] = {
        f"token {kind}": (take, kind) for kind, left in game.token_supply.items() if left
    }
    for ship, kind in game.ship_tokens_left.items():
        if ship in player.shuttles:
            menu[f"token {ship}"] = (take_from_ship, ship, kind)
    return menu


def take(game: Game, player: Player, kind: str) -> Script:
    game.token_supply[kind] -= 1
    yield from receive(game, player, kind)


def take_from_ship(game: Game, player: Player, ship: str, kind: str) -> Script:
    del game.ship_tokens_left[ship]
    yield from receive(game, player, kind)


def receive(game: Game, player: Player, kind: str) -> Script:
    """A token is obtained: from the supply, a ship, the research board, or by the Gleens."""
    player.tokens[kind] += 1
    player.green += game.rules.tokens[kind]["green"]
    scoring.round_tile(game, player, "RM-FED")  # RMS-07
    yield from gain_printed(game, player, kind)


def gain_printed(game: Game, player: Player, kind: str) -> Script:
    """Everything that is printed on a token, now or once more (FED-19, FED-21)."""
    player.gain(game.rules.tokens[kind], "FEDERATION")
    if kind == "SFT_TECH":
        yield from tech.choose(game, player)
    elif kind in mine.TERMS:
        yield from mine.free_mine(game, player, mine.TERMS[kind])


def scorable_tokens(game: Game, player: Player) -> dict[str, tuple[Any, ...]]:
    """The owned tokens that an action may score again: not one whose gain has no room (A27).

    A token that gives a tile or a mine stays open where there is none to take or build (A16).
    """
    return {
        text: effect
        for text, effect in owned_tokens(game, player).items()
        if effect[1] in GIVES_A_CHOICE or player.may_take(game.rules.tokens[effect[1]])
    }


def owned_tokens(game: Game, player: Player) -> dict[str, tuple[Any, ...]]:
    """The kinds of token that the player has; a ship's token is called by its ship (FED-21)."""
    ship_of = {kind: ship for ship, kind in game.setup.get("ship_tokens", {}).items()}
    return {
        f"token {ship_of.get(kind, kind)}": (gain_printed, kind)
        for kind, number in player.tokens.items()
        if number
    }

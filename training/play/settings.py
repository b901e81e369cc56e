"""Settings that decide for a person; their decisions are marked.

The engine provides the cost of a choice, from the state after it; this module contains no rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from gaia_jax.components.costs import ROUNDS
from gaia_jax.render import Table

from ..analysis.actions import is_conversion
from .conversions import stock_of
from .game import HUMAN, Game, Refused

END_TURN = ("ask", "idle", "always")
MAX_VP = 20
ASKS = -1
MAX_ORDERS = 48  # positions examined for one income


@dataclass(frozen=True)
class Settings:
    """Settings of one seat; by default the person makes every decision."""

    end_turn: str = "ask"  # after the main action; "idle": if offers still have room
    take_power: int = ASKS  # accept offers that cost at most this many VP
    decline_rest: bool = False  # decline offers that cost more
    decline_last: bool = False  # decline offers that cost VP after the last pass
    only_choice: bool = False  # only one action is legal, or the order of an income does not matter

    @classmethod
    def read(cls, data: object) -> Settings:
        """The settings of a request; Refused if they are invalid."""
        defaults = asdict(cls())
        if not isinstance(data, Mapping) or not defaults.keys() >= data.keys():
            raise Refused(f"settings: an object is required; known are {', '.join(defaults)}")
        for key, value in data.items():
            if type(value) is not type(defaults[key]):
                raise Refused(f"settings: {key} cannot be {value!r}")
        settings = cls(**data)
        if settings.end_turn not in END_TURN:
            raise Refused(f"settings: end_turn must be one of {', '.join(END_TURN)}")
        if not ASKS <= settings.take_power <= MAX_VP:
            raise Refused(f"settings: take_power must be from {ASKS} to {MAX_VP}")
        return settings


def carry_out(game: Game, settings: Sequence[Settings]) -> None:
    """Make the decisions of people that settings make, until one is left to a person.

    Only at the end of the line: at earlier positions the person decides.

    Args:
        settings: by seat.
    """
    while not game.paused and not game.over() and game.now == game.line[-1]:
        player = game.view().player
        action = _choice(game, settings[player]) if player < len(settings) else None
        if action is None:
            return
        game.play(*action)


def _choice(game: Game, settings: Settings) -> tuple[str, str] | None:
    """The action of a setting at the present position, and the id of its reason for pages."""
    table = game.view()
    if table.over or game.seats[table.player] != HUMAN:
        return None
    legal = game.rules.legal(game.nodes[game.now].state)
    if settings.only_choice and len(legal) == 1:
        return legal[0], "only-choice"
    if settings.only_choice and table.node == "INCOME" and _idle(game, legal):
        return legal[0], "any-order"
    if table.node == "AFTER" and _ends(game, settings, legal):
        return "end_turn", "end-turn"
    if table.node == "LEECH":
        return _answer(game, settings, legal)
    return None


def _ends(game: Game, settings: Settings, legal: list[str]) -> bool:
    """Whether a turn ends by itself. Conversions can wait for the next turn unless they make room.

    The person decides if the turn left too little room for an offer, had enough at its beginning,
    and a conversion makes room.
    """
    if settings.end_turn != "idle":
        return settings.end_turn == "always"
    table = game.view()
    room = table.power_room(table.player)
    if _has_room(table, table.player) or not _has_room(_turn_began(game), table.player):
        return True
    after = (_after(game, text) for text in legal if is_conversion(text))
    return not any(other.power_room(table.player) > room for other in after)


def _has_room(table: Table, player: int) -> bool:
    """Whether a player has room for the largest possible offer (LEE-01, LEE-06)."""
    return table.power_room(player) >= table.strongest(player)


def _turn_began(game: Game) -> Table:
    """The first position of the present turn."""
    player, at = game.view().player, game.nodes[game.now]
    while at.parent >= 0 and game.view(at.parent).player == player:
        at = game.nodes[at.parent]
        if game.view(at.id).node == "TURN" and not is_conversion(at.text):
            break
    return game.view(at.id)


def _idle(game: Game, legal: list[str]) -> bool:
    """Whether every order of the remaining income has the same result, by trying them."""
    rules, player = game.rules, game.view().player
    ends: set[bytes] = set()
    seen: set[tuple[bytes, tuple[str, ...]]] = set()
    open_ = [(game.nodes[game.now].state, legal)]
    while open_ and len(ends) < 2 and len(seen) < MAX_ORDERS:
        position, texts = open_.pop()
        for text in texts:
            after = rules.after(position, rules.index(text))
            has_income_left = (
                rules.table(after).node == "INCOME" and int(after.current_player) == player
            )
            left = tuple(rules.legal(after)) if has_income_left else ()
            if (stock := stock_of(after, player), left) in seen:
                continue
            seen.add((stock, left))
            if has_income_left:
                open_.append((after, list(left)))
            else:
                ends.add(stock)
    return len(ends) == 1 and not open_


def _answer(game: Game, settings: Settings, legal: list[str]) -> tuple[str, str] | None:
    """Whether to accept offered power; None if there are more than two options (Taklons)."""
    table = game.view()
    if set(legal) != {"leech CHARGE", "leech DECLINE"}:
        return None
    me = table.player
    vp_paid = [t.seat(me).vp_source["LEECH"] for t in (table, _after(game, "leech CHARGE"))]
    price = vp_paid[0] - vp_paid[1]
    last = table.round == ROUNDS and table.seat(me).passed > 0
    if price and last and settings.decline_last:
        return "leech DECLINE", "last-pass"
    if price <= settings.take_power:
        return "leech CHARGE", f"power-up-to {settings.take_power}"
    if settings.decline_rest and settings.take_power >= 0:
        return "leech DECLINE", f"power-above {settings.take_power}"
    return None


def _after(game: Game, text: str) -> Table:
    rules = game.rules
    return rules.table(rules.after(game.nodes[game.now].state, rules.index(text)))

"""Costs and gains of a decision: the difference between the tables before and after it.

before, after = Table(state), Table(env.step(state, action))
print(in_words(effects(before, after)))   # -2 credits, -1 ore, +mine, new sector
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gaia_jax.components.common import RESOURCES, VP_AT_THE_END
from gaia_jax.render.change_items import COST, GAIN, NOTE, Item, items
from gaia_jax.render.names import faction_name
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import column, phrase

__all__ = ["COST", "GAIN", "NOTE", "Effects", "Item", "effects", "in_words"]

# The next choice of the same player, by node.
_THEN = column("node", "then")
# The fields of `SeatView` that only income and the Gaia phase change between two rounds.
INCOME_FIELDS = {
    *RESOURCES, "power", "gaia_power", "brainstone",
    "gaiaformers", "gaiaformers_out", "gaiaformers_gaia",
}  # fmt: skip
FINAL_FIELDS = [f"vp_source.{source}" for source in VP_AT_THE_END]


@dataclass(frozen=True)
class Effects:
    """The changes of one decision. `asdict(effects)` is JSON."""

    player: int  # the deciding one
    seats: dict[int, tuple[Item, ...]]  # by player; players without changes are missing
    offers: dict[int, int]  # power newly offered, by player; not taken yet
    offered: int  # the power that was offered to the deciding player, or 0
    room: int  # the part of it that could be charged
    then: str  # the next choice, such as "then choose a tech tile", or ""
    is_choice: bool  # whether `then` is a choice of the same player
    begins_round: int  # the number of the round that begins, or 0
    over: bool  # whether the game ends, with the final scoring
    final: tuple[int, ...]  # VP of the final scoring by player, the Automa included; else ()
    names: dict[int, str]  # the factions of the players

    @property
    def own(self) -> tuple[Item, ...]:
        """The changes of the deciding player."""
        return self.seats.get(self.player, ())

    @property
    def of_action(self) -> tuple[Item, ...]:
        """The changes of the deciding player, without income and final scoring after it."""
        return tuple(item for item in self.own if not self._is_after(item))

    def _is_after(self, item: Item) -> bool:
        """Whether a change is of the round that begins, or of the final scoring."""
        fields = item.fields.keys()
        if self.over:
            return not fields.isdisjoint(FINAL_FIELDS)
        return (
            bool(self.begins_round and fields)
            and {field.partition(".")[0] for field in fields} <= INCOME_FIELDS
        )

    def fields(self, player: int) -> dict[str, int]:
        """By field of `SeatView`, such as `power.0` or `vp_source.LEECH`: after minus before."""
        totals: dict[str, int] = {}
        for item in self.seats.get(player, ()):
            totals |= item.fields
        return totals

    def notes(self, action_words: str = "") -> list[str]:
        """Further changes of the deciding player, and offers of power, in words.

        Pieces that `action_words`, the action in words, names are not repeated.
        """
        own = _unsaid(self.of_action, action_words)
        out = [item.words for item in own if item.side == NOTE]
        after = ", ".join(_sign(i) + i.words for i in self.own if i.words and self._is_after(i))
        phrase_id = "from-final-scoring" if self.over else "income-of-round"
        out += [phrase(phrase_id, n=self.begins_round, text=after)] if after else []
        if self.offered:
            out.append(phrase("offered-room", n=self.offered, room=self.room))
        given = [phrase("offered-to", n=n, name=self.names[p]) for p, n in self.offers.items()]
        return out + ([phrase("power-offered", text=", ".join(given))] if given else [])

    def others(self) -> list[str]:
        """Gains and costs of the others in words, except at the end of a round."""
        if self.begins_round:
            return []
        phrases = {p: _list(seat_items) for p, seat_items in self.seats.items() if p != self.player}
        named = [(self.names[p], text) for p, text in phrases.items() if text]
        return [phrase("labelled", label=name, text=text) for name, text in named]

    def brief(self, action_words: str = "") -> dict[str, Any]:
        """In words, by kind: `costs`, `gains`, `notes`, `others`, `then`; JSON, no empty ones.

        Pieces that `action_words`, the action in words, names are not repeated.
        """
        own = _unsaid(self.of_action, action_words)
        signed = [item for item in own if item.is_signed]
        words = {side: [i.words for i in signed if i.side == side] for side in (COST, GAIN)}
        unsigned = [i.words for i in own if i.side != NOTE and not i.is_signed]
        summary: dict[str, Any] = {
            "costs": words[COST],
            "gains": words[GAIN],
            "notes": unsigned + self.notes(action_words),
            "others": self.others(),
            "then": self.then,
        }
        return {key: value for key, value in summary.items() if value}


def effects(before: Table, after: Table) -> Effects:
    """The changes between the tables before and after a decision.

    The turns that the Automa takes after it are left out: `automa_turns` has these.

    Raises:
        ValueError: the two are of different rulesets or numbers of players.
    """
    if before.ruleset.name != after.ruleset.name:
        raise ValueError(f"before is of {before.ruleset.name}, after of {after.ruleset.name}")
    player, seats = before.player, {}
    for p in range(before.ruleset.seats):
        if before.same_seat(after, p):
            continue
        own_items = tuple(items(before, after, p))
        if own_items:
            seats[p] = own_items
    offered = before.offers.get(player, 0) if before.node == "LEECH" else 0
    return Effects(
        player=player,
        seats=seats,
        offers={} if before.ruleset.automa else after.new_offers(before),
        offered=offered,
        room=before.power_room(player) if offered else 0,
        then=_then(before, after),
        is_choice=not after.over and after.round == before.round,
        begins_round=0 if after.over or after.round == before.round else after.round,
        over=after.over,
        final=tuple(map(_final_vp, after.seats)) if after.over else (),
        names={p: faction_name(before.faction(p)) for p in range(before.num_players)},
    )


def _final_vp(seat: SeatView) -> int:
    return sum(seat.vp_source.get(id, 0) for id in VP_AT_THE_END)


def in_words(changes: Effects, action_words: str = "", with_then: bool = True) -> str:
    """One line: `-1 VP (leech paid), +2 power; Terrans: +1 power`; "" without changes.

    Args:
        action_words: the action in words; pieces that it names are not repeated.
        with_then: whether to end with `then`.
    """
    parts = [
        _list(_unsaid(changes.of_action, action_words)),
        *changes.notes(action_words),
        *changes.others(),
        changes.then if with_then else "",
    ]
    return "; ".join(part for part in parts if part)


def _unsaid(changes: Iterable[Item], action_words: str) -> list[Item]:
    """The items with words, without the tiles, tokens and boosters that `action_words` names."""
    worded = [item for item in changes if item.words]
    return [i for i in worded if not i.piece or f" {i.piece}" not in action_words]


def _list(changes: Iterable[Item]) -> str:
    """The gains and costs in one line, each with its sign."""
    return ", ".join(_sign(i) + i.words for i in changes if i.side != NOTE and i.words)


def _sign(item: Item) -> str:
    """The sign of an item; the words of bowls have none."""
    if not item.is_signed:
        return ""
    return "-" if item.side == COST else "+"


def _then(before: Table, after: Table) -> str:
    if after.over:
        return phrase("game-ends")
    if after.round != before.round:
        return phrase("round-begins", n=after.round)
    return _THEN.get(after.node, "") if after.player == before.player else ""

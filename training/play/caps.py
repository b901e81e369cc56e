"""Goods for which a decision leaves no room, by taking it again with less of them in stock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gaia_jax.components.common import RESOURCES, Gain
from gaia_jax.components.costs import CAPS
from gaia_jax.env import State
from gaia_jax.render import Effects, Table
from gaia_jax.render.icons import words as words_of
from gaia_jax.render.names import faction_name
from gaia_jax.render.texts import phrase

from .languages import server_text

if TYPE_CHECKING:
    from .compiled_rules import Rules

# Enough of each to pay for any action.
IN_STOCK = {"credits": 12, "ore": 10, "knowledge": 5}
Goods = dict[str, int]  # by name of a resource


def goods_without_room(
    rules: Rules, state: State, changes: Mapping[int, Effects]
) -> dict[int, dict[int, Goods]]:
    """What decisions bring beyond the caps (GEN-07), which is lost.

    Args:
        state: before them. changes: of decisions, by action.
    Returns:
        By action and player; decisions that lose nothing are left out.
    """
    before, lost = rules.table(state), {}
    filled = {a: c for a, c in changes.items() if any(_fills(before, c, p) for p in c.names)}
    for begins in (False, True):
        chosen = [a for a, c in filled.items() if bool(c.begins_round) is begins]
        if not chosen:
            continue
        stock = dict.fromkeys(CAPS, 0) if begins else IN_STOCK  # who passes pays nothing
        afters = rules.some_tables_after(_with_stock(state, stock), chosen)
        for action, after in zip(chosen, afters, strict=True):
            players = filled[action].names if begins else (before.player,)
            lost[action] = {
                p: goods
                for p in players
                if (goods := _lost(before, after, filled[action], p, stock))
            }
    return {action: goods for action, goods in lost.items() if goods}


def _total(before: Table, changes: Effects, p: int, name: str) -> int:
    """A player's stock after a decision."""
    return int(getattr(before.seat(p), name)) + changes.fields(p).get(name, 0)


def _fills(before: Table, changes: Effects, p: int) -> bool:
    is_involved = changes.begins_round or p == before.player
    return bool(is_involved) and any(
        _total(before, changes, p, name) == cap for name, cap in CAPS.items()
    )


def _with_stock(state: State, stock: Mapping[str, int]) -> State:
    players = state.game.players
    limits = np.array([stock.get(name, 127) for name in RESOURCES])
    lowered = players.replace(resources=np.minimum(np.asarray(players.resources), limits))
    return state.replace(game=state.game.replace(players=lowered))


def _lost(before: Table, after: Table, changes: Effects, p: int, stock: Mapping[str, int]) -> Goods:
    """The goods that a player would have more of, had there been less before."""
    goods = {}
    for name in CAPS:
        removed = max(0, int(getattr(before.seat(p), name)) - stock[name])
        lost = int(getattr(after.seat(p), name)) + removed - _total(before, changes, p, name)
        if lost > 0:
            goods[name] = lost
    return goods


def lost_goods_in_words(before: Table, lost: Mapping[int, Goods]) -> list[str]:
    """The lost goods in words, those of other players with their names.

    Args:
        before: the table before the decision. lost: by player.
    """
    out = list[str]()
    for p, goods in lost.items():
        text = server_text("no-room", goods=words_of(Gain(**goods)))
        name = faction_name(before.faction(p))
        out.append(text if p == before.player else phrase("labelled", label=name, text=text))
    return out

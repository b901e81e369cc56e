"""VP by how a game is played: openings, passing, main actions, leech."""

from __future__ import annotations

import numpy as np

from ..stats.effects import Effect, demean, dummies, means, regression, wilson
from . import component_effects
from .decision_counts import OPENING, DecisionCounts
from .game_table import GameTable
from .strength import by_agent


def openings(
    table: GameTable,
    decisions: DecisionCounts,
    faction: str,
    depth: int = OPENING,
    min_games: int = 30,
) -> list[Effect]:
    """VP of a faction by its first main actions, above its own mean; the most common first.

    Args:
        depth: main actions of an opening, up to 3.
        min_games: openings with fewer games are left out.
    """
    is_faction = table.faction == table.faction_index(faction)
    if not is_faction.any():
        return []
    y = by_agent(table)[is_faction]
    deal = np.broadcast_to(table.deal[:, None], table.faction.shape)[is_faction]
    actions = decisions.opening[is_faction][:, :depth]
    lines, codes = np.unique(actions, axis=0, return_inverse=True)
    count = np.bincount(codes.reshape(-1))
    common = [k for k in np.argsort(-count, kind="stable") if count[k] >= min_games]
    rank = np.full(len(lines), -1)
    rank[common] = np.arange(len(common))
    names = [
        " / ".join(decisions.kinds[kind] if kind >= 0 else "-" for kind in lines[k]) for k in common
    ]
    return means(y - y.mean(), rank[codes.reshape(-1)], deal, names)


def passing(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """VP for passing one place later, by round, at the same deal.

    Results are adjusted for faction and place in the turn order.
    """
    return _by_round(table, decisions.passed)


def main_actions(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """VP for one more main action before passing, by round, adjusted as in `passing`."""
    return _by_round(table, decisions.main_actions)


def _by_round(table: GameTable, counts: np.ndarray) -> list[Effect]:
    """VP for one more of counts (G, P, rounds)."""
    rounds = counts.shape[-1]
    deal = np.repeat(table.deal, table.players)
    values = counts.reshape(-1, rounds).astype(float)
    controls = [
        dummies(table.faction.ravel(), len(table.names["faction"])),
        dummies(table.order.ravel() - 1, table.players),
    ]
    x = demean(np.concatenate([values, *controls], axis=1), deal)
    names = [f"round {number + 1}" for number in range(rounds)]
    return regression(demean(by_agent(table).ravel(), deal), x, deal, names, (values > 0).sum(0))


def leech(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """Final VP for one more power offer taken or declined."""
    return component_effects.acquisition(table, *decisions.with_prefix("leech "))


def offers(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """Percentage of power offers taken, by cost, with Wilson's intervals.

    `significant` is always False.
    """
    shape = decisions.offers.shape
    costs = shape[2]
    deal = np.broadcast_to(table.deal[:, None, None, None], shape)
    percentage = np.broadcast_to(np.array([0.0, 100.0]), shape)
    cost = np.broadcast_to(np.arange(costs)[:, None], shape)
    names = ["free", *(f"{n} VP" for n in range(1, costs - 1)), f"{costs - 1} VP or more"]
    repeats = decisions.offers.ravel()
    values, kinds, deals = (np.repeat(x.ravel(), repeats) for x in (percentage, cost, deal))
    effects = means(values, kinds, deals, names)
    return [wilson(e, 100.0)._replace(significant=False) for e in effects if e.size]

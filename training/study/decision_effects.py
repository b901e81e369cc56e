"""VP by how a game is played: openings, passing, main actions, leech."""

from __future__ import annotations

import numpy as np

from ..stats.effects import Effect, demean, dummies, means, regression, wilson_interval
from . import component_effects
from .decision_counts import OPENING_LENGTH, DecisionCounts
from .game_table import GameTable
from .strength import adjust_for_agents


def openings(
    table: GameTable,
    decisions: DecisionCounts,
    faction: str,
    depth: int = OPENING_LENGTH,
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
    y = adjust_for_agents(table)[is_faction]
    deal = np.broadcast_to(table.deal[:, None], table.faction.shape)[is_faction]
    actions = decisions.opening[is_faction][:, :depth]
    sequences, sequence_index = np.unique(actions, axis=0, return_inverse=True)
    count = np.bincount(sequence_index.reshape(-1))
    common = [k for k in np.argsort(-count, kind="stable") if count[k] >= min_games]
    rank = np.full(len(sequences), -1)
    rank[common] = np.arange(len(common))
    names = [
        " / ".join(decisions.kinds[kind] if kind >= 0 else "-" for kind in sequences[k])
        for k in common
    ]
    return means(y - y.mean(), rank[sequence_index.reshape(-1)], deal, names)


def passing(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """VP for passing one place later, by round, at the same deal.

    Results are adjusted for faction and place in the turn order.
    """
    return _regress_by_round(table, decisions.passing_order)


def main_actions(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """VP for one more main action before passing, by round, adjusted as in `passing`."""
    return _regress_by_round(table, decisions.main_actions)


def _regress_by_round(table: GameTable, counts: np.ndarray) -> list[Effect]:
    """VP for an increase of `counts` (G, P, rounds) by 1, by round, at the same deal."""
    rounds = counts.shape[-1]
    deal = np.repeat(table.deal, table.players)
    values = counts.reshape(-1, rounds).astype(float)
    controls = [
        dummies(table.faction.ravel(), len(table.names["faction"])),
        dummies(table.order.ravel() - 1, table.players),
    ]
    x = demean(np.concatenate([values, *controls], axis=1), deal)
    names = [f"round {number + 1}" for number in range(rounds)]
    return regression(
        demean(adjust_for_agents(table).ravel(), deal), x, deal, names, (values > 0).sum(0)
    )


def leech(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """Final VP for one more power offer taken or declined."""
    return component_effects.acquisition(table, *decisions.counts_by_prefix("leech "))


def shares_of_offers_taken(table: GameTable, decisions: DecisionCounts) -> list[Effect]:
    """Percentage of power offers taken, by cost, with Wilson's intervals.

    These are no effects on VP, so `significant` is always False.
    """
    shape = decisions.offers.shape
    costs = shape[2]
    deal = np.broadcast_to(table.deal[:, None, None, None], shape)
    percentage = np.broadcast_to(np.array([0.0, 100.0]), shape)
    cost = np.broadcast_to(np.arange(costs)[:, None], shape)
    names = ["free", *(f"{n} VP" for n in range(1, costs - 1)), f"{costs - 1} VP or more"]
    num_offers = decisions.offers.ravel()
    values, groups, deals = (np.repeat(x.ravel(), num_offers) for x in (percentage, cost, deal))
    effects = means(values, groups, deals, names)
    return [wilson_interval(e, 100.0)._replace(significant=False) for e in effects if e.size]

"""Strength of factions, by opponent, seat and map; sources of VP.

VP are compared within deals, so effects that all seats of a set-up share cancel. VP are adjusted
for the agents: the mean of the agent is subtracted first.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..stats.effects import Effect, demean, dummies, means, regression
from .game_table import GameTable


def by_agent(table: GameTable) -> np.ndarray:
    """(G, P) VP less the mean of the seat's agent, plus the mean of all agents."""
    count = len(table.names["agent"])
    sums = np.bincount(table.agent.ravel(), table.vp.ravel(), count)
    mean = sums / np.maximum(np.bincount(table.agent.ravel(), minlength=count), 1)
    out: np.ndarray = table.vp - mean[table.agent] + table.vp.mean()
    return out


def contrasts(used: np.ndarray, columns: int) -> np.ndarray:
    """(K, columns) weights: each of the first K less the mean of those that are `used` (K,)."""
    count = len(used)
    out = np.zeros((count, columns))
    out[:, :count] = np.eye(count) - used / max(used.sum(), 1)
    return out


def _seats(table: GameTable) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """By seat, flat: VP without the agents' means, faction dummies, order dummies, deal."""
    deal = np.repeat(table.deal, table.players)
    faction = dummies(table.faction.ravel(), len(table.names["faction"]))
    order = dummies(table.order.ravel() - 1, table.players)
    return by_agent(table).ravel(), faction, order, deal


def factions(table: GameTable) -> list[Effect]:
    """VP of each faction above the mean of all factions, at the same deal, from the same seat."""
    y, faction, order, deal = _seats(table)
    x = np.concatenate([demean(faction, deal), demean(order, deal)], axis=1)
    seen = faction.sum(0)
    return regression(
        demean(y, deal), x, deal, table.names["faction"], seen, contrasts(seen > 0, x.shape[1])
    )


def seats(table: GameTable, faction: str | None = None) -> list[Effect]:
    """VP by place in the turn order of round 1, above the mean of all places.

    Args:
        faction: only of this one; then deals are compared with one another.
    """
    y, own, order, deal = _seats(table)
    names = [f"{place + 1} to move" for place in range(table.players)]
    seen = order.sum(0)
    if faction is None:
        x = np.concatenate([demean(order, deal), demean(own, deal)], axis=1)
        rows = contrasts(seen > 0, x.shape[1])
        return regression(demean(y, deal), x, deal, names, seen, rows)
    is_faction = table.faction.ravel() == table.faction_index(faction)
    x, seen = order[is_faction], order[is_faction].sum(0)
    return regression(
        y[is_faction], x, deal[is_faction], names, seen, contrasts(seen > 0, x.shape[1])
    )


def opponents(table: GameTable, faction: str) -> list[Effect]:
    """VP of a faction with each other one at the table, above its mean over all others."""
    y, _, order, deal = _seats(table)
    own = table.faction_index(faction)
    count = len(table.names["faction"])
    at_table = dummies(table.faction.ravel(), count).reshape(*table.faction.shape, count).sum(1)
    is_faction = table.faction.ravel() == own
    present = np.repeat(at_table, table.players, axis=0)[is_faction]
    present[:, own] = 0
    x = np.concatenate([present, order[is_faction]], axis=1)
    seen = present.sum(0)
    rows = contrasts(seen > 0, x.shape[1])
    present_factions = [i for i in range(count) if seen[i] > 0]
    names = [table.names["faction"][i] for i in present_factions]
    return regression(
        y[is_faction], x, deal[is_faction], names, seen[present_factions], rows[present_factions]
    )


def board(table: GameTable, features: Mapping[str, np.ndarray]) -> list[Effect]:
    """VP for one more of a feature of the map, with the other features held constant.

    Args:
        features: (G, P) each, for example `map_features.planets_near_home`; seats with nan are
            left out.
    """
    y, faction, order, deal = _seats(table)
    columns = np.stack([value.ravel() for value in features.values()], axis=-1)
    is_known = np.isfinite(columns).all(-1)
    x = np.concatenate([columns, faction, order], axis=1)[is_known]
    y, deal = y[is_known], np.unique(deal[is_known], return_inverse=True)[1]
    seen = [len(y)] * len(features)
    return regression(demean(y, deal), demean(x, deal), deal, list(features), seen)


def sources(table: GameTable) -> list[Effect]:
    """VP by source: of a game's winners above the mean of the others at the same table."""
    won = table.win > 0
    lost = ~won
    num_others = np.maximum(lost.sum(-1), 1)[:, None]
    best = (table.sources * won[..., None]).sum(1) / won.sum(-1)[:, None]
    rest = (table.sources * lost[..., None]).sum(1) / num_others
    differences = (best - rest)[lost.any(-1)]
    deal = np.repeat(table.deal[lost.any(-1)], differences.shape[1])
    kinds = np.tile(np.arange(differences.shape[1]), len(differences))
    return means(differences.ravel(), kinds, deal, table.names["source"])


def sources_by_place(table: GameTable) -> dict[str, list[Effect]]:
    """Mean VP by source of those who came first, second, ...; ties count for the better place."""
    place = np.floor(table.place).astype(int) - 1
    return _by_source(table, place, [f"place {n + 1}" for n in range(table.players)])


def sources_by_agent(table: GameTable) -> dict[str, list[Effect]]:
    """Mean VP by source of each agent."""
    return _by_source(table, table.agent, table.names["agent"])


def _by_source(table: GameTable, kinds: np.ndarray, names: list[str]) -> dict[str, list[Effect]]:
    deal = np.repeat(table.deal, table.players)
    return {
        name: means(table.sources[..., k].astype(float).ravel(), kinds.ravel(), deal, names)
        for k, name in enumerate(table.names["source"])
    }

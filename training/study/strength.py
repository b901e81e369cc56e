"""Strength of factions, by opponent, seat and map; sources of VP.

`factions`, `seats` and `board_features` compare the seats of a deal, so effects that they share
cancel. VP are adjusted for the agents (their means are subtracted), except in `sources` and its
variants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..stats.effects import Effect, demean, dummies, means, regression
from .game_table import GameTable


def adjust_for_agents(table: GameTable) -> np.ndarray:
    """(G, P) VP minus the mean VP of the seat's agent, plus the mean VP of all seats."""
    num_agents = len(table.names["agent"])
    sums = np.bincount(table.agent.ravel(), table.vp.ravel(), num_agents)
    mean = sums / np.maximum(np.bincount(table.agent.ravel(), minlength=num_agents), 1)
    adjusted: np.ndarray = table.vp - mean[table.agent] + table.vp.mean()
    return adjusted


def contrasts_with_mean(is_observed: np.ndarray, num_columns: int) -> np.ndarray:
    """Contrasts (K, num_columns) of each effect with the mean of the observed effects.

    Args:
        is_observed: (K,), which of the K effects were observed; they are the first columns.
    """
    num_effects = len(is_observed)
    contrasts = np.zeros((num_effects, num_columns))
    contrasts[:, :num_effects] = np.eye(num_effects) - is_observed / max(is_observed.sum(), 1)
    return contrasts


def effects_above_mean(
    y: np.ndarray, x: np.ndarray, deal: np.ndarray, names: Sequence[str], sizes: np.ndarray
) -> list[Effect]:
    """Effects of the first K columns of x, each minus the mean of those that were observed.

    Args:
        sizes: (K,), the number of observations of each.
    """
    contrasts = contrasts_with_mean(sizes > 0, x.shape[1])
    return regression(y, x, deal, names, sizes.astype(int).tolist(), contrasts)


def _flatten_seats(table: GameTable) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A row for each seat of each game: adjusted VP, faction and turn order as dummies, deal."""
    deal = np.repeat(table.deal, table.players)
    faction_dummies = dummies(table.faction.ravel(), len(table.names["faction"]))
    order_dummies = dummies(table.order.ravel() - 1, table.players)
    return adjust_for_agents(table).ravel(), faction_dummies, order_dummies, deal


def factions(table: GameTable) -> list[Effect]:
    """VP of each faction above the mean of all factions, at the same deal, from the same seat."""
    y, faction_dummies, order_dummies, deal = _flatten_seats(table)
    x = np.concatenate([demean(faction_dummies, deal), demean(order_dummies, deal)], axis=1)
    sizes = faction_dummies.sum(0)
    return effects_above_mean(demean(y, deal), x, deal, table.names["faction"], sizes)


def seats(table: GameTable, faction: str | None = None) -> list[Effect]:
    """VP by place in the turn order of round 1, above the mean of all places.

    Args:
        faction: None compares the seats of a deal; a faction compares its games across deals.
    """
    y, faction_dummies, order_dummies, deal = _flatten_seats(table)
    names = [f"{place + 1} to move" for place in range(table.players)]
    if faction is None:
        x = np.concatenate([demean(order_dummies, deal), demean(faction_dummies, deal)], axis=1)
        return effects_above_mean(demean(y, deal), x, deal, names, order_dummies.sum(0))
    is_faction = table.faction.ravel() == table.faction_index(faction)
    x = order_dummies[is_faction]
    return effects_above_mean(y[is_faction], x, deal[is_faction], names, x.sum(0))


def opponents(table: GameTable, faction: str) -> list[Effect]:
    """VP of a faction with each other faction at the table, above its mean over all of them."""
    y, _, order_dummies, deal = _flatten_seats(table)
    own_index = table.faction_index(faction)
    num_factions = len(table.names["faction"])
    at_table = (
        dummies(table.faction.ravel(), num_factions)
        .reshape(*table.faction.shape, num_factions)
        .sum(1)
    )
    is_faction = table.faction.ravel() == own_index
    present = np.repeat(at_table, table.players, axis=0)[is_faction]
    present[:, own_index] = 0
    x = np.concatenate([present, order_dummies[is_faction]], axis=1)
    sizes = present.sum(0)
    at = np.flatnonzero(sizes)
    contrasts = contrasts_with_mean(sizes > 0, x.shape[1])[at]
    names = [table.names["faction"][i] for i in at]
    return regression(y[is_faction], x, deal[is_faction], names, sizes[at].tolist(), contrasts)


def board_features(table: GameTable, features: Mapping[str, np.ndarray]) -> list[Effect]:
    """VP for an increase of a map feature by 1, with the other features held constant.

    Args:
        features: (G, P) each, for example `map_features.planets_near_home`; seats with nan are
            left out.
    """
    y, faction_dummies, order_dummies, deal = _flatten_seats(table)
    columns = np.stack([value.ravel() for value in features.values()], axis=-1)
    is_known = np.isfinite(columns).all(-1)
    x = np.concatenate([columns, faction_dummies, order_dummies], axis=1)[is_known]
    y, deal = y[is_known], np.unique(deal[is_known], return_inverse=True)[1]
    sizes = [len(y)] * len(features)
    return regression(demean(y, deal), demean(x, deal), deal, list(features), sizes)


def sources(table: GameTable) -> list[Effect]:
    """VP by source: the winners of a game minus the mean of its other players."""
    won = table.win > 0
    lost = ~won
    num_others = np.maximum(lost.sum(-1), 1)[:, None]
    winner_means = (table.sources * won[..., None]).sum(1) / won.sum(-1)[:, None]
    other_means = (table.sources * lost[..., None]).sum(1) / num_others
    differences = (winner_means - other_means)[lost.any(-1)]
    deal = np.repeat(table.deal[lost.any(-1)], differences.shape[1])
    source_index = np.tile(np.arange(differences.shape[1]), len(differences))
    return means(differences.ravel(), source_index, deal, table.names["source"])


def sources_by_place(table: GameTable) -> dict[str, list[Effect]]:
    """Mean VP by source of those who came first, second, ...; ties count for the better place."""
    place = np.floor(table.place).astype(int) - 1
    return _by_source(table, place, [f"place {n + 1}" for n in range(table.players)])


def sources_by_agent(table: GameTable) -> dict[str, list[Effect]]:
    """Mean VP by source of each agent."""
    return _by_source(table, table.agent, table.names["agent"])


def _by_source(table: GameTable, groups: np.ndarray, names: list[str]) -> dict[str, list[Effect]]:
    deal = np.repeat(table.deal, table.players)
    return {
        name: means(table.sources[..., k].astype(float).ravel(), groups.ravel(), deal, names)
        for k, name in enumerate(table.names["source"])
    }

"""VP effects of tiles, boosters, tokens, ships and artifacts: present in a game, or acquired.

The components of a game are drawn, so `presence` is causal. A seat chooses what it acquires, so
`acquisition` may reflect a good position instead of the component. Where agents change seats on one
set-up, `acquisition` compares the games of one seat of one set-up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..stats.effects import Effect, demean, dummies, regression
from .game_table import GameTable
from .strength import contrasts_with_mean, effects_above_mean


def presence(table: GameTable, key: str, place: int | None = None) -> list[Effect]:
    """Mean VP of all seats with each component in the game, above the mean over all components.

    Args:
        key: of `table.setup`, such as boosters, round_tiles, advanced_tiles or artifacts.
        place: an index, for example 0 of round_tiles for round 1; None is any place.
    Raises:
        ValueError: there is no such key or place; the message names the choices.
    """
    if key not in table.setup:
        raise ValueError(f"unknown key {key!r}; table.setup has {', '.join(table.setup)}")
    values = np.asarray(table.setup[key])
    values = values[:, None] if values.ndim == 1 else values
    if place not in (None, *range(values.shape[1])):
        raise ValueError(f"place of {key} is 0 to {values.shape[1] - 1} or None, not {place!r}")
    values = values if place is None else values[:, [place]]
    names, codes = np.unique(values, return_inverse=True)
    codes = codes.reshape(values.shape)
    _, first_game, deal_index = np.unique(table.deal, return_index=True, return_inverse=True)
    y = np.bincount(deal_index, table.vp.mean(-1)) / np.bincount(deal_index)
    is_present = [(codes[first_game] == k).any(-1) for k in range(len(names))]
    x = np.stack([*is_present, np.ones(len(y))], axis=-1).astype(float)
    sizes = x[:, :-1].sum(0)
    return effects_above_mean(y, x, np.arange(len(y)), [str(n) for n in names], sizes)


def acquisition(table: GameTable, counts: np.ndarray, names: Sequence[str]) -> list[Effect]:
    """VP for one more of each component that a seat acquired.

    Games of one seat of one deal are compared if the agents change seats; otherwise the seats of a
    deal, adjusted for faction and place in the turn order. If all seats acquire equally many, such
    as boosters, each effect is that of one component instead of another, on average.

    Args:
        counts: (G, P, K), how many of each component a seat acquired.
        names: of the K components.
    """
    if not names:
        return []
    deal = np.repeat(table.deal, table.players)
    seat_of_deal = table.deal[:, None] * table.players + np.arange(table.players)
    groups = np.unique(seat_of_deal, return_inverse=True)[1].reshape(-1)
    controls = [dummies(table.agent.ravel(), len(table.names["agent"]))]
    if len(groups) == groups.max() + 1:  # every seat of every deal has one game
        groups = np.unique(deal, return_inverse=True)[1]
        controls.append(dummies(table.faction.ravel(), len(table.names["faction"])))
        controls.append(dummies(table.order.ravel() - 1, table.players))
    acquired = np.asarray(counts, float).reshape(-1, len(names))
    x = demean(np.concatenate([acquired, *controls], axis=1), groups)
    sizes = (acquired > 0).sum(0)
    is_total_constant = np.abs(demean(acquired.sum(-1), groups)).max() < 1e-9
    contrasts = contrasts_with_mean(sizes > 0, x.shape[1]) if is_total_constant else None
    y = demean(table.vp.ravel(), groups)
    return regression(y, x, deal, names, sizes.tolist(), contrasts)


def counts_by_component(
    table: GameTable, counts: np.ndarray, key: str
) -> tuple[np.ndarray, list[str]]:
    """Convert counts by place to counts by the component at the place.

    Args:
        counts: (G, P, L), how often each seat acquired from each place of `table.setup[key]`.
    Returns:
        (G, P, K) and the names of the K components.
    """
    names, codes = np.unique(np.asarray(table.setup[key]), return_inverse=True)
    games, players, places = counts.shape
    codes = codes.reshape(games, places)
    by_component = np.zeros((games, players, len(names)), counts.dtype)
    game, seat = np.arange(games)[:, None], np.arange(players)
    for place in range(places):
        by_component[game, seat, codes[:, [place]]] += counts[..., place]
    return by_component, [str(name) for name in names]

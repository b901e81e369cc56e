"""What tiles, boosters, tokens, ships and artifacts are worth: in the game or not, taken or not.

What is in a game is drawn, so games with and without it differ by chance and by it: `in_play` is an
effect. Who takes something chose to, so what `taken` finds may have the same cause as the VP.
Where agents change seats on one set-up, it compares the games of one seat of one set-up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..stats.effects import Effect, demean, dummies, regression
from .strength import contrasts
from .table import Table


def in_play(table: Table, key: str, place: int | None = None) -> list[Effect]:
    """Mean VP of all seats with each thing in the game, above the mean over all things.

    Args:
        key: of `table.setup`: boosters, round_tiles, advanced_tiles, artifacts, ship_tokens, ...
        place: only what lies there, from 0, for example 0 of round_tiles for round 1; None is
            anywhere.
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
    first = np.unique(table.deal, return_index=True)[1]
    deals = np.searchsorted(np.unique(table.deal), table.deal)
    count = np.bincount(deals)
    y = np.bincount(deals, table.vp.mean(-1)) / count
    x = np.stack([(codes[first] == k).any(-1) for k in range(len(names))], axis=-1).astype(float)
    seen = x.sum(0)
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    rows = contrasts(seen > 0, x.shape[1])
    return regression(y, x, np.arange(len(y)), [str(n) for n in names], seen, rows)


def taken(table: Table, counts: np.ndarray, names: Sequence[str]) -> list[Effect]:
    """VP for one more of each thing that a seat took.

    Games of one seat of one deal are compared where there are several (the agents sit elsewhere);
    else the seats of a deal, each with what its faction and its place in the turn order are worth.
    Where all take equally many, as of boosters, it is one in the place of the mean other one.

    Args:
        counts: (G, P, K), how often; names: K.
    """
    if not names:
        return []
    players = table.players
    deal = np.repeat(table.deal, players)
    same = table.deal[:, None] * players + np.arange(players)
    groups = np.unique(same, return_inverse=True)[1].reshape(-1)
    agents = dummies(table.agent.ravel(), len(table.names["agent"]))
    controls = [agents]
    if len(groups) == groups.max() + 1:  # nothing to pair with
        groups = np.unique(deal, return_inverse=True)[1]
        controls.append(dummies(table.faction.ravel(), len(table.names["faction"])))
        controls.append(dummies(table.order.ravel() - 1, players))
    took = np.asarray(counts, float).reshape(-1, len(names))
    x = demean(np.concatenate([took, *controls], axis=1), groups)
    seen = (took > 0).sum(0)
    equally = np.abs(demean(took.sum(-1), groups)).max() < 1e-9
    rows = contrasts(seen > 0, x.shape[1]) if equally else None
    return regression(demean(table.vp.ravel(), groups), x, deal, names, seen, rows)


def by_thing(table: Table, counts: np.ndarray, key: str) -> tuple[np.ndarray, list[str]]:
    """Counts by place as counts by what lay there.

    Args:
        counts: (G, P, L), how often each seat took what lay at each place of `table.setup[key]`.
    Returns:
        (G, P, K) and the names of the K things.
    """
    names, codes = np.unique(np.asarray(table.setup[key]), return_inverse=True)
    games, players, places = counts.shape
    codes = codes.reshape(games, places)
    out = np.zeros((games, players, len(names)), counts.dtype)
    rows, seats = np.arange(games)[:, None], np.arange(players)
    for place in range(places):
        out[rows, seats, codes[:, [place]]] += counts[..., place]
    return out, [str(name) for name in names]

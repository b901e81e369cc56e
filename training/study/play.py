"""How games are played: openings, when to pass, what leech is worth."""

from __future__ import annotations

import numpy as np

from ..stats.effects import Effect, demean, dummies, means, regression, wilson
from . import pieces
from .decided import OPENING, Decided
from .strength import by_agent
from .table import Table


def openings(
    table: Table, decided: Decided, faction: str, depth: int = OPENING, least: int = 30
) -> list[Effect]:
    """VP of a faction by its first main actions, above its own mean; the commonest first.

    Args:
        depth: how many actions make an opening, up to 3.
        least: openings that were played less often are left out.
    """
    own = table.faction_index(faction)
    is_faction = table.faction == own
    if not is_faction.any():
        return []
    moves = decided.opening[is_faction][:, :depth]
    y = by_agent(table)[is_faction]
    deal = np.broadcast_to(table.deal[:, None], table.faction.shape)[is_faction]
    lines, codes = np.unique(moves, axis=0, return_inverse=True)
    count = np.bincount(codes.reshape(-1))
    order = [k for k in np.argsort(-count, kind="stable") if count[k] >= least]
    place = np.full(len(lines), -1)
    place[order] = np.arange(len(order))
    names = [
        " / ".join(decided.kinds[move] if move >= 0 else "-" for move in lines[k]) for k in order
    ]
    return means(y - y.mean(), place[codes.reshape(-1)], deal, names)


def passing(table: Table, decided: Decided) -> list[Effect]:
    """VP for passing one place later, by round, at the same deal.

    Seats are compared with what their faction and their place in the turn order are worth.
    """
    return _by_round(table, decided.passed)


def turns(table: Table, decided: Decided) -> list[Effect]:
    """VP for one more main action before passing, by round, at the same deal.

    Compared as in `passing`.
    """
    return _by_round(table, decided.turns)


def _by_round(table: Table, counts: np.ndarray) -> list[Effect]:
    """VP for one more of counts (G, P, rounds)."""
    rounds = counts.shape[-1]
    deal = np.repeat(table.deal, table.players)
    more = counts.reshape(-1, rounds).astype(float)
    controls = [
        dummies(table.faction.ravel(), len(table.names["faction"])),
        dummies(table.order.ravel() - 1, table.players),
    ]
    x = demean(np.concatenate([more, *controls], axis=1), deal)
    names = [f"round {number + 1}" for number in range(rounds)]
    y = demean(by_agent(table).ravel(), deal)
    return regression(y, x, deal, names, (more > 0).sum(0))


def leech(table: Table, decided: Decided) -> list[Effect]:
    """VP at the end for one more offer of leech that was taken, or declined."""
    counts, names = decided.of("leech ")
    return pieces.taken(table, counts, names)


def offers(table: Table, decided: Decided) -> list[Effect]:
    """How many of 100 offers of power are taken, by what they cost: Wilson's intervals.

    `found` is always False.
    """
    costs = decided.offers.shape[2]
    deal = np.broadcast_to(table.deal[:, None, None, None], decided.offers.shape)
    taken = np.broadcast_to(np.array([0.0, 100.0]), decided.offers.shape)
    cost = np.broadcast_to(np.arange(costs)[:, None], decided.offers.shape)
    often = decided.offers.ravel()
    names = ["free", *(f"{n} VP" for n in range(1, costs - 1)), f"{costs - 1} VP or more"]
    values, kinds, deals = (np.repeat(x.ravel(), often) for x in (taken, cost, deal))
    effects = means(values, kinds, deals, names)
    return [wilson(e, 100.0)._replace(found=False) for e in effects if e.size]

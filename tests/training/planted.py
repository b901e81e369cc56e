"""Random games without any effect; a test adds (plants) the effect that it looks for."""

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
from training.study import decision_counts
from training.study.game_table import GameTable

FACTIONS = [f"F{i}" for i in range(8)]
SOURCES = ["START", "ROUND_TILE", "BOOSTER", "RESEARCH"]
TOKENS = [f"T{i}" for i in range(6)]


def draw_permutations(rng, rows, count):
    return rng.permuted(np.tile(np.arange(count), (rows, 1)), axis=1)


def draw_games(rng, deals=150, rotations=4):
    """Games of four agents in which VP depend on the agents, the deals and chance alone."""
    games = deals * rotations
    deal = np.repeat(np.arange(deals), rotations)
    faction = draw_permutations(rng, deals, len(FACTIONS))[:, :4][deal]
    order = draw_permutations(rng, deals, 4)[deal] + 1
    agent = (np.arange(4) - np.tile(np.arange(rotations), deals)[:, None]) % 4
    # A deal is good for everybody, and for a seat: games of one deal are not independent.
    shared = rng.normal(0, 8, deals)[deal][:, None] + rng.normal(0, 8, (deals, 4))[deal]
    vp = 90 + 10.0 * (agent == 2) + shared + rng.normal(0, 12, (games, 4))
    names = np.array(TOKENS)
    boosters = names[draw_permutations(rng, deals, len(TOKENS))[:, :3]][deal]
    rounds = names[draw_permutations(rng, deals, len(TOKENS))[:, :2]][deal]
    sources = rng.integers(0, 12, (games, 4, len(SOURCES))).astype(float)
    return replace_vp(
        GameTable(
            deal, vp, vp, vp, sources, faction, order, agent,
            {"boosters": boosters, "round_tiles": rounds},
            {"faction": FACTIONS, "agent": list("ABCD"), "source": SOURCES},
        ),
        vp,
    )  # fmt: skip


def replace_vp(table, vp):
    """The table with other VP, and the places and wins that follow from them."""
    fields = dict(vars(table))
    fields["vp"] = vp
    fields["place"] = (vp[:, None] > vp[:, :, None]).sum(-1) + 1.0
    fields["win"] = (vp == vp.max(-1, keepdims=True)).astype(float)
    return GameTable(**fields)


def draw_decisions(rng, table, kinds=("leech CHARGE", "leech DECLINE", "mine", "upgrade")):
    counts = rng.poisson(2.0, (*table.vp.shape, len(kinds))).astype(np.int16)
    opening = rng.choice([2, 3], (*table.vp.shape, 3)).astype(np.int16)
    passed = draw_permutations(rng, len(table.vp) * 6, 4).reshape(-1, 6, 4).transpose(0, 2, 1) + 1
    turns = rng.poisson(4.0, passed.shape).astype(np.int16)
    offers = rng.poisson(2.0, (*table.vp.shape, decision_counts.NUM_COSTS, 2)).astype(np.int16)
    return decision_counts.DecisionCounts(
        counts, list(kinds), opening, passed.astype(np.int8), turns, offers, passed, turns
    )

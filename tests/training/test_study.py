"""The functions of `training.study` on drawn games: they find a planted effect, and no other."""

from functools import partial

import numpy as np
import pytest
from planted import draw_decisions, draw_games, replace_vp

from training.study import component_effects, decision_effects, strength
from training.study.game_table import GameTable

# Games drawn, and how often the expected answer has to come: 30 vary more than 100.
DRAWS = pytest.mark.parametrize(
    ("draws", "successes"), [(30, 25), pytest.param(100, 90, marks=pytest.mark.slow)]
)


# Deals and rotations of the drawn games, the seats that get `size` VP more, the question, the name
# of the planted effect, and the share of `size` that it is expected to have.
SEATS = {
    "factions": ((150, 4), lambda t: t.faction == 3, strength.factions, "F3", 7 / 8),
    "seats": ((150, 4), lambda t: t.order == 1, strength.seats, "1 to move", 3 / 4),
    "opponents": (
        (400, 2), lambda t: (t.faction == 5).any(-1, keepdims=True) & (t.faction == 2),
        partial(strength.opponents, faction="F2"), "F5", 6 / 7,
    ),
    "boosters": (
        (400, 1), lambda t: (t.setup["boosters"] == "T4").any(-1, keepdims=True),
        partial(component_effects.presence, key="boosters"), "T4", 5 / 6,
    ),
    "the first round tile": (
        (400, 1), lambda t: t.setup["round_tiles"][:, :1] == "T2",
        partial(component_effects.presence, key="round_tiles", place=0), "T2", 5 / 6,
    ),
}  # fmt: skip


# A case draws games, plants an effect of `size` VP and asks one question. It returns the effects,
# the name of the planted one, and the estimate that is expected for it.
def plant_at_seats(case, rng, size):
    shape, is_planted, question, name, share = SEATS[case]
    table = draw_games(rng, *shape)
    return question(replace_vp(table, table.vp + size * is_planted(table))), name, size * share


def plant_board_features(rng, size):
    table = draw_games(rng)
    feature = rng.normal(5, 2, (150, 4))[table.deal]
    other = rng.normal(0, 1, (150, 4))[table.deal]
    table = replace_vp(table, table.vp + size * (feature - feature.mean()) / feature.std())
    results = strength.board_features(table, {"near": feature, "other": other})
    return results, "near", size / feature.std()


def plant_sources(rng, size):
    table = draw_games(rng)
    sources = table.sources.copy()
    sources[..., 1] += np.where(table.win > 0, size, 0)
    return (
        strength.sources(GameTable(**(vars(table) | {"sources": sources}))),
        "ROUND_TILE",
        size,
    )


def plant_sources_by_place(rng, size):
    table = draw_games(rng)
    table.sources[..., 1] = rng.normal(0, 4, table.vp.shape) + size * (table.place == 2)
    return strength.sources_by_place(table)["ROUND_TILE"], "place 2", size


def plant_taken_paired(rng, size):
    table = draw_games(rng)
    # A good seat takes more: only the games of one seat separate the two effects.
    good = rng.normal(0, 10, (150, 4))[table.deal]
    counts = rng.poisson(np.exp(good / 20)[..., None] * [1.0, 1.0, 0.2])
    table = replace_vp(table, table.vp + good + size * counts[..., 2])
    return component_effects.acquisition(table, counts, ["a", "b", "c"]), "c", size


def plant_taken(rng, size):
    table = draw_games(rng, 500, 1)
    counts = rng.poisson(0.4, (*table.vp.shape, 3))
    table = replace_vp(table, table.vp + size * counts[..., 0])
    return component_effects.acquisition(table, counts, ["a", "b", "c"]), "a", size


def plant_taken_equally(rng, size):
    table = draw_games(rng, 300, 2)
    counts = rng.multinomial(5, [0.2] * 5, table.vp.shape)
    table = replace_vp(table, table.vp + size * counts[..., 3])
    return component_effects.acquisition(table, counts, list("abcde")), "d", size * 4 / 5


def plant_openings(rng, size):
    table = draw_games(rng)
    decisions = draw_decisions(rng, table)
    first = (decisions.opening[..., :2] == [2, 3]).all(-1) & (table.faction == 0)
    table = replace_vp(table, table.vp + size * first)
    expected = size * (1 - first[table.faction == 0].mean())
    return (
        decision_effects.openings(table, decisions, "F0", depth=2, min_games=5),
        "mine / upgrade",
        expected,
    )


def plant_passing(rng, size):
    table = draw_games(rng)
    decisions = draw_decisions(rng, table)
    table = replace_vp(table, table.vp + size * decisions.passing_order[..., 3])
    return decision_effects.passing(table, decisions), "round 4", size


def plant_leech(rng, size):
    table = draw_games(rng)
    decisions = draw_decisions(rng, table)
    table = replace_vp(table, table.vp + size * decisions.counts[..., 0])
    return decision_effects.leech(table, decisions), "leech CHARGE", size


CASES = [
    *((partial(plant_at_seats, x), size) for x, size in zip(SEATS, (8, 7, 12, 5, 8), strict=True)),
    (plant_board_features, 4.0), (plant_sources, 2.0), (plant_taken_paired, 4.0),
    (plant_taken, 5.0), (plant_taken_equally, 4.0), (plant_openings, 14.0), (plant_passing, 2.0),
    (plant_leech, 2.0), (plant_sources_by_place, 2.0),
]  # fmt: skip


def case_name(value):
    return value.args[0] if isinstance(value, partial) else getattr(value, "__name__", "")


@DRAWS
@pytest.mark.parametrize(("case", "size"), CASES, ids=case_name)
def test_a_planted_effect_is_found_within_its_interval(case, size, draws, successes):
    hits = 0
    for seed in range(draws):
        results, name, expected = case(np.random.default_rng(seed), size)
        (effect,) = [e for e in results if e.name == name]
        hits += effect.significant and effect.low <= expected <= effect.high
    assert hits >= successes


@DRAWS
@pytest.mark.parametrize(("case", "size"), CASES, ids=case_name)
def test_where_nothing_is_planted_nothing_is_found(case, size, draws, successes):
    quiet = 0
    for seed in range(draws):
        results, _, _ = case(np.random.default_rng(1000 + seed), 0.0)
        if case is plant_sources:  # winners have more VP, but not of any one source
            results = [e for e in results if e.name != "none"]
        quiet += not any(e.significant for e in results)
    assert quiet >= successes

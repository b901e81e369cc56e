"""The functions of `training.study` on drawn games: they find a planted effect, and no other."""

import inspect

import numpy as np
import pytest
from planted import FACTIONS, draw_decisions, draw_games, replace_vp

from training.analysis import candidate_outcomes
from training.study import component_effects, decision_effects, strength
from training.study.game_table import GameTable

DRAWS = 100
MIN_SUCCESSES = 90


# A case draws games, plants an effect of `size` VP and asks one question. It returns the effects,
# the name of the planted one, and the estimate that is expected for it.
def plant_factions(rng, size):
    table = draw_games(rng)
    planted = size * (table.faction == 3)
    table = replace_vp(table, table.vp + planted)
    return strength.factions(table), "F3", size * (1 - 1 / len(FACTIONS))


def plant_seats(rng, size):
    table = draw_games(rng)
    table = replace_vp(table, table.vp + size * (table.order == 1))
    return strength.seats(table), "1 to move", size * 3 / 4


def plant_seats_of_a_faction(rng, size):
    table = draw_games(rng, 400, 2)
    table = replace_vp(table, table.vp + size * ((table.order == 4) & (table.faction == 1)))
    return strength.seats(table, "F1"), "4 to move", size * 3 / 4


def plant_opponents(rng, size):
    table = draw_games(rng, 400, 2)
    is_present = (table.faction == 5).any(-1, keepdims=True)
    table = replace_vp(table, table.vp + size * (is_present & (table.faction == 2)))
    return strength.opponents(table, "F2"), "F5", size * 6 / 7


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


def plant_sources_by_agent(rng, size):
    table = draw_games(rng)
    table.sources[..., 2] = rng.normal(0, 4, table.vp.shape) + size * (table.agent == 3)
    return strength.sources_by_agent(table)["BOOSTER"], "D", size


def plant_boosters(rng, size):
    table = draw_games(rng, 400, 1)
    is_present = (table.setup["boosters"] == "T4").any(-1, keepdims=True)
    table = replace_vp(table, table.vp + size * is_present)
    return component_effects.presence(table, "boosters"), "T4", size * 5 / 6


def plant_the_first_round_tile(rng, size):
    table = draw_games(rng, 400, 1)
    is_first = table.setup["round_tiles"][:, :1] == "T2"
    table = replace_vp(table, table.vp + size * is_first)
    return component_effects.presence(table, "round_tiles", place=0), "T2", size * 5 / 6


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


def plant_turns(rng, size):
    table = draw_games(rng)
    decisions = draw_decisions(rng, table)
    table = replace_vp(table, table.vp + size * decisions.main_actions[..., 1])
    return decision_effects.main_actions(table, decisions), "round 2", size


def plant_a_position(rng, size):
    vp = rng.normal(90, 12, (5, 200, 4))
    vp[2, :, 1] += size
    outcomes = candidate_outcomes.Outcomes(np.array([4, 9, 7, 1, 3]), np.full(5, np.nan), vp, 1)
    return outcomes.effects([f"action {n}" for n in range(10)]), "action 7", size * 4 / 5


def plant_leech(rng, size):
    table = draw_games(rng)
    decisions = draw_decisions(rng, table)
    table = replace_vp(table, table.vp + size * decisions.counts[..., 0])
    return decision_effects.leech(table, decisions), "leech CHARGE", size


CASES = [
    (plant_factions, 8.0), (plant_seats, 7.0), (plant_seats_of_a_faction, 14.0),
    (plant_opponents, 12.0), (plant_board_features, 4.0), (plant_sources, 2.0),
    (plant_boosters, 5.0), (plant_the_first_round_tile, 8.0),
    (plant_taken_paired, 4.0), (plant_taken, 5.0), (plant_taken_equally, 4.0),
    (plant_openings, 14.0), (plant_passing, 2.0), (plant_leech, 2.0), (plant_turns, 2.0),
    (plant_sources_by_place, 2.0), (plant_sources_by_agent, 2.0), (plant_a_position, 6.0),
]  # fmt: skip


@pytest.mark.parametrize(("case", "size"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_planted_effect_is_found_within_its_interval(case, size):
    hits = 0
    for seed in range(DRAWS):
        results, name, expected = case(np.random.default_rng(seed), size)
        (effect,) = [e for e in results if e.name == name]
        hits += effect.significant and effect.low <= expected <= effect.high
    assert hits >= MIN_SUCCESSES


@pytest.mark.parametrize(("case", "size"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_where_nothing_is_planted_nothing_is_found(case, size):
    quiet = 0
    for seed in range(DRAWS):
        results, _, _ = case(np.random.default_rng(1000 + seed), 0.0)
        if case is plant_sources:  # winners have more VP, but not of any one source
            results = [e for e in results if e.name != "none"]
        quiet += not any(e.significant for e in results)
    assert quiet >= MIN_SUCCESSES


def test_every_question_is_among_the_cases():
    """Every public function that returns effects has a case.

    The exception gives shares of offers, not effects on VP: `test_study_parts` has its test.
    """
    questions = {
        f"{module.__name__.rsplit('.', 1)[-1]}.{name}"
        for module in (component_effects, decision_effects, strength)
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__
        and "Effect" in str(function.__annotations__["return"]) and not name.startswith("_")
    }  # fmt: skip
    called = "\n".join(inspect.getsource(case) for case, _ in CASES)
    assert {name for name in questions if f"{name}(" not in called} == {
        "decision_effects.shares_of_offers_taken"
    }
    assert len(questions) == 14

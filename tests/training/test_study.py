"""The functions of `training.study` on planted data: what is there is found, what is not is not."""

import inspect

import numpy as np
import pytest
from planted import FACTIONS, acted, finished, rotated

from training.analysis import position
from training.study import component_effects, decision_effects, strength
from training.study.game_table import GameTable

DRAWS = 100
ENOUGH = 90


# Each case: what is asked -> effects; a name, its size, and the VP (G, P) that plant it.
def for_factions(rng, size):
    table = rotated(rng)
    planted = size * (table.faction == 3)
    table = finished(table, table.vp + planted)
    return strength.factions(table), "F3", size * (1 - 1 / len(FACTIONS))


def for_seats(rng, size):
    table = rotated(rng)
    table = finished(table, table.vp + size * (table.order == 1))
    return strength.seats(table), "1 to move", size * 3 / 4


def for_seats_of_a_faction(rng, size):
    table = rotated(rng, 400, 2)
    table = finished(table, table.vp + size * ((table.order == 4) & (table.faction == 1)))
    return strength.seats(table, "F1"), "4 to move", size * 3 / 4


def for_opponents(rng, size):
    table = rotated(rng, 400, 2)
    is_present = (table.faction == 5).any(-1, keepdims=True)
    table = finished(table, table.vp + size * (is_present & (table.faction == 2)))
    return strength.opponents(table, "F2"), "F5", size * 6 / 7


def for_board(rng, size):
    table = rotated(rng)
    feature = rng.normal(5, 2, (150, 4))[table.deal]
    other = rng.normal(0, 1, (150, 4))[table.deal]
    table = finished(table, table.vp + size * (feature - feature.mean()) / feature.std())
    results = strength.board(table, {"near": feature, "other": other})
    return results, "near", size / feature.std()


def for_sources(rng, size):
    table = rotated(rng)
    sources = table.sources.copy()
    sources[..., 1] += np.where(table.win > 0, size, 0)
    return (
        strength.sources(GameTable(**(vars(table) | {"sources": sources}))),
        "ROUND_TILE",
        size,
    )


def for_sources_by_place(rng, size):
    table = rotated(rng)
    table.sources[..., 1] = rng.normal(0, 4, table.vp.shape) + size * (table.place == 2)
    return strength.sources_by_place(table)["ROUND_TILE"], "place 2", size


def for_sources_by_agent(rng, size):
    table = rotated(rng)
    table.sources[..., 2] = rng.normal(0, 4, table.vp.shape) + size * (table.agent == 3)
    return strength.sources_by_agent(table)["BOOSTER"], "D", size


def for_boosters(rng, size):
    table = rotated(rng, 400, 1)
    is_present = (table.setup["boosters"] == "T4").any(-1, keepdims=True)
    table = finished(table, table.vp + size * is_present)
    return component_effects.presence(table, "boosters"), "T4", size * 5 / 6


def for_the_first_round_tile(rng, size):
    table = rotated(rng, 400, 1)
    is_first = table.setup["round_tiles"][:, :1] == "T2"
    table = finished(table, table.vp + size * is_first)
    return component_effects.presence(table, "round_tiles", place=0), "T2", size * 5 / 6


def for_taken_paired(rng, size):
    table = rotated(rng)
    # A good seat takes more: only the games of one seat separate the two effects.
    good = rng.normal(0, 10, (150, 4))[table.deal]
    counts = rng.poisson(np.exp(good / 20)[..., None] * [1.0, 1.0, 0.2])
    table = finished(table, table.vp + good + size * counts[..., 2])
    return component_effects.acquisition(table, counts, ["a", "b", "c"]), "c", size


def for_taken(rng, size):
    table = rotated(rng, 500, 1)
    counts = rng.poisson(0.4, (*table.vp.shape, 3))
    table = finished(table, table.vp + size * counts[..., 0])
    return component_effects.acquisition(table, counts, ["a", "b", "c"]), "a", size


def for_taken_equally(rng, size):
    table = rotated(rng, 300, 2)
    counts = rng.multinomial(5, [0.2] * 5, table.vp.shape)
    table = finished(table, table.vp + size * counts[..., 3])
    return component_effects.acquisition(table, counts, list("abcde")), "d", size * 4 / 5


def for_openings(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    first = (done.opening[..., :2] == [2, 3]).all(-1) & (table.faction == 0)
    table = finished(table, table.vp + size * first)
    expected = size * (1 - first[table.faction == 0].mean())
    return (
        decision_effects.openings(table, done, "F0", depth=2, min_games=5),
        "mine / upgrade",
        expected,
    )


def for_passing(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    table = finished(table, table.vp + size * done.passed[..., 3])
    return decision_effects.passing(table, done), "round 4", size


def for_turns(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    table = finished(table, table.vp + size * done.main_actions[..., 1])
    return decision_effects.main_actions(table, done), "round 2", size


def for_a_position(rng, size):
    vp = rng.normal(90, 12, (5, 200, 4))
    vp[2, :, 1] += size
    outcomes = position.Outcomes(np.array([4, 9, 7, 1, 3]), np.full(5, np.nan), vp, 1)
    return outcomes.effects([f"action {n}" for n in range(10)]), "action 7", size * 4 / 5


def for_leech(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    table = finished(table, table.vp + size * done.counts[..., 0])
    return decision_effects.leech(table, done), "leech CHARGE", size


CASES = [
    (for_factions, 8.0), (for_seats, 7.0), (for_seats_of_a_faction, 14.0), (for_opponents, 12.0),
    (for_board, 4.0), (for_sources, 2.0), (for_boosters, 5.0), (for_the_first_round_tile, 8.0),
    (for_taken_paired, 4.0), (for_taken, 5.0), (for_taken_equally, 4.0),
    (for_openings, 14.0), (for_passing, 2.0), (for_leech, 2.0), (for_turns, 2.0),
    (for_sources_by_place, 2.0), (for_sources_by_agent, 2.0), (for_a_position, 6.0),
]  # fmt: skip


@pytest.mark.parametrize(("case", "size"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_planted_effect_is_found_within_its_interval(case, size):
    hits = 0
    for seed in range(DRAWS):
        results, name, expected = case(np.random.default_rng(seed), size)
        (effect,) = [e for e in results if e.name == name]
        hits += effect.significant and effect.low <= expected <= effect.high
    assert hits >= ENOUGH


@pytest.mark.parametrize(("case", "size"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_where_nothing_is_planted_nothing_is_found(case, size):
    quiet = 0
    for seed in range(DRAWS):
        results, _, _ = case(np.random.default_rng(1000 + seed), 0.0)
        if case is for_sources:  # winners have more VP, but not of any one source
            results = [e for e in results if e.name != "none"]
        quiet += not any(e.significant for e in results)
    assert quiet >= ENOUGH


def test_every_question_is_among_the_cases():
    """A function that gives effects is tested on planted data, or is a part of one that is.

    Offers are shares, not effects on VP: `test_study_parts` counts planted ones.
    """
    questions = {
        f"{module.__name__.rsplit('.', 1)[-1]}.{name}"
        for module in (component_effects, decision_effects, strength)
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__
        and "Effect" in str(function.__annotations__["return"]) and not name.startswith("_")
    }  # fmt: skip
    called = "\n".join(inspect.getsource(case) for case, _ in CASES)
    assert {name for name in questions if f"{name}(" not in called} == {"decision_effects.offers"}
    assert len(questions) == 14

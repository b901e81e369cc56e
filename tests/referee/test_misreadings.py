"""Rulings of the printed rulesets misread on purpose: two referees already detect them."""

from __future__ import annotations

import pytest

from tests.referee.game import Game
from tests.referee.misreadings import MISREADINGS, Misreading, first_difference, setup_for
from tests.referee.rules import ruleset

GAMES = 6


@pytest.mark.parametrize("misreading", MISREADINGS, ids=lambda misreading: misreading.name)
def test_a_misreading_is_noticed(misreading: Misreading) -> None:
    seeds = range(misreading.seed, misreading.seed + GAMES)
    assert any(first_difference(misreading, seed) for seed in seeds)


def test_each_ruling_is_misread() -> None:
    assert {misreading.ruling for misreading in MISREADINGS} == {"A25", "A26", "A27", "A28"}


def test_a_misreading_ends_with_its_block() -> None:
    for misreading in MISREADINGS:
        target, name = misreading.target
        before = getattr(target, name)
        with misreading.applied():
            assert getattr(target, name) is misreading.replacement
        assert getattr(target, name) is before


def test_set_ups_have_the_factions_and_tokens_that_are_asked_for() -> None:
    for misreading in MISREADINGS:
        setup = setup_for(misreading, misreading.seed)
        Game(setup, misreading.ruleset)
        assert setup["factions"][: len(misreading.factions)] == list(misreading.factions)
        factions = ruleset(misreading.ruleset).factions
        assert len({factions[name]["board"] for name in setup["factions"]}) == 4

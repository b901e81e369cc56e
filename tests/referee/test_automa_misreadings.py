"""The rules of the Automa misread on purpose: the misread referee differs from the right one."""

from __future__ import annotations

import pytest

from tests.referee.automa_misreadings import MISREADINGS, Misreading, first_difference

pytestmark = pytest.mark.no_compile
GAMES = 12


@pytest.mark.parametrize("misreading", MISREADINGS, ids=lambda misreading: misreading.name)
def test_a_misreading_is_noticed(misreading: Misreading) -> None:
    seeds = range(misreading.seed, misreading.seed + GAMES)
    assert any(first_difference(misreading, seed) is not None for seed in seeds)


def test_the_referee_agrees_with_itself() -> None:
    none = Misreading("none", "", "nothing", ({}, ""), None)
    assert all(first_difference(none, seed) is None for seed in range(3))

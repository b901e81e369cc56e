"""Rules of the Automa and of The Lost Fleet for one to three, misread on purpose.

The misread referee differs from the right one.
"""

from __future__ import annotations

import pytest

from tests.referee import fleet_misreadings
from tests.referee.automa_misreadings import MISREADINGS, Misreading, first_difference

pytestmark = pytest.mark.no_compile
GAMES = 12
ALL = [*MISREADINGS, *fleet_misreadings.MISREADINGS]


@pytest.mark.parametrize("misreading", ALL, ids=lambda m: f"{m.rule}-{m.name}")
def test_a_misreading_is_noticed(misreading: Misreading) -> None:
    seeds = range(misreading.seed, misreading.seed + GAMES)
    assert any(first_difference(misreading, seed) is not None for seed in seeds)


@pytest.mark.parametrize("games", [{}, fleet_misreadings.FLEET], ids=["base", "fleet"])
def test_the_referee_agrees_with_itself(games: dict[str, str]) -> None:
    none = Misreading("none", "", "nothing", ({}, ""), None, games)
    assert all(first_difference(none, seed) is None for seed in range(3))


def test_each_ruling_of_the_lost_fleet_is_misread() -> None:
    rules = {misreading.rule for misreading in fleet_misreadings.MISREADINGS}
    assert rules == {*(f"AUT-{n}" for n in range(40, 46)), *(f"PLA-{n:02}" for n in range(8, 15))}

"""The shape of the two packages (`python -m tools.shape`): what a change must not make worse."""

import re
from pathlib import Path

import pytest

from tools import shape

ROOT = Path(__file__).resolve().parent.parent
# The most of each, as measured; fewer is better.
# With the room `importers`, the door `puzzles`, and `__main__`: all commands as one program.
ROOMS = {"gaia_jax": 18, "training": 31}
FLOORS = {"gaia_jax": 8, "training": 9}
ARROWS = {"gaia_jax": 75, "training": 89}
# Parameters that may be anything at all.
ANY = {"gaia_jax": 94, "training": 103}


@pytest.fixture(scope="module")
def found():
    return shape.measure()


@pytest.mark.parametrize("package", shape.PACKAGES)
def test_rooms_floors_and_arrows_do_not_grow(found, package):
    part = found[package]
    assert part["rooms"] <= ROOMS[package]
    assert part["floors"] <= FLOORS[package]
    assert part["arrows"] <= ARROWS[package]
    assert part["circles"] == []


@pytest.mark.parametrize("package", shape.PACKAGES)
def test_no_more_parameters_are_anything_at_all(package):
    assert shape.any_parameters(package)[0] <= ANY[package]


def test_no_file_stands_in_a_circle_and_imports_only_go_down(found):
    assert found["gaia_jax"]["circles of files"] == []
    assert found["training"]["circles of files"] == []
    assert found["training"]["upwards"] == []


def test_at_the_top_of_training_stand_doors_alone(found):
    doors = found["training"]["doors"]
    assert len(doors) <= 18  # two more than before: `__main__`, the program `gaia`; `puzzles`
    commands = {
        name: lines for name, lines in doors.items() if name not in ("__init__.py", "types.py")
    }
    assert not {name: lines for name, lines in commands.items() if lines > 120}
    for name in commands:
        text = (ROOT / "training" / name).read_text(encoding="utf-8")
        assert re.search(r"^def main\(", text, re.M), f"{name} is no command"


def test_a_circle_and_an_import_upwards_are_found(monkeypatch):
    assert shape.circles({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")}) == [["a", "b", "c"]]
    assert shape.floors({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")}) == 2
    assert shape.floors({("a", "b"), ("b", "c"), ("a", "c")}) == 3
    monkeypatch.setattr(shape, "arrows", lambda package: {("system", "games"), ("run", "games")})
    assert shape.upwards() == ["system -> games"]

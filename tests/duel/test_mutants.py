"""Mutants of the rules are made and judged as they should be."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gaia_jax.rules import free, leech, once_per_round, power
from tests.referee.mutant_lanes import Mutant
from tests.referee.mutants import Module

# In a process of its own: mutants are put into the modules of the engine.
JUDGED = """
import json, sys
from tests.referee import mutants as tool
tool.GAMES["lost_fleet"] = ("lost_fleet", 4, 2)
games = tool.record("lost_fleet")
start = games._replace(actions=games.actions[:80], fields=games.fields[:81], mask=games.mask[:81])
mutants = [tool.Mutant(*mutant) for mutant in json.loads(sys.argv[1])]
print(json.dumps(tool.judge(start, mutants)))
"""
SIX_MUTANTS: list[tuple[str, str, Callable[..., Any], str, str]] = [
    ("cheaper leech", "killed", leech.accept, "maximum(a - 1", "maximum(a - 2"),
    ("no limit", "killed", free.conversions, "< FREE_ACTIONS_PER_TURN", "< None"),
    ("the same jaxpr", "equivalent", free.keeps_turn_open, ".any()", ".any(axis=None)"),
    ("the same value", "survived", power.charge, "rest = rest - first", "rest = -first + rest"),
    ("another ruleset's", "unreached", once_per_round._all_lost, "return ", "return ~"),
    ("another dtype", "alone", leech.raised_power, "astype(jnp.int8)", "astype(jnp.int16)"),
]


def _mutant(name: str, function: Callable[..., Any], old: str, new: str) -> Mutant:
    code = inspect.getsource(function)
    assert code.count(old) == 1
    return Mutant(name, function.__module__, "", function.__name__, code.replace(old, new), "")


@pytest.mark.slow
def test_each_kind_of_mutant_is_told_apart() -> None:
    mutants = [_mutant(name, *change) for name, _, *change in SIX_MUTANTS]
    done = subprocess.run(
        [sys.executable, "-c", JUDGED, json.dumps(mutants)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
    outcomes = json.loads(done.stdout.splitlines()[-1])
    expected = {name: outcome for name, outcome, *_ in SIX_MUTANTS}
    assert {name: outcome for name, (outcome, _) in outcomes.items()} == expected
    assert outcomes["no limit"][1].startswith("trace")
    assert "players.vp" in outcomes["cheaper leech"][1]


@pytest.mark.no_compile
def test_mutants_are_changed_functions() -> None:
    module = Module(Path("gaia_jax/rules/free.py"))
    mutants = [
        module.mutant(outer, number)
        for outer, mutations in module.mutations.items()
        for number in range(len(mutations))
    ]
    assert len({mutant.name for mutant in mutants}) == len(mutants) > 50
    for mutant in mutants:
        original = vars(mutant.space)[mutant.function]
        assert mutant.build() is not original and mutant.build().__globals__ is vars(free)
        assert mutant.code.strip() != inspect.getsource(original).strip() and mutant.diff

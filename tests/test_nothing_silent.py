"""What would score nothing, or be read by nobody, without a word: each of it fails here."""

import ast
import dataclasses
import re
from collections import Counter
from pathlib import Path

import jax
import pytest

from gaia_jax.components import common
from gaia_jax.env import GaiaEnv
from gaia_jax.rules import gain, player
from gaia_jax.ruleset import LOST_FLEET, LOST_FLEET_PUBLISHED, Ruleset, operations

ROOT = Path(__file__).resolve().parent.parent
# In `gaia_jax` what nothing else names is dead; `__init__` names the public face.


def trace_a_decision(ruleset: Ruleset = LOST_FLEET) -> None:
    """Trace `init` and `step` with the mask, anew: no earlier trace knows this ruleset."""
    env = GaiaEnv(dataclasses.replace(ruleset))
    state = jax.eval_shape(env.init, jax.random.key(0))
    jax.eval_shape(env.step, state, jax.ShapeDtypeStruct((), int))


def test_every_operation_column_is_read(monkeypatch):
    read: set[str] = set()
    usual = operations.OperationRow.columns

    def note(row, first, size=None):
        # `values` hands whole rows on, and reads none of them.
        if size != len(operations.COLUMNS):
            read.update(operations.COLUMNS[first : first + (size or 1)])
        return usual(row, first, size)

    monkeypatch.setattr(operations.OperationRow, "columns", note)
    trace_a_decision()
    trace_a_decision(LOST_FLEET_PUBLISHED)  # `needs_step` is nothing to the default (A26)
    unread = set(operations.COLUMNS) - read
    assert not unread


def test_an_event_without_a_source_stops_the_trace(monkeypatch):
    monkeypatch.setattr(common, "EVENTS", (*common.EVENTS, "nobody_fires_this"))
    with pytest.raises(KeyError, match="nobody_fires_this"):
        trace_a_decision()


def test_an_event_that_no_ruleset_knows_stops_the_trace():
    happened = dict.fromkeys(common.EVENTS, 0) | {"misspelt": 1}
    with pytest.raises(KeyError, match="misspelt"):
        gain.event_vector(LOST_FLEET, happened)


def test_vp_without_a_source_stop_the_trace():
    with pytest.raises(KeyError, match="NOWHERE"):
        player.book(None, {"NOWHERE": 1})


def test_every_count_has_a_value(monkeypatch):
    monkeypatch.setattr(common, "COUNTS", (*common.COUNTS, "nobody_counts_this"))
    with pytest.raises(KeyError, match="nobody_counts_this"):
        trace_a_decision()


def test_every_piece_switch_and_table_of_a_ruleset_is_read():
    """A switch that is declared and set, and that no rule asks; an array that nobody looks into."""
    ours = (ROOT / "gaia_jax").rglob("*.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in ours)
    read = set(re.findall(r"\.(\w+)", re.sub(r"#.*", "", text)))
    for declared in (LOST_FLEET, LOST_FLEET.tables):
        assert not {field.name for field in dataclasses.fields(declared)} - read


def _words(text: str) -> Counter:
    return Counter(re.findall(r"\w+", re.sub(r"(^|\s)# .*", "", text)))


def _defined(text: str) -> set[str]:
    """Functions, classes and constants at the top of a module."""
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("__")}


def test_nothing_inside_the_engine_is_unused():
    """Prices that no rule reads, functions that only a test calls."""
    ours = [p for folder in ("gaia_jax", "training") for p in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in ours}
    words = sum((_words(text) for text in texts.values()), Counter())
    unused = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        if path.is_relative_to(ROOT / "gaia_jax")
        for name in sorted(_defined(text))
        if words[name] == 1
    ]
    assert not unused


def test_unused_names_are_found():
    text = "USED = 1\nDEAD = 2  # DEAD\ndef f() -> int:\n    return USED\n"
    words = _words(text)
    assert {name for name in _defined(text) if words[name] == 1} == {"DEAD", "f"}

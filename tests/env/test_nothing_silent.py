"""Events that no rule scores and columns that no rule reads fail here instead of silently."""

import dataclasses

import jax
import pytest

from gaia_jax.components import common
from gaia_jax.env import GaiaEnv
from gaia_jax.rules import gain, player
from gaia_jax.ruleset import LOST_FLEET, LOST_FLEET_PUBLISHED, Ruleset, operations, pieces

pytestmark = pytest.mark.no_compile


def trace_a_decision(ruleset: Ruleset = LOST_FLEET) -> None:
    """Trace `init` and `step` with the mask; no earlier trace knows this copy of the ruleset."""
    env = GaiaEnv(dataclasses.replace(ruleset))
    state = jax.eval_shape(env.init, jax.random.key(0))
    jax.eval_shape(env.step, state, jax.ShapeDtypeStruct((), int))


def test_every_operation_column_is_read(monkeypatch):
    read: set[str] = set()
    usual = operations.OperationRow.columns

    def note(row, first, size=None):
        # `values` passes whole rows on without reading a column.
        if size != len(operations.COLUMNS):
            read.update(operations.COLUMNS[first : first + (size or 1)])
        return usual(row, first, size)

    monkeypatch.setattr(operations.OperationRow, "columns", note)
    trace_a_decision()
    trace_a_decision(LOST_FLEET_PUBLISHED)  # `needs_step` is nothing to the default (A26)
    unread = set(operations.COLUMNS) - read
    assert not unread


def test_an_event_without_a_source_stops_the_trace(monkeypatch):
    monkeypatch.setattr(pieces, "EVENTS", (*common.EVENTS, "nobody_fires_this"))
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
    monkeypatch.setattr(pieces, "COUNTS", (*common.COUNTS, "nobody_counts_this"))
    with pytest.raises(KeyError, match="nobody_counts_this"):
        trace_a_decision()

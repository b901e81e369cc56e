"""The state: fields hold what they declare."""

import dataclasses
from operator import attrgetter

import numpy as np
import pytest

from gaia_jax.state import (
    AutomaDraws,
    AutomaState,
    Board,
    FederationOptions,
    GameState,
    Players,
    Setup,
    Turn,
)
from gaia_jax.xla.packed import BOOL, INT32, LOW_BITS
from gaia_jax.xla.struct import leaves

STRUCTS = {
    "game": GameState,
    "game.board": Board,
    "game.setup": Setup,
    "game.federation": FederationOptions,
}
RECORDS = {"players": Players, "turn": Turn}
FIELDS = [(part, name) for part, kind in RECORDS.items() for name in kind.fields]


@pytest.mark.parametrize("part", RECORDS)
@pytest.mark.parametrize("end", ["low", "high"])
def test_every_field_holds_its_whole_range(part, end, new_games):
    """Neither end of a range is cut by the dtype that the field is packed in."""
    values = {name: getattr(field, end) for name, field in RECORDS[part].fields.items()}
    record = getattr(new_games.game, part).replace(**values)
    for name, value in values.items():
        read = np.asarray(getattr(record, name)).astype(np.int64)
        assert (read == value).all(), (name, value)


@pytest.mark.parametrize("part", RECORDS)
def test_the_bits_of_a_field_fit(part):
    for name, field in RECORDS[part].fields.items():
        if field.dtype == INT32:
            assert 0 <= field.low and field.high < 1 << (LOW_BITS + 15), name
        elif field.dtype == BOOL:
            assert (field.low, field.high) == (0, 1), name
        else:
            info = np.iinfo(field.dtype)
            assert info.min <= field.low <= field.high <= info.max, name


def test_random_games_stay_in_the_declared_ranges(games_under_way, ended_games, new_games):
    for states in (new_games, games_under_way, ended_games):
        for part, name in FIELDS:
            field = RECORDS[part].fields[name]
            values = np.asarray(getattr(getattr(states.game, part), name)).astype(np.int64)
            assert field.low <= values.min() and values.max() <= field.high, (part, name)


@pytest.mark.parametrize("part", STRUCTS)
def test_the_arrays_are_as_declared(env, part, games_under_way, ended_games, new_games):
    """Dtype, shape and range of the arrays of games, boards, set-ups and search results."""
    cells = env.ruleset.geometry.num_cells
    lengths = {"C": cells, "C/8": -(-cells // 8), "P": 4, "P + 3": 7}
    for states in (new_games, games_under_way, ended_games):
        for name, declared in leaves(STRUCTS[part]).items():
            values = np.asarray(getattr(attrgetter(part)(states), name))
            assert values.dtype == declared.dtype, name
            assert values.shape[1:] == tuple(lengths.get(n, n) for n in declared.shape), name
            low, high = values.astype(np.int64).min(), values.astype(np.int64).max()
            assert declared.low <= low and high <= declared.high, name


@pytest.mark.parametrize("kind", [*STRUCTS.values(), AutomaDraws, AutomaState])
def test_every_field_of_a_struct_is_declared_within_its_dtype(kind):
    arrays = [field.name for field in dataclasses.fields(kind) if field.type == "Array"]
    assert arrays == list(leaves(kind))
    for name, declared in leaves(kind).items():
        if declared.dtype == BOOL:
            lowest, highest = 0, 1
        else:
            info = np.iinfo(declared.dtype)
            lowest, highest = info.min, info.max
        assert lowest <= declared.low <= declared.high <= highest, name

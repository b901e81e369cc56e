"""`gaia_jax.data.transitions`: decisions of recorded games with what followed, on the stub game."""

import functools
import itertools
import subprocess
import sys

import jax
import numpy as np
import pytest

from gaia_jax.adapters.layout import arranged
from gaia_jax.cli.command_line import UserError
from tests.recorded_games import pq, record, write
from tests.stub_env import StubEnv

ENV = StubEnv(reward="vp", length=9)
GAMES = 5


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    keys = jax.random.split(jax.random.key(5), GAMES)
    rows, games = zip(*(record(ENV, key) for key in keys), strict=True)
    write(folder / "games.parquet", rows)
    return folder, rows, games


def transitions(folder, *args, **options):
    from gaia_jax.data import transitions

    return transitions(folder, ENV, *args, **{"group": 2} | options)


def joined(batches):
    return jax.tree.map(lambda *x: np.concatenate(x), *batches)


def test_decisions_come_with_what_followed(dataset):
    folder, rows, games = dataset
    out = joined(list(transitions(folder, 5, seed=None, observation="tree")))
    expected = [(game, t) for game in range(GAMES) for t in range(9)]
    assert list(zip(out["game"], out["decision"], strict=True)) == expected
    for i, (game, t) in enumerate(expected):
        seen, mask, action, seat, vp = games[game][t]
        assert (out["action"][i], out["seat"][i]) == (action, seat)
        np.testing.assert_array_equal(out["mask"][i], mask)
        jax.tree.map(
            np.testing.assert_array_equal,
            jax.tree.map(lambda x, i=i: x[i], out["observation"]),
            seen,
        )
        to_go = (rows[game]["vp"][seat] - vp[seat]) / 100
        np.testing.assert_allclose(out["return_to_go"][i], to_go, atol=1e-6)
        later = [u for u in range(t + 1, 9) if games[game][u][3] == seat]
        assert out["end"][i] == (not later)
        next_vp = games[game][later[0]][4] if later else rows[game]["vp"]
        np.testing.assert_allclose(out["reward"][i], (next_vp[seat] - vp[seat]) / 100, atol=1e-6)


def test_shards_and_epochs_share_the_games(dataset):
    folder = dataset[0]
    parts = [joined(list(transitions(folder, 9, shard=(i, 2)))) for i in range(2)]
    keys = [set(zip(part["game"], part["decision"], strict=True)) for part in parts]
    assert keys[0] | keys[1] == set(itertools.product(range(GAMES), range(9)))
    assert not keys[0] & keys[1]
    twice = joined(list(transitions(folder, 9, epochs=2)))
    assert np.bincount(twice["game"]).tolist() == [18] * GAMES
    repeated, other = (next(transitions(folder, 18, seed=seed))["game"] for seed in (0, 1))
    first = next(transitions(folder, 18))
    np.testing.assert_array_equal(first["game"], repeated)
    assert (first["game"] != other).any()
    assert first["observation"].dtype == np.float32 and len(list(transitions(folder, 46))) == 0
    assert all(x.flags.writeable for x in first.values())


def test_all_forms_are_of_the_same_decisions(dataset):
    seen = {
        form: next(transitions(dataset[0], 45, observation=form))["observation"]
        for form in ("tree", "scaled", "vector", "picture")
    }
    for form in ("scaled", "vector", "picture"):
        arrange = jax.vmap(functools.partial(arranged, form, ENV.ruleset))
        np.testing.assert_allclose(seen[form], arrange(seen["tree"]), rtol=1e-6)


EXIT = """
import sys
from tests.env.test_transitions import transitions
stream = transitions(sys.argv[1], 4)
print(next(stream)["action"].shape)
"""


@pytest.mark.slow
def test_a_program_may_end_within_the_stream(dataset):
    run = [sys.executable, "-c", EXIT, str(dataset[0])]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == "(4,)\n" and not done.stderr


def test_wrong_files_are_named(dataset, tmp_path):
    folder, rows, _ = dataset
    with pytest.raises(UserError, match="is no file of games"):
        transitions(tmp_path, 4)
    file = tmp_path / "games.parquet"
    pq.write_table(pq.read_table(folder / file.name).drop_columns("setup"), file)
    with pytest.raises(UserError, match="has no column 'setup'"):
        transitions(file, 4)
    changed = [row | {"vp": [0, *row["vp"][1:]]} if i == 3 else row for i, row in enumerate(rows)]
    write(file, changed)
    with pytest.raises(UserError, match="row 3 does not replay to its VP"):
        list(transitions(file, 4))
    write(file, [*rows[:4], rows[4] | {"vp": rows[4]["vp"][:3]}])
    with pytest.raises(UserError, match="row 4 does not replay to its VP"):
        list(transitions(file, 4))
    swapped = list(rows[1]["actions"])  # of the same seat: both illegal, its VP as before
    swapped[0], swapped[4] = swapped[4], swapped[0]
    write(file, [rows[0], rows[1] | {"actions": swapped}, *rows[2:]])
    with pytest.raises(UserError, match="row 1 does not replay to its VP"):
        list(transitions(file, 4))
    write(file, [*rows[:2], rows[2] | {"setup": '{"sectors": []}'}, *rows[3:]])
    with pytest.raises(UserError, match="row 2: set-up: "):
        list(transitions(file, 4, seed=None))
    write(file, [row | {"actions": []} for row in rows])
    with pytest.raises(UserError, match="row 0 has no actions"):
        list(transitions(file, 4, seed=None))
    write(file, [rows[0] | {"env": "base"}])
    with pytest.raises(UserError, match="'base' .* for 4 players, the environment is 'lost_fleet'"):
        transitions(file, 4)
    with pytest.raises(ValueError, match="the first of shard"):
        transitions(folder, 4, shard=(2, 2))
    with pytest.raises(ValueError, match=r"shard 5 of 6 has no games: the file has 5"):
        transitions(folder, 4, shard=(5, 6), epochs=None)
    assert list(transitions(folder, 4, shard=(5, 6))) == []

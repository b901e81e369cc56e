"""Datasets: rows played again, damage that is named, a row a decision."""

import functools
import json
import shutil
from pathlib import Path

import jax.numpy as jnp
import pyarrow as pa
import pytest
from exported import FACE, REPLAY, command, pq, rows_of, stopping

from gaia_jax.cli import outputs
from tests import stub_env
from training import export
from training.agents import base, registry
from training.games import dataset, decisions, replay

pytestmark = pytest.mark.usefixtures("small_datasets")


def changed(full_export, to, change):
    """The dataset with its rows changed."""
    shutil.copytree(full_export, to)
    path = to / dataset.GAMES
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def test_whole_rows_verify(full_export, capsys):
    code, stdout, err = command(capsys, "--out", full_export, "--verify", "48", *REPLAY)
    assert code == 0 and "48 of 48 games played again, 0 differences" in stdout, err
    assert err.startswith("compiling the replay\n") and "48/48" in err


def test_what_is_compiled_ahead_is_what_the_games_need(full_export):
    """Otherwise the command would compile again without a message. About 4 s."""
    replayer = replay.Replayer(stub_env.StubEnv(reward="vp", length=9, max_steps=77), 16)
    replayer.compile()
    assert replay.wrong_rows(replayer, rows_of(full_export)[:3]) == []
    assert (replayer._start._cache_size(), replayer._advance._cache_size()) == (1, 1)


def test_a_corrupted_row_is_named(full_export, tmp_path, capsys):
    def change(rows):
        rows[7]["vp"][2] += 1
        rows[11]["actions"][4] += 1
        rows[13]["actions"] = rows[13]["actions"][:-1]
        rows[20]["setup"] = rows[20]["setup"].replace("M01", "M99")
        rows[21]["setup_final_missions"] = rows[21]["setup_final_missions"][::-1]
        rows[30]["vp_START"][0] -= 1
        rows[40]["place"][0] = 4.0 if rows[40]["place"][0] != 4.0 else 1.0

    changed(full_export, tmp_path / "bad", change)
    code, stdout, _ = command(capsys, "--out", tmp_path / "bad", "--verify", "48", *REPLAY)
    assert code == 1
    lines = stdout.splitlines()
    assert "sha256 differs" in lines[0]
    named = {int(line.split()[1]): line for line in lines[1:-1]}
    assert sorted(named) == [7, 11, 13, 20, 21, 30, 40]
    assert "row 7 (seed 3, deal 1, rotation 3): vp" in named[7]
    assert "action 4 is" in named[11] and "not legal" in named[11]
    assert "not over after 8 decisions" in named[13]
    assert "M99" in named[20] and "setup_final_missions" in named[21]
    assert "vp_START" in named[30] and "place" in named[40]
    assert lines[-1] == "48 of 48 games played again, 8 differences"


def test_a_flipped_byte_is_named(full_export, tmp_path, capsys):
    shutil.copytree(full_export, tmp_path / "flipped")
    path = tmp_path / "flipped" / dataset.GAMES
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        column = [file.metadata.row_group(1).column(i).path_in_schema for i in range(len(names))]
        place = file.metadata.row_group(1).column(column.index("setup"))
    data = bytearray(path.read_bytes())
    data[place.data_page_offset + place.total_compressed_size // 2] ^= 0x10
    path.write_bytes(data)
    code, _, err = command(capsys, "--out", tmp_path / "flipped", "--verify", "48", *REPLAY)
    assert code == 2 and "rows 20 to 39 are damaged" in err


def test_a_row_a_decision(full_export, tmp_path, capsys, monkeypatch):
    """Also where the work was interrupted; the policy's columns are filled for who has one."""

    def with_policy(env):
        def evaluate(params, state):
            games = len(state.current_player)
            return jnp.zeros((games, env.num_actions)), jnp.full((games, 4), 0.5)

        return base.random_agent(env)._replace(policy=base.Policy(evaluate))

    monkeypatch.setitem(registry.REGISTRY, "random", with_policy)
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        shutil.copytree(full_export, out)
    args = ["--decisions", *REPLAY, "--out"]
    extras = decisions.make_extras
    extras_of = functools.cache(
        lambda names: extras({n: with_policy(FACE.make("", "vp")) for n in names})
    )
    monkeypatch.setattr(decisions, "make_extras", lambda agents: extras_of(tuple(agents)))
    code, stdout, err = command(capsys, *args, outs[0])
    assert code == 0 and "432 decisions" in stdout, err
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "write_bytes", stopping(outputs.write_bytes, 2))
        assert command(capsys, *args, outs[1])[0] == 130
    assert command(capsys, *args, outs[1])[0] == 0
    for name in (dataset.DECISIONS, dataset.ABOUT):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()

    games, rows = rows_of(full_export), rows_of(outs[0], dataset.DECISIONS)
    for row in rows:
        game = games[row["game"]]
        assert row["action"] == game["actions"][row["number"]]
        assert row["vp_end"] == game["vp"][row["seat"]] and row["node"] == "START"
        assert row["place_end"] == game["place"][row["seat"]] and row["legal"] in (341, 342)
        has = game[f"agent_{row['seat']}"] == "random"
        assert (row["policy"] is not None) == (row["value"] is not None) == has
        if has:
            assert row["policy"] == pytest.approx(1 / row["legal"])
            assert row["value"] == pytest.approx(5.0)  # 0.5 of rewards of 0.1 a VP
    assert [row["number"] for row in rows] == list(range(9)) * 48
    assert "decisions.parquet" in (outs[0] / dataset.README).read_text()

    # The name now means another network, whose values are not stored.
    (outs[1] / dataset.DECISIONS).unlink()
    about = json.loads((outs[1] / dataset.ABOUT).read_text())
    del about["files"][dataset.DECISIONS]
    (outs[1] / dataset.ABOUT).write_text(json.dumps(about))
    monkeypatch.setitem(
        registry.REGISTRY, "random", lambda env: with_policy(env)._replace(params=jnp.ones(3))
    )
    code, _, err = command(capsys, *args, outs[1])
    assert code == 2 and "random is not the agent that played" in err and err.count("\n") == 1


@pytest.mark.slow
def test_the_sample_plays_as_it_says(capsys):
    """A version of the environment that changes the rules needs a new sample."""
    sample = Path(__file__).resolve().parents[2] / "docs" / "sample"
    args = ["--out", str(sample), "--verify", "64", "--replay-batch", "64"]
    assert export.main(args) == 0
    assert "64 of" in capsys.readouterr().out

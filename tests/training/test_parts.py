"""Games that are played in parts and merged: the same games, whatever the split."""

import csv
import json
import sys

import numpy as np
import pytest
import toy_env

import training.arena as arena
from gaia_jax.cli.command_line import UserError
from tests import stub_env
from training import merge
from training.agents import random_agent
from training.games import arena as games_arena
from training.games import store, table
from training.games.engine import Match
from training.games.store import Head
from training.games.table import one_against_the_rest, rotated
from training.imitation import expert_data
from training.system import cli, jobs

ENV = toy_env.make("toy")
FACE = sys.modules[__name__]  # the module that makes environments


def make(env_id, reward):
    return stub_env.StubEnv(reward=reward, length=6)


def command(capsys, main, *args, env_module=FACE):
    code = cli.run(lambda: main([str(x) for x in args], env_module))
    out = capsys.readouterr()
    return code, out.out, out.err


def games(setups):
    agents = [random_agent(ENV), random_agent(ENV)]
    return Match(ENV, agents, one_against_the_rest(4), setups, games_at_once=8).play(seed=5)


@pytest.fixture(scope="module")
def all_games():
    return games(6)


def test_a_game_depends_on_its_number_alone(all_games):
    """Not on the batch it is played in, nor on where that begins."""
    parts = [games(range(1)), games(range(1, 6))]
    same(all_games, table.join(parts))


def same(games, expected):
    for name, value in expected.rows().items():
        if name != "seconds":
            assert np.array_equal(games.rows()[name], value), name


def test_games_merge_without_a_gap(all_games, tmp_path):
    about = {"env": "toy", "env_version": "1", "seed": 5, "opponent": "random"}
    head, ids = Head(about, 0, 4), ENV.ruleset.ids
    all_games = all_games._replace(entry=np.broadcast_to(rotated(), all_games.vp.shape))
    paths = [tmp_path / f"{name}.parquet" for name in "abc"]
    for path, first, part in (
        (paths[0], 2, all_games.slice(2)), (paths[1], 0, all_games.slice(0, 2)),
        (paths[2], 3, all_games.slice(3)),
    ):  # fmt: skip
        path.write_bytes(store.encode(path, head._replace(first=first), part, ids))
    head_of_all, games = store.merge(paths[:2], lambda *_: ids)
    assert head_of_all.first == 0
    same(games, all_games)
    for wrong, message in (
        ([paths[0], paths[0]], "set-ups 2 to 5 are there twice"),
        ([paths[1], paths[2]], "set-ups 2 to 2 are missing"),
    ):
        with pytest.raises(UserError, match=message):
            store.merge(wrong, lambda *_: ids)


def test_an_arena_continues_with_whole_batches(monkeypatch, tmp_path, capsys):
    """To the games of an arena without the break, also where networks round by batch."""
    monkeypatch.setattr(games_arena, "GAMES_AT_ONCE", 8)
    firsts, played = [], Match.play_batch

    def batch(self, seed, first, *rest):
        firsts.append(first)
        if len(firsts) == 2:
            raise KeyboardInterrupt
        return played(self, seed, first, *rest)

    monkeypatch.setattr(Match, "play_batch", batch)
    line = ["--agents", "random,random,random,random", "--games", 24]
    whole, cut = tmp_path / "whole.csv", tmp_path / "cut.csv"
    code, table, err = command(capsys, arena.main, *line, "--csv", cut)
    assert code == 130 and "8 games on 2 set-ups" in table and "--resume" in err
    assert not cut.exists()
    assert command(capsys, arena.main, *line, "--csv", cut, "--resume")[0] == 0
    assert firsts == [0, 2, 2, 4]
    assert command(capsys, arena.main, *line, "--csv", whole)[0] == 0
    rows = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(path.open())]
        for path in (whole, cut)
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 24 * 4


def test_an_arena_in_parts_is_the_arena(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(games_arena, "GAMES_AT_ONCE", 8)
    line = ["--agents", "random,random,random,random", "--seed", "3"]
    files = {}
    for name, first, count in (("whole", 0, 16), ("one", 0, 12), ("two", 3, 4)):
        files[name] = tmp_path / f"{name}.parquet"
        options = ["--first", first, "--games", count, "--csv", files[name]]
        code, _, err = command(capsys, arena.main, *line, *options, "--json", tmp_path / "x.json")
        assert code == 0, err
        (tmp_path / "x.json").rename(tmp_path / f"{name}.json")
    out = [tmp_path / "merged.csv", files["two"], files["one"]]
    code, table, err = command(capsys, merge.main, *out, "--json", tmp_path / "merged.json")
    assert code == 0, err
    assert "16 games on 4 set-ups" in table
    merged, complete = (
        json.loads((tmp_path / f"{x}.json").read_text()) for x in ("merged", "whole")
    )
    assert merged | {"seconds": 0} == complete | {"seconds": 0}
    assert len(out[0].read_text().splitlines()) == 1 + 16 * 4
    code, _, err = command(capsys, merge.main, tmp_path / "other.csv", files["two"], files["two"])
    assert code == 2 and "set-ups 3 to 3 are there twice" in err
    with files["one"].open("rb+") as file:
        file.truncate(files["one"].stat().st_size - 20)
    code, _, err = command(capsys, merge.main, tmp_path / "other.csv", *out[1:])
    assert code == 2 and "is not a Parquet file" in err and err.count("\n") == 1
    code, _, err = command(capsys, merge.main, tmp_path / "all.csv", tmp_path / "one.csv")
    assert code == 2 and "all parts must be .parquet" in err and err.count("\n") == 1


def test_labels_go_on_and_merge(tmp_path):
    about = {"env": "toy", "env_version": "1.0", "seed": 1, "games": 2, "first": 0}
    states = {"a": np.arange(2), "b": np.ones((2, 3))}
    for first, name in ((0, "one"), (2, "two")):
        out, identity = tmp_path / name, about | {"first": first}
        assert expert_data.begin(out, identity, _placed(states))[0] == 0
        for chunk in range(2):
            arrays = {
                name: np.full((expert_data.STEPS, 2, 4)[:axes], 10 * first + chunk)
                for name, axes in expert_data.ARRAYS.items()
            }
            expert_data.store_chunk(out, chunk, arrays, _placed(states))
        done, stored_states = expert_data.begin(out, identity, _placed(states))
        assert done == 2 and np.array_equal(stored_states["a"], states["a"])
    with pytest.raises(UserError, match="has seed 1, not 2"):
        expert_data.begin(tmp_path / "one", about | {"seed": 2}, _placed(states))
    expert_data.merge(tmp_path / "all", [tmp_path / "two", tmp_path / "one"])
    with np.load(tmp_path / "all" / "0001.npz") as file:
        assert file["action"].tolist() == [[1, 1, 21, 21]] * expert_data.STEPS
    assert json.loads((tmp_path / "all" / "about.json").read_text())["games"] == 4
    cut = tmp_path / "two" / "0001.npz"
    cut.write_bytes(cut.read_bytes()[:-30])
    with pytest.raises(UserError, match=r"cannot read the labels .*0001\.npz: it is damaged"):
        expert_data.merge(tmp_path / "other", [tmp_path / "two", tmp_path / "one"])
    assert not (tmp_path / "other").exists()
    cut.unlink()
    with pytest.raises(UserError, match="has 1 chunks, not 2"):
        expert_data.merge(tmp_path / "other", [tmp_path / "two", tmp_path / "one"])


def test_labels_in_parts_are_one_stream(tmp_path, monkeypatch):
    def generate(out, chunks, about, config_file):
        about = {"env": "toy", "env_version": "1.0"} | about
        expert_data.begin(out, about, _placed({"a": np.arange(2)}))
        games = np.arange(about["first"], about["first"] + about["games"])
        for chunk in range(chunks):
            arrays = {
                name: np.broadcast_to(
                    games[(None, slice(None), None)[:axes]],
                    (expert_data.STEPS, len(games), 4)[:axes],
                )
                for name, axes in expert_data.ARRAYS.items()
            }
            expert_data.store_chunk(out, chunk, arrays, _placed({"a": np.arange(2)}))

    monkeypatch.setattr(expert_data, "generate", generate)
    about = {"seed": 1, "games": 150, "first": 10, "student": ""}
    out = tmp_path / "labels"
    expert_data.generate_in_parts(out, 2, about, "configs/quick.yaml", jobs.LOCAL)
    assert expert_data.read_about(out)["games"] == 150
    chunk = expert_data.read_chunk(out / "0001.npz", 150)
    assert chunk["action"][3].tolist() == list(range(10, 160))
    assert list(tmp_path.iterdir()) == [out]
    with pytest.raises(UserError, match="is not empty"):
        expert_data.generate_in_parts(out, 2, about, "configs/quick.yaml", jobs.LOCAL)


def _placed(states):
    import jax

    return jax.device_put(states)

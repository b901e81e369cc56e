"""Games that are played in parts and merged: the same games, whatever the split."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import toy_env

from tests import stub_env
from training import arena, labels, merge
from training.agents import random_agent
from training.games import results_file, table
from training.games.match import Match, one_against_three
from training.system import cli

ENV = toy_env.make("toy")
FACE = SimpleNamespace(make=lambda env_id, reward: stub_env.StubEnv(reward=reward, length=6))


def command(capsys, main, *args, face=FACE):
    code = cli.run(lambda: main([str(x) for x in args], face))
    out = capsys.readouterr()
    return code, out.out, out.err


def games(which):
    agents = [random_agent(ENV), random_agent(ENV)]
    return Match(ENV, agents, one_against_three(), which, games_at_once=8).play(seed=5)


@pytest.fixture(scope="module")
def whole():
    return games(6)


def test_a_game_depends_on_its_number_alone(whole):
    """Not on the batch it is played in, nor on where that begins."""
    parts = [games(range(1)), games(range(1, 6))]
    for name, value in whole.arrays().items():
        joined = np.concatenate([part.arrays()[name] for part in parts])
        assert np.array_equal(joined, value), name


def test_an_evaluation_goes_on_and_merges(whole, tmp_path):
    about = {"env": "toy", "seed": 5}
    paths = [tmp_path / name for name in ("b.npz", "a.npz")]
    file = results_file.ResultsFile(paths[0], about, 2, 4)
    with pytest.raises(KeyboardInterrupt):
        Match(ENV, [random_agent(ENV)] * 2, one_against_three(), range(2, 6), 8).play(
            5, save=lambda results: [file.save(results), _stop()]
        )
    again = results_file.ResultsFile(paths[0], about, 2, 4, resume=True)
    assert len(again.played.vp) == 2
    match = Match(ENV, [random_agent(ENV)] * 2, one_against_three(), range(2, 6), 8)
    match.play(5, done=again.played, save=again.save)
    results_file.write(paths[1], about | {"first": 0}, games(2))
    found, results = results_file.merge(paths)
    assert found["first"] == 0
    for name, value in whole.arrays().items():
        assert np.array_equal(results.arrays()[name], value), name
    for wrong, said in (
        ([paths[0], paths[0]], "set-ups 2 to 5 are there twice"),
        ([paths[1], _moved(tmp_path, paths[0], 3)], "set-ups 2 to 2 are missing"),
    ):
        with pytest.raises(cli.UserError, match=said):
            results_file.merge(wrong)
    with pytest.raises(cli.UserError, match="has seed 5, not 6"):
        results_file.ResultsFile(paths[0], about | {"seed": 6}, 2, 4, resume=True)
    with pytest.raises(cli.UserError, match="--resume goes on with it"):
        results_file.ResultsFile(paths[0], about, 2, 4)


def _stop():
    raise KeyboardInterrupt


def _moved(folder, path, first):
    about, results = results_file.read(path)
    results_file.write(folder / "moved.npz", about | {"first": first}, results)
    return folder / "moved.npz"


def test_an_arena_in_parts_is_the_arena(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(arena, "GAMES_AT_ONCE", 8)
    line = ["--agents", "random,random,random,random", "--seed", "3"]
    csvs = {}
    for name, first, count in (("whole", 0, 16), ("one", 0, 12), ("two", 3, 4)):
        csvs[name] = tmp_path / f"{name}.csv"
        more = ["--first", first, "--games", count, "--csv", csvs[name]]
        code, _, err = command(capsys, arena.main, *line, *more, "--json", tmp_path / "x.json")
        assert code == 0, err
        (tmp_path / "x.json").rename(tmp_path / f"{name}.json")
    out = [tmp_path / "merged.csv", csvs["two"], csvs["one"]]
    code, table, err = command(capsys, merge.main, *out, "--json", tmp_path / "merged.json")
    assert code == 0, err
    assert "16 games on 4 set-ups" in table
    ours, theirs = (json.loads((tmp_path / f"{x}.json").read_text()) for x in ("merged", "whole"))
    assert ours | {"seconds": 0} == theirs | {"seconds": 0}
    code, _, err = command(capsys, merge.main, tmp_path / "other.csv", csvs["two"], csvs["two"])
    assert code == 2 and "set-ups 3 to 3 are there twice" in err
    with csvs["one"].open("rb+") as file:
        file.truncate(csvs["one"].stat().st_size - 20)
    code, _, err = command(capsys, merge.main, tmp_path / "other.csv", *out[1:])
    assert code == 2 and "go on with --csv FILE --resume" in err and err.count("\n") == 1


def test_labels_go_on_and_merge(tmp_path):
    about = {"env": "toy", "env_version": "1.0", "seed": 1, "games": 2, "first": 0}
    states = {"a": np.arange(2), "b": np.ones((2, 3))}
    for first, name in ((0, "one"), (2, "two")):
        out, said = tmp_path / name, about | {"first": first}
        assert labels.begin(out, said, _placed(states))[0] == 0
        for chunk in range(2):
            kept = {
                name: np.full((labels.STEPS, 2, 4)[:axes], 10 * first + chunk)
                for name, axes in labels.ARRAYS.items()
            }
            labels.keep(out, chunk, kept, _placed(states))
        done, found = labels.begin(out, said, _placed(states))
        assert done == 2 and np.array_equal(found["a"], states["a"])
    with pytest.raises(cli.UserError, match="has seed 1, not 2"):
        labels.begin(tmp_path / "one", about | {"seed": 2}, _placed(states))
    labels.merge(tmp_path / "all", [tmp_path / "two", tmp_path / "one"])
    with np.load(tmp_path / "all" / "0001.npz") as file:
        assert file["action"].tolist() == [[1, 1, 21, 21]] * labels.STEPS
    assert json.loads((tmp_path / "all" / "about.json").read_text())["games"] == 4
    cut = tmp_path / "two" / "0001.npz"
    cut.write_bytes(cut.read_bytes()[:-30])
    with pytest.raises(cli.UserError, match=r"cannot read the labels .*0001\.npz: it is damaged"):
        labels.merge(tmp_path / "other", [tmp_path / "two", tmp_path / "one"])
    assert not (tmp_path / "other").exists()
    cut.unlink()
    with pytest.raises(cli.UserError, match="has 1 chunks, not 2"):
        labels.merge(tmp_path / "other", [tmp_path / "two", tmp_path / "one"])


def _placed(states):
    import jax

    return jax.device_put(states)


def test_parts_of_the_tables(tmp_path):
    with pytest.raises(cli.UserError, match="holds no games of an arena"):
        (tmp_path / "x.csv").write_text("a,b\r\n")
        merge.merge_arena(tmp_path / "y.csv", [tmp_path / "x.csv"], FACE)
    with pytest.raises(cli.UserError, match="holds no games of an evaluation"):
        results_file.read(tmp_path / "x.csv")
    assert table.Sheet({}, [], {}, 4).first == 0

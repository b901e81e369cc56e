"""Games that are played in parts and merged: the same games, whatever the split."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import toy_env

import training.arena as arena
from gaia_jax.cli.command_line import UserError
from tests import stub_env
from training import merge
from training.agents import random_agent
from training.games import arena as games_arena
from training.games import store
from training.games.engine import Match
from training.games.store import Head
from training.games.table import one_against_the_rest, rotated
from training.imitation import expert_data
from training.system import cli

ENV = toy_env.make("toy")
FACE = SimpleNamespace(make=lambda env_id, reward: stub_env.StubEnv(reward=reward, length=6))


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
    same(all_games, store.table.join(parts))


def same(games, expected):
    for name, value in expected.rows().items():
        if name != "seconds":
            assert np.array_equal(games.rows()[name], value), name


@pytest.mark.slow
def test_an_interrupted_evaluation_resumes_and_merges(all_games, tmp_path):
    about = {"env": "toy", "env_version": "1", "seed": 5, "opponent": "random"}
    head, ids = Head(about, 2, 4), ENV.ruleset.ids
    paths = [tmp_path / name for name in ("b.parquet", "a.parquet")]

    def evaluation(path, head=head, resume=False):
        return store.Store(path, head, ids, 4, resume)

    def match():
        return Match(ENV, [random_agent(ENV)] * 4, rotated(), range(2, 6), 8)

    def ids_of(*_):
        return ids

    file = evaluation(paths[0])
    with pytest.raises(KeyboardInterrupt):
        match().play(5, save=lambda first, games: [file.add(games), _stop()])
    file.close()
    resumed = evaluation(paths[0], resume=True)
    assert resumed.count == 2
    match().play(5, done=2, save=lambda first, games: resumed.add(games))
    resumed.close()
    all_games = Match(ENV, [random_agent(ENV)] * 4, rotated(), 6, 8).play(seed=5)
    for path, first, part in ((paths[1], 0, all_games.slice(0, 2)), ("c", 3, all_games.slice(3))):
        path = tmp_path / f"{path}.parquet" if path == "c" else path
        path.write_bytes(store.encode(path, head._replace(first=first), part, ids))
    head_of_all, games = store.merge(paths, ids_of)
    assert head_of_all.first == 0
    same(games, all_games)
    for wrong, message in (
        ([paths[0], paths[0]], "set-ups 2 to 5 are there twice"),
        ([paths[1], tmp_path / "c.parquet"], "set-ups 2 to 2 are missing"),
    ):
        with pytest.raises(UserError, match=message):
            store.merge(wrong, ids_of)
    with pytest.raises(UserError, match="has seed 5, not 6"):
        evaluation(paths[0], head._replace(about=about | {"seed": 6}), resume=True)
    with pytest.raises(UserError, match="--resume continues it"):
        evaluation(paths[0])


def test_a_store_goes_on_after_its_last_whole_batch(monkeypatch):
    """To the games of a run without the break, also where networks round by batch."""
    firsts, played = [], Match.play_batch

    def batch(self, seed, first, *rest):
        firsts.append(first)
        return played(self, seed, first, *rest)

    monkeypatch.setattr(Match, "play_batch", batch)
    memory = store.Store(None, Head({}, 0, 4), ENV.ruleset.ids, 6)
    for count in (12, 24):
        results = games_arena.Arena(ENV, [random_agent(ENV)] * 4, count, at_once=8).play(5, memory)
    assert firsts == [0, 2, 2, 4] and results.setup_count == 6


def _stop():
    raise KeyboardInterrupt


def test_an_arena_in_parts_is_the_arena(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(games_arena, "GAMES_AT_ONCE", 8)
    line = ["--agents", "random,random,random,random", "--seed", "3"]
    csvs = {}
    for name, first, count in (("whole", 0, 16), ("one", 0, 12), ("two", 3, 4)):
        csvs[name] = tmp_path / f"{name}.csv"
        options = ["--first", first, "--games", count, "--csv", csvs[name]]
        code, _, err = command(capsys, arena.main, *line, *options, "--json", tmp_path / "x.json")
        assert code == 0, err
        (tmp_path / "x.json").rename(tmp_path / f"{name}.json")
    out = [tmp_path / "merged.csv", csvs["two"], csvs["one"]]
    code, table, err = command(capsys, merge.main, *out, "--json", tmp_path / "merged.json")
    assert code == 0, err
    assert "16 games on 4 set-ups" in table
    merged, complete = (
        json.loads((tmp_path / f"{x}.json").read_text()) for x in ("merged", "whole")
    )
    assert merged | {"seconds": 0} == complete | {"seconds": 0}
    code, _, err = command(capsys, merge.main, tmp_path / "other.csv", csvs["two"], csvs["two"])
    assert code == 2 and "set-ups 3 to 3 are there twice" in err
    with csvs["one"].open("rb+") as file:
        file.truncate(csvs["one"].stat().st_size - 20)
    code, _, err = command(capsys, merge.main, tmp_path / "other.csv", *out[1:])
    assert code == 2 and "line 49 has" in err and err.count("\n") == 1
    code, _, err = command(capsys, merge.main, tmp_path / "all.npz", tmp_path / "one.npz")
    assert code == 2 and "not as .npz" in err and err.count("\n") == 1


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


def _placed(states):
    import jax

    return jax.device_put(states)

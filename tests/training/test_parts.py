"""Games and labels that are computed in parts: the same ones, whatever the split."""

import csv

import numpy as np
import pytest
import short_games
import toy_env
from commands import run_command
from seatings import ONE_AGAINST_THREE

import training.arena as arena
from gaia_jax.cli.command_line import UserError
from training.agents import random_agent
from training.games import arena as games_arena
from training.games import table
from training.games.engine import Match
from training.imitation import expert_data
from training.system import jobs

ENV = toy_env.make("toy")


def command(capsys, *args):
    return run_command(capsys, arena.main, short_games, *args)


def games(setups):
    agents = [random_agent(ENV), random_agent(ENV)]
    return Match(ENV, agents, ONE_AGAINST_THREE, setups, games_at_once=8).play(seed=5)


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
    code, table, err = command(capsys, *line, "--csv", cut)
    assert code == 130 and "8 games on 2 set-ups" in table and "--resume" in err
    assert not cut.exists()
    assert command(capsys, *line, "--csv", cut, "--resume")[0] == 0
    assert firsts == [0, 2, 2, 4]
    assert command(capsys, *line, "--csv", whole)[0] == 0
    rows = [
        [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(path.open())]
        for path in (whole, cut)
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 24 * 4


def test_labels_go_on_where_they_were_stopped(tmp_path):
    about = {"env": "toy", "env_version": "1.0", "seed": 1, "games": 2, "first": 0}
    states = {"a": np.arange(2), "b": np.ones((2, 3))}
    assert expert_data.begin(tmp_path, about, _placed(states))[0] == 0
    for chunk in range(2):
        arrays = {
            name: np.full((expert_data.STEPS, 2, 4)[:axes], chunk)
            for name, axes in expert_data.ARRAYS.items()
        }
        expert_data.store_chunk(tmp_path, chunk, arrays, _placed(states))
    done, stored_states = expert_data.begin(tmp_path, about, _placed(states))
    assert done == 2 and np.array_equal(stored_states["a"], states["a"])
    for key in ("seed", "first"):
        other = about | {key: 2}
        with pytest.raises(UserError, match=f"has {key} {about[key]}, not 2"):
            expert_data.begin(tmp_path, other, _placed(states))


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
    about = {"seed": 1, "games": 150, "first": 0, "student": ""}
    out = tmp_path / "labels"
    expert_data.generate_in_parts(out, 2, about, "configs/quick.yaml", jobs.LOCAL)
    assert expert_data.read_about(out)["games"] == 150
    chunk = expert_data.read_chunk(out / "0001.npz", 150)
    assert chunk["action"][3].tolist() == list(range(150))
    assert list(tmp_path.iterdir()) == [out]
    with pytest.raises(UserError, match="is not empty"):
        expert_data.generate_in_parts(out, 2, about, "configs/quick.yaml", jobs.LOCAL)


def _placed(states):
    import jax

    return jax.device_put(states)

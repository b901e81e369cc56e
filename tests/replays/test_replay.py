"""Game records: written, read, played again, and refused where they do not play as they say."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.replay import Record, RecordError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def game(env):
    """A random game to its end: its record, and the state at the end."""
    init_from, step = replay.compiled(env)
    rng = np.random.default_rng(3)
    setup = jax.jit(env.draw_setup)(jax.random.key(8))
    state, played = init_from(setup), []
    while not state.terminated:
        played.append(int(rng.choice(np.flatnonzero(state.legal_action_mask))))
        state = step(state, played[-1])
    return Record.of(env, setup, played, state.game.players.vp), state


@pytest.fixture
def record(game):
    return game[0]


@pytest.fixture
def path(tmp_path, record):
    replay.write(tmp_path / "game.json", record)
    return tmp_path / "game.json"


def refused(capsys, path):
    """The one-line error of the command about a file."""
    assert replay.main([str(path), "--quiet"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1 and captured.err.startswith("error: ")
    return captured.err[len("error: ") : -1]


def test_compiled_functions_work_inside_other_programs(env):
    """JAX refuses compiler options there."""
    init_from, _ = replay.compiled(env)
    setup = jax.jit(env.draw_setup)(jax.random.key(8))
    assert jax.jit(init_from).lower(setup)


def test_a_record_reads_as_it_was_written(path, record):
    read_back = replay.read(path)
    assert dataclasses.replace(read_back, lines=()) == record
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, text in zip(read_back.lines, record.actions, strict=True):
        assert json.dumps(text) in lines[number - 1]


@pytest.mark.no_compile
def test_blank_lines_are_searched_once():
    """A search that starts again at each of them takes 20 minutes."""
    data = dict.fromkeys(("ruleset", "version"), "") | {"format": replay.FORMAT, "setup": {}}
    data |= {"actions": ["pass"], "final_vp": []}
    text = "{" + "\n" * 10**6 + json.dumps(data)[1:]
    assert replay.parse(json.loads(text), text=text).lines == ()


def test_a_record_may_begin_with_a_byte_order_mark(path, record):
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert replay.read(path).actions == record.actions


def test_a_record_plays_to_the_same_end(record, game):
    seen = []
    state = replay.play(record, lambda count, state: seen.append(count))
    assert seen == list(range(1, len(record.actions) + 1))
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(game[1]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_command_plays_a_file_and_shows_the_end(path, record):
    command = [sys.executable, "-m", "gaia_jax.replay", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"{len(record.actions)} decisions, verified" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert [int(row[3]) for row in rows] == sorted(record.final_vp, reverse=True)
    assert {row[2] for row in rows} == set(record.setup["factions"])
    assert f"{len(record.actions)}/{len(record.actions)} decisions" in done.stderr


def test_a_game_without_decisions_is_not_over_and_nothing_is_compiled(
    capsys, path, record, monkeypatch
):
    def compiled(env):
        raise AssertionError("it was compiled")

    monkeypatch.setattr("gaia_jax.replay.record.compiled", compiled)
    replay.write(path, dataclasses.replace(record, actions=()))
    assert "the game is not over after its 0 actions" in refused(capsys, path)


def test_a_game_without_decisions_has_a_table_of_its_columns(capsys, path, record, tmp_path):
    replay.write(path, dataclasses.replace(record, actions=(), final_vp=()))
    out = tmp_path / "moves.csv"
    assert replay.main([str(path), "--csv", str(out)]) == 0
    (columns,) = out.read_text(encoding="utf-8").splitlines()
    assert columns.encode().startswith(replay.CSV_HEAD) and ",vp_3," in columns
    assert capsys.readouterr().err == f"wrote {out}\n"


def test_a_missing_file(capsys, tmp_path):
    assert "cannot read" in (message := refused(capsys, tmp_path / "none.json"))
    assert "No such file" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"players": "ab"}, "players must be a list of texts, got 'ab'"),
        ({"ruleset": "chess"}, "unknown ruleset 'chess'; known are lost_fleet"),
        ({"version": "0.0"}, "played in version 0.0 of lost_fleet, this is"),
        ({"setup": {}}, "setup: set-up: key 'sectors' is missing"),
    ],
)
def test_a_record_with_a_wrong_value(capsys, path, change, message):
    """All others are in `fuzz/command_lines.txt`."""
    data = json.loads(path.read_text(encoding="utf-8")) | change
    path.write_text(json.dumps(data), encoding="utf-8")
    assert message in refused(capsys, path)


def edited(path, number, text):
    """Write another text for one action into the file; returns its line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    line = lines.index('  "actions": [') + number
    lines[line] = f"    {json.dumps(text)}," if text else ""
    path.write_text("\n".join(lines), encoding="utf-8")
    return line + 1


def test_an_unknown_action_is_named_with_its_line(capsys, path):
    line = edited(path, 7, "build 3,-2")
    message = refused(capsys, path)
    assert message.startswith(f"line {line}, action 7: action 'build 3,-2': unknown verb")


def test_an_illegal_action_is_named_with_its_line(capsys, path):
    line = edited(path, 7, "income CH_PI")
    message = refused(capsys, path)
    assert re.match(
        rf"line {line}, action 7: 'income CH_PI' is illegal for player \d; legal", message
    )


def test_a_game_that_stops_early(record):
    short = dataclasses.replace(record, actions=record.actions[:-1])
    with pytest.raises(RecordError, match=f"not over after its {len(short.actions)} actions"):
        replay.play(short)


def test_actions_after_the_end(record):
    long = dataclasses.replace(record, actions=(*record.actions, "pass"))
    number = len(long.actions)
    with pytest.raises(RecordError, match=f"action {number}: the game ended before this action"):
        replay.play(long)


def test_another_final_score(capsys, path, record):
    data = json.loads(path.read_text(encoding="utf-8"))
    data["final_vp"][2] += 1
    path.write_text(json.dumps(data), encoding="utf-8")
    expected = f"ends with VP {list(record.final_vp)}, recorded {data['final_vp']}"
    assert expected in refused(capsys, path)


def test_only_one_game_is_recorded(env):
    setups = jax.eval_shape(jax.vmap(env.draw_setup), jax.random.split(jax.random.key(0), 2))
    with pytest.raises(ValueError, match="setup must be one set-up, got a batch"):
        Record.of(env, setups, [], [])

"""`import training`: what the commands do, as functions."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

import training
from gaia_jax.cli import command_line
from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.agents import Agent
from training.learn import checkpoint_paths
from training.learn.checkpoint import Checkpoints
from training.learn.trainer import Trainer
from training.run import training as run_training
from training.system import cli

ROOT = Path(__file__).resolve().parents[2]


def test_importing_costs_nothing():
    """Neither the networks nor the trainer come along; `gaia_jax` alone does."""
    code = (
        "import sys, training; print([m for m in ('flax', 'optax', 'orbax') if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
    assert training.Config is configs.Config
    with pytest.raises(AttributeError, match="no attribute 'Confi'"):
        training.Confi  # noqa: B018


@pytest.mark.slow
def test_a_run_its_evaluation_and_an_arena(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    env = toy_env.make("toy", reward="vp")
    small = ["run.updates=4", "eval.games=0", "name=mine"]
    run = training.train(config, small, toy_env)
    assert run == Path("runs/mine") and (run / "config.yaml").is_file()
    report = training.evaluate(f"{run}@4", games=8, seed=3, env=env)
    assert (
        report["games"] == 8 and report["vp_difference"]["low"] <= report["vp_difference"]["mean"]
    )
    agents = [str(run), f"{run}@start", "random", "random"]
    table = training.arena(agents, games=8, seed=3, env=env)
    assert list(table["agents"])[:2] == agents[:2] and table["games"] == 8
    second = training.arena(agents, games=8, seed=3, env=env)
    assert second["agents"] == table["agents"]
    network, params = training.load_agent(str(run), env)
    assert network.apply and params["params"]


def in_a_thread(function):
    """What a function gives or raises in a thread that is not the main one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_a_run_is_trained_in_a_thread(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = ["run.updates=2", "eval.games=0", "name=threaded"]
    seen = {}
    run = in_a_thread(lambda: training.train(config, small, toy_env, seen.__setitem__))
    assert Checkpoints(run).latest() == 2
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [{"update": update} | seen[update] for update in (1, 2)] == records and len(seen) == 2


@pytest.mark.slow
def test_an_error_of_the_callback_ends_the_run_with_a_checkpoint(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def stop(update, metrics):
        raise StopIteration(f"after update {update}")

    with pytest.raises(StopIteration, match="after update 1"):
        training.train(config, ["run.updates=8", "eval.games=0", "name=ended"], toy_env, stop)
    assert Checkpoints(Path("runs/ended")).latest() == 2  # a chunk is two updates


@pytest.mark.parametrize("name", ["[x]", "a\\b", "gs:"])
def test_a_folder_that_checkpoints_cannot_be_read_from_is_refused(
    name, config, tmp_path, monkeypatch
):
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    with pytest.raises(UserError, match=re.escape(repr(name))):
        training.train(config, [], toy_env)
    assert list(Path.cwd().iterdir()) == []


def test_a_name_that_checkpoints_cannot_be_read_from_is_refused(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_training, "Trainer", None)
    with pytest.raises(UserError, match=r"with '\[' in its name, got 'lr\[1\]'"):
        training.train(config, ["name=lr[1]"], toy_env)
    # What this list does not know is found by writing and reading.
    monkeypatch.setattr(checkpoint_paths, "PATTERNS", "")
    with pytest.raises(UserError, match="cannot be written and read back"):
        training.train(config, ["name=lr[1]"], toy_env)
    assert list(tmp_path.iterdir()) == []
    checkpoint_paths.check_round_trip(tmp_path / "runs" / "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_start_that_fails_leaves_no_run_folder(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def fails(self):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Trainer, "advance", fails)
    with pytest.raises(RuntimeError, match="out of memory"):
        training.train(config, ["eval.games=0"], toy_env)
    assert list(tmp_path.iterdir()) == []


def test_training_is_refused_on_a_system_without_file_locks(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_line, "SUPPORTED", False)
    monkeypatch.setattr(run_training, "Trainer", None)
    with pytest.raises(UserError, match="need Linux or macOS"):
        training.train(config, [], toy_env)


@pytest.mark.parametrize(
    "wrong", [{"seed": 2**32 + 1}, {"seed": -1}, {"seed": 1.0}, {"games": 0}, {"games": 2.5},
              {"games": True}, {"games": "8"}],
)  # fmt: skip
def test_functions_refuse_what_the_commands_refuse(wrong):
    env = toy_env.make("toy", reward="vp")
    (name,) = wrong
    for call in (
        lambda: training.evaluate("random", env=env, **{"games": 4} | wrong),
        lambda: training.arena(["random"] * 4, env=env, **{"games": 4} | wrong),
    ):
        with pytest.raises(UserError, match=f"^{name} must be a whole number"):
            call()


def test_a_command_that_somebody_imported_is_still_the_function():
    import training.arena as door

    env = toy_env.make("toy", reward="vp")
    assert door.main and training.arena is door
    assert training.arena(["random"] * 4, games=4, env=env)["games"] == 4


@pytest.mark.no_compile
@pytest.mark.parametrize(
    ("agent", "game"), [("zoo/duel", ("base", 2)), ("zoo/solo", ("base", 1)),
                        ("zoo/strong+search:8", ("lost_fleet", 4)), ("greedy", ("lost_fleet", 4))],
)  # fmt: skip
def test_an_evaluation_plays_the_game_of_the_agent(agent, game, monkeypatch):
    """As by the command."""
    monkeypatch.setattr(training, "_play", lambda entries, env, *_: (env, entries))
    monkeypatch.setattr(
        "training.games.report.evaluation_report", lambda played, _: {"played": played}
    )
    env, entries = training.evaluate(agent)["played"]
    assert (env.id, env.num_players) == game and len(entries) == game[1]


def test_an_agent_of_ones_own_takes_part():
    env = toy_env.make("toy", reward="vp")
    first = Agent("first", lambda params, state, mask, key: jnp.argmax(mask, -1), ())
    report = training.evaluate(first, opponent=first, games=4, env=env)
    assert report["vp_difference"]["mean"] == 0
    with pytest.raises(UserError, match="wants 4 agents, got 1"):
        training.arena([first], games=4, env=env)


def test_the_log_has_the_learning_rate_of_its_own_update_and_no_vp_before_a_game_ends(
    config, capsys
):
    """Row 1 is of the first update, which steps with `ppo.lr` itself."""
    config = configs.override(config, ["run.updates=10", "ppo.lr=1e-3", "ppo.lr_end=0"])
    written = {}
    names = ("games/vp_sum", "games/reward_sum", "games/ended", "loss/policy", "loss/value")
    records = [dict.fromkeys((*names, "policy/entropy"), 0.0) for _ in range(2)]
    trainer = SimpleNamespace(config=config, env=toy_env.make("toy"), update=2)
    with cli.bar("update", 2) as progress:
        logs = SimpleNamespace(write=written.__setitem__)
        run_training._report(trainer, records, 1.0, logs, progress)
        progress.refresh()
    assert ", VP -, " in capsys.readouterr().err
    assert all(np.isnan(record["games/vp"]) for record in written.values())
    rates = {update: record["policy/learning_rate"] for update, record in written.items()}
    assert rates == pytest.approx({1: 1e-3, 2: 0.9e-3})

"""Runs from end to end on the toy game: learning, resuming, interrupting, mistakes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import orbax.checkpoint as ocp
import pytest
import toy_env
import yaml
from commands import run_command
from conftest import TINY

import training
import training.evaluate as evaluate
import training.train as train
from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.learn import checkpoint, learner_state
from training.learn.checkpoint import Checkpoints
from training.learn.trainer import Inputs, Trainer
from training.run import training as run_training
from training.run.folder import read_history
from training.run.logs import NoLogs
from training.system import cli
from training.system.process_group import alone

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run of the command line: (its working folder, the folder of the run)."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    before = Path.cwd()
    os.chdir(folder)
    try:
        args = ["--config", "tiny.yaml", "eval.chunks=15", "eval.chunk_games=80"]
        code = train.main(args, toy_env)
    finally:
        os.chdir(before)
    assert code == 0
    return folder, folder / "runs" / "tiny"


def test_a_run_learns_and_leaves_its_records(trained):
    _, run = trained
    report = json.loads((run / "evaluation.json").read_text())
    assert report["vp_difference"]["low"] > 5
    assert report["win_share"]["policy"]["mean"] > 0.5
    assert report["games"] == 80
    assert configs.load(run / "config.yaml").run.updates == 40
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    updates = [r for r in records if "games/vp" in r]
    assert [r["update"] for r in updates] == list(range(1, 41))
    assert updates[-1]["games/vp"] > updates[0]["games/vp"] + 5
    assert updates[-1]["policy/entropy"] < updates[0]["policy/entropy"]
    assert sum(updates[-1][f"vp/{name}"] for name in ("mine", "project", "gift")) > 0
    assert [r["update"] for r in records if "evaluation/random/vp" in r] == [30]


def test_evaluate_reads_the_run_and_gives_the_same_report_again(trained, capsys, tmp_path):
    _, run = trained
    reports = []
    for name in ("a.json", "b.json"):
        path = tmp_path / name
        arguments = (run, "--games", 80, "--json", path, "--factions")
        code, out, _ = run_command(capsys, evaluate.main, toy_env, *arguments)
        assert code == 0
        reports.append(json.loads(path.read_text()))
    assert "win share" in out and "VP by source" in out and "VP by faction" in out
    federations = {side: x["mean"] for side, x in reports[0]["federations"].items()}
    assert "federations formed" in out and federations["opponent"] > 0
    for side, behaviour in reports[0]["behaviour"].items():
        assert federations[side] == pytest.approx(behaviour["federations"])
    assert reports[0] == reports[1]
    # The evaluation at the end of training was this one.
    final = json.loads((run / "evaluation.json").read_text())
    assert reports[0]["vp"] == final["vp"]
    sources = sum(x["policy"] for x in reports[0]["vp_by_source"].values())
    assert np.isclose(sources + 10, reports[0]["vp"]["policy"]["mean"])


@pytest.mark.parametrize("name", ["random", "{run}+search:2", "{run}@start", "test_train:first"])
def test_every_kind_of_agent_is_evaluated(name, trained, capsys, monkeypatch, tmp_path):
    name = name.format(run=trained[1])
    monkeypatch.setattr(toy_env, "make", lambda env_id, reward: toy_env.ToyEnv("toy", reward))
    path = tmp_path / "report.json"
    code = cli.run(lambda: evaluate.main([name, "--games", "4", "--json", str(path)], toy_env))
    assert code == 0, capsys.readouterr().err
    report = json.loads(path.read_text())
    named = name.replace("+search", "@40+search")  # the checkpoint that all games use
    assert (report["run"], report["update"], report["games"]) == (named, None, 4)


def first(params, state, mask, key):
    """The first legal action."""
    return mask.argmax(-1)


@pytest.mark.parametrize("name", ["zoo/strong+search:64", "greedy", "newcomer+search:2", "a:b"])
def test_what_wants_a_trained_network_says_so(name):
    with pytest.raises(UserError, match="is not a trained network; allowed are RUN, RUN@UPDATE"):
        training.load_agent(name, toy_env.make("toy"))


def test_a_resumed_run_is_bit_equal(make_trainer):
    straight = make_trainer("straight")
    straight.advance()
    straight.advance()
    first = make_trainer("broken off")
    first.advance()
    first.save()
    second = make_trainer("broken off", resume=True)
    assert second.update == 2
    second.advance()
    assert second.update == straight.update == 4
    actual, expected = jax.tree.leaves(second.runner), jax.tree.leaves(straight.runner)
    assert all(np.array_equal(a, b) for a, b in zip(actual, expected, strict=True))
    start = jax.tree.leaves(make_trainer("other").runner.params)
    assert not all(
        np.array_equal(a, b)
        for a, b in zip(start, jax.tree.leaves(second.runner.params), strict=True)
    )


def test_a_resumed_run_saves_and_evaluates_after_the_chunks_of_the_whole_run(config, monkeypatch):
    changes = ["run.updates=16", "run.checkpoint_chunks=3", "eval.chunks=2"]
    trainer = SimpleNamespace(
        config=configs.override(config, changes), group=alone(), spent=0.0, update=6, chunks=0
    )

    def advance():
        trainer.update, trainer.chunks = trainer.update + 2, trainer.chunks + 1

    saved, evaluated = [], []
    trainer.advance, trainer.save = advance, lambda: saved.append(trainer.update)
    evaluation = SimpleNamespace(measure=lambda: evaluated.append(trainer.update) or {})
    monkeypatch.setattr(run_training, "_report", lambda *_: None)
    assert not run_training.train(trainer, NoLogs(), [evaluation])
    assert saved == [12, 16] and evaluated == [8, 12, 16]


def test_a_run_keeps_no_evaluation_of_earlier_opponents(config, tmp_path, monkeypatch):
    (tmp_path / "evaluation-2.json").touch()
    evaluation = SimpleNamespace(report=lambda *_, **__: {})
    monkeypatch.setattr(run_training, "train", lambda *_: False)
    monkeypatch.setattr(run_training, "evaluations_of", lambda *_: [evaluation])
    monkeypatch.setattr(run_training, "format_evaluation", str)
    env = toy_env.make("toy")
    trainer = SimpleNamespace(config=config, group=alone(), run=tmp_path, env=env, update=40)
    start = SimpleNamespace(resolved=SimpleNamespace(record=None), opponents=())
    assert run_training.finish(trainer, NoLogs(), start) == 0
    assert [path.name for path in tmp_path.glob("evaluation*")] == ["evaluation.json"]


def test_a_warm_start_is_stored_with_its_update(trained, config, tmp_path, monkeypatch):
    """The network that a run began with stays the same while the other run is continued."""
    run, env = trained[1], toy_env.make("toy")
    inputs = Inputs.of(configs.override(config, [f"run.warm_start={run}"]), toy_env)
    start = checkpoint.load_warm_start(str(run), env)
    Trainer(inputs._replace(warm_start=start), tmp_path).save()
    assert Trainer(inputs, tmp_path, 0).warm_start == start.name == f"{run}@40"
    names = []
    monkeypatch.setattr(
        checkpoint, "load_warm_start", lambda name, env: names.append(name) or start
    )
    checkpoint.load_start(tmp_path, env)
    assert names == [start.name]


def test_a_checkpoint_of_before_is_resumed_without_what_is_gone(make_trainer, monkeypatch):
    trainer = make_trainer("before")
    params, rest = learner_state.split(trainer.runner)
    rest |= {name: np.float32(1) for name in learner_state.GONE}
    del rest["hyper-ema_decay"]  # it was `hyper-average`
    monkeypatch.setattr(checkpoint, "split", lambda runner: (params, rest))
    trainer.save()
    monkeypatch.undo()
    resumed = make_trainer("before", resume=True)
    actual, expected = jax.tree.leaves(resumed.runner), jax.tree.leaves(trainer.runner)
    assert all(np.array_equal(a, b) for a, b in zip(actual, expected, strict=True))


@pytest.mark.slow
def test_a_finished_run_can_be_made_longer(trained, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run = Path(shutil.copytree(trained[1], tmp_path / "runs" / "tiny"))
    code, _, err = run_command(
        capsys, train.main, toy_env, "--resume", "runs/tiny", "run.updates=44", "eval.games=0"
    )
    assert code == 0, err
    assert Checkpoints(run).latest() == 44
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [r["update"] for r in records if "games/vp" in r] == list(range(1, 45))
    # Where earlier starts have used its minutes up, as a sweep counts them, nothing is trained.
    extra = ["--resume", "runs/tiny", "run.updates=48", "run.max_minutes=1", "eval.games=0"]
    assert train.main(extra, toy_env, spent=61.0) == 0
    assert "out of time" in capsys.readouterr().err and Checkpoints(run).latest() == 44
    assert read_history(run)[-1] | {"time": ""} == {
        "time": "", "event": "end", "update": 44, "how": "out of time",
    }  # fmt: skip


def test_ctrl_c_leaves_a_checkpoint_to_go_on_with(tmp_path, make_trainer):
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    process = subprocess.Popen(
        [sys.executable, HERE / "toy_main.py", "train", "--config", "tiny.yaml",
         "run.updates=1000000", "run.checkpoint_chunks=100000"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"},
    )  # fmt: skip
    metrics, deadline = tmp_path / "runs" / "tiny" / "metrics.jsonl", time.monotonic() + 900
    while not (metrics.exists() and metrics.read_text()) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "continue with --resume runs/tiny" in err
    config = configs.load(tmp_path / "runs" / "tiny" / "config.yaml")
    trainer = make_trainer(Path("runs") / "tiny", resume=True, config=config)
    assert trainer.update >= 2


def test_mistakes_are_one_line_and_exit_code_2(trained, capsys, tmp_path, monkeypatch):
    folder, run = trained
    monkeypatch.chdir(folder)
    empty = tmp_path / "empty"
    (empty / "checkpoints").mkdir(parents=True)
    broken = tmp_path / "broken"
    (broken / "checkpoints" / "00000004").mkdir(parents=True)
    foreign = tmp_path / "foreign"
    padded = ocp.CheckpointManagerOptions(step_format_fixed_length=8)
    with ocp.CheckpointManager(foreign / "checkpoints", options=padded) as manager:
        manager.save(4, args=ocp.args.StandardSave({"weights": np.zeros(3)}))
    cases = [
        (train.main, ["--config", "gone.yaml"], "cannot read the configuration gone.yaml"),
        (train.main, ["--config", "tiny.yaml", "ppo.foo=1"], "unknown key 'ppo.foo'"),
        (train.main, [], "give --config FILE, or --resume RUN"),
        (train.main, ["--config", "tiny.yaml", "env.id=chess"], "known ones are toy, toy_two"),
        (train.main, ["--resume", "runs/gone"], "runs/gone is no run folder"),
        (train.main, ["--resume", str(run), "ppo.clip=0.3"], "cannot change ppo.clip: 0.2 -> 0.3"),
        (train.main, ["--resume", str(run), "env.id=toy_two"], "cannot change env.id"),
        (evaluate.main, ["runs/gone"], "runs/gone is no run folder"),
        (evaluate.main, [str(empty)], "holds no checkpoint"),
        (evaluate.main, [str(broken)], "is unreadable or no checkpoint of ours"),
        (evaluate.main, [str(foreign)], "is unreadable or no checkpoint of ours"),
        (train.main, ["--resume", str(foreign)], "is unreadable or no checkpoint of ours"),
        (
            evaluate.main,
            [f"{run}@3"],
            "no checkpoint after 3 updates; there: ",
        ),
        (evaluate.main, [str(run), "--games", "0"], "--games: wants a whole number 1 to"),
    ]
    for main, args, message in cases:
        code, out, err = run_command(capsys, main, toy_env, *args)
        assert (code, out) == (2, ""), args
        assert err.startswith("error: ") and err.count("\n") == 1, err
        assert message in err


def test_a_checkpoint_of_another_version_or_network_is_refused(trained, capsys, monkeypatch):
    _, run = trained

    class Newer:
        @staticmethod
        def make(env_id, reward="vp"):
            return toy_env.ToyEnv(env_id, reward, version="2.0")

        auto_reset = staticmethod(toy_env.auto_reset)

    monkeypatch.setitem(sys.modules, "Newer", Newer)
    for main, args in ((train.main, ["--resume", str(run)]), (evaluate.main, [str(run)])):
        code = cli.run(lambda main=main, args=args: main(args, Newer))
        err = capsys.readouterr().err
        assert code == 2
        assert "was trained on toy 1.0, this is toy 2.0" in err and err.count("\n") == 1

    class Other(Newer):
        @staticmethod
        def make(env_id, reward="vp"):
            return toy_env.ToyEnv("toy_two", reward)

    monkeypatch.setitem(sys.modules, "Other", Other)
    assert cli.run(lambda: evaluate.main([str(run)], Other)) == 2
    assert "was trained on toy 1.0, this is toy_two 1.0" in capsys.readouterr().err

    wide = configs.override(configs.load(run / "config.yaml"), ["network.width=32"])
    with pytest.raises(UserError, match="does not fit"):
        Trainer(Inputs.of(wide, toy_env), run, Checkpoints(run).latest())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quick", "duel"])
def test_the_game_itself_is_trained_resumed_and_evaluated(name, tmp_path, monkeypatch, capsys):
    """A configuration that ships, made small, with the real environment."""
    import gaia_jax

    monkeypatch.chdir(tmp_path)
    small = ["ppo.num_envs=8", "ppo.num_steps=16", "ppo.minibatches=2", "track.sink=none"]
    small += ["network.width=16", "network.cell_width=8", "eval.games=8", "run.updates=4"]
    small += ["run.warm_start=''", "run.warm_start_temperature=1", "recipe.staggered_starts=16"]
    # Schedules would end elsewhere: the half run is configured for two updates first.
    small += ["run.updates_per_chunk=2", "ppo.lr=1.0e-3", "ppo.lr_end=1.0e-3"]
    small += ["ppo.entropy_end=0.003"]
    quick = ROOT / "configs" / f"{name}.yaml"
    straight = train.main(["--config", str(quick), *small, "name=straight"], gaia_jax)
    assert straight == 0
    assert "VP by source" in capsys.readouterr().out
    half = [*small, "name=half", "run.updates=2"]
    assert train.main(["--config", str(quick), *half, "eval.games=0"], gaia_jax) == 0
    assert train.main(["--resume", "runs/half", "run.updates=4", "eval.games=0"], gaia_jax) == 0
    config = configs.load("runs/half/config.yaml")
    runners = [
        Trainer(Inputs.of(config, gaia_jax), Path("runs") / name, 4).runner
        for name in ("straight", "half")
    ]
    leaves = [jax.tree.leaves(runner) for runner in runners]
    assert runners[0].update == 4
    assert all(np.array_equal(a, b) for a, b in zip(*leaves, strict=True))

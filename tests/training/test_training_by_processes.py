"""Several real processes train one agent: the same parameters, whichever take part and die."""

import re
import shutil
import signal
import time

import numpy as np
import pytest
import toy_env
from conftest import TINY
from started import GONE, ends, errors, launch, metrics_of, params_of, train

from gaia_jax.xla.fast_compile import jit_fast_compile
from training import config as configs
from training.learn.learner_state import make_init
from training.networks.make import make_network
from training.system import process_group
from training.system.data_files import flatten

SAME = ("games/ended", "games/vp", "loss/value", "loss/policy", "policy/entropy", "policy/kl")


# As little to compile as there can be: what crosses processes is the same.
SMALL = ("network.layers=0", "ppo.num_envs=16", "ppo.num_steps=16", "ppo.minibatches=2")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Six updates by one process of four devices, with every checkpoint, and an evaluation."""
    folder = tmp_path_factory.mktemp("one")
    train(folder, "run.updates=6", "run.keep_checkpoints=9", "eval.games=80")
    return folder / "runs" / "tiny"


def check_same(actual, expected, updates):
    np.testing.assert_allclose(params_of(actual, updates), params_of(expected, updates), atol=1e-5)
    a, b = (metrics_of(run)[:updates] for run in (actual, expected))
    assert len(a) == len(b) == updates
    for name in SAME:
        values = ([record[name] for record in records if name in record] for records in (a, b))
        np.testing.assert_allclose(*values, rtol=1e-3, atol=1e-6, err_msg=name)


def clone(folder):
    """The arguments of a run that begins with parameters from a file and with staggered games."""
    config = configs.override(configs.from_dict(TINY), list(SMALL))
    auto = toy_env.auto_reset(toy_env.make("toy"))
    params = jit_fast_compile(
        make_init(auto, make_network(auto.env, config.network), config)
    )().params
    np.savez(folder / "clone.npz", **flatten(params))
    start = f"run.warm_start={folder / 'clone.npz'}"
    return start, "run.warm_start_temperature=0.5", "recipe.staggered_starts=12"


@pytest.mark.slow
def test_two_processes_learn_what_one_does(tmp_path):
    """Without what makes it slow; the others below are of the tests' own configuration."""
    extra = (*SMALL, *clone(tmp_path))
    runs = []
    for size in (1, 2):
        folder = tmp_path / str(size)
        folder.mkdir()
        train(folder, "run.updates=4", *extra, size=size, devices=4 // size)
        runs.append(folder / "runs" / "tiny")
    check_same(*runs, 4)
    assert "coordinator: ''" in (runs[1] / "config.yaml").read_text()


@pytest.mark.slow
def test_two_processes_train_evaluate_and_leave_the_rest_to_one(undisturbed, tmp_path):
    """The games of an evaluation are split; each depends on its number alone."""
    options = ("run.updates=6", "run.keep_checkpoints=9", "eval.games=80")
    train(tmp_path, *options, size=2, devices=2)
    run = tmp_path / "runs" / "tiny"
    check_same(run, undisturbed, 6)
    reports = [(folder / "evaluation.json").read_text() for folder in (run, undisturbed)]
    assert reports[0] == reports[1]
    train(tmp_path, "--resume", "runs/tiny@4", "run.updates=6", devices=2)
    check_same(run, undisturbed, 6)


@pytest.mark.slow
def test_two_processes_go_on_with_a_run_of_one(undisturbed, tmp_path):
    shutil.copytree(undisturbed, tmp_path / "runs" / "tiny")
    train(tmp_path, "--resume", "runs/tiny@2", "run.updates=6", size=2, devices=2)
    check_same(tmp_path / "runs" / "tiny", undisturbed, 6)


def wait_for(path, started):
    until = time.monotonic() + 900
    while not (path.exists() and path.read_text()):
        assert all(process.poll() is None for process in started)
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow
def test_sigterm_to_one_stops_both_at_one_checkpoint(tmp_path):
    long = ("run.updates=1000000", "run.checkpoint_chunks=100000")
    started = launch(tmp_path, *long, size=2, devices=2)
    wait_for(tmp_path / "runs" / "tiny" / "metrics.jsonl", started)
    started[1].send_signal(signal.SIGTERM)
    result = ends(started)
    assert [code for code, _, _ in result] == [130, 130]
    assert not any(errors(err) for _, _, err in result)
    step = int(re.search(r"checkpoint at update (\d+)", result[0][2])[1])
    stored = tmp_path / "runs" / "tiny" / "checkpoints"
    assert [int(path.name) for path in stored.iterdir() if path.name.isdigit()] == [step]
    train(tmp_path, "--resume", "runs/tiny", f"run.updates={step + 2}", size=2, devices=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment, dies, done",
    [
        ("compiling", 1, []),
        ("playing", 0, [2]),
        ("updating", 1, [2]),
        ("writing", 0, [2]),
        ("evaluating", 1, [2, 4, 6]),
    ],
)
def test_killed_at(moment, dies, done, undisturbed, tmp_path):
    """The other one ends with one line, and the resumed run ends with the same parameters.

    Args:
        done: the updates that there are checkpoints of then.
    """
    options = ("run.updates=6", "run.checkpoint_chunks=1", "run.keep_checkpoints=9")
    options = (*options, "eval.games=80")
    started = launch(tmp_path, *options, size=2, devices=2, death=(moment, dies))
    assert started[dies].wait(timeout=900) == -signal.SIGKILL
    start_time = time.monotonic()
    result = ends(started)
    assert time.monotonic() - start_time < 300
    code, _, err = result[1 - dies]
    assert code == process_group.LOST
    hint = "; continue with --resume runs/tiny" if done else ""
    assert errors(err) == [GONE.format(dies) + hint]
    run = tmp_path / "runs" / "tiny"
    stored = sorted(run.glob("checkpoints/*"))
    assert [int(path.name) for path in stored if path.name.isdigit()] == done
    arguments = ("--resume", "runs/tiny", "run.updates=6") if done else options
    train(tmp_path, *arguments, "eval.games=80", size=2, devices=2)
    check_same(run, undisturbed, 6)
    assert (run / "evaluation.json").read_text() == (undisturbed / "evaluation.json").read_text()


@pytest.mark.slow
def test_two_configurations_and_two_folders_are_one_line_each(tmp_path):
    for code, _, err in ends(launch(tmp_path, size=2, devices=1, last=["ppo.lr=1e-3"])):
        assert code == 2
        assert errors(err) == ["error: processes 0 and 1 differ in ppo.lr: '0.004' and '0.001'"]
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    for code, _, err in ends(launch(tmp_path, size=2, devices=1, folders=folders)):
        assert code == 2
        assert len(errors(err)) == 1
        assert "process 1 does not see the folder runs of process 0" in err
    assert not list(folders[0].glob("runs")) and not list(folders[1].glob("runs"))

"""Damaged checkpoints, earlier ones, two processes in one folder, Ctrl-C twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
import toy_env
import yaml
from commands import run_command
from conftest import TINY

import training.evaluate as evaluate
import training.train as train
from gaia_jax.cli import outputs
from training.learn.checkpoint import ASIDE, Checkpoints, Damaged

HERE = Path(__file__).resolve().parent
SHORT = TINY | {
    "network": TINY["network"] | {"layers": 0},  # less to compile
    "run": TINY["run"] | {"updates": 6, "keep_checkpoints": 9},
    "eval": {"games": 0},
}


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A finished run of six updates, with the checkpoints of 2, 4 and 6."""
    folder = tmp_path_factory.mktemp("straight")
    (folder / "tiny.yaml").write_text(yaml.safe_dump(SHORT))
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert train.main(["--config", "tiny.yaml"], toy_env) == 0
    finally:
        os.chdir(before)
    return folder / "runs" / "tiny"


@pytest.fixture
def run(straight, tmp_path, monkeypatch):
    """A copy of it, in the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(straight, "run")
    return Path("run")


def damage(run, step, kind):
    """Make a checkpoint another than was written, in its largest file."""
    files = [x for x in (run / "checkpoints" / f"{step:08d}").rglob("*") if x.is_file()]
    path = max(files, key=lambda x: x.stat().st_size)
    data = bytearray(path.read_bytes())
    if kind == "gone":
        path.unlink()
        return
    if kind == "bit":  # orbax restores other numbers, without a word
        data[len(data) // 2] ^= 1
    path.write_bytes(data[: len(data) // 2] if kind == "cut" else data)


def records(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def equal(run, other, step):
    """The same parameters after an update."""
    trees = []
    for place in (run, other):
        checkpoints = Checkpoints(place)
        trees.append(checkpoints.restore_params(step, checkpoints._forms(step)["params"]))
    return all(np.array_equal(a, b) for a, b in zip(*map(jax.tree.leaves, trees), strict=True))


@pytest.mark.parametrize("kind", ["bit", "cut", "gone"])
def test_every_damage_is_noticed(run, kind):
    damage(run, 4, kind)
    checkpoints = Checkpoints(run)
    with pytest.raises(Damaged, match="is damaged"):
        checkpoints.check(4)
    assert checkpoints.latest_undamaged() == 6
    with pytest.raises(Damaged):
        checkpoints.latest_undamaged(4)


@pytest.mark.slow
def test_a_damaged_checkpoint_is_warned_of_and_the_one_before_taken(run, straight, capsys):
    damage(run, 6, "bit")
    code, _, err = run_command(capsys, train.main, toy_env, "--resume", "run")
    assert code == 0, err
    assert "warning: the checkpoint run (6 updates) is damaged" in err
    assert [path.name for path in (run / ASIDE).iterdir() if path.is_dir()] == ["00000006"]
    assert equal(run, straight, 6)  # trained again, to the same end
    assert [r["update"] for r in records(run)] == list(range(1, 7))
    damage(run, 6, "cut")
    code, _, err = run_command(capsys, evaluate.main, toy_env, "run", "--games", "8")
    assert code == 0 and err.count("warning: ") == 1


def test_going_on_from_an_earlier_update_loses_nothing(run, straight, capsys):
    before = {step: (run / "checkpoints" / f"{step:08d}") for step in (4, 6)}
    digests = {step: (path / "digests.json").read_text() for step, path in before.items()}
    code, _, err = run_command(capsys, train.main, toy_env, "--resume", "run@2")
    assert code == 0, err
    assert "later checkpoints are kept in run/aside: 2" in err
    for step, text in digests.items():
        assert (run / ASIDE / f"{step:08d}" / "digests.json").read_text() == text
    assert [r["update"] for r in records(run)] == list(range(1, 7))
    aside = [json.loads(x) for x in (run / ASIDE / "metrics.jsonl").read_text().splitlines()]
    assert [r["update"] for r in aside] == [3, 4, 5, 6]
    assert Checkpoints(run).steps() == [2, 4, 6] and equal(run, straight, 6)


def test_a_run_in_use_is_refused_in_one_line(run, capsys):
    with outputs.folder_lock(run):
        code, _, err = run_command(capsys, train.main, toy_env, "--resume", "run", "run.updates=8")
    assert code == 2 and err == "error: run is in use by another process: wait for its end\n"


def test_a_start_that_is_refused_late_leaves_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(SHORT))
    # W&B is there and logged in, but does not start.
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "wandb.py").write_text(
        "def login(prompt=True):\n    return True\n"
        "def init(**kwargs):\n    raise RuntimeError('no network\\nat all')\n"
    )
    monkeypatch.syspath_prepend(str(fake))
    code, _, err = run_command(
        capsys, train.main, toy_env, "--config", "tiny.yaml", "track.sink=wandb"
    )
    assert code == 2 and err.splitlines()[-1].startswith("error: track.sink: wandb does not start")
    assert not Path("runs").exists()
    del sys.modules["wandb"]


def test_records_are_kept_up_to_a_checkpoint_and_junk_is_refused(run, capsys):
    path = run / "metrics.jsonl"
    with path.open("ab") as file:
        file.write(b'{"update": 7}\n{"upda')  # cut off
    code, _, err = run_command(capsys, train.main, toy_env, "--resume", "run", "run.updates=8")
    assert code == 0, err
    assert [r["update"] for r in records(run)] == list(range(1, 9))
    junk = path.read_bytes() + b"\xff\xfe\n"
    path.write_bytes(junk)
    code, _, err = run_command(capsys, train.main, toy_env, "--resume", "run", "run.updates=10")
    assert code == 2 and "metrics.jsonl: line 9 is no record of a run" in err
    assert path.read_bytes() == junk


BUSY = """
import sys, hashlib, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
sys.path[:0] = [{root!r}, {here!r}]
import toy_env
import training.train as train
from training.learn.trainer import Trainer
from training.system import cli

def compile(self):  # in C, where no handler of Python's runs
    print("compiling now", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)

Trainer.compile = compile
sys.exit(cli.run(lambda: train.main(["--config", "tiny.yaml"], toy_env)))
"""


@pytest.mark.slow
def test_ctrl_c_twice_ends_at_once_while_something_compiles(tmp_path):
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(SHORT))
    code = BUSY.format(root=str(HERE.parents[1]), here=str(HERE))
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "compiling now\n"
    time.sleep(2)  # now it is in C
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "interrupted" and "Traceback" not in err
    assert not (tmp_path / "runs").exists()

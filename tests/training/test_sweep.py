"""Sweeps: the file, the progress of its runs, and one that is killed and continued."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import job_functions
import numpy as np
import pytest
import toy_env
from commands import run_command
from started import ENVIRONMENT, HERE, params_of

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from training import config as configs
from training import sweep
from training.run import folder as run_folder
from training.run import sweep as run_sweep
from training.run import sweep_file
from training.system import jobs

UPDATES = 24


def sweep_command(capsys, *arguments):
    return run_command(capsys, sweep.main, toy_env, *arguments)


def test_variants_grid_and_seeds_are_runs_in_a_fixed_order(write_sweep):
    path = write_sweep(
        name="sizes", set={"run.updates": 8, "ppo": {"clip": 0.1}}, seeds=[3, 5],
        variants={"wide": {"network.width": 32}, "deep": {"network": {"layers": 2}}},
        grid={"ppo.lr": [1e-3, 0.25], "env.reward": ["vp", "win"]},
    )  # fmt: skip
    runs = sweep_file.load(path).runs()
    assert [run.name for run in runs][:5] == [
        "sizes-wide-lr0.001-rewardvp-3", "sizes-wide-lr0.001-rewardwin-3",
        "sizes-wide-lr0.25-rewardvp-3", "sizes-wide-lr0.25-rewardwin-3",
        "sizes-deep-lr0.001-rewardvp-3",
    ]  # fmt: skip
    assert len(runs) == 2 * 2 * 4 and runs == sweep_file.load(path).runs()
    last = runs[-1]
    assert (last.seed, last.ppo.lr, last.env.reward) == (5, 0.25, "win")
    assert (last.network.layers, last.network.width, last.ppo.clip) == (2, 16, 0.1)
    assert last.run.updates == 8 and last.ppo.num_envs == 32  # of the base


def test_an_empty_value_of_a_grid_has_a_name(write_sweep):
    runs = sweep_file.load(write_sweep(grid={"env.automa": ["", "a/b"]}, seeds=[0])).runs()
    assert [run.name for run in runs] == ["some-automa_-0", "some-automaa_b-0"]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"seedz": [1]}, "some.yaml: unknown key 'seedz'; meant seeds? The choices are: name, con"),
        ({}, "some.yaml: give variants, or a grid"),
        ({"grid": {"ppo.lrr": [1]}}, "some.yaml: lrr1: unknown key 'ppo.lrr'; meant ppo.lr?"),
        ({"grid": {"ppo.lr": []}}, "grid.ppo.lr: List should have at least 1 item"),
        ({"grid": {"ppo.lr": 1}}, "grid.ppo.lr: Input should be a valid list, got 1"),
        ({"variants": {"a": {"ppo.clip": -1}}}, "some.yaml: a: ppo.clip must be above 0, got -1"),
        ({"variants": {"a": {"seed": 1}}}, "a: seed is given by the sweep"),
        ({"variants": {"a": 3}}, "variants.a: Input should be a valid dictionary, got 3"),
        ({"variants": {"a,b": {}}}, "name must be a plain folder name"),
        ({"seeds": [], "variants": {"a": {}}}, "seeds: List should have at least 1 item"),
        ({"seeds": [True, "1"], "variants": {"a": {}}}, "seeds.0: Input should be a valid integer"),
        ({"seeds": [2, "1"], "variants": {"a": {}}}, "seeds.1: Input should be a valid integer"),
        ({"name": "", "variants": {"a": {}}}, "some.yaml: name must not be empty, got ''"),
        ({"seeds": [1, 1], "variants": {"a": {}}}, "2 runs would be called some-a-1"),
        ({"variants": {"a": {"eval.opponents": "missing"}}}, "some-a-0: unknown agent 'missing'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_before_anything_runs(write_sweep, capsys, tree, message):
    code, out, err = sweep_command(capsys, write_sweep(**tree))
    assert code == 2 and message in err and err.count("\n") == 1 and not out
    assert not Path("runs").exists()


def test_a_run_is_started_resumed_or_left(write_sweep, capsys, monkeypatch):
    path = write_sweep(seeds=[0], variants={name: {} for name in "abcd"})
    configurations = sweep_file.load(path).runs()
    for config in configurations[1:]:
        run = Path("runs") / config.name
        run.mkdir(parents=True)
        (run / "config.yaml").write_text(configs.to_yaml(config))
    _, _, done, stopped = (Path("runs") / config.name for config in configurations)
    for run in (done, stopped):
        (run / "checkpoints" / "00000004").mkdir(parents=True)
        records = [
            {"update": n, "time/decisions": 512.0 * n, "time/decisions_per_second": 2048.0}
            for n in (2, 4, 6)
        ]
        (run / "metrics.jsonl").write_text("".join(json.dumps(x) + "\n" for x in records))
    run_folder.record_end(done, 4, run_folder.OUT_OF_TIME)
    run_folder.record_end(stopped, 4, run_folder.INTERRUPTED)
    (stopped / run_folder.HISTORY).open("a").write('{"event": "sta')  # cut off
    requests = []

    def train(request, env_module, spent=0.0):
        requests.append((request.resume or request.config.name, spent))
        return 0

    monkeypatch.setattr(run_sweep.training, "run", train)
    for config in configurations:
        run_sweep.train_run(configs.to_dict(config), "some", "toy_env")
    # 2 x 1024 decisions; not what comes after the checkpoint
    assert requests == [("some-a-0", 0.0), ("some-b-0", 0.0), ("runs/some-d-0", 1.0)]
    assert Path("runs/some-b-0-without-checkpoint/config.yaml").exists()
    # A file that has changed since is refused.
    code, _, err = sweep_command(
        capsys, write_sweep(seeds=[0], set={"ppo.clip": 0.1}, variants={"c": {}})
    )
    assert code == 2 and "some-c-0 has ppo.clip 0.2, not 0.1" in err


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"update": 1, "time/decisions_per_second": "x"}, "per_second must be a number, not"),
        ({"games/vp": 1.0}, "line 2 is no record of a run"),
    ],
)
def test_damaged_records_are_found_before_anything_runs(
    write_sweep, capsys, monkeypatch, record, message
):
    monkeypatch.setattr(jobs, "compute", lambda *_, **__: pytest.fail("a run has begun"))
    path = write_sweep(seeds=[0], variants={"a": {}, "b": {}})
    config = sweep_file.load(path).runs()[1]
    run = Path("runs") / config.name
    run.mkdir(parents=True)
    (run / "config.yaml").write_text(configs.to_yaml(config))
    lines = [json.dumps(x) + "\n" for x in ({"update": 1}, record)]
    (run / "metrics.jsonl").write_text("".join(lines))
    code, out, err = sweep_command(capsys, path)
    assert code == 2 and "metrics.jsonl: line 2" in err and message in err and not out


def test_a_folder_that_is_no_run_is_named(write_sweep, capsys):
    path = write_sweep(seeds=[0], variants={"a": {}})
    Path("runs/some-a-0").mkdir(parents=True)
    code, _, err = sweep_command(capsys, path)
    assert code == 2 and "some-a-0 exists and is not a run of this sweep: move it away" in err


def test_runs_that_are_not_done_are_listed_with_their_progress(write_sweep, capsys, monkeypatch):
    path = write_sweep(seeds=[0], variants={name: {} for name in "abcd"})

    def compute(function, shards, on, fresh):
        shards[0].path.write_text("{}")
        run = Path("runs/some-b-0")
        run.mkdir()
        (run / "metrics.jsonl").write_text('{"update": 3}\n{"update": 4}\n')
        return [2]

    monkeypatch.setattr(jobs, "compute", compute)
    code, out, _ = sweep_command(capsys, path)
    assert code == 1 and out.splitlines() == [
        "some-b-0: update 4 of 40", "some-c-0: failed", "some-d-0: not started", "1 of 4 done",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_failed_run_is_named_and_trained_again(write_sweep, capsys, monkeypatch):
    """The others are trained. Each has a process of its own. About 20 s."""
    monkeypatch.setattr(run_sweep, "train_run", job_functions.make_run)
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.05)
    path = write_sweep(seeds=[0], variants={"a": {}, "b": {}, "c": {}})
    code, out, err = sweep_command(capsys, path, "--processes", "2")
    assert code == 1 and "2 of 3 done" in out
    assert [x for x in err.splitlines() if "failed" in x] == ["some-b-0 failed: no space left"]
    assert sorted(Path("made").read_text().split()) == ["some-a-0", "some-c-0"]
    Path("mended").touch()
    code, out, err = sweep_command(capsys, path)
    assert code == 0 and "3 of 3 done" in out
    assert Path("made").read_text().split()[2:] == ["some-b-0"]


def test_a_sweep_has_one_command_and_one_kind_of_score(write_sweep, capsys):
    runs = sweep_file.load(path := write_sweep(seeds=[0], variants={"a": {}})).runs()
    run_sweep.SWEEPS.mkdir(parents=True)
    with jobs.shard_folder(run_sweep.SWEEPS / "some", {"score": None}, True) as folder:
        (folder / "some-a-0.json").write_text("{}")
        code, _, err = sweep_command(capsys, path)
        assert code == 2 and "is in use by another process" in err
    moved = (
        r"has score None, not \['random', 8\]; move runs/.sweeps/some.shards away to start again"
    )
    with pytest.raises(UserError, match=moved):
        run_sweep.train_all("some", runs, toy_env, jobs.LOCAL, ("random", 8))


def test_locks_hold_on_a_file_system_that_locks_only_files_open_for_writing(
    write_sweep, monkeypatch
):
    """Such as NFS: the folder of a sweep, and a run before its folder exists."""
    (config,) = sweep_file.load(write_sweep(seeds=[0], variants={"a": {}})).runs()
    flock = outputs.fcntl.flock

    def flock_of_nfs(opened, operation):
        handle = opened if isinstance(opened, int) else opened.fileno()
        if outputs.fcntl.fcntl(handle, outputs.fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(opened, operation)

    monkeypatch.setattr(outputs.fcntl, "flock", flock_of_nfs)
    run_sweep.SWEEPS.mkdir(parents=True)
    refused = pytest.raises(UserError, match="some.shards is in use by another process")
    with jobs.shard_folder(run_sweep.SWEEPS / "some", {}, True), refused:
        run_sweep.train_all("some", [config], toy_env, jobs.LOCAL)
    refused = pytest.raises(UserError, match="some-a-0 is in use by another process")
    (run_sweep.SWEEPS / config.name).mkdir()
    with outputs.folder_lock(run_sweep.SWEEPS / config.name), refused:
        run_sweep.train_run(configs.to_dict(config), "some", "toy_env")


def test_a_key_without_a_value_is_left_out(write_sweep):
    """Such as `grid:` before lines that are comments."""
    tree = {"set": None, "grid": None, "variants": {"a": None}, "seeds": [0]}
    assert [run.name for run in sweep_file.load(write_sweep(**tree)).runs()] == ["some-a-0"]


def test_a_folder_of_a_read_only_file_system_can_be_used(tmp_path, monkeypatch):
    """Of NFS, where the lock is a file next to it: `export --verify` only reads."""
    open_file = os.open

    def open_read_only(path, flags, *mode):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system")
        return open_file(path, flags, *mode)

    monkeypatch.setattr(outputs, "_is_lockable", lambda handle: False)
    monkeypatch.setattr(outputs.os, "open", open_read_only)
    with outputs.folder_lock(tmp_path) as entered:
        assert entered is None


def test_yaml_reads_on_and_off_as_names_of_variants(write_sweep):
    Path("some.yaml").write_text("config: tiny.yaml\nvariants: {on: {ppo.clip: 0.1}, off: {}}\n")
    names = [run.name for run in sweep_file.load(Path("some.yaml")).runs()]
    assert names == ["some-True-0", "some-False-0"]


def test_runs_of_a_sweep_are_a_group_of_wandb(write_sweep, capsys, monkeypatch):
    groups = []

    def run(request, env_module):
        groups.append(os.environ.get("WANDB_RUN_GROUP"))
        return 0

    monkeypatch.setattr(run_sweep.training, "run", run)
    runs = sweep_file.load(write_sweep(name="sizes", seeds=[0, 1], variants={"a": {}})).runs()
    for config in runs:
        monkeypatch.setenv("WANDB_RUN_GROUP", "")  # put back after the test
        monkeypatch.delenv("WANDB_RUN_GROUP")
        run_sweep.train_run(configs.to_dict(config), "sizes", "toy_env")
    monkeypatch.setenv("WANDB_RUN_GROUP", "mine")
    run_sweep.train_run(configs.to_dict(runs[0]), "sizes", "toy_env")
    assert groups == ["sizes", "sizes", "mine"]


def test_a_file_without_the_end_of_a_schedule_goes_on_with_runs_of_a_constant_one(write_sweep):
    path = write_sweep(seeds=[0], variants={"a": {"ppo.lr_end": None}})
    (config,) = sweep_file.load(path).runs()
    run = Path("runs") / config.name
    run.mkdir(parents=True)
    stored = configs.override(config, [f"ppo.lr_end={config.ppo.lr}"])
    (run / "config.yaml").write_text(configs.to_yaml(stored))
    assert not run_sweep.is_done(config)


def start(*arguments, **environment):
    """A process of the sweep in the working folder."""
    return subprocess.Popen(
        [sys.executable, str(HERE / "toy_main.py"), "sweep", "some.yaml", *arguments],
        env=ENVIRONMENT | environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def children(process):
    """The processes that it has started."""
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(x) for x in path.read_text().split()] if path.exists() else []


@pytest.mark.slow
def test_four_runs_killed_in_the_middle_and_gone_on_with(write_sweep):
    """Variants that differ in nothing: the run that was killed must end as the one that was not."""
    write_sweep(seeds=[0, 1], variants={"a": {}, "b": {}},
         set={"run.updates": UPDATES, "eval.games": 0, "ppo.num_envs": 16})  # fmt: skip
    runs = [Path("runs") / f"some-{name}" for name in ("a-0", "b-0", "a-1", "b-1")]
    process, until = start(), time.monotonic() + 600
    try:
        while not list(runs[1].glob("checkpoints/0*4/about")):
            assert process.poll() is None and time.monotonic() < until, process.stderr.read()
            time.sleep(0.002)
        actual = children(process)
        process.kill()
        for child in actual:
            os.kill(child, signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    assert not run_folder.is_done(runs[1]) and not runs[2].exists()
    before = (runs[0] / run_folder.HISTORY).read_bytes()
    process = start()
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert "4 of 4 done" in out
    assert (runs[0] / run_folder.HISTORY).read_bytes() == before
    for run in runs:
        lines = (run / "metrics.jsonl").read_text().splitlines()
        assert [json.loads(x)["update"] for x in lines] == list(range(1, UPDATES + 1))
    starts = [x["update"] for x in run_folder.read_history(runs[1]) if x["event"] == "start"]
    assert len(starts) == 2 and 4 <= starts[1] < UPDATES
    first, killed, third, _ = (params_of(run, UPDATES) for run in runs)
    assert np.array_equal(first, killed) and not np.array_equal(first, third)
    output = run_folder.read_history(runs[0])[0]
    assert (
        output["versions"]["jax"]
        and output["machine"]["cores"]
        and output["environment"] == "toy 1.0"
    )

"""Several real processes on this machine: they meet, train as one, and end together."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import jax
import numpy as np
import pytest
import yaml
from conftest import TINY

from training import config as configs
from training import processes
from training.checkpoint import Checkpoints
from training.config import UserError
from training.processes import Place, Team

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENT = os.environ | {
    "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}",
    "JAX_PLATFORMS": "cpu",
    processes.TIMEOUT: "300",
}
GONE = "error: process {} of 2 is gone; stopping"


def free_port() -> int:
    """A port that is free, and the next one too."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("", 0))
            port = first.getsockname()[1]
            if port < 65535:
                try:
                    second.bind(("", port + 1))
                except OSError:
                    continue
                return port


def start(arguments: list[str], folder: Path, **environment: str) -> subprocess.Popen:
    """One process."""
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=ENVIRONMENT | environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ends(started: list[subprocess.Popen], seconds: float = 900) -> list[tuple[int, str, str]]:
    """(exit code, output, errors) of each; none outlives the test."""
    until = time.monotonic() + seconds
    try:
        found = []
        for process in started:
            out, err = process.communicate(timeout=max(until - time.monotonic(), 1))
            found.append((process.returncode, out, err))
        return found
    finally:
        for process in started:
            process.kill()


def meet(folder, *deeds, cards="aa", ids=(0, 1), size=2, **environment):
    """Two processes of tests/training/team.py."""
    where = f"127.0.0.1:{free_port()}"
    team = [
        start([str(HERE / "team.py"), where, str(size), str(number), card, *deeds], folder,
              **environment)
        for number, card in zip(ids, cards, strict=True)
    ]  # fmt: skip
    return ends(team)


def errors(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("error", "Traceback", "***"))]


def test_two_processes_meet_and_part(tmp_path):
    for code, out, err in meet(tmp_path):
        assert code == 0, err
        assert "[0, 1] from 0 2" in out


@pytest.mark.parametrize("dies", [0, 1])
def test_where_one_is_killed_the_other_ends_with_one_line(dies, tmp_path):
    began = time.monotonic()
    found = meet(tmp_path, f"die {dies}", "wait")
    assert found[dies][0] == -signal.SIGKILL
    code, _, err = found[1 - dies]
    assert code == processes.LOST
    assert errors(err) == [GONE.format(dies) + "; go on with --resume"]
    assert time.monotonic() - began < 60  # `wait` alone is 60


def test_where_one_fails_it_says_why_and_the_other_ends(tmp_path):
    (code, _, err), (other, _, end) = meet(tmp_path, "fail 0", "wait")
    assert (code, other) == (2, processes.LOST)
    assert errors(err) == ["error: no space left"]
    assert errors(end) == [GONE.format(0) + "; go on with --resume"]


@pytest.mark.parametrize(
    "options, said",
    [
        ({"cards": "ab"}, "error: processes 0 and 1 differ in card: 'a' and 'b'"),
        ({"size": 3, processes.TIMEOUT: "5"}, "error: after 5 s there is no process 2 of 3"),
        ({"ids": (0, 2)}, "error: process 2 has called, and there are 2"),
    ],
)
def test_who_does_not_fit_is_told_in_one_line(options, said, tmp_path):
    for code, _, err in meet(tmp_path, **options):
        assert code == 2
        assert errors(err) == [said]


def test_two_with_one_number(tmp_path):
    found = sorted(meet(tmp_path, ids=(0, 0), **{processes.TIMEOUT: "5"}), key=lambda x: x[2])
    assert [code for code, _, _ in found] == [2, 2]
    assert errors(found[0][2]) == ["error: after 5 s there is no process 1 of 2"]
    assert "another process with train.process_id=0" in errors(found[1][2])[0]


def test_slurm_says_who_takes_part(tmp_path):
    """As `srun` sets it; JAX's own detection finds the coordinator."""
    job = str(os.getpid() % 4096)  # JAX takes the port from it
    team = [
        start([str(HERE / "team.py"), "", "2", str(number), "a"], tmp_path, SLURM_JOB_ID=job,
              SLURM_STEP_NODELIST="127.0.0.1", SLURM_NTASKS="2", SLURM_PROCID=str(number),
              SLURM_LOCALID=str(number), JAX_LOCAL_DEVICE_IDS="0")
        for number in range(2)
    ]  # fmt: skip
    for code, out, err in ends(team):
        assert code == 0, err
        assert "[0, 1] from 0 2" in out


def settings(*overrides):
    return configs.override(configs.Config(), list(overrides))


def test_the_place_of_a_process():
    at = "train.coordinator=node1:29500"
    assert processes.place_of(settings(), {}) == Place("", 1, 0)
    two = settings(at, "train.processes=2", "train.process_id=1")
    assert processes.place_of(two, {}) == Place("node1:29500", 2, 1)
    slurm = {"SLURM_PROCID": "3", "SLURM_NTASKS": "4"}
    assert processes.place_of(settings(), slurm) == Place("", 4, 3)
    assert processes.place_of(two, slurm) == Place("node1:29500", 2, 1)
    assert processes.place_of(settings(), {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}).alone
    mpi = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
    assert processes.place_of(settings(), mpi) == Place("", 2, 0)
    for wrong in (
        ["train.coordinator=node1"],
        [at],
        [at, "train.processes=2", "train.process_id=2"],
        ["train.processes=2"],
    ):
        with pytest.raises(UserError, match=r"train\."):
            processes.place_of(settings(*wrong), {})


@pytest.fixture
def pair():
    """Two teams of one process, whose ends are threads."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections = (socket.create_connection(server.getsockname()), server.accept()[0])
    lines = [processes._Line(end) for end in connections]
    return [Team(Place("", 2, 0), {1: lines[0]}), Team(Place("", 2, 1), {0: lines[1]})]


def both(pair, do):
    """`do(team)` of both at once; results or exceptions."""
    found = [None, None]

    def run(number):
        try:
            found[number] = do(pair[number])
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for team in pair:
        team._ending = True
    return found


def test_a_folder_that_is_not_shared(pair, tmp_path):
    folders = [tmp_path / "0", tmp_path / "1"]
    folders[0].mkdir()
    found = both(pair, lambda team: processes.check_folder(team, folders[team.place.id]))
    assert all("process 1 does not see the folder" in str(error) for error in found)
    assert not list(folders[0].iterdir())


def test_settings_that_differ(pair):
    found = both(pair, lambda t: processes.check_same(t, {"seed": 0, "ppo.lr": t.place.id}))
    assert {str(x) for x in found} == {"processes 0 and 1 differ in ppo.lr: '0' and '1'"}


def train(folder, *arguments, size=1, devices=4):
    """The tiny training by so many processes, of so many devices each; their ends."""
    return ends(launch(folder, *arguments, size=size, devices=devices))


def launch(folder, *arguments, size=1, devices=4):
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    own = [[]]
    if size > 1:
        at = f"train.coordinator=127.0.0.1:{free_port()}"
        own = [[at, f"train.processes={size}", f"train.process_id={i}"] for i in range(size)]
    if not any(text.startswith("--resume") for text in arguments):
        arguments = ("--config", "tiny.yaml", *arguments)
    more = [f"train.cpu_devices={devices}", "eval.games=0"]
    return [
        start([str(HERE / "toy_main.py"), "train", *arguments, *texts, *more], folder)
        for texts in own
    ]


def params_of(run, update):
    """The parameters of a checkpoint, flat."""
    checkpoints = Checkpoints(run)
    found = checkpoints.restore_params(update, checkpoints._forms(update)["params"])
    return np.concatenate([np.ravel(x) for x in jax.tree.leaves(found)])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Six updates by one process of four devices."""
    folder = tmp_path_factory.mktemp("one")
    ((code, _, err),) = train(folder, "train.updates=6", "train.keep_checkpoints=9")
    assert code == 0, err
    return folder / "runs" / "tiny"


@pytest.fixture(scope="module")
def by_two(tmp_path_factory):
    """Four updates by two processes of two devices."""
    folder = tmp_path_factory.mktemp("two")
    for code, _, err in train(folder, "train.updates=4", size=2, devices=2):
        assert code == 0, err
    return folder / "runs" / "tiny"


def metrics_of(run):
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [yaml.safe_load(line) for line in lines]


@pytest.mark.slow
def test_two_processes_learn_what_one_does(undisturbed, by_two):
    np.testing.assert_allclose(params_of(by_two, 4), params_of(undisturbed, 4), atol=1e-5)
    ours, theirs = metrics_of(by_two), metrics_of(undisturbed)[:4]
    for name in ("games/ended", "games/vp", "loss/value", "policy/entropy"):
        a, b = ([record[name] for record in records] for records in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=1e-3)
    assert "coordinator: ''" in (by_two / "config.yaml").read_text()


@pytest.mark.slow
def test_one_process_goes_on_with_a_run_of_two(undisturbed, by_two):
    ((code, _, err),) = train(
        by_two.parent.parent, "--resume", "runs/tiny", "train.updates=6", devices=2
    )
    assert code == 0, err
    np.testing.assert_allclose(params_of(by_two, 6), params_of(undisturbed, 6), atol=1e-5)


def wait_for(path, started):
    until = time.monotonic() + 900
    while not (path.exists() and path.read_text()):
        assert all(process.poll() is None for process in started)
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow
def test_sigterm_to_one_stops_both_at_one_checkpoint(tmp_path):
    long = ("train.updates=1000000", "train.checkpoint_chunks=100000")
    started = launch(tmp_path, *long, size=2, devices=2)
    wait_for(tmp_path / "runs" / "tiny" / "metrics.jsonl", started)
    started[1].send_signal(signal.SIGTERM)
    found = ends(started)
    assert [code for code, _, _ in found] == [130, 130]
    step = int(re.search(r"checkpoint at update (\d+)", found[0][2])[1])
    kept = tmp_path / "runs" / "tiny" / "checkpoints"
    assert [int(path.name) for path in kept.iterdir() if path.name.isdigit()] == [step]


@pytest.mark.slow
@pytest.mark.parametrize("dies", [0, 1])
def test_a_killed_process_ends_the_other_and_the_run_goes_on(dies, undisturbed, tmp_path):
    started = launch(tmp_path, "train.updates=6", "train.checkpoint_chunks=1", size=2, devices=2)
    wait_for(tmp_path / "runs" / "tiny" / "metrics.jsonl", started)
    started[dies].kill()
    began = time.monotonic()
    found = ends(started)
    assert time.monotonic() - began < 30
    code, _, err = found[1 - dies]
    assert code == processes.LOST
    assert errors(err) == [GONE.format(dies) + "; go on with --resume runs/tiny"]
    arguments = ("--resume", "runs/tiny", "train.updates=6")
    for code, _, err in train(tmp_path, *arguments, size=2, devices=2):
        assert code == 0, err
    run = tmp_path / "runs" / "tiny"
    np.testing.assert_allclose(params_of(run, 6), params_of(undisturbed, 6), atol=1e-5)

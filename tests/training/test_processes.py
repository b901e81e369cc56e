"""Several real processes on this machine: they meet, train as one, and end together."""

import os
import signal
import socket
import time

import pytest
from started import GONE, HERE, ends, errors, free_port, start

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.system import process_group, processes
from training.system.process_group import Place


def meet(folder, *deeds, fingerprints="aa", ids=(0, 1), size=2, **environment):
    """Two processes of tests/training/group.py."""
    host = f"127.0.0.1:{free_port()}"
    group = [
        start([str(HERE / "group.py"), host, str(size), str(number), fingerprint, *deeds], folder,
              **environment)
        for number, fingerprint in zip(ids, fingerprints, strict=True)
    ]  # fmt: skip
    return ends(group)


def test_two_processes_meet_and_part(tmp_path):
    for code, out, err in meet(tmp_path):
        assert code == 0, err
        assert "[0, 1] from 0 2" in out


@pytest.mark.parametrize("dies", [0, 1])
def test_where_one_is_killed_the_other_ends_with_one_line(dies, tmp_path):
    start_time = time.monotonic()
    results = meet(tmp_path, f"die {dies}", "wait")
    assert results[dies][0] == -signal.SIGKILL
    code, _, err = results[1 - dies]
    assert code == process_group.LOST
    assert errors(err) == [GONE.format(dies) + "; continue with --resume"]
    assert time.monotonic() - start_time < 300  # `wait` alone is 600


def test_where_one_fails_it_says_why_and_the_other_ends(tmp_path):
    (code, _, err), (other, _, end) = meet(tmp_path, "fail 0", "wait")
    assert (code, other) == (2, process_group.LOST)
    assert errors(err) == ["error: no space left"]
    assert errors(end) == [GONE.format(0) + "; continue with --resume"]


def test_what_all_find_wrong_each_says(tmp_path):
    """It is no loss of the one that ends first."""
    for code, _, err in meet(tmp_path, "differ"):
        assert code == 2
        assert errors(err) == ["error: processes 0 and 1 differ in seed: '0' and '1'"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"fingerprints": "ab"}, "error: processes 0 and 1 differ in fingerprint: 'a' and 'b'"),
        ({"size": 3, processes.TIMEOUT: "5"}, "error: after 5 s there is no process 2 of 3"),
        ({"ids": (0, 2)}, "error: process 2 has called, and there are 2"),
    ],
)
@pytest.mark.slow
def test_who_does_not_fit_is_told_in_one_line(options, message, tmp_path):
    for code, _, err in meet(tmp_path, **options):
        assert code == 2
        assert errors(err) == [message]


@pytest.mark.slow
def test_two_with_one_number(tmp_path):
    results = sorted(meet(tmp_path, ids=(0, 0), **{processes.TIMEOUT: "5"}), key=lambda x: x[2])
    assert [code for code, _, _ in results] == [2, 2]
    assert errors(results[0][2]) == ["error: after 5 s there is no process 1 of 2"]
    assert "another process with hosts.process_id=0" in errors(results[1][2])[0]


def test_a_port_that_another_program_has(tmp_path):
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        address, environment = f"127.0.0.1:{port}", {processes.TIMEOUT: "3"}
        process = start([str(HERE / "group.py"), address, "2", "0", "a"], tmp_path, **environment)
        ((code, _, err),) = ends([process])
        assert code == 2
        (line,) = errors(err)
        assert line.startswith(f"error: process 0 cannot listen at port {port}: Address already")
        assert line.endswith("another program, or another process with hosts.process_id=0")


def test_slurm_says_who_takes_part(tmp_path):
    """As `srun` sets it; JAX's own detection finds the coordinator."""
    job = str(os.getpid() % 4096)  # JAX takes the port from it
    group = [
        start([str(HERE / "group.py"), "", "2", str(number), "a"], tmp_path, SLURM_JOB_ID=job,
              SLURM_STEP_NODELIST="127.0.0.1", SLURM_NTASKS="2", SLURM_PROCID=str(number),
              SLURM_LOCALID=str(number), JAX_LOCAL_DEVICE_IDS="0")
        for number in range(2)
    ]  # fmt: skip
    for code, out, err in ends(group):
        assert code == 0, err
        assert "[0, 1] from 0 2" in out


def settings(*overrides):
    return configs.override(configs.Config(), list(overrides)).hosts


def test_the_place_of_a_process():
    at = "hosts.coordinator=node1:29500"
    assert processes.place_of(settings(), {}) == Place("", 1, 0)
    two = settings(at, "hosts.processes=2", "hosts.process_id=1")
    assert processes.place_of(two, {}) == Place("node1:29500", 2, 1)
    slurm = {"SLURM_PROCID": "3", "SLURM_NTASKS": "4"}
    assert processes.place_of(settings(), slurm) == Place("", 4, 3)
    assert processes.place_of(two, slurm) == Place("node1:29500", 2, 1)
    assert processes.place_of(settings(), {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}).alone
    mpi = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
    assert processes.place_of(settings(), mpi) == Place("", 2, 0)
    for wrong in (
        ["hosts.coordinator=node1"],
        [at],
        [at, "hosts.processes=2", "hosts.process_id=2"],
        ["hosts.processes=2"],
    ):
        with pytest.raises(UserError, match=r"hosts\."):
            processes.place_of(settings(*wrong), {})

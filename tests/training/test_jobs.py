"""Shards computed in this process, in several, in a SLURM array of a stub, on a cluster of Ray."""

import argparse
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import job_functions
import pytest

from gaia_jax.cli import command_line
from gaia_jax.cli.command_line import UserError
from training.system import jobs
from training.system.jobs import LOCAL, On, Shard

HERE = Path(__file__).resolve().parent
TWO = On(processes=2)
SLURM = On("slurm", processes=2)

# In the place of sbatch: runs the tasks of the array one after another. Like the real one it prints
# the job's number, and with --wait it ends with the array.
SBATCH = """#!{python}
import os, re, subprocess, sys
options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
if "refuse" in os.environ.get("SBATCH_PARTITION", ""):
    sys.exit("sbatch: error: invalid partition specified: refuse")
first, last, limit = map(int, re.fullmatch(r"(\\d+)-(\\d+)%(\\d+)", options["array"]).groups())
print("17;cluster", flush=True)
assert {{"parsable", "wait"}} <= options.keys()
with open("submitted", "a") as file:
    file.write(f"{{last + 1 - first}} ")
with open("session", "w") as file:
    file.write(str(os.getsid(0)))
for task in range(first, last + 1):
    subprocess.run(["bash", "-c", options["wrap"]], stdin=subprocess.DEVNULL,
                   env=os.environ | {{"SLURM_ARRAY_TASK_ID": str(task)}})
"""


@pytest.fixture(autouse=True)
def _fast(monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.05)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")  # as many workers as asked for
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sbatch(monkeypatch, tmp_path):
    """A folder with the stub of sbatch and a scancel that leaves a trace."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (
        ("sbatch", SBATCH.format(python=sys.executable)),
        ("scancel", "#!/bin/sh\necho $1 > cancelled\n"),
    ):
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def shards(count=6):
    folder = Path("shards")
    folder.mkdir(exist_ok=True)
    return [Shard(folder / str(number), (number,)) for number in range(count)]


def contents(work):
    return [shard.path.read_text() for shard in work]


SQUARES = ["0", "1", "4", "9", "16", "25"]


@pytest.mark.parametrize("on", [LOCAL, TWO, SLURM], ids=["local", "two", "slurm"])
def test_missing_shards_are_computed_on_every_back_end(on, sbatch):
    work, reported = shards(), []
    work[1].path.write_text("kept")
    jobs.compute(job_functions.square, work, on, reported.append)
    assert contents(work) == ["0", "kept", *SQUARES[2:]]
    assert sorted(reported) == [0, 2, 3, 4, 5]
    jobs.compute(job_functions.refused, work, on, reported.append)  # nothing is missing
    assert len(reported) == 5
    assert not list(Path("shards").glob(".jobs-*"))
    if on is SLURM:
        assert Path("submitted").read_text() == "2 "


@pytest.mark.parametrize("on", [TWO, SLURM], ids=["two", "slurm"])
def test_a_lost_worker_costs_its_shard(on, sbatch):
    work = [Shard(shard.path, (str(Path().resolve()), *shard.args)) for shard in shards()]
    jobs.compute(job_functions.square_after_a_kill, work, on)
    assert Path("killed").exists() and contents(work) == SQUARES
    if on is SLURM:
        assert Path("submitted").read_text() == "2 2 "


@pytest.mark.parametrize("on", [LOCAL, TWO, SLURM], ids=["local", "two", "slurm"])
def test_arguments_arrive_as_json_on_every_back_end(on, sbatch):
    arguments = ({"seed": 3, "names": ("a", "b")}, None, 0.1, [True, "\u00e9"])
    Path("shards").mkdir()
    work = [Shard(Path("shards", "0"), arguments)]
    jobs.compute(job_functions.representation, work, on)
    received = ({"seed": 3, "names": ["a", "b"]}, None, 0.1, [True, "\u00e9"])
    assert contents(work) == [repr(received)]


def test_workers_that_are_lost_again_and_again_end_the_command():
    with pytest.raises(UserError, match=r"workers were lost 2 times before shards/0 was done"):
        jobs.compute(job_functions.always_killed, shards(2), TWO)


def test_a_worker_that_cannot_import_the_function_names_the_module(monkeypatch):
    monkeypatch.setattr(job_functions.square, "__module__", "missing_module")
    with pytest.raises(UserError, match="^No module named 'missing_module'$"):
        jobs.compute(job_functions.square, shards(2), TWO)


def test_the_payload_of_a_killed_command_is_no_shard():
    """A folder without shards is made again; one with shards needs --resume."""
    path, folder = Path("games.csv"), Path("games.csv.shards")
    with jobs.shard_folder(path, {"seed": 1}, False):
        (folder / ".jobs-x").mkdir()
        (folder / ".jobs-x" / "payload.json").touch()
        (folder / "0").touch()
        (folder / "jobs-a-0.json").touch()  # a shard, of a sweep whose name is jobs
    with jobs.shard_folder(path, {"seed": 1}, True):
        assert not (folder / ".jobs-x").exists() and (folder / "jobs-a-0.json").exists()
    (folder / "jobs-a-0.json").unlink()
    (folder / "0").rename("0")
    (folder / ".jobs-y").mkdir()
    with jobs.shard_folder(path, {"seed": 2}, False):
        assert os.listdir(folder) == ["about.json"]
        (folder / "0").touch()
    with pytest.raises(UserError, match="exists: --resume"), jobs.shard_folder(path, {}, False):
        pass
    moved = pytest.raises(UserError, match=f"seed 2, not 3; move {folder} away")
    with moved, jobs.shard_folder(path, {"seed": 3}, True):
        pass


def test_the_array_of_a_killed_command_is_cancelled(sbatch):
    Path("games.csv.shards", ".jobs-x").mkdir(parents=True)
    with jobs.shard_folder(Path("games.csv"), {}, False):
        assert Path("cancelled").read_text() == "--name=.jobs-x\n"


@pytest.mark.parametrize(
    ("visible", "gpus"), [("-1", []), ("", []), ("0, 2,-1,3", ["0", "2"]), ("GPU-8", ["GPU-8"])]
)
def test_gpus_are_those_that_cuda_shows(visible, gpus, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert jobs._gpus() == gpus


def test_an_error_of_the_function_is_that_of_the_command():
    """The others are ended, and no trace of the error is left."""
    work, start_time = shards(4), time.monotonic()
    with pytest.raises(UserError, match="^2 is not allowed$"):
        jobs.compute(job_functions.refused, work[1:3], TWO)
    assert time.monotonic() - start_time < 300
    assert list(Path("shards").iterdir()) == []


def test_fresh_shards_have_a_process_each(capsys):
    """One that fails leaves the others."""
    work, done = shards(4), []
    work[0] = Shard(work[0].path, ("too", "many"))
    assert jobs.compute(job_functions.process_id, work, LOCAL, done.append, fresh=True) == [0]
    assert done == [1, 2, 3] and capsys.readouterr().err.startswith("0 failed: ")
    assert len({*contents(work[1:]), str(os.getpid())}) == 4


@pytest.mark.parametrize("gpus", ["", "3,5"])
def test_workers_of_a_machine_share_its_cores_or_have_a_gpu_each(gpus, monkeypatch, capsys):
    """Two at a time if there are two GPUs, however many processes the command asks for."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", gpus)
    monkeypatch.setenv("JAX_PLATFORMS", "" if gpus else "cpu")
    monkeypatch.setenv("NPROC", "6")
    work = shards(4)
    jobs.compute(job_functions.cores_and_gpu, work, On(processes=4 if gpus else 2))
    cores, numbers = ({*x} for x in zip(*(text.split("/") for text in contents(work)), strict=True))
    note = "--processes 4: 2 at a time, one for each GPU; JAX_PLATFORMS=cpu computes on the cores\n"
    assert capsys.readouterr().err == (note if gpus else "")
    assert numbers == ({"3", "5"} if gpus else {""})
    assert cores == {"6" if gpus else "3"}


def test_a_single_worker_has_all_gpus(monkeypatch):
    """Such as a run of a sweep, which trains on all of them."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    monkeypatch.setenv("JAX_PLATFORMS", "")
    monkeypatch.setenv("NPROC", "6")
    work = shards(2)
    Path("started0").touch()
    Path("started1").touch()  # each waits for the other one
    jobs.compute(job_functions.cores_and_gpu, work, LOCAL, fresh=True)
    assert contents(work) == ["6/3,5"] * 2


def test_a_task_that_starts_again_keeps_its_shards():
    """Of an array, after its node was lost."""
    work = shards(2)
    work[0].path.write_text("kept")
    job = jobs.Job("job_functions:square", dict(enumerate(work)), LOCAL, False, Path("shards"))
    payload = jobs._worker(job, 1)[0][-2]
    assert jobs._main(payload, "1", "0") == 0 and contents(work) == ["kept", "1"]


def test_what_sbatch_refuses_is_one_line(sbatch, monkeypatch):
    monkeypatch.setenv("SBATCH_PARTITION", "refuse")
    with pytest.raises(UserError, match="^sbatch: error: invalid partition specified: refuse$"):
        jobs.compute(job_functions.square, shards(), SLURM)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("on", [LOCAL, TWO, SLURM], ids=["local", "two", "slurm"])
def test_a_stopped_command_leaves_no_worker(on, number, sbatch):
    reported = []

    def stop(index):
        reported.append(index)
        os.kill(os.getpid(), number)

    work, start_time = shards(1 if on is LOCAL else 4), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        jobs.compute(job_functions.sleep, work, on, stop)
    assert reported == [0] and work[0].path.exists()
    assert not list(Path("shards").glob(".jobs-*"))
    processes = {int(path.read_text()) for path in Path().glob("process*")} - {os.getpid()}
    assert processes or on is LOCAL
    assert time.monotonic() < start_time + 300
    if on is SLURM:
        assert Path("cancelled").read_text().startswith("--name=.jobs-")
        session = int(Path("session").read_text())
        assert session != os.getsid(0)  # Ctrl-C does not reach sbatch
        os.killpg(session, signal.SIGKILL)  # scancel is a stub
    else:
        for process in processes:
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)


def test_a_worker_ends_with_its_parent():
    """Also if the parent is killed. About 3 s."""
    code = (
        "import job_functions, pathlib; from training.system import jobs\n"
        "work = [jobs.Shard(pathlib.Path('shards', str(n)), (n,)) for n in range(2)]\n"
        "jobs.compute(job_functions.refused, work, jobs.On(processes=2))"
    )
    shards()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)])}
    parent = subprocess.Popen([sys.executable, "-c", code], env=environment)
    children, until = [], time.monotonic() + 300
    while len(children) < 2 and time.monotonic() < until:
        time.sleep(0.05)
        path = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        if not path.exists():
            parent.kill()
            pytest.skip("needs /proc")
        children = path.read_text().split()
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert len(children) >= 2
    until = time.monotonic() + 300
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("text", ["cloud", "rays", "ray://", "local://here", "slurm://x"])
def test_a_wrong_back_end_names_the_choices(text):
    parser = command_line.Parser("gaia x", None)
    jobs.add_flags(parser)
    with pytest.raises(UserError) as error:
        parser.parse_args(["--on", text])
    assert f"unknown --on {text!r}; the choices are: {jobs.CHOICES}" in str(error.value)
    assert ("did you mean 'ray'" in str(error.value)) == (text == "rays")


def test_ray_may_have_an_address(monkeypatch):
    parser = command_line.Parser("gaia x", None)
    jobs.add_flags(parser)
    monkeypatch.setattr(jobs, "find_spec", lambda name: object())
    args = parser.parse_args(["--on", "ray://here:10001", "--processes", "3"])
    assert jobs.of_args(args) == jobs.On("ray", 3, "ray://here:10001")
    assert jobs.of_args(parser.parse_args(["--on", "ray"])) == jobs.On("ray")


def test_a_back_end_that_is_missing_names_what_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(jobs, "find_spec", lambda name: None)
    parser = argparse.ArgumentParser()
    jobs.add_flags(parser)
    assert jobs.of_args(parser.parse_args(["--processes", "2"])) == TWO
    with pytest.raises(UserError, match=r'--on ray needs ray: pip install "gaia_jax\[ray\]"'):
        jobs.of_args(parser.parse_args(["--on", "ray"]))
    with pytest.raises(UserError, match="--on slurm needs sbatch"):
        jobs.of_args(parser.parse_args(["--on", "slurm"]))

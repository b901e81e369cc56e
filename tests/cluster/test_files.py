"""The files of configs/cluster, by the tools that know them where these are installed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from training import config as configs
from training.system import processes

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "configs" / "cluster"
SCRIPTS = sorted(CLUSTER.glob("*.sh"))
# Of `man sbatch`, those that our scripts use.
SBATCH = {
    "job-name": r"[\w-]+", "nodes": r"\d+", "ntasks": r"\d+", "ntasks-per-node": r"\d+",
    "gpus-per-node": r"\d+", "cpus-per-task": r"\d+", "time": r"(\d+-)?\d+:\d\d:\d\d",
    "signal": r"(B:)?[A-Z0-9]+(@\d+)?", "requeue": None, "open-mode": r"append|truncate",
    "output": r"\S+",
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_shell_script(script):
    checker = shutil.which("shellcheck") or shutil.which(
        "shellcheck", path=Path(sys.executable).parent
    )
    if checker is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run([checker, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_options_of_sbatch(script):
    lines = script.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
    for number, line in enumerate(lines):
        if line.startswith("#SBATCH"):
            assert number < first, "sbatch reads no option after the first command"
            name, equals, value = line.removeprefix("#SBATCH --").partition("=")
            assert name in SBATCH, line
            pattern = SBATCH[name]
            assert (pattern is None and not equals) or re.fullmatch(pattern, value), line


@pytest.fixture
def jobset():
    return yaml.safe_load((CLUSTER / "jobset.yaml").read_text())


def test_the_jobset_by_its_schema(jobset):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = json.loads((Path(__file__).parent / "jobset.schema.json").read_text())
    checker = jsonschema.Draft202012Validator(schema)
    checker.check_schema(schema)
    assert [error.message for error in checker.iter_errors(jobset)] == []
    jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["paralelism"] = 2
    assert len(list(checker.iter_errors(jobset))) == 1


def test_the_jobset_starts_as_many_as_it_names(jobset):
    job = jobset["spec"]["replicatedJobs"][0]
    pods = job["template"]["spec"]
    assert pods["parallelism"] == pods["completions"]
    (container,) = pods["template"]["spec"]["containers"]
    line = container["command"][-1].replace("\\\n", " ").replace("$JOB_COMPLETION_INDEX", "1")
    words = [word for word in shlex.split(line) if word.startswith("hosts.")]
    config = configs.override(configs.Config(), words)
    place = processes.place_of(config.hosts, {})
    assert place.size == pods["completions"] and place.id == 1
    host, _, port = place.coordinator.partition(":")
    first = f"{jobset['metadata']['name']}-{job['name']}-0-0.{jobset['metadata']['name']}"
    assert host == first
    ports = [entry["containerPort"] for entry in container["ports"]]
    assert ports == [int(port), int(port) + 1]
    named = re.findall(r"configs/\S+\.yaml", line)
    assert named and all((ROOT / name).exists() for name in named)


def test_two_terminals_start_two_processes(tmp_path):
    """With a program in the place of `gaia` that writes down what it is called with."""
    fake = tmp_path / "gaia"
    fake.write_text(f'#!/usr/bin/env bash\necho "$@" >> {tmp_path}/calls\n')
    fake.chmod(0o755)
    subprocess.run(
        ["bash", CLUSTER / "two_terminals.sh", "configs/quick.yaml", "seed=1"],
        env=os.environ | {"GAIA": str(fake), "PORT": "29511"}, check=True, timeout=60,
    )  # fmt: skip
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    places = []
    for call in calls:
        assert call[:2] == ["train", "--config"] and "seed=1" in call
        words = [word for word in call if word.startswith("hosts.")]
        places.append(processes.place_of(configs.override(configs.Config(), words).hosts, {}))
    assert sorted(place.id for place in places) == [0, 1]
    assert {place[:2] for place in places} == {("127.0.0.1:29511", 2)}


def test_a_requeued_slurm_job_resumes_its_run(tmp_path):
    fake, call = tmp_path / "srun", ["bash", CLUSTER / "slurm.sh", "ppo.lr=1"]
    fake.write_text(f'#!/usr/bin/env bash\necho "$JAX_LOCAL_DEVICE_IDS $@" >> {tmp_path}/calls\n')
    fake.chmod(0o755)
    own = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "SLURM_GPUS_ON_NODE": "4"}
    own |= {"SLURM_SUBMIT_DIR": str(tmp_path)}
    for folder in (None, "runs/cluster/checkpoints/00000004", "runs/cluster-2/checkpoints/2"):
        if folder:
            (tmp_path / folder).mkdir(parents=True)
        subprocess.run(call, env=os.environ | own, check=True, timeout=60)
    head = "0,1,2,3 --kill-on-bad-exit=1 gaia train"
    assert (tmp_path / "calls").read_text().splitlines() == [
        f"{head} --config configs/h100.yaml name=cluster ppo.lr=1",
        f"{head} --resume runs/cluster ppo.lr=1",
        f"{head} --resume runs/cluster-2 ppo.lr=1",
    ]


def test_the_sky_task_starts_each_node_by_its_number(tmp_path):
    task = yaml.safe_load((CLUSTER / "sky.yaml").read_text())
    fake = tmp_path / "gaia"
    fake.write_text('#!/usr/bin/env bash\necho "$@"\n')
    fake.chmod(0o755)
    own = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", **task["envs"]}
    own |= {"SKYPILOT_NODE_IPS": "10.0.0.1\n10.0.0.2", "SKYPILOT_NODE_RANK": "1"}
    own |= {"SKYPILOT_NUM_NODES": str(task["num_nodes"])}
    ended = subprocess.run(
        ["bash", "-c", task["run"]], env=os.environ | own, cwd=tmp_path, check=True, timeout=60,
        capture_output=True, text=True,
    )  # fmt: skip
    words = ended.stdout.split()
    assert words[:3] == ["train", "--config", task["envs"]["CONFIG"]]
    hosts = [word for word in words if word.startswith("hosts.")]
    place = processes.place_of(configs.override(configs.Config(), hosts).hosts, {})
    assert place == processes.Place("10.0.0.1:29500", 2, 1)


def test_the_ray_worker_knows_its_place(monkeypatch):
    import runpy
    from types import ModuleType, SimpleNamespace

    import training.train

    context = SimpleNamespace(get_world_size=lambda: 2, get_world_rank=lambda: 1)
    ray, collective = ModuleType("ray"), ModuleType("ray.train.collective")
    ray.train = SimpleNamespace(get_context=lambda: context)
    ray.util = SimpleNamespace(get_node_ip_address=lambda: "10.0.0.2")
    collective.broadcast_from_rank_zero = lambda value: "10.0.0.1"
    for name, module in (("ray", ray), ("ray.train", ModuleType("ray.train")),
                         ("ray.train.collective", collective)):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    calls = []
    monkeypatch.setattr(training.train, "main", lambda argv: calls.append(argv) or 0)
    monkeypatch.setitem(sys.modules, "gaia_training.train", training.train)
    train = runpy.run_path(str(CLUSTER / "ray_train.py"))["train"]
    train({"argv": ["--config", "configs/h100.yaml"]})
    assert calls[0][:2] == ["--config", "configs/h100.yaml"]
    place = processes.place_of(configs.override(configs.Config(), calls[0][2:]).hosts, {})
    assert place == processes.Place("10.0.0.1:29500", 2, 1)
    monkeypatch.setattr(training.train, "main", lambda argv: 130)
    with pytest.raises(RuntimeError, match="--resume RUN continues it"):
        train({"argv": []})

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
    "output": r"\S+", "array": r"\d+-\d+(%\d+)?",
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
    """With a program in Python's place that writes down what it is called with."""
    fake = tmp_path / "python"
    fake.write_text(f'#!/usr/bin/env bash\necho "$@" >> {tmp_path}/calls\n')
    fake.chmod(0o755)
    subprocess.run(
        ["bash", CLUSTER / "two_terminals.sh", "configs/quick.yaml", "seed=1"],
        env=os.environ | {"PYTHON": str(fake), "PORT": "29511"}, check=True, timeout=60,
    )  # fmt: skip
    calls = [line.split() for line in (tmp_path / "calls").read_text().splitlines()]
    places = []
    for call in calls:
        assert call[:3] == ["-m", "training.train", "--config"] and "seed=1" in call
        words = [word for word in call if word.startswith("hosts.")]
        places.append(processes.place_of(configs.override(configs.Config(), words).hosts, {}))
    assert sorted(place.id for place in places) == [0, 1]
    assert {place[:2] for place in places} == {("127.0.0.1:29511", 2)}


@pytest.mark.parametrize("of", [4, 2])
def test_a_job_array_splits_the_games(tmp_path, of):
    """The parts of all tasks are all games, each once; a task can run alone, by its number."""
    fake = tmp_path / "python"
    fake.write_text(f'#!/usr/bin/env bash\necho "$@" >> {tmp_path}/calls\n')
    fake.chmod(0o755)
    for task in range(3):
        own = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "3", "OF": str(of)}
        if task == 2:
            own |= {"SLURM_ARRAY_TASK_COUNT": "1", "TASKS": "3"}
        subprocess.run(
            ["bash", CLUSTER / "array.sh", "arena", "runs/parts", "1000", "--agents", "a,b,c,d"],
            env=os.environ | own | {"PYTHON": str(fake)}, cwd=tmp_path, check=True, timeout=60,
        )  # fmt: skip
    seen = []
    for call in (tmp_path / "calls").read_text().splitlines():
        words = call.split()
        assert words[:2] == ["-m", "training.arena"] and "--resume" not in words
        first, games = (int(words[words.index(flag) + 1]) for flag in ("--first", "--games"))
        assert games % of == 0
        seen += range(first, first + games // of)
    assert seen == list(range(1000 // of))


def test_a_task_beyond_the_array_says_so(tmp_path):
    own = {"SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "1"}
    ended = subprocess.run(
        ["bash", CLUSTER / "array.sh", "arena", "runs/parts", "1000"],
        env=os.environ | own, cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 2 and "set TASKS" in ended.stderr

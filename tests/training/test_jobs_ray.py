"""Shards on a local cluster of Ray with two nodes, one of which is killed in the middle."""

import csv
import os
import threading
import time
from pathlib import Path

import exported
import job_functions
import pytest
import toy_env
import yaml
from conftest import TINY

import training.arena as arena
from gaia_jax.cli.command_line import UserError
from training import export, sweep
from training.games import dataset
from training.run import sweep as run_sweep
from training.system import cli, jobs
from training.system.jobs import On

ray = pytest.importorskip("ray", reason='needs ray: pip install "gaia_jax[ray]"')
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = pytest.mark.slow
HERE = Path(__file__).resolve().parent
RAY = On("ray")


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    """A head with one core, and a node with one that `cluster.doomed` names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(HERE.parents[1]), str(HERE)]))
    monkeypatch.setenv("RAY_health_check_period_ms", "500")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.doomed = cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def kill_after_first(cluster, folder, pattern="[0-9]*"):
    """Kill the second node when the first shard is there; returns a list of what was there."""
    seen = []

    def watch():
        until = time.monotonic() + 600
        while not seen and time.monotonic() < until:
            seen.extend(folder.glob(pattern))
            time.sleep(0.05)
        cluster.remove_node(cluster.doomed, allow_graceful=False)

    threading.Thread(target=watch, daemon=True).start()
    return seen


def test_shards_and_errors_of_a_cluster(cluster):
    work = [jobs.Shard(Path(f"s{number}"), (number,)) for number in range(6)]
    done = []
    jobs.compute(job_functions.square, work, RAY, done.append)
    assert [shard.path.read_text() for shard in work] == ["0", "1", "4", "9", "16", "25"]
    assert sorted(done) == list(range(6))
    with pytest.raises(UserError, match="^2 is not allowed$"):
        jobs.compute(job_functions.refused, [jobs.Shard(Path("r"), (2,))], RAY)
    work = [jobs.Shard(Path(f"p{number}"), (number,)) for number in range(3)]
    jobs.compute(job_functions.process_id, work, RAY, fresh=True)
    assert len({shard.path.read_text() for shard in work}) == 3


def test_a_killed_worker_costs_its_shard(cluster):
    work = [jobs.Shard(Path(f"k{number}"), (str(Path.cwd()), number)) for number in range(6)]
    jobs.compute(job_functions.square_after_a_kill, work, RAY)
    assert Path("killed").exists()
    assert [shard.path.read_text() for shard in work] == ["0", "1", "4", "9", "16", "25"]
    with pytest.raises(UserError, match="workers were lost 2 times"):
        jobs.compute(job_functions.always_killed, [jobs.Shard(Path("lost"), (0,))], RAY)


def test_an_arena_of_two_nodes_is_that_of_one_process(cluster, tmp_path):
    names = "random,exported:last,exported:best_paid,random"
    line = ["--agents", names, "--games", "512", "--seed", "3"]

    def rows(name, *flags):
        argv = [*line, "--csv", name, *flags]
        assert cli.run(lambda: arena.main(argv, exported.FACE)) == 0
        with Path(name).open() as file:
            return [{**row, "seconds": ""} for row in csv.DictReader(file)]

    seen = kill_after_first(cluster, tmp_path / "ray.csv.shards")
    two = rows("ray.csv", "--on", "ray")
    assert seen and len(cluster.list_all_nodes()) == 1
    assert two == rows("local.csv")


def test_an_export_of_two_nodes_is_that_of_one_process(cluster, tmp_path):
    line = [*exported.GAMES, "--games", "256"]

    def write(name, *flags):
        argv = [*line, "--out", name, *flags]
        assert cli.run(lambda: export.main(argv, exported.FACE)) == 0
        return (tmp_path / name / dataset.GAMES).read_bytes()

    seen = kill_after_first(cluster, tmp_path / "two" / dataset.PIECES)
    assert write("two", "--on", "ray") == write("one")
    assert seen and len(cluster.list_all_nodes()) == 1


def test_the_runs_of_a_sweep_are_trained_on_the_nodes(cluster, monkeypatch, capsys):
    """Each in a process of its own; a failed one is named, and the same command trains it."""
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    tree = {"config": "tiny.yaml", "name": "some", "seeds": [0], "variants": {"a": {}, "b": {}}}
    Path("some.yaml").write_text(yaml.safe_dump(tree))
    monkeypatch.setattr(run_sweep, "train_run", job_functions.make_run)
    for code, done in ((1, "1 of 2 done"), (0, "2 of 2 done")):
        assert cli.run(lambda: sweep.main(["some.yaml", "--on", "ray"], toy_env)) == code
        out, err = capsys.readouterr()
        assert done in out and ("some-b-0 failed: no space left" in err) == bool(code)
        Path("mended").touch()
    assert Path("made").read_text().split() == ["some-a-0", "some-b-0"]

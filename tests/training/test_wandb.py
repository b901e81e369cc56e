"""Sinks of the curves without a network: what they get, and that a resumed run continues."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.config import Config
from training.run.logs import Logs, check_sink

ROOT = Path(__file__).resolve().parents[2]
WITH = configs.override(Config(), ["track.sink=wandb", "ppo.lr=0.125"])
# In a process of its own: W&B keeps a service and handlers of its own in the one that calls it.
TWICE = """
import pathlib, sys, time
from training import config as configs
from training.run.logs import Logs, check_sink
config = configs.override(configs.Config(), ["track.sink=wandb"])
check_sink("wandb")
run = pathlib.Path(sys.argv[1])
for first, vp in ((0, 12.625), (1, 71.875)):
    logs = Logs(run, config, first)
    logs.write(first + 1, {"games/vp": vp})
    logs.flush()
    logs.close()
    time.sleep(1.1)  # the folder is called by the second
"""


def test_variables_of_wandb_win_over_what_a_run_would_say(tmp_path, monkeypatch):
    inits = []
    fake = Mock(init=lambda **options: inits.append(options) or Mock())
    monkeypatch.setitem(sys.modules, "wandb", fake)
    for name in ("WANDB_PROJECT", "WANDB_NAME", "WANDB_DIR"):
        monkeypatch.delenv(name, raising=False)
    Logs(tmp_path, WITH).close()
    for name, value in (("PROJECT", "mine"), ("NAME", "first try"), ("DIR", "elsewhere")):
        monkeypatch.setenv(f"WANDB_{name}", value)
    Logs(tmp_path, WITH).close()
    before, after = ([options[key] for key in ("project", "name", "dir")] for options in inits)
    assert before == ["gaia_jax", tmp_path.name, str(tmp_path)]
    assert after == ["mine", "first try", "elsewhere"]
    assert inits[0]["config"]["ppo"]["lr"] == 0.125
    # wandb reads the others by itself, unless an argument sets them.
    assert not {"entity", "group", "tags", "job_type", "notes"} & inits[1].keys()


def test_without_a_login_nothing_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(login=lambda prompt: False))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    with pytest.raises(UserError, match="wandb has no login"):
        check_sink("wandb")


def test_wandb_itself_offline(tmp_path):
    """Two starts leave two folders of one id, with what was logged in each."""
    assert importlib.util.find_spec("wandb"), "of the extra dev"
    environment = os.environ | {
        "WANDB_MODE": "offline", "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu",
        "WANDB_SILENT": "true", "HOME": str(tmp_path),
    }  # fmt: skip
    run = tmp_path / "run"
    run.mkdir()
    subprocess.run(
        [sys.executable, "-c", TWICE, str(run)], env=environment, check=True, timeout=300
    )
    wandb_id = (run / "wandb" / "id").read_text()
    files = sorted((run / "wandb").glob(f"offline-run-*-{wandb_id}/run-{wandb_id}.wandb"))
    assert len(files) == 2 == len(list((run / "wandb").glob("offline-run-*")))
    first, second = (path.read_bytes() for path in files)
    assert b"12.625" in first and b"71.875" not in first and b"games/vp" in first
    assert b"71.875" in second and b"games/vp" in second


def test_trackio_gets_the_curves_over_updates_and_decisions(tmp_path, monkeypatch):
    """It has W&B's functions."""
    monkeypatch.delenv("TRACKIO_PROJECT", raising=False)
    inits, run = [], Mock()
    fake = SimpleNamespace(init=lambda **options: inits.append(options) or run)
    monkeypatch.setitem(sys.modules, "trackio", fake)
    config = configs.override(Config(), ["track.sink=trackio"])
    check_sink("trackio")
    logs = Logs(tmp_path, config)
    logs.write(3, {"games/vp": 12.0, "value/explained": float("nan")})
    logs.close()
    (options,) = inits
    assert (options["project"], options["name"]) == ("gaia_jax", tmp_path.name)
    assert options["resume"] == "allow" and options["config"]["track"]["sink"] == "trackio"
    run.log.assert_called_once_with({"update": 3, "decisions": 3 * 256 * 64, "games/vp": 12.0})
    run.finish.assert_called_once_with()


def test_tensorboard_has_the_curves_over_updates_and_decisions(tmp_path, monkeypatch):
    import tensorboardX

    points = []

    class Writer:
        def __init__(self, folder, purge_step):
            self.name = Path(folder).name
            points.append((self.name, purge_step))

        def add_scalar(self, name, value, step):
            points.append((self.name, name, value, step))

        def close(self):
            pass

    monkeypatch.setattr(tensorboardX, "SummaryWriter", Writer)
    logs = Logs(tmp_path, Config(), 2)
    logs.write(3, {"games/vp": 12.0})
    logs.close()
    each = 256 * 64
    assert points == [
        ("updates", 3), ("decisions", 3 * each),
        ("updates", "games/vp", 12.0, 3), ("decisions", "games/vp", 12.0, 3 * each),
    ]  # fmt: skip


def test_a_sink_that_is_not_installed_says_how_to_install_it(monkeypatch):
    for sink, hint in (("wandb", r"gaia_jax\[wandb\]"), ("trackio", "pip install trackio")):
        monkeypatch.setitem(sys.modules, sink, None)
        with pytest.raises(UserError, match=f"track.sink={sink} needs {sink}: .*{hint}"):
            check_sink(sink)


@pytest.mark.parametrize(
    ("switches", "sink"),
    [
        ({"wandb": True, "tensorboard": True}, "wandb"), ({"tensorboard": False}, "none"),
        ({"wandb": False}, "tensorboard"), ({}, "tensorboard"),
    ],
)  # fmt: skip
def test_the_switches_of_earlier_runs_are_read(switches, sink):
    assert configs.from_dict({"run": {"updates": 10, **switches}}).track.sink == sink
    for key in switches:
        with pytest.raises(UserError, match=f"^run.{key} is gone, set track.sink: none, tensorb"):
            configs.override(configs.Config(), [f"run.{key}=true"])

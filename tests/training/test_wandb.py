"""Logging to W&B without a network: the output, and that a resumed run continues it."""

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
from training.run.logs import Logs, check_wandb

ROOT = Path(__file__).resolve().parents[2]
WITH = configs.override(Config(), ["run.wandb=true", "run.tensorboard=false", "ppo.lr=0.125"])
# In a process of its own: W&B keeps a service and handlers of its own in the one that calls it.
TWICE = """
import pathlib, sys, time
from training import config as configs
from training.run.logs import Logs, check_wandb
config = configs.override(configs.Config(), ["run.wandb=true", "run.tensorboard=false"])
check_wandb()
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
    with pytest.raises(UserError, match="W&B knows no login"):
        check_wandb()


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

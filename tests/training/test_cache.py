"""A training that starts a second time reads its compiled step from the cache."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import TINY

from gaia_jax.xla import fast_compile
from gaia_jax.xla.compilation_cache import NO_CACHE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


# Two devices, whatever machine it is, and little to compile.
NEW = ("--config", "tiny.yaml", "run.updates=2", "run.cpu_devices=2", "network.layers=0")
SECONDS = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"


def start(folder: Path, *arguments: str) -> str:
    """A tiny training with the cache of these tests; its stderr."""
    env = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}", SECONDS: "0.2"}
    run = subprocess.run(
        [sys.executable, HERE / "toy_main.py", "train", *arguments, "eval.games=0"],
        cwd=folder, env=env, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "compiling the training step" in run.stderr
    return run.stderr


@pytest.mark.slow
@pytest.mark.skipif(bool(os.environ.get(NO_CACHE)), reason=f"{NO_CACHE} is set")
def test_a_second_start_does_not_compile(tmp_path):
    """Nor does a run that is resumed, on as many devices as before."""
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    start(tmp_path, *NEW)
    assert "from the cache" in start(tmp_path, *NEW)
    output = start(tmp_path, "--resume", "runs/tiny", "run.updates=4")
    assert "from the cache" in output and "run runs/tiny: toy 1.0, 2 device(s)" in output


@pytest.mark.parametrize(
    ("name", "was", "then"), [("-m", None, "3"), ("-m", "0", "0"), ("program.py", None, "1")]
)
def test_xla_asks_nobody_to_file_a_bug_but_in_programs_of_others(name, was, then):
    """It reads this when it is loaded; a program that imports the package keeps what JAX sets."""
    env = {key: x for key, x in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    env |= {"PYTHONPATH": str(ROOT)} | ({"TF_CPP_MIN_LOG_LEVEL": was} if was else {})
    code = f"import os, sys; sys.argv = [{name!r}]; import gaia_jax, jax"
    code += "; print(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    run = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120
    )
    assert run.stdout.strip() == then, run.stderr


def test_a_compiler_option_that_jax_has_dropped_is_left_out(monkeypatch):
    """XLA refuses a program with an option that it does not know."""
    level = (fast_compile.LEVEL, 0)
    monkeypatch.setattr(fast_compile, "QUICK", {"xla_no_such_option": True})
    assert fast_compile.supported_options((("xla_no_such_option", True), level)) == (level,)
    assert fast_compile.jit_fast_compile(lambda x: x + 1)(1) == 2

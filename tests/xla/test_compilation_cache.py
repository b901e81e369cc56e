"""The persistent cache: its folder, a second process that reads it, the switch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gaia_jax.xla import compilation_cache
from gaia_jax.xla.compilation_cache import NO_CACHE, cache_folder, enable_compilation_cache

ROOT = Path(__file__).resolve().parents[2]
# Prints the folder, then how often a program was read from the cache and how often compiled.
SCRIPT = """
import argparse, sys, gaia_jax, jax, jax.numpy as jnp
from training.system import cli
print(gaia_jax.enable_compilation_cache())
parser = argparse.ArgumentParser()
cli.add_cache_flag(parser)
parser.parse_args(sys.argv[1:])
events = cli._events()
jax.block_until_ready(jax.jit(lambda x: jnp.sin(x).sum())(jnp.ones(8)))
print(events[cli.HIT], events[cli.MISS])
"""


def start(home: Path, *arguments: str, **more: str) -> tuple[str, int, int]:
    """A process of its own: its folder, hits and misses."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "GAIA_", "XDG_"))}
    env = inherited | {
        "JAX_PLATFORMS": "cpu",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "XDG_CACHE_HOME": str(home),
        "PYTHONPATH": str(ROOT),
    }
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env=env | more, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    folder, counts = run.stdout.splitlines()
    hits, misses = map(int, counts.split())
    return folder, hits, misses


def test_a_second_process_reads_what_the_first_compiled(tmp_path):
    folder, hits, misses = start(tmp_path)
    assert (hits, misses > 0) == (0, True)
    assert Path(folder).parent == tmp_path / "gaia_jax"
    assert any(Path(folder).iterdir())
    assert start(tmp_path) == (folder, misses, 0)
    assert start(tmp_path, "--no-cache") == (folder, 0, 0)


def test_the_environment_turns_it_off(tmp_path):
    assert start(tmp_path, **{NO_CACHE: "1"}) == ("None", 0, 0)
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_a_folder_that_jax_knows_stays(tmp_path):
    own = tmp_path / "own"
    assert start(tmp_path, JAX_COMPILATION_CACHE_DIR=str(own))[0] == str(own)


def test_the_folder_names_jaxlib_and_the_processor(monkeypatch):
    folder = cache_folder()
    monkeypatch.setattr(compilation_cache.metadata, "version", lambda name: "9.9")
    other_version = cache_folder()
    assert other_version.name.startswith("jaxlib-9.9-")
    monkeypatch.setattr(compilation_cache.platform, "machine", lambda: "another")
    assert len({folder, other_version, cache_folder()}) == 3


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    import jax

    before = jax.config.jax_compilation_cache_dir
    assert enable_compilation_cache(tmp_path / "file" / "cache") is None
    assert jax.config.jax_compilation_cache_dir == before
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("system, part", [("darwin", "Library"), ("linux", ".cache")])
def test_the_cache_folder_of_the_user(system, part, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(compilation_cache.sys, "platform", system)
    assert part in cache_folder().parts

"""A tiny run on the toy game, and what the tests of the trainer share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import pytest
import toy_env
import yaml

from training import config as configs
from training.config import Config
from training.learn.checkpoint import Checkpoints
from training.learn.trainer import Inputs, Trainer

jax.devices()  # JAX has started: no command that a test calls in this process splits the CPU

TINY = yaml.safe_load(Path(__file__).with_name("toy.yaml").read_text("utf-8"))


@pytest.fixture(scope="session")
def config() -> Config:
    return configs.from_dict(TINY)


@pytest.fixture
def tiny_file(tmp_path: Path) -> Path:
    """The tiny configuration as a file."""
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(TINY))
    return path


@pytest.fixture
def write_sweep(tiny_file: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """`write_sweep(**tree)`: a sweep of it in the working folder, which is the test's own."""
    monkeypatch.chdir(tiny_file.parent)

    def write(**tree: Any) -> Path:
        path = Path("some.yaml")
        path.write_text(yaml.safe_dump({"config": tiny_file.name} | tree, sort_keys=False))
        return path

    return write


@pytest.fixture(scope="session")
def batch() -> Any:
    """Observations and masks of three new toy games."""
    env = toy_env.make("toy")

    def make(keys: jax.Array) -> Any:
        state = jax.vmap(env.init)(keys)
        return jax.vmap(env.observe)(state, state.current_player), state.legal_action_mask

    return jax.jit(make)(jax.random.split(jax.random.key(0), 3))


@pytest.fixture
def make_trainer(config: Config, tmp_path: Path) -> Any:
    """`make_trainer(name, resume)`: a run of the tiny configuration in a folder of that name."""

    def make(name: str, resume: bool = False, config: Config = config) -> Trainer:
        run = tmp_path / name
        update = Checkpoints(run).latest() if resume else None
        return Trainer(Inputs.of(config, toy_env), run, update)

    return make


@pytest.fixture(scope="session")
def full_export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of 48 games on rules of three lines (`exported.py`)."""
    import exported

    out: Path = tmp_path_factory.mktemp("export") / "whole"
    exported.make_whole(out)
    return out


@pytest.fixture
def small_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Datasets as `full_export` is: small row groups, one compiled table of agents."""
    import exported

    exported.patch(monkeypatch)

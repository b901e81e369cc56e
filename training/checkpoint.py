"""Checkpoints of a run: everything that the next update depends on, written by orbax.

A run folder holds `checkpoints/STEP/` with three items: `params` (what an agent needs), `trainer`
(optimizer, games, random key, update) and `about` (JSON: the environment's id and version, the
resolved configuration). The next update of a resumed run is bit-equal to what would have followed.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import jax
import orbax.checkpoint as ocp
from jax.sharding import SingleDeviceSharding

from training import config as configs
from training import ppo
from training.config import Config, UserError
from training.network import make_network

FORMAT = "gaia_jax checkpoint 1"
FOLDER = "checkpoints"
UNREADABLE = (ValueError, OSError, KeyError, TypeError, AttributeError)

Shapes = dict[str, tuple[int, ...]]

# orbax reports every save of a single process as a warning about what it would do for many.
logging.getLogger("absl").setLevel(logging.ERROR)


class Checkpoints:
    """The checkpoints of one run folder."""

    def __init__(self, run: str | Path, keep: int | None = None, create: bool = False):
        """
        Args:
            run: the run folder.
            keep: how many of the latest to keep; None: all.
            create: make the folder if it is not there.
        Raises:
            UserError: `run` is no run folder (only without `create`).
        """
        self.run = Path(run)
        folder = self.run / FOLDER
        if not create and not folder.is_dir():
            raise UserError(f"{run} is no run folder: it has no {FOLDER}/")
        self._manager = ocp.CheckpointManager(
            folder.absolute(),
            options=ocp.CheckpointManagerOptions(
                max_to_keep=keep,
                create=create,
                enable_async_checkpointing=False,
                step_format_fixed_length=8,
            ),
            item_handlers={
                "params": ocp.StandardCheckpointHandler(),
                "trainer": ocp.StandardCheckpointHandler(),
                "about": ocp.JsonCheckpointHandler(),
            },
        )

    def save(self, runner: ppo.Runner, env: Any, config: Config) -> None:
        """Write the runner under its number of updates; does nothing where that stands already."""
        step = int(runner.update)
        if step in self._manager.all_steps():
            return
        about = {
            "format": FORMAT,
            "env": env.id,
            "env_version": str(env.version),
            "update": step,
            "config": configs.to_dict(config),
        }
        params, trainer = _split(runner)
        self._manager.save(
            step,
            args=ocp.args.Composite(
                params=ocp.args.StandardSave(params),
                trainer=ocp.args.StandardSave(trainer),
                about=ocp.args.JsonSave(about),
            ),
        )

    def latest(self) -> int:
        """The update of the latest checkpoint; a UserError if there is none."""
        step = self._manager.latest_step()
        if step is None:
            raise UserError(f"{self.run} holds no checkpoint")
        return int(step)

    def about(self, step: int) -> tuple[dict[str, Any], Config]:
        """What a checkpoint says of itself, and its configuration."""
        try:
            args = ocp.args.Composite(about=ocp.args.JsonRestore())
            about = self._manager.restore(step, args=args)["about"]
            written = about["format"]
        except UNREADABLE as error:
            raise UserError(f"{self._name(step)} is unreadable or no checkpoint of ours") from error
        if written != FORMAT:
            raise UserError(f"{self._name(step)} has the format {written!r}, not {FORMAT!r}")
        return about, configs.from_dict(about["config"])

    def check_env(self, step: int, env: Any) -> None:
        """Refuse a checkpoint of another environment or of another version of it."""
        about, _ = self.about(step)
        theirs, ours = (about["env"], about["env_version"]), (env.id, str(env.version))
        if theirs != ours:
            raise UserError(
                f"{self._name(step)} was trained on {' '.join(theirs)}, this is {' '.join(ours)}"
            )

    def restore(self, step: int, runner: ppo.Runner) -> ppo.Runner:
        """Read a checkpoint.

        Args:
            runner: arrays, or shapes with shardings, of the form to restore.
        Raises:
            UserError: unreadable, or of another form.
        """
        params, trainer = _split(runner)
        items = self._restore(step, params=params, trainer=trainer)
        form = jax.tree.structure(runner._replace(params=()))
        rest = jax.tree.unflatten(form, [items["trainer"][name] for name in trainer])
        return rest._replace(params=items["params"])

    def restore_params(self, step: int, params: Any) -> Any:
        """Only the network's parameters, in the form of `params` (arrays or shapes)."""
        return self._restore(step, params=params)["params"]

    def _restore(self, step: int, **items: Any) -> Any:
        args = {name: ocp.args.StandardRestore(tree) for name, tree in items.items()}
        try:
            written = self._manager.metadata(step).item_metadata
            for name, tree in items.items():
                self._check_form(step, _shapes(written[name].tree), _shapes(tree))
            return self._manager.restore(step, args=ocp.args.Composite(**args))
        except UNREADABLE as error:
            raise UserError(f"{self._name(step)} is unreadable: {error or repr(error)}") from error

    def _check_form(self, step: int, written: Shapes, wanted: Shapes) -> None:
        """orbax would restore what is cut or missing with a page of text, or not at all."""
        for name in sorted(written.keys() | wanted.keys()):
            if written.get(name) != wanted.get(name):
                there, here = (shapes.get(name, "no shape") for shapes in (written, wanted))
                raise UserError(f"{self._name(step)} does not fit: {name} is {there}, not {here}")

    def _name(self, step: int) -> str:
        return f"the checkpoint {self.run} ({step} updates)"


def _split(runner: ppo.Runner) -> tuple[Any, dict[str, Any]]:
    """The parameters, and the rest as a dictionary of arrays by name."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(runner._replace(params=()))
    return runner.params, {_path(path): leaf for path, leaf in leaves}


def _shapes(tree: Any) -> Shapes:
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {_path(path): tuple(leaf.shape) for path, leaf in leaves}


def _path(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="-")


def load_policy(run: str | Path, env: Any | None, face: Any, step: int | None = None) -> Any:
    """The network and parameters of a run's checkpoint.

    Args:
        run: the run folder.
        env: the environment it has to fit; None makes the one it was trained on.
        face: what `make`s environments: the module `gaia_jax`.
        step: the update; None is the latest.
    Returns:
        (env, network, params, step, config).
    """
    checkpoints = Checkpoints(run)
    step = checkpoints.latest() if step is None else step
    about, config = checkpoints.about(step)
    env = env or make_env(face, about["env"], config.env.reward)
    checkpoints.check_env(step, env)
    network = make_network(env, config.network)
    here = SingleDeviceSharding(jax.devices()[0])  # wherever it was trained
    form = jax.jit(lambda: _init(env, network), out_shardings=here).eval_shape()
    return env, network, checkpoints.restore_params(step, form), step, config


def load_start(run: str | Path, env: Any) -> tuple[Any, Any]:
    """The network of a run and its parameters before the first update.

    Args:
        run: the run folder; its latest checkpoint says the configuration.
        env: the environment it has to fit.
    """
    checkpoints = Checkpoints(run)
    step = checkpoints.latest()
    checkpoints.check_env(step, env)
    _, config = checkpoints.about(step)
    network = make_network(env, config.network)
    params_key, _, _ = ppo.start_keys(config)
    return network, jax.jit(lambda: _init(env, network, params_key))()


def make_env(face: Any, env_id: str, reward: str) -> Any:
    """`face.make`; a name or reward that it does not know is the user's error."""
    try:
        return face.make(env_id, reward=reward)
    except ValueError as error:
        raise UserError(str(error)) from error


def _init(env: Any, network: Any, key: Any = None) -> Any:
    state = env.init(jax.random.key(0))
    observation = env.observe(state, state.current_player)
    batch = jax.tree.map(lambda x: x[None], observation)
    key = jax.random.key(0) if key is None else key
    return network.init(key, batch, state.legal_action_mask[None])

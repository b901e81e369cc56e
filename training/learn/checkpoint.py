"""Checkpoints of a run: everything that the next update depends on, written by orbax.

A run folder holds `checkpoints/STEP/` with three items: `params` (for an agent), `trainer`
(optimizer, games, random key, update) and `about` (JSON: the environment's id and version, the
resolved configuration). The next update of a resumed run is bit-equal to that of an uninterrupted
one.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax import Array
from jax.sharding import SingleDeviceSharding

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, one_line, reason
from gaia_jax.xla.fast_compile import jit_fast_compile

from .. import config as configs
from .. import zoo
from ..config import Config
from ..networks.make import init_params, make_network
from ..system.data_files import digest
from ..system.environments import another_environment, identity, make_env
from ..types import Environment, EnvModule, Params, PolicyNetwork
from . import warm_start
from .checkpoint_paths import ASIDE, FOLDER, free_path, is_folder, number_of, split_update
from .learner_state import GONE, NUMBERS, Runner, empty, join, path_name, split, start_keys
from .warm_start import WarmStart

FORMAT = "gaia_jax checkpoint 1"
DIGESTS = "digests.json"  # in the folder of a checkpoint, SHA-256 of its files
ITEMS = ("params", "trainer", "about")
UNREADABLE = (ValueError, OSError, KeyError, TypeError, AttributeError, RecursionError)

Shapes = dict[str, tuple[int, ...]]

# orbax warns about multi-process behaviour at every save of a single process, and reports
# unreadable files with a page of text.
for _name in ("absl", "asyncio"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class Damaged(UserError):
    """A checkpoint that is not as it was written."""


class Checkpoints:
    """The checkpoints of one run folder."""

    def __init__(self, run: str | Path, max_to_keep: int | None = None, create: bool = False):
        """
        Args:
            run: the run folder.
            max_to_keep: keep this many of the latest; None: only read.
            create: make the folder if it is not there.
        Raises:
            UserError: `run` is no run folder (only without `create`).
        """
        # Imported here: it takes seconds, and a training can start without it.
        import orbax.checkpoint as ocp

        self._ocp: Any = ocp
        self.run = Path(run)
        self._folder = self.run / FOLDER
        if not create and not is_folder(self._folder):
            raise UserError(f"{run} is no run folder: it has no {FOLDER}/")
        reads_only = max_to_keep is None and not create
        try:
            self._manager = ocp.CheckpointManager(
                self._folder.absolute(),
                options=ocp.CheckpointManagerOptions(
                    save_interval_steps=0 if reads_only else 1,
                    max_to_keep=max_to_keep,
                    create=create,
                    read_only=reads_only,
                    enable_async_checkpointing=False,
                    step_format_fixed_length=8,
                ),
                item_handlers={
                    "params": ocp.StandardCheckpointHandler(),
                    "trainer": ocp.StandardCheckpointHandler(),
                    "about": ocp.JsonCheckpointHandler(),
                },
            )
        except OSError as error:
            raise UserError(f"cannot use {self._folder}: {reason(error)}") from error

    def save(self, runner: Runner, env: Environment, config: Config, warm_start: str = "") -> None:
        """Write the runner under its number of updates; does nothing if that checkpoint exists.

        Args:
            warm_start: `WarmStart.name` of the run; "": it began without one.
        Raises:
            UserError: it cannot be written; existing checkpoints stay.
        """
        step = int(runner.update)
        if step in self.steps():
            return
        about = {
            "format": FORMAT,
            **identity(env),
            "update": step,
            "config": configs.to_dict(config),
            "warm_start": warm_start,
        }
        params, trainer = split(runner)
        try:
            self._manager.save(
                step,
                args=self._ocp.args.Composite(
                    params=self._ocp.args.StandardSave(params),
                    trainer=self._ocp.args.StandardSave(trainer),
                    about=self._ocp.args.JsonSave(about),
                ),
            )
            place = self._place(step)
            if jax.process_index() == 0:
                outputs.write_text(place / DIGESTS, json.dumps(_digests(place), indent=1) + "\n")
        except (OSError, ValueError) as error:
            raise UserError(f"cannot write {self._name(step)}: {_why(error)}") from error

    def steps(self) -> list[int]:
        """The updates after which there is a checkpoint, ascending."""
        return sorted(int(step) for step in self._manager.all_steps())

    def latest(self) -> int:
        """The update of the latest checkpoint; a UserError if there is none."""
        if not self.steps():
            raise UserError(f"{self.run} holds no checkpoint")
        return self.steps()[-1]

    def latest_undamaged(self, update: int | None = None) -> int:
        """The update of an undamaged checkpoint.

        Args:
            update: its number; None is the latest undamaged one, with a warning for each damaged
                one that is newer.
        Raises:
            UserError: there is none; the message lists the existing ones.
        """
        self.latest()
        steps = self.steps()
        if update is not None and update not in steps:
            available = ", ".join(map(str, steps[-12:]))
            available = (
                f"the last of {len(steps)} are {available}" if len(steps) > 12 else available
            )
            raise UserError(
                f"{self.run} has no checkpoint after {update} updates; there: {available}"
            )
        damaged: list[Damaged] = []
        for step in [update] if update is not None else reversed(steps):
            try:
                self.check(step)
            except Damaged as error:
                damaged.append(error)
                continue
            for damaged_step in damaged:
                print(f"warning: {one_line(damaged_step)}; trying the one before", file=sys.stderr)
            return step
        before = ", and so is every older one" if len(damaged) > 1 else ""
        raise Damaged(f"{damaged[0]}{before}")

    def check(self, step: int) -> None:
        """Raise Damaged if a checkpoint differs from what was written."""
        place = self._place(step)
        try:
            if (place / DIGESTS).exists():
                written = json.loads((place / DIGESTS).read_bytes())
                digests = _digests(place)
                for name in sorted(written.keys() | digests.keys()):
                    if written.get(name) != digests.get(name):
                        wrong = "is missing" if name not in digests else "has changed"
                        raise Damaged(f"{self._name(step)} is damaged: {name} {wrong}")
                return
        except UNREADABLE as error:
            raise Damaged(f"{self._name(step)} is damaged: {_why(error)}") from error
        # No digests: the save was cut off at its end, or an older version wrote it.
        self.about(step)
        forms = self._forms(step)
        self._restore(step, **{name: forms[name] for name in ITEMS[:2]})

    def set_aside(self, update: int) -> list[str]:
        """Move the checkpoints of later updates away from a run that resumes at `update`.

        Returns:
            Their new paths.
        """
        moved = []
        for step in self.steps():
            if step > update:
                goal = free_path(self.run / ASIDE, f"{step:08d}")
                goal.parent.mkdir(exist_ok=True)
                os.rename(self._place(step), goal)
                moved.append(str(goal))
        if moved:
            self._manager.reload()
        return moved

    def reload(self) -> None:
        """Reread the folder after another process has moved checkpoints."""
        self._manager.reload()

    def _place(self, step: int) -> Path:
        return self._folder / f"{step:08d}"

    def about(self, step: int) -> tuple[dict[str, Any], Config]:
        """The metadata of a checkpoint, and its configuration."""
        try:
            args = self._ocp.args.Composite(about=self._ocp.args.JsonRestore())
            about = self._manager.restore(step, args=args)["about"]
            written = about["format"]
        except UNREADABLE as error:
            raise Damaged(f"{self._name(step)} is unreadable or no checkpoint of ours") from error
        if written != FORMAT:
            raise UserError(f"{self._name(step)} has the format {written!r}, not {FORMAT!r}")
        config = configs.from_dict(about["config"])
        return {"warm_start": config.run.warm_start} | about, config  # older ones lack the name

    def check_env(self, step: int, env: Environment) -> None:
        """Refuse a checkpoint of another environment or of another version of it."""
        about, _ = self.about(step)
        if other := another_environment(about, env):
            raise UserError(f"{self._name(step)} {other}")

    def restore(self, step: int, runner: Runner) -> Runner:
        """Read a checkpoint. `runner` is its form: arrays, or shapes with shardings.

        Raises:
            UserError: unreadable, or of another form.
        """
        (params, trainer), written = split(runner), self._forms(step)["trainer"]
        trainer |= {name: written[name] for name in GONE if name in written}
        # A recipe may have added a number to `Hyper` since; the configuration sets it.
        since = [x for x in trainer if x.startswith(NUMBERS) and x not in written]
        rest = {name: empty(trainer.pop(name)) for name in since}
        items = self._restore(step, params=params, trainer=trainer)
        return join(runner, items["params"], items["trainer"] | rest)

    def restore_params(self, step: int, params: Params) -> Any:
        """Only the network's parameters, in the form of `params` (arrays or shapes)."""
        return self._restore(step, params=params)["params"]

    def _restore(self, step: int, **items: Any) -> Any:
        args = {name: self._ocp.args.StandardRestore(tree) for name, tree in items.items()}
        try:
            written = self._manager.metadata(step).item_metadata
            for name, tree in items.items():
                self._check_form(step, _shapes(written[name].tree), _shapes(tree))
            return self._manager.restore(step, args=self._ocp.args.Composite(**args))
        except UNREADABLE as error:
            raise Damaged(f"{self._name(step)} is unreadable: {_why(error)}") from error

    def _forms(self, step: int) -> dict[str, Any]:
        """The arrays of a checkpoint as they were written, on one device."""
        local = SingleDeviceSharding(jax.local_devices()[0])

        def form(x: Array) -> jax.ShapeDtypeStruct:
            return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=local)

        try:
            written = self._manager.metadata(step).item_metadata
            return {name: jax.tree.map(form, written[name].tree) for name in ITEMS[:2]}
        except UNREADABLE as error:
            raise Damaged(f"{self._name(step)} is unreadable: {_why(error)}") from error

    def _check_form(self, step: int, written: Shapes, expected: Shapes) -> None:
        """Refuse other shapes in one line; orbax would fail with a page of text or not at all."""
        for name in sorted(written.keys() | expected.keys()):
            if written.get(name) != expected.get(name):
                stored_shape, own_shape = (
                    shapes.get(name, "no shape") for shapes in (written, expected)
                )
                raise UserError(
                    f"{self._name(step)} does not fit: {name} is {stored_shape}, not {own_shape}"
                )

    def _name(self, step: int) -> str:
        return f"the checkpoint {self.run} ({step} updates)"


def _digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder, but of the digests themselves."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != DIGESTS)
    return {path.relative_to(folder).as_posix(): digest(path) for path in files}


def _why(error: BaseException) -> str:
    """The start of orbax's message; the rest is the specification of a store."""
    return reason(error).split("[tensorstore_spec")[0][:150] or repr(error)


def _shapes(tree: object) -> Shapes:
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {path_name(path): tuple(leaf.shape) for path, leaf in leaves}


class LoadedPolicy(NamedTuple):
    """A network with the parameters of a run."""

    env: Environment  # that it plays
    network: PolicyNetwork
    params: Params
    config: Config  # of the run
    update: int  # of the checkpoint; 0: before the first update


def load_policy(
    run: str | Path, env: Environment | None, env_module: EnvModule | None, step: int | None = None
) -> LoadedPolicy:
    """The network and parameters of a run's checkpoint.

    Args:
        run: the run folder.
        env: the environment it has to fit; None makes the one it was trained on, with the
            default level of the Automa.
        env_module: the module that makes environments, `gaia_jax`; None if `env` is given.
        step: the update; None is the latest that is whole.
    """
    checkpoints = Checkpoints(run)
    step = checkpoints.latest_undamaged(step)
    about, config = checkpoints.about(step)
    if env is None:
        assert env_module is not None
        env = make_env(env_module, about["env"], config.env.reward, about.get("players", 4))
    checkpoints.check_env(step, env)
    network = make_network(env, config.network)
    local = SingleDeviceSharding(jax.devices()[0])  # wherever it was trained
    key = jax.random.key(0)
    form = jax.jit(lambda: init_params(env, network, key), out_shardings=local).eval_shape()
    return LoadedPolicy(env, network, checkpoints.restore_params(step, form), config, step)


def load_start(run: str | Path, env: Environment) -> LoadedPolicy:
    """The network of a run with its parameters before the first update.

    Args:
        run: the run folder; its latest checkpoint holds the configuration and the warm start.
        env: the environment it has to fit.
    """
    checkpoints = Checkpoints(run)
    step = checkpoints.latest_undamaged()
    checkpoints.check_env(step, env)
    about, config = checkpoints.about(step)
    network = make_network(env, config.network)
    params = jit_fast_compile(lambda: init_params(env, network, start_keys(config)[0]))()
    if source := about["warm_start"]:
        try:
            given = load_warm_start(source, env).params
        except UserError as error:
            raise UserError(f"{run}@start needs its warm start {source}: {error}") from error
        params = warm_start.fit(given, config, params)
    return LoadedPolicy(env, network, params, config, 0)


def load_warm_start(name: str, env: Environment) -> WarmStart:
    """What `run.warm_start` names: `zoo/NAME`, RUN, RUN@UPDATE or a file of parameters."""
    run, update = split_update(name)
    if (Path(run) / FOLDER).is_dir():
        policy = load_policy(run, env, None, number_of("run.warm_start", update))
        return WarmStart(f"{run}@{policy.update}", policy.params)
    return WarmStart(name, zoo.parameters(name, env))

"""The file of a sweep: a configuration, variants, seeds; and the progress of its runs."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.outputs import folder_lock

from .. import config as configs
from ..config import Config
from ..learn.checkpoint_paths import FOLDER, free_path
from . import folder as run_folder
from . import logs

KEYS = ("name", "config", "set", "seeds", "variants", "grid", "tune")
OWN = ("name", "seed")  # keys of a configuration that the sweep gives
TPE, POPULATION = METHODS = ("tpe", "population")  # of a search
LOCKS = ".sweeps"  # in the folder of runs, a file for each run
MOST_RUNS = 10_000
WAITING, STOPPED, RUNNING, DONE = "waiting", "stopped", "running", "done"


class Member(NamedTuple):
    """A run of a sweep."""

    sweep: str  # its name
    variant: str
    config: Config

    @property
    def name(self) -> str:
        """Of its folder."""
        return self.config.name

    def to_dict(self) -> dict[str, Any]:
        """For `from_dict`, as plain values."""
        return self._asdict() | {"config": configs.to_dict(self.config)}

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Member:
        """The run that `to_dict` gave, also after JSON."""
        return cls(**tree | {"config": configs.from_dict(tree["config"])})


class State(NamedTuple):
    """The progress of a run."""

    status: str  # WAITING, STOPPED, RUNNING or DONE
    update: int  # the last one in its records


class Tuning(NamedTuple):
    """A search for the best values of some keys: trials are runs, scored by games."""

    name: str
    base: Config
    space: dict[str, Any]  # by key: a list of values, or `low`, `high` and maybe `log: true`
    trials: int
    at_once: int  # trials that the sampler proposes before it learns their scores
    opponent: str  # a fixed agent in the other seats
    games: int
    method: str = TPE

    def member(self, number: int, values: Mapping[str, object]) -> Member:
        """The run of a trial."""
        config = _changed(self.base, values, "tune.space")
        own: dict[str, object] = {"name": f"{self.name}-trial-{number:04}"}
        if self.method == POPULATION:  # no trial repeats the games of another
            own["seed"] = self.base.seed + number
        return Member(self.name, f"trial-{number:04}", _override(config, own, "tune"))


def load(path: Path) -> list[Member] | Tuning:
    """The runs of a sweep, or its search.

    Runs are in the order of their seeds: so that a sweep that is cut short has all variants.

    Raises:
        UserError: no such file, an unknown key, a value of the wrong type or range.
    """
    tree = configs.read_mapping(path, "the sweep")
    for key in tree:
        if key not in KEYS:
            raise UserError(f"{path}: unknown key {key!r}; the choices are: {', '.join(KEYS)}")
    try:
        return _members(tree, path)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _tuning(tree: dict[str, Any], name: str, base: Config) -> Tuning:
    keys = _mapping(tree, "tune")
    values: dict[str, Any] = {"trials": 20, "at_once": 1, "opponent": "greedy", "games": 256}
    values |= {"method": TPE} | keys
    space = _ranges(_mapping(keys, "space"), "tune.space.")
    fields = Tuning._fields[2:]
    for key in keys:
        if key not in fields:
            raise UserError(f"unknown key 'tune.{key}'; the choices are: {', '.join(fields)}")
    for key in ("trials", "at_once", "games"):
        if type(values[key]) is not int or values[key] < 1:
            raise UserError(f"tune.{key} must be a whole number above 0, got {values[key]!r}")
    if not isinstance(values["opponent"], str):
        raise UserError(f"tune.opponent must be an agent, got {values['opponent']!r}")
    if values["method"] not in METHODS:
        raise UserError(f"tune.method must be {' or '.join(METHODS)}, got {values['method']!r}")
    if values["method"] == POPULATION:
        _check_population(space, values["trials"], values["at_once"])
    if not space:
        raise UserError("tune.space must have keys with the values to choose from")
    if others := [key for key in ("seeds", "variants", "grid") if key in tree]:
        raise UserError(f"a search, tune, cannot have {others[0]}")
    return Tuning(name, base, **values | {"space": space})


def _check_population(space: dict[str, Any], trials: int, members: int) -> None:
    if members < 2 or trials % members:
        raise UserError(
            "with tune.method=population at_once, the members, must be at least 2 and divide "
            f"trials, got {members} and {trials}"
        )
    if wrong := [key for key in space if not key.startswith(("ppo.", "recipe."))]:
        raise UserError(f"a population varies keys of ppo and recipe, not {wrong[0]}")


def _ranges(tree: dict[str, Any], path: str, head: str = "") -> dict[str, Any]:
    """The values of each key of a space, or its `low`, `high` and `log`; checked."""
    ranges: dict[str, Any] = {}
    for key, values in tree.items():
        name = f"{head}{key}"
        if isinstance(values, dict) and values and not values.keys() & {"low", "high", "log"}:
            ranges |= _ranges(values, path, f"{name}.")
            continue
        if isinstance(values, dict):
            _check_bounds(f"{path}{name}", values)
        elif not isinstance(values, list) or not values:
            raise UserError(f"{path}{name} must be a list of values, or have low and high")
        ranges[name] = values
    return ranges


def _check_bounds(path: str, bounds: dict[str, Any]) -> None:
    """Refuse a range that nothing can be drawn from."""
    if not {"low", "high"} <= bounds.keys():
        raise UserError(f"{path} needs low and high")
    low, high = bounds["low"], bounds["high"]
    for value in (low, high):
        if type(value) not in (int, float) or not math.isfinite(value):
            raise UserError(f"{path}: low and high must be numbers, got {value!r}")
    if low > high or (bounds.get("log") and low <= 0):
        log = ", and above 0 with log" if bounds.get("log") else ""
        raise UserError(f"{path}: low must be at most high{log}, got {low} and {high}")


def _members(tree: dict[str, Any], path: Path) -> list[Member] | Tuning:
    file = tree.get("config")
    base = configs.load(str(file)) if file is not None else Config()
    base = _changed(base, _mapping(tree, "set"), "set")
    name = tree.get("name", path.stem)
    if not isinstance(name, (str, int, float)) or not str(name):
        raise UserError("name must be a text")
    if "tune" in tree:
        return _tuning(tree, str(name), base)
    seeds = tree.get("seeds", [base.seed])
    if not isinstance(seeds, list) or not seeds or len(set(map(str, seeds))) < len(seeds):
        raise UserError("seeds must be a list of different numbers")
    changes = _variants(tree)
    if len(seeds) * len(changes) > MOST_RUNS:
        raise UserError(f"a sweep has at most {MOST_RUNS:,} runs")
    members = []
    for seed in seeds:
        for variant, values in changes.items():
            config = _changed(base, values, variant)
            own = {"seed": seed, "name": f"{name}-{variant}-{seed}"}
            members.append(Member(str(name), variant, _override(config, own, variant)))
    return members


def _variants(tree: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The changes of each variant by its name: variants by name, times a grid of lists."""
    named = _mapping(tree, "variants")
    for variant, values in named.items():
        if not isinstance(values, dict):
            raise UserError(f"variants.{variant} must be a group of keys")
    grid = configs.flat_tree(_mapping(tree, "grid"))
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UserError(f"grid.{key} must be a list of values")
    if not named and not grid:
        raise UserError("give variants, or a grid")
    out: dict[str, dict[str, Any]] = {}
    for variant in named or [""]:
        for values in itertools.product(*grid.values()):
            point = dict(zip(grid, values, strict=True))
            parts = [f"{key.rpartition('.')[2]}{_plain(x)}" for key, x in point.items()]
            label = "-".join([str(variant)] * bool(variant) + parts)
            if label in out:
                raise UserError(f"two variants would be called {label}")
            out[label] = (named.get(variant) or {}) | point
    return out


def _plain(value: object) -> str:
    """A value as a part of a folder's name."""
    return "".join("_" if c in "/\\@:, *?[]" else c for c in str(value)) or "_"


def _mapping(tree: dict[str, Any], key: str) -> dict[str, Any]:
    mapping = {} if tree.get(key) is None else tree[key]
    if not isinstance(mapping, dict):
        raise UserError(f"{key} must be a group of keys")
    return mapping


def _changed(config: Config, values: Mapping[str, object], path: str) -> Config:
    flat = configs.flat_tree(values)
    for key in OWN:
        if key in flat:
            raise UserError(f"{path}: {key} is given by the sweep")
    return _override(config, flat, path)


def _override(config: Config, flat: Mapping[str, object], path: str) -> Config:
    texts = [f"{key}={json.dumps(value, default=str)}" for key, value in flat.items()]
    try:
        return configs.override(config, texts)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def state(member: Member, runs: Path) -> State:
    """The progress of a run.

    Raises:
        UserError: its folder holds a run of another configuration.
    """
    remainder, run = left_at(member, runs), runs / member.name
    has_lock = (runs / LOCKS / member.name).exists()
    try:
        with (
            lock_member(member, runs) if has_lock else nullcontext(),
            folder_lock(run) if run.exists() else nullcontext(),
        ):
            return remainder
    except UserError:
        return remainder._replace(status=RUNNING)


def left_at(member: Member, runs: Path) -> State:
    """`state` according to the folder, without the locks."""
    run = runs / member.name
    if not run.is_dir():
        return State(WAITING, 0)
    _check_same(member, run)
    records = logs.read_records(run / logs.RECORDS)
    update = records[-1][0] if records else 0
    if run_folder.is_done(run):
        return State(DONE, update)
    return State(STOPPED, update) if latest_checkpoint(run) else State(WAITING, 0)


def _check_same(member: Member, run: Path) -> None:
    file = run / configs.OF_A_RUN
    if not file.is_file():
        raise UserError(f"{run} exists and is not a run of this sweep: move it away")
    stored, current = (
        configs.flat(configs.with_ends(config)) for config in (configs.load(file), member.config)
    )
    for key, value in current.items():
        if stored[key] != value:
            raise UserError(
                f"{run} began with {key}={stored[key]}, the sweep has {value}: "
                "move it away, or rename the sweep"
            )


def latest_checkpoint(run: Path) -> int:
    """The update to resume from; 0: there is none."""
    folder = run / FOLDER
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return max((int(name) for name in names if name.isdigit()), default=0)


def set_aside(member: Member, runs: Path) -> None:
    """Move a folder without a checkpoint out of the way; nothing is deleted."""
    run = runs / member.name
    if run.is_dir():
        with folder_lock(run):
            run.rename(free_path(runs, f"{member.name}-without-checkpoint"))


@contextmanager
def lock_member(member: Member, runs: Path) -> Iterator[None]:
    """Lock a run, even before its folder exists, against other processes.

    Raises:
        UserError: another process has locked it.
    """
    (runs / LOCKS).mkdir(parents=True, exist_ok=True)
    with (runs / LOCKS / member.name).open("a") as file:  # for NFS open to write, unlike a folder
        if not outputs.lock(file):
            raise UserError(f"{member.name} is in use by another process")
        yield


def seconds_spent(member: Member, runs: Path) -> float:
    """Seconds of the updates up to the latest checkpoint, according to the records."""
    ppo, run = member.config.ppo, runs / member.name
    last = latest_checkpoint(run)
    lines = [line for update, line in logs.read_records(run / logs.RECORDS) if update <= last]
    rates = [json.loads(line).get("time/decisions_per_second") for line in lines]
    speeds = [speed for speed in rates if speed]
    return float(sum(ppo.num_envs * ppo.num_steps / speed for speed in speeds))

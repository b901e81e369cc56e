"""The file of a sweep: a configuration and its variants, a grid and seeds, or a search."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AllowInfNan,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.dataclasses import dataclass

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..config import Config
from ..config.keys import STRICT, Text, Whole, option, whole

POPULATION = "population"  # a method of a search
NOT_IN_NAMES = r"[/\\@:, *?[\]]"  # of a value in the name of a run

Keys = dict[str, Any]  # of a configuration, "ppo.lr" or nested
Values = Annotated[list[Any], Field(min_length=1)]  # of one key


def _keep_type(value: float, check: ValidatorFunctionWrapHandler) -> float:
    """A checked number; a whole one stays an int."""
    check(value)
    return value


Bound = Annotated[float, Strict(), AllowInfNan(False), WrapValidator(_keep_type)]


@dataclass(frozen=True, config=STRICT)
class Range:
    """The values of a key from `low` to `high`, whole numbers if both are."""

    low: Bound
    high: Bound
    log: StrictBool = option(False, "drawn evenly on a logarithmic scale")

    def __post_init__(self) -> None:
        if self.low > self.high or (self.log and self.low <= 0):
            above = ", and above 0 with log: true" if self.log else ""
            raise UserError(f"low must be at most high{above}, got {self.low} and {self.high}")

    @property
    def is_whole(self) -> bool:
        """Whether it has whole numbers alone."""
        return isinstance(self.low, int) and isinstance(self.high, int)


Space = dict[str, list[Any] | Range]  # by full key


def _space(tree: Keys) -> Space:
    """The values of each key of a search; a UserError names the key."""
    space = Space()
    for key, values in tree.items():
        try:
            space[key] = values if isinstance(values, list) and values else _range(values)
        except UserError as error:
            raise UserError(f"tune.space.{key}: {error}") from error
    return space


def _range(tree: Any) -> Range:
    if isinstance(tree, dict) and {"low", "high"} <= tree.keys():
        return configs.validated(TypeAdapter(Range), tree, {"": Range})
    given = configs.short(tree)
    raise UserError(f"give the whole key, with a list of values or low and high, got {given}")


@dataclass(frozen=True, config=STRICT)
class TuneConfig:
    """A search for the best values of some keys: trials are runs, scored by games."""

    space: Annotated[Keys, Field(min_length=1), AfterValidator(_space)]
    trials: Whole = whole(20, "number of runs")
    at_once: Whole = whole(1, "trials that are proposed before the scores of the last are known")
    opponent: Text = option("greedy", "the fixed agent in the other seats")
    games: Whole = whole(256, "number of games of a score")
    method: Literal["tpe", "population"] = option("tpe", "what proposes the trials")

    def __post_init__(self) -> None:
        if self.method == POPULATION:
            if self.at_once < 2 or self.trials % self.at_once:
                raise UserError("at_once of a population must be at least 2 and divide trials")
            if wrong := [key for key in self.space if not key.startswith(("ppo.", "recipe."))]:
                raise UserError(f"a population varies keys of ppo and recipe, not {wrong[0]}")


@dataclass(frozen=True, config=STRICT)
class Sweep:
    """The contents of a file; `config` is a file with the common configuration."""

    name: Text = Field(min_length=1)
    config: Text | None = None
    set: Keys | None = None
    seeds: Annotated[list[StrictInt], Field(min_length=1)] | None = None
    variants: dict[Any, Keys | None] | None = None  # YAML reads the name `on` as True
    grid: dict[str, Values] | None = None  # by full key
    tune: TuneConfig | None = None

    def __post_init__(self) -> None:
        if self.tune and (self.seeds or self.variants or self.grid):
            raise UserError("a search, tune, cannot have seeds, variants or a grid")
        if not self.tune and not self.variants and not self.grid:
            raise UserError("give variants, or a grid")

    @cached_property
    def base(self) -> Config:
        """The common configuration."""
        base = Config() if self.config is None else configs.load(self.config)
        return _changed(base, self.set or {}, "set")

    def runs(self) -> list[Config]:
        """The configuration of each run: each variant at each point of the grid, seed by seed.

        A sweep that is cut short has all variants of the first seeds.
        """
        runs, seeds = list[Config](), self.seeds or [self.base.seed]
        variants, grid = self.variants or {"": None}, self.grid or {}
        points = itertools.product(*grid.values())
        for seed, variant, values in itertools.product(seeds, variants, points):
            point = dict(zip(grid, values, strict=True))
            texts = [re.sub(NOT_IN_NAMES, "_", str(value)) or "_" for value in values]
            words = [f"{key.rpartition('.')[2]}{x}" for key, x in zip(grid, texts, strict=True)]
            label = "-".join([str(variant)] * bool(self.variants) + words)
            changes, name = (variants[variant] or {}) | point, f"{self.name}-{label}-{seed}"
            runs.append(_changed(self.base, changes, label, seed=seed, name=name))
        name, count = Counter(run.name for run in runs).most_common(1)[0]
        if count > 1:
            raise UserError(f"{count} runs would be called {name}")
        return runs

    def trial(self, number: int, values: Mapping[str, object]) -> Config:
        """The configuration of a trial of the search."""
        # In a population no trial repeats the games of another.
        seed = number if self.tune and self.tune.method == POPULATION else 0
        own = {"seed": self.base.seed + seed, "name": f"{self.name}-trial-{number:04}"}
        return _changed(self.base, values, "tune.space", **own)


def load(path: Path) -> Sweep:
    """Read a file and check all its runs.

    Raises:
        UserError: no such file, an unknown key, a value of the wrong type or range.
    """
    tree = configs.read_mapping(path, "the sweep")
    groups = {"": Sweep, "tune": TuneConfig}
    try:
        sweep = configs.validated(TypeAdapter(Sweep), {"name": path.stem} | tree, groups)
        if sweep.base and not sweep.tune:
            sweep.runs()
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return sweep


def _changed(config: Config, keys: Mapping[str, object], location: str, **own: object) -> Config:
    """A configuration with changed values.

    Args:
        keys: the changes that the file has at `location`, which begins the message of an error.
        own: the name and the seed, which the sweep gives.
    """
    flat = configs.flat_tree(keys)
    try:
        if given := flat.keys() & {"name", "seed"}:
            raise UserError(f"{min(given)} is given by the sweep")
        texts = [f"{k}={json.dumps(value, default=str)}" for k, value in (flat | own).items()]
        return configs.override(config, texts)
    except UserError as error:
        raise UserError(f"{location}: {error}") from error

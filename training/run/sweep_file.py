"""The file of a sweep: a configuration and its variants, a grid and seeds, or a search."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, PlainValidator, TypeAdapter
from pydantic.dataclasses import dataclass

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..config import Config
from ..config.keys import STRICT, Text, Whole, option, whole

POPULATION = "population"  # a method of a search
NOT_IN_NAMES = r"[/\\@:, *?[\]]"  # of a value in the name of a run

Keys = dict[str, Any]  # of a configuration, "ppo.lr" or nested
Values = Annotated[list[Any], Field(min_length=1)]  # of one key


class Range(NamedTuple):
    """The values of a key from `low` to `high`, whole numbers if both are."""

    low: float
    high: float
    log: bool = False  # drawn evenly on a logarithmic scale

    @property
    def is_whole(self) -> bool:
        """Whether it has whole numbers alone."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def _choice(values: Any) -> list[Any] | Range:
    """The values of a key of a search; a UserError if they are neither a list nor a range."""
    if isinstance(values, list) and values:
        return values
    try:
        choice = Range(**values)
        if -inf < choice.low <= choice.high < inf and (choice.low > 0 or choice.log is False):
            return choice
    except TypeError:  # no mapping, other keys, no numbers
        pass
    allowed = "a list, or low and high with low <= high, above 0 with log: true"
    raise UserError(f"tune.space has full keys, each with {allowed}, got {configs.short(values)}")


Space = dict[str, Annotated[list[Any] | Range, PlainValidator(_choice)]]  # by full key


@dataclass(frozen=True, config=STRICT)
class Search:
    """A search for the best values of some keys: trials are runs, scored by games."""

    space: Space = Field(min_length=1)
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
    seeds: Annotated[list[int], Field(min_length=1)] | None = None
    variants: dict[Any, Keys | None] | None = None  # YAML reads the name `on` as True
    grid: dict[str, Values] | None = None  # by full key
    tune: Search | None = None

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
            words = [f"{key.rpartition('.')[2]}{x}" for key, x in point.items()]
            words = [re.sub(NOT_IN_NAMES, "_", word) for word in words]
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
    groups = {"": Sweep, "tune": Search}
    try:
        sweep = configs.validated(TypeAdapter(Sweep), {"name": path.stem} | tree, groups)
        if sweep.base and not sweep.tune:
            sweep.runs()
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return sweep


def _changed(config: Config, keys: Mapping[str, object], place: str, **own: object) -> Config:
    """`config` with other values, and `own` ones of the sweep; a UserError names the place."""
    flat = configs.flat_tree(keys)
    try:
        if given := flat.keys() & {"name", "seed"}:
            raise UserError(f"{min(given)} is given by the sweep")
        texts = [f"{k}={json.dumps(value, default=str)}" for k, value in (flat | own).items()]
        return configs.override(config, texts)
    except UserError as error:
        raise UserError(f"{place}: {error}") from error

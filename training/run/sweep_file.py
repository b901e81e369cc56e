"""The file of a sweep: a configuration and its variants, a grid and seeds, or a search."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    FiniteFloat,
    PositiveInt,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..config import Config

OWN = ("name", "seed")  # keys of a configuration that the sweep gives
POPULATION = "population"  # a method of a search
VALUES, RANGE = "values", "range"  # of a key of a search
TAGS = (VALUES, RANGE, "int", "float", "constrained-float")  # pydantic's, in places of errors

Keys = dict[str, Any]  # of a configuration, "ppo.lr" or nested
Values = Annotated[list[Any], Field(min_length=1)]  # of one key


class Range(BaseModel, extra="forbid", strict=True):
    """The values of a key from `low` to `high`, whole numbers if both are."""

    low: FiniteFloat | int
    high: FiniteFloat | int
    log: bool = False  # drawn evenly on a logarithmic scale

    @model_validator(mode="after")
    def _is_range(self) -> Self:
        if self.low > self.high or (self.log and self.low <= 0):
            above = ", and above 0 with log" if self.log else ""
            raise ValueError(f"low must be at most high{above}, got {self.low} and {self.high}")
        return self

    @property
    def is_whole(self) -> bool:
        """Whether it has whole numbers alone."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def _kind(values: object) -> str:
    return VALUES if isinstance(values, list) else RANGE


Choice = Annotated[
    Annotated[Values, Tag(VALUES)] | Annotated[Range, Tag(RANGE)], Discriminator(_kind)
]
Space = dict[str, Choice]  # by full key


class Search(BaseModel, extra="forbid", strict=True):
    """A search for the best values of some keys: trials are runs, scored by games."""

    space: Space = Field(min_length=1)
    trials: PositiveInt = 20
    at_once: PositiveInt = 1  # trials that the sampler proposes before it learns their scores
    opponent: str = "greedy"  # a fixed agent in the other seats
    games: PositiveInt = 256
    method: Literal["tpe", "population"] = "tpe"

    @model_validator(mode="after")
    def _population(self) -> Self:
        if self.method == POPULATION:
            if self.at_once < 2 or self.trials % self.at_once:
                raise ValueError("at_once of a population must be at least 2 and divide trials")
            if wrong := [key for key in self.space if not key.startswith(("ppo.", "recipe."))]:
                raise ValueError(f"a population varies keys of ppo and recipe, not {wrong[0]}")
        return self


class Sweep(BaseModel, extra="forbid", coerce_numbers_to_str=True):
    """The contents of a file; `config` is a file with the common configuration."""

    name: str = Field(min_length=1)
    config: str | None = None
    set: Keys = {}
    seeds: list[int] | None = Field(None, min_length=1)
    variants: dict[str, Keys | None] = {}
    grid: dict[str, Values] = {}  # by full key
    tune: Search | None = None

    @field_validator("set", "variants", "grid", mode="before")
    @classmethod
    def _names(cls, tree: object) -> object:
        """By name: YAML reads `on` as True, and a key without a value as None."""
        tree = {} if tree is None else tree
        return {str(name): x for name, x in tree.items()} if isinstance(tree, dict) else tree

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        others = [key for key in ("seeds", "variants", "grid") if getattr(self, key)]
        if self.tune and others:
            raise ValueError(f"a search, tune, cannot have {others[0]}")
        if not self.tune and not self.variants and not self.grid:
            raise ValueError("give variants, or a grid")
        if len({*(self.seeds or ())}) < len(self.seeds or ()):
            raise ValueError("seeds must be a list of different numbers")
        return self

    @cached_property
    def base(self) -> Config:
        """The common configuration."""
        base = Config() if self.config is None else configs.load(self.config)
        return _changed(base, self.set, "set")

    def runs(self) -> list[Config]:
        """The configuration of each run, in the order of seeds.

        A sweep that is cut short has all variants of the first seeds.
        """
        seeds = [self.base.seed] if self.seeds is None else self.seeds
        runs = list[Config]()
        for seed, (variant, values) in itertools.product(seeds, self._variants().items()):
            own = {"seed": seed, "name": f"{self.name}-{variant}-{seed}"}
            runs.append(_override(_changed(self.base, values, variant), own, variant))
        return runs

    def trial(self, number: int, values: Mapping[str, object]) -> Config:
        """The configuration of a trial of the search."""
        own: Keys = {"name": f"{self.name}-trial-{number:04}"}
        if self.tune and self.tune.method == POPULATION:  # no trial repeats the games of another
            own["seed"] = self.base.seed + number
        return _override(_changed(self.base, values, "tune.space"), own, "tune")

    def _variants(self) -> dict[str, Keys]:
        """The changes of each variant by its name: variants by name, times a grid of lists."""
        out = dict[str, Keys]()
        for variant, named in (self.variants or {"": {}}).items():
            for values in itertools.product(*self.grid.values()):
                point = dict(zip(self.grid, values, strict=True))
                parts = [f"{key.rpartition('.')[2]}{_plain(x)}" for key, x in point.items()]
                label = "-".join([variant] * bool(variant) + parts)
                if label in out:
                    raise UserError(f"two variants would be called {label}")
                out[label] = (named or {}) | point
        return out


def load(path: Path) -> Sweep:
    """Read a file and check all its runs.

    Raises:
        UserError: no such file, an unknown key, a value of the wrong type or range.
    """
    tree = configs.read_mapping(path, "the sweep")
    try:
        sweep = Sweep.model_validate({"name": path.stem} | tree)
        if sweep.base and not sweep.tune:
            sweep.runs()
    except ValidationError as error:
        raise UserError(f"{path}: {_wrong(error)}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    return sweep


def _wrong(error: ValidationError) -> str:
    """The first thing that is wrong."""
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"] if part not in TAGS)
    kind, is_range = first["type"], RANGE in first["loc"]
    if is_range and kind in ("missing", "model_type"):
        key = name.removesuffix(".low").removesuffix(".high")
        given = configs.short(first["input"])
        return f"{key}: give the whole key, with a list of values or low and high, got {given}"
    if kind == "extra_forbidden":
        model = Range if is_range else Search if "." in name else Sweep
        return f"unknown key {name!r}; the choices are: {', '.join(model.model_fields)}"
    if kind == "value_error":
        return f"{name}: {first['ctx']['error']}".removeprefix(": ")
    return f"{name}: {first['msg']}, got {configs.short(first['input'])}"


def _plain(value: object) -> str:
    """A value as a part of a folder's name."""
    return "".join("_" if c in "/\\@:, *?[]" else c for c in str(value)) or "_"


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

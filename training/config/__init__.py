"""The configuration of a run, read from YAML files and `key=value`, checked and written.

`keys.py` declares every key once.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from gaia_jax.cli.command_line import UserError, one_line, read_text, shorten, unique_keys
from gaia_jax.cli.outputs import plain_name

from .keys import GROUPS
from .keys import Config as Config
from .keys import EnvConfig as EnvConfig
from .keys import HostsConfig as HostsConfig
from .keys import NetworkConfig as NetworkConfig
from .keys import PPOConfig as PPOConfig
from .keys import RecipeConfig as RecipeConfig

LONGEST_FILE = 10**6  # bytes of a configuration
OF_A_RUN = "config.yaml"  # in the folder of a run
LONGEST_NAME = 100  # bytes of a key, in a message
LONGEST_VALUE = 60  # characters of a value, in a message
OLD_SWITCHES = ("wandb", "tensorboard")  # of `run`
SCHEDULES = {"lr": "lr_end", "entropy_coef": "entropy_end"}  # of `ppo`: first and last value
MAY_CHANGE_ON_RESUME = ("name", "run", "track", "hosts", "eval")
# Settings that differ from process to process.
OF_A_PROCESS = "hosts."

_CONFIG = TypeAdapter(Config)
_GROUPS = {"": Config} | GROUPS
T = TypeVar("T")


def shipped(name: str | Path) -> Path:
    """A file or folder of the clone, by its path there; a wheel has it inside the package."""
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return (inside if inside.is_dir() else package.parent) / name


def load(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration.

    Args:
        path: a YAML file; keys that it does not name keep their defaults.
        overrides: `key=value` with dots for nested keys, e.g. `ppo.lr=3e-4`; later ones win.
    Raises:
        UserError: no such file, not YAML, an unknown key, a value of the wrong type or range.
    """
    return override(from_dict(read_mapping(path, "the configuration")), overrides)


def read_mapping(path: str | Path, what: str) -> dict[str, Any]:
    """The keys and values of a YAML file; {} for an empty file.

    Args:
        what: its kind, for the message.
    Raises:
        UserError: no such file, not YAML, or it holds something else.
    """
    # Unlike those of `Path`, these take any name: `read_text` reports a wrong one.
    if not os.path.exists(path) and os.path.isfile(shipped(path)):
        path = shipped(path)  # from any folder: configs/quick.yaml
    text = read_text(path, LONGEST_FILE, what)
    try:
        tree = parse_yaml(text)
    except ValueError as error:
        raise UserError(f"{path} is not valid YAML: {error}") from error
    if tree is not None and not isinstance(tree, dict):
        raise UserError(f"{path} must hold a mapping of keys to values")
    return tree or {}


class _Loader(yaml.SafeLoader):
    """Plain values only: an alias can name a small file's content a billion times."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ValueError("aliases (*) are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        mapping = super().construct_mapping(node, deep)  # an error for a key without a hash
        unique_keys((key, None) for key in keys)
        return mapping


# YAML 1.1 reads 3e-4, without a point, as a text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
)


def parse_yaml(text: str) -> Any:
    """YAML -> plain values; any problem is a ValueError of one line."""
    try:
        return yaml.load(text, _Loader)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except Exception as error:  # dates out of range, tags without a value, ...
        raise ValueError(one_line(error) or type(error).__name__) from error


def override(config: Config, overrides: Sequence[str]) -> Config:
    """`config` with `key=value` texts applied, checked like a file; `key=` is the empty text."""
    tree = to_dict(config)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UserError(f"expected key=value, got {short(text)}")
        try:
            parsed = parse_yaml(value) if value else ""
        except ValueError as error:
            raise UserError(f"{key}: cannot read the value {short(value)}") from error
        group, dot, leaf = key.partition(".")
        if group == "run" and leaf in OLD_SWITCHES:
            raise UserError(f"{key} is gone, set track.sink: none, tensorboard, wandb or trackio")
        if not dot:
            tree[group] = parsed
        elif isinstance(tree.get(group), dict):
            tree[group][leaf] = parsed
        else:
            raise UserError(unknown(key))
    return from_dict(tree)


def from_dict(tree: dict[str, Any]) -> Config:
    """Nested dictionaries -> Config; a UserError names the key that is unknown or wrong."""
    for key in tree:
        if not isinstance(key, str):
            raise UserError(unknown(short(key)))
    config = validated(_CONFIG, _with_sink(tree), _GROUPS)
    _check(config)
    return config


def validated(kind: TypeAdapter[T], tree: dict[str, Any], groups: Mapping[str, type]) -> T:
    """Nested dictionaries as a dataclass of pydantic; a UserError names the first wrong key.

    Args:
        groups: its classes by their key; "" is the class itself.
    """
    try:
        return kind.validate_python(tree)
    except ValidationError as error:
        raise UserError(_wrong(error, groups)) from error


def _with_sink(tree: dict[str, Any]) -> dict[str, Any]:
    """The tree with `track.sink` instead of two switches, which files of version 0.1 have."""
    run = dict(tree["run"]) if isinstance(tree.get("run"), dict) else {}
    has_wandb, has_board = (run.pop(key, None) for key in OLD_SWITCHES)
    if has_wandb is None and has_board is None:
        return tree
    sink = "wandb" if has_wandb else "none" if has_board is False else "tensorboard"
    return tree | {"run": run, "track": {"sink": sink}}


def to_dict(config: Config) -> dict[str, Any]:
    """Config -> nested dictionaries of plain values."""
    return dataclasses.asdict(config)


def to_yaml(config: Config) -> str:
    """The resolved configuration as YAML."""
    return yaml.safe_dump(to_dict(config), sort_keys=False)


def with_ends(config: Config) -> Config:
    """The same configuration with the last value of every schedule as a number."""
    ppo = config.ppo
    ends = {end: getattr(ppo, first) for first, end in SCHEDULES.items()}
    unset = {end: value for end, value in ends.items() if getattr(ppo, end) is None}
    return dataclasses.replace(config, ppo=dataclasses.replace(ppo, **unset)) if unset else config


def rising_schedules(config: Config) -> list[str]:
    """A warning for each schedule of `ppo` that ends above its first value."""
    ppo = with_ends(config).ppo
    return [
        f"ppo.{end} {getattr(ppo, end):g} is above ppo.{first} {getattr(ppo, first):g}: "
        "the schedule rises over the run"
        for first, end in SCHEDULES.items()
        if getattr(ppo, end) > getattr(ppo, first)
    ]


def differences(old: Config, new: Config) -> list[str]:
    """The keys that may not change when a run is resumed, yet do: `key: old -> new`."""
    a, b = flat(with_ends(old)), flat(with_ends(new))
    frozen = [key for key in a if key.split(".")[0] not in MAY_CHANGE_ON_RESUME]
    return [f"{key}: {a[key]} -> {b[key]}" for key in frozen if a[key] != b[key]]


def flat(config: Config) -> dict[str, Any]:
    """Every setting by its full key, `ppo.lr`."""
    return flat_tree(to_dict(config))


def flat_tree(tree: Mapping[str, object], head: str = "") -> dict[str, Any]:
    """Nested keys joined by dots."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        path = f"{head}{key}"
        out |= flat_tree(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return out


def of_a_run(config: Config) -> Config:
    """The configuration that a run stores: both ends of every schedule, no `hosts` of a process."""
    return dataclasses.replace(with_ends(config), hosts=HostsConfig())


def _check(config: Config) -> None:
    """Refuse settings that contradict each other."""
    plain_name("name", config.name)  # it is also that of an agent: RUN, RUN@UPDATE
    network, ppo, run = config.network, config.ppo, config.run
    if network.planets and network.mixing != "pool":
        raise UserError("network.planets needs network.mixing=pool")
    for needs in ("neighbourhood", "score_features", "advantage_head"):
        if getattr(network, needs) and not network.planets:
            raise UserError(f"network.{needs} needs network.planets above 0")
    if config.recipe.opponent_weight and config.env.reward != "vp":
        raise UserError(f"recipe.opponent_weight needs env.reward=vp, got {config.env.reward}")
    if config.recipe.opponent_weight and config.env.players == 1:
        raise UserError("recipe.opponent_weight needs env.players of at least 2, got 1")
    if ppo.minibatches % ppo.game_blocks:
        raise UserError(
            "ppo.minibatches must be a multiple of ppo.game_blocks, "
            f"got {ppo.minibatches} and {ppo.game_blocks}"
        )
    if ppo.num_steps * ppo.game_blocks % ppo.minibatches:
        product = "ppo.num_steps" + " * ppo.game_blocks" * (ppo.game_blocks > 1)
        raise UserError(
            f"ppo.minibatches must divide {product}, "
            f"got {ppo.minibatches} and {ppo.num_steps * ppo.game_blocks}"
        )
    if ppo.num_envs % ppo.game_blocks:
        raise UserError(
            f"ppo.game_blocks must divide ppo.num_envs, got {ppo.game_blocks} and {ppo.num_envs}"
        )
    if run.updates % run.updates_per_chunk:
        raise UserError(
            "run.updates must be a multiple of run.updates_per_chunk, "
            f"got {run.updates} and {run.updates_per_chunk}"
        )
    if network.mixing != "attention":
        return
    if network.cell_width != network.width:
        raise UserError(
            "with network.mixing=attention network.cell_width and network.width must be equal, "
            f"got {network.cell_width} and {network.width}"
        )
    if network.width % network.heads:
        raise UserError(
            f"network.heads must divide network.width, got {network.heads} and {network.width}"
        )


# What is wrong, in one line that names the key and the choices.


def short(value: object) -> str:
    """A value as text for a message."""
    if isinstance(value, int) and abs(value) > 10**LONGEST_VALUE:
        return "a number of many digits"
    return shorten(repr(value), LONGEST_VALUE)


def unknown(name: str, groups: Mapping[str, type] = _GROUPS) -> str:
    """`unknown key`, the nearest one, and the choices in the deepest group that exists."""
    first, dot, rest = name.partition(".")
    inside = bool(first and dot) and first in groups
    path = f"{first}." if inside else ""
    keys = list(groups[first if inside else ""].__dataclass_fields__)  # type: ignore[attr-defined]
    key_name = (rest if inside else first)[:LONGEST_NAME]
    choices = f"choices{f' in {first}' if inside else ''} are: {', '.join(keys)}"
    if near := difflib.get_close_matches(key_name, keys, 1):
        return f"unknown key {short(name)}; meant {path}{near[0]}? The {choices}"
    return f"unknown key {short(name)}; the {choices}"


def _wrong(error: ValidationError, groups: Mapping[str, type]) -> str:
    """The first thing that is wrong, `ppo.lr must be above 0, got 0.0`."""
    first = error.errors(include_url=False)[0]
    kind, context, value = first["type"], first.get("ctx", {}), first["input"]
    name = ".".join(str(part) for part in first["loc"])
    if kind in ("unexpected_keyword_argument", "invalid_key"):
        return unknown(name, groups)
    got = f"got {short(value)}"
    bounds = {"greater_than": ("above", "gt"), "greater_than_equal": ("at least", "ge")}
    bounds |= {"less_than_equal": ("at most", "le")}
    if kind in bounds:
        word, bound = bounds[kind]
        return f"{name} must be {word} {context[bound]:.10g}, {got}"
    if kind == "literal_error":
        choices = context["expected"].replace("'", "").replace(" or ", ", ")
        return f"{name} must be one of {choices}, {got}"
    if kind.startswith("dataclass"):
        return f"{name} must be a group of keys, {got}" if name else f"no configuration: {got}"
    if kind == "string_too_short":
        return f"{name} must not be empty, {got}"
    if kind == "finite_number":
        return f"{name} must be a finite number, {got}"
    group, _, key = name.rpartition(".")
    field = getattr(groups.get(group), "__pydantic_fields__", {}).get(key)
    kinds: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false"}
    kinds |= {str: "a text", float | None: "a number or null"}
    if field and field.annotation in kinds:
        return f"{name} must be {kinds[field.annotation]}, {got}"
    return f"{name}: {first['msg']}, {got}"

"""Configurations as YAML and as `key=value`, read, checked and written."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from gaia_jax.cli.command_line import UserError, one_line, read_text
from gaia_jax.cli.outputs import plain_name
from training.config import messages
from training.config.keys import Config
from training.config.messages import short
from training.config.older import renamed, today

LONGEST_FILE = 10**6  # bytes of a configuration
MAY_CHANGE_ON_RESUME = ("name", "run", "hosts", "eval")
# Settings that differ from process to process.
OF_A_PROCESS = ("hosts.", "train.coordinator", "train.processes", "train.process_id")

_CONFIG = TypeAdapter(Config)


def load(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """Read a configuration.

    Args:
        path: a YAML file; keys that it does not name keep their defaults.
        overrides: `key=value` with dots for nested keys, e.g. `ppo.lr=3e-4`; later ones win.
    Raises:
        UserError: no such file, not YAML, an unknown key, a value of the wrong type or range.
    """
    text = read_text(path, LONGEST_FILE, "the configuration")
    try:
        tree = parse_yaml(text)
    except ValueError as error:
        raise UserError(f"{path} is not valid YAML: {error}") from error
    if tree is not None and not isinstance(tree, dict):
        raise UserError(f"{path} must hold a mapping of keys to values")
    return override(from_dict(tree or {}), overrides)


class _Loader(yaml.SafeLoader):
    """Plain values only: an alias can name a small file's content a billion times."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ValueError("aliases (*) are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"the key {key!r} appears twice")
        return super().construct_mapping(node, deep)


# YAML 1.1 takes 3e-4, without a point, for a text.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
)


def parse_yaml(text: str) -> Any:
    """YAML -> plain values; whatever is wrong with it is a ValueError of one line."""
    try:
        return yaml.load(text, _Loader)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except Exception as error:  # dates out of range, tags without a value, ...
        raise ValueError(one_line(error) or type(error).__name__) from error


def override(config: Config, overrides: Sequence[str]) -> Config:
    """`config` with `key=value` texts applied, checked like a file."""
    tree = to_dict(config)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UserError(f"expected key=value, got {short(text)}")
        try:
            parsed = parse_yaml(value)
        except ValueError as error:
            raise UserError(f"{key}: cannot read the value {short(value)}") from error
        group, dot, leaf = today(key).partition(".")
        if not dot:
            tree[group] = parsed
        elif isinstance(tree.get(group), dict):
            tree[group][leaf] = parsed
        else:
            raise UserError(messages.unknown(key))
    return from_dict(tree)


def from_dict(tree: dict[str, Any]) -> Config:
    """Nested dictionaries -> Config; a UserError names the key that is unknown or wrong."""
    tree = renamed(tree)
    for key in tree:
        if not isinstance(key, str):
            raise UserError(messages.unknown(short(key)))
    try:
        config = _CONFIG.validate_python(tree)
    except ValidationError as error:
        raise UserError(messages.one_line(error)) from error
    _check(config)
    return config


def to_dict(config: Config) -> dict[str, Any]:
    """Config -> nested dictionaries of plain values."""
    return dataclasses.asdict(config)


def to_yaml(config: Config) -> str:
    """The resolved configuration as YAML."""
    return yaml.safe_dump(to_dict(config), sort_keys=False)


def differences(old: Config, new: Config) -> list[str]:
    """The keys that may not change when a run is resumed, yet do: `key: old -> new`."""
    a, b = flat(old), flat(new)
    frozen = [key for key in a if key.split(".")[0] not in MAY_CHANGE_ON_RESUME]
    return [f"{key}: {a[key]} -> {b[key]}" for key in frozen if a[key] != b[key]]


def flat(config: Config) -> dict[str, Any]:
    """Every setting by its full key, `ppo.lr`."""
    out: dict[str, Any] = {}
    for key, value in to_dict(config).items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        out |= {f"{key}.{name}".rstrip("."): found for name, found in parts}
    return out


def of_no_process(config: Config) -> Config:
    """Without what only one process of several is told, and no run keeps."""
    return dataclasses.replace(config, hosts=type(config.hosts)())


def _check(config: Config) -> None:
    """What has to fit together."""
    plain_name("name", config.name)  # it is also that of an agent: RUN, RUN@UPDATE
    network, ppo, run = config.network, config.ppo, config.run
    if network.planets and network.mixing != "pool":
        raise UserError("network.planets needs network.mixing=pool")
    for needs in ("neighbourhood", "score_features"):
        if getattr(network, needs) and not network.planets:
            raise UserError(f"network.{needs} needs network.planets above 0")
    if config.recipe.opponent_weight and config.env.reward != "vp":
        raise UserError(f"recipe.opponent_weight needs env.reward=vp, got {config.env.reward}")
    if ppo.num_steps % ppo.minibatches:
        raise UserError(
            f"ppo.minibatches must divide ppo.num_steps, got {ppo.minibatches} and {ppo.num_steps}"
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

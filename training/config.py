"""The configuration of a run: typed dataclasses read from YAML, with `key=value` overrides."""

from __future__ import annotations

import dataclasses
import types
import typing
from pathlib import Path
from typing import Any

import yaml


class UserError(Exception):
    """A mistake that one line explains; the command line prints it and exits with code 2."""


@dataclasses.dataclass(frozen=True)
class EnvConfig:
    """Which game is played, and what a seat is paid for."""

    id: str = "lost_fleet"
    reward: str = "vp"


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """The network of `network.py`."""

    mixing: str = "pool"  # how far cells see: "pool" (cheap, for CPUs) or "attention"
    layers: int = 2
    cell_width: int = 32  # features of a cell token; with attention the same as `width`
    width: int = 128  # features of the player tokens and of the global token
    latents: int = 8  # pooled views of the board ("pool")
    heads: int = 4  # attention heads ("attention")
    neighbors: bool = True  # every layer adds what lies next to a cell
    dtype: str = "float32"  # "bfloat16": activations; parameters, logits and values stay float32


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimization, gamma 1."""

    num_envs: int = 256  # games played side by side
    num_steps: int = 64  # decisions of each game between two updates
    epochs: int = 2
    minibatches: int = 8  # per epoch; each holds num_steps / minibatches decisions of every game
    lr: float = 1e-3
    lr_end: float = 1e-3  # reached in a straight line at the last update
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_clip: float = 0.0  # 0: no clipping of the values
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    max_grad_norm: float = 0.5
    reward_scale: float = 10.0  # the network's values are in rewards times this
    normalize_advantage: bool = True
    # Earlier parameters that hold three seats in half of the games; the learner trains on its own
    # decisions alone there. 0: self-play only.
    pool: int = 0
    pool_updates: int = 20  # between two entries into the pool


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """The length of a run and what it leaves behind."""

    updates: int = 100
    updates_per_chunk: int = 5  # updates of one compiled call; then logs, checkpoint, evaluation
    max_minutes: float = 0.0  # no new chunk after this long; 0: no limit
    checkpoint_chunks: int = 1  # chunks between two checkpoints; the last chunk always saves
    keep_checkpoints: int = 2  # the latest ones
    cpu_devices: int = 0  # devices that a CPU is split into; 0: one a core, as far as it pays
    tensorboard: bool = True
    wandb: bool = False


@dataclasses.dataclass(frozen=True)
class EvalConfig:
    """Games of the policy in one seat against three seats of one opponent."""

    games: int = 400  # at the end of training; 0: none. Rounded up to set-ups of four games
    chunks: int = 0  # chunks between two evaluations while training; 0: none
    chunk_games: int = 128  # games of each of these
    # Names of agents with commas between, each an evaluation of its own (`training/agents`).
    opponents: str = "random,greedy"
    seed: int = 0
    greedy: bool = False  # take the likeliest action instead of sampling


@dataclasses.dataclass(frozen=True)
class Config:
    """Everything that a run depends on. `config.yaml` in the run folder is this, resolved."""

    name: str = "run"  # the run folder is runs/NAME
    seed: int = 0
    env: EnvConfig = EnvConfig()
    network: NetworkConfig = NetworkConfig()
    ppo: PPOConfig = PPOConfig()
    train: TrainConfig = TrainConfig()
    eval: EvalConfig = EvalConfig()


MAY_CHANGE_ON_RESUME = ("name", "train", "eval")

_CHOICES = {
    "env.reward": ("vp", "margin", "rank", "win"),
    "network.mixing": ("pool", "attention"),
    "network.dtype": ("float32", "bfloat16"),
}
_MAY_BE_ZERO = {
    "seed",
    "eval.games",
    "eval.chunks",
    "eval.seed",
    "network.layers",
    "ppo.lr_end",
    "ppo.gae_lambda",
    "ppo.value_clip",
    "ppo.pool",
    "train.cpu_devices",
    "ppo.value_coef",
    "ppo.entropy_coef",
    "train.max_minutes",
}


def load(path: str | Path, overrides: typing.Sequence[str] = ()) -> Config:
    """Read a configuration.

    Args:
        path: a YAML file; keys that it does not name keep their defaults.
        overrides: `key=value` with dots for nested keys, e.g. `ppo.lr=3e-4`; later ones win.
    Raises:
        UserError: no such file, not YAML, an unknown key, a value of the wrong type or range.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise UserError(f"cannot read the configuration {path}: {reason}") from error
    try:
        tree = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    if tree is not None and not isinstance(tree, dict):
        raise UserError(f"{path} must hold a mapping of keys to values")
    return override(from_dict(tree or {}), overrides)


def override(config: Config, overrides: typing.Sequence[str]) -> Config:
    """`config` with `key=value` texts applied, checked like a file."""
    tree = to_dict(config)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UserError(f"expected key=value, got {text!r}")
        node = tree
        *parents, leaf = key.split(".")
        for parent in parents:
            node = node.setdefault(parent, {}) if isinstance(node, dict) else {}
            if not isinstance(node, dict):
                raise UserError(_unknown(Config, key))
        try:
            node[leaf] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UserError(f"{key}: cannot read the value {value!r}") from error
    return from_dict(tree)


def from_dict(tree: dict[str, Any]) -> Config:
    """Nested dictionaries -> Config; a UserError names the key that is unknown or wrong."""
    config = _build(Config, tree, "")
    _check(config)
    return config


def to_dict(config: Config) -> dict[str, Any]:
    """Config -> nested dictionaries of plain values."""
    return dataclasses.asdict(config)


def save(config: Config, path: str | Path) -> None:
    """Write the resolved configuration as YAML."""
    Path(path).write_text(yaml.safe_dump(to_dict(config), sort_keys=False), encoding="utf-8")


def differences(old: Config, new: Config) -> list[str]:
    """The keys that may not change when a run is resumed, yet do: `key: old -> new`."""
    a, b = _flat(to_dict(old)), _flat(to_dict(new))
    frozen = [key for key in a if key.split(".")[0] not in MAY_CHANGE_ON_RESUME]
    return [f"{key}: {a[key]} -> {b[key]}" for key in frozen if a[key] != b[key]]


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in tree.items():
        out |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return out


def _build(cls: type, tree: Any, prefix: str) -> Any:
    if not isinstance(tree, dict):
        raise UserError(f"{prefix[:-1]} must be a group of keys, got {tree!r}")
    kinds = typing.get_type_hints(cls)
    values = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if key not in kinds:
            raise UserError(_unknown(Config, name))
        if dataclasses.is_dataclass(kinds[key]):
            values[key] = _build(typing.cast(type, kinds[key]), value, f"{name}.")
        else:
            values[key] = _convert(kinds[key], value, name)
    return cls(**values)


def _unknown(cls: type, name: str) -> str:
    """`unknown key`, and the choices in the deepest group that exists."""
    *parents, _ = name.split(".")
    group: Any = cls
    path = ""
    for parent in parents:
        kind = typing.get_type_hints(group).get(parent)
        if kind is None or not dataclasses.is_dataclass(kind):
            break
        group, path = kind, f"{path}{parent}."
    choices = ", ".join(path + field.name for field in dataclasses.fields(group))
    return f"unknown key {name!r}; the choices are: {choices}"


def _convert(kind: Any, value: Any, name: str) -> Any:
    assert not isinstance(kind, types.UnionType)
    wrong = UserError(f"{name} must be {_TYPE_NAMES[kind]}, got {value!r}")
    if kind is bool:
        if not isinstance(value, bool):
            raise wrong
        return value
    if kind is str:
        if isinstance(value, (dict, list)) or value is None:
            raise wrong
        return str(value)
    if isinstance(value, (bool, dict, list)) or value is None:
        raise wrong
    try:  # YAML reads 3e-4 as text
        number = float(value)
    except ValueError as error:
        raise wrong from error
    if kind is int:
        if not number.is_integer():
            raise wrong
        return int(number)
    return number


_TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _check(config: Config) -> None:
    """The ranges, and what has to fit together."""
    flat = _flat(to_dict(config))
    for key, choices in _CHOICES.items():
        if flat[key] not in choices:
            raise UserError(f"{key} must be one of {', '.join(choices)}, got {flat[key]!r}")
    for key, value in flat.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            low = 0 if key in _MAY_BE_ZERO else None
            if not (value > 0 or value == low):  # also refuses nan
                raise UserError(
                    f"{key} must be {'at least' if low == 0 else 'above'} 0, got {value}"
                )
    if not config.name or "/" in config.name or config.name in (".", ".."):
        raise UserError(f"name must be a plain folder name, got {config.name!r}")
    network, ppo, train = config.network, config.ppo, config.train
    if ppo.gae_lambda > 1:
        raise UserError(f"ppo.gae_lambda must be at most 1, got {ppo.gae_lambda}")
    if ppo.num_steps % ppo.minibatches:
        raise UserError(
            f"ppo.minibatches must divide ppo.num_steps, got {ppo.minibatches} and {ppo.num_steps}"
        )
    if train.updates % train.updates_per_chunk:
        raise UserError(
            "train.updates must be a multiple of train.updates_per_chunk, "
            f"got {train.updates} and {train.updates_per_chunk}"
        )
    if network.mixing == "attention":
        if network.cell_width != network.width:
            raise UserError(
                "with network.mixing=attention network.cell_width and network.width must be equal, "
                f"got {network.cell_width} and {network.width}"
            )
        if network.width % network.heads:
            raise UserError(
                f"network.heads must divide network.width, got {network.heads} and {network.width}"
            )

"""The configuration of a run: typed dataclasses read from YAML, with `key=value` overrides."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from pathlib import Path
from typing import Any

import yaml

from gaia_jax.cli.command_line import UserError, one_line, read_text
from training.config.gone import without_gone
from training.config.ranges import CHOICES, FAR, MAY_BE_ZERO, MOST


@dataclasses.dataclass(frozen=True)
class EnvConfig:
    """Which game is played, and what a seat is paid for."""

    id: str = "lost_fleet"
    reward: str = "vp"
    players: int = 4  # 2 and 3 only for "base"


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """The network of `network.py`."""

    # How far cells see: "pool" (cheap) or "attention"; "flat" is one MLP over the observation.
    mixing: str = "pool"
    layers: int = 2
    cell_width: int = 32  # features of a cell token; with attention the same as `width`
    width: int = 128  # features of the player tokens and of the global token
    latents: int = 8  # pooled views of the board ("pool")
    heads: int = 4  # of "attention"
    planets: int = 0  # so many tokens, for planets and ships alone ("pool"); 0: one for each cell
    around: bool = False  # with `planets`: a token sees what lies within 1, 2 and 3 cells
    standings: bool = False  # with `planets`: a player's sees missions, income, VP on passing
    neighbors: bool = True  # every layer adds what lies next to a cell
    kinds: bool = False  # first the kind of action (its verb), then the action of that kind
    dtype: str = "float32"  # "bfloat16": activations; parameters, logits and values stay float32


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimization, gamma 1."""

    num_envs: int = 256  # games played side by side
    num_steps: int = 64  # decisions of each game between two updates
    spread: int = 0  # the games of a new run begin up to so many decisions apart; 0: together
    epochs: int = 2
    minibatches: int = 8  # per epoch; each holds num_steps / minibatches decisions of every game
    lr: float = 1e-3
    lr_end: float = 1e-3  # reached in a straight line at the last update
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    entropy_end: float = 0.01  # reached in a straight line at the last update
    max_grad_norm: float = 0.5
    reward_scale: float = 10.0  # the network's values are in rewards times this
    opponents: float = 0.0  # of each reward so much of the others' mean is taken off (reward vp)
    normalize_advantage: bool = True
    keep: float = 1.0  # the part of each game's decisions learnt from, those of largest advantage
    average: float = 0.0  # decay a minibatch of the averaged parameters that are saved; 0: none
    riches: float = 0.0  # the part of the seats that begin with more than the set-up gives


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """The length of a run and what it leaves behind."""

    updates: int = 100
    updates_per_chunk: int = 5  # updates of one compiled call; then logs, checkpoint, evaluation
    max_minutes: float = 0.0  # of this start: no new chunk after so long; 0: no limit
    checkpoint_chunks: int = 1  # chunks between two checkpoints; the last chunk always saves
    keep_checkpoints: int = 2  # the latest ones
    cpu_devices: int = 0  # devices that a CPU is split into; 0: one a core, as far as it pays
    # Several processes (docs/cluster.md); SLURM and Open MPI tell it. Not kept with a run.
    coordinator: str = ""  # HOST:PORT of process 0
    processes: int = 0  # how many
    process_id: int = 0  # which one this is, from 0 on
    tensorboard: bool = True
    wandb: bool = False
    start: str = ""  # parameters to begin with: zoo/NAME, or an npz like those of the zoo
    start_temperature: float = 1.0  # their logits are divided by it: below 1 a surer policy


@dataclasses.dataclass(frozen=True)
class EvalConfig:
    """Games of the policy in one seat against one opponent in the others."""

    games: int = 400  # at the end of training; 0: none. Rounded up to whole set-ups
    chunks: int = 0  # chunks between two evaluations while training; 0: none
    chunk_games: int = 128  # games of each of these
    opponents: str = "random,greedy"  # agents, with commas between: an evaluation with each
    seed: int = 0
    likeliest: bool = False  # the likeliest action instead of sampling


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
# Settings that differ from process to process.
OF_A_PROCESS = ("train.coordinator", "train.processes", "train.process_id")

LONGEST_FILE = 10**6  # bytes of a configuration
LONGEST_NAME = 100  # bytes


def load(path: str | Path, overrides: typing.Sequence[str] = ()) -> Config:
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

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise ValueError("aliases (*) are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"the key {key!r} appears twice")
        return super().construct_mapping(node, deep)


def parse_yaml(text: str) -> Any:
    """YAML -> plain values; whatever is wrong with it is a ValueError of one line."""
    try:
        return yaml.load(text, _Loader)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except Exception as error:  # dates out of range, tags without a value, ...
        raise ValueError(one_line(error) or type(error).__name__) from error


def override(config: Config, overrides: typing.Sequence[str]) -> Config:
    """`config` with `key=value` texts applied, checked like a file."""
    tree = to_dict(config)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UserError(f"expected key=value, got {_short(text)}")
        node = tree
        *parents, leaf = key.split(".")
        for parent in parents:
            node = node.setdefault(parent, {}) if isinstance(node, dict) else {}
            if not isinstance(node, dict):
                raise UserError(_unknown(Config, key))
        try:
            node[leaf] = parse_yaml(value)
        except ValueError as error:
            raise UserError(f"{key}: cannot read the value {_short(value)}") from error
    return from_dict(tree)


def from_dict(tree: dict[str, Any]) -> Config:
    """Nested dictionaries -> Config; a UserError names the key that is unknown or wrong."""
    config = _build(Config, _renamed(tree), "")
    _check(config)
    return config


def _renamed(tree: dict[str, Any]) -> dict[str, Any]:
    """With today's names of what older runs and agents call otherwise, without what is gone."""
    out = without_gone(tree)
    if isinstance(old := tree.get("eval"), dict) and "greedy" in old and "likeliest" not in old:
        out["eval"] = {{"greedy": "likeliest"}.get(key, key): x for key, x in old.items()}
    return out


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
    return _flat(to_dict(config))


def of_no_process(config: Config) -> Config:
    """Without what only one process of several is told, and no run keeps."""
    train = dataclasses.replace(config.train, coordinator="", processes=0, process_id=0)
    return dataclasses.replace(config, train=train)


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in tree.items():
        out |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return out


def _build(cls: type, tree: Any, prefix: str) -> Any:
    if not isinstance(tree, dict):
        raise UserError(f"{prefix[:-1]} must be a group of keys, got {_short(tree)}")
    kinds = typing.get_type_hints(cls)
    values = {}
    for key, value in tree.items():
        name = f"{prefix}{key if isinstance(key, str) else _short(key)}"
        if key not in kinds:
            raise UserError(_unknown(Config, name))
        if dataclasses.is_dataclass(kinds[key]):
            values[key] = _build(typing.cast(type, kinds[key]), value, f"{name}.")
        else:
            values[key] = _convert(kinds[key], value, name)
    return cls(**values)


def _unknown(cls: type, name: str) -> str:
    """`unknown key`, the nearest one, and the choices in the deepest group that exists."""
    *parents, _ = name.split(".")
    group: Any = cls
    path = ""
    for parent in parents:
        kind = typing.get_type_hints(group).get(parent)
        if kind is None or not dataclasses.is_dataclass(kind):
            break
        group, path = kind, f"{path}{parent}."
    keys = [field.name for field in dataclasses.fields(group)]
    choices = f"choices{f' in {path[:-1]}' if path else ''} are: {', '.join(keys)}"
    wanted = name.removeprefix(path)[:LONGEST_NAME]
    if near := difflib.get_close_matches(wanted, keys, 1):
        return f"unknown key {_short(name)}; meant {path}{near[0]}? The {choices}"
    return f"unknown key {_short(name)}; the {choices}"


def _short(value: Any, most: int = 60) -> str:
    """A value as it goes into a message."""
    if isinstance(value, int) and abs(value) > 10**most:
        return "a number of many digits"
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def _convert(kind: Any, value: Any, name: str) -> Any:
    assert not isinstance(kind, types.UnionType)
    wrong = UserError(f"{name} must be {_TYPE_NAMES[kind]}, got {_short(value)}")
    if kind is bool:
        if not isinstance(value, bool):
            raise wrong
        return value
    if kind is str:
        if value is None or isinstance(value, (dict, list, set, tuple, bytes)):
            raise wrong
        return str(value) if not isinstance(value, int) else _short(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong
    try:  # YAML reads 3e-4 as text
        number = float(value)
    except (ValueError, OverflowError) as error:
        raise wrong from error
    if kind is float:
        return number
    if not number.is_integer():
        raise wrong
    return value if isinstance(value, int) else int(number)


_TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _check(config: Config) -> None:
    """The ranges, and what has to fit together."""
    values = flat(config)
    for key, choices in CHOICES.items():
        if values[key] not in choices:
            raise UserError(f"{key} must be one of {', '.join(choices)}, got {_short(values[key])}")
    for key, value in values.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            _check_range(key, value)
    _check_name(config.name)
    network, ppo, train = config.network, config.ppo, config.train
    if network.planets and network.mixing != "pool":
        raise UserError("network.planets needs network.mixing=pool")
    for needs in ("around", "standings"):
        if getattr(network, needs) and not network.planets:
            raise UserError(f"network.{needs} needs network.planets above 0")
    if ppo.opponents and config.env.reward != "vp":
        raise UserError(f"ppo.opponents needs env.reward=vp, got {config.env.reward}")
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


def _check_range(key: str, value: int | float) -> None:
    low = 0 if key in MAY_BE_ZERO else None
    if not (value > 0 or value == low):  # also refuses nan
        raise UserError(
            f"{key} must be {'at least' if low == 0 else 'above'} 0, got {_short(value)}"
        )
    most = MOST.get(key, 2**31 - 1 if isinstance(value, int) else FAR)
    if value > most or not math.isfinite(value):
        raise UserError(f"{key} must be at most {most:.10g}, got {_short(value)}")


def _check_name(name: str) -> None:
    """A folder name that is also the name of an agent: RUN, RUN@UPDATE, with commas between."""
    forbidden = [c for c in "/\\@:," if c in name]
    if (
        not name.isprintable()
        or forbidden
        or name != name.strip(" .")
        or not 0 < len(name.encode("utf-8", "replace")) <= LONGEST_NAME
    ):
        raise UserError(
            f"name must be a plain folder name of at most {LONGEST_NAME} characters, without any "
            f"of / \\ @ : and the comma, got {_short(name)}"
        )

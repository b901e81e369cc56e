"""Every key of a configuration, declared once: type, default, range and meaning.

The groups are pydantic dataclasses: frozen, hashable, unknown keys refused. `ppo` has the standard
keys of PPO, `recipe` those of this project.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool
from pydantic.dataclasses import dataclass

from gaia_jax.cli.command_line import LARGEST_SEED

LARGEST = 2**31 - 1  # of a whole number
FAR = 1e9  # of a number


def _plain(value: object) -> object:
    """`true` is no number, though Python counts it as one; nor are bytes, of YAML's `!!binary`."""
    if isinstance(value, bool | bytes):
        raise ValueError("neither a number nor a text")
    return value


Whole = Annotated[int, BeforeValidator(_plain)]
Number = Annotated[float, BeforeValidator(_plain)]
Text = Annotated[str, BeforeValidator(_plain)]
End = Annotated[float | None, BeforeValidator(_plain)]  # of a schedule; None: its start value

STRICT = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


def whole(default: int, meaning: str, low: int = 1, high: int = LARGEST) -> Any:
    """A whole number from `low` to `high`, both included."""
    return Field(default=default, ge=low, le=high, description=meaning)


def number(default: float, meaning: str, low: float | None = None, high: float = FAR) -> Any:
    """A number up to `high`, included; from `low` on, included, or without it above 0."""
    bound: dict[str, Any] = {"gt": 0} if low is None else {"ge": low}
    return Field(default=default, le=high, allow_inf_nan=False, description=meaning, **bound)


def end(meaning: str, high: float = FAR) -> Any:
    """The last value of a schedule, from 0 to `high`; the default is its first value."""
    return Field(default=None, ge=0, le=high, allow_inf_nan=False, description=meaning)


def option(default: object, meaning: str) -> Any:
    """A flag, a text or one of several words."""
    return Field(default=default, description=meaning)


@dataclass(frozen=True, config=STRICT)
class EnvConfig:
    """The game and its reward."""

    id: Text = option("lost_fleet", "the ruleset: lost_fleet, lost_fleet_published or base")
    reward: Literal["vp", "margin", "rank", "win"] = option("vp", "what a seat is paid for")
    players: Whole = whole(4, "seats that decide; 1 plays against the Automa", high=4)
    automa: Text = option(
        "", "for one player the level of the Automa; `any`: each game draws one; empty: automachtig"
    )
    short_turns: StrictBool = option(
        False, "a turn ends with its main action: free actions come before it alone"
    )


@dataclass(frozen=True, config=STRICT)
class NetworkConfig:
    """The network (`training/networks/`)."""

    mixing: Literal["pool", "attention", "flat"] = option(
        "pool", "how far cells see: `pool` is cheap; `flat` is one MLP over the observation"
    )
    layers: Whole = whole(2, "layers", low=0, high=64)
    cell_width: Whole = whole(
        32, "features of a cell's token; with `attention` the same as `width`", high=4096
    )
    width: Whole = whole(128, "features of the tokens of players and of the table", high=4096)
    latents: Whole = whole(8, "pooled views of the board (`pool`)", high=1024)
    heads: Whole = whole(4, "heads of `attention`", high=256)
    planets: Whole = whole(
        0,
        "tokens, for planets and ships alone (`pool`), in `lost_fleet` at least 85; 0: one a cell",
        low=0,
        high=4096,
    )
    neighbourhood: StrictBool = option(
        False, "with `planets`: a token sees power and planets within 1, 2 and 3 cells"
    )
    score_features: StrictBool = option(
        False, "with `planets`: a player's token sees missions, income and VP on passing"
    )
    neighbors: StrictBool = option(True, "every layer adds the tokens of neighbouring cells")
    factored_head: StrictBool = option(
        False, "first the kind of action (its verb), then the action of that kind"
    )
    advantage_head: StrictBool = option(
        False, "with `planets`: estimates what each action changes in the value of every seat"
    )
    dtype: Literal["float32", "bfloat16"] = option(
        "float32", "type of activations; parameters, logits and values stay float32"
    )


@dataclass(frozen=True, config=STRICT)
class PPOConfig:
    """Proximal policy optimization, gamma 1."""

    num_envs: Whole = whole(256, "games played side by side", high=2**20)
    num_steps: Whole = whole(64, "decisions of each game between two updates", high=2**16)
    epochs: Whole = whole(2, "passes over the decisions of an update", high=1000)
    minibatches: Whole = whole(
        8, "minibatches of an epoch; each has as many decisions of each of its games", high=2**16
    )
    game_blocks: Whole = whole(
        1, "blocks that the games are split into; a minibatch is from one of them", high=2**16
    )
    lr: Number = number(1e-3, "learning rate at the first update", high=10)
    lr_end: End = end("learning rate after the last update, linear; null: constant", 10)
    gae_lambda: Number = number(0.95, "lambda of the advantages", low=0, high=1)
    clip: Number = number(0.2, "how far the ratio of the policies may leave 1")
    value_coef: Number = number(0.5, "weight of the values' squared error in the loss", low=0)
    entropy_coef: Number = number(0.01, "weight of the entropy at the first update", low=0)
    entropy_end: End = end("weight of the entropy after the last update, linear; null: constant")
    max_grad_norm: Number = number(0.5, "gradients are scaled down to this norm")
    reward_scale: Number = number(10.0, "the network's values are in rewards times this")
    normalize_advantage: StrictBool = option(
        True, "advantages of an update, before `keep_fraction`, get mean 0 and variance 1"
    )


@dataclass(frozen=True, config=STRICT)
class RecipeConfig:
    """Additions of this project to PPO (docs/lab/learning.md, docs/lab/studies.md)."""

    staggered_starts: Whole = whole(
        0,
        "games of a new run start staggered by up to this many decisions",
        low=0,
        high=2**20,
    )
    exploring_starts: Number = number(
        0.0, "share of the seats that begin with more than the set-up gives", low=0, high=1
    )
    keep_fraction: Number = number(
        1.0, "share of each game's decisions learnt from, those of largest advantage", high=1
    )
    ema_decay: Number = number(
        0.0, "decay a minibatch of the averaged parameters that are saved; 0: none", low=0, high=1
    )
    advantage_coef: Number = number(
        0.5, "weight of `network.advantage_head`'s squared error, summed over seats, in the loss",
        low=0,
    )  # fmt: skip
    advantage_share: Number = number(
        0.5, "share of that head's own estimate in the advantages; the rest is from rewards",
        low=0, high=1,
    )  # fmt: skip
    opponent_weight: Number = number(
        0.0, "share of the others' mean subtracted from each reward (`env.reward=vp`)",
        low=0, high=1,
    )  # fmt: skip


@dataclass(frozen=True, config=STRICT)
class RunConfig:
    """The length, start and outputs of a run."""

    updates: Whole = whole(100, "updates of the whole run")
    updates_per_chunk: Whole = whole(
        5, "updates of one compiled call; then logs, checkpoint, evaluation", high=10_000
    )
    max_minutes: Number = number(
        0.0, "minutes of this start after which no new chunk begins; 0: no limit", low=0
    )
    checkpoint_chunks: Whole = whole(1, "chunks between two checkpoints; the last one always saves")
    keep_checkpoints: Whole = whole(2, "number of the latest checkpoints that are kept")
    cpu_devices: Whole = whole(
        0, "devices that a CPU is split into; 0: one a core, as far as it pays", low=0, high=1024
    )
    warm_start: Text = option("", "parameters to begin with: zoo/NAME, a run, or an npz file")
    warm_start_temperature: Number = number(
        1.0, "its logits are divided by this; below 1: less random"
    )


@dataclass(frozen=True, config=STRICT)
class TrackConfig:
    """Where the curves of a run go, next to `metrics.jsonl`."""

    sink: Literal["none", "tensorboard", "wandb", "trackio"] = option(
        "tensorboard", "the program that shows the curves; `wandb` and `trackio` are packages"
    )


@dataclass(frozen=True, config=STRICT)
class HostsConfig:
    """Several processes; SLURM and Open MPI set these automatically. Not stored with a run."""

    coordinator: Text = option("", "HOST:PORT of process 0")
    processes: Whole = whole(
        0, "number of processes; 0: one, or the number of the cluster's job", low=0
    )
    process_id: Whole = whole(0, "number of this process, from 0", low=0)


@dataclass(frozen=True, config=STRICT)
class EvalConfig:
    """Games of the policy in one seat against one opponent in the others."""

    games: Whole = whole(
        400, "games at the end of training, rounded up to whole set-ups; 0: none", low=0, high=10**7
    )
    chunks: Whole = whole(0, "chunks between two evaluations while training; 0: none", low=0)
    chunk_games: Whole = whole(128, "games of each evaluation while training", high=10**7)
    opponents: Text = option("random", "agents, with commas between: an evaluation with each")
    seed: Whole = whole(0, "seed of the set-ups", low=0, high=LARGEST_SEED)
    likeliest: StrictBool = option(False, "play the most probable action instead of sampling")


@dataclass(frozen=True, config=STRICT)
class Config:
    """Everything that a run depends on. `config.yaml` in the run folder is this, resolved."""

    name: Text = option("run", "the run folder is runs/NAME")
    seed: Whole = whole(0, "random seed of the run", low=0, high=LARGEST_SEED)
    env: EnvConfig = EnvConfig()
    network: NetworkConfig = NetworkConfig()
    ppo: PPOConfig = PPOConfig()
    recipe: RecipeConfig = RecipeConfig()
    run: RunConfig = RunConfig()
    track: TrackConfig = TrackConfig()
    hosts: HostsConfig = HostsConfig()
    eval: EvalConfig = EvalConfig()


GROUPS: dict[str, type] = {
    "env": EnvConfig,
    "network": NetworkConfig,
    "ppo": PPOConfig,
    "recipe": RecipeConfig,
    "run": RunConfig,
    "track": TrackConfig,
    "hosts": HostsConfig,
    "eval": EvalConfig,
}

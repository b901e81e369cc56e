"""Games of an expert with the values of its candidates: a stream in a folder.

Observations are not kept: the same keys and actions play the same games again, and that costs less
than reading them.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from .. import config as configs
from ..config import Config
from ..networks import sampling
from ..networks.make import make_network
from ..system import cli, data_files, devices, environments, jobs
from ..system.batched import clear_end_marks
from ..system.data_files import TEXT, WHOLE
from ..system.devices import GAMES
from ..system.environments import has_short_turns, identity, is_solo, level_of
from ..system.jobs import shard_folder
from ..types import AutoEnvironment, AutoState, Environment, EnvState, PolicyNetwork
from .experts import SCRIPTED, Expert, make_expert

PART_GAMES = 64  # of a shard
STEPS = 64
ABOUT, STATES = "about.json", "states.npz"
KEYS = {"env": TEXT, "env_version": TEXT, "seed": WHOLE, "games": WHOLE}  # of the head
# The arrays of a chunk and their axes: decisions, games, and what one decision has.
ARRAYS = {"action": 2, "actions": 3, "values": 3, "reward": 3, "done": 2, "vp": 3,
          "player": 2}  # fmt: skip
# Of heads that were written before there was a choice.
DEFAULTS: dict[str, Any] = {
    "players": 4,
    "short_turns": False,
    "automa": "",
    "expert": SCRIPTED,
}
LABELS = 7  # folded into the seed
IS_HEAD = outputs.json_with("seed", "games")  # the mark of `about.json`


def start(auto: AutoEnvironment, seed: int, games: int, first: int = 0) -> Any:
    """The first states of a stream, or of its part from game `first` on, (N,)."""
    key = jax.random.fold_in(jax.random.key(seed), LABELS)
    return jax.vmap(auto.init)(jax.random.split(key, first + games)[first:])


def step_keys(seed: Array, clock: Array, first: Array, count: int) -> Array:
    """Keys of one step, for games `first` and on."""
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), LABELS + 1), clock)
    return jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(count))


def make_generator(
    auto: AutoEnvironment,
    env: Environment,
    network: PolicyNetwork | None,
    expert: Expert,
    mesh: Mesh,
    games: int,
    first_game: int = 0,
) -> Any:
    """(params, mix, seed, chunk, states) -> (states, labels), compiled; mix (N,) int8.

    params are the student's and the expert's. mix is the player of a game: 0 the expert, 1 the same
    sampling by its logits, 2 the student.

    Args:
        network: of the student; None: there is none.
    """
    local = games // mesh.size

    def decide(params: Any, mix: Array, state: EnvState, keys: Array) -> Any:
        student, weights = params
        actions, values = expert.candidates(weights, state, keys)
        uniform = jax.vmap(jax.random.uniform)(keys)
        column = sampling.sample(values, values > -1e8, uniform)
        by_chance = jnp.take_along_axis(actions, column[:, None], axis=1)[:, 0]
        action = jnp.where(mix == 1, by_chance, actions[:, 0])
        if network is not None:
            observation = jax.vmap(env.observe)(state, state.current_player)
            mask = state.legal_action_mask
            own = sampling.sample_action(network, student, observation, mask, uniform)
            action = jnp.where(mix == 2, own, action)
        return action, actions, values - values[:, :1]

    def run(params: Any, mix: Array, seed: Array, chunk: Array, states: EnvState) -> Any:
        first = first_game + jax.lax.axis_index(GAMES) * local

        def step(state: AutoState, t: Array) -> Any:
            keys = jax.vmap(jax.random.split)(step_keys(seed, chunk * STEPS + t, first, local))
            action, actions, values = decide(params, mix, clear_end_marks(state), keys[:, 0])
            player = state.current_player
            state = jax.vmap(auto.step)(state, action, keys[:, 1])
            return state, {
                "action": action.astype(jnp.int16),
                "actions": actions.astype(jnp.int16),
                "values": jnp.maximum(values, -1000.0).astype(jnp.float16),
                "reward": state.rewards.astype(jnp.float16),
                "done": state.terminated,
                "vp": state.final_vp,
                "player": player.astype(jnp.int8),
            }

        return jax.lax.scan(step, states, jnp.arange(STEPS))

    split = P(None, GAMES)
    mapped = jax.shard_map(
        run,
        mesh=mesh,
        in_specs=(P(), P(GAMES), P(), P(), P(GAMES)),
        out_specs=(P(GAMES), split),
        check_vma=False,
    )
    return jax.jit(mapped)


def game_and_network(config: Config) -> tuple[Any, Any, Any]:
    """The environment of a configuration, paid in VP, the same with auto-reset, and the network."""
    import gaia_jax

    env = environments.make_env(gaia_jax, **dataclasses.asdict(config.env) | {"reward": "vp"})
    return env, gaia_jax.auto_reset(env), make_network(env, config.network)


def identity_of(env: Environment) -> dict[str, Any]:
    """`identity` of the environment, whether its turns are short, the level of the Automa."""
    level = level_of(env) if is_solo(env) else ""
    return identity(env) | {"short_turns": has_short_turns(env), "automa": level}


def generate(out: Path, chunks: int, about: dict[str, Any], config_file: str) -> None:
    """Write the stream, chunk by chunk, from where the folder leaves off.

    Args:
        about: `seed`, `games`, `first`, `student`, `expert`: what makes the stream another one.
            `student` is an npz with parameters of a network, which plays most games; "": the expert
            alone. `expert` is as for `make_expert`; without it `greedy`.
        config_file: the configuration of the network.
    """
    config = configs.load(config_file)
    devices.split_cpu(0, about["games"])
    student = data_files.read_parameters(about["student"]) if about["student"] else None
    env, auto, network = game_and_network(config)
    seed, games, first = about["seed"], about["games"], about["first"]
    about = identity_of(env) | about
    check_begun(out, about)
    expert = make_expert(str((DEFAULTS | about)["expert"]), env)
    mesh = devices.make_mesh(games)
    states = jax.jit(lambda: start(auto, seed, games, first))()
    number = first + np.arange(games)
    mix = number % 2 if student is None else np.where(number % 4 == 0, 1, 2)
    done, states = begin(out, about, states)
    player = None if student is None else network
    run = make_generator(auto, env, player, expert, mesh, games, first)
    params = (student, expert.params)
    args = (params, jnp.int8(mix), jnp.int32(seed), jnp.int32(0), states)
    start_time = time.time()
    with cli.compiling("the games"):
        run = run.lower(*args).compile()
    for chunk in range(done, chunks):
        states, labels = run(params, jnp.int8(mix), jnp.int32(seed), jnp.int32(chunk), states)
        labels = jax.device_get(labels)
        store_chunk(out, chunk, labels, states)
        ended = labels["vp"][labels["done"]]
        mean = ended.mean() if len(ended) else float("nan")
        print(
            f"{chunk} {time.time() - start_time:.0f} s, {len(ended)} games, VP {mean:.1f}",
            flush=True,
        )


def generate_in_parts(
    out: Path, chunks: int, about: dict[str, Any], config_file: str, on: jobs.On
) -> None:
    """`generate` in parts of `PART_GAMES` games, the shards of `training.system.jobs`, then join.

    A part writes its stream into OUT.shards, which all workers must reach, and continues it there.

    Raises:
        UserError: `out` holds something already, or as of `jobs.compute`.
    """
    outputs.check_folder("--out", out)
    with shard_folder(out, about | {"chunks": chunks, "config": config_file}, True) as folder:
        shards, parts = list[jobs.Shard](), dict[Path, int]()  # the number of games by stream
        for start in range(0, about["games"], PART_GAMES):
            part = about | {"first": start, "games": min(PART_GAMES, about["games"] - start)}
            stream = folder / f"part-{start:09}"
            parts[stream] = part["games"]
            args = str(stream), chunks, part, config_file
            shards.append(jobs.Shard(folder / f"{start:09}", args))
        jobs.compute(generate_part, shards, on)
        with outputs.new_folder(out) as new:
            for name in (f"{chunk:04d}.npz" for chunk in range(chunks)):
                labels = [read_chunk(stream / name, games) for stream, games in parts.items()]
                joined = {key: np.concatenate([x[key] for x in labels], 1) for key in ARRAYS}
                data_files.write_arrays(new / name, joined)
            head = read_about(next(iter(parts))) | {"games": about["games"]}
            outputs.write_text(new / ABOUT, json.dumps(head) + "\n")
        shutil.rmtree(folder)


def generate_part(out: str, chunks: int, about: dict[str, Any], config_file: str) -> bytes:
    """`generate`, whose result is the folder; its shard is an empty mark."""
    generate(Path(out), chunks, about, config_file)
    return b""


def begin(out: Path, about: Mapping[str, object], states: EnvState) -> tuple[int, Any]:
    """Make the folder of a stream, or continue it.

    Args:
        states: the first ones.
    Returns:
        How many chunks there are, and the states after them.
    Raises:
        UserError: the folder holds another stream.
    """
    check_begun(out, about)
    out.mkdir(parents=True, exist_ok=True)
    if not (out / ABOUT).exists():
        outputs.write_text(out / ABOUT, json.dumps(about) + "\n")
    if not (out / STATES).exists():
        return 0, states
    leaves, form = jax.tree.flatten(states)
    names = [f"{i:04d}" for i in range(len(leaves))]
    arrays = data_files.read_arrays(out / STATES, "the states", [*names, "chunks"])
    if any(arrays[name].shape != x.shape for name, x in zip(names, leaves, strict=True)):
        raise UserError(f"{out / STATES} is of other games than {out / ABOUT}")
    placed = [jax.device_put(arrays[n], x.sharding) for n, x in zip(names, leaves, strict=True)]
    return int(arrays["chunks"]), jax.tree.unflatten(form, placed)


def read_about(folder: Path) -> dict[str, Any]:
    """The head of a stream.

    Raises:
        UserError: the folder has none.
    """
    try:
        about = data_files.read_object(folder / ABOUT, KEYS)
    except UserError as error:
        raise UserError(f"{folder} is no folder of labels: {error}") from error
    data_files.check_kind(f"{folder / ABOUT}: first", about.setdefault("first", 0), WHOLE)
    return DEFAULTS | about


def read_chunk(path: Path, games: int) -> dict[str, np.ndarray]:
    """A chunk of labels, (STEPS, games, ...) each.

    Raises:
        UserError: it is damaged, or of other games.
    """
    arrays = data_files.read_arrays(path, "the labels", tuple(ARRAYS))
    for name, x in arrays.items():
        if name not in ARRAYS or x.shape[:2] != (STEPS, games) or x.ndim != ARRAYS[name]:
            raise UserError(f"{path}: {name} is of shape {x.shape}, not ({STEPS}, {games} ...)")
        if x.dtype.kind not in "biuf":
            raise UserError(f"{path}: {name} is of {x.dtype}")
    return arrays


def check_begun(out: Path, about: Mapping[str, object]) -> None:
    """Check that a folder holds this stream, before anything is compiled.

    Raises:
        UserError: the folder holds another stream, or a damaged one.
    """
    if not out.exists() or not any(out.iterdir()):
        return
    stored = read_about(out)
    data_files.check_same(out, stored, {**DEFAULTS, **about})
    if (out / STATES).exists():
        data_files.read_arrays(out / STATES, "the states", ["chunks", "0000"])


def check_out(out: Path) -> None:
    """Refuse a folder that holds something else than a stream.

    Raises:
        UserError: it does, or cannot be written.
    """
    if (out / ABOUT).exists():
        outputs.check_file("--out", out / ABOUT, IS_HEAD, "name another folder")
    else:
        outputs.check_folder("--out", out)


def store_chunk(out: Path, chunk: int, labels: dict[str, np.ndarray], states: EnvState) -> None:
    """Write a chunk and the states after it, each whole or not at all."""
    data_files.write_arrays(out / f"{chunk:04d}.npz", labels)
    leaves = jax.device_get(jax.tree.leaves(states))
    named = {f"{i:04d}": leaf for i, leaf in enumerate(leaves)}
    data_files.write_arrays(out / STATES, named | {"chunks": np.int32(chunk + 1)})

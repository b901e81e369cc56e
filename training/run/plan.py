"""Plan a configuration: bytes from shapes, time from measurements; nothing is compiled."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.command_line import UserError, reason

from .. import config as configs
from ..config import Config
from ..learn import ppo
from ..learn.learner_state import make_init, sharding
from ..learn.trainer import Inputs
from ..networks.make import init_params
from ..system import data_files
from ..system.data_files import NUMBER, OBJECT, TEXT, WHOLE
from ..system.devices import make_mesh
from ..types import EnvModule, EnvState, NetworkInput, Params

SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
KEYS = {"config": OBJECT, "parts_s": OBJECT, "machine": OBJECT, "run": TEXT}  # of a report


class Shapes(NamedTuple):
    """Bytes of one of each, and work."""

    game: int  # a state with auto-reset
    seen: int  # inputs of the network at a decision
    numbers: int  # the same as float32
    params: int
    residuals: int  # arrays of the forward pass that the gradient of a decision keeps
    head: int  # output of the advantage head, 0 without one
    flops: float  # of the network, one decision


class MemoryPlan(NamedTuple):
    """Bytes of one device."""

    games: int  # states, before and after an update
    network: int  # parameters, and every copy of them
    optimizer: int
    rollout: int  # the decisions of an update
    learning: int  # gradient of a minibatch
    playing: int  # the step of all games, in the same place

    @property
    def total(self) -> int:
        """The most bytes at one time: games are played, or learnt from."""
        return sum(self) - min(self.learning, self.playing)


def shapes_of(config: Config, env_module: EnvModule) -> Shapes:
    """Traced, not compiled."""
    inputs = Inputs.of(config, env_module)
    auto, network = inputs.auto, inputs.network
    judge = ppo.Learner.of(auto, network, config, 1).outputs
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 2))
    state = jax.eval_shape(jax.vmap(auto.init), keys)

    def look(state: EnvState) -> Any:
        observation = jax.vmap(auto.observe)(state, state.current_player)
        return network.encode(observation, state.legal_action_mask)

    seen = jax.eval_shape(look, state)
    key = jax.eval_shape(lambda: jax.random.key(0))
    params = jax.eval_shape(lambda key: init_params(auto, network, key), key)

    def kept_input(params: Params, seen: NetworkInput) -> Any:
        return jax.vjp(lambda p: judge(p, seen), params)[1]

    residuals = _bytes(jax.eval_shape(kept_input, params, seen)) - _bytes(params)
    cost: Any = jax.jit(judge).lower(params, seen).cost_analysis() or {}
    return Shapes(
        game=_bytes(state) // 2,
        seen=_bytes(seen) // 2,
        numbers=sum(4 * math.prod(x.shape) for x in jax.tree.leaves(seen)) // 2,
        params=_bytes(params),
        residuals=max(residuals, 0) // 2,
        head=_bytes(jax.eval_shape(judge, params, seen)[2]) // 2,
        flops=float(cost.get("flops", 0.0)) / 2,
    )


def plan_of(config: Config, shapes: Shapes, devices: int) -> MemoryPlan:
    """The memory of each of `devices` devices.

    Raises:
        UserError: the games do not divide among them.
    """
    c = config.ppo
    if c.num_envs % (devices * c.game_blocks):
        blocks = f" with {c.game_blocks} blocks of games" * (c.game_blocks > 1)
        raise UserError(f"ppo.num_envs must be a multiple of the {devices} devices{blocks}")
    games = c.num_envs // devices
    copies = 1 + bool(config.recipe.ema_decay)
    minibatch = games * ppo.kept_steps(c, config.recipe) // c.minibatches
    # Forwards and backwards the input is there as numbers, and the way back holds values of its
    # own: a third of what it reads, as XLA's accounts of a small and a large network have it. So is
    # the output of an advantage head, and its gradient.
    gradient = shapes.residuals + shapes.residuals // 3 + 2 * shapes.numbers + 2 * shapes.head
    decision = shapes.seen + kept_of_a_decision(config.env.players, config.network.advantage_head)
    return MemoryPlan(
        games=2 * games * shapes.game,
        network=2 * copies * shapes.params,
        optimizer=2 * 2 * shapes.params,
        rollout=games * c.num_steps * decision,
        learning=minibatch * (decision + gradient) + 4 * shapes.params,
        playing=games * (shapes.game + shapes.residuals + shapes.head),
    )


def kept_of_a_decision(seats: int, has_head: bool = False) -> int:
    """Bytes of a decision in a rollout, without the network's input.

    Action, `has_choice`, log-probability, `done`, deciding seat; for each seat its number, value,
    reward, advantage and value target; with an advantage head its estimate and its target.
    """
    return 4 + 4 + 1 + 1 + 4 + seats * (1 + 4 + 4 + 4 + 4 + has_head * (4 + 4))


def _bytes(tree: object) -> int:
    def size(x: Array) -> int:
        count: int = math.prod(x.shape)
        extended = jnp.issubdtype(x.dtype, jax.dtypes.extended)
        return count * (8 if extended else np.dtype(x.dtype).itemsize)

    return sum(size(x) for x in jax.tree.leaves(tree))


def xla_account(config: Config, env_module: EnvModule) -> dict[str, int]:
    """Memory of the compiled training step on one local device, as reported by XLA."""
    _, _, auto, network, _ = Inputs.of(config, env_module)
    mesh = make_mesh(config.ppo.num_envs, config.ppo.game_blocks)
    init = jax.jit(make_init(auto, network, config, mesh), out_shardings=sharding(mesh))
    chunk = ppo.make_chunk(auto, network, config, mesh)
    analysis: Any = chunk.lower(init.eval_shape()).compile().memory_analysis()
    if analysis is None:
        raise UserError("--xla: XLA gives no account of its memory here")
    parts = {
        "arguments": analysis.argument_size_in_bytes,
        "results": analysis.output_size_in_bytes - analysis.alias_size_in_bytes,
        "temporary": analysis.temp_size_in_bytes,
    }
    return parts | {"total": sum(parts.values())}


class Pace(NamedTuple):
    """Microseconds of one device for one decision, measured with one network."""

    playing: float
    inference: float
    learning: float  # of a decision that is learnt from, once
    flops: float
    source: str  # device and run

    def seconds(self, config: Config, shapes: Shapes, devices: int) -> float:
        """Seconds of one update on `devices` devices of that kind."""
        c = config.ppo
        larger = shapes.flops / self.flops
        learnt = c.epochs * ppo.kept_steps(c, config.recipe) / c.num_steps
        single = self.playing + larger * (self.inference + learnt * self.learning)
        return single * 1e-6 * c.num_envs * c.num_steps / devices


def read_pace(path: Path, env_module: EnvModule) -> Pace:
    """From a report of `benchmarks.training --json`.

    Raises:
        UserError: it is not such a report, or it predates the stored configuration.
    """
    try:
        report = data_files.read_object(path, KEYS)
        config, parts = configs.from_dict(report["config"]), report["parts_s"]
        devices, c = report["machine"]["devices"], config.ppo
        data_files.check_kind("devices", devices, WHOLE)
        if devices < 1:
            raise ValueError("devices must be above 0")
        for name, seconds in parts.items():
            data_files.check_kind(name, seconds, NUMBER)
        microseconds = 1e6 * devices / (c.num_envs * c.num_steps)
        learnt = c.epochs * ppo.kept_steps(c, config.recipe) / c.num_steps
        return Pace(
            microseconds * parts["environment"],
            microseconds * parts["observation and inference"],
            microseconds * parts["learning"] / learnt,
            shapes_of(config, env_module).flops,
            f"{report['machine']['device']} x {devices}, {report['run']}",
        )
    except (ValueError, KeyError, TypeError, ZeroDivisionError, UserError) as error:
        problem = f"key {error} is missing" if isinstance(error, KeyError) else reason(error)
        raise UserError(f"{path} is no report of benchmarks.training --json: {problem}") from error


def fitting(config: Config, shapes: Shapes, devices: int, memory: int) -> list[str]:
    """Settings that would fit, each by itself: fewer games, more minibatches, fewer decisions."""
    c, factors = config.ppo, [2**n for n in range(1, 21)]
    games, parts = devices * c.game_blocks, c.minibatches // c.game_blocks
    values = {
        "num_envs": [c.num_envs // n for n in factors if c.num_envs % (n * games) == 0],
        "minibatches": [c.minibatches * n for n in factors if c.num_steps % (n * parts) == 0],
        "num_steps": [c.num_steps // n for n in factors if c.num_steps % (n * parts) == 0],
    }
    options = []
    for key in values:
        for value in values[key]:
            other = configs.override(config, [f"ppo.{key}={value}"])
            total = plan_of(other, shapes, devices).total
            if total <= memory:
                options.append(f"ppo.{key}={value} ({size_text(total)})")
                break
    return options


def size_text(count: float) -> str:
    """Bytes in GB, MB or KB."""
    for unit in ("GB", "MB", "KB"):
        if count >= SIZES[unit]:
            return f"{count / SIZES[unit]:,.1f} {unit}"
    return f"{count:.0f} B"


def report(config: Config, shapes: Shapes, devices: int) -> tuple[MemoryPlan, list[str]]:
    """The plan, and its lines."""
    plan, c = plan_of(config, shapes, devices), config.ppo
    games, kept_steps = c.num_envs // devices, ppo.kept_steps(c, config.recipe)
    rows = {
        "games": f"{games:,} of {size_text(shapes.game)}, before and after",
        "network": f"{shapes.params // 4:,} parameters and their copies",
        "optimizer": "Adam, before and after",
        "rollout": f"{c.num_steps * games:,} decisions of {size_text(shapes.seen)}",
        "learning": f"a minibatch of {games * kept_steps // c.minibatches:,} decisions, "
        f"{size_text(shapes.residuals)} of activations each",
        "playing": "one decision of all games",
    }
    head = f"{config.name}: {c.num_envs:,} games on {devices} device(s); of each device"
    lines = [
        f"  {key:<11}{size_text(value):>10}  {rows[key]}" for key, value in plan._asdict().items()
    ]
    return plan, [head, *lines, f"  {'sum':<11}{size_text(plan.total):>10}"]

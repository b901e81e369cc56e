"""What a configuration needs, before it starts: memory of a device, and time.

    python -m training.plan configs/gpu.yaml --devices 8 --memory 80GB
    python -m training.plan configs/quick.yaml --devices 2 --xla    # XLA's own account beside it

The bytes are counted from the shapes of the games, of what the network reads and of what its
gradient keeps; nothing is compiled. `--xla` compiles the training step for the devices that are
here and prints what XLA says it takes. What cannot fit is refused, with what would.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from training import config as configs
from training.config import Config, UserError
from training.learn import ppo
from training.learn.checkpoint import make_env
from training.learn.learner_state import make_init, sharding
from training.networks.layers import make_network
from training.system import cli, data_files
from training.system.cli import reason
from training.system.data_files import NUMBER, OBJECT, TEXT, WHOLE
from training.system.devices import make_mesh, split_cpu
from training.types import EnvModule, EnvState, NetworkInput, Params

SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
MEASURED = Path(__file__).with_name("plan_measured.json")


KEYS = {"config": OBJECT, "parts_s": OBJECT, "machine": OBJECT, "run": TEXT}  # of a report


class Shapes(NamedTuple):
    """Bytes of one of each, and work."""

    game: int  # a state with auto-reset
    seen: int  # what the network reads of a decision
    numbers: int  # the same as float32
    params: int
    residuals: int  # what the gradient of one decision keeps of the forward pass
    flops: float  # of the network, one decision


class Plan(NamedTuple):
    """Bytes of one device."""

    games: int  # states, before and after an update
    network: int  # parameters, and every copy of them
    optimizer: int
    rollout: int  # the decisions of an update
    learning: int  # gradient of a minibatch
    playing: int  # the step of all games, in the same place

    @property
    def total(self) -> int:
        """What there is at the same time: games are played, or learnt from."""
        return sum(self) - min(self.learning, self.playing)


def shapes_of(config: Config, env_module: EnvModule) -> Shapes:
    """Traced, not compiled."""
    env = make_env(env_module, config.env.id, config.env.reward, config.env.players)
    auto = env_module.auto_reset(env)
    network = make_network(env, config.network)
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 2))
    state = jax.eval_shape(jax.vmap(auto.init), keys)

    def look(state: EnvState) -> Any:
        observation = jax.vmap(auto.observe)(state, state.current_player)
        return observation, network.encode(observation, state.legal_action_mask)

    observation, seen = jax.eval_shape(look, state)
    params = jax.eval_shape(
        network.init,
        jax.eval_shape(lambda: jax.random.key(0)),
        observation,
        state.legal_action_mask,
    )

    def judge(params: Params, seen: NetworkInput) -> Any:
        return network.apply(params, seen, method="logits_and_values")

    def kept(params: Params, seen: NetworkInput) -> Any:
        return jax.vjp(lambda p: judge(p, seen), params)[1]

    residuals = _bytes(jax.eval_shape(kept, params, seen)) - _bytes(params)
    cost: Any = jax.jit(judge).lower(params, seen).cost_analysis() or {}
    return Shapes(
        game=_bytes(state) // 2,
        seen=_bytes(seen) // 2,
        numbers=sum(4 * math.prod(x.shape) for x in jax.tree.leaves(seen)) // 2,
        params=_bytes(params),
        residuals=max(residuals, 0) // 2,
        flops=float(cost.get("flops", 0.0)) / 2,
    )


def plan_of(config: Config, shapes: Shapes, devices: int) -> Plan:
    """The memory of one of so many devices.

    Raises:
        UserError: the games do not divide among them.
    """
    c = config.ppo
    if c.num_envs % devices:
        raise UserError(f"ppo.num_envs must be a multiple of the {devices} devices")
    games = c.num_envs // devices
    copies = 1 + bool(config.recipe.ema_decay)
    minibatch = games * ppo.kept_steps(c, config.recipe) // c.minibatches
    # Forwards and backwards the input is there as numbers, and the way back holds values of its
    # own: a third of what it reads, as XLA's accounts of a small and a large network have it.
    gradient = shapes.residuals + shapes.residuals // 3 + 2 * shapes.numbers
    decision = shapes.seen + kept_of_a_decision(config.env.players)
    return Plan(
        games=2 * games * shapes.game,
        network=2 * copies * shapes.params,
        optimizer=2 * 2 * shapes.params,
        rollout=games * c.num_steps * decision,
        learning=minibatch * (decision + gradient) + 4 * shapes.params,
        playing=games * (shapes.game + shapes.residuals),
    )


def kept_of_a_decision(seats: int) -> int:
    """Bytes in a rollout beside what the network read.

    The choice, whether there was one, its log-probability, the end, whose it is; and for each seat
    its number, value, reward, advantage and value target.
    """
    return 4 + 4 + 1 + 1 + 4 + seats * (1 + 4 + 4 + 4 + 4)


def _bytes(tree: Any) -> int:
    def size(x: Array) -> int:
        count: int = math.prod(x.shape)
        extended = jnp.issubdtype(x.dtype, jax.dtypes.extended)
        return count * (8 if extended else np.dtype(x.dtype).itemsize)

    return sum(size(x) for x in jax.tree.leaves(tree))


def xla_account(config: Config, env_module: EnvModule) -> dict[str, int]:
    """What XLA says that the compiled training step takes of one of the devices that are here."""
    env = make_env(env_module, config.env.id, config.env.reward, config.env.players)
    auto = env_module.auto_reset(env)
    network = make_network(env, config.network)
    mesh = make_mesh(config.ppo.num_envs)
    init = jax.jit(make_init(auto, network, config, mesh), out_shardings=sharding(mesh))
    chunk = ppo.make_chunk(auto, network, config, mesh)
    says: Any = chunk.lower(init.eval_shape()).compile().memory_analysis()
    if says is None:
        raise UserError("--xla: XLA gives no account of its memory here")
    parts = {
        "arguments": says.argument_size_in_bytes,
        "results": says.output_size_in_bytes - says.alias_size_in_bytes,
        "temporary": says.temp_size_in_bytes,
    }
    return parts | {"total": sum(parts.values())}


class Pace(NamedTuple):
    """Microseconds of one device for one decision, measured with one network."""

    playing: float
    inference: float
    learning: float  # of a decision that is learnt from, once
    flops: float
    where: str

    def seconds(self, config: Config, shapes: Shapes, devices: int) -> float:
        """Of one update, by so many devices of that kind."""
        c = config.ppo
        larger = shapes.flops / self.flops
        learnt = c.epochs * ppo.kept_steps(c, config.recipe) / c.num_steps
        one = self.playing + larger * (self.inference + learnt * self.learning)
        return one * 1e-6 * c.num_envs * c.num_steps / devices


def read_pace(path: Path, env_module: EnvModule) -> Pace:
    """From a report of `benchmarks.training --json`.

    Raises:
        UserError: it is none, or of before it held its configuration.
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
        one = 1e6 * devices / (c.num_envs * c.num_steps)
        learnt = c.epochs * ppo.kept_steps(c, config.recipe) / c.num_steps
        return Pace(
            one * parts["environment"],
            one * parts["observation and inference"],
            one * parts["learning"] / learnt,
            shapes_of(config, env_module).flops,
            f"{report['machine']['device']} x {devices}, {report['run']}",
        )
    except (ValueError, KeyError, TypeError, ZeroDivisionError, UserError) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else reason(error)
        raise UserError(f"{path} is no report of benchmarks.training --json: {said}") from error


def fitting(config: Config, shapes: Shapes, devices: int, memory: int) -> list[str]:
    """Settings that would fit, each by itself: fewer games, more minibatches, fewer decisions."""
    found = []
    for key, values in (
        ("num_envs", _halves(config.ppo.num_envs, devices)),
        ("minibatches", _doubles(config.ppo.minibatches, config.ppo.num_steps)),
        ("num_steps", _halves(config.ppo.num_steps, config.ppo.minibatches)),
    ):
        for value in values:
            other = configs.override(config, [f"ppo.{key}={value}"])
            total = plan_of(other, shapes, devices).total
            if total <= memory:
                found.append(f"ppo.{key}={value} ({shown(total)})")
                break
    return found


def _halves(value: int, unit: int) -> list[int]:
    """Smaller and smaller multiples of `unit`."""
    out = []
    while value % 2 == 0 and value // 2 >= unit and value // 2 % unit == 0:
        value //= 2
        out.append(value)
    return out


def _doubles(value: int, most: int) -> list[int]:
    """Larger and larger divisors of `most`."""
    out = []
    while value * 2 <= most and most % (value * 2) == 0:
        value *= 2
        out.append(value)
    return out


def size_of(text: str) -> int:
    """`80GB`, `16GiB`, bytes -> bytes."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", text, re.IGNORECASE)
    if not found or found[2].upper() not in SIZES:
        raise argparse.ArgumentTypeError("wants a size such as 80GB or 16GiB")
    return int(float(found[1]) * SIZES[found[2].upper()])


def shown(count: float) -> str:
    """Bytes as people read them."""
    for unit in ("GB", "MB", "KB"):
        if count >= SIZES[unit]:
            return f"{count / SIZES[unit]:,.1f} {unit}"
    return f"{count:.0f} B"


def report(config: Config, shapes: Shapes, devices: int) -> tuple[Plan, list[str]]:
    """The plan, and its lines."""
    plan, c = plan_of(config, shapes, devices), config.ppo
    games, kept = c.num_envs // devices, ppo.kept_steps(c, config.recipe)
    what = {
        "games": f"{games:,} of {shown(shapes.game)}, before and after",
        "network": f"{shapes.params // 4:,} parameters and their copies",
        "optimizer": "Adam, before and after",
        "rollout": f"{c.num_steps * games:,} decisions of {shown(shapes.seen)}",
        "learning": f"a minibatch of {games * kept // c.minibatches:,} decisions, "
        f"{shown(shapes.residuals)} of activations each",
        "playing": "one decision of all games",
    }
    head = f"{config.name}: {c.num_envs:,} games on {devices} device(s); of each device"
    lines = [f"  {key:<11}{shown(value):>10}  {what[key]}" for key, value in plan._asdict().items()]
    return plan, [head, *lines, f"  {'sum':<11}{shown(plan.total):>10}"]


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line. The exit code; 2 where the configuration does not fit."""
    args = _parse(argv)
    config = configs.load(args.config, args.overrides)
    if env_module is None:
        import gaia_jax

        env_module = gaia_jax
    if args.xla:
        split_cpu(args.devices, config.ppo.num_envs)
    pace = None
    if args.measured or MEASURED.exists():
        pace = read_pace(args.measured or MEASURED, env_module)
    shapes = shapes_of(config, env_module)
    plan, lines = report(config, shapes, args.devices)
    print("\n".join(lines))
    if args.xla:
        if jax.device_count() != args.devices:
            raise UserError(f"--xla: there are {jax.device_count()} devices here")
        with cli.compiling("the training step"):
            says = xla_account(config, env_module)
        told = ", ".join(f"{key} {shown(value)}" for key, value in says.items())
        print(f"XLA: {told}; the plan is {plan.total / says['total'] - 1:+.0%} of that")
    if pace is not None:
        seconds = pace.seconds(config, shapes, args.devices)
        decisions = config.ppo.num_envs * config.ppo.num_steps
        hours = seconds * config.run.updates / 3600
        print(
            f"{decisions / seconds:,.0f} decisions/s, an update in {seconds:.2f} s, "
            f"{config.run.updates:,} updates in {hours:,.1f} hours, without evaluations, "
            f"where a device is as fast as those measured: {pace.where}"
        )
    if args.memory and plan.total > args.memory:
        ways = " or ".join(fitting(config, shapes, args.devices, args.memory)) or "nothing smaller"
        raise UserError(
            f"it takes {shown(plan.total)} of each device, which has {shown(args.memory)}; "
            f"what would fit: {ways}"
        )
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.plan", __doc__)
    parser.add_argument("config", metavar="CONFIG", help="a YAML file")
    parser.add_argument(
        "--devices", type=cli.whole(1, 10**6), default=1, help="of all processes together"
    )
    parser.add_argument("--memory", type=size_of, help="of each device, e.g. 80GB")
    parser.add_argument("--xla", action="store_true", help="compile it here, and ask XLA")
    parser.add_argument(
        "--measured", metavar="FILE", type=Path,
        help="a report of `benchmarks.training --json`, of the device in question",
    )  # fmt: skip
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="e.g. ppo.num_envs=512")
    return parser.parse_intermixed_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))

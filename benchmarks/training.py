"""Where the time of training goes: decisions a second of PPO from end to end, and its parts.

    python -m benchmarks.training --config configs/quick.yaml ppo.num_envs=128 --json out.json

Three programs are timed in turn, round by round: random play of the environment alone, the rollout
of the trainer's network (observation, inference, sampling, environment), and the whole update. What
one takes longer than the one before is inference and observation, and learning.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

import gaia_jax
from benchmarks import measure
from gaia_jax.cli.command_line import UserError
from gaia_jax.testing import sample_legal
from training import config as configuration
from training.config import Config
from training.learn import ppo
from training.learn.learner_state import make_init, sharding
from training.networks import sampling
from training.networks.make import make_network
from training.system import devices


def main(argv: list[str] | None = None) -> int:
    args = _arguments(argv)
    try:
        config = configuration.load(args.config, args.overrides)
        devices.split_cpu(config.run.cpu_devices, config.ppo.num_envs)
        report = measure_training(config, args.rounds)
    except UserError as error:
        print(f"benchmarks.training: {error}", file=sys.stderr)
        return 2
    _print(report)
    measure.write_report(args.json, report)
    return 0


def measure_training(config: Config, rounds: int) -> dict[str, Any]:
    """Seconds of one update's worth of decisions in each of the three programs.

    Args:
        config: of the run; its chunk is cut to one update.
        rounds: how often each program runs; they take turns.
    """
    auto = gaia_jax.auto_reset(gaia_jax.make(config.env.id, config.env.reward))
    network = make_network(auto, config.network)
    games, steps = config.ppo.num_envs, config.ppo.num_steps
    one = configuration.override(config, ["run.updates_per_chunk=1"])
    mesh = devices.make_mesh(games)
    init = make_init(auto, network, one, mesh)
    runner = jax.jit(init, out_shardings=sharding(mesh))()
    share = games // mesh.size
    # The trainer donates nothing: the same runner can be handed in again.
    programs: dict[str, Callable[[], Any]] = {}
    compile_s: dict[str, float] = {}

    def add(name: str, function: Callable[..., Any], *operands: Any) -> None:
        start = time.perf_counter()
        ready = function if hasattr(function, "lower") else jax.jit(function)
        executable = ready.lower(*operands).compile()
        compile_s[name] = time.perf_counter() - start
        programs[name] = lambda: jax.block_until_ready(executable(*operands))

    def play(state: Any, choose: Callable[[Any, jax.Array], jax.Array]) -> Any:
        """One device's share of the games, as the trainer splits them."""
        key = jax.random.fold_in(jax.random.key(0), jax.lax.axis_index(devices.GAMES))

        def decide(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            draw, deal = jax.random.split(key)
            action = choose(state, jax.random.uniform(draw, (share,)))
            state = jax.vmap(auto.step)(state, action, jax.random.split(deal, share))
            return state, jnp.sum(state.rewards)[None]

        return jax.lax.scan(decide, state, jax.random.split(key, steps))

    def at_random(_: Any, state: Any, uniform: jax.Array) -> jax.Array:
        return jax.vmap(sample_legal)(state.legal_action_mask, uniform)

    def by_network(params: Any, state: Any, uniform: jax.Array) -> jax.Array:
        observation = jax.vmap(auto.observe)(state, state.current_player)
        seen = network.encode(observation, state.legal_action_mask)
        logits = network.apply(params, seen, method="logits_and_values")[0]
        return network.to_action(seen, sampling.sample(logits, seen.mask, uniform))

    def on_all(params: Any, state: Any, choose: Callable[..., jax.Array]) -> Any:
        return jax.shard_map(
            lambda params, state: play(state, partial(choose, params)),
            mesh=mesh,
            in_specs=(P(), P(devices.GAMES)),
            out_specs=(P(devices.GAMES), P(None, devices.GAMES)),
            check_vma=False,
        )(params, state)

    add("environment", partial(on_all, choose=at_random), runner.params, runner.env_state)
    add("rollout", partial(on_all, choose=by_network), runner.params, runner.env_state)
    add("update", ppo.make_chunk(auto, network, one, mesh), runner)
    for program in programs.values():
        program()
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            start = time.perf_counter()
            program()
            seconds[name].append(time.perf_counter() - start)
    median = {name: statistics.median(found) for name, found in seconds.items()}
    whole = median["update"]
    parts = {
        "environment": median["environment"],
        "observation and inference": median["rollout"] - median["environment"],
        "learning": whole - median["rollout"],
    }
    return {
        "machine": measure.machine(),
        "run": config.name,
        "config": configuration.to_dict(config),
        "games": games,
        "steps": steps,
        "epochs": config.ppo.epochs,
        "seconds": seconds,
        "compile_s": compile_s,
        "decisions_per_second": games * steps / whole,
        "parts_s": parts,
        "parts_share": {name: part / whole for name, part in parts.items()},
    }


def _print(report: dict[str, Any]) -> None:
    where = report["machine"]
    print(f"jax {where['jax']}, {where['device']} x {where['devices']}, {where['cpus']} CPU cores")
    print(
        f"{report['run']}: {report['games']} games x {report['steps']} decisions, "
        f"{report['epochs']} epochs: {report['decisions_per_second']:,.0f} decisions/s"
    )
    for name, share in report["parts_share"].items():
        print(f"{name:<28}{report['parts_s'][name]:>9.3f} s{share:>8.0%}")
    print("compile: " + ", ".join(f"{k} {v:.0f} s" for k, v in report["compile_s"].items()))


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--config", type=Path, default=Path("configs/quick.yaml"))
    parser.add_argument("--rounds", type=int, default=5)
    measure.add_report_flag(parser, "machine", "parts_s", "seconds")
    parser.add_argument("overrides", nargs="*", help="key=value, as for training.train")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

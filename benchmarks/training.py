"""Where the time of training goes: decisions a second of PPO from end to end, and its parts.

    python -m benchmarks.training --config configs/quick.yaml ppo.num_envs=128 --json out.json
    python -m benchmarks.training --config configs/long.yaml --baseline zoo/strong
    python -m benchmarks.training --config configs/wide.yaml --forms

Three programs are timed in turn, round by round: random play of the environment alone, the rollout
of the trainer's network (observation, inference, sampling, environment), and the whole update. What
one takes longer than the one before is inference and observation, and learning.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

import gaia_jax
from benchmarks import measure
from gaia_jax.cli.command_line import UserError
from gaia_jax.testing import sample_legal
from training import config as configuration
from training.agents.baseline import make_baseline_model
from training.config import Config
from training.learn import ppo
from training.learn.learner_state import make_init, sharding
from training.learn.trainer import Inputs
from training.networks import sampling
from training.system import devices


def main(argv: list[str] | None = None) -> int:
    args = _arguments(argv)
    try:
        config = configuration.load(args.config, args.overrides)
        devices.split_cpu(config.run.cpu_devices, config.ppo.num_envs)
        if args.forms:
            report, show = measure_forms(config, args.rounds), _print_forms
        elif args.baseline is None:
            report, show = measure_training(config, args.rounds), _print
        else:
            report = measure_baseline(config, args.baseline, args.rounds)
            show = _print_baseline
    except UserError as error:
        print(f"benchmarks.training: {error}", file=sys.stderr)
        return 2
    show(report)
    measure.write_report(args.json, report)
    return 0


class Programs:
    """Compiled programs of one configuration that are timed in turn, round by round."""

    def __init__(self, config: Config) -> None:
        self.config = configuration.override(config, ["run.updates_per_chunk=1"])
        inputs = Inputs.of(self.config, gaia_jax)
        self.auto, self.network = inputs.auto, inputs.network
        self.mesh = devices.make_mesh(config.ppo.num_envs, config.ppo.game_blocks)
        init = make_init(self.auto, self.network, self.config, self.mesh)
        # The trainer donates nothing: the same runner can be handed in again.
        self.runner = jax.jit(init, out_shardings=sharding(self.mesh))()
        self.compile_s: dict[str, float] = {}
        self._programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}

    def add(self, name: str, function: Callable[..., Any], *operands: Any) -> None:
        """Compile a program."""
        start = time.perf_counter()
        ready = function if hasattr(function, "lower") else jax.jit(function)
        executable = ready.lower(*operands).compile()
        self.compile_s[name] = time.perf_counter() - start
        self._programs[name] = executable, operands

    def add_play(
        self, name: str, params: Any, choose: Callable[[Any, Any, jax.Array], jax.Array]
    ) -> None:
        """A rollout of `choose(params, states, uniform)`: (B,) int32 actions of (B,) games."""
        on_all = jax.shard_map(
            lambda params, state: self._play(state, partial(choose, params)),
            mesh=self.mesh,
            in_specs=(P(), P(devices.GAMES)),
            out_specs=(P(devices.GAMES), P(None, devices.GAMES)),
            check_vma=False,
        )
        self.add(name, on_all, params, self.runner.env_state)

    def add_rollout(self) -> None:
        """The rollout of the trainer's network."""

        def by_network(params: Any, state: Any, uniform: jax.Array) -> jax.Array:
            observation = jax.vmap(self.auto.observe)(state, state.current_player)
            seen = self.network.encode(observation, state.legal_action_mask)
            logits = self.network.apply(params, seen, method="logits_and_values")[0]
            return self.network.to_action(seen, sampling.sample(logits, seen.mask, uniform))

        self.add_play("rollout", self.runner.params, by_network)

    def _play(self, state: Any, choose: Callable[[Any, jax.Array], jax.Array]) -> Any:
        """One device's share of the games, as the trainer splits them."""
        key = jax.random.fold_in(jax.random.key(0), jax.lax.axis_index(devices.GAMES))
        share = self.config.ppo.num_envs // self.mesh.size

        def decide(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            draw, deal = jax.random.split(key)
            action = choose(state, jax.random.uniform(draw, (share,)))
            state = jax.vmap(self.auto.step)(state, action, jax.random.split(deal, share))
            return state, jnp.sum(state.rewards)[None]

        return jax.lax.scan(decide, state, jax.random.split(key, self.config.ppo.num_steps))

    def seconds(self, rounds: int) -> dict[str, list[float]]:
        """Seconds of each program in each round."""
        return measure.time_programs(self._programs, rounds)

    def vp(self, decisions: int) -> dict[str, float]:
        """Mean VP per seat by source, of the games that end within `decisions` decisions of each.

        Empty where none ends.
        """
        (update, (runner,)), ended, sums = self._programs["update"], 0.0, 0.0
        for _ in range(-(-decisions // self.config.ppo.num_steps)):
            runner, metrics = update(runner)
            ended += float(metrics["games/ended"].sum())
            sums += np.asarray(metrics["behaviour"]["sources"], float).sum(0)
        names, seats = self.auto.ruleset.ids["vp_source"], self.auto.num_players * ended
        return dict(zip(names, (sums / seats).tolist(), strict=True)) if ended else {}


def measure_training(config: Config, rounds: int, decisions: int = 0) -> dict[str, Any]:
    """Seconds of one update's worth of decisions in each of the three programs.

    Args:
        config: of the run; its chunk is cut to one update.
        rounds: how often each program runs; they take turns.
        decisions: of each game that are played on afterwards for the report's "vp".
    """
    programs = Programs(config)

    def at_random(_: Any, state: Any, uniform: jax.Array) -> jax.Array:
        return jax.vmap(sample_legal)(state.legal_action_mask, uniform)

    programs.add_play("environment", programs.runner.params, at_random)
    programs.add_rollout()
    chunk = ppo.make_chunk(programs.auto, programs.network, programs.config, programs.mesh)
    programs.add("update", chunk, programs.runner)
    seconds = programs.seconds(rounds)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    update_s = median["update"]
    parts = {
        "environment": median["environment"],
        "observation and inference": median["rollout"] - median["environment"],
        "learning": update_s - median["rollout"],
    }
    return {
        **_head(programs, config),
        "seconds": seconds,
        "decisions_per_second": config.ppo.num_envs * config.ppo.num_steps / update_s,
        "parts_s": parts,
        "parts_share": {name: part / update_s for name, part in parts.items()},
        "vp": programs.vp(decisions),
    }


def measure_baseline(config: Config, name: str, rounds: int) -> dict[str, Any]:
    """Four baseline seats compared with a rollout of the network: same games, same sampler.

    Args:
        config: of the rollout; a fair one has the network of the baseline.
        name: of an agent, for `training.make_baseline_model`.
        rounds: how often each program runs; they take turns.
    Returns:
        a report; `ratio` is the baseline's decisions a second over the rollout's, round by round.
    """
    model = make_baseline_model(name, Inputs.of(config, gaia_jax).env)

    def by_baseline(params: Any, state: Any, uniform: jax.Array) -> jax.Array:
        logits, _ = model.apply(params, state)
        return sampling.sample(logits, state.legal_action_mask, uniform)

    programs = Programs(config)
    programs.add_rollout()
    programs.add_play("baseline", model.params, by_baseline)
    seconds = programs.seconds(rounds)
    decisions = config.ppo.num_envs * config.ppo.num_steps
    pairs = zip(seconds["rollout"], seconds["baseline"], strict=True)
    return {
        **_head(programs, config),
        "baseline": name,
        "seconds": seconds,
        "decisions_per_second": {
            part: measure.spread([decisions / x for x in times]) for part, times in seconds.items()
        },
        "ratio": measure.spread([rollout / baseline for rollout, baseline in pairs]),
    }


def measure_forms(config: Config, rounds: int) -> dict[str, Any]:
    """Decisions learnt a second with minibatches of a block of games, and of all games, in turn.

    Minibatches of all games are as many as `ppo.num_steps` allows, at most `ppo.minibatches`.
    """
    ppo_keys = config.ppo
    count = math.gcd(ppo_keys.minibatches, ppo_keys.num_steps)
    old = configuration.override(config, ["ppo.game_blocks=1", f"ppo.minibatches={count}"])
    forms = {"blocks of games": Programs(config), "all games": Programs(old)}
    for programs in forms.values():
        chunk = ppo.make_chunk(programs.auto, programs.network, programs.config, programs.mesh)
        programs.add("update", chunk, programs.runner)
    turns: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(rounds):
        for name, programs in forms.items():
            turns[name] += programs.seconds(1)["update"]
    decisions = ppo_keys.num_envs * ppo_keys.num_steps
    return {
        **_head(forms["blocks of games"], config),
        "seconds": turns,
        "decisions_per_second": {
            name: measure.spread([decisions / x for x in times]) for name, times in turns.items()
        },
    }


def _head(programs: Programs, config: Config) -> dict[str, Any]:
    return {
        "machine": measure.machine(),
        "run": config.name,
        "config": configuration.to_dict(config),
        "games": config.ppo.num_envs,
        "steps": config.ppo.num_steps,
        "epochs": config.ppo.epochs,
        "compile_s": programs.compile_s,
    }


def _print(report: dict[str, Any]) -> None:
    print(measure.machine_line(report["machine"]))
    print(
        f"{report['run']}: {report['games']} games x {report['steps']} decisions, "
        f"{report['epochs']} epochs: {report['decisions_per_second']:,.0f} decisions/s"
    )
    for name, share in report["parts_share"].items():
        print(f"{name:<28}{report['parts_s'][name]:>9.3f} s{share:>8.0%}")
    print("compile: " + ", ".join(f"{k} {v:.0f} s" for k, v in report["compile_s"].items()))


def _print_forms(report: dict[str, Any]) -> None:
    print(measure.machine_line(report["machine"]))
    for name, speed in report["decisions_per_second"].items():
        print(f"{name:<18}{measure.spread_text(speed, 0)} decisions/s, {report['games']} games")


def _print_baseline(report: dict[str, Any]) -> None:
    print(measure.machine_line(report["machine"]))
    for name, speed in report["decisions_per_second"].items():
        print(f"{name:<10}{measure.spread_text(speed, 0)} decisions/s, {report['games']} games")
    print(f"{report['baseline']} / rollout {measure.spread_text(report['ratio'], 3)}")


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = measure.command_parser("training", __doc__, "machine", "steps", "seconds")
    parser.add_argument("--config", type=Path, default=Path("configs/quick.yaml"))
    parser.add_argument("--rounds", type=int, default=5)
    text = "compare minibatches of a block of games with those of all games, in turn"
    parser.add_argument("--forms", action="store_true", help=text)
    parser.add_argument("--baseline", help="an agent, in place of random play and learning")
    parser.add_argument("overrides", nargs="*", help="key=value, as for training.train")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

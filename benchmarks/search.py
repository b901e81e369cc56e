"""What a decision by search costs, and where it goes.

    python -m benchmarks.search runs/quick --batch 64 --simulations 32 --k 32

Positions are reached by the agent's own policy. The parts are timed alone: the network with its
observation, the game's step, and the tree with a model that only copies; their sum is the whole up
to what the parts share. Rounds alternate and ratios are taken inside a round. Memory is XLA's own
account of the compiled search beside what `training.search.memory` says.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from training import cli
from training.agents import Agent, make_agent
from training.agents.search import SearchSpec, make_search
from training.config import UserError
from training.search import Model, RecurrentFnOutput, gumbel_search, memory

DECISIONS = 100  # by the policy, before the positions that are searched


def measure(env: Any, agent: Agent, batch: int, spec: SearchSpec, rounds: int) -> dict[str, Any]:
    """Times in milliseconds, (median, least, most) over the rounds, and bytes.

    Args:
        agent: one with a policy.
        batch: positions searched side by side.
    """
    policy = agent.policy
    assert policy is not None
    search, model = make_search(env, policy, spec)
    key = jax.random.key(0)
    state = _positions(env, agent, batch)
    root = jax.jit(model.root)(agent.params, state)
    action = jnp.argmax(root.legal_actions, axis=-1).astype(jnp.int32)
    options = spec.options(policy.vp)
    copies = _copying(model)

    def network(params: Any, state: Any) -> Any:
        return policy.evaluate(params, state)

    def game(state: Any, action: Array) -> Any:
        return jax.vmap(env.step)(state, action)

    def tree(root: Any) -> Array:
        return gumbel_search(
            root, key, root, copies.recurrent, spec.simulations, options
        ).candidates.visits

    def whole(params: Any, state: Any) -> Array:
        return search(params, state, key).action

    programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "network": (network, (agent.params, state)),
        "game": (game, (state, action)),
        "tree": (tree, (root,)),
        "whole": (whole, (agent.params, state)),
    }
    compiled = {name: jax.jit(f).lower(*args).compile() for name, (f, args) in programs.items()}
    times: dict[str, list[float]] = {name: [] for name in compiled}
    for turn in range(rounds + 1):  # the first one is not counted
        for name, run in compiled.items():
            began = time.perf_counter()
            jax.block_until_ready(run(*programs[name][1]))
            if turn:
                times[name].append(1000 * (time.perf_counter() - began))
    # Parts of one simulation are timed once: a search has so many.
    for name in ("network", "game"):
        times[name] = [spec.simulations * x for x in times[name]]
    account: Any = compiled["whole"].memory_analysis()
    shares = {
        name: statistics.median(x / y for x, y in zip(times[name], times["whole"], strict=True))
        for name in ("network", "game", "tree")
    }
    return {
        "batch": batch,
        "simulations": spec.simulations,
        "k": spec.k,
        "ms_a_decision": {
            name: [f(x) / batch for f in (statistics.median, min, max)] for name, x in times.items()
        },
        "share": shares,
        "said_bytes": memory(root, spec.simulations, options),
        "used_bytes": int(account.temp_size_in_bytes),
    }


def _positions(env: Any, agent: Agent, batch: int) -> Any:
    def decide(state: Any, key: Array) -> tuple[Any, None]:
        action = agent.act(agent.params, state, state.legal_action_mask, key)
        return jax.vmap(env.step)(state, action), None

    @jax.jit
    def play(key: Array) -> Any:
        state = jax.vmap(env.init)(jax.random.split(key, batch))
        return jax.lax.scan(decide, state, jax.random.split(key, DECISIONS))[0]

    return play(jax.random.key(1))


def _copying(model: Model) -> Model:
    """A model whose positions are the root again: what is left is the tree."""

    def recurrent(root: Any, key: Array, action: Array, state: Any) -> tuple[Any, Any]:
        # The action is read, so that nothing is known beforehand.
        small = 1e-3 * action[:, None]
        return RecurrentFnOutput(
            reward=jnp.zeros_like(root.value),
            discount=jnp.ones(action.shape, jnp.float32),
            prior_logits=root.prior_logits - small,
            value=root.value + small,
            to_play=root.to_play,
            legal_actions=root.legal_actions,
            terminal=jnp.zeros(action.shape, bool),
        ), jax.tree.map(lambda x: x + jnp.ones((), x.dtype), state)

    return model._replace(recurrent=recurrent)


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    lines = [
        f"batch {report['batch']}, {report['simulations']} simulations, K {report['k']}",
        f"{'part':<12}{'ms a decision (least to most)':>34}{'share':>8}",
    ]
    for name, (median, least, most) in report["ms_a_decision"].items():
        share = report["share"].get(name)
        text = "" if share is None else f"{share:8.0%}"
        lines.append(f"{name:<12}{median:14.2f} ({least:.2f} to {most:.2f}){'':4}{text}")
    said, used = report["said_bytes"], report["used_bytes"]
    lines.append(f"memory: said {said / 1e6:.1f} MB, used {used / 1e6:.1f} MB ({used / said:.2f})")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search", description=__doc__.split("\n")[0]
    )
    parser.add_argument("agent", help="one with a policy: a run or an agent of the zoo")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--simulations", type=int, default=32)
    parser.add_argument("--k", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    import gaia_jax

    env = gaia_jax.make("lost_fleet", reward="vp")
    agent = make_agent(args.agent, env)
    if agent.policy is None:
        raise UserError(f"agent {args.agent!r} has no policy with values")
    spec = SearchSpec(args.simulations, k=args.k)
    report = measure(env, agent, args.batch, spec, args.rounds)
    print(json.dumps(report) if args.json else table(report))
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))

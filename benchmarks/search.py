"""The time and memory of a decision by search, by part.

    python -m benchmarks.search zoo/strong --batch 64 --simulations 32

Positions are reached by the agent's own policy. The parts are timed alone: the network with its
observation, the game's step, and the tree with a model that only copies; their sum is the whole up
to what the parts share. Rounds alternate and ratios are taken inside a round. Memory is XLA's own
account of the compiled search, next to the estimate of the trees by `training.search.memory` and
XLA's account of one call of the model.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from benchmarks.measure import command_parser, time_programs
from gaia_jax.cli.command_line import UserError
from training.agents import Agent, make_agent
from training.agents.search import make_search, split_name
from training.search import Model, RecurrentFnOutput, gumbel_search, memory
from training.system import cli

DECISIONS = 100  # by the policy, before the positions that are searched

Programs = dict[str, tuple[Any, tuple[Any, ...]]]  # compiled, with its arguments


def measure(env: Any, agent: Agent, batch: int, spec: Any, rounds: int) -> dict[str, Any]:
    """Times in milliseconds, (median, least, most) over the rounds, and bytes.

    Args:
        agent: one with a policy.
        batch: positions searched side by side.
    """
    policy = agent.policy
    assert policy is not None
    search, model = make_search(env, policy, spec)
    options, key = spec.options(policy.vp), jax.random.key(0)
    copies = _copying(model)

    def tree(root: Any) -> Array:
        output = gumbel_search(root, key, root, copies.recurrent_fn, spec.simulations, options)
        return output.candidates.visits

    def decision(params: Any, state: Any) -> Array:
        return search(params, state, key).action

    programs = _parts(env, agent, batch)
    state = _positions(programs)
    root = jax.jit(model.root)(agent.params, state)
    programs["network"] = programs["network"][0], (agent.params, state)
    if options.rollouts and agent.policy and agent.policy.best_action:
        programs["network"] = _compiled(agent.policy.best_action, agent.params, state)
    programs["game"] = programs["game"][0], (state, jnp.argmax(root.legal_actions, axis=-1))
    programs["tree"] = _compiled(tree, root)
    programs["whole"] = _compiled(decision, agent.params, state)
    times = time_programs(programs, rounds)
    # Parts of one simulation are timed once: a search has many.
    for name in ("network", "game"):
        times[name] = [spec.simulations * x for x in times[name]]
    shares = {
        name: statistics.median(x / y for x, y in zip(times[name], times["whole"], strict=True))
        for name in ("network", "game", "tree")
    }
    model_call = model.rollout_fn if options.rollouts else model.recurrent_fn
    call = _compiled(model_call, agent.params, key, programs["game"][1][1], root.embedding)[0]
    return {
        "batch": batch,
        "simulations": spec.simulations,
        "k": spec.k,
        "ms_a_decision": {
            name: [1000 * f(x) / batch for f in (statistics.median, min, max)]
            for name, x in times.items()
        },
        "share": shares,
        "tree_bytes": memory(root, spec.simulations, options),
        "call_bytes": _scratch(call) + int(call.memory_analysis().output_size_in_bytes),
        "used_bytes": _scratch(programs["whole"][0]),
    }


def _compiled(function: Callable[..., Any], *args: Any) -> tuple[Any, tuple[Any, ...]]:
    return jax.jit(function).lower(*args).compile(), args


def _scratch(program: Any) -> int:
    return int(program.memory_analysis().temp_size_in_bytes)


def _parts(env: Any, agent: Agent, batch: int) -> Programs:
    """A batch of new games, the network and the game: positions are reached by what is timed."""
    assert agent.policy is not None
    keys = jax.random.split(jax.random.key(1), batch)
    start = _compiled(jax.vmap(env.init), keys)
    state = start[0](*start[1])
    action = jnp.zeros(batch, jnp.int32)
    return {
        "start": start,
        "network": _compiled(agent.policy.evaluate, agent.params, state),
        "game": _compiled(jax.vmap(env.step), state, action),
    }


def _positions(programs: Programs) -> Any:
    @jax.jit
    def draw(logits: Array, mask: Array, key: Array) -> Array:
        noise = jax.random.gumbel(key, logits.shape)
        return jnp.argmax(jnp.where(mask, logits + noise, -jnp.inf), axis=-1).astype(jnp.int32)

    start, keys = programs.pop("start")
    (network, (params, _)), (game, _) = programs["network"], programs["game"]
    state = start(*keys)
    for key in jax.random.split(jax.random.key(2), DECISIONS):
        logits, _ = network(params, state)
        state = game(state, draw(logits, state.legal_action_mask, key))
    return state


def _copying(model: Model) -> Model:
    """A model whose positions are the root again: what is left is the tree."""

    def recurrent_fn(root: Any, key: Array, action: Array, state: Any) -> tuple[Any, Any]:
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
            best_action=action,
        ), jax.tree.map(lambda x: x + jnp.ones((), x.dtype), state)

    return model._replace(recurrent_fn=recurrent_fn)


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    lines = [
        f"batch {report['batch']}, {report['simulations']} simulations, K {report['k']}",
        f"{'part':<12}{'ms a decision (min to max)':>34}{'share':>8}",
    ]
    for name, (median, least, maximum) in report["ms_a_decision"].items():
        share = report["share"].get(name)
        text = "" if share is None else f"{share:8.0%}"
        lines.append(f"{name:<12}{median:14.2f} ({least:.2f} to {maximum:.2f}){'':4}{text}")
    trees, call, used = (report[f"{name}_bytes"] / 1e6 for name in ("tree", "call", "used"))
    estimate = trees + call
    lines.append(
        f"memory: estimated {estimate:.1f} MB (trees {trees:.1f}, a call of the model {call:.1f}),"
        f" used {used:.1f} MB ({used / estimate:.2f})"
    )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code."""
    parser = command_parser("search", __doc__)
    parser.add_argument("agent", help="one with a policy: a run or an agent of the zoo")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--simulations", type=int, default=32)
    parser.add_argument("--options", default="form=tree:k=32", help="as after NAME+search:N:")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    import gaia_jax

    env = gaia_jax.make("lost_fleet", reward="vp")
    name, spec = split_name(f"{args.agent}+search:{args.simulations}:{args.options}")
    agent = make_agent(name, env)
    if agent.policy is None:
        raise UserError(f"agent {args.agent!r} has no policy with values")
    report = measure(env, agent, args.batch, spec, args.rounds)
    print(json.dumps(report) if args.json else table(report))
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))

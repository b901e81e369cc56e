"""How well an agent tells which of two likely moves is better (docs/lab/search.md).

    python -m tools.sibling_table zoo/strong runs/credit --positions 512 --json siblings.json

The first agent plays a game for each position and plays its likely moves to the end. Each agent's
estimate of the difference between a move and the likeliest one is correlated with the difference at
the end: by the value after the move, and by the advantage head where the network has one. Intervals
are 95 % bootstrap intervals over positions.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, wrote
from training.agents import Agent, make_agent, trained
from training.agents.base import LESS_OPPONENTS
from training.analysis.judge import policy_probabilities
from training.analysis.playouts import Candidates, Playouts
from training.networks import advantage_head
from training.system import cli
from training.system.batched import dealing, stepping
from training.system.environments import with_short_turns
from training.types import Environment, EnvState

FIRST, LAST = 8, 399  # decisions of a game at which a position is taken
LEAST_PRIOR, MOST = 0.003, 4  # probability and number of the moves of a position
SIBLINGS = 0x51B  # folded into the seed: no set-up of training or evaluation
RESAMPLES = 2000


class Siblings(NamedTuple):
    """R pairs of a move and the likeliest one of the same position, N positions."""

    position: np.ndarray  # (R,) index
    seat: np.ndarray  # (R,) who decides
    action: np.ndarray  # (R,)
    reference: np.ndarray  # (R,)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.sibling_table", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("agents", nargs="+", help="networks; the first one plays")
    parser.add_argument(
        "--positions", type=int, default=1024, help="games, at most a position each"
    )
    parser.add_argument("--playouts", type=int, default=1, help="of each move")
    parser.add_argument("--seed", type=int, default=88001)
    parser.add_argument("--env", default="lost_fleet")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    if args.json:
        outputs.check_file("--json", args.json, outputs.json_with("siblings"))
    import gaia_jax

    env: Any = with_short_turns(gaia_jax.make(args.env), True)
    player = make_agent(args.agents[0], env)
    states = positions(env, player, args.positions, args.seed)
    siblings = likely_pairs(player, states)
    ends = differences_at_the_end(env, player, states, siblings, args.playouts, args.seed)
    rows = []
    for name in args.agents:
        for title, estimate in estimates(name, env, states, siblings).items():
            low, high = interval(estimate, ends, siblings.position)
            rows.append({
                "agent": name, "estimate": title, "spread_vp": float(estimate.std()),
                "correlation": correlation(estimate, ends), "low": low, "high": high,
            })  # fmt: skip
    count = len(np.unique(siblings.position))
    print(f"{len(ends)} pairs of {count} positions, spread at the end {ends.std():.1f} VP")
    for row in rows:
        print(
            f"{row['agent']:<24}{row['estimate']:<24}{row['correlation']:>6.2f} "
            f"({row['low']:.2f} to {row['high']:.2f}), spread {row['spread_vp']:.1f} VP"
        )
    if args.json:
        report = {"siblings": rows, "pairs": len(ends), "positions": count, "seed": args.seed}
        outputs.write_json(args.json, report | {"spread_vp": float(ends.std())})
    wrote(args.json)
    return 0


def positions(env: Environment, agent: Agent, count: int, seed: int) -> EnvState:
    """(N,) states: the one of a random decision of each game; the last one of a shorter game."""
    key = jax.random.fold_in(jax.random.key(seed), SIBLINGS)
    deal_key, play_key, pick_key = jax.random.split(key, 3)
    chosen_numbers = jax.random.randint(pick_key, (count,), FIRST, LAST + 1)

    def decide(carry: tuple[Any, Any], number: Array) -> tuple[tuple[Any, Any], None]:
        state, snapshot = carry
        keys = jax.vmap(jax.random.fold_in, (None, 0))(
            jax.random.fold_in(play_key, number), jnp.arange(count)
        )
        draw: Any = keys if agent.by_game else keys[0]
        action = agent.act(agent.params, state, state.legal_action_mask, draw)
        over = state.terminated | state.truncated

        def select(old: Array, new: Array) -> Array:
            at = (number <= chosen_numbers) & ~over
            return jnp.where(at.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        return (stepping(env)(state, action), jax.tree.map(select, snapshot, state)), None

    @jax.jit
    def play() -> Any:
        state = dealing(env)(jax.random.split(deal_key, count))
        return jax.lax.scan(decide, (state, state), jnp.arange(LAST + 1))[0][1]

    with cli.compiling("the games of the positions"):
        return jax.device_get(play())


def likely_pairs(agent: Agent, states: EnvState) -> Siblings:
    """The likely moves of each position, each next to the likeliest one."""
    pairs = []
    probabilities, seats = policy_probabilities(agent, states), np.asarray(states.current_player)
    for position, row in enumerate(probabilities):
        order = np.argsort(-row, kind="stable")[:MOST]
        likely = order[row[order] >= LEAST_PRIOR]
        pairs += [(position, seats[position], action, likely[0]) for action in likely[1:]]
    return Siblings(*np.array(pairs, int).reshape(-1, 4).T)


def differences_at_the_end(
    env: Environment, agent: Agent, states: EnvState, siblings: Siblings, playouts: int, seed: int
) -> np.ndarray:
    """(R,) VP of the deciding seat at the end, move minus the likeliest, means of playouts."""
    rows = zip(siblings.position, siblings.action, siblings.reference, strict=True)
    samples = range(playouts)
    candidates = [Candidates(int(row), pair, samples) for row, *pair in rows]
    with cli.bar("playout", 2 * playouts * len(candidates)) as bar:
        ends = Playouts(env, agent).play_candidates(
            states, candidates, seed, lambda ended: bar.update(ended - bar.n)
        )
    vp = np.stack([end.vp.mean(1) for end in ends])
    own = np.take_along_axis(vp, siblings.seat[:, None, None], axis=-1)[..., 0]
    difference: np.ndarray = own[:, 0] - own[:, 1]
    return difference


def estimates(
    name: str, env: Environment, states: EnvState, siblings: Siblings
) -> dict[str, np.ndarray]:
    """(R,) VP by title, how much better each move is than the likeliest one by a network.

    Raises:
        UserError: the network's values are of a reward that no game pays.
    """
    agent, source = make_agent(name, env), trained(name, env)
    policy, rows, seat = agent.policy, np.arange(len(siblings.seat)), siblings.seat
    assert policy is not None
    if policy.reward == LESS_OPPONENTS:
        raise UserError(f"agent {name!r}: no game pays the reward of its values")
    paying: Any = dataclasses.replace(env, reward=policy.reward)  # type: ignore[type-var]
    at = jax.tree.map(lambda x: x[siblings.position], states)

    @jax.jit
    def after(action: Array) -> Array:
        state = stepping(paying)(at, action)
        values = policy.evaluate(agent.params, state)[1]
        left = jnp.where((state.terminated | state.truncated)[:, None], 0, values)
        return (state.rewards * policy.reward_scale + left)[rows, seat] / policy.vp

    moves = (siblings.action, siblings.reference)
    value = [np.asarray(after(jnp.asarray(action))) for action in moves]
    out = {"value after the move": value[0] - value[1]}
    if not source.network.config.advantage_head:
        return out

    @jax.jit
    def head(action: Array) -> Array:
        observation = jax.vmap(env.observe)(at, at.current_player)
        seen = source.network.encode(observation, at.legal_action_mask)
        by_action = advantage_head.outputs(source.network, source.params, seen)[2]
        choice = source.network.to_network_action(seen, action)
        return by_action[rows, 0, choice] / policy.vp

    advantage = [np.asarray(head(jnp.asarray(action))) for action in moves]
    return out | {"advantage head": advantage[0] - advantage[1]}


def correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's correlation; 0 where one of them does not vary."""
    if not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def interval(estimate: np.ndarray, ends: np.ndarray, position: np.ndarray) -> tuple[float, float]:
    """The 95 % bootstrap interval of the correlation, over positions."""
    rng, groups = np.random.default_rng(0), np.unique(position, return_inverse=True)[1]
    rows_of = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    drawn = []
    for _ in range(RESAMPLES):
        sample = rng.integers(0, len(rows_of), len(rows_of))
        rows = np.concatenate([rows_of[i] for i in sample])
        drawn.append(correlation(estimate[rows], ends[rows]))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


if __name__ == "__main__":
    sys.exit(cli.run(main))

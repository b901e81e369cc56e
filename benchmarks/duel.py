"""What mctx, unmodified, adds to an agent in the base game for two, which is zero-sum.

    python -m benchmarks.duel --agent zoo/duel --games 128 --simulations 16

The value of a position is what its mover expects to gain on the other player. mctx backs it up
with discount -1 where the mover changes, 1 where the same player decides again, 0 at the end.
Every set-up is played twice, with the seats exchanged; the two games are one sample.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import mctx
from jax import Array

import gaia_jax
from benchmarks.measure import command_parser
from gaia_jax.cli.command_line import UserError
from training.agents import Agent, make_agent
from training.agents.base import Policy
from training.games.engine import Match
from training.games.stats import estimate, wins
from training.games.table import rotated
from training.system import cli

ILLEGAL = -1e9


def recurrent(env: Any, policy: Policy) -> Any:
    """mctx's `recurrent_fn` over the game itself."""

    def lead(amounts: Array, player: Array) -> Array:
        """(B,) what the player has more than the other, of amounts (B, 2)."""
        own = jnp.take_along_axis(amounts, player[:, None], axis=-1)[:, 0]
        return 2 * own - amounts.sum(-1)

    def step(params: Any, _: Array, action: Array, state: Any) -> tuple[Any, Any]:
        mover, over = state.current_player, state.terminated | state.truncated
        after = jax.vmap(env.step)(state, action)
        ended = after.terminated | after.truncated
        logits, values = policy.evaluate(params, after)
        reward = lead(after.rewards * policy.reward_scale, mover)
        turns = jnp.where(after.current_player == mover, 1.0, -1.0)
        return mctx.RecurrentFnOutput(
            reward=jnp.where(over, 0.0, reward),
            discount=jnp.where(ended, 0.0, turns),
            prior_logits=jnp.where(after.legal_action_mask, logits, ILLEGAL),
            value=jnp.where(ended, 0.0, lead(values, after.current_player)),
        ), after

    def root(params: Any, state: Any, mask: Array) -> Any:
        logits, values = policy.evaluate(params, state)
        return mctx.RootFnOutput(
            prior_logits=jnp.where(mask, logits, ILLEGAL),
            value=lead(values, state.current_player),
            embedding=state,
        )

    return root, step


def search_agent(env: Any, base: Agent, simulations: int, considered: int, scale: float) -> Agent:
    """The agent with a search by mctx on top.

    Args:
        considered: actions that sequential halving begins with.
        scale: `value_scale` of mctx's transformation of values, which are in units of 10 VP.
    """
    assert base.policy is not None
    root, step = recurrent(env, base.policy)
    transform = partial(
        mctx.qtransform_completed_by_mix_value, value_scale=scale, rescale_values=False
    )

    def act(params: Any, state: Any, mask: Array, key: Array) -> Array:
        output = mctx.gumbel_muzero_policy(
            params=params,
            rng_key=key,
            root=root(params, state, mask),
            recurrent_fn=step,
            num_simulations=simulations,
            invalid_actions=~mask,
            max_num_considered_actions=considered,
            qtransform=transform,
            gumbel_scale=0.0,
        )
        action: Array = output.action
        return action.astype(jnp.int32)

    return Agent(f"{base.name} with mctx", act, base.params)


def compare(
    env: Any, agents: Sequence[Agent], games: int, seed: int, at_once: int
) -> dict[str, Any]:
    """The first agent against the second: VP, lead and wins, with 95 % intervals over set-ups."""
    match = Match(env, list(agents), rotated(2), -(-games // 2), at_once)
    started = time.time()
    results = match.play(seed)
    first = results.entry == 0
    vp, won = results.vp.astype(float), wins(results.vp)

    def of(values: Any, seats: Any) -> Any:
        return (values * seats).sum((1, 2)) / seats.sum((1, 2))

    return {
        "agents": [agent.name for agent in agents],
        "games": int(vp[..., 0].size),
        "seed": seed,
        "vp": estimate(of(vp, first))._asdict(),
        "others_vp": estimate(of(vp, ~first))._asdict(),
        "lead": estimate(of(vp, first) - of(vp, ~first))._asdict(),
        "wins": estimate(of(won, first), 0, 1)._asdict(),
        "decisions": float(results.decisions.mean()),
        "seconds": time.time() - started,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = command_parser("duel", __doc__)
    parser.add_argument("--agent", default="zoo/duel")
    parser.add_argument("--against", help="another agent; the same one without a search if missing")
    parser.add_argument("--games", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=16, help="0: no search")
    parser.add_argument("--considered", type=int, default=8)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--games-at-once", type=int, default=128)
    args = parser.parse_args(argv)
    env = gaia_jax.make("base", "vp", players=2)
    base = make_agent(args.agent, env, likeliest=True)
    if base.policy is None:
        raise UserError(f"{args.agent} has no policy to search with")
    first = base
    if args.simulations:
        first = search_agent(env, base, args.simulations, args.considered, args.scale)
    second = make_agent(args.against, env, likeliest=True) if args.against else base
    result = compare(env, (first, second), args.games, args.seed, args.games_at_once)
    print(json.dumps(result | {"simulations": args.simulations}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))

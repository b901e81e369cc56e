"""One position asked again and again: every candidate action played out many times."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax import replay
from gaia_jax.actions import to_text
from gaia_jax.cli.command_line import UserError
from gaia_jax.setup.setup_json import players_of

from ..agents import Agent, make_agent
from ..games.stats import wins
from ..stats.effects import Effect, intervals
from ..system import atomic_files, cli
from ..system.environments import make_env
from ..types import Environment, EnvModule, EnvState
from .playouts import Playouts, jobs_of

SHARES = (0.1, 0.5, 0.9)


class Outcomes(NamedTuple):
    """What came of K candidates, n playouts each, P players."""

    actions: np.ndarray  # (K,)
    policy: np.ndarray  # (K,) probability by the agent's policy; nan where it has none
    vp: np.ndarray  # (K, n, P) at the end
    seat: int  # whose decision it was
    sources: np.ndarray | None = None  # (K, n, P, S) VP by source

    def best(self) -> np.ndarray:
        """The candidates, those with the most VP for the decider first."""
        return np.argsort(-self.vp[:, :, self.seat].mean(1), kind="stable")

    def effects(self, texts: Sequence[str]) -> list[Effect]:
        """VP of the decider after each candidate, above the mean of all candidates.

        Args:
            texts: of all actions.
        """
        own = self.vp[:, :, self.seat].astype(float)
        count, playouts = own.shape
        deviations = own - own.mean(0)  # of one luck: candidates share their random numbers
        return intervals(
            [texts[a] for a in self.actions], deviations.mean(1),
            deviations.std(axis=1, ddof=1) / playouts**0.5, playouts, [playouts] * count,
        )  # fmt: skip


def probabilities(agent: Agent, states: EnvState) -> np.ndarray:
    """(N, A) what the policy of an agent plays in N positions; illegal actions 0."""
    assert agent.policy is not None
    logits = jax.jit(agent.policy.evaluate)(agent.params, states)[0]
    return np.asarray(jax.nn.softmax(jnp.where(states.legal_action_mask, logits, -jnp.inf)))


def candidates(
    agent: Agent, state: EnvState, limit: int, played: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """The most likely legal actions, or the first ones of an agent without a policy; (K,) each.

    Args:
        played: one that is among them; -1 for none.
    """
    legal = np.flatnonzero(np.asarray(state.legal_action_mask))
    chance = np.full(len(state.legal_action_mask), np.nan)
    likeliest = legal[:limit]
    if agent.policy is not None:
        batch: EnvState = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
        chance = probabilities(agent, batch)[0]
        likeliest = legal[np.argsort(-chance[legal], kind="stable")][:limit]
    if played >= 0 and played not in likeliest:
        likeliest = np.append(likeliest[: limit - 1], played)
    return likeliest, chance[likeliest]


def play_out(
    env: Environment,
    agent: Agent,
    state: EnvState,
    limit: int,
    playouts: int,
    seed: int = 0,
    played: int = -1,
) -> Outcomes:
    """Play each candidate of a position out, all seats by one agent.

    Args:
        state: one state, before the decision.
        limit: K at most.
        playouts: n, of each.
        played: a candidate at any rate; -1 for none.
    Raises:
        KeyboardInterrupt: Ctrl-C, before all of them had ended.
    """
    actions, policy = candidates(agent, state, limit, played)
    batch = jax.tree.map(lambda x: np.asarray(x)[None], state)
    ends = Playouts(env, agent).play(batch, jobs_of([actions], playouts), seed)
    if not ends.ended.all():  # what has not ended has 0 VP
        raise KeyboardInterrupt
    shape = (len(actions), playouts)
    return Outcomes(
        actions, policy, ends.vp.reshape(*shape, -1).astype(int), int(state.current_player),
        ends.sources.reshape(*shape, *ends.sources.shape[1:]).astype(int),
    )  # fmt: skip


def table(outcomes: Outcomes, texts: Sequence[str]) -> str:
    """The outcomes in lines, the best candidate first.

    Args:
        texts: of all actions.
    """
    lines = ["action                          policy  mean VP (95 %)         10 %  50 %  90 %  win"]
    own = outcomes.vp[:, :, outcomes.seat]
    won = wins(outcomes.vp)[:, :, outcomes.seat].mean(1)
    for k in outcomes.best():
        count = own.shape[1]
        half = 1.96 * own[k].std(ddof=1) / count**0.5 if count > 1 else float("nan")
        mean = own[k].mean()
        low, middle, high = np.quantile(own[k], SHARES)
        chance = outcomes.policy[k]
        probability = "     -" if np.isnan(chance) else f"{chance:6.3f}"
        lines.append(
            f"{texts[outcomes.actions[k]]:<32}{probability}  {mean:6.1f} ({mean - half:.1f} to "
            f"{mean + half:.1f})  {low:5.0f} {middle:5.0f} {high:5.0f}  {won[k]:.2f}"
        )
    return "\n".join(lines)


def main(args: argparse.Namespace, env_module: EnvModule) -> int:
    """`python -m training.study --position RECORD --at N`."""
    try:
        record = replay.read(args.position)
        env = make_env(env_module, record.ruleset, "vp", players_of(record.setup))
        if args.at > len(record.actions):
            raise UserError(f"{args.position} has {len(record.actions)} decisions, not {args.at}")
        for number, reached in enumerate(replay.states(record)):
            state = reached
            if number == args.at - 1:
                break
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    except ValueError as error:  # of a set-up that names no players
        raise UserError(f"{args.position}: {error}") from error
    agent = make_agent(args.agent, env)
    outcomes = play_out(env, agent, state, args.candidates, args.playouts, args.seed)
    texts = [to_text(env.ruleset, action) for action in range(env.num_actions)]
    print(f"decision {args.at}, player {outcomes.seat}, played: {record.actions[args.at - 1]}")
    print(table(outcomes, texts))
    if args.json:
        report = {
            "record": str(args.position), "at": args.at, "agent": args.agent, "seat": outcomes.seat,
            "actions": [texts[a] for a in outcomes.actions],
            "policy": [None if np.isnan(p) else float(p) for p in outcomes.policy],
            "vp": outcomes.vp.tolist(),
        }  # fmt: skip
        atomic_files.write_text(args.json, json.dumps(report, indent=1) + "\n")
    cli.wrote(args.json)
    return 0

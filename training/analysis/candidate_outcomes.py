"""Play out the candidate actions of one position; their results at the end of the game."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from gaia_jax.actions import to_text
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, wrote

from ..agents import Agent, make_agent
from ..games.stats import wins
from ..types import Environment, EnvModule, EnvState
from .judge import policy_probabilities
from .playouts import Candidates, Playouts
from .recorded_game import read_game
from .report_table import ReportTable

QUANTILES = (0.1, 0.5, 0.9)


class Outcomes(NamedTuple):
    """Results of K candidates, n playouts each, P players."""

    actions: np.ndarray  # (K,)
    probabilities: np.ndarray  # (K,) by the agent's policy; nan without a policy
    vp: np.ndarray  # (K, n, P) at the end
    seat: int  # whose decision it was
    sources: np.ndarray  # (K, n, P, S) VP by source

    def order_by_vp(self) -> np.ndarray:
        """(K,) the indices of the candidates, the one with the most VP for the decider first."""
        return np.argsort(-self.vp[:, :, self.seat].mean(1), kind="stable")


def choose_candidates(
    agent: Agent, state: EnvState, limit: int, played: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Choose K legal actions, the most likely ones; without a policy the first ones.

    Args:
        limit: K at most. played: an action to include; -1 for none.
    Returns:
        The actions (K,) and their probabilities (K,).
    """
    legal = np.flatnonzero(np.asarray(state.legal_action_mask))
    probabilities = np.full(len(state.legal_action_mask), np.nan)
    likely = legal[:limit]
    if agent.policy is not None:
        batch: EnvState = jax.tree.map(lambda x: np.asarray(x)[None], state)
        probabilities = policy_probabilities(agent, batch)[0]
        likely = legal[np.argsort(-probabilities[legal], kind="stable")][:limit]
    if played >= 0 and played not in likely:
        likely = np.append(likely[: limit - 1], played)
    return likely, probabilities[likely]


def play_out(
    env: Environment,
    agent: Agent,
    state: EnvState,
    limit: int,
    num_playouts: int,
    seed: int = 0,
    played: int = -1,
) -> Outcomes:
    """Play out each candidate of a position; one agent plays all seats.

    Args:
        state: one state, before the decision.
        limit: K at most.
        num_playouts: n, of each candidate.
        played: a candidate to include; -1 for none.
    Raises:
        KeyboardInterrupt: Ctrl-C before all playouts ended.
    """
    actions, probabilities = choose_candidates(agent, state, limit, played)
    batch: EnvState = jax.tree.map(lambda x: np.asarray(x)[None], state)
    candidates = [Candidates(0, actions, range(num_playouts))]
    (ends,) = Playouts(env, agent).play_candidates(batch, candidates, seed)
    if not ends.ended.all():  # an unfinished playout has 0 VP
        raise KeyboardInterrupt
    seat = int(np.asarray(state.current_player))
    return Outcomes(actions, probabilities, ends.vp, seat, ends.sources)


def outcome_table(outcomes: Outcomes, texts: Sequence[str]) -> str:
    """The outcomes in lines, the best candidate first.

    Args:
        texts: of all actions.
    """
    own = outcomes.vp[:, :, outcomes.seat]
    win_rate = wins(outcomes.vp)[:, :, outcomes.seat].mean(1)
    rows = []
    for k in outcomes.order_by_vp():
        count, mean = own.shape[1], own[k].mean()
        half = 1.96 * own[k].std(ddof=1) / count**0.5 if count > 1 else float("nan")
        chance = outcomes.probabilities[k]
        probability = "-" if np.isnan(chance) else f"{chance:.3f}"
        quantiles = (f"{x:.0f}" for x in np.quantile(own[k], QUANTILES))
        interval = f"{mean:.1f} ({mean - half:.1f} to {mean + half:.1f})"
        rows.append(
            [texts[outcomes.actions[k]], probability, interval, *quantiles, f"{win_rate[k]:.2f}"]
        )
    head = (
        "action",
        "policy",
        "mean VP (95 %)",
        *(f"{quantile:.0%}" for quantile in QUANTILES),
        "win",
    )
    return "\n".join(ReportTable(head, rows).text())


def main(args: argparse.Namespace, env_module: EnvModule) -> int:
    """`python -m training.study --position RECORD --at N`."""
    game = read_game(args.position, args.at, env_module)
    if args.at > len(game.actions):
        raise UserError(f"{args.position} has {len(game.actions)} decisions, not {args.at}")
    env, state = game.env, game.states[args.at - 1]
    agent = make_agent(args.agent, env)
    outcomes = play_out(env, agent, state, args.candidates, args.playouts, args.seed)
    texts = [to_text(env.ruleset, action) for action in range(env.num_actions)]
    print(f"decision {args.at}, player {outcomes.seat}, played: {texts[game.actions[args.at - 1]]}")
    print(outcome_table(outcomes, texts))
    if args.json:
        report = {
            "record": str(args.position), "at": args.at, "agent": args.agent, "seat": outcomes.seat,
            "actions": [texts[a] for a in outcomes.actions],
            "policy": [None if np.isnan(p) else float(p) for p in outcomes.probabilities],
            "vp": outcomes.vp.tolist(),
        }  # fmt: skip
        outputs.write_text(args.json, json.dumps(report, indent=1) + "\n")
    wrote(args.json)
    return 0

"""How often agents rank the moves of people first, by kind of decision, compared with chance.

    python -m tools.people_moves zoo/base,zoo/strong LOG...

A LOG is a file that `gaia_jax.importers.boardgamers` reads. In games for four that it can play,
every decision with more than one legal action counts. `docs/lab/learning.md` has the results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import gaia_jax
from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.cli.command_line import UserError
from gaia_jax.importers import boardgamers
from training.agents import Agent, make_agent
from training.system import cli
from training.system.batched import stacked

BATCH = 128  # decisions of one call of the network


class Choice(NamedTuple):
    """A decision of a person with more than one legal action."""

    kind: str  # the verb of the action that was played
    action: int
    state: Any  # arrays without a leading axis


def choices(record: replay.Record) -> Iterable[Choice]:
    """The decisions of a game."""
    rules = gaia_jax.make(record.ruleset, players=len(record.setup["factions"])).ruleset
    for text, state in zip(record.actions, replay.states(record), strict=False):
        if np.count_nonzero(state.legal_action_mask) > 1:
            yield Choice(text.split(" ")[0], from_text(rules, text), jax.device_get(state))


def ranks(agent: Agent, decisions: Sequence[Choice]) -> np.ndarray:
    """(n,) how many legal actions the policy finds more likely than the one that was played."""
    if agent.policy is None:
        raise UserError(f"{agent.name} has no policy")
    evaluate, placements = jax.jit(agent.policy.evaluate), list[int]()
    for first in range(0, len(decisions), BATCH):
        part = list(decisions[first : first + BATCH])
        filled = [choice.state for choice in part] + [part[-1].state] * (BATCH - len(part))
        states = stacked(filled)
        logits = np.asarray(evaluate(agent.params, states)[0])
        logits = np.where(states.legal_action_mask, logits, -np.inf)
        placements += [
            int((row > row[choice.action]).sum()) for choice, row in zip(part, logits, strict=False)
        ]
    return np.array(placements)


def table(decisions: Sequence[Choice], rank: np.ndarray) -> list[str]:
    """A line for all decisions and for each kind, the most frequent first."""
    kinds = np.array([choice.kind for choice in decisions])
    legal = np.array([np.count_nonzero(choice.state.legal_action_mask) for choice in decisions])
    names, count = np.unique(kinds, return_counts=True)
    lines = []
    for name in ["all", *names[np.argsort(-count, kind="stable")]]:
        its = np.ones(len(decisions), bool) if name == "all" else kinds == name
        lines.append(
            f"{name:16} {its.sum():5}  legal {legal[its].mean():5.1f}"
            f"  top 1 {(rank[its] < 1).mean():.2f}  top 3 {(rank[its] < 3).mean():.2f}"
            f"  chance {(1 / legal[its]).mean():.2f}"
        )
    return lines


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.people_moves", __doc__)
    parser.add_argument("agents", help="names with commas between")
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG")
    args: argparse.Namespace = parser.parse_args()
    agents = [make_agent(name, gaia_jax.make("base")) for name in args.agents.split(",")]
    decisions = list[Choice]()
    for log in (log for path in args.logs for log in boardgamers.read(path)):
        try:
            record = boardgamers.to_record(log).record
        except boardgamers.LogError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        if len(record.setup["factions"]) == 4:
            decisions += choices(record)
    if not decisions:
        raise UserError("no game of four people in these logs")
    for agent in agents:
        print("\n".join([agent.name, *table(decisions, ranks(agent, decisions))]))
    return 0


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

"""Explain moves by a search: its candidates at decisions of a recorded game, and expected VP.

The report has no losses: two values of a network differ as much by its error as by the move.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.actions import to_text
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from gaia_jax.rewards import VP_SCALE

from ..agents import make_agent
from ..agents.search import SHOWN, SUFFIX, make_search, split_name
from ..search import SearchOutput, Tree
from ..system.batched import concatenated, in_batches, stacked, take_rows
from ..types import Environment, EnvState, Params
from .recorded_game import Game
from .report_table import ReportTable

# Positions per batch, for a whole game and for one decision: a second size would compile for
# minutes again.
BATCH = 16
LINE_LENGTH = 6  # reported moves after a candidate
# The keys of a report on one decision, and on a game; a review also has the first two.
_IS_OWN = [outputs.json_with("record", "agent", part) for part in ("candidates", "choices")]


class SearchResults(NamedTuple):
    """Results of the search at n decisions."""

    output: SearchOutput  # (n, ...)
    final_vp: np.ndarray  # (n, P) expected at the end after the search's own move


def is_own_report(path: Path) -> bool:
    """Whether a file is a report of `training.explain`."""
    return any(is_own(path) for is_own in _IS_OWN)


def search_required_message(agent: str) -> str:
    """The error for an agent without a search."""
    return f"--agent requires a search, for example {agent}{SUFFIX}64"


class Explainer:
    """A search, compiled for one batch size."""

    def __init__(self, env: Environment, name: str, batch: int):
        """
        Args:
            name: of an agent with a search, `NAME+search:N`.
            batch: positions searched at once.
        Raises:
            UserError: a name without a search, or an unknown one.
        """
        base, spec = split_name(name)
        if spec is None:
            raise UserError(search_required_message(name))
        spec = dataclasses.replace(spec, form=spec.form or SHOWN)
        agent = make_agent(base, env)
        if agent.policy is None:
            make_agent(name, env)  # raises the error
        assert agent.policy is not None
        self.env, self.name, self.spec, self.policy = env, name, spec, agent.policy
        self._params, self._batch, self._searched = agent.params, batch, 0
        search, _ = make_search(env, agent.policy, spec)

        def run(params: Params, states: EnvState) -> SearchOutput:
            out = search(params, states, jax.random.key(0))
            tree = out.tree._replace(embedding=()) if out.tree is not None else None
            return out._replace(tree=tree)

        self._run = jax.jit(run)

    def status(self) -> str:
        """A line of progress."""
        if not self._searched:
            return f"compiling {self.name}"
        return f"{self._searched} positions searched"

    def search(self, states: EnvState) -> SearchResults:
        """Search n positions in batches; the last batch is padded.

        Args:
            states: leading axis n.
        """
        count, outputs = len(states.current_player), list[SearchOutput]()
        for batch in in_batches(states, self._batch):
            outputs.append(jax.device_get(self._run(self._params, batch)))
            self._searched = min(len(outputs) * self._batch, count)
        output = take_rows(concatenated(outputs), slice(count))
        vp = np.asarray(states.game.players.vp)
        return SearchResults(
            output, self.final_vp(vp, _chosen_values(output, _chosen_slot(output)))
        )

    def final_vp(self, vp: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Final VP (..., P) from VP and the network's values (..., P) of the remaining game.

        Args:
            vp: (..., P), of a solo game (..., 2).
        """
        remaining = value * VP_SCALE / self.policy.reward_scale
        own = vp[..., : value.shape[-1]]
        return np.asarray(own + remaining if self.policy.reward == "vp" else remaining, np.float64)


def _chosen_slot(output: SearchOutput) -> np.ndarray:
    """(n,) the index of the candidate that the search chooses."""
    candidates = output.candidates
    own = candidates.valid & (candidates.action == output.action[:, None])
    slot: np.ndarray = np.argmax(np.asarray(own), axis=-1)
    return slot


def _chosen_values(output: SearchOutput, slot: np.ndarray) -> np.ndarray:
    """(n, P) the values of the move that the search chooses, or of the root if it was not visited.

    The values of the root are means over all tried actions, which are lower than those of the
    chosen move if the same player moves again.
    """
    rows = np.arange(len(slot))
    visited = np.asarray(output.candidates.visits)[rows, slot] > 0
    values = np.asarray(output.candidates.values)[rows, slot]
    return np.where(visited[:, None], values, np.asarray(output.value))


def report_decision(
    game: Game, searched: SearchResults, row: int, number: int, explainer: Explainer
) -> dict[str, Any]:
    """A report of one decision, JSON values.

    Args:
        row: its row in `searched`. number: from 1.
    """
    state, rules = game.states[number - 1], game.env.ruleset
    factions = [rules.ids["faction"][i] for i in np.asarray(state.game.setup.faction)]
    vp, played = np.asarray(state.game.players.vp), game.actions[number - 1]
    out = jax.tree.map(lambda x: np.asarray(x)[row], searched.output)
    candidates = out.candidates
    table = []
    for slot in np.argsort(-candidates.visits, kind="stable"):
        if not candidates.visits[slot]:
            continue
        action = int(candidates.action[slot])
        final = explainer.final_vp(vp, candidates.values[slot])
        table.append(
            {
                "action": to_text(rules, action),
                "prior": round(float(candidates.prior[slot]), 4),
                "visits": int(candidates.visits[slot]),
                "final_vp": np.round(final, 1).tolist(),
                "line": _line(out.tree, int(slot), game, factions) if out.tree else [],
                "played": action == played,
                "best": action == int(out.action),
            }
        )
    player = int(state.current_player)
    return {
        "decision": number,
        "of": len(game.actions),
        "round": int(state.game.turn.round),
        "player": player,
        "factions": factions,
        "vp": vp.tolist(),
        "options": int(np.asarray(state.legal_action_mask).sum()),
        "played": to_text(rules, played) if played >= 0 else None,
        "best": to_text(rules, int(out.action)),
        "final_vp": np.round(searched.final_vp[row], 1).tolist(),
        "candidates": table,
    }


def _line(tree: Tree, slot: int, game: Game, factions: list[str]) -> list[str]:
    """The most visited moves after a candidate, each with its faction."""
    line: list[str] = []
    node = int(tree.child[0, slot])
    while node > 0 and len(line) < LINE_LENGTH:
        visits, utility = tree.visits[node], tree.utility[node]
        if not visits.max():
            break
        best = int(np.lexsort((utility, visits))[-1])
        text = to_text(game.env.ruleset, int(tree.action[node, best]))
        line.append(f"{factions[int(tree.to_play[node])]}: {text}")
        node = int(tree.child[node, best])
    return line


def decision_text(report: dict[str, Any]) -> str:
    """One decision as text."""
    names = report["factions"]
    rows = [
        [
            ("*" if row["best"] else " ") + (">" if row["played"] else " ") + row["action"],
            _percent(row["prior"]), row["visits"], *(f"{x:.1f}" for x in row["final_vp"]),
        ]
        for row in report["candidates"]
    ]  # fmt: skip
    deciding = names[: len(report["final_vp"])]
    head, *table = ReportTable(("  candidate", "prior", "visits", *deciding), rows).text()
    lines = []
    for line, row in zip(table, report["candidates"], strict=True):
        lines.append(line)
        lines += [f"{'':6}then {'; '.join(row['line'])}"] if row["line"] else []
    return "\n".join(
        [
            f"decision {report['decision']} of {report['of']}, round {report['round']}:"
            f" {names[report['player']]} (player {report['player']}), {report['options']} options",
            "VP now: " + ", ".join(map("{} {}".format, names, report["vp"])),
            f"played: {report['played']}; the search plays: {report['best']}",
            "",
            f"{head}  (final VP)",
            *lines,
        ]
    )


def _percent(probability: float) -> str:
    """The probability of one of several actions, never shown as 100 % or 0 %."""
    if 0.0005 <= probability < 0.9995:
        return f"{probability:.1%}"
    return "<0.1%" if probability < 0.5 else ">99.9%"


def game_text(report: dict[str, Any]) -> str:
    """The decisions of a game as text, a line each."""
    names = report["factions"]
    rows = [
        [
            row["decision"], row["round"], names[row["player"]],
            *(f"{x:.1f}" for x in row["final_vp"]),
            row["played"] + ("" if row["best"] == row["played"] else f"; {row['best']}"),
        ]
        for row in report["choices"]
    ]  # fmt: skip
    deciding = names[: len(report["choices"][0]["final_vp"])]
    head = ("decision", "round", "player", *deciding, "played; the search's move where it differs")
    return "\n".join(
        [
            f"{report['looked_at']} of {report['decisions']} decisions had a choice;"
            f" {report['agreed']:.0%} were played as {report['agent']} would",
            "VP: expected at the end",
            "",
            *ReportTable(head, rows, (2, len(head) - 1)).text(),
        ]
    )


def explain_game(game: Game, explainer: Explainer) -> dict[str, Any]:
    """A report of every decision with a choice; UserError if there is none."""
    decisions = [
        i for i in range(len(game.actions)) if np.sum(game.states[i].legal_action_mask) > 1
    ]
    if not decisions:
        raise UserError("the record has no decision with a choice")
    searched = explainer.search(stacked(jax.device_get(game.states[i]) for i in decisions))
    rows = [
        report_decision(game, searched, row, i + 1, explainer) for row, i in enumerate(decisions)
    ]
    return {
        "agent": explainer.name,
        "factions": rows[0]["factions"],
        "decisions": len(game.actions),
        "looked_at": len(decisions),
        "agreed": float(np.mean([row["best"] == row["played"] for row in rows])),
        "choices": rows,
    }

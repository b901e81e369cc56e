"""Why a move: what a search would do at a decision of a recorded game, and the VP that it expects.

No move is said to cost anything: two values of a network differ by its error as much as by the
move.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

import gaia_jax
from gaia_jax import actions as action_index
from gaia_jax import replay
from gaia_jax.cli.command_line import UserError
from gaia_jax.setup.setup_json import players_of

from ..agents import make_agent
from ..agents.base import VP_SCALE
from ..agents.search import SHOWN, SUFFIX, make_search, split_name
from ..search import SearchOutput, Tree
from ..system import atomic_files
from ..system.environments import make_env
from ..types import Environment, EnvState, Params

# Positions searched side by side, of a whole game and of one decision alike: a second size would be
# a second compilation of minutes.
AT_ONCE = 16
LINE = 6  # moves of a line that are shown
OURS = atomic_files.json_with("record", "agent")  # the mark of a report


class Game(NamedTuple):
    """A record that has been played again; M decisions."""

    env: Any
    states: list[Any]  # M + 1, the position before each decision and the end
    actions: list[int]  # M; -1 where nothing has been played


class Searched(NamedTuple):
    """Results of the search at n decisions."""

    found: SearchOutput  # (n, ...)
    final_vp: np.ndarray  # (n, P) that it expects at the end with its own move


def read_game(path: Path, first: int | None = None) -> Game:
    """Play a record again.

    Args:
        first: play this many decisions at most.
    Raises:
        UserError: the file cannot be read, or a move of it is illegal.
    """
    states: list[Any] = []
    try:
        record = replay.read(path)
        if first is not None:
            record = dataclasses.replace(record, actions=record.actions[:first], final_vp=())
        env = make_env(gaia_jax, record.ruleset, "vp", players_of(record.setup))
        replay.play(record, lambda _, state: states.append(state))
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    except ValueError as error:  # of a set-up that names no players
        raise UserError(f"{path}: {error}") from error
    start = replay.compiled(record.env())[0]
    first_state = start(replay.laid(record.setup, env.ruleset))
    indices = [action_index.from_text(env.ruleset, text) for text in record.actions]
    return Game(env, [first_state, *states], indices)


def has_search(agent: str) -> bool:
    """Whether the name of an agent, or of a level, is `NAME+search:N`."""
    return split_name(agent)[1] is not None


def wants_search(agent: str) -> str:
    """What to say of an agent without one."""
    return f"--agent wants a search: {agent}{SUFFIX}64, for example"


class Explainer:
    """A search, compiled for one batch size."""

    def __init__(self, env: Environment, name: str, batch: int):
        """
        Args:
            name: of an agent with a search, `NAME+search:N`.
            batch: positions side by side.
        Raises:
            UserError: a name without a search, or an unknown one.
        """
        base, spec = split_name(name)
        if spec is None:
            raise UserError(wants_search(name))
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

    def told(self) -> str:
        """A line of progress."""
        if not self._searched:
            return f"compiling {self.name}"
        return f"{self._searched} positions searched"

    def search(self, states: EnvState) -> Searched:
        """Search n positions in batches; the last batch is padded.

        Args:
            states: leading axis n.
        """
        count, size = len(states.current_player), self._batch
        parts = []
        for first in range(0, count, size):
            rows = np.minimum(np.arange(first, first + size), count - 1)
            batch = jax.tree.map(lambda x, r=rows: np.asarray(x)[r], states)
            parts.append(jax.device_get(self._run(self._params, batch)))
            self._searched = min(first + size, count)
        output: Any = jax.tree.map(lambda *x: np.concatenate(x)[:count], *parts)
        vp = np.asarray(states.game.players.vp)
        return Searched(output, self.final_vp(vp, _of_the_move(output, _slot(output))))

    def final_vp(self, vp: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Final VP from VP (..., P) and the network's values (..., P) of what is still to come."""
        to_come = value * VP_SCALE / self.policy.reward_scale
        return np.asarray(vp + to_come if self.policy.reward == "vp" else to_come, np.float64)


def _slot(output: SearchOutput) -> np.ndarray:
    """(n,) the candidate that is the search's own move."""
    candidates = output.candidates
    own = candidates.valid & (candidates.action == output.action[:, None])
    slot: np.ndarray = np.argmax(np.asarray(own), axis=-1)
    return slot


def _of_the_move(output: SearchOutput, slot: np.ndarray) -> np.ndarray:
    """(n, P) the values of the search's own move; the root's where that was not visited.

    The root's values are a mean over all tried actions. If the same player moves again, it is
    lower than what the player gets.
    """
    rows = np.arange(len(slot))
    visited = np.asarray(output.candidates.visits)[rows, slot] > 0
    values = np.asarray(output.candidates.values)[rows, slot]
    return np.where(visited[:, None], values, np.asarray(output.value))


def decision(
    game: Game, searched: Searched, row: int, number: int, explainer: Explainer
) -> dict[str, Any]:
    """Everything about one decision, plain values.

    Args:
        row: its row in `searched`. number: from 1.
    """
    state, rules = game.states[number - 1], game.env.ruleset
    factions = [rules.ids["faction"][i] for i in np.asarray(state.game.setup.faction)]
    vp, played = np.asarray(state.game.players.vp), game.actions[number - 1]
    out = jax.tree.map(lambda x: np.asarray(x)[row], searched.found)
    candidates = out.candidates
    table = []
    for slot in np.argsort(-candidates.visits, kind="stable"):
        if not candidates.visits[slot]:
            continue
        action = int(candidates.action[slot])
        final = explainer.final_vp(vp, candidates.values[slot])
        table.append(
            {
                "action": action_index.to_text(rules, action),
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
        "played": action_index.to_text(rules, played) if played >= 0 else None,
        "best": action_index.to_text(rules, int(out.action)),
        "final_vp": np.round(searched.final_vp[row], 1).tolist(),
        "candidates": table,
    }


def _line(tree: Tree, slot: int, game: Game, factions: list[str]) -> list[str]:
    """The most visited moves after a candidate, each with who makes it."""
    line: list[str] = []
    node = int(tree.child[0, slot])
    while node > 0 and len(line) < LINE:
        visits, utility = tree.visits[node], tree.utility[node]
        if not visits.max():
            break
        best = int(np.lexsort((utility, visits))[-1])
        text = action_index.to_text(game.env.ruleset, int(tree.action[node, best]))
        line.append(f"{factions[int(tree.to_play[node])]}: {text}")
        node = int(tree.child[node, best])
    return line


def decision_text(about: dict[str, Any]) -> str:
    """One decision as text."""
    faction = about["factions"][about["player"]]
    widths = [max(9, len(name)) for name in about["factions"]]
    lines = [
        f"decision {about['decision']} of {about['of']}, round {about['round']}: {faction}"
        f" (player {about['player']}), {about['options']} options",
        "VP now: " + ", ".join(map("{} {}".format, about["factions"], about["vp"])),
        f"played: {about['played']}; the search plays: {about['best']}",
        "",
        f"{'':2}{'candidate':<28}{'prior':>7}{'visits':>8}   final VP "
        + " ".join(f"{name:>{w}}" for name, w in zip(about["factions"], widths, strict=True)),
    ]
    for row in about["candidates"]:
        mark = ("*" if row["best"] else " ") + (">" if row["played"] else " ")
        values = " ".join(f"{x:{w}.1f}" for x, w in zip(row["final_vp"], widths, strict=True))
        lines.append(
            f"{mark}{row['action'][:27]:<28}{_percent(row['prior']):>7}{row['visits']:8}{'':12}{values}"
        )
        if row["line"]:
            lines.append(f"{'':6}then {'; '.join(row['line'])}")
    return "\n".join(lines)


def _percent(chance: float) -> str:
    """The probability of an action that is not the only one: neither 100 % nor 0 %."""
    return "<0.1%" if chance < 0.0005 else ">99.9%" if chance >= 0.9995 else f"{chance:.1%}"


def game_text(about: dict[str, Any]) -> str:
    """The decisions of a game as text, a line each."""
    names = about["factions"]
    widths = [max(6, len(name)) for name in names]
    lines = [
        f"{about['looked_at']} of {about['decisions']} decisions had a choice;"
        f" {about['agreed']:.0%} were played as {about['agent']} would",
        "VP: what it expects for each at the end",
        "",
        f"{'decision':>8}{'round':>7}  {'player':<16}"
        + " ".join(f"{name:>{w}}" for name, w in zip(names, widths, strict=True))
        + "  played; the search's move where it is another",
    ]
    for row in about["choices"]:
        values = " ".join(f"{x:{w}.1f}" for x, w in zip(row["final_vp"], widths, strict=True))
        other = "" if row["best"] == row["played"] else f"; {row['best']}"
        lines.append(
            f"{row['decision']:8}{row['round']:7}  {names[row['player']]:<16}{values}"
            f"  {row['played']}{other}"
        )
    return "\n".join(lines)


def explain_game(game: Game, explainer: Explainer) -> dict[str, Any]:
    """Every decision with a choice; a UserError where there is none."""
    choice = [i for i in range(len(game.actions)) if np.sum(game.states[i].legal_action_mask) > 1]
    if not choice:
        raise UserError("the record has no decision with a choice")
    states = jax.tree.map(lambda *x: np.stack(x), *(jax.device_get(game.states[i]) for i in choice))
    searched = explainer.search(states)
    rows = [decision(game, searched, row, i + 1, explainer) for row, i in enumerate(choice)]
    return {
        "agent": explainer.name,
        "factions": rows[0]["factions"],
        "decisions": len(game.actions),
        "looked_at": len(choice),
        "agreed": float(np.mean([row["best"] == row["played"] for row in rows])),
        "choices": rows,
    }

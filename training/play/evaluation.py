"""The evaluation of positions by an agent: policy, values, a search."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from gaia_jax.render.names import faction_name

from ..analysis import search_report
from ..analysis.recorded_game import Game as RecordedGame
from ..system.batched import one_row
from .agent_pool import AgentProgram
from .game import Game
from .languages import server_text

MAX_ACTIONS = 12  # of the policy, in a report


def evaluate(game: Game, id: int, agent: AgentProgram) -> dict[str, Any]:
    """An agent's evaluation of one position.

    Returns:
        `policy`: probability by action text at temperature 1, most likely first; `vp`: the
        expected final VP of each player.
    """
    node = game.node(id)
    cached: dict[str, Any] | None = node.analysis.get(agent.name)
    if cached is not None:
        return cached
    table = game.view(id)
    now = [seat.vp for seat in table.seats]
    if table.over or agent.policy is None:
        cached = {"policy": [], "vp": now}
    else:
        chances, to_come = agent.policy(node.state)
        order = np.argsort(-chances, kind="stable")
        texts = game.rules.env.ruleset.actions.texts
        mask = node.state.legal_action_mask
        policy = [(texts[i], round(float(chances[i]), 6)) for i in order if mask[i]]
        cached = {
            "policy": policy,
            "vp": [round(v + float(x), 1) for v, x in zip(now, to_come, strict=True)],
        }
    node.analysis[agent.name] = cached
    return cached


def near(game: Game, at: int) -> list[int]:
    """A position and its neighbours on the line: one point would draw no line."""
    line = game.line_of(at)
    position = line.index(at)
    return line[max(0, position - 1) : position + 2]


def searched(game: Game, id: int, name: str) -> dict[str, Any] | None:
    """The result of `search` at a position for the line in view; None before the search."""
    table: dict[str, Any] | None = game.node(id).analysis.get(f"{name} {game.played_at(id)}")
    return table and {**table, "candidates": [_row(game, id, row) for row in table["candidates"]]}


def _row(game: Game, id: int, row: dict[str, Any]) -> dict[str, Any]:
    """A candidate with its action and its line in words."""
    words = game.rules.action_words(row["action"], game.view(id))
    return {**row, "words": words, "line": [_move_words(game, move) for move in row["line"]]}


def search(game: Game, id: int, agent: AgentProgram) -> None:
    """Search one position, as `training.explain` does; then `searched` returns the table.

    Does nothing for an agent without a search, and without a choice.
    """
    node, explainer = game.node(id), agent.explainer
    legal = np.flatnonzero(node.state.legal_action_mask)
    if explainer is None or game.view(id).over or len(legal) < 2 or searched(game, id, agent.name):
        return
    path, following = game.path(id), game.played_at(id)
    actions = [*(game.nodes[other].action for other in path[1:]), following]
    env = game.rules.env
    so_far = RecordedGame(env, [game.nodes[i].state for i in path], actions)
    states = one_row(node.state)
    table = search_report.report_decision(so_far, explainer.search(states), 0, len(path), explainer)
    node.analysis[f"{agent.name} {following}"] = table


def _move_words(game: Game, move: str) -> str:
    """A move of a line, `FACTION: action text`, in words."""
    player, text = move.split(": ", 1)
    names = {seat.faction.id: faction_name(seat.faction) for seat in game.view(0).seats}
    return f"{names[player]}: {game.rules.action_words(text)}"


def report(game: Game, at: int, agent: AgentProgram) -> dict[str, Any]:
    """The evaluations of a position and of its line, so far.

    Returns:
        `policy`: text, words and probability of the most likely actions, at temperature 1; `all`:
        the probability of every action; `vp`: the expected final VP of each player; `lines`: for
        each player the same at every position of the line, None before its evaluation.
    """
    current = evaluate(game, at, agent)
    seen = [game.nodes[id].analysis.get(agent.name) for id in game.line_of(at)]
    players = range(len(game.seats))
    lines = [[None if value is None else value["vp"][p] for value in seen] for p in players]
    to_words, table = game.rules.action_words, game.view(at)
    return {
        "policy": [
            (text, to_words(text, table), probability)
            for text, probability in current["policy"][:MAX_ACTIONS]
        ],
        "all": dict(current["policy"]),
        "vp": current["vp"],
        "lines": lines,
        "missing": sum(value is None for value in seen),
    }


def analyse(
    game: Game,
    at: int,
    agent: AgentProgram,
    searching: AgentProgram | None,
    lock: threading.RLock,
    whole_game: bool,
    search_now: bool,
) -> dict[str, Any]:
    """The `report` of a position, with the search of `searching`, or what is still compiling.

    Args:
        lock: of the game.
        whole_game: evaluate the whole line, not only the position and its neighbours.
        search_now: search the position unless it has been searched.
    """
    if agent.status != "ready":
        return {"waiting": agent.status_line(), "status": _job_status(agent)}
    if agent.policy is None:
        return {"waiting": server_text("no-policy", agent=agent.name), "status": "ready"}
    if search_now and searching and searching.status == "ready":
        search(game, at, searching)  # without the lock: it takes a second
    for id in game.line_of(at) if whole_game else near(game, at):
        with lock:
            if id < len(game.nodes):
                evaluate(game, id, agent)
    with lock:
        out = report(game, at, agent)
        table = searched(game, at, searching.name) if searching else None
    out |= {"searches": searching is not None, "search": table, "at": at, "status": "ready"}
    if searching and searching.status != "ready":
        out |= {"searching": searching.status_line(), "status": _job_status(searching)}
    return out


def _job_status(program: AgentProgram) -> str:
    """Whether pages have to ask again, as the status of a job."""
    return "running" if program.under_way else "ready"

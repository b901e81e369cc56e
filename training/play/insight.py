"""What an agent with a policy thinks of the positions of a game: policy, values, costly moves."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from gaia_jax.replay import Record
from training import explain
from training.play.bench import Ready
from training.play.game import Game

SHOWN = 12  # actions of the policy that are listed


def look(game: Game, id: int, agent: Ready) -> dict[str, Any]:
    """What the agent thinks of one position.

    Returns:
        `policy`: probability by action text, the likeliest first; `vp`: the VP that it expects of
        each player at the end.
    """
    node = game.node(id)
    found: dict[str, Any] | None = node.insight.get(agent.name)
    if found is not None:
        return found
    table = game.table(id)
    now = [seat.vp for seat in table.seats]
    if table.over or agent.look is None:
        found = {"policy": [], "vp": now}
    else:
        chances, to_come = agent.look(node.state)
        order = np.argsort(-chances, kind="stable")
        texts = game.rules.env.ruleset.actions.texts
        policy = [(texts[i], round(float(chances[i]), 4)) for i in order if chances[i] > 0]
        found = {
            "policy": policy,
            "vp": [round(v + float(x), 1) for v, x in zip(now, to_come, strict=True)],
        }
    node.insight[agent.name] = found
    return found


def search(game: Game, id: int, agent: Ready) -> dict[str, Any] | None:
    """The root table of a search at one position, as `training.explain` makes it.

    Returns:
        None for an agent without a search, and where there is nothing to decide.
    """
    node, explainer = game.node(id), agent.explainer
    legal = np.flatnonzero(node.state.legal_action_mask)
    if explainer is None or game.table(id).over or len(legal) < 2:
        return None
    path = game.path(id)
    following = game.line[game.line.index(id) + 1 :] if id in game.line else []
    played = game.nodes[following[0]].action if following else int(legal[0])
    actions = [*(game.nodes[other].action for other in path[1:]), played]
    rules = game.rules.env
    played_game = explain.Game(
        rules,
        Record.of(rules, game.setup, actions, ()),
        [game.nodes[i].state for i in path],
        actions,
    )
    states = jax.tree.map(lambda x: np.asarray(x)[None], node.state)
    looked = explainer.look(states, np.array([played], np.int32))
    found = explain.decision(played_game, looked, 0, len(path), explainer)
    if not following:  # nothing has been played here yet
        found["played"], found["cost"] = None, None
        for row in found["candidates"]:
            row["played"] = False
    return found


def report(game: Game, agent: Ready) -> dict[str, Any]:
    """The whole line in view, as far as it has been looked at, and the present position.

    Returns:
        `policy`: the likeliest actions here; `lines`: for each player the VP expected at every
        position of the line, None where it has not been looked at; `cost`: for each move of the
        line what it cost its player, and `rank`: where it stood in the policy.
    """
    here = look(game, game.now, agent)
    seen = [game.nodes[id].insight.get(agent.name) for id in game.line]
    players = range(len(game.seats))
    lines = [[None if one is None else one["vp"][p] for one in seen] for p in players]
    cost: list[float | None] = []
    rank: list[int | None] = []
    for k, id in enumerate(game.line[1:]):
        before, after = seen[k], seen[k + 1]
        if before is None or after is None:
            cost.append(None)
            rank.append(None)
            continue
        player = game.table(game.line[k]).player
        cost.append(round(before["vp"][player] - after["vp"][player], 1))
        texts = [text for text, _ in before["policy"]]
        rank.append(texts.index(game.nodes[id].text) + 1 if game.nodes[id].text in texts else None)
    return {
        "agent": agent.name,
        "policy": here["policy"][:SHOWN],
        "all": dict(here["policy"]),
        "lines": lines,
        "cost": cost,
        "rank": rank,
        "missing": sum(one is None for one in seen),
    }

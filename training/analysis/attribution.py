"""Why a move, in the game's words: what each candidate brings by source of VP, what it loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gaia_jax.actions import to_text
from gaia_jax.render import Table
from gaia_jax.render.names import VP_SOURCES, names, say, sources
from gaia_jax.ruleset import Ruleset

from ..agents import make_agent
from ..games.stats import wins
from .accuracy import paired
from .explain import Game
from .position import Outcomes, play_out

MOST = 6  # candidates
LEAST = 0.5  # VP of a source; smaller differences are not reported
MOST_SOURCES = 5  # sources of a candidate

Plain = dict[str, Any]  # an object of JSON


def ask(game: Game, number: int, agent: str, playouts: int, seed: int = 0) -> Plain:
    """Everything about one decision of a game.

    Args:
        number: of the decision, from 1.
        agent: who plays on, at all seats.
        playouts: of each candidate.
    """
    state, played = game.states[number - 1], game.actions[number - 1]
    outcomes = play_out(
        game.env, make_agent(agent, game.env), state, MOST, playouts, seed, played
    )  # fmt: skip
    return {"agent": agent, "playouts": playouts} | about(game, number, outcomes)


def about(game: Game, number: int, outcomes: Outcomes) -> Plain:
    """What the playouts of a decision say, plain values; the candidates, the best first."""
    state, rules = game.states[number - 1], game.env.ruleset
    assert outcomes.sources is not None
    seat, order = outcomes.seat, outcomes.best()
    own, won = outcomes.vp[:, :, seat], wins(outcomes.vp)[:, :, seat].mean(1)
    missions = Table(state, rules).final_missions
    parts, named = outcomes.sources[:, :, seat].mean(1), sources(missions)
    rows = []
    for k in order:
        action = int(outcomes.actions[k])
        loss = paired(own[order[0]], own[k])
        rows.append(
            {
                "action": to_text(rules, action),
                "words": say(rules, to_text(rules, action)),
                "policy": None
                if np.isnan(outcomes.policy[k])
                else round(float(outcomes.policy[k]), 3),
                "vp": round(float(own[k].mean()), 1),
                "win": round(float(won[k]), 2),
                "loss": [round(x, 1) for x in (loss.mean, loss.low, loss.high)],
                "by_source": by_source(rules, parts[k] - parts[order[0]], named),
                "played": action == game.actions[number - 1],
            }
        )
    top = np.argsort(-parts[order[0]], kind="stable")[:MOST_SOURCES]
    faction = rules.ids["faction"][int(np.asarray(state.game.setup.faction)[seat])]
    return {
        "decision": number,
        "of": len(game.actions),
        "round": int(state.game.turn.round),
        "player": seat,
        "faction": names(rules)["faction"][faction],
        "candidates": rows,
        "best_by_source": {
            named[rules.ids["vp_source"][i]]: round(float(parts[order[0], i]), 1) for i in top
        },
    }


def by_source(
    rules: Ruleset, vp_differences: np.ndarray, named: Mapping[str, str] = VP_SOURCES
) -> dict[str, float]:
    """The largest differences of VP by source, each by its name.

    Args:
        vp_differences: (S,) by `ids["vp_source"]`.
        named: the name of each id; of one game, they say which its final missions are.
    """
    largest = np.argsort(-np.abs(vp_differences), kind="stable")[:MOST_SOURCES]
    kinds = rules.ids["vp_source"]
    return {
        named[kinds[i]]: round(float(vp_differences[i]), 1)
        for i in largest
        if abs(vp_differences[i]) >= LEAST
    }


def text(report: Plain) -> str:
    """One decision in words."""
    time = f"round {report['round']}" if report["round"] else "set-up"
    best, *others = report["candidates"]
    lines = [
        f"decision {report['decision']} of {report['of']}, {time}: {report['faction']}"
        f" (player {report['player']}); {report['playouts']} games of {report['agent']}"
        " from here, each",
        f"best: {best['words']}{' (played)' * best['played']}: {best['vp']} VP at the end,"
        f" {100 * best['win']:.0f} % to win",
        "  most of it from " + _sources(report["best_by_source"], ""),
    ]
    for row in others:
        loss, low, high = row["loss"]
        sure = "" if low > 0 else ", may be as good"
        lines.append(
            f"{row['words']}{' (played)' * row['played']}: {loss} VP less ({low} to {high}),"
            f" {100 * row['win']:.0f} % to win{sure}"
        )
        if row["by_source"]:
            lines.append("  " + _sources(row["by_source"], "+"))
    return "\n".join(lines)


def _sources(by: dict[str, float], sign: str) -> str:
    return ", ".join(f"{name} {vp:{sign}.1f}" for name, vp in by.items())

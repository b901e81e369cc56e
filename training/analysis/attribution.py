"""Attribute the difference between candidate moves to sources of VP, by playouts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gaia_jax.actions import to_text
from gaia_jax.render import Table
from gaia_jax.render.names import names, say, sources
from gaia_jax.ruleset import Ruleset

from ..agents import make_agent
from ..games.stats import wins
from ..types import JsonObject
from .candidate_outcomes import Outcomes, play_out
from .judge import estimate_loss
from .recorded_game import Game

MAX_CANDIDATES = 6
MIN_VP = 0.5  # of a source; smaller differences are not reported
MAX_SOURCES = 5  # of a candidate


def attribute(game: Game, number: int, agent: str, num_playouts: int) -> JsonObject:
    """Play out the candidates of one decision of a game, and report the results.

    Args:
        number: of the decision, from 1.
        agent: plays all seats to the end.
        num_playouts: of each candidate.
    """
    state, played = game.states[number - 1], game.actions[number - 1]
    outcomes = play_out(
        game.env, make_agent(agent, game.env), state, MAX_CANDIDATES, num_playouts, played=played
    )
    return {"agent": agent, "playouts": num_playouts} | build_report(game, number, outcomes)


def build_report(game: Game, number: int, outcomes: Outcomes) -> JsonObject:
    """The outcomes of a decision as JSON values, the best candidate first.

    `loss` is relative to the best candidate. The same playouts choose that one and measure the
    loss, so it is biased upwards, unlike the loss of a review (`judge`).
    """
    state, rules = game.states[number - 1], game.env.ruleset
    seat, order = outcomes.seat, outcomes.order_by_vp()
    own, won = outcomes.vp[:, :, seat], wins(outcomes.vp)[:, :, seat].mean(1)
    missions = Table(state, rules).final_missions
    vp_by_source, source_names = outcomes.sources[:, :, seat].mean(1), sources(rules, missions)
    rows = []
    for k in order:
        action = int(outcomes.actions[k])
        loss, probability = estimate_loss(own[order[0]], own[k]), float(outcomes.probabilities[k])
        rows.append(
            {
                "action": to_text(rules, action),
                "words": say(rules, to_text(rules, action)),
                "policy": None if np.isnan(probability) else round(probability, 3),
                "vp": round(float(own[k].mean()), 1),
                "win": round(float(won[k]), 2),
                "loss": loss.rounded,
                "by_source": by_source(
                    rules, vp_by_source[k] - vp_by_source[order[0]], source_names
                ),
                "played": action == game.actions[number - 1],
            }
        )
    top = np.argsort(-vp_by_source[order[0]], kind="stable")[:MAX_SOURCES]
    faction = rules.ids["faction"][int(np.asarray(state.game.setup.faction)[seat])]
    return {
        "decision": number,
        "of": len(game.actions),
        "round": int(state.game.turn.round),
        "player": seat,
        "faction": names(rules)["faction"][faction],
        "candidates": rows,
        "best_by_source": {
            source_names[rules.ids["vp_source"][i]]: round(float(vp_by_source[order[0], i]), 1)
            for i in top
        },
    }


def by_source(
    rules: Ruleset, vp_differences: np.ndarray, source_names: Mapping[str, str]
) -> dict[str, float]:
    """The largest differences of VP by source, by the source's name.

    Args:
        vp_differences: (S,) by `ids["vp_source"]`.
        source_names: the name of each id; those of one game include its final missions.
    """
    kinds = rules.ids["vp_source"]
    return {
        source_names[kinds[i]]: round(float(vp_differences[i]), 1)
        for i in np.argsort(-np.abs(vp_differences), kind="stable")[:MAX_SOURCES]
        if abs(vp_differences[i]) >= MIN_VP
    }


def report_text(report: JsonObject) -> str:
    """A report as text."""
    time = f"round {report['round']}" if report["round"] else "set-up"
    best, *others = report["candidates"]
    lines = [
        f"decision {report['decision']} of {report['of']}, {time}: {report['faction']}"
        f" (player {report['player']}); {report['playouts']} games of {report['agent']}"
        " after each candidate",
        f"best: {best['words']}{' (played)' * best['played']}: {best['vp']} VP at the end,"
        f" {100 * best['win']:.0f} % to win",
        "  mostly from " + _sources(report["best_by_source"], ""),
    ]
    for row in others:
        loss, low, high = row["loss"]
        doubt = "" if low > 0 else ", may be as good"
        lines.append(
            f"{row['words']}{' (played)' * row['played']}: {loss} VP less ({low} to {high}),"
            f" {100 * row['win']:.0f} % to win{doubt}"
        )
        if row["by_source"]:
            lines.append("  " + _sources(row["by_source"], "+"))
    return "\n".join(lines)


def _sources(by: dict[str, float], sign: str) -> str:
    return ", ".join(f"{name} {vp:{sign}.1f}" for name, vp in by.items())

"""The report of a review: as JSON values with actions in words, as text, and as an HTML page.

The page is one file that loads no other. All are in the language in use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.env import State
from gaia_jax.language import with_minus
from gaia_jax.render import Table
from gaia_jax.render.names import names, say
from gaia_jax.replay import page as replay_page
from gaia_jax.ruleset import Ruleset

from ..stats import chart
from ..types import JsonObject
from .action_words import words_with_place
from .judge import GRADES, JudgedMove, Loss
from .recorded_game import Game, follow
from .report_table import ReportTable
from .report_texts import filled_page, interval, number, percent, phrase, report_texts, static
from .review import Review

PAGE_HEAD = "<!doctype html>\n<!-- a review of gaia_jax -->\n"
is_own_page = outputs.begins(PAGE_HEAD)
is_own_report = outputs.json_with("record", "agent", "seats", "moves", "judged")
NUM_COSTLIEST = 5  # moves of all seats, and of each seat
NUM_LINE_MOVES = 6  # moves that the text shows after the better one
NEIGHBOURS = 2  # judged moves on each side over which the graphs are smoothed
CHANCE_DIGITS = 3


class PageLinks(NamedTuple):
    """Addresses to which the page of a review leads."""

    game: str
    positions: Mapping[int, str]  # the position before a decision, by its number from 1
    seat: int | None = None  # whose moves come first


def build_report(review: Review) -> JsonObject:
    """A review as JSON values, with actions and factions in words."""
    game, rules, end = review.game, review.game.env.ruleset, review.game.states[-1]
    moves = [move_json(game, judged) for judged in review.moves]
    costliest = _costliest(moves)
    factions = [rules.ids["faction"][i] for i in np.asarray(end.game.setup.faction)]
    faction_names = names(rules)["faction"]
    fills = [seat["fill"] for seat in replay_page.seats_json(Table(end, rules))]
    seats = [
        {
            "player": player,
            "fill": fills[player],
            "costliest": _costliest([m for m in moves if m["player"] == player]),
            "faction": factions[player],
            "name": faction_names[factions[player]],
            "vp": int(end.game.players.vp[player]),
            "judged": seat.num_judged,
            "expected_vp": round(seat.expected_vp, 1),
            "accuracy": round(seat.accuracy, 1),
            "lost": round(seat.vp_lost, 1),
            "grades": seat.grades,
        }
        for player, seat in enumerate(review.seats)
    ]
    return {
        "over": bool(end.terminated),
        "decisions": len(game.actions),
        "asked": review.num_requested,
        "judged": len(review.moves),
        "seats": seats,
        "costliest": costliest,
        "moves": moves,
        "agent": review.agent,
        "seed": review.seed,
        "playouts": review.num_playouts,
    }


def _costliest(moves: Sequence[JsonObject]) -> list[int]:
    """The decision numbers of the costliest moves, those that lost nothing left out."""
    by_loss = sorted(moves, key=lambda m: -m["loss"]["shrunk"])[:NUM_COSTLIEST]
    return [m["decision"] for m in by_loss if m["loss"]["shrunk"] > 0]


def move_json(game: Game, judged: JudgedMove) -> JsonObject:
    """A judged move as JSON values.

    `better` is the best alternative even if it is worse, without one the played move. `line`, the
    better move and the actions after it, is empty unless the mean loss is above 0.
    """
    decision, seat, candidates, probabilities = judged.comparison
    rules, state = game.env.ruleset, game.states[decision - 1]
    loss = loss_json(judged.loss, 1) | {"shrunk": round(judged.loss.shrunk_mean, 1)}
    table = Table(state, rules)
    played = action_json(rules, int(candidates[0]), float(probabilities[0]), table)
    best = int(np.flatnonzero(candidates == judged.best)[0])
    line, before = [], state
    if judged.loss.mean > 0:
        for action, after in follow(game, decision, judged.best, judged.line):
            about = action_json(rules, action, table=Table(before, rules))
            line.append({"player": int(before.current_player)} | about)
            before = after
    return {
        "decision": decision,
        "round": int(state.game.turn.round),
        "player": seat,
        "faction": rules.ids["faction"][int(state.game.setup.faction[seat])],
        "played": played,
        "better": action_json(rules, judged.best, float(probabilities[best]), table),
        "loss": loss,
        "win_loss": loss_json(judged.win_loss, CHANCE_DIGITS),
        "grade": judged.loss.grade,
        "playouts": judged.num_playouts,
        "expected_vp": np.round(judged.vp, 1).tolist(),
        "chance_to_win": np.round(judged.win, CHANCE_DIGITS).tolist(),
        "line": line,
    }


def action_json(
    rules: Ruleset, action: int, probability: float | None = None, table: Table | None = None
) -> JsonObject:
    """An action as its text and in words, with its probability by the policy.

    Args:
        table: the position before it, so that the words name what is on its place.
    """
    text = rules.actions.texts[action]
    words = words_with_place(table, text) if table else say(rules, text)
    chance = {} if probability is None else {"policy": round(probability, CHANCE_DIGITS)}
    return {"action": action, "text": text, "words": words} | chance


def loss_json(loss: Loss, digits: int) -> dict[str, float]:
    """A loss and its interval, rounded to `digits` decimals."""
    values = {"mean": loss.mean, "low": loss.low, "high": loss.high}
    return {name: round(value, digits) for name, value in values.items()}


def report_text(report: JsonObject) -> str:
    """A review in lines: the seats, then the costliest moves."""
    seats, moves = report["seats"], {m["decision"]: m for m in report["moves"]}
    lines = [_summary(report), "", *_seats(seats).text()]
    if report["costliest"]:
        lines += ["", "the costliest moves"]
    for decision in report["costliest"]:
        move = moves[decision]
        better = []
        for step in move["line"][: NUM_LINE_MOVES + 1]:
            is_opponent = step["player"] != move["player"]
            better.append(f"{seats[step['player']]['name']}: " * is_opponent + step["words"])
        title = f"decision {decision}, {move_time(move)}, {seats[move['player']]['name']}"
        grade = f", {move['grade']}" if move["grade"] else ""
        lines += [
            "",
            f"{title}: {move['played']['words']}{grade}",
            f"  loses {_loss(move)}, {move['playouts']} playouts",
            f"  better: {'; '.join(better)}",
        ]
    return "\n".join(lines)


def _summary(report: JsonObject) -> str:
    counts = {key: report[key] for key in ("judged", "decisions", "agent")}
    return phrase("review-summary", requested=report["asked"], **counts)


def _seats(seats: Sequence[JsonObject]) -> ReportTable:
    heads = [phrase(id) for id in ("player", "vp-title", "expected", "accuracy", "vp-lost")]
    rows = [
        [
            seat["name"], seat["vp"], round(seat["expected_vp"]), round(seat["accuracy"]),
            number(seat["lost"]), *(seat["grades"][name] for name in GRADES),
        ]
        for seat in seats
    ]  # fmt: skip
    return ReportTable([*heads, *(phrase(f"grade-{name}") for name in GRADES)], rows)


def move_time(move: JsonObject) -> str:
    """When a move was made."""
    return phrase("round", n=move["round"]) if move["round"] else phrase("set-up")


def _loss(move: JsonObject) -> str:
    """The loss of a move, with its interval."""
    loss, win = move["loss"], move["win_loss"]
    return phrase(
        "loses",
        vp=number(loss["mean"]),
        vp_range=interval(number(loss["low"]), number(loss["high"])),
        win=percent(win["mean"]),
        win_range=interval(f"{100 * win['low']:.0f}", f"{100 * win['high']:.0f}"),
    )


def report_page(game: Game, report: JsonObject, links: PageLinks | None = None) -> str:
    """The page of a review.

    Args:
        game: the reviewed game. report: as `build_report` returns it.
        links: by default the page leads nowhere.
    """
    seats, moves = report["seats"], report["moves"]
    decisions = {decision for shown in (report, *seats) for decision in shown["costliest"]}
    costly = sorted(
        (m for m in moves if m["decision"] in decisions), key=lambda m: -m["loss"]["shrunk"]
    )
    frames, costly_moves = _frames(game, costly, seats)
    for move, about in zip(costly, costly_moves, strict=True):
        about["link"] = links.positions.get(move["decision"], "") if links else ""
    back = ""
    if links:
        back = f'<a class="button" href="{escape(links.game)}">{phrase("back-to-game")}</a>'
    first = -1 if links is None or links.seat is None else links.seat
    fills = {
        "title": escape(phrase("review-title", names=", ".join(seat["name"] for seat in seats))),
        "summary": escape(_summary(report)),
        "back": back,
        "filter": _seat_options(seats, first),
        "seats": _seats(seats).html(),
        "costly": "".join(_button(m, seats) for m in costly) or f"<p>{phrase('no-move-lost')}</p>",
        "moves": _moves(moves, seats).html(),
        "how": escape(phrase("review-method", n=report["playouts"])),
        "script": static("review.js"),
        "vp": _graph(report, "expected_vp", 1, phrase("expected-vp")),
        "win": _graph(report, "chance_to_win", 100, phrase("chance-percent")),
        "review": replay_page.packed(
            json.dumps(
                replay_page.pictures(game.env.ruleset, frames) | {"moves": costly_moves},
                separators=(",", ":"),
            )
        ),
        "css": replay_page.style(),
        "view": replay_page.viewer(report_texts()),
    }
    return filled_page("review", fills, is_served=links is not None)


def _seat_options(seats: Sequence[JsonObject], first: int) -> str:
    """The options of the seat filter: all players, or one of them; `first` is selected."""
    options = [(-1, phrase("all-players")), *((seat["player"], seat["name"]) for seat in seats)]
    return "".join(
        f'<option value="{player}"{" selected" * (player == first)}>{escape(name)}</option>'
        for player, name in options
    )


def _button(move: JsonObject, seats: Sequence[JsonObject]) -> str:
    """A costly move; its better move is only named when the reader asks for it."""
    seat, when = seats[move["player"]], move_time(move)
    title = phrase("moves-timed", name=seat["name"], when=when)
    if move["grade"]:
        title = phrase(
            "moves-graded", name=seat["name"], when=when, grade=phrase(f"grade-{move['grade']}")
        )
    rows = (phrase("played", move=move["played"]["words"]), with_minus(_loss(move)))
    body = "".join(f"<span>{escape(row)}</span>" for row in rows)
    return (
        f'<button aria-pressed="false" data-player="{move["player"]}"'
        f' style="border-left:6px solid {seat["fill"]}"><b>{escape(title)}</b>{body}</button>'
    )


def _moves(moves: Sequence[JsonObject], seats: Sequence[JsonObject]) -> ReportTable:
    ids = (
        "decision", "round-column", "player", "played-column", "better-column", "vp-lost",
        "interval-column", "grade-column",
    )  # fmt: skip
    rows = [
        [
            move["decision"], move["round"] or phrase("set-up"), seats[move["player"]]["name"],
            move["played"]["words"],
            "-" if move["better"] == move["played"] else move["better"]["words"],
            number(move["loss"]["mean"]),
            interval(number(move["loss"]["low"]), number(move["loss"]["high"])),
            phrase(f"grade-{move['grade']}") if move["grade"] else "",
        ]
        for move in moves
    ]  # fmt: skip
    return ReportTable([phrase(id) for id in ids], rows, (2, 3, 4))


def _graph(report: JsonObject, name: str, scale: float, title: str) -> str:
    """A line for each seat over the decisions of the game."""
    x = np.array([move["decision"] for move in report["moves"]], float)
    values = scale * np.array([move[name] for move in report["moves"]], float)
    near = np.abs(np.subtract.outer(np.arange(len(x)), np.arange(len(x)))) <= NEIGHBOURS
    smooth = near @ values / near.sum(1, keepdims=True)
    no_band = np.full((len(x), 2), np.nan)
    curves = [
        chart.Line(seat["name"], x, smooth[:, i], no_band, seat["fill"])
        for i, seat in enumerate(report["seats"])
    ]
    return chart.lines(curves, title, phrase("decision"))


def _frames(
    game: Game, costly: Sequence[JsonObject], seats: Sequence[JsonObject]
) -> tuple[list[tuple[State, int | None]], list[JsonObject]]:
    """The frames of the page: the first state, then the frames of each of the costliest moves.

    Those of a move are the state after the played move, the one before it, and those after each
    action of the better line.

    Returns:
        Frames: states, each with the action that led to it. Moves: `played` is the index of the
        frame after the played move, `first` of the one before it.
    """
    frames: list[tuple[State, int | None]] = [(game.states[0], None)]
    moves = []
    for move in costly:
        decision, played = move["decision"], move["played"]["action"]
        line = [step["action"] for step in move["line"]]
        words = [f"{seats[step['player']]['name']}: {step['words']}" for step in move["line"]]
        moves.append(
            {
                "player": move["player"], "played": len(frames), "first": len(frames) + 1,
                "words": move["played"]["words"], "line": words,
            }
        )  # fmt: skip
        frames += [(state, played) for _, state in follow(game, decision, played, ())]
        frames.append((game.states[decision - 1], None))
        frames += [(state, action) for action, state in follow(game, decision, line[0], line[1:])]
    return frames, moves

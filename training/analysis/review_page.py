"""A review as one HTML file that asks nothing of any network, for a phone too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.env import State
from gaia_jax.render import panels
from gaia_jax.render.table import Table
from gaia_jax.replay import page as replay_page

from ..stats import chart
from . import review
from .accuracy import GRADES
from .explain import Game
from .review import Plain

HEAD = "<!doctype html>\n<!-- a review of gaia_jax -->\n"
OURS = outputs.begins(HEAD)  # the mark of a page
NEIGHBOURS = 2  # judged moves on each side that the graphs are smoothed over


def page(game: Game, about: Plain) -> str:
    """The page of a report.

    Args:
        game: the game that was reviewed. about: as `training.analysis.review.report` gives it.
    """
    moves = {m["decision"]: m for m in about["moves"]}
    costly = [moves[number] for number in about["costliest"]]
    seats = about["seats"]
    fills = {
        "title": escape("Review: " + ", ".join(seat["name"] for seat in seats)),
        "css": replay_page.static("view.css"),
        "own": _static("review.css"),
        "summary": escape(review.summary(about)),
        "seats": _seats(seats),
        "costly": "".join(_button(m, seats) for m in costly) or "<p>No move lost anything.</p>",
        "vp": _graph(about, "expected_vp", 1, "Expected VP"),
        "win": _graph(about, "chance_to_win", 100, "Chance to win"),
        "moves": _moves(about["moves"], seats),
        "how": escape(
            f"{about['playouts']} playouts and more of the played move and of the best other one,"
            " on the same luck. The interval is the 95 % one of their spread."
        ),
        "review": replay_page.packed(_data(game, costly, seats)),
        "view": replay_page.viewer(),
        "script": _static("review.js"),
    }
    return replay_page.filled(_static("review.html"), fills)


def _static(name: str) -> str:
    return resources.files(str(__package__)).joinpath("static", name).read_text("utf-8")


def _data(game: Game, costly: Sequence[Plain], seats: Sequence[Plain]) -> str:
    """The pictures of the costliest moves: before each, the played move, the better line."""
    timeline, frames, moves = replay_page.Timeline(), 0, []
    first = Table(game.states[0], game.env.ruleset)

    def add(state: State, last: int | None = None) -> int:
        nonlocal frames
        timeline.add(frames, panels.parts(Table(state, game.env.ruleset), last))
        frames += 1
        return frames - 1

    add(game.states[0])
    for move in costly:
        number, line = move["decision"], move["line"]
        played = move["played"]["action"]
        after = add(next(review.follow(game, number, played, ()))[1], played)
        start = add(game.states[number - 1])
        actions = [step["action"] for step in line]
        for action, state in review.follow(game, number, actions[0], actions[1:]):
            add(state, action)
        moves.append(
            {
                "player": move["player"],
                "played": after,
                "first": start,
                "said": move["played"]["words"],
                "line": [f"{seats[step['player']]['name']}: {step['words']}" for step in line],
            }
        )
    data = {
        "picture": panels.frame(first, panels.parts(first)),
        "parts": timeline.varying(),
        "moves": moves,
    }
    return json.dumps(data, separators=(",", ":"))


def _table(head: Sequence[str], rows: Iterator[Sequence[object]], words: Sequence[int]) -> str:
    """An HTML table.

    Args:
        words: the columns of text, which may break.
    """

    def line(tag: str, values: Sequence[object]) -> str:
        cells = (
            f"<{tag}{' class=words' if i in words else ''}>{escape(str(value))}</{tag}>"
            for i, value in enumerate(values)
        )
        return f"<tr>{''.join(cells)}</tr>"

    return f"<table>{line('th', head)}{''.join(line('td', row) for row in rows)}</table>"


def _seats(seats: Sequence[Plain]) -> str:
    head = ("player", "VP", "expected", "accuracy", "VP lost", *GRADES)
    rows = (
        (
            seat["name"], seat["vp"], round(seat["expected_vp"]), round(seat["accuracy"]),
            seat["lost"], *(seat["grades"][name] for name in GRADES),
        )
        for seat in seats
    )  # fmt: skip
    return _table(head, rows, (0,))


def _button(move: Plain, seats: Sequence[Plain]) -> str:
    grade = f", {move['grade']}" if move["grade"] else ""
    head = f"{seats[move['player']]['name']}, {review.when_text(move)}{grade}"
    rows = (f"Played: {move['played']['words']}", f"Better: {move['better']['words']}")
    body = "".join(f"<span>{escape(row)}</span>" for row in (*rows, review.costs(move)))
    return f'<button aria-pressed="false"><b>{escape(head)}</b>{body}</button>'


def _moves(moves: Sequence[Plain], seats: Sequence[Plain]) -> str:
    head = ("decision", "round", "player", "played", "best other move", "VP lost", "95 %", "grade")
    rows = (
        (
            move["decision"], move["round"] or "set-up", seats[move["player"]]["name"],
            move["played"]["words"],
            "-" if move["better"] == move["played"] else move["better"]["words"],
            move["loss"]["mean"], f"{move['loss']['low']} to {move['loss']['high']}",
            move["grade"] or "",
        )
        for move in moves
    )  # fmt: skip
    return _table(head, rows, (2, 3, 4))


def _graph(about: Plain, name: str, scale: float, title: str) -> str:
    """A line for each seat over the decisions of the game."""
    x = np.array([move["decision"] for move in about["moves"]], float)
    values = scale * np.array([move[name] for move in about["moves"]], float)
    near = np.abs(np.subtract.outer(np.arange(len(x)), np.arange(len(x)))) <= NEIGHBOURS
    smooth = near @ values / near.sum(1, keepdims=True)
    none = np.full((len(x), 2), np.nan)
    curves = [
        chart.Line(seat["name"], x, smooth[:, i], none) for i, seat in enumerate(about["seats"])
    ]
    return chart.lines(curves, title, "decision")

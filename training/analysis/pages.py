"""Reviews and advice as text and as HTML pages; a page is one file that loads no other.

Both take a report as `review.build_report` and `advice_report.build_report` return it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.env import State
from gaia_jax.replay import page as replay_page

from ..stats import chart
from ..stats.effects import Effect
from .accuracy import GRADES
from .recorded_game import Game, follow
from .report_table import ReportTable

Report = dict[str, Any]
REVIEW_HEAD = "<!doctype html>\n<!-- a review of gaia_jax -->\n"
ADVICE_HEAD = "<!doctype html>\n<!-- advice by gaia_jax -->\n"
is_review, is_advice = outputs.begins(REVIEW_HEAD), outputs.begins(ADVICE_HEAD)  # own files
NUM_LINE_MOVES = 6  # moves of a better line that the text shows
NEIGHBOURS = 2  # judged moves on each side over which the graphs are smoothed
TILES = ("round_tiles", "final_missions", "boosters")
COMPARISON_NOTE = "a comparison at the same faction and seat, not an experiment: the agent chose"


def review_text(report: Report) -> str:
    """A review in lines: the seats, then the costliest moves."""
    seats, moves = report["seats"], {m["decision"]: m for m in report["moves"]}
    lines = [_summary(report), "", *_review_seats(seats).text()]
    if report["costliest"]:
        lines += ["", "the costliest moves"]
    for number in report["costliest"]:
        move = moves[number]
        better = []
        for step in move["line"][: NUM_LINE_MOVES + 1]:
            other = step["player"] != move["player"]
            better.append(f"{seats[step['player']]['name']}: " * other + step["words"])
        title = f"decision {number}, {_move_time(move)}, {seats[move['player']]['name']}"
        lines += [
            "",
            f"{title}: {move['played']['words']}{_grade(move)}",
            f"  loses {_loss(move)}, {move['playouts']} playouts",
            f"  better: {'; '.join(better)}",
        ]
    return "\n".join(lines)


def _summary(report: Report) -> str:
    judged, requested = report["judged"], report["asked"]
    of = f"of {report['decisions']} decisions judged by {report['agent']}"
    return f"{judged} of {requested} main moves {of}"


def _review_seats(seats: Sequence[Report]) -> ReportTable:
    rows = [
        [
            seat["name"], seat["vp"], round(seat["expected_vp"]), round(seat["accuracy"]),
            seat["lost"], *(seat["grades"][name] for name in GRADES),
        ]
        for seat in seats
    ]  # fmt: skip
    return ReportTable(("player", "VP", "expected", "accuracy", "VP lost", *GRADES), rows)


def _move_time(move: Report) -> str:
    return f"round {move['round']}" if move["round"] else "set-up"


def _grade(move: Report) -> str:
    return f", {move['grade']}" if move["grade"] else ""


def _loss(move: Report) -> str:
    """What a move lost, with its interval."""
    loss, win = move["loss"], move["win_loss"]
    return (
        f"{loss['mean']:.1f} VP ({loss['low']:.1f} to {loss['high']:.1f}),"
        f" {100 * win['mean']:.0f} % to win ({100 * win['low']:.0f} to {100 * win['high']:.0f})"
    )


def review_page(game: Game, report: Report) -> str:
    """The page of a review.

    Args:
        game: the reviewed game. report: as `review.build_report` returns it.
    """
    seats, moves = report["seats"], report["moves"]
    costly = [m for number in report["costliest"] for m in moves if m["decision"] == number]
    frames, costly_moves = _frames(game, costly, seats)
    fills = {
        "title": escape("Review: " + ", ".join(seat["name"] for seat in seats)),
        "summary": escape(_summary(report)),
        "seats": _review_seats(seats).html(),
        "costly": "".join(_button(m, seats) for m in costly) or "<p>No move lost anything.</p>",
        "moves": _moves(moves, seats).html(),
        "how": escape(
            f"At least {report['playouts']} playouts of the played move and of the best other one,"
            " with the same random numbers. Intervals are 95 % intervals of their difference."
        ),
        "own": _static("review.css"),
        "script": _static("review.js"),
        "vp": _graph(report, "expected_vp", 1, "Expected VP"),
        "win": _graph(report, "chance_to_win", 100, "Chance to win"),
        "review": replay_page.packed(
            json.dumps(
                replay_page.pictures(game.env.ruleset, frames) | {"moves": costly_moves},
                separators=(",", ":"),
            )
        ),
        "css": replay_page.static("view.css"),
        "view": replay_page.viewer(),
    }
    return replay_page.filled(_static("review.html"), fills)


def _static(name: str) -> str:
    return resources.files(str(__package__)).joinpath("static", name).read_text("utf-8")


def _button(move: Report, seats: Sequence[Report]) -> str:
    title = f"{seats[move['player']]['name']}, {_move_time(move)}{_grade(move)}"
    rows = (
        f"Played: {move['played']['words']}", f"Better: {move['better']['words']}", _loss(move),
    )  # fmt: skip
    body = "".join(f"<span>{escape(row)}</span>" for row in rows)
    return f'<button aria-pressed="false"><b>{escape(title)}</b>{body}</button>'


def _moves(moves: Sequence[Report], seats: Sequence[Report]) -> ReportTable:
    head = ("decision", "round", "player", "played", "best other move", "VP lost", "95 %", "grade")
    rows = [
        [
            move["decision"], move["round"] or "set-up", seats[move["player"]]["name"],
            move["played"]["words"],
            "-" if move["better"] == move["played"] else move["better"]["words"],
            move["loss"]["mean"], f"{move['loss']['low']} to {move['loss']['high']}",
            move["grade"] or "",
        ]
        for move in moves
    ]  # fmt: skip
    return ReportTable(head, rows, (2, 3, 4))


def _graph(report: Report, name: str, scale: float, title: str) -> str:
    """A line for each seat over the decisions of the game."""
    x = np.array([move["decision"] for move in report["moves"]], float)
    values = scale * np.array([move[name] for move in report["moves"]], float)
    near = np.abs(np.subtract.outer(np.arange(len(x)), np.arange(len(x)))) <= NEIGHBOURS
    smooth = near @ values / near.sum(1, keepdims=True)
    no_band = np.full((len(x), 2), np.nan)
    curves = [
        chart.Line(seat["name"], x, smooth[:, i], no_band) for i, seat in enumerate(report["seats"])
    ]
    return chart.lines(curves, title, "decision")


def _frames(
    game: Game, costly: Sequence[Report], seats: Sequence[Report]
) -> tuple[list[tuple[State, int | None]], list[Report]]:
    """The pictures of the costliest moves: before each, the played move, the better line.

    Returns:
        States, each with the action that led to it; for each move its words and numbers of states.
    """
    frames: list[tuple[State, int | None]] = [(game.states[0], None)]
    moves = []
    for move in costly:
        number, played = move["decision"], move["played"]["action"]
        line = [step["action"] for step in move["line"]]
        words = [f"{seats[step['player']]['name']}: {step['words']}" for step in move["line"]]
        moves.append(
            {
                "player": move["player"], "played": len(frames), "first": len(frames) + 1,
                "words": move["played"]["words"], "line": words,
            }
        )  # fmt: skip
        frames += [(state, played) for _, state in follow(game, number, played, ())]
        frames.append((game.states[number - 1], None))
        frames += [(state, action) for action, state in follow(game, number, line[0], line[1:])]
    return frames, moves


def advice_text(report: Report) -> str:
    """Advice in lines."""
    setup, factions = report["setup"], report["factions"]
    lines = [
        _heading(report),
        f"round tiles {', '.join(setup['round_tiles'])};"
        f" final missions {', '.join(setup['final_missions'])}",
        f"boosters {', '.join(setup['boosters'])}; docs/reference/names.md explains the ids",
        "",
        *_factions(factions).text(),
        "bid: the VP that make it as strong as the mean of all; * differs from the mean (Holm)",
        "",
        "First moves of each: its commonest first, second, ... main action",
    ]
    for row in factions:
        moves = " / ".join(f"{x['words']} {x['share']:.0%}" for x in row["opening"]) or "-"
        lines.append(f"{row['name']:<23} {moves}")
        boosters = ", ".join(f"{x['booster']} {x['share']:.0%}" for x in row["boosters"][:3])
        lines += [f"{'':<23} boosters {boosters}"] if boosters else []
    lines += ["", "Seats: VP above their mean", *_advice_seats(report).text()]
    if report["boosters"]:
        lines += ["", f"First boosters: VP above their mean; {COMPARISON_NOTE}"]
        lines += _boosters(report).text()
    return "\n".join(lines)


def _heading(report: Report) -> str:
    requested = report["wanted"]
    of = f" of {requested}" if report["games"] < requested else ""
    return (
        f"{report['env']}, set-up of {report['from']}; {report['agent']} at all seats,"
        f" {report['games']}{of} games"
    )


def _factions(rows: Iterable[Report]) -> ReportTable:
    head = ("faction", "games", "VP (95 %)", "bid", "win (95 %)", "missions", "largest source")
    cells = []
    for row in rows:
        win = [None if x is None else 100 * x for x in row["win"]]
        seat = "" if row["seat"] is None else f" (seat {row['seat']})"
        bid = "-" if row["bid"][0] is None else f"{row['bid'][0]:+.1f}"
        best = row["sources"][0]
        cells.append(
            [
                row["name"] + seat, row["games"], _interval(row["vp"], ".1f"),
                bid + "*" * row["stands_out"], _interval(win, ".0f") + " %", row["missions"],
                f"{best['words']} {best['above']:+.1f}",
            ]
        )  # fmt: skip
    return ReportTable(head, cells, (0, 6))


def _interval(values: Sequence[float | None], form: str) -> str:
    """An estimate and its interval."""
    mean, low, high = ("-" if x is None else format(x, form) for x in values)
    return f"{mean} ({low} to {high})"


def _advice_seats(report: Report) -> ReportTable:
    rows = [
        [f"player {x['seat'] + 1}, place {x['place']}", _interval(x["vp"], "+.1f")]
        for x in report["seats"]
    ]
    return ReportTable(("seat", "VP (95 %)"), rows)


def _boosters(report: Report) -> ReportTable:
    rows = [
        [
            x["booster"], _interval(x["vp"], "+.1f") + "*" * x["stands_out"], x["taken"],
            x["words"],
        ]
        for x in report["boosters"]
    ]  # fmt: skip
    return ReportTable(("booster", "VP (95 %)", "taken", ""), rows, (0, 3))


def advice_page(report: Report) -> str:
    """The page of advice on a set-up."""
    effects = []
    for row in report["factions"]:
        bid, low, high = (math.nan if x is None else x for x in row["bid"])
        effects.append(Effect(row["name"], bid, low, high, row["games"], row["stands_out"]))
    tiles = (
        f"<details><summary>{key.replace('_', ' ')}</summary>{_list(report['words'][key], 'ol')}"
        "</details>"
        for key in TILES
    )
    fills = {
        "title": escape(f"Advice on the set-up of {report['from']}"),
        "css": _static("advice.css"),
        "heading": escape(_heading(report)),
        "tiles": "\n".join(tiles),
        "factions": _wide(_factions(report["factions"])),
        "details": "\n".join(map(_details, report["factions"])),
        "seats": _wide(_advice_seats(report)),
        "compared": COMPARISON_NOTE,
        "boosters": _wide(_boosters(report)),
        "effects": chart.forest(effects, "VP above the mean of all factions"),
    }
    return replay_page.filled(_static("advice.html"), fills)


def _details(row: Report) -> str:
    """How a faction is played."""
    moves, boosters = (
        [f"{x['words']}, {x['share']:.0%}" for x in row[key]] for key in ("opening", "boosters")
    )
    vp = [[x["words"], x["vp"], f"{x['above']:+.1f}"] for x in row["sources"] if x["vp"]]
    return (
        f"<details><summary>{escape(row['name'])}</summary><p>Commonest first, second, ... main"
        f" action:</p>{_list(moves, 'ol')}<p>First booster:</p>{_list(boosters, 'ul')}"
        + _wide(ReportTable(("VP from", "mean", "above all"), vp))
        + "</details>"
    )


def _list(items: Iterable[str], tag: str) -> str:
    return f"<{tag}>{''.join(f'<li>{escape(item)}</li>' for item in items)}</{tag}>"


def _wide(table: ReportTable) -> str:
    """A table that scrolls sideways where the page is narrower."""
    label = escape(table.head[0])
    return f'<div class="wide" tabindex="0" role="group" aria-label="{label}">{table.html()}</div>'

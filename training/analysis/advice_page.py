"""Advice on a set-up as a report, as text and as a page of one file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from gaia_jax.render.names import STRUCTURES, names, say, sources
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from ..stats.chart import forest
from ..stats.effects import Effect
from ..system import atomic_files
from ..types import Environment
from . import advice
from .advice import Advice, Advisor, Boards, Played

OURS = atomic_files.json_with("advice", "setup", "factions")  # the mark of a report
HEAD = "<!doctype html>\n<!-- advice by gaia_jax -->\n"  # of a page
Report = dict[str, Any]  # as `report` gives it, or a part of it
Rows = Sequence[Sequence[Any]]
KINDS = {"mine": "mine", "project": "Gaia project", "upgrade": "upgrade", "pick": "choose"}
TILES = {"round_tiles": "round_tile", "final_missions": "final_mission", "boosters": "booster"}
COMPARED = "a comparison at the same faction and seat, no experiment: the agent chose"


def advised(
    advisor: Advisor,
    setup: Setup,
    boards: Boards,
    games_per_faction: int,
    about: Mapping[str, str],
    progress: Callable[[int], object] = lambda ended: None,
) -> Report:
    """Play the games and report on them. Ctrl-C reports on the games that have finished.

    Args:
        games_per_faction: at least; `boards.games` gives the total.
        about: for the heading: `agent`, and the origin of the set-up, `from`.
        progress: called repeatedly with the number of finished games.
    """
    factions = advice.design(boards, games_per_faction)
    played = advisor.play(setup, factions, progress=progress)
    return report(advisor.env, setup, played, boards, {**about, "wanted": len(factions)})


def report(env: Environment, setup: Setup, played: Played, boards: Boards, about: Report) -> Report:
    """The whole report as plain values; factions with the most VP first.

    Args:
        about: for the heading: agent, origin of the set-up, requested games.
    """
    ids, dealt = env.ruleset.ids, setup_to_dict(setup, env.ruleset)
    words = {**names(env.ruleset), "vp_source": sources(dealt["final_missions"])}
    advice_by_faction = advice.advise(played, boards, ids)
    rows = [
        _row(env, played, boards, advice_by_faction, i, words)
        for i in range(len(advice_by_faction.factions))
    ]
    rows.sort(key=lambda row: -_place(row["vp"][0]))
    return {
        "advice": 1,
        "env": env.id,
        "version": env.version,
        **about,
        "games": len(played.vp),
        "setup": dealt,
        "words": {
            key: [words[name][id] for id in dealt[key]] for key, name in TILES.items()
        },
        "factions": rows,
        "seats": [
            {"seat": int(e.name), "place": _place_of(setup, int(e.name)), "vp": _interval(e)}
            for e in advice_by_faction.seats
        ],
        "boosters": [
            {
                "booster": e.name, "words": words["booster"][e.name], "taken": e.size,
                "vp": _interval(e), "stands_out": e.significant,
            }
            for e in sorted(advice_by_faction.boosters, key=lambda e: -_place(e.estimate))
        ],
    }  # fmt: skip


def _row(
    env: Environment,
    played: Played,
    boards: Boards,
    estimate: Advice,
    i: int,
    words: Mapping[str, Mapping[str, str]],
) -> Report:
    """The report's row of the faction in place i.

    Args:
        words: the names of ids by kind.
    """
    faction, ids = estimate.factions[i], env.ruleset.ids
    seat_of_faction = {faction: seat for seat, faction in boards.held.items()}
    vp = advice.sources(played, faction, ids["vp_source"])
    name = ids["faction"][faction]
    return {
        "faction": name,
        "name": words["faction"][name],
        "seat": seat_of_faction.get(faction),
        "games": estimate.games[i],
        "vp": _interval(estimate.vp[i]),
        "win": _interval(estimate.wins[i], 0.0, 1.0),
        "bid": _interval(estimate.above[i]),
        "stands_out": estimate.above[i].significant,
        "missions": _round(sum(v for s, v, _ in vp if s in ("FINAL_1", "FINAL_2"))),
        "opening": [
            {"action": kind, "words": _words(env, kind), "share": round(share, 3)}
            for kind, share in advice.opening(played, faction)
        ],
        "boosters": [
            {"booster": b, "words": words["booster"][b], "share": round(share, 3)}
            for b, share in advice.taken(played, faction, ids["booster"])
        ],
        "sources": [
            {"source": s, "words": words["vp_source"][s], "vp": _round(v), "above": _round(a)}
            for s, v, a in vp
        ],
    }


def _place_of(setup: Setup, seat: int) -> int:
    """Place in the turn order of round 1, from 1."""
    return [int(player) for player in setup.turn_order].index(seat) + 1


def _place(value: float | None) -> float:
    """Where a row is sorted: what is not known last."""
    return -math.inf if value is None or math.isnan(value) else value


def _round(value: float, digits: int = 1) -> float | None:
    return None if math.isnan(value) else round(float(value), digits)


def _interval(effect: Effect, low: float = -math.inf, high: float = math.inf) -> list[Any]:
    digits = 1 if math.isinf(high) else 3
    values = (effect.estimate, effect.low, effect.high)
    return [_round(min(max(x, low), high) if x == x else x, digits) for x in values]


def _words(env: Environment, kind: str) -> str:
    """A kind of action in words."""
    if kind in KINDS:
        return KINDS[kind]
    verb, _, piece = kind.partition(" ")
    if verb == "piece":  # no action where a mine becomes a trading station
        return STRUCTURES[piece]
    words = say(env.ruleset, kind)
    return f"pass, {words}" if kind.startswith("booster ") else words


def _as_text(values: Sequence[float | None], form: str) -> str:
    """An estimate and its interval."""
    mean, low, high = ("-" if x is None else format(x, form) for x in values)
    return f"{mean} ({low} to {high})"


def heading(report: Report) -> list[str]:
    """What was played, in lines."""
    setup, requested = report["setup"], report["wanted"]
    of = f" of {requested}" if report["games"] < requested else ""
    return [
        f"{report['env']}, set-up of {report['from']}; {report['agent']} at all seats,"
        f" {report['games']}{of} games",
        f"round tiles {', '.join(setup['round_tiles'])};"
        f" final missions {', '.join(setup['final_missions'])}",
        f"boosters {', '.join(setup['boosters'])}; docs/reference/names.md explains the ids",
    ]


def text(report: Report) -> str:
    """The report as text."""
    lines = [*heading(report), ""]
    lines.append(
        f"{'faction':<23}{'games':>5}  {'VP (95 %)':<24}{'bid':>6}  {'win (95 %)':<18}"
        f"{'missions':>8}  stands out"
    )
    for row in report["factions"]:
        win = [None if x is None else 100 * x for x in row["win"]]
        mark = "*" if row["stands_out"] else " "
        bid = "-" if row["bid"][0] is None else f"{row['bid'][0]:+.1f}"
        best = [f"{s['words']} {s['above']:+.0f}" for s in row["sources"][:1]]
        seat = "" if row["seat"] is None else f" (seat {row['seat']})"
        lines.append(
            f"{row['name'] + seat:<23}{row['games']:>5}  {_as_text(row['vp'], '.1f'):<24}{bid:>6}"
            f"{mark} {_as_text(win, '.0f') + ' %':<18}{row['missions']:>8.1f}  {', '.join(best)}"
        )
    lines += [
        "bid: VP that make it even with the mean of all; * stands out among all of them (Holm)",
        "",
        "What each does first: its commonest first, second, ... main action",
    ]
    for row in report["factions"]:
        moves = " / ".join(f"{x['words']} {x['share']:.0%}" for x in row["opening"]) or "-"
        lines.append(f"{row['name']:<23} {moves}")
        boosters = ", ".join(f"{x['booster']} {x['share']:.0%}" for x in row["boosters"][:3])
        lines += [f"{'':<23} boosters {boosters}"] if boosters else []
    lines += ["", "Seats: VP above their mean"]
    for x in report["seats"]:
        lines.append(f"seat {x['seat']}, place {x['place']}  {_as_text(x['vp'], '+.1f')}")
    if report["boosters"]:
        lines += ["", f"First boosters: VP above their mean; {COMPARED}"]
    for x in report["boosters"]:
        mark = "*" if x["stands_out"] else " "
        lines.append(
            f"{x['booster']:<6}{_as_text(x['vp'], '+.1f'):<24}{mark} taken {x['taken']:>4}"
            f"  {x['words']}"
        )
    return "\n".join(lines)


STYLE = """
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;
color:#1c2126;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{text-align:right;padding:.3rem .5rem;border-bottom:1px solid #e3e6e9;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
tr>:nth-child(7){white-space:normal;text-align:left;padding-left:.7rem}
svg{max-width:100%;height:auto}details{margin:.4rem 0}summary{cursor:pointer;padding:.3rem 0}
p.note{color:#5b6570}
@media(max-width:600px){th,td,th:first-child{white-space:normal;padding:.3rem .1rem}
.wide{font-size:.72rem}.wide span{white-space:nowrap}
h2+.wide :is(th,td):is(:nth-child(2),:nth-child(6)):nth-last-child(n+2){display:none}}
"""


def page(report: Report) -> str:
    """The report as HTML: one file that loads nothing."""
    effects = []
    for row in report["factions"]:
        bid, low, high = (math.nan if x is None else x for x in row["bid"])
        effects.append(Effect(row["name"], bid, low, high, row["games"], row["stands_out"]))
    head = ["faction", "games", "VP (95 %)", "bid", "win (95 %)", "missions", "stands out"]
    boosters = [[x["words"], _as_text(x["vp"], "+.1f"), x["taken"], ""] for x in report["boosters"]]
    seats = [
        [f"player {x['seat'] + 1}, place {x['place']}", _as_text(x["vp"], "+.1f")]
        for x in report["seats"]
    ]
    title = f"Advice on the set-up of {report['from']}"
    return HEAD + "\n".join(
        [
            '<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            f"<p>{escape(heading(report)[0])}</p>",
            *(
                f"<details><summary>{key.replace('_', ' ')}</summary><ol>"
                + "".join(f"<li>{escape(tile)}</li>" for tile in report["words"][key])
                + "</ol></details>"
                for key in TILES
            ),
            "<h2>Factions</h2>",
            _table(head, [_faction(row) for row in report["factions"]]),
            '<p class="note">Bid: VP that make a faction even with the mean of all. What is red'
            " stands out among all of them (Holm, 5 %).</p>",
            f'<div class="wide">{forest(effects, "VP above the mean of all factions")}</div>',
            "<h2>How each is played</h2>",
            *(_details(row) for row in report["factions"]),
            "<h2>Seats: VP above their mean</h2>",
            _table(["seat", "VP (95 %)"], seats),
            f'<h2>First boosters: VP above their mean</h2><p class="note">{COMPARED}.</p>',
            _table(["booster", "VP (95 %)", "taken", ""], boosters),
            "</body></html>\n",
        ]
    )


def _faction(row: Report) -> list[Any]:
    win = [None if x is None else 100 * x for x in row["win"]]
    best = row["sources"][0]
    bid = "-" if row["bid"][0] is None else f"{row['bid'][0]:+.1f}"
    return [
        row["name"], row["games"], _as_text(row["vp"], ".1f"), bid, _as_text(win, ".0f") + " %",
        row["missions"], f"{best['words']} {best['above']:+.1f}",
    ]  # fmt: skip


def _details(row: Report) -> str:
    moves = "".join(f"<li>{escape(x['words'])}, {x['share']:.0%}</li>" for x in row["opening"])
    boosters = "".join(f"<li>{escape(x['words'])}, {x['share']:.0%}</li>" for x in row["boosters"])
    vp = [[x["words"], x["vp"], f"{x['above']:+.1f}"] for x in row["sources"] if x["vp"]]
    return (
        f"<details><summary>{escape(row['name'])}</summary><p>Commonest first, second, ... main"
        f" action:</p><ol>{moves}</ol><p>First booster:</p><ul>{boosters}</ul>"
        + _table(["VP from", "mean", "above all"], vp)
        + "</details>"
    )


def _cell(value: object) -> str:
    """A cell, whose line is not broken within an interval."""
    return re.sub(r"\(.*\)[ %]*", r"<span>\g<0></span>", escape(str(value)))


def _table(head: Sequence[str], rows: Rows) -> str:
    top = "".join(f"<th>{escape(x)}</th>" for x in head)
    body = "".join("<tr>" + "".join(f"<td>{_cell(x)}</td>" for x in row) + "</tr>" for row in rows)
    table = f"<table><tr>{top}</tr>{body}</table>"
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(head[0])}">{table}</div>'
    )

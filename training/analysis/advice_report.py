"""The report of the advice on a set-up: as JSON values, as text, and as an HTML page.

The page is one file that loads no other. All are in the language in use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.render.automa_words import LEVEL_NAMES
from gaia_jax.render.names import STRUCTURES, names, say, sources
from gaia_jax.replay import page as replay_page
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from ..stats import chart
from ..stats.effects import Effect
from ..types import Environment, JsonObject
from . import advice
from .advice import Advice, Boards, PlayedGames
from .report_table import ReportTable
from .report_texts import filled_page, interval, number, percent, phrase, report_texts

PAGE_HEAD = "<!doctype html>\n<!-- advice by gaia_jax -->\n"
is_own_page = outputs.begins(PAGE_HEAD)
is_own_report = outputs.json_with("advice", "setup", "factions")  # by the keys of a report
TILES = {"round_tiles": "round_tile", "final_missions": "final_mission", "boosters": "booster"}


def build_report(
    env: Environment, setup: Setup, played: PlayedGames, boards: Boards, about: JsonObject
) -> JsonObject:
    """The report as JSON values, factions with the most VP first.

    Args:
        about: `agent`, `from`, `wanted`: the agent, the origin, the number of requested games.
    """
    ids, dealt = env.ruleset.ids, setup_to_dict(setup, env.ruleset)
    words = {**names(env.ruleset), "vp_source": sources(env.ruleset, dealt["final_missions"])}
    advice_by_faction = advice.advise(played, boards, ids)
    rows = [
        _row(env, played, boards, advice_by_faction, i, words)
        for i in range(len(advice_by_faction.factions))
    ]
    rows.sort(key=lambda row: -_sort_key(row["vp"][0]))
    return {
        "advice": 1,
        "env": env.id,
        "version": env.version,
        **about,
        "games": len(played.vp),
        "opponent": _opponent(dealt, words["faction"]),
        "setup": dealt,
        "words": {
            key: [words[name][id] for id in dealt[key]] for key, name in TILES.items()
        },
        "factions": rows,
        "seats": [
            {"seat": int(e.name), "place": _turn_place(setup, int(e.name)), "vp": _interval(e)}
            for e in advice_by_faction.seats
        ],
        "boosters": [
            {
                "booster": e.name, "words": words["booster"][e.name], "taken": e.size,
                "vp": _interval(e), "stands_out": e.significant,
            }
            for e in sorted(advice_by_faction.boosters, key=lambda e: -_sort_key(e.estimate))
        ],
    }  # fmt: skip


def _row(
    env: Environment,
    played: PlayedGames,
    boards: Boards,
    estimate: Advice,
    i: int,
    words: Mapping[str, Mapping[str, str]],
) -> JsonObject:
    """The row of the faction in place i.

    Args:
        words: the names of ids by kind.
    """
    faction, ids = estimate.factions[i], env.ruleset.ids
    seat_of_faction = {faction: seat for seat, faction in boards.fixed.items()}
    vp = advice.sources(played, faction, ids["vp_source"])
    name = ids["faction"][faction]
    return {
        "faction": name,
        "name": words["faction"][name],
        "seat": seat_of_faction.get(faction),
        "games": estimate.games[i],
        "vp": _interval(estimate.vp[i]),
        "win": _interval(estimate.wins[i], 0.0, 1.0),
        "bid": _interval(estimate.above_mean[i]),
        "stands_out": estimate.above_mean[i].significant,
        "missions": _round(sum(v for s, v, _ in vp if s in ("FINAL_1", "FINAL_2"))),
        "opening": [
            {"action": kind, "words": _words(env, kind), "share": round(share, 3)}
            for kind, share in advice.opening(played, faction)
        ],
        "boosters": [
            {"booster": b, "words": words["booster"][b], "share": round(share, 3)}
            for b, share in advice.first_boosters(played, faction, ids["booster"])
        ],
        "sources": [
            {"source": s, "words": words["vp_source"][s], "vp": _round(v), "above": _round(a)}
            for s, v, a in vp
        ],
    }


def _opponent(dealt: JsonObject, faction_names: Mapping[str, str]) -> str:
    """The Automa of a solo game in words; "" in other games."""
    if "automa" not in dealt:
        return ""
    level, faction = (dealt["automa"][key] for key in ("level", "faction"))
    return phrase("advice-automa", level=LEVEL_NAMES[level], faction=faction_names[faction])


def _turn_place(setup: Setup, seat: int) -> int:
    """Place in the turn order of round 1, from 1."""
    return [int(player) for player in setup.turn_order].index(seat) + 1


def _sort_key(value: float | None) -> float:
    """The sort key of a row: unknown values last."""
    return -math.inf if value is None or math.isnan(value) else value


def _round(value: float, digits: int = 1) -> float | None:
    return None if math.isnan(value) else round(float(value), digits)


def _interval(effect: Effect, low: float = -math.inf, high: float = math.inf) -> list[Any]:
    digits = 1 if math.isinf(high) else 3
    values = (effect.estimate, effect.low, effect.high)
    return [_round(min(max(x, low), high) if x == x else x, digits) for x in values]


def _words(env: Environment, kind: str) -> str:
    """A kind of action in words."""
    if f"action-{kind}" in report_texts():
        return phrase(f"action-{kind}")
    verb, _, piece = kind.partition(" ")
    if verb == "piece":  # a mine to a trading station is no action
        return STRUCTURES[piece]
    words = say(env.ruleset, kind)
    return phrase("pass-with", move=words) if verb == "booster" else words


def report_text(report: JsonObject) -> str:
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
    if report["seats"]:
        lines += ["", "Seats: VP above their mean", *_advice_seats(report).text()]
    if report["boosters"]:
        lines += ["", f"First boosters: VP above their mean; {phrase('comparison')}"]
        lines += _boosters(report).text()
    return "\n".join(lines)


def _heading(report: JsonObject) -> str:
    counts = {key: report[key] for key in ("env", "agent", "games", "wanted")}
    is_part = report["games"] < report["wanted"]
    id = "advice-heading-part" if is_part else "advice-heading"
    return f"{phrase(id, origin=report['from'], **counts)}{report['opponent']}"


def _factions(rows: Iterable[JsonObject]) -> ReportTable:
    ids = ("faction", "games", "vp-column", "bid", "win-column", "missions", "largest-source")
    cells = []
    for row in rows:
        win = [None if x is None else 100 * x for x in row["win"]]
        name, seat, best = row["name"], row["seat"], row["sources"][0]
        cells.append(
            [
                name if seat is None else phrase("faction-at-seat", name=name, n=seat),
                row["games"], _format_interval(row["vp"], ".1f"),
                number(row["bid"][0], "+.1f") + "*" * row["stands_out"],
                phrase("percent", n=_format_interval(win, ".0f")), number(row["missions"]),
                phrase("source-above", source=best["words"], vp=number(best["above"], "+.1f")),
            ]
        )  # fmt: skip
    return ReportTable([phrase(id) for id in ids], cells, (0, 6))


def _format_interval(values: Sequence[float | None], form: str) -> str:
    """An estimate and its interval."""
    mean, low, high = (number(x, form) for x in values)
    return phrase("with-interval", mean=mean, range=interval(low, high))


def _advice_seats(report: JsonObject) -> ReportTable:
    rows = [
        [phrase("seat-place", n=x["seat"] + 1, place=x["place"]), _format_interval(x["vp"], "+.1f")]
        for x in report["seats"]
    ]
    return ReportTable((phrase("seat"), phrase("vp-column")), rows)


def _seats_section(report: JsonObject) -> str:
    """The seats as a part of the page; "" with one seat."""
    heading = f"<h2>{escape(phrase('seats-heading'))}</h2>\n"
    return heading + _wide(_advice_seats(report)) if report["seats"] else ""


def _boosters(report: JsonObject) -> ReportTable:
    rows = [
        [
            x["booster"], _format_interval(x["vp"], "+.1f") + "*" * x["stands_out"], x["taken"],
            x["words"],
        ]
        for x in report["boosters"]
    ]  # fmt: skip
    return ReportTable(
        [phrase(id) for id in ("booster", "vp-column", "taken", "what-it-brings")], rows, (0, 3)
    )


def report_page(
    report: JsonObject, picture: str = "", address: str = "", is_served: bool = False
) -> str:
    """The page of advice on a set-up.

    Args:
        report: as `build_report` returns it.
        picture: the table as SVG.
        address: of a form with this set-up, to which an id of a faction is added.
        is_served: whether a server makes the page, in other languages too.
    """
    effects = []
    for row in report["factions"]:
        bid, low, high = (math.nan if x is None else x for x in row["bid"])
        effects.append(Effect(row["name"], bid, low, high, row["games"], row["stands_out"]))
    tiles = (
        f"<details><summary>{escape(phrase(key))}</summary>{_list(report['words'][key], 'ol')}"
        "</details>"
        for key in TILES
    )
    fills = {
        "title": escape(phrase("advice-title", origin=report["from"])),
        "heading": escape(_heading(report)),
        "tiles": "\n".join(tiles),
        "factions": _wide(_factions(report["factions"])),
        "details": "\n".join(_details(row, address) for row in report["factions"]),
        "picture": picture,
        "seats": _seats_section(report),
        "boosters": _wide(_boosters(report)),
        "effects": chart.forest(effects, phrase("above-mean"), phrase("vp-title")),
        "css": replay_page.style(),
    }
    return filled_page("advice", fills, is_served)


def _details(row: JsonObject, address: str) -> str:
    """Details of a faction: openings, boosters, sources of VP.

    Args:
        address: as of `report_page`.
    """
    link = f'<p><a href="{escape(address + row["faction"])}">{escape(phrase("play-it"))}</a></p>'
    moves, boosters = (
        [phrase("move-share", move=x["words"], share=percent(x["share"])) for x in row[key]]
        for key in ("opening", "boosters")
    )
    heads = [phrase(id) for id in ("vp-from", "mean", "above-all")]
    vp = [
        [x["words"], number(x["vp"]), number(x["above"], "+.1f")] for x in row["sources"] if x["vp"]
    ]
    return (
        f"<details><summary>{escape(row['name'])}</summary>{link if address else ''}"
        f"<p>{escape(phrase('commonest-actions'))}</p>{_list(moves, 'ol')}"
        f"<p>{escape(phrase('first-booster'))}</p>{_list(boosters, 'ul')}"
        + _wide(ReportTable(heads, vp))
        + "</details>"
    )


def _list(items: Iterable[str], tag: str) -> str:
    return f"<{tag}>{''.join(f'<li>{escape(item)}</li>' for item in items)}</{tag}>"


def _wide(table: ReportTable) -> str:
    """A table that scrolls sideways where the page is narrower."""
    label = escape(table.head[0])
    return f'<div class="wide" tabindex="0" role="group" aria-label="{label}">{table.html()}</div>'

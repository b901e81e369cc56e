"""Reports of arenas and evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..types import Ids
from .stats import (
    Estimate,
    estimate,
    format_illegal_moves,
    illegal_moves,
    places,
    scores,
    share,
    wins,
)
from .table import BEHAVIOUR, FEDERATIONS_BY_ROUND, Games

T = TypeVar("T")
MAX_FORFEITS = 6  # listed for an agent
# Rows of an evaluation's text, of `behaviour`.
PRINTED = {
    "federations": "federations formed",
    **{name: f"  in round {n}" for n, name in enumerate(FEDERATIONS_BY_ROUND, 1)},
    "satellites_per_federation": "satellites per federation",
    "surplus_power": "surplus power in them",
    "unfederated_power": "power outside of them",
    "advanced_tiles": "advanced tiles",
    "research_steps": "research steps",
    "leech_vp_paid": "VP paid for leech",
}


def arena_report(games: Games, names: list[str], ids: Ids) -> dict[str, Any]:
    """Plain numbers; writes to JSON.

    Returns:
        `agents` by entry: `vp`, `win_share` (estimates), `place`, `rating`; `players` by agent, the
        entries of one name together: `seats`, `factions`, `games by faction`, `sources`,
        `behaviour`; `differences`; `games`, `setups`, `decisions`, `seconds`; `forfeits`, the games
        with an illegal move. That seat has the last place there and no VP.
    """
    own = [games.entry == i for i in range(len(names))]  # (S, R, P)
    place, win = (rank(games.vp, games.illegal) for rank in (places, wins))
    score = scores(games.vp, games.illegal)

    vp = [_by_setup(score, mine) for mine in own]
    skill = ratings(games, len(names))
    agents = {
        name: {
            "vp": _interval(vp[i]),
            "win_share": _plain(share(_by_setup(win, own[i]))),
            "place": float(place[own[i]].mean()),
            "rating": skill[i],
            "illegal_moves": illegal_moves(games.illegal, games.decided, own[i]),
        }
        for i, name in enumerate(names)
    }
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return {
        "setups": len(games.vp),
        "games": int(np.prod(games.vp.shape[:2])),
        "decisions": int(games.decisions.sum()),
        "seconds": round(float(games.seconds.sum()), 1),
        "agents": agents,
        "players": _players(games, names, ids),
        "differences": [
            {"of": names[i], "to": names[j], **_interval(vp[i] - vp[j])} for i, j in pairs
        ],
        "forfeits": [
            {
                "agent": names[games.entry[s, r, p]], "setup": int(s), "rotation": int(r),
                "seat": int(p), "illegal_moves": int(games.illegal[s, r, p]),
            }
            for s, r, p in np.argwhere(games.illegal > 0)
        ],
    }  # fmt: skip


def _players(games: Games, names: list[str], ids: Ids) -> dict[str, Any]:
    """Statistics of each agent; entries of one name are combined."""
    score = scores(games.vp, games.illegal)
    own = [games.entry == i for i in range(len(names))]  # (S, R, P)
    kinds = [name.split(" #")[0] for name in names]
    players = {}
    for kind in dict.fromkeys(kinds):
        mine = np.any([own[i] for i, x in enumerate(kinds) if x == kind], axis=0)
        seats = range(1, games.vp.shape[-1] + 1)
        by_faction = {
            name: score[mine & (games.faction == i)] for i, name in enumerate(ids["faction"])
        }
        players[kind] = {
            "seats": {str(k): _mean(score[mine & (games.order == k)]) for k in seats},
            "factions": {name: _mean(x) for name, x in by_faction.items()},
            "games by faction": {name: len(x) for name, x in by_faction.items()},
            "sources": _columns(games.sources[mine], ids["vp_source"]),
            "behaviour": behaviour(games, mine, ids),
        }
    return players


def behaviour(games: Games, mine: np.ndarray, ids: Ids) -> dict[str, float | None]:
    """Means over the seats in `mine`, (S, R, P): `BEHAVIOUR`, and what follows from it.

    `satellites_per_federation` is None without a federation.
    """
    means = _columns(games.behaviour[mine], BEHAVIOUR)
    formed, sources = means["federations"], _columns(games.sources[mine], ids["vp_source"])
    return means | {
        "satellites_per_federation": means["satellites"] / formed if formed else None,
        "leech_vp_paid": -sources.get("LEECH", 0.0),
    }


def ratings(games: Games, entries: int) -> list[dict[str, float]]:
    """The entries as `rated`, all games in order."""
    place = places(games.vp, games.illegal)
    pairs = np.ndindex(*games.vp.shape[:2])
    rating_of = rated((games.entry[s, r].tolist(), place[s, r].tolist()) for s, r in pairs)
    mine = [rating_of[entry] for entry in range(entries)]
    return [{"mu": round(mu, 4), "sigma": round(sigma, 4)} for mu, sigma in mine]


def rated(games: Iterable[tuple[Sequence[T], Sequence[float]]]) -> dict[T, tuple[float, float]]:
    """Plackett-Luce ratings (openskill), game after game from 25 +- 8.33: mean and sigma.

    Args:
        games: the players of each, and their places from 1.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    skill: dict[T, Any] = {}
    for players, ranks in games:
        teams = [[skill.setdefault(player, model.rating())] for player in players]
        for player, (after,) in zip(players, model.rate(teams, ranks=list(ranks)), strict=True):
            skill[player] = after
    return {player: (rating.mu, rating.sigma) for player, rating in skill.items()}


def format_arena(result: dict[str, Any]) -> str:
    """The report as text."""
    agents = result["agents"]
    width = max(24, *(len(name) + 2 for name in agents))
    lines = [
        headline(result),
        f"{result['games']} games on {result['setups']} set-ups of {result['env']} "
        f"{result['version']}, seed {result['seed']}; mean (95 % interval)",
        "",
        f"{'agent':<{width}}{'VP':>26}{'win share':>26}{'place':>8}{'rating':>16}"
        f"{'illegal moves':>16}",
    ]
    for name, x in agents.items():
        rating = f"{x['rating']['mu']:.2f} +- {x['rating']['sigma']:.2f}"
        illegal = f"{100 * x['illegal_moves']['rate']:.2f} %"
        lines.append(
            f"{name:<{width}}{_text(x['vp']):>26}{_text(x['win_share']):>26}"
            f"{x['place']:>8.2f}{rating:>16}{illegal:>16}"
        )
    lines += _forfeits(result)
    lines += ["", f"{'paired difference':<{2 * width}}{'VP':>26}"]
    lines += [
        f"{x['of'] + ' - ' + x['to']:<{2 * width}}{_text(x):>26}" for x in result["differences"]
    ]
    titles = {
        "sources": "VP by source",
        "behaviour": "behaviour",
        "seats": "VP by place in turn order",
        "factions": "VP by faction (of how many)",
    }
    players = result["players"]
    for key, title in titles.items():
        lines += ["", _row(title, list(players), players)]
        for row in next(iter(players.values()))[key]:
            counts = [x["games by faction"].get(row) for x in players.values()]
            values = [x[key][row] for x in players.values()]
            cells = [_cell(v, n) for v, n in zip(values, counts, strict=True)]
            lines.append(_row(row, cells, players))
    speed = result["decisions"] / max(result["seconds"], 1e-9)
    lines += ["", f"{result['decisions']} decisions in {result['seconds']} s: {speed:,.0f}/s"]
    return "\n".join(lines)


def format_levels(results: dict[str, dict[str, Any]]) -> str:
    """Arenas against the Automa as a table, a row for each level."""
    names = list(next(iter(results.values()))["agents"])
    lines = [f"{'level':<14}{'VP':>26}{'VP of the Automa':>26}{'VP ahead':>26}{'won':>24}"]
    for level, result in results.items():
        mine, automa = result["agents"].values()
        ahead = _text(result["differences"][0])
        lines.append(
            f"{level:<14}{_text(mine['vp']):>26}{_text(automa['vp']):>26}{ahead:>26}"
            f"{_text(mine['win_share']):>24}"
        )
    return "\n".join([f"{names[0]}, {next(iter(results.values()))['games']} games a level", *lines])


def headline(result: dict[str, Any]) -> str:
    """The winner, its lead and the interval: the first two by mean VP, on the same set-ups."""
    agents = result["agents"]
    first, second = sorted(agents, key=lambda name: -agents[name]["vp"]["mean"])[:2]
    pair = next(x for x in result["differences"] if {x["of"], x["to"]} == {first, second})
    lead = pair if pair["of"] == first else _turned(pair)
    share = f"{agents[first]['win_share']['mean']:.2f} of the wins"
    if lead["low"] is None:
        return (
            f"{first} is ahead by {lead['mean']:.1f} VP of {second}: one set-up gives no interval"
        )
    by = f"{lead['mean']:.1f} VP ({lead['low']:.1f} to {lead['high']:.1f}, 95 %)"
    if not lead["mean"]:
        return f"{first} and {second} are level: difference {by}"
    if lead["low"] > 0:
        return f"{first} won: {by} above {second}, the next, and {share}"
    return f"{first} is ahead, but not significantly: {by} above {second}, the next, and {share}"


def _turned(pair: dict[str, Any]) -> dict[str, Any]:
    """A difference with the two agents swapped."""
    low, high = (None if pair[key] is None else -pair[key] for key in ("high", "low"))
    return {"mean": -pair["mean"], "low": low, "high": high}


def _forfeits(result: dict[str, Any]) -> list[str]:
    """The agents that moved illegally, and the first MAX_FORFEITS games that they lost by it."""
    lines = []
    for name, x in result["agents"].items():
        games = [f for f in result["forfeits"] if f["agent"] == name]
        if games:
            first, further = games[:MAX_FORFEITS], len(games[MAX_FORFEITS:])
            listed = ", ".join(f"set-up {f['setup']} game {f['rotation']}" for f in first)
            rest = f" and {further} more" if further else ""
            lines.append(f"{name}: {format_illegal_moves(x['illegal_moves'])} ({listed}{rest})")
    return ["", *lines] if lines else []


def _cell(value: float | None, games: int | None) -> str:
    """A mean, with the number of games if that differs between rows."""
    if value is None:
        return "-"
    return f"{value:.2f}" if games is None else f"{value:.1f} ({games})"


def _row(name: str, cells: Sequence[str], players: Iterable[str]) -> str:
    widths = [max(13, len(player) + 2) for player in players]
    return f"{name:<28}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))


def evaluation_report(games: Games, ids: Ids) -> dict[str, Any]:
    """Entry 0 of each game, the policy, against the mean of the others.

    Returns:
        VP, win share, federations and the difference in VP as means over set-ups with 95 %
        intervals; mean VP by source and by faction, means of `behaviour`.
    """
    mine = games.entry == 0  # (S, R, P)
    sides = {"policy": mine, "opponent": ~mine}
    vp = scores(games.vp, games.illegal)

    def by_side(x: np.ndarray, summarize: Callable[[np.ndarray], T]) -> dict[str, T]:
        """Summaries of the means over seats (S,) of the policy and of the others."""
        return {side: summarize(_by_setup(x, seats)) for side, seats in sides.items()}

    by_faction = {}
    for index, name in enumerate(ids["faction"]):
        own = {side: vp[seats & (games.faction == index)] for side, seats in sides.items()}
        if len(own["policy"]):
            means = {side: float(x.mean()) for side, x in own.items()}
            by_faction[name] = {"games": len(own["policy"]), **means}
    return {
        "setups": len(games.vp),
        "games": int(np.prod(games.vp.shape[:2])),
        "decisions_per_game": float(games.decisions.mean()),
        "vp": by_side(vp, _interval),
        "win_share": by_side(wins(games.vp, games.illegal), lambda x: _plain(share(x))),
        "vp_difference": _interval(_by_setup(vp, mine) - _by_setup(vp, ~mine)),
        "federations": by_side(games.federations, _interval),
        "behaviour": {side: behaviour(games, seats, ids) for side, seats in sides.items()},
        "illegal_moves": {
            side: illegal_moves(games.illegal, games.decided, seats)
            for side, seats in sides.items()
        },
        "vp_by_source": {
            name: by_side(points, lambda x: float(x.mean()))
            for name, points in zip(
                ids["vp_source"], np.moveaxis(games.sources, -1, 0), strict=True
            )
        },
        "vp_by_faction": by_faction,
    }


def format_evaluation(report: dict[str, Any], factions: bool = False) -> str:
    """The report as text."""

    other = report["opponent"]
    count = report.get("players", 4) - 1
    others = f"{('one', 'two', 'three')[count - 1]} {other} seat{'s' * (count > 1)}"
    if not count:
        others = f"the {other}"
    action_choice = "likeliest action" if report["likeliest"] else "sampled"
    lines = [
        f"{report['games']} games on {report['setups']} set-ups of {report['env']} "
        f"{report['env_version']}, one policy seat ({action_choice}) "
        f"against {others}; mean (95 % interval)",
        "",
        f"{'seat':<26}{'VP':>26}{'win share':>26}",
    ]
    for name, key in (("policy", "policy"), (other, "opponent")):
        vp, win = _text(report["vp"][key]), _text(report["win_share"][key])
        lines.append(f"{name[:24]:<26}{vp:>26}{win:>26}")
    lines += [f"{'difference':<26}{_text(report['vp_difference']):>26}", ""]
    rows = {
        text: {side: report["behaviour"][side][name] for side in ("policy", "opponent")}
        for name, text in PRINTED.items()
    }
    lines += [*_pair_rows("mean of a seat", rows, other), ""]
    lines += _pair_rows("VP by source", report["vp_by_source"], other)
    for name, key in (("policy", "policy"), (other, "opponent")):
        moves = report["illegal_moves"][key]
        if moves["moves"]:
            lines += ["", f"{name}: {format_illegal_moves(moves)}"]
    if factions:
        lines += ["", *_pair_rows("VP by faction", report["vp_by_faction"], other)]
    return "\n".join(lines)


def _pair_rows(title: str, rows: Mapping[str, Mapping[str, float | None]], other: str) -> list[str]:
    width = max(len(name) for name in (title, *rows)) + 2
    wide = max(10, len(other) + 2)
    return [
        f"{title:<{width}}{'policy':>10}{other:>{wide}}",
        *(
            f"{name:<{width}}{_cell(x['policy'], None):>10}{_cell(x['opponent'], None):>{wide}}"
            for name, x in rows.items()
        ),
    ]


def _text(x: dict[str, Any]) -> str:
    if x["low"] is None:
        return f"{x['mean']:.2f}"
    return f"{x['mean']:.2f} ({x['low']:.2f} to {x['high']:.2f})"


def _plain(x: Estimate) -> dict[str, float | None]:
    return {key: v if math.isfinite(v) else None for key, v in x._asdict().items()}


def _interval(values: np.ndarray) -> dict[str, float | None]:
    return _plain(estimate(values))


def _by_setup(x: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """(S, R, P) -> (S,), the mean over the seats of each set-up that `mine` (S, R, P) selects."""
    mean: np.ndarray = np.where(mine, x, 0).sum((1, 2)) / mine.sum((1, 2))
    return mean


def _mean(x: np.ndarray) -> float | None:
    return float(x.mean()) if x.size else None


def _columns(x: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    """(n, K) -> the mean of each column by name."""
    return {name: float(v) for name, v in zip(names, x.mean(0), strict=True)}

"""The tables of an arena: who is stronger, by how much, and how they play."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from training.games.match import (
    Estimate,
    estimate,
    illegal_moves,
    places,
    scores,
    share,
    told,
    wins,
)
from training.games.table import BEHAVIOUR, Played


def report(played: Played, names: list[str], ids: Any) -> dict[str, Any]:
    """Plain numbers; writes to JSON.

    Args:
        names: of the four entries.
        ids: of `faction` and `vp_source`.
    Returns:
        `agents` by entry: `vp`, `win_share` (estimates), `place`, `rating`; `players` by agent, the
        entries of one name together: `seats`, `factions`, `games by faction`, `sources`,
        `behaviour`; `differences`; `games`, `setups`, `decisions`, `seconds`; `forfeits`, the games
        in which somebody moved illegally. Who does has the last place there and no VP.
    """
    own = [played.entry == i for i in range(len(names))]  # (S, R, P)
    place, win = (rank(played.vp, played.illegal) for rank in (places, wins))
    score = scores(played.vp, played.illegal)

    def by_setup(x: np.ndarray, mine: np.ndarray) -> np.ndarray:
        """(S, R, P) -> (S,), the mean over an entry's seats of a set-up."""
        return np.where(mine, x, 0).sum((1, 2)) / mine.sum((1, 2))

    vp = [by_setup(score, mine) for mine in own]
    skill = ratings(played, len(names))
    agents = {
        name: {
            "vp": _plain(estimate(vp[i])),
            "win_share": _plain(share(by_setup(win, own[i]))),
            "place": float(place[own[i]].mean()),
            "rating": skill[i],
            "illegal_moves": illegal_moves(played.illegal, played.decided, own[i]),
        }
        for i, name in enumerate(names)
    }
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return {
        "setups": len(played.vp),
        "games": int(np.prod(played.vp.shape[:2])),
        "decisions": int(played.decisions.sum()),
        "seconds": round(float(played.seconds.sum()), 1),
        "agents": agents,
        "players": _players(played, names, ids),
        "differences": [
            {"of": names[i], "to": names[j], **_plain(estimate(vp[i] - vp[j]))} for i, j in pairs
        ],
        "forfeits": [
            {
                "agent": names[played.entry[s, r, p]], "setup": int(s), "rotation": int(r),
                "seat": int(p), "illegal_moves": int(played.illegal[s, r, p]),
            }
            for s, r, p in np.argwhere(played.illegal > 0)
        ],
    }  # fmt: skip


def _players(played: Played, names: list[str], ids: Any) -> dict[str, Any]:
    """How each agent plays, the entries of one name together."""
    score = scores(played.vp, played.illegal)
    own = [played.entry == i for i in range(len(names))]  # (S, R, P)
    kinds = [name.split(" #")[0] for name in names]
    players = {}
    for kind in dict.fromkeys(kinds):
        mine = np.any([own[i] for i, x in enumerate(kinds) if x == kind], axis=0)
        seats = range(1, played.vp.shape[-1] + 1)
        players[kind] = {
            "seats": {str(k): _mean(score[mine & (played.order == k)]) for k in seats},
            "factions": {
                faction: _mean(score[mine & (played.faction == index)])
                for index, faction in enumerate(ids["faction"])
            },
            "games by faction": {
                faction: int((mine & (played.faction == index)).sum())
                for index, faction in enumerate(ids["faction"])
            },
            "sources": _columns(played.sources[mine], ids["vp_source"]),
            "behaviour": _columns(played.behaviour[mine], BEHAVIOUR),
        }
    return players


def ratings(played: Played, entries: int) -> list[dict[str, float]]:
    """Plackett-Luce ratings (openskill) of the entries, game after game from 25 +- 8.33."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    skill = [model.rating() for _ in range(entries)]
    place = places(played.vp, played.illegal)
    for s, r in np.ndindex(*played.vp.shape[:2]):
        seats = played.entry[s, r]
        teams = model.rate([[skill[i]] for i in seats], ranks=place[s, r].tolist())
        for i, team in zip(seats, teams, strict=True):
            skill[i] = team[0]
    return [{"mu": round(x.mu, 4), "sigma": round(x.sigma, 4)} for x in skill]


def format_table(result: dict[str, Any]) -> str:
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


def headline(result: dict[str, Any]) -> str:
    """Who won, by how much and how sure that is: the first two by mean VP, on the same set-ups."""
    agents = result["agents"]
    first, second = sorted(agents, key=lambda name: -agents[name]["vp"]["mean"])[:2]
    pair = next(x for x in result["differences"] if {x["of"], x["to"]} == {first, second})
    lead = pair if pair["of"] == first else _turned(pair)
    share = f"{agents[first]['win_share']['mean']:.2f} of the wins"
    if lead["low"] is None:
        return f"{first} is ahead by {lead['mean']:.1f} VP of {second}: one set-up tells nothing"
    by = f"{lead['mean']:.1f} VP ({lead['low']:.1f} to {lead['high']:.1f}, 95 %)"
    if not lead["mean"]:
        return f"{first} and {second} are level: {by} apart"
    if lead["low"] > 0:
        return f"{first} won: {by} above {second}, the next, and {share}"
    return f"{first} is ahead, not surely: {by} above {second}, the next, and {share}"


def _turned(pair: dict[str, Any]) -> dict[str, Any]:
    """A difference seen from the other side."""
    low, high = (None if pair[key] is None else -pair[key] for key in ("high", "low"))
    return {"mean": -pair["mean"], "low": low, "high": high}


def _forfeits(result: dict[str, Any], most: int = 6) -> list[str]:
    """Who moved illegally, and in which games: those are lost to all others."""
    lines = []
    for name, x in result["agents"].items():
        games = [f for f in result["forfeits"] if f["agent"] == name]
        if games:
            shown = ", ".join(f"set-up {f['setup']} game {f['rotation']}" for f in games[:most])
            more = f" and {len(games) - most} more" if len(games) > most else ""
            lines.append(f"{name}: {told(x['illegal_moves'])} ({shown}{more})")
    return ["", *lines] if lines else []


def _cell(value: float | None, games: int | None) -> str:
    """A mean, and of how many games where that differs from row to row."""
    if value is None:
        return "-"
    return f"{value:.2f}" if games is None else f"{value:.1f} ({games})"


def _row(name: str, cells: list[str], players: Any) -> str:
    widths = [max(13, len(player) + 2) for player in players]
    return f"{name:<28}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True))


def _text(x: dict[str, Any]) -> str:
    if x["low"] is None:
        return f"{x['mean']:.2f}"
    return f"{x['mean']:.2f} ({x['low']:.2f} to {x['high']:.2f})"


def _plain(x: Estimate) -> dict[str, float | None]:
    return {key: v if math.isfinite(v) else None for key, v in x._asdict().items()}


def _mean(x: np.ndarray) -> float | None:
    return float(x.mean()) if x.size else None


def _columns(x: np.ndarray, names: Any) -> dict[str, float]:
    """(n, K) -> the mean of each column by name."""
    return {name: float(v) for name, v in zip(names, x.mean(0), strict=True)}

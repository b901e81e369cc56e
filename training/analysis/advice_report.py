"""A report of the advice on a set-up, as JSON values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.render.names import STRUCTURES, names, say, sources
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from ..stats.effects import Effect
from ..types import Environment
from . import advice
from .advice import Advice, Advisor, Boards, PlayedGames

is_own_report = outputs.json_with("advice", "setup", "factions")  # by the keys of a report
Report = dict[str, Any]
KINDS = {"mine": "mine", "project": "Gaia project", "upgrade": "upgrade", "pick": "choose"}
TILES = {"round_tiles": "round_tile", "final_missions": "final_mission", "boosters": "booster"}


def advise_and_report(
    advisor: Advisor,
    setup: Setup,
    boards: Boards,
    games_per_faction: int,
    about: Mapping[str, str],
    progress: Callable[[int], object] = lambda ended: None,
) -> Report:
    """Play the games and report on them; after Ctrl-C on the games that ended by then.

    Args:
        games_per_faction: at least; `boards.num_games` is the total.
        about: `agent`, and `from`, the origin of the set-up.
        progress: called repeatedly with the number of finished games.
    """
    factions = advice.design(boards, games_per_faction)
    played = advisor.play(setup, factions, progress=progress)
    return build_report(advisor.env, setup, played, boards, {**about, "wanted": len(factions)})


def build_report(
    env: Environment, setup: Setup, played: PlayedGames, boards: Boards, about: Report
) -> Report:
    """The report as JSON values, factions with the most VP first.

    Args:
        about: `agent`, `from`, `wanted`: the agent, the origin, the requested games.
    """
    ids, dealt = env.ruleset.ids, setup_to_dict(setup, env.ruleset)
    words = {**names(env.ruleset), "vp_source": sources(dealt["final_missions"])}
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
) -> Report:
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
    if kind in KINDS:
        return KINDS[kind]
    verb, _, piece = kind.partition(" ")
    if verb == "piece":  # a mine to a trading station is no action
        return STRUCTURES[piece]
    words = say(env.ruleset, kind)
    return f"pass, {words}" if kind.startswith("booster ") else words

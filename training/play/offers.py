"""What a game can be made of, in words: rulesets, their factions, opponents by level."""

from __future__ import annotations

from typing import Any

from gaia_jax.render.names import names
from gaia_jax.ruleset import VARIANTS, Ruleset

from .. import zoo
from ..agents.levels import LEVELS
from ..agents.search import split_name

RULESET_WORDS = {
    "lost_fleet": (
        "The Lost Fleet",
        "18 factions, four ships, asteroids and proto planets, as this project reads the rules.",
    ),
    "lost_fleet_published": (
        "The Lost Fleet, as published",
        "The same game with what the box and its rulebook print otherwise.",
    ),
    "base": ("Gaia Project", "The base game for two to four: 14 factions, no ships."),
}
BUILT_IN = {"random": "Any legal move.", "greedy": "Scripted by hand."}


def rulesets() -> list[dict[str, Any]]:
    """The rulesets: `id`, `name`, `about`, `players`, and `factions` with the sides of boards."""
    out = []
    for id, (name, about) in RULESET_WORDS.items():
        players = sorted(number for known, number in VARIANTS if known == id)
        factions = _factions(VARIANTS[id, players[-1]])
        out.append(
            {"id": id, "name": name, "about": about, "players": players, "factions": factions}
        )
    return out


def _factions(ruleset: Ruleset) -> list[dict[str, str]]:
    """Each faction with the one on the other side of its board, "" for none."""
    others = {a: b for pair in ruleset.faction_boards for a, b in (pair, pair[::-1])}
    words = names(ruleset)["faction"]
    return [
        {"id": id, "name": words[id], "other": others.get(id, "")} for id in ruleset.ids["faction"]
    ]


def level(name: str) -> tuple[str, str]:
    """How strong an agent is: its level of play, and what was measured, from the cards of the zoo.

    Both are "" where nothing is known, as of a run of one's own.
    """
    base, spec = split_name(name)
    word = next((level.name for level in LEVELS if level.agent == name), "")
    searched = " A search on top: slower, and minutes to compile." if spec is not None else ""
    if base in BUILT_IN:
        return word, BUILT_IN[base] + (_greedy() if base == "greedy" else "")
    if not base.startswith(zoo.PREFIX):
        return "", searched.strip()
    about = zoo.about(base)
    alike = about.get("results", {}).get("self_play")
    if alike is None:
        return word, searched.strip()
    mean, players = alike["vp"]["mean"], about.get("players", 4)
    said = f"{mean:.0f} VP among {players} of its kind"
    against = about["results"].get("greedy", {}).get("vp_difference", {}).get("mean")
    if against is not None:
        said += f", {abs(against):.0f} VP {'ahead of' if against > 0 else 'behind'} greedy"
    return word, f"{said}.{searched}"


def _greedy() -> str:
    """What `greedy` had at the table of the strongest shipped agent."""
    beside = zoo.about("zoo/strong").get("results", {}).get("greedy", {}).get("greedy_vp")
    return f" {beside['mean']:.0f} VP beside zoo/strong." if beside else ""

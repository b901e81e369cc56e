"""The rulesets, their factions, and the levels of opponents, in words."""

from __future__ import annotations

from typing import Any

from gaia_jax.components.automa import DEFAULT_LEVEL
from gaia_jax.render.automa_words import LEVEL_NAMES
from gaia_jax.render.names import names
from gaia_jax.ruleset import VARIANTS, Ruleset

from .. import zoo
from ..agents.levels import LEVELS, SECONDS, TIMED_ON, Level
from ..agents.search import split_name
from .languages import server_text

RULESETS_SHOWN = ("lost_fleet", "lost_fleet_published", "base")


def rulesets() -> list[dict[str, Any]]:
    """The rulesets: `id`, `name`, `about`, `players`, and `factions` with their other sides.

    `automa` has the `levels` and `factions` of a solo game; it is None in rulesets without one.
    """
    out = []
    for id in RULESETS_SHOWN:
        name, about = server_text(f"ruleset-{id}"), server_text(f"ruleset-{id}-about")
        players = sorted(number for ruleset_id, number in VARIANTS if ruleset_id == id)
        entry = {"id": id, "name": name, "about": about, "players": players}
        solo = VARIANTS.get((id, 1))
        factions = _factions(VARIANTS[id, players[-1]])
        out.append({**entry, "factions": factions, "automa": _automa(solo) if solo else None})
    return out


def _automa(ruleset: Ruleset) -> dict[str, Any]:
    """The Automa's levels, with the default one, and the ids of its factions."""
    parts = ruleset.automa
    assert parts is not None
    levels = [{"id": level.id, "name": LEVEL_NAMES[level.id]} for level in parts.levels]
    ids = [faction.id for faction in parts.factions]
    return {"levels": levels, "level": DEFAULT_LEVEL, "factions": ids}


def _factions(ruleset: Ruleset) -> list[dict[str, str]]:
    """Each faction with the other side of its board, or ""."""
    others = {a: b for pair in ruleset.faction_boards for a, b in (pair, pair[::-1])}
    words = names(ruleset)["faction"]
    return [
        {"id": id, "name": words[id], "other": others.get(id, "")} for id in ruleset.ids["faction"]
    ]


def level(name: str) -> Level:
    """An agent's strength as a level of play; `about` describes it, with measurements.

    `name` is "" if the agent is no level, and `about` is "" if nothing is known, as for your runs.
    """
    base, spec = split_name(name)
    entry = next((level for level in LEVELS if level.agent == name), Level("", name, ""))
    if spec is not None:
        slow = "slower"
        if name in SECONDS:
            median, longest = SECONDS[name]
            slow = f"{median} s a decision on {TIMED_ON}, nine of ten within {longest} s"
        about = f"{base} with a search before each move: {slow}, and minutes to compile."
        return entry._replace(about=about)
    sentences = [f"{entry.about[:1].upper()}{entry.about[1:]}."] if entry.about else []
    # The VP of a level are shown next to its name, from one arena; no other figures are shown.
    measured = _measured(base) if base.startswith(zoo.PREFIX) and entry.vp is None else ""
    return entry._replace(about=" ".join([*sentences, measured]).strip())


def _measured(name: str) -> str:
    """VP of a shipped agent, from its card."""
    about = zoo.about(name)
    alike = about.get("results", {}).get("self_play")
    if alike is None:
        return ""
    mean, players = alike["vp"]["mean"], about.get("players", 4)
    sentence = f"{mean:.0f} VP in games of {players} copies"
    against = about["results"].get("greedy", {}).get("vp_difference", {}).get("mean")
    if against is not None:
        sentence += f", {abs(against):.0f} VP {'more' if against > 0 else 'fewer'} than Regular"
    return f"{sentence}."

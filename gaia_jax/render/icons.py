"""What the pieces bring, in words and as the face of a piece.

A face is a tuple of lines in which `{o}` is the ore icon (`symbols.svg` has them all): `3{o}1{q}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gaia_jax.components.artifacts import Artifact
from gaia_jax.components.boosters import Booster
from gaia_jax.components.common import Cost, Gain, Per
from gaia_jax.components.federation_tokens import FederationToken
from gaia_jax.components.free_actions import FreeAction
from gaia_jax.components.power_actions import PowerAction
from gaia_jax.components.ships import ShipAction
from gaia_jax.components.tech_tiles import TechTile
from gaia_jax.components.tinkering import TinkeringTile


class Text(NamedTuple):
    """What a piece does."""

    words: str
    face: tuple[str, ...]  # its lines, in icons


# What is counted: in words, and short for the face of a tile.
COUNT_WORDS = {
    "mines": ("mine", "mine"),
    "trading_stations": ("trading station", "TS"),
    "research_labs": ("research lab", "lab"),
    "pi_academies": ("planetary institute and academy", "PI, AC"),
    "planet_types": ("planet type", "type"),
    "gaia_planets": ("Gaia planet", "Gaia"),
    "asteroid_buildings": ("structure on asteroids", "asteroid"),
    "main_sectors": ("main sector", "sector"),
    "deep_sectors": ("deep space sector", "deep sec."),
    "federation_tokens": ("federation token", "{f}"),
    "gaiaformers": ("gaiaformer", "{g}"),
    "basic_tiles": ("tech tile", "tech tile"),
    "science_level": ("level of the science track", "science lvl"),
    "gaia_level": ("level of the Gaia track", "Gaia lvl"),
    "tracks_at_3": ("track at level 3 or higher", "track 3+"),
}
EVENT_WORDS = {
    "new_type": ("mine on a new planet type", "new type"),
    "terraform_step": ("terraforming step", "terraforming"),
    "gaia_mine": ("mine on a Gaia planet", "Gaia mine"),
    "mine": ("mine", "mine"),
    "new_sector": ("mine in a new sector", "new sector"),
    "federation_token": ("federation token", "federation"),
    "trading_station": ("trading station", "TS"),
    "research_step": ("research step", "research"),
    "pi_academy": ("planetary institute or academy", "PI or AC"),
    "qic_action": ("QIC action", "QIC action"),
    "new_main_sector": ("mine in a new main sector", "new sector"),
    "guest_mine": ("mine next to another player", "guest mine"),
    "research_lab": ("research lab", "lab"),
}
# Effects that are no gain, of ship and QIC actions, federation tokens and boosters.
_EFFECTS = {
    "TECH": ("a tech tile", "tech tile"),
    "UPGRADE_TS": ("a mine becomes a trading station", "{m} to {ts}"),
    "UPGRADE_RL": ("a trading station becomes a research lab", "{ts} to {rl}"),
    "RETRIGGER": ("an own federation token again", "{f} again"),
    "RANGE": ("range +3 for a mine or a shuttle", "range +3"),
    "INSTANT_GAIA": ("gaiaform a transdim planet at once", "gaiaform"),
    "MINE_TF1": ("a mine with one free step", "1 step {m}"),
    "RESEARCH": ("a research step", "{r}"),
    "ASTEROID_MINE": ("a mine on asteroids", "asteroid {m}"),
    "RANGE_MINE": ("a mine at any distance", "any range {m}"),
    "TF3_MINE": ("a mine with up to 3 free steps", "3 steps {m}"),
    "RB6": ("gaiaform a transdim planet at once", "gaiaform"),
    "RB11": ("range +3", "range +3"),
    "RB13": ("a mine with one free step", "1 step {m}"),
}
_MINES = {"Proto": ("a protoplanet", "{m} proto"), "Asteroid": ("asteroids", "{m} asteroid")}
_AMOUNTS = {  # one, several, icon
    "vp": ("VP", "VP", "{v}"),
    "credits": ("credit", "credits", "{c}"),
    "ore": ("ore", "ore", "{o}"),
    "knowledge": ("knowledge", "knowledge", "{k}"),
    "qic": ("QIC", "QIC", "{q}"),
    "tokens": ("power token", "power tokens", "{t}"),
    "tokens_iii": ("power token into bowl III", "power tokens into bowl III", "{t}III"),
    "charge": ("power charged", "power charged", "{p}"),
    "gaiaformers": ("gaiaformer", "gaiaformers", "{g}"),
    "power": ("power", "power", "{w}"),
}
Amounts = Gain[int] | Cost[int] | Per[int]


def amounts(gain: Amounts) -> dict[str, int]:
    """The fields of a gain or a cost that are not 0, in their order."""
    return {k: v for k, v in vars(gain).items() if isinstance(v, int) and v}


def words(gain: Amounts) -> str:
    """`3 ore, 1 QIC`."""
    return ", ".join(f"{n} {_AMOUNTS[k][n != 1]}" for k, n in amounts(gain).items())


def icons(gain: Amounts) -> str:
    """`3{o}1{q}`."""
    return "".join(f"{n}{_AMOUNTS[k][2]}" for k, n in amounts(gain).items())


def special_text(id: str) -> str:
    """The action of a booster in words."""
    return _EFFECTS[id][0]


def _per(per: Per[int] | None) -> tuple[str, str]:
    """`2 VP per mine`, `2{v}/mine`."""
    if not per:
        return "", ""
    noun, short = COUNT_WORDS[per.count]
    return f"{words(per)} per {noun}", f"{icons(per)}/{short}"


def _steps(number: int) -> tuple[str, str]:
    s = "s" if number > 1 else ""
    return f"a mine with {number} free step{s}", f"{number} step{s} {{m}}"


def text(piece: Any) -> Text:
    """What a tile, token, booster, artifact or action does."""
    return _TEXTS[type(piece)](piece)


def _first(*rows: tuple[Any, str, tuple[str, ...]]) -> Text:
    """All the words that apply; the face of the last row that applies."""
    applicable = [row for row in rows if row[0]]
    return Text("; ".join(row[1] for row in applicable), applicable[-1][2])


def _tile(tile: TechTile) -> Text:
    per, passing = _per(tile.per), _per(tile.pass_per)
    event, vp = tile.trigger or ("mine", 0)
    noun, short = EVENT_WORDS[event]
    value, steps = tile.power_value_pi_ac, tile.free_mine_steps
    special = tile.special or Gain()
    return _first(
        (amounts(tile.gain), words(tile.gain), ("now", icons(tile.gain))),
        (tile.per, per[0], ("now", per[1])),
        (amounts(tile.income), f"income: {words(tile.income)}", ("{i}", icons(tile.income))),
        (tile.special, f"action: {words(special)}", ("{a}", icons(special))),
        (tile.pass_per, f"on passing: {passing[0]}", ("pass", passing[1])),
        (vp, f"{vp} VP for each {noun}", (f"{vp}{{v}} per", short)),
        (value, f"institute and academies have power {value}", ("PI, AC", f"power {value}")),
        (tile.range_bonus, f"range +{tile.range_bonus}", ("range", f"+{tile.range_bonus}")),
        (
            steps is not None,
            f"a mine with {steps} free steps, its cost waived",
            ("free {m}", f"{steps} steps"),
        ),
    )


def _booster(booster: Booster) -> Text:
    passing, effect = _per(booster.pass_per), _EFFECTS.get(booster.special or "", ("", ""))
    income = f"{{i}}{icons(booster.income)}"
    return _first(
        (True, f"income: {words(booster.income)}", (income,)),
        (booster.pass_per, f"on passing: {passing[0]}", (income, f"pass {passing[1]}")),
        (booster.special, f"action: {effect[0]}", (income, f"{{a}} {effect[1]}")),
    )


def _action(action: PowerAction | ShipAction) -> Text:
    """What it pays and brings."""
    per = _per(getattr(action, "per", None))
    effect = getattr(action, "effect", None)
    if effect:
        brings = _EFFECTS[effect]
    elif action.free_steps:
        brings = _steps(action.free_steps)
    else:
        brings = (
            " and ".join(part for part in (words(action.gain), per[0]) if part),
            " + ".join(part for part in (icons(action.gain), per[1]) if part),
        )
    return Text(f"{brings[0]} for {words(action.cost)}", (icons(action.cost), brings[1]))


def _token(token: FederationToken) -> Text:
    effect = (words(token.gain), icons(token.gain))
    said, face = _EFFECTS[token.effect] if token.effect else effect
    return Text(said, (face,))


def _artifact(artifact: Artifact) -> Text:
    gain, per = icons(artifact.gain), _per(artifact.per)
    planet, mine = _MINES.get(artifact.virtual_mine or "", ("", ""))
    income = artifact.income
    return _first(
        (gain, words(artifact.gain), ("now", gain)),
        (artifact.per, per[0], (gain or "now", per[1])),
        (amounts(income), f"income: {words(income)}", ("{i}", icons(income))),
        (planet, f"counts as a mine on {planet}", (gain, mine)),
        (artifact.retrigger, "an own federation token again", ("{f}", "again")),
    )


def _tinkering(tile: TinkeringTile) -> Text:
    if tile.free_steps:
        return Text(_steps(tile.free_steps)[0], (f"{tile.free_steps} steps {{m}}",))
    return Text(words(tile.gain), (icons(tile.gain),))


def _free(action: FreeAction) -> Text:
    if action.burn:
        return Text("burn a power token of bowl II to move another to bowl III", ())
    if action.reverses_brainstone:
        return Text("pay with the brainstone in the other order this turn", ())
    if action.gaiaformer:
        return Text("a gaiaformer into 1 QIC", ())
    if action.tokens_to_gaia:
        return Text("a token of bowl III into the Gaia area for 1 knowledge", ())
    return Text(f"{words(action.cost)} into {words(action.gain)}", ())


_TEXTS: dict[type, Callable[[Any], Text]] = {
    TechTile: _tile,
    Booster: _booster,
    PowerAction: _action,
    ShipAction: _action,
    FederationToken: _token,
    Artifact: _artifact,
    TinkeringTile: _tinkering,
    FreeAction: _free,
}

"""What the pieces bring, read off their components: in words, and as icons for their faces.

In the notation of a face `{o}` is the ore icon (`symbols.py` has them all): `3{o}1{q}`.
"""

from __future__ import annotations

from gaia_jax.components.artifacts import Artifact
from gaia_jax.components.boosters import Booster
from gaia_jax.components.common import Cost, Gain, Per
from gaia_jax.components.federation_tokens import FederationToken
from gaia_jax.components.free_actions import FreeAction
from gaia_jax.components.power_actions import PowerAction
from gaia_jax.components.ships import ShipAction
from gaia_jax.components.tech_tiles import TechTile
from gaia_jax.components.tinkering import TinkeringTile

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
    "guest_mine": ("mine beside another player", "guest mine"),
    "research_lab": ("research lab", "lab"),
}
_EFFECTS = {  # of ship and QIC actions
    "TECH": ("a tech tile", "tech tile"),
    "UPGRADE_TS": ("a mine becomes a trading station", "{m} to {ts}"),
    "UPGRADE_RL": ("a trading station becomes a research lab", "{ts} to {rl}"),
    "RETRIGGER": ("an own federation token again", "{f} again"),
    "RANGE": ("range +3 for a mine or a shuttle", "range +3"),
    "INSTANT_GAIA": ("gaiaform a transdim planet at once", "gaiaform"),
    "MINE_TF1": ("a mine with one free step", "1 step {m}"),
    "RESEARCH": ("a research step", "{r}"),
    "ASTEROID_MINE": ("a mine on asteroids", "asteroid {m}"),
}
BOOSTER_ACTIONS = {
    "RB6": ("gaiaform a transdim planet at once", "gaiaform"),
    "RB11": ("range +3", "range +3"),
    "RB13": ("a mine with one free step", "1 step {m}"),
}
_WORDS = {
    "vp": "VP",
    "credits": "credits",
    "ore": "ore",
    "knowledge": "knowledge",
    "qic": "QIC",
    "tokens": "power tokens",
    "tokens_iii": "power tokens into bowl III",
    "charge": "power charged",
    "gaiaformers": "gaiaformers",
    "power": "power",
}
_MINES = {"Proto": "a protoplanet", "Asteroid": "asteroids"}
_ONE = {
    "credits": "credit",
    "tokens": "power token",
    "tokens_iii": "power token into bowl III",
    "gaiaformers": "gaiaformer",
}
ICONS = {
    "vp": "{v}",
    "credits": "{c}",
    "ore": "{o}",
    "knowledge": "{k}",
    "qic": "{q}",
    "tokens": "{t}",
    "tokens_iii": "{t}III",
    "charge": "{p}",
    "gaiaformers": "{g}",
    "power": "{w}",
}


def amounts(gain: Gain[int] | Cost[int] | Per[int]) -> dict[str, int]:
    """The fields of a gain or a cost that are not 0, in their order."""
    return {k: v for k, v in vars(gain).items() if isinstance(v, int) and v}


def words(gain: Gain[int] | Cost[int] | Per[int]) -> str:
    """`3 ore, 1 QIC`."""
    pairs = amounts(gain).items()
    return ", ".join(f"{n} {_ONE.get(k, _WORDS[k]) if n == 1 else _WORDS[k]}" for k, n in pairs)


def icons(gain: Gain[int] | Cost[int] | Per[int]) -> str:
    """`3{o}1{q}`."""
    return "".join(f"{n}{ICONS[k]}" for k, n in amounts(gain).items())


def per_words(per: Per[int]) -> str:
    """`2 VP per mine`."""
    return f"{words(per)} per {COUNT_WORDS[per.count][0]}"


def per_icons(per: Per[int]) -> str:
    """`2{v}/mine`."""
    return f"{icons(per)}/{COUNT_WORDS[per.count][1]}"


def tile_words(tile: TechTile) -> str:
    """What a technology tile does."""
    out = []
    if amounts(tile.gain):
        out.append(words(tile.gain))
    if tile.per:
        out.append(per_words(tile.per))
    if amounts(tile.income):
        out.append(f"income: {words(tile.income)}")
    if tile.special:
        out.append(f"action: {words(tile.special)}")
    if tile.pass_per:
        out.append(f"on passing: {per_words(tile.pass_per)}")
    if tile.trigger:
        event, vp = tile.trigger
        out.append(f"{vp} VP for each {EVENT_WORDS[event][0]}")
    if tile.power_value_pi_ac:
        out.append(f"institute and academies have power {tile.power_value_pi_ac}")
    if tile.range_bonus:
        out.append(f"range +{tile.range_bonus}")
    if tile.free_mine_steps is not None:
        out.append(f"a mine with {tile.free_mine_steps} free steps, its cost waived")
    return "; ".join(out)


def tile_face(tile: TechTile) -> tuple[str, str]:
    """The two lines on the face of a technology tile, in icons."""
    if tile.special:
        return "{a}", icons(tile.special)
    if amounts(tile.income):
        return "{i}", icons(tile.income)
    if tile.pass_per:
        return "pass", per_icons(tile.pass_per)
    if tile.trigger:
        event, vp = tile.trigger
        return f"{vp}{{v}} per", EVENT_WORDS[event][1]
    if tile.power_value_pi_ac:
        return "PI, AC", f"power {tile.power_value_pi_ac}"
    if tile.range_bonus:
        return "range", f"+{tile.range_bonus}"
    if tile.free_mine_steps is not None:
        return "free {m}", f"{tile.free_mine_steps} steps"
    if tile.per:
        return "now", per_icons(tile.per)
    return "now", icons(tile.gain)


def booster_words(booster: Booster) -> str:
    """What a booster does."""
    out = [f"income: {words(booster.income)}"]
    if booster.pass_per:
        out.append(f"on passing: {per_words(booster.pass_per)}")
    if booster.special:
        out.append(f"action: {BOOSTER_ACTIONS[booster.special][0]}")
    return "; ".join(out)


def booster_face(booster: Booster) -> tuple[str, str]:
    """The two lines on the face of a booster, in icons."""
    second = ""
    if booster.pass_per:
        second = f"pass {per_icons(booster.pass_per)}"
    if booster.special:
        second = f"{{a}} {BOOSTER_ACTIONS[booster.special][1]}"
    return f"{{i}}{icons(booster.income)}", second


def action_words(action: PowerAction | ShipAction) -> str:
    """What a power, ship or QIC action pays and brings."""
    return f"{_does(action, 0)} for {words(action.cost)}"


def action_face(action: PowerAction | ShipAction) -> tuple[str, str]:
    """Its cost and what it brings, in icons."""
    return icons(action.cost), _does(action, 1)


def _does(action: PowerAction | ShipAction, form: int) -> str:
    gain, per = (icons, per_icons) if form else (words, per_words)
    effect = getattr(action, "effect", None)
    if effect:
        return _EFFECTS[effect][form]
    if action.free_steps:
        s = "s" if action.free_steps > 1 else ""
        if form:
            return f"{action.free_steps} step{s} {{m}}"
        return f"a mine with {action.free_steps} free step{s}"
    out = [gain(action.gain)] if amounts(action.gain) else []
    for_each = getattr(action, "per", None)
    out += [per(for_each)] if for_each else []
    return (" + " if form else " and ").join(out)


def token_words(token: FederationToken) -> str:
    """What a federation token brings."""
    effects = {
        "RANGE_MINE": "a mine at any distance",
        "TF3_MINE": "a mine with up to 3 free steps",
        "TECH": "a tech tile",
    }
    return effects[token.effect] if token.effect else words(token.gain)


def token_face(token: FederationToken) -> str:
    """The face of a federation token, in icons."""
    effects = {"RANGE_MINE": "any range {m}", "TF3_MINE": "3 steps {m}", "TECH": "tech tile"}
    return effects[token.effect] if token.effect else icons(token.gain)


def artifact_words(artifact: Artifact) -> str:
    """What an artifact brings."""
    out = [words(artifact.gain)] if amounts(artifact.gain) else []
    if artifact.per:
        out.append(per_words(artifact.per))
    if amounts(artifact.income):
        out.append(f"income: {words(artifact.income)}")
    if artifact.virtual_mine:
        out.append(f"counts as a mine on {_MINES[artifact.virtual_mine]}")
    if artifact.retrigger:
        out.append("an own federation token again")
    return "; ".join(out)


def artifact_face(artifact: Artifact) -> tuple[str, str]:
    """The two lines on the face of an artifact, in icons."""
    first = icons(artifact.gain)
    if artifact.virtual_mine:
        return first, "{m} proto" if artifact.virtual_mine == "Proto" else "{m} asteroid"
    if artifact.retrigger:
        return "{f}", "again"
    if amounts(artifact.income):
        return "{i}", icons(artifact.income)
    if artifact.per:
        return first or "now", per_icons(artifact.per)
    return "now", first


def tinkering_words(tile: TinkeringTile) -> str:
    """What a tinkering tile does."""
    if tile.free_steps:
        return f"a mine with {tile.free_steps} free step{'s' if tile.free_steps > 1 else ''}"
    return words(tile.gain)


def tinkering_face(tile: TinkeringTile) -> str:
    """The face of a tinkering tile, in icons."""
    return f"{tile.free_steps} steps {{m}}" if tile.free_steps else icons(tile.gain)


def free_words(action: FreeAction) -> str:
    """What a free action turns into what."""
    if action.burn:
        return "burn a power token of bowl II to move another to bowl III"
    if action.reverses_brainstone:
        return "pay with the brainstone in the other order this turn"
    if action.gaiaformer:
        return "a gaiaformer into 1 QIC"
    if action.tokens_to_gaia:
        return "a token of bowl III into the Gaia area for 1 knowledge"
    return f"{words(action.cost)} into {words(action.gain)}"

"""The powers of the factions, for the help and the page of the factions.

A power is a field of `Faction` that is not the default; `POWERS` has each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gaia_jax.components.common import Cost, Gain
from gaia_jax.components.factions import Faction
from gaia_jax.components.free_actions import (
    FREE_ACTIONS,
    ITARS_TOKENS_PER_TILE,
    NEVLAS_PI_BUNDLES,
    TERRANS_CONVERSIONS,
    TERRANS_REST,
    Bundle,
)
from gaia_jax.language import fill_in
from gaia_jax.render import icons
from gaia_jax.render.names import SHIPS, SPECIALS
from gaia_jax.render.texts import TEXTS, column, phrase


class Power(NamedTuple):
    """A field of `Faction`; names are separated by spaces."""

    sentence: str  # with `{field}` for a value of the faction
    rulings: str = ""


class Line(NamedTuple):
    """The power of a faction by one of its fields."""

    sentence: str
    rulings: tuple[str, ...]


def _bundles(bundles: Iterable[Bundle], phrase_id: str) -> str:
    return "; ".join(phrase(phrase_id, n=b.tokens, gain=icons.words(b.gain)) for b in bundles)


POWERS = {field: Power(**row) for field, row in TEXTS["power"].items()}
_FREE_RULINGS = {
    "HADSCH_HALLAS": "FRE-08 FRE-03",
    "TAKLONS": "A21",
    "BAL_TAKS": "FRE-09 GPJ-05",
    "NEVLAS": "FRE-06 FRE-07",
}
# Fields that the head of a faction's section shows, or that a power names in its sentence.
SHOWN = (
    *("id", "name", "board", "home", "start_planet", "start_tracks", "start_structures", "start"),
    *("start_power", "expansion", "base_income", "pi_income"),
    *("special_needs_pi", "special_free_steps", "special_range_bonus", "gaia_planet_qic_instead"),
)
COMMON = Faction(id="", name="", board=0, home="", start_planet="")


def _free_actions(faction: Faction) -> str:
    with_pi = phrase("with-pi")
    return "; ".join(
        f"`{action.id}` {icons.text(action).words}{with_pi * action.needs_pi}"
        for action in FREE_ACTIONS
        if action.faction == faction.id
    )


def _value(faction: Faction, field: str) -> Any:
    """A field in words."""
    value = getattr(faction, field)
    if isinstance(value, Gain | Cost):
        return icons.words(value)
    if field.endswith("_bowl"):
        return "I" * value
    if field in ("ts_income", "rl_income"):
        gains = [icons.words(gain, phrase("nothing")) for gain in value]
        is_equal = len(set(gains)) == 1
        return phrase("gain-each", gain=gains[0]) if is_equal else phrase("then").join(gains)
    texts = {
        "home": column("planet", "short").get(faction.home or "", ""),
        "preplaced_ship": SHIPS.get(faction.preplaced_ship or "", ""),
        "gaia_planet_qic_instead": phrase("qic-instead") * bool(value),
        "special_needs_pi": phrase("with-pi") * bool(value),
        "colour_steps": phrase("steps", n=value),
        "shuttles": phrase("shuttles", n=value),
        "special": SPECIALS[value]["rule"] if field == "special" and value else "",
        "upgrades": ", ".join(phrase("from-to", old=a, new=b) for a, b in faction.upgrades),
        "free_actions": _free_actions(faction),
    }
    return texts.get(field, value)


def lines(faction: Faction) -> Iterator[Line]:
    """The powers of a faction."""
    values = {field: _value(faction, field) for field in (*POWERS, *SHOWN)} | {
        "itars_tokens": ITARS_TOKENS_PER_TILE,
        "nevlas_bundles": _bundles(NEVLAS_PI_BUNDLES, "tokens-to"),
        "terrans_bundles": _bundles((*TERRANS_CONVERSIONS, TERRANS_REST), "points-to"),
    }
    for field, power in POWERS.items():
        if getattr(faction, field) == getattr(COMMON, field):
            continue
        rulings = power.rulings
        if field == "special" and faction.special:
            rulings = SPECIALS[faction.special]["rulings"]
        if field == "free_actions":
            rulings = _FREE_RULINGS[faction.id]
        sentence = fill_in(TEXTS["power"][field]["sentence"], **values)
        yield Line(sentence[0].upper() + sentence[1:], tuple(rulings.split()))

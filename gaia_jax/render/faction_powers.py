"""What sets a faction apart, as the help and the page of the factions say it.

A power is a field of `Faction` that is not the default; `POWERS` has each once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

from gaia_jax.components.common import Cost, Gain
from gaia_jax.components.factions import Faction
from gaia_jax.components.free_actions import (
    FREE_ACTIONS,
    ITARS_TOKENS_PER_TILE,
    NEVLAS_PI_BUNDLES,
    TERRANS_CONVERSIONS,
    Bundle,
)

# Words of the amounts of `Gain` and `Cost`.
WORDS = {
    "vp": "VP",
    "credits": "credits",
    "ore": "ore",
    "knowledge": "knowledge",
    "qic": "QIC",
    "tokens": "tokens into bowl I",
    "tokens_iii": "tokens into bowl III",
    "charge": "charge",
    "gaiaformers": "gaiaformers",
    "power": "power",
}
# The plural of such a word.
_SINGULAR = re.compile(r"(?<=[a-z]{4})s\b")


def amounts(gain: Gain[int] | Cost[int]) -> str:
    """The amounts that are not 0: "1 ore, 2 credits"."""
    pairs = [(f.name, getattr(gain, f.name)) for f in fields(gain)]
    words = WORDS | ({"tokens": "tokens discarded"} if isinstance(gain, Cost) else {})

    return ", ".join(_count(n, words[name]) for name, n in pairs if n) or "nothing"


def _count(n: int, word: str) -> str:
    """The number and the word, without its plural s where the number is 1."""
    return f"{n} {_SINGULAR.sub('', word, count=1) if n == 1 else word}"


def _list(gains: tuple[Gain[int], ...]) -> str:
    """What each piece brings, once if all bring the same."""
    if len(set(gains)) == 1:
        return f"{amounts(gains[0])} each"
    return ", then ".join(amounts(gain) for gain in gains)


def _bundles(bundles: Iterable[Bundle], unit: str) -> str:
    return "; ".join(f"{_count(b.tokens, unit)} to {amounts(b.gain)}" for b in bundles)


def _free_actions(f: Faction) -> str:
    parts = []
    for action in FREE_ACTIONS:
        if action.faction != f.id:
            continue
        price = amounts(action.cost)
        if action.gaiaformer:
            price = "an available gaiaformer, into the Gaia area until the next Gaia phase"
        if action.tokens_to_gaia:
            price = f"{action.tokens_to_gaia} token from bowl III into the Gaia area"
        if action.reverses_brainstone:
            parts.append(f"`{action.id}` once a turn: it takes the other place in payments")
            continue
        condition = ", with the PI" if action.needs_pi else ""
        parts.append(f"`{action.id}` {price} to {amounts(action.gain)}{condition}")
    return "free actions: " + "; ".join(parts)


SPECIALS = {
    "HIVE_STATION": "a station on an empty cell in range, at most six",
    "AMBAS_SWAP": "the PI and a mine change places; no VP, no leech",
    "FIRAKS_DOWNGRADE": "a research lab becomes a trading station, then a step on any track",
    "BESCODS_LOWEST": "a step on one of the lowest tracks",
    "TINKEROIDS_TILE": "the action of this round's tinkering tile",
    "SPACE_GIANTS_TF2": "a mine with two free steps",
    "MOWEYDS_RING": "a ring on a structure, +2 power in federations, at most six",
    "GLEENS_RANGE": "a mine, a Gaia project or an exploration with +2 range",
}
OWN_RULINGS = {
    "HADSCH_HALLAS": "FRE-08 FRE-03",
    "TAKLONS": "A21",
    "BAL_TAKS": "FRE-09 GPJ-05",
    "NEVLAS": "FRE-06 FRE-07",
}
SPECIAL_RULINGS = {
    "HIVE_STATION": "HIV-01 HIV-02 HIV-03",
    "AMBAS_SWAP": "AMB-01 FED-13 A16",
    "FIRAKS_DOWNGRADE": "FIR-01 TEC-09",
    "BESCODS_LOWEST": "ACT-15",
    "TINKEROIDS_TILE": "TIN-03 TIN-04",
    "SPACE_GIANTS_TF2": "SPG-02 MIN-14",
    "MOWEYDS_RING": "MOW-01 FED-11",
    "GLEENS_RANGE": "ACT-12",
}
# Where a special acts besides the chapters that know its column.
SPECIAL_CHAPTERS = ("legal", "pay", "place")


def _special(f: Faction) -> str:
    condition = ", with the PI" if f.special_needs_pi else ""
    return f"once a round{condition}: {SPECIALS[f.special or '']}"


@dataclass(frozen=True)
class Power:
    """A field of `Faction`: its sentence, its rulings, and its names in the rules if other ones."""

    say: Callable[[Faction], str]
    rulings: str
    columns: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()  # where the rule is at home but the column is not named


def _says(sentence: str) -> Callable[[Faction], str]:
    return lambda f: sentence


POWERS = {
    "brainstone": Power(
        _says("owns the brainstone: a token worth 3 when spent, in bowl I at the start"),
        "ACT-06 INC-03 FRE-04 FRE-10 GPJ-02 TAK-01",
        chapters=("power",),
    ),
    "mine_income_ore": Power(
        lambda f: f"mines bring {f.mine_income_ore} ore", "INC-01", ("mine_income",)
    ),
    "ts_income": Power(lambda f: f"stations bring {_list(f.ts_income)}", "INC-01"),
    "rl_income": Power(lambda f: f"labs bring {_list(f.rl_income)}", "INC-01"),
    "academy_a_income": Power(
        lambda f: f"academy A brings {amounts(f.academy_a_income)}", "INC-01"
    ),
    "academy_b_action": Power(
        lambda f: f"the action of academy B brings {amounts(f.academy_b_action)}",
        "ACT-14",
        ("academy_b_op",),
    ),
    "shuttles": Power(
        lambda f: f"{f.shuttles} shuttles to place", "INI-08 EXP-03", chapters=("legal",)
    ),
    "shuttle_cost": Power(
        lambda f: f"a shuttle costs {amounts(f.shuttle_cost)}", "EXP-01 EXP-07", ("explore_op",)
    ),
    "shuttle_brainstone": Power(
        _says("a shuttle also sends the brainstone to the Gaia area"), "EXP-01", ("explore_op",)
    ),
    "preplaced_ship": Power(
        lambda f: f"a free shuttle on {f.preplaced_ship} from the start", "INI-08"
    ),
    "gaia_planet_cost": Power(
        lambda f: (
            f"a Gaia planet costs {amounts(f.gaia_planet_cost)}"
            + (", or 1 QIC where the ore is short" if f.gaia_planet_qic_instead else "")
        ),
        "MIN-09 MIN-10",
        ("gaia_ore", "gaia_qic"),
    ),
    "colour_steps": Power(
        lambda f: _count(f.colour_steps or 0, "steps") + " to each of the seven colours",
        "MIN-21 DAR-02",
        ("steps",),
        ("setup",),
    ),
    "drawn_colours": Power(
        _says("3 steps to three colours drawn at the start, 1 to the other four"), "INI-09 MIN-22"
    ),
    "gaia_mine_vp": Power(
        lambda f: f"{f.gaia_mine_vp} VP for each mine on a Gaia planet", "GLE-03"
    ),
    "guest_mines": Power(
        _says("may build a mine on a planet of one other player, for 1 ore and 2 credits"),
        "LAN-01 A5 LAN-03 FED-14 LEE-09",
    ),
    "pi_guest_knowledge": Power(
        lambda f: f"with the PI, {f.pi_guest_knowledge} knowledge for each such mine", "LAN-02"
    ),
    "pi_new_type_knowledge": Power(
        lambda f: (
            f"with the PI, {f.pi_new_type_knowledge} knowledge for each mine on a planet"
            " type not yet owned"
        ),
        "GEO-01",
    ),
    "pi_new_main_sector": Power(
        lambda f: (
            f"with the PI, {amounts(f.pi_new_main_sector)} for each mine in a main sector"
            " without an own structure"
        ),
        "DAR-01",
    ),
    "pi_new_sector": Power(
        lambda f: (
            f"with the PI, {amounts(f.pi_new_sector)} for each mine in a main or deep sector"
            " without an own structure"
        ),
        "DAR-01",
    ),
    "upgrades": Power(
        lambda f: "upgrades: " + ", ".join(f"{a} to {b}" for a, b in f.upgrades), "UPG-01"
    ),
    "navigation_needs_pi": Power(_says("no step on navigation before the PI"), "BAL-01 TEC-11"),
    "pi_tech_tile": Power(_says("the PI brings a tech tile"), "SPG-01"),
    "federation_requirement": Power(
        lambda f: f"a federation needs {f.federation_requirement} power", "FED-10"
    ),
    "federation_requirement_pi": Power(
        lambda f: f"with the PI, a federation needs {f.federation_requirement_pi} power", "FED-10"
    ),
    "federation_grows": Power(
        _says("one federation, which grows: the k-th token needs 7k power in all"),
        "FED-15 FED-16",
    ),
    "satellite_qic": Power(_says("a satellite costs a QIC, no token"), "FED-15"),
    "pi_token": Power(_says("the PI brings the federation token of the faction"), "GLE-04"),
    "black_planet_bonus_pi": Power(
        lambda f: (
            f"with the PI, +{f.black_planet_bonus_pi} power in federations for each"
            " structure on a Black planet"
        ),
        "BES-01 FED-11",
    ),
    "qic_becomes_ore_until_academy_b": Power(
        _says("each QIC gained is an ore until academy B is built"), "GLE-01 GLE-02 FRE-11"
    ),
    "burn_to_gaia": Power(_says("a burned token goes to the Gaia area"), "FRE-05 ITA-01"),
    "gaia_tokens_to_bowl": Power(
        lambda f: f"tokens of the Gaia area return to bowl {'I' * f.gaia_tokens_to_bowl}",
        "GAI-05 GAI-07",
    ),
    "ore_token_bowl": Power(
        lambda f: f"the token for an ore goes to bowl {'I' * f.ore_token_bowl}", "XEN-01"
    ),
    "pi_power_worth": Power(
        lambda f: (
            f"with the PI, a token of bowl III is worth {f.pi_power_worth} power when"
            f" spent; conversions: {_bundles(NEVLAS_PI_BUNDLES, 'tokens')}"
        ),
        "ACT-07 NEV-01 FRE-07",
    ),
    "pi_leech_token": Power(
        _says("with the PI, a new token with each accepted leech, before or after it"), "LEE-07"
    ),
    "pi_gaia_convert": Power(
        lambda f: (
            "with the PI, tokens that leave the Gaia area are points to convert:"
            f" {_bundles(TERRANS_CONVERSIONS, 'points')}"
        ),
        "GAI-08 A12",
    ),
    "pi_gaia_tiles": Power(
        lambda f: (
            f"with the PI, in the Gaia phase: {ITARS_TOKENS_PER_TILE} tokens of the Gaia"
            " area for a tech tile, again and again"
        ),
        "GAI-09 GAI-06 A13",
    ),
    "free_actions": Power(_free_actions, ""),
    "special": Power(_special, "", ("special_op",), SPECIAL_CHAPTERS),
    "tinkering": Power(
        _says(
            "at the start of each round one tinkering tile is chosen for that round, none twice:"
            " three tiles are for rounds 1 to 3, three for rounds 4 to 6"
        ),
        "TIN-01 A6",
    ),
}
# Fields that the head of a faction's section shows, or that a power names in its sentence.
SHOWN = (
    *("id", "name", "board", "home", "start_planet", "start_tracks", "start_structures", "start"),
    *("start_power", "expansion", "base_income", "pi_income"),
    *("special_needs_pi", "special_free_steps", "special_range_bonus", "gaia_planet_qic_instead"),
)

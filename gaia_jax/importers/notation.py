"""The names of the recorded engine and ours: tiles, tokens, actions, planets, cells, the set-up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gaia_jax.components.power_actions import POWER_ACTIONS
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.geometry import rotate

Cell = tuple[int, int]
Log = Mapping[str, Any]  # a recorded game, see docs/reference/datasets.md


class MismatchError(Exception):
    """The game cannot continue as recorded: field, recorded value, our value."""


FACTIONS = {
    "terrans": "TERRANS", "lantids": "LANTIDS", "hadsch-hallas": "HADSCH_HALLAS", "ivits": "HIVES",
    "geodens": "GEODENS", "baltaks": "BAL_TAKS", "xenos": "XENOS", "gleens": "GLEENS",
    "taklons": "TAKLONS", "ambas": "AMBAS", "firaks": "FIRAKS", "bescods": "BESCODS",
    "nevlas": "NEVLAS", "itars": "ITARS",
}  # fmt: skip
PLANETS = {
    "r": "Blue", "d": "Yellow", "s": "Brown", "o": "Red", "v": "Orange", "t": "Black", "i": "White",
    "g": "Gaia", "m": "Transdim", "e": "Empty", "l": "Lost",
}  # fmt: skip
BOOSTERS = {
    "booster1": "RB1", "booster2": "RB9", "booster3": "RB10", "booster4": "RB13",
    "booster5": "RB11", "booster6": "RB7", "booster7": "RB14", "booster8": "RB12",
    "booster9": "RB2", "booster10": "RB5",
}  # fmt: skip
TECHS = {
    "tech1": "BT3_O1_Q1", "tech2": "BT7_TYPES_K", "tech3": "BT8_PIAC_4", "tech4": "BT9_7VP",
    "tech5": "BT2_INC_O1_CH1", "tech6": "BT5_INC_C1_K1", "tech7": "BT6_GAIA_3VP",
    "tech8": "BT4_INC_C4", "tech9": "BT1_ACT_CHARGE4", "advtech1": "FED-3VP-PASS",
    "advtech2": "RS-2VP", "advtech3": "SA-QIC-CRED", "advtech4": "MINE-2VP",
    "advtech5": "RS-3VP-PASS", "advtech6": "MS-ORE", "advtech7": "TYPE-1VP-PASS",
    "advtech8": "GAIA-2VP", "advtech9": "TS-4VP", "advtech10": "MS-2VP", "advtech11": "SA-O-3",
    "advtech12": "FED-5VP", "advtech13": "SA-K-3", "advtech14": "MINE-3VP-BUILD",
    "advtech15": "TRADE-3VP-UPG",
}  # fmt: skip
ROUNDS = {
    "score1": "RM-TF-2VP", "score2": "RM-RS-2VP", "score3": "RM-MINE-2VP", "score4": "RM-FED-5VP",
    "score5": "RM-TS-4VP", "score6": "RM-GAIA-4VP", "score7": "RM-PI-ACAD-1-5VP",
    "score8": "RM-TS-3VP", "score9": "RM-GAIA-3VP", "score10": "RM-PI-ACAD-2-5VP",
}  # fmt: skip
FINALS = {
    "structure": "BUILDINGS", "structureFed": "FEDERATION_BUILDINGS", "planetType": "PLANET_TYPES",
    "gaia": "GAIA_BUILDINGS", "sector": "MAIN_SECTORS", "satellite": "SATELLITES",
}  # fmt: skip
TOKENS = {
    "fed1": "FT_12VP", "fed2": "FT_8VP_QIC", "fed3": "FT_8VP_2PT", "fed4": "FT_7VP_2O",
    "fed5": "FT_7VP_6C", "fed6": "FT_6VP_2K", "gleens": "FT_GLEENS",
}  # fmt: skip
SLOTS = {
    "terra": "terraforming", "nav": "navigation", "int": "ai", "gaia": "gaia", "eco": "economy",
    "sci": "science", "free1": "free_1", "free2": "free_2", "free3": "free_3",
}  # fmt: skip
BOARD_ACTIONS = {
    "power1": "power PA_3K", "power2": "power PA_TF2", "power3": "power PA_2O",
    "power4": "power PA_7C", "power5": "power PA_2K", "power6": "power PA_TF1",
    "power7": "power PA_2PT", "qic1": "qic QIC_TECH", "qic2": "qic QIC_TOKEN",
    "qic3": "qic QIC_TYPES",
}  # fmt: skip
POWER_COSTS = {
    name: action.cost.power
    for action in POWER_ACTIONS
    for name, text in BOARD_ACTIONS.items()
    if text == f"power {action.id}"
}
SPECIALS = {
    "range+3": "RB11", "step": "RB13", "4pw": "BT1_ACT_CHARGE4", "q": "AC_B", "4c": "AC_B",
    "3o": "SA-O-3", "3k": "SA-K-3", "q,5c": "SA-QIC-CRED", "up-lowest": "FACTION",
    "space-station": "FACTION", "swap-PI": "FACTION", "down-lab": "FACTION",
}  # fmt: skip
PIECES = {"m": "MINE", "ts": "TS", "lab": "RL", "PI": "PI", "ac1": "AC_A", "ac2": "AC_B"}
# What one conversion costs; the Nevlas with the PI may also pay 4 for an ore and a credit.
PRICES = {
    "P1_to_C": 1, "P3_to_O": 3, "P4_to_K": 4, "P4_to_Q": 4, "T3_to_2O": 6, "T_to_K": 1, "K_to_C": 1,
    "O_to_C": 1, "Q_to_O": 1, "O_to_token": 1, "GF_to_Q": 1, "C4_to_K": 4, "C3_to_O": 3,
    "C4_to_Q": 4,
}  # fmt: skip
# Where the places of a sector lie about its centre, in recorded coordinates: ring A, ring B, the
# centre. They do not turn with the tile.
PLACES: dict[Cell, str] = dict(
    zip(
        [
            *((2, 0), (1, 1), (0, 2), (-1, 2), (-2, 2), (-2, 1)),
            *((-2, 0), (-1, -1), (0, -2), (1, -2), (2, -2), (2, -1)),
            *((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (0, 0)),
        ],
        [*(f"A{i}" for i in range(12)), *(f"B{i}" for i in range(6)), "C"],
        strict=True,
    )
)


def cell_from_log(q: int, r: int) -> Cell:
    """Our cell of a recorded one: there r grows downward on the screen, here upward."""
    return q + r, -r


def hex_names(setup: Log) -> dict[str, Cell]:
    """The cell of each name such as 7A11: sector, ring, place."""
    centers = {tile: (q, r) for tile, _, q, r in setup["sectors"]}
    named: dict[str, Cell] = {}
    for q, r, _, tile in setup["hexes"]:
        center = centers[tile]
        named[tile.rstrip("AB") + PLACES[q - center[0], r - center[1]]] = cell_from_log(q, r)
    return named


def check_is_base(record: Log, rules: Ruleset) -> None:
    """Check that a game was played by the rules of `base`, for as many as `rules` are for.

    Raises:
        MismatchError: it has another variant, map, expansion or neutral player.
    """
    options, setup = record.get("opts", {}), record["setup"]
    variant = options.get("factionVariant", "standard")
    if variant != "standard":
        raise MismatchError("not base", f"factionVariant {variant!r}", "standard")
    if options.get("frontiers"):
        raise MismatchError("not base", "the expansion frontiers", "without it")
    sectors, places = len(setup["sectors"]), len(rules.map.sector_centers)
    if sectors != places:
        raise MismatchError(
            "not base", f"a map of {sectors} sectors", f"{places} for {rules.players}"
        )
    names = {name: kind for kind, name in FINALS.items()}
    neutral = {names[kind]: count for kind, count in rules.neutral_player.items()}
    supply = {kind: neutral[kind] for kind in setup["final"]} if neutral else None
    if setup.get("neutral") != supply:
        raise MismatchError("neutral", setup.get("neutral"), supply)


def setup_of(record: Log, rules: Ruleset) -> dict[str, Any]:
    """The set-up of a recorded game in our words; its map is found among our tiles, turned.

    Raises:
        MismatchError: it was played by other rules than `base`, a line has no text, or a player no
            faction.
        ValueError: no rotation of our tiles matches the record.
    """
    check_is_base(record, rules)
    setup, players = record["setup"], len(record["vp"])
    planets = planets_of(record)
    chosen = {}
    for number, step in enumerate(record["steps"], 1):
        words = _words(number, step)
        if len(words) == 3 and words[1] == "faction":
            if words[2] not in FACTIONS:
                raise MismatchError(f"move {number} {step['l']!r}", words[2], "no faction of base")
            chosen[step.get("p")] = FACTIONS[words[2]]
    for player in range(players):
        if player not in chosen:
            raise MismatchError(
                f"faction of player {player}", "none", "chosen by a line `NAME faction NAME`"
            )
    advanced = {slot: tile for slot, tile in setup["techs"].items() if slot.startswith("adv-")}
    basic = {slot: tile for slot, tile in setup["techs"].items() if slot not in advanced}
    return {
        "sectors": [_tile_at(center, planets, rules) for center in rules.map.sector_centers],
        "factions": [chosen[player] for player in range(players)],
        "turn_order": list(range(players)),
        "basic_tiles": {SLOTS[slot]: TECHS[tile] for slot, tile in basic.items()},
        "advanced_tiles": {SLOTS[slot[4:]]: TECHS[tile] for slot, tile in advanced.items()},
        "tf5_token": TOKENS[setup["tfed"]],
        "boosters": [BOOSTERS[booster] for booster in setup["boosters"]],
        "round_tiles": [ROUNDS[tile] for tile in setup["rounds"]],
        "final_missions": [FINALS[tile] for tile in setup["final"]],
    }


def _words(number: int, step: object) -> list[str]:
    """The words of a line."""
    text = step.get("l") if isinstance(step, Mapping) else None
    if not isinstance(text, str) or not text.split():
        raise MismatchError(f"move {number}", str(step), "a text `l` and a player `p`")
    return text.split()


def planets_of(record: Log) -> dict[Cell, str]:
    """The planet of each of our cells."""
    return {cell_from_log(q, r): PLANETS[planet] for q, r, planet, _ in record["setup"]["hexes"]}


def _tile_at(center: Cell, planets: dict[Cell, str], rules: Ruleset) -> dict[str, Any]:
    """Our tile and its rotation that put just these planets around a centre."""
    around = [(q, r) for q, r in planets if _distance((q, r), center) <= 2]
    expected = {
        (q - center[0], r - center[1]): planets[q, r] for q, r in around if planets[q, r] != "Empty"
    }
    for tile in rules.map.sector_tiles:
        for turns in range(6):
            if {rotate(cell, turns): planet for cell, planet in tile.planets} == expected:
                return {"tile": tile.id, "rotation": turns}
    raise ValueError(f"no tile matches the planets around {center}: {expected}")


def _distance(a: Cell, b: Cell) -> int:
    dq, dr = a[0] - b[0], a[1] - b[1]
    return (abs(dq) + abs(dr) + abs(dq + dr)) // 2


def amounts(text: str) -> list[tuple[int, str]]:
    """ "4pw" -> [(4, "pw")], "1o,1c" -> [(1, "o"), (1, "c")]; three digits at most.

    Raises:
        MismatchError: it is no amount.
    """
    parsed = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{0,3})(t-a3|[a-z]+)", part)
        if match is None:
            raise MismatchError("amount", text, "unknown")
        parsed.append((int(match[1] or 1), match[2]))
    return parsed

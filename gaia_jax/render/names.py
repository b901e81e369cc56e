"""Plain names of all ids, from the print on the pieces.

`names(ruleset)` has a name for each id of `ruleset.ids`; `say(ruleset, text)` puts an action text
into words, `say_at(table, text)` with the contents of the place that it names.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gaia_jax.components.research import TRACKS
from gaia_jax.render import icons
from gaia_jax.render.icons import words
from gaia_jax.render.texts import TEXTS, column
from gaia_jax.ruleset import Ruleset

if TYPE_CHECKING:
    from gaia_jax.render.table import Table

PLANETS, STRUCTURES = column("planet"), column("structure")
TRACK_NAMES, SHIPS, VP_SOURCES = TEXTS["track"], TEXTS["ship"], TEXTS["vp_source"]
MISSIONS, MISSIONS_SHORT = column("final_mission"), column("final_mission", "short")
SPECIALS = TEXTS["special"]


def sources(missions: Sequence[str], brief: bool = False) -> dict[str, str]:
    """The sources of VP by their names in a game with these final missions."""
    names = MISSIONS_SHORT if brief else MISSIONS
    return VP_SOURCES | {f"FINAL_{n}": f"mission: {names[id]}" for n, id in enumerate(missions, 1)}


def _map(pieces: Iterable[Any]) -> dict[str, str]:
    return {piece.id: icons.text(piece).words for piece in pieces}


@functools.cache
def names(ruleset: Ruleset) -> Mapping[str, Mapping[str, str]]:
    """A plain name for every id of `ruleset.ids`, by kind and id."""
    r, ids = ruleset, ruleset.ids
    tiles = (*r.basic_tiles, *r.ship_tiles)
    special = {t.id: words(t.special) for t in (*tiles, *r.advanced_tiles) if t.special}
    special["AC_B"] = "the academy's action"
    special |= {b.id: icons.effect(b.special)[0] for b in r.boosters if b.special}
    special["FACTION"] = "the faction's action"
    tokens = (*r.base_tokens, r.gleens_token, *r.ship_tokens)
    token_names = _map(tokens)
    token_names[r.gleens_token.id] += " (Gleens)"
    for token in r.ship_tokens:
        token_names[token.id] += " (ship)"
    main = {s: s.replace("main", "sector") for s in ids["sector"]}
    table: dict[str, dict[str, str]] = {
        "planet": PLANETS,
        "planet_type": PLANETS,
        "structure": STRUCTURES,
        "faction": {f.id: f.name for f in r.factions},
        "track": TRACK_NAMES,
        "tile": _map(tiles),
        "advanced": _map(r.advanced_tiles),
        "advanced_slot": {**TRACK_NAMES, "extra": "the extra tile"},
        "booster": _map(r.boosters),
        "round_tile": {t.id: f"{t.vp} VP per {icons.event(t.event)[0]}" for t in r.round_tiles},
        "final_mission": {m: MISSIONS[m] for m in r.final_missions},
        "token": token_names,
        "ship": SHIPS,
        "ship_action": _map(r.ship_actions),
        "qic_action": _map(r.qic_actions),
        "power_action": _map(r.power_actions),
        "special": special,
        "artifact": _map(r.artifacts),
        "tinkering": _map(r.tinkering_tiles),
        "free_action": _map(r.free_actions),
        "income": TEXTS["income"],
        "vp_source": VP_SOURCES,
        "sector": main,
        "event": column("event"),
        "count": column("count"),
    }
    return {kind: {id: table[kind][id] for id in ids[kind]} for kind in ids}


_PICKED, _SKIPPED = column("node", "pick"), column("node", "skip")


@functools.cache
def say(ruleset: Ruleset, text: str) -> str:
    """An action text of `gaia_jax.actions.to_text` in words.

    Raises:
        ValueError: an action text that the ruleset does not have.
    """
    if text not in ruleset.actions.by_text:
        raise ValueError(f"unknown action text {text!r}")
    verb, _, argument = text.partition(" ")
    if argument in ("burn", "brainstone"):
        return names(ruleset)["free_action"][argument]
    if verb == "token" and argument in SHIPS:
        return f"federation token of the {SHIPS[argument]}"
    if verb == "piece":
        article = "an" if STRUCTURES[argument][0] in "aeiou" else "a"
        return f"build {article} {STRUCTURES[argument]}"
    row = TEXTS["verb"][verb]
    kind = row.get("kind", "")
    named = names(ruleset).get(kind) or TEXTS.get(kind, {})
    return str(row["words"]).format(named.get(argument, argument))


def say_at(table: Table, text: str) -> str:
    """`say` at a decision: with the contents of a place of the table before the action."""
    phrase, named = say(table.ruleset, text), names(table.ruleset)
    verb, _, place = text.partition(" ")
    if verb == "skip":
        return _SKIPPED.get(table.node, phrase)
    if verb == "tile" and table.node == "COVER":
        return f"cover the tech tile: {named['tile'][place]}"
    if verb == "booster":
        passing = "pass and take" if table.node == "TURN" else "take"
        return f"{passing} the booster: {named['booster'][place]}"
    if verb == "special" and place == "FACTION":
        return f"special action: {SPECIALS[table.faction(table.player).special or '']['name']}"
    if verb == "special" and place == "AC_B":
        return f"{phrase}: {words(table.faction(table.player).academy_b_action)}"
    if verb == "pick" and table.node in _PICKED:
        phrase = f"{_PICKED[table.node]} {place}"
    cell = int(table.ruleset.actions.cell[table.ruleset.actions.by_text[text]])
    target = verb == "pick" and table.node == "TARGET"
    if verb == "upgrade" or (target and table.map.structure[cell]):
        structure = table.ids["structure"][table.map.structure[cell]]
        return f"{'choose' if target else verb} the {STRUCTURES[structure]} on {place}"
    if target or verb in ("mine", "project") or phrase.startswith(tuple(_PICKED.values())):
        return f"{phrase}: {PLANETS[table.ids['planet'][table.map.planet[cell]]]}"
    if verb == "advanced":
        tile = named["advanced"][table.advanced_tiles[place][0]]
        return f"advanced tile: {tile} ({named['advanced_slot'][place]})"
    if verb == "artifact":
        return f"take the artifact: {named['artifact'][table.artifacts[int(place) - 1][0]]}"
    if verb == "token" and place in table.ship_tokens:
        token = named["token"][table.ship_tokens[place][0]]
        return f"federation token: {token}, of the {SHIPS[place]}"
    return phrase


assert tuple(TRACK_NAMES) == TRACKS

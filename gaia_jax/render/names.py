"""Plain names of all ids, from the print on the pieces.

`names(ruleset)` has a name for each id of `ruleset.ids`; `say(ruleset, text)` puts an action text
into words, `say_at(table, text)` with the contents of the place that it names.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gaia_jax.components.factions import Faction
from gaia_jax.components.research import TRACKS
from gaia_jax.language import fill_in, language
from gaia_jax.render import icons
from gaia_jax.render.icons import words
from gaia_jax.render.texts import TEXTS, column, phrase
from gaia_jax.ruleset import Ruleset

if TYPE_CHECKING:
    from gaia_jax.render.table import Table

PLANETS, STRUCTURES = column("planet"), column("structure")
TRACK_NAMES, SHIPS, VP_SOURCES = TEXTS["track"], TEXTS["ship"], TEXTS["vp_source"]
MISSIONS, MISSIONS_SHORT = column("final_mission"), column("final_mission", "short")
SPECIALS = TEXTS["special"]


def faction_name(faction: Faction) -> str:
    """A faction's name; that of its components where the language has none."""
    return str(TEXTS["faction"].get(faction.id, faction.name))


def sources(ruleset: Ruleset, missions: Sequence[str], brief: bool = False) -> dict[str, str]:
    """The sources of VP by their names in a game with these final missions."""
    names = MISSIONS_SHORT if brief else MISSIONS
    final = {n: phrase("source-mission", name=names[id]) for n, id in enumerate(missions, 1)}
    # One source for the actions that QIC pay, which are the ships' where there are ships.
    qic = {} if ruleset.ships else {"SHIP": phrase("source-qic")}
    # The Automa's cards pay from the source of the factions (AUT-11).
    cards = {"FACTION": phrase("source-cards")} if ruleset.automa else {}
    return {**VP_SOURCES, **qic, **cards, **{f"FINAL_{n}": text for n, text in final.items()}}


def _map(pieces: Iterable[Any]) -> dict[str, str]:
    return {piece.id: icons.text(piece).words for piece in pieces}


def names(ruleset: Ruleset) -> Mapping[str, Mapping[str, str]]:
    """A plain name for every id of `ruleset.ids`, by kind and id, in the language in use."""
    return _names(ruleset, language())


@functools.cache
def _names(r: Ruleset, code: str) -> Mapping[str, Mapping[str, str]]:
    ids = r.ids
    tiles = (*r.basic_tiles, *r.ship_tiles)
    special = {t.id: words(t.special) for t in (*tiles, *r.advanced_tiles) if t.special}
    special["AC_B"] = phrase("academy-action")
    special |= {b.id: icons.effect(b.special)[0] for b in r.boosters if b.special}
    special["FACTION"] = phrase("faction-action")
    tokens = (*r.base_tokens, r.gleens_token, *r.ship_tokens)
    token_names = _map(tokens)
    for token in (r.gleens_token, *r.ship_tokens):
        phrase_id = "token-ship" if token in r.ship_tokens else "token-gleens"
        token_names[token.id] = phrase(phrase_id, name=token_names[token.id])
    sectors = {s: phrase("sector-{}".format(*s.split()), n=s.split()[1]) for s in ids["sector"]}
    table: dict[str, dict[str, str]] = {
        "planet": dict(PLANETS),
        "planet_type": dict(PLANETS),
        "structure": dict(STRUCTURES),
        "faction": {f.id: faction_name(f) for f in r.factions},
        "track": dict(TRACK_NAMES),
        "tile": _map(tiles),
        "advanced": _map(r.advanced_tiles),
        "advanced_slot": {**TRACK_NAMES, "extra": phrase("extra-tile")},
        "booster": _map(r.boosters),
        "round_tile": {t.id: icons.scored(t.vp, t.event) for t in r.round_tiles},
        "final_mission": {m: MISSIONS[m] for m in r.final_missions},
        "token": token_names,
        "ship": dict(SHIPS),
        "ship_action": _map(r.ship_actions),
        "qic_action": _map(r.qic_actions),
        "power_action": _map(r.power_actions),
        "special": special,
        "artifact": _map(r.artifacts),
        "tinkering": _map(r.tinkering_tiles),
        "free_action": _map(r.free_actions),
        "income": dict(TEXTS["income"]),
        "vp_source": dict(VP_SOURCES),
        "sector": sectors,
        "event": dict(column("event")),
        "count": dict(column("count")),
    }
    return {kind: {id: table[kind][id] for id in ids[kind]} for kind in ids}


_PICKED, _SKIPPED = column("node", "pick"), column("node", "skip")


def say(ruleset: Ruleset, text: str) -> str:
    """An action text of `gaia_jax.actions.to_text` in words.

    Raises:
        ValueError: an action text that the ruleset does not have.
    """
    return _action_name(ruleset, text, language())


@functools.cache
def _action_name(ruleset: Ruleset, text: str, code: str) -> str:
    if text not in ruleset.actions.by_text:
        raise ValueError(f"unknown action text {text!r}")
    verb, _, argument = text.partition(" ")
    if argument in ("burn", "brainstone"):
        return names(ruleset)["free_action"][argument]
    if verb == "token" and argument in SHIPS:
        return phrase("token-of", ship=SHIPS[argument])
    if verb == "piece":
        return phrase("build", structure=TEXTS["structure"][argument]["article"])
    row = TEXTS["verb"][verb]
    kind = row.get("kind", "")
    named: Mapping[str, str] = names(ruleset).get(kind) or TEXTS.get(kind) or {}
    return fill_in(row["words"], name=named.get(argument, argument))


def say_at(table: Table, text: str) -> str:
    """`say` at a decision: with the contents of a place of the table before the action."""
    action_words, named = say(table.ruleset, text), names(table.ruleset)
    verb, _, place = text.partition(" ")
    if verb == "skip":
        return _SKIPPED.get(table.node, action_words)
    if verb == "tile" and table.node == "COVER":
        return phrase("cover", name=named["tile"][place])
    if verb == "booster":
        phrase_id = "pass-booster" if table.node == "TURN" else "take-booster"
        return phrase(phrase_id, name=named["booster"][place])
    if verb == "special" and place == "FACTION":
        special = SPECIALS[table.faction(table.player).special or ""]["name"]
        return fill_in(TEXTS["verb"]["special"]["words"], name=special)
    if verb == "special" and place == "AC_B":
        return f"{action_words}: {words(table.faction(table.player).academy_b_action)}"
    if verb == "pick" and table.node in _PICKED:
        action_words = fill_in(_PICKED[table.node], name=place)
    cell = int(table.ruleset.actions.cell[table.ruleset.actions.by_text[text]])
    target = verb == "pick" and table.node == "TARGET"
    if (verb == "upgrade" or target) and table.map.structure[cell]:  # none: it is built later
        structure = table.ids["structure"][table.map.structure[cell]]
        phrase_id = "choose-structure" if target else "upgrade-structure"
        named_structure = TEXTS["structure"][structure]
        values = {"structure": named_structure["name"], "the": named_structure["the"]}
        return phrase(phrase_id, place=place, **values)
    if target or verb in ("mine", "project") or (verb == "pick" and table.node in _PICKED):
        return f"{action_words}: {PLANETS[table.ids['planet'][table.map.planet[cell]]]}"
    if verb == "advanced":
        tile = named["advanced"][table.advanced_tiles[place][0]]
        return phrase("take-advanced", name=tile, slot=named["advanced_slot"][place])
    if verb == "artifact":
        artifact = named["artifact"][table.artifacts[int(place) - 1][0]]
        return phrase("take-artifact", name=artifact)
    if verb == "token" and place in table.ship_tokens:
        token = named["token"][table.ship_tokens[place][0]]
        return phrase("take-ship-token", name=token, ship=SHIPS[place])
    return action_words


assert tuple(TRACK_NAMES) == TRACKS

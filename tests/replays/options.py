"""Comparison of the offers of the recorded engine at the start of a line with our legal actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gaia_jax.importers.lines import Line
from gaia_jax.importers.notation import BOARD_ACTIONS, BOOSTERS, PIECES, SLOTS, SPECIALS
from gaia_jax.importers.position import is_full
from tests.replays.compare import Difference
from tests.replays.lost_gains import can_charge, special_is_void
from tests.replays.player import Player

OURS = {piece: name for name, piece in PIECES.items()}
# What a conversion gains, in recorded units.
GAINS = {
    "K_to_C": "c", "O_to_C": "c", "P1_to_C": "c", "P3_to_O": "o", "Q_to_O": "o", "P4_to_K": "k",
    "C3_to_O": "o", "C4_to_K": "k", "T_to_K": "k", "T3_to_2O": "o", "P4_to_Q": "q", "C4_to_Q": "q",
    "GF_to_Q": "q", "O_to_token": "t",
}  # fmt: skip
STEPS = ("power PA_TF1", "power PA_TF2", "special RB13")


def compare(player: Player, line: Line, report: Any) -> Iterator[Difference]:
    """Both ways; what differs for a known reason is counted, everything else is a difference."""
    position, offered = player.position, line.options
    if offered is None or position.written:
        return
    report.asked += 1
    player.who = line.who
    recorded = set(read(player, offered))
    if position.node == "LEECH":  # conversions are offered there to no end
        recorded = {text for text in recorded if text.startswith("leech")}
    own = at_turn(player) if position.node == "TURN" else set(position.menu())
    for text in sorted(recorded - own):
        if reason := why_not_ours(player, text):
            report.known[reason] += 1
        else:
            yield "offered", text, "not legal"
    for text in sorted(own - recorded):
        if reason := why_only_ours(player, text):
            report.known[reason] += 1
        else:
            yield "offered", "not offered", text


def why_not_ours(player: Player, text: str) -> str | None:
    """Why the recorded engine offers what our rules do not."""
    position = player.position
    verb, _, name = text.partition(" ")
    if verb == "free" and name in GAINS and is_full(position, GAINS[name], position.player):
        return "a conversion whose gain has no room (FRE-03)"
    if text in STEPS:
        return "steps without a planet to use them on"
    if text == "special RB11":
        return "range without a planet to use it on"
    if special_is_void(position, text):
        return "a special action whose gain is lost (A27)"
    if text == "leech CHARGE" and not can_charge(position):
        return "a token where nothing can be charged (LEE-07)"
    return None


def why_only_ours(player: Player, text: str) -> str | None:
    """Why our rules offer what the recorded engine does not."""
    if text == "free brainstone":
        return "the brainstone the other way round (A21)"
    return None


def may_type(player: Player, offered: dict[str, Any]) -> bool:
    """Whether an empty list of federations, "you may type one", is one that we offer too.

    That engine's search gives up at times; it then checks what is typed.
    """
    return offered.get("federation") == [] and player.position.legal("form_federation")


def at_turn(player: Player) -> set[str]:
    """Our legal actions at TURN, upgrades by their pieces."""
    position = player.position
    texts = set()
    for text in position.menu():
        verb, _, cell = text.partition(" ")
        if verb == "upgrade":
            texts |= {f"build {OURS[piece]} {cell}" for piece in position.pieces(text)}
        elif verb in ("mine", "project"):
            texts.add(f"build {'m' if verb == 'mine' else 'gf'} {cell}")
        else:
            texts.add(text)
    return texts


def read(player: Player, offered: dict[str, Any]) -> Iterator[str]:
    """The offer in our words."""
    for piece, place, *_ in offered.get("build", ()):
        node = player.position.node
        cell = player.at(place)
        yield f"pick {cell}" if node == "START" else f"build {piece} {cell}"
    for track in offered.get("up", ()):
        yield f"advance {SLOTS[track]}"
    for action in offered.get("action", ()):
        yield BOARD_ACTIONS[action]
    for special in offered.get("special", ()):
        yield f"special {SPECIALS[special]}"
    for conversion in offered.get("spend", ()):
        price, gain = conversion.split("x")[0].split(">")
        yield f"free {player.conversion(price, gain)[0]}"
    if offered.get("burn"):
        yield "free burn"
    if "pass" in offered:
        boosters = offered["pass"]
        yield from (f"booster {BOOSTERS[booster]}" for booster in boosters)
        if not boosters:
            yield "pass"
    for booster in offered.get("booster", ()):
        yield f"booster {BOOSTERS[booster]}"
    if offered.get("federation") or may_type(player, offered):
        yield "form_federation"
    if "charge" in offered:
        for offer in offered["charge"]["offers"]:
            first = offer["offer"].split(",")[0].endswith("t")
            yield "leech TOKEN_FIRST" if first else "leech CHARGE"
    if "decline" in offered:
        yield "leech DECLINE"

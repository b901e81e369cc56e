"""What the recorded engine offered at the start of a line, beside our legal actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.replays.notation import BOARD_ACTIONS, BOOSTERS, PIECES, SLOTS, SPECIALS
from tests.replays.player import Line, Player

OURS = {piece: name for name, piece in PIECES.items()}


def compare(player: Player, line: Line, report: Any) -> None:
    """Both ways, kind by kind; each kind of difference is counted with an example."""
    seat, offered = player.seat, line.options
    if offered is None:
        return
    report.asked += 1
    theirs = set(read(player, offered))
    if seat.node == "TURN":
        ours = at_turn(player)
    else:
        ours = set(seat.menu())
    if seat.node == "LEECH":  # which of the two orders a Taklons player may choose is told apart
        theirs = {text for text in theirs if text.startswith("leech")}
    for text in theirs - ours:
        report.option(player.record["id"], line, f"offered only: {kind(text)}", text)
    for text in ours - theirs:
        report.option(player.record["id"], line, f"only ours: {kind(text)}", text)


def kind(text: str) -> str:
    verb, _, argument = text.partition(" ")
    if verb == "build":
        return f"build {argument.split()[0]}"
    return verb if "," in argument else text


def at_turn(player: Player) -> set[str]:
    """Our legal actions at TURN, upgrades by their pieces."""
    seat = player.seat
    found = set()
    for text in seat.menu():
        verb, _, cell = text.partition(" ")
        if verb == "upgrade":
            found |= {f"build {OURS[piece]} {cell}" for piece in seat.pieces(text)}
        elif verb in ("mine", "project"):
            found.add(f"build {'m' if verb == 'mine' else 'gf'} {cell}")
        else:
            found.add(text)
    return found


def read(player: Player, offered: dict[str, Any]) -> Iterator[str]:
    """The offer in our words."""
    for piece, place, *_ in offered.get("build", ()):
        node = player.seat.node
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
    if offered.get("federation"):
        yield "form_federation"
    if "charge" in offered:
        yield "leech CHARGE"
        for offer in offered["charge"]["offers"]:
            if offer["offer"].split(",")[0].endswith("t"):
                yield "leech TOKEN_FIRST"
    if "decline" in offered:
        yield "leech DECLINE"

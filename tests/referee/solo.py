"""Set-ups of the solo game: one human against the Automa, in two printed rulesets."""

from __future__ import annotations

import random
from typing import Any

from tests.referee import setup as drawing
from tests.referee.automa import SEAT
from tests.referee.automa_cards import draw_cards, facts
from tests.referee.rules import Rules, ruleset

RULESET, FLEET = "base", "lost_fleet_published"
BOTH = 2  # the rules are those of two players (AUT-03)
ROUNDS = 6


def is_solo(setup: dict[str, Any]) -> bool:
    """Whether a set-up has an Automa."""
    return "automa" in setup


def rules_for_both(name: str) -> Rules:
    """The rules of a solo game: the human and the Automa are two players."""
    return ruleset(name, BOTH, solo=True)


def boards_of(name: str) -> dict[str, int]:
    """The board of each faction that a human can play."""
    return {faction: f["board"] for faction, f in rules_for_both(name).factions.items()}


def draw(
    seed: int,
    level: str | None = None,
    faction: str | None = None,
    human: str | None = None,
    name: str = RULESET,
) -> dict[str, Any]:
    """A random set-up, in the form of set-up files; what is not given is random.

    `faction` is the Automa's.
    """
    rng = random.Random(f"solo {seed}")
    boards = boards_of(name)
    if faction is None:
        fitting = [f for f in facts()["factions"] if human is None or boards[f] != boards[human]]
        faction = rng.choice(fitting)
    if human is None:
        human = rng.choice([other for other in boards if boards[other] != boards[faction]])
    setup = drawing.draw(seed, name, [human, faction], BOTH, solo=True)
    del setup["turn_order"]
    level = level or rng.choice(list(facts()["levels"]))
    cards = {"level": level, "faction": faction, **draw_cards(rng, level)}
    if name == FLEET:
        cards["explored_ship"] = rng.choice(list(facts()["ship_tiles"]))  # AUT-42
    return setup | {"players": 1, "factions": [human], "automa": cards}


def draw_spread(seed: int, name: str = RULESET) -> dict[str, Any]:
    """A random set-up with the levels and factions in turn: of 420 seeds in a row all differ."""
    boards = boards_of(name)
    levels, factions = list(facts()["levels"]), list(facts()["factions"])
    faction = factions[seed % len(factions)]
    humans = [other for other in boards if boards[other] != boards[faction]]
    return draw(seed, levels[seed % len(levels)], faction, humans[seed % len(humans)], name)


def seat_both(setup: dict[str, Any]) -> dict[str, Any]:
    """The set-up with the Automa among the players; the human is first (AUT-01)."""
    factions = [*setup["factions"], setup["automa"]["faction"]]
    return setup | {"factions": factions, "turn_order": [1 - SEAT, SEAT]}


def check(setup: dict[str, Any], name: str) -> None:
    """Refuse what no solo game has.

    Raises:
        SetupError: rules without a solo game, two humans, an Automa of a faction without a card
            or of the human's colour, a ship without a tile of the Automa, cards that the level
            and the rounds do not have.
    """
    drawn, humans = setup["automa"], setup["factions"]
    if name not in (RULESET, FLEET) or len(humans) != 1:
        raise drawing.SetupError(f"one human plays {RULESET} or {FLEET}, not {humans} {name}")
    boards = boards_of(name)
    human, faction = humans[0], drawn["faction"]
    if faction not in facts()["factions"] or boards[human] == boards[faction]:
        raise drawing.SetupError(f"the Automa cannot be {faction} against {human}")
    ships = facts()["ship_tiles"] if name == FLEET else {None}
    if drawn.get("explored_ship") not in ships:
        raise drawing.SetupError(f"the Automa cannot have explored {drawn.get('explored_ship')!r}")
    before = set(facts()["levels"][drawn["level"]]["fixed_cards"])
    for number, deck in enumerate(drawn["decks"], start=1):
        cards = set(deck)
        if len(cards) != len(deck) or not before < cards or len(cards) != len(before) + 1:
            raise drawing.SetupError(f"deck {number} is {sorted(before)} and one more, not {deck}")
        before = cards
    turned = [*drawn["start_mine_cards"], drawn["booster_card"]]
    if len(drawn["decks"]) != ROUNDS or not before.union(turned) <= facts()["cards"].keys():
        raise drawing.SetupError(f"{ROUNDS} decks of cards 1 to 17, not {drawn['decks']}")

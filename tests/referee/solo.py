"""Set-ups of the solo game: one human against the Automa, in the base game."""

from __future__ import annotations

import random
from typing import Any

from tests.referee import setup as drawing
from tests.referee.automa import SEAT
from tests.referee.automa_cards import draw_cards, facts
from tests.referee.rules import ruleset

RULESET, BOTH = "base", 2  # the rules are those of two players (AUT-03)
ROUNDS = 6


def is_solo(setup: dict[str, Any]) -> bool:
    """Whether a set-up has an Automa."""
    return "automa" in setup


def draw(
    seed: int, level: str | None = None, faction: str | None = None, human: str | None = None
) -> dict[str, Any]:
    """A random set-up, in the form of set-up files; what is not given is random.

    `faction` is the Automa's.
    """
    rng = random.Random(f"solo {seed}")
    boards = {name: f["board"] for name, f in ruleset(RULESET, BOTH).factions.items()}
    if faction is None:
        fitting = [f for f in facts()["factions"] if human is None or boards[f] != boards[human]]
        faction = rng.choice(fitting)
    if human is None:
        human = rng.choice([name for name in boards if boards[name] != boards[faction]])
    setup = drawing.draw(seed, RULESET, [human, faction], BOTH)
    del setup["turn_order"]
    level = level or rng.choice(list(facts()["levels"]))
    cards = {"level": level, "faction": faction, **draw_cards(rng, level)}
    return setup | {"players": 1, "factions": [human], "automa": cards}


def draw_spread(seed: int) -> dict[str, Any]:
    """A random set-up with the levels and factions in turn: of 420 seeds in a row all differ."""
    boards = {name: f["board"] for name, f in ruleset(RULESET, BOTH).factions.items()}
    levels, factions = list(facts()["levels"]), list(facts()["factions"])
    faction = factions[seed % len(factions)]
    humans = [name for name in boards if boards[name] != boards[faction]]
    return draw(seed, levels[seed % len(levels)], faction, humans[seed % len(humans)])


def seat_both(setup: dict[str, Any]) -> dict[str, Any]:
    """The set-up with the Automa among the players; the human is first (AUT-01)."""
    factions = [*setup["factions"], setup["automa"]["faction"]]
    return setup | {"factions": factions, "turn_order": [1 - SEAT, SEAT]}


def check(setup: dict[str, Any], name: str) -> None:
    """Refuse what no solo game has.

    Raises:
        SetupError: other rules than those of the base game, two humans, an Automa of a faction
            without a card or of the human's colour, cards that the level and the rounds do not
            have.
    """
    drawn, humans = setup["automa"], setup["factions"]
    if name != RULESET or len(humans) != 1:
        raise drawing.SetupError(f"one human plays {RULESET} alone, not {humans} {name}")
    boards = ruleset(RULESET, BOTH).factions
    human, faction = humans[0], drawn["faction"]
    if faction not in facts()["factions"] or boards[human]["board"] == boards[faction]["board"]:
        raise drawing.SetupError(f"the Automa cannot be {faction} against {human}")
    before = set(facts()["levels"][drawn["level"]]["fixed_cards"])
    for number, deck in enumerate(drawn["decks"], start=1):
        cards = set(deck)
        if len(cards) != len(deck) or not before < cards or len(cards) != len(before) + 1:
            raise drawing.SetupError(f"deck {number} is {sorted(before)} and one more, not {deck}")
        before = cards
    turned = [*drawn["start_mine_cards"], drawn["booster_card"]]
    if len(drawn["decks"]) != ROUNDS or not before.union(turned) <= facts()["cards"].keys():
        raise drawing.SetupError(f"{ROUNDS} decks of cards 1 to 17, not {drawn['decks']}")

"""The printed facts of the Automa: cards, factions, levels, round tiles; drawing its cards."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

from tests.referee.rules import DATA

Card = dict[str, Any]


@cache
def facts() -> dict[str, Any]:
    """The facts by name; the cards by their number."""
    read: dict[str, Any] = json.loads((DATA / "automa.json").read_text())
    read["cards"] = {card["id"]: card for card in read["cards"]}
    return read


def draw_cards(rng: random.Random, level: str) -> dict[str, Any]:
    """Six decks, a card for each starting mine and one for the booster (AUT-06 to AUT-09)."""
    cards = facts()["cards"]
    fixed = facts()["levels"][level]["fixed_cards"]
    added = rng.sample([number for number in cards if number not in fixed], 6)
    in_deck, decks = list(fixed), []
    for card in added:
        in_deck.append(card)
        decks.append(rng.sample(in_deck, len(in_deck)))
    *for_mines, for_booster = rng.choices(list(cards), k=4)
    return {
        "decks": decks,
        "start_mine_cards": for_mines,
        "booster_card": for_booster,
    }

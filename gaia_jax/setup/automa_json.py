"""The Automa's part of a set-up file: its level, faction, decks and the cards of the set-up."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from gaia_jax.components import automa, costs
from gaia_jax.ruleset import Ruleset
from gaia_jax.setup.json_values import check_list, check_object, choices, different, index_of
from gaia_jax.state import AutomaDraws, Setup

HIDDEN = ("decks", "start_mine_cards", "booster_card")  # what no player sees before it is turned
_KEYS = ("level", "faction", *HIDDEN)
_SHIP_KEY = "explored_ship"  # only where the Automa has ship tiles


def automa_to_dict(setup: Setup, ruleset: Ruleset) -> dict[str, Any]:
    """The value of "automa": cards by number, decks by round in drawing order (AUT-04 to AUT-09).

    Args:
        setup: one set-up of a ruleset with an Automa.
    """
    draws, parts = setup.automa, ruleset.automa
    assert draws is not None and parts is not None
    level = int(draws.level)
    if not 0 <= level < len(parts.levels):
        raise ValueError(f"{level} is no index of {choices([x.id for x in parts.levels])}")
    ship = {_SHIP_KEY: _ship_name(draws, ruleset)} if parts.ship_tiles else {}
    return {
        "level": parts.levels[level].id,
        "faction": ruleset.ids["faction"][int(setup.faction[-1])],
        "decks": [[int(card) for card in deck if card] for deck in np.asarray(draws.deck)],
        "start_mine_cards": [int(card) for card in draws.start_cards],
        "booster_card": int(draws.booster_card),
        **ship,
    }


def _ship_name(draws: AutomaDraws, ruleset: Ruleset) -> str:
    ship = int(draws.explored_ship[0])
    if not 0 <= ship < len(ruleset.ships):
        raise ValueError(f"{ship} is no index of {choices(ruleset.ships)}")
    return ruleset.ships[ship]


def read_automa(value: object, ruleset: Ruleset, human: int) -> tuple[int, AutomaDraws]:
    """The Automa's faction, an index of ids["faction"], and what is drawn for it.

    Args:
        human: the human's faction, an index too.
    Raises:
        ValueError: the value is broken; the message names the place, the value and the choices.
    """
    parts = ruleset.automa
    assert parts is not None
    data = check_object("automa", value, (*_KEYS, *([_SHIP_KEY] if parts.ship_tiles else [])))
    numbers = [card.number for card in parts.cards]
    level = index_of("automa['level']", data["level"], [x.id for x in parts.levels])
    own = [faction.id for faction in parts.factions]
    faction = own[index_of("automa['faction']", data["faction"], own)]
    if ruleset.ids["faction"][human] == faction:
        raise ValueError(f"automa['faction']: {faction!r} is the human's")
    cards = check_list("automa['start_mine_cards']", data["start_mine_cards"], automa.START_MINES)
    for place, card in enumerate(cards):
        index_of(f"automa['start_mine_cards'][{place}]", card, numbers)
    index_of("automa['booster_card']", data["booster_card"], numbers)
    ships = [
        index_of(f"automa[{_SHIP_KEY!r}]", data[key], ruleset.ships)
        for key in data
        if key == _SHIP_KEY
    ]
    draws = AutomaDraws(
        level=jnp.int8(level),
        deck=jnp.asarray(_decks(data["decks"], parts.levels[level], numbers)),
        start_cards=jnp.array(cards, jnp.int8),
        booster_card=jnp.int8(data["booster_card"]),
        explored_ship=jnp.array(ships, jnp.int8),
    )
    return ruleset.ids["faction"].index(faction), draws


def _decks(value: object, level: automa.Level, numbers: list[int]) -> np.ndarray:
    """(6, 14) int8; each deck has the cards of the one before and one more (AUT-08, AUT-09)."""
    table = np.zeros((costs.ROUNDS, automa.LARGEST_DECK), np.int8)
    before = set(level.fixed_cards)
    for number, deck in enumerate(check_list("automa['decks']", value, costs.ROUNDS)):
        path = f"automa['decks'][{number}]"
        cards = check_list(path, deck, len(before) + 1)
        different(path, dict(enumerate(cards)), numbers)
        if missing := sorted(before - set(cards)):
            raise ValueError(f"{path}: the cards {choices(missing)} are missing")
        table[number, : len(cards)] = cards
        before = set(cards)
    return table

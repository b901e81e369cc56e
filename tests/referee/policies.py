"""How random players choose, so that their games reach different parts of the rules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.referee.game import Game

QUIET_VERBS = ("free", "booster", "pass", "skip", "end_turn")
# How eager the eager player is; it converts and passes when nothing else is left.
WEIGHTS = {
    "form_federation": 200.0,
    "advanced": 200.0,
    "commit": 20.0,
    "upgrade": 12.0,
    "piece": 3.0,
    "mine": 8.0,
    "project": 6.0,
    "advance": 10.0,
    "ship": 6.0,
    "explore": 3.0,
    "artifact": 2.0,
    "special": 8.0,
    "power": 5.0,
    "qic": 8.0,
    "leech CHARGE": 6.0,
    "leech TOKEN_FIRST": 6.0,
    "end_turn": 1.0,
    "skip": 0.3,
    "free P4_to_Q": 0.05,
    "free P3_to_O": 0.1,
    "free P4_to_K": 0.1,
    "free brainstone": 0.3,
    "free": 0.01,
    "booster": 0.02,
    "pass": 0.02,
}


def uniform(rng: random.Random, legal: list[str], game: Game) -> str:
    """Any legal action."""
    return rng.choice(legal)


def long(rng: random.Random, legal: list[str], game: Game) -> str:
    """Shun passing and conversions, so that rounds are long."""
    busy = [text for text in legal if verb(text) not in QUIET_VERBS]
    if busy and rng.random() < 0.97:
        return rng.choice(busy)
    patient = [text for text in legal if verb(text) not in ("booster", "pass")]
    return rng.choice(patient if patient and rng.random() < 0.8 else legal)


class Rare:
    """Play eagerly for what is rare: federations, high levels, advanced tiles, ships.

    Each player of a game has tastes of their own; what has been seen least is preferred. `taste`
    multiplies the weights of the actions that begin so.
    """

    def __init__(self, taste: dict[str, float] | None = None) -> None:
        self.taste = taste or {}
        self.seen: Counter[str] = Counter()
        self.keen: dict[tuple[int, str], float] = {}

    def __call__(self, rng: random.Random, legal: list[str], game: Game) -> str:
        weights = [self.weight(rng, text, game) for text in legal]
        chosen = rng.choices(legal, weights)[0]
        self.seen[kind(chosen)] += 1
        return chosen

    def weight(self, rng: random.Random, text: str, game: Game) -> float:
        """The weight of an option: its verb's, a player's taste, and how new it is."""
        name = verb(text)
        weight = WEIGHTS.get(text, WEIGHTS.get(name, 1.0))
        for start, times in self.taste.items():
            if text.startswith(start):
                weight *= times
        if name in QUIET_VERBS:
            return weight
        if name == "advance":
            level = game.players[game.current_player].tracks[text.split()[1]]
            weight *= (level + 1) ** 2
        liked = (game.current_player, text if name == "advance" else name)
        taste = self.keen.setdefault(liked, rng.choice((0.3, 1, 1, 3)))
        return weight * taste / (2 + self.seen[kind(text)]) ** 0.5


Policy = Callable[[random.Random, list[str], "Game"], str]
POLICIES: dict[str, Callable[[], Policy]] = {
    "uniform": lambda: uniform,
    "long": lambda: long,
    "rare": Rare,
}


def policy_name(seed: int) -> str:
    """The policy of a game, all in turn."""
    return list(POLICIES)[seed % len(POLICIES)]


def verb(text: str) -> str:
    return text.split(" ", 1)[0]


def kind(text: str) -> str:
    """The action without its cell."""
    name, _, argument = text.partition(" ")
    return name if "," in argument else text

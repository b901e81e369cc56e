"""Rulings of the printed rulesets misread in the referee: does a duel notice?

Each misreading replaces one function of the referee. The misread referee plays a duel with the
engine (`python -m tests.referee.mutations`) or, without compiling anything, with the referee as it
is (`first_difference`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from tests.referee import federation, mine
from tests.referee import setup as drawing
from tests.referee.game import Game
from tests.referee.player import Player
from tests.referee.policies import Policy, Rare
from tests.referee.random_games import table_of
from tests.referee.rules import ruleset

PUBLISHED = "lost_fleet_published"


@dataclass(frozen=True)
class Misreading:
    """One ruling misread, and the games in which that should show."""

    name: str
    ruling: str
    wrong: str  # what the misread referee does
    ruleset: str
    target: tuple[Any, str]  # a module or class and the name of its function
    replacement: Any
    factions: tuple[str, ...] = ()  # the first players of its games
    setup: dict[str, Any] = field(default_factory=dict)  # keys of their set-ups
    taste: dict[str, float] = field(default_factory=dict)  # what its players like: policies.Rare
    policy: Callable[[dict[str, float]], Policy] = Rare
    seed: int = 80000  # of its first game

    @contextmanager
    def applied(self) -> Iterator[None]:
        """While it lasts, the referee plays the misreading."""
        with mock.patch.object(*self.target, self.replacement):
            yield


# -- functions of the referee, misread


frugal, aims_at, full = federation.Builder._frugal, mine.aims_at, Player.full


def one_group_at_a_time(self: federation.Builder, player: Player, limit: int) -> Iterator[int]:
    """A11 before A25: a group is needless only where leaving out it alone saves a satellite."""
    search, candidates = self._search_within(player, limit), set(self.candidates)
    for mask in self._within(player, limit):
        least = search.least(self.with_given(mask))
        assert least is not None
        smaller = {mask & ~(1 << i) for i in range(len(self.groups))} & candidates - {mask}
        fewer = (search.least(self.with_given(m)) for m in smaller)
        if all(n is None or n >= least for n in fewer):
            yield mask


class FormWhereReadingsDiffer(Rare):
    """Such federations are rare: form one only where the two readings of A25 differ."""

    def weight(self, rng: random.Random, text: str, game: Game) -> float:
        if text != "form_federation":
            return super().weight(rng, text, game)
        player = game.players[game.current_player]
        work, limit = federation.builder(game, player), federation.most_satellites(game, player)
        differ = list(one_group_at_a_time(work, player, limit)) != list(frugal(work, player, limit))
        return 1e9 if differ else 0.0


def step_may_be_idle(rules: Any, terms: mine.Terms, kind: str, steps: int) -> bool:
    """MIN-15: free steps may be wasted on home and Gaia planets."""
    return aims_at(rules, terms, kind, steps or int(kind not in ("GUEST", "ASTEROID")))


def no_guest_by_token(rules: Any, terms: mine.Terms, kind: str, steps: int) -> bool:
    return aims_at(rules, terms, kind, steps) and not (terms.ship_token and kind == "GUEST")


def no_asteroid_by_steps(rules: Any, terms: mine.Terms, kind: str, steps: int) -> bool:
    return aims_at(rules, terms, kind, steps) and not (terms.terraforms and kind == "ASTEROID")


def lost_gain_is_legal(self: Player, gain: dict[str, int]) -> bool:
    return True


def charge_is_never_lost(self: Player, kind: str) -> bool:
    return kind != "charge" and full(self, kind)


SHIPS = ruleset(PUBLISHED).ships


def _ship_tokens(first: str) -> dict[str, Any]:
    """A set-up with this token on the first ship."""
    others = [kind for kind in ruleset(PUBLISHED).ship_tokens if kind != first]
    return {"ship_tokens": dict(zip(SHIPS, [first, *others], strict=False))}


TOKEN = {
    "explore": 2.0,
    f"explore {SHIPS[0]}": 1000.0,
    f"token {SHIPS[0]}": 1e6,
    "free": 0.0,
    "leech": 20.0,
    "project": 0.0,
}
SAVING = {"free": 0.0, "power": 20.0, "special": 20.0, "ship": 10.0, "project": 0.1}
MISREADINGS = [
    Misreading("needless_groups", "A25", "looks at leaving out one group alone", "base",
               (federation.Builder, "_frugal"), one_group_at_a_time,
               taste={"mine": 10.0, "power PA_2PT": 20.0, "leech": 10.0},
               policy=FormWhereReadingsDiffer, seed=80012),
    Misreading("idle_steps", "A26", "lets free steps be wasted", "base",
               (mine, "aims_at"), step_may_be_idle),
    Misreading("idle_steps_at_ships", "A26", "lets free steps be wasted", PUBLISHED,
               (mine, "aims_at"), step_may_be_idle),
    Misreading("lost_gain", "A27", "lets actions lose their whole gain", "base",
               (Player, "may_take"), lost_gain_is_legal, taste=SAVING),
    Misreading("lost_gain_at_ships", "A27", "lets actions lose their whole gain", PUBLISHED,
               (Player, "may_take"), lost_gain_is_legal, taste=SAVING),
    Misreading("lost_charge", "A27", "lets a charge find no token to move", "base",
               (Player, "full"), charge_is_never_lost, taste={"free": 0.0, "power": 0.01}),
    Misreading("guest_by_token", "A28", "has no guest mine by the token of unlimited range",
               PUBLISHED, (mine, "aims_at"), no_guest_by_token, ("LANTIDS",),
               _ship_tokens("SFT_RANGE_MINE"), TOKEN, seed=80013),
    Misreading("asteroid_by_token", "A28", "has no asteroid by the token of three steps",
               PUBLISHED, (mine, "aims_at"), no_asteroid_by_steps, ("TERRANS", "MOWEYDS"),
               _ship_tokens("SFT_TF3_MINE"), TOKEN, seed=80001),
]  # fmt: skip


def setup_for(misreading: Misreading, seed: int) -> dict[str, Any]:
    """A set-up in which the misreading can show: its factions, its tokens."""
    setup = drawing.draw(seed, misreading.ruleset)
    factions = table_of(misreading.ruleset, *misreading.factions, *setup["factions"])
    return setup | {"factions": factions} | misreading.setup


def first_difference(misreading: Misreading, seed: int) -> tuple[int, str] | None:
    """The referee as it is plays one game; the misread one follows.

    Returns:
        How many decisions were alike, and the first difference; None if there was none.
    """
    setup, choose, rng = (
        setup_for(misreading, seed),
        misreading.policy(misreading.taste),
        random.Random(seed),
    )
    game = Game(setup, misreading.ruleset)
    with misreading.applied():
        misread = Game(setup, misreading.ruleset)
    decisions = 0
    while not game.over:
        legal = game.legal_actions()
        disputed = sorted(legal ^ misread.legal_actions())
        if disputed:
            side = "the referee" if disputed[0] in legal else "the misread one"
            return decisions, f"only {side} allows {disputed[0]!r}"
        text = choose(rng, sorted(legal), game)
        game.apply(text)
        with misreading.applied():
            misread.apply(text)
        decisions += 1
    return None

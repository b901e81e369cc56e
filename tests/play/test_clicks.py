"""How many clicks a game takes, with and without the settings that a new browser has."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.env import State
from training.play import conversions, lookahead, settings
from training.play.agent_pool import AgentProgram, _compile
from training.play.compiled_rules import Rules
from training.play.game import HUMAN, Game
from training.play.settings import Settings

STATIC = Path(settings.__file__).parent / "static"
SEEDS = (1, 2, 3)
# Share of the former clicks: with default settings (0.59), and with every decision left to the
# table (0.57), for a person who converts as often as `zoo/quick`. Opening a kind of choices is not
# counted: most choices are also on the map or the boards.
MOST, MOST_LEFT = 0.6, 0.58
ALL_LEFT = Settings("always", 3, True, True, True)


def of_a_new_browser() -> Settings:
    """What the page begins with."""
    text = re.search(r"const DEFAULTS = (\{.*?\});", (STATIC / "settings.js").read_text(), re.S)
    own = re.search(r"const OF_PAGE = (\[.*?\]);", (STATIC / "settings.js").read_text())
    assert text and own
    defaults = json.loads(re.sub(r"(\w+):", r'"\1":', text[1]))
    return Settings.read({k: v for k, v in defaults.items() if k not in json.loads(own[1])})


def test_a_new_browser_has_settings_that_the_server_takes() -> None:
    assert of_a_new_browser().only_choice


class Clicks:
    """What a person presses, by the verb; whole moves, the same conversion several times, and
    conversions with what they make possible are one press where the page lists them."""

    def __init__(self, rules: Rules, whole_moves: bool):
        self.rules, self.whole_moves = rules, whole_moves
        self.pressed: Counter[str] = Counter()
        self.converted: list[str] = []
        self.before: State | None = None  # the conversions
        self.tile = False  # whether a tile has just been taken: its step is the same press

    def add(self, node: str, text: str, state: State) -> None:
        """A decision of the person."""
        with_tile, self.tile = self.tile and node == "STEP", text.startswith("tile ")
        if self.whole_moves and (node in (*lookahead.TWO_STEPS, "FEDERATION") or with_tile):
            return
        if self.whole_moves and text.startswith("free") and node in ("TURN", "AFTER"):
            self.before = self.before or state
            self.converted.append(text)
            return
        self.pressed[text.split()[0]] += 1
        self.convert(text)

    def convert(self, text: str = "") -> None:
        """The conversions that have been made, before an action."""
        if self.converted and not self._listed(text):
            runs = [len(list(run)) for _, run in groupby(self.converted)]
            self.pressed["free"] += sum(-(-n // conversions.MAX_CONVERSIONS) for n in runs)
        self.before, self.converted = None, []

    def _listed(self, text: str) -> bool:
        assert self.before is not None
        conversions_made = sorted(self.converted)
        reachable = conversions.reached(self.rules, self.before)
        return any(
            option["text"] == text and sorted(option["first"]) == conversions_made
            for option in reachable
        )


def clicks(rules: Rules, act: Any, seed: int, left: Settings, whole_moves: bool) -> Counter[str]:
    """Player 0 is a person who plays as an agent would; their clicks by verb.

    Args:
        whole_moves: moves and federations are one click.
    """
    game = Game("0", rules, rules.draw(seed), [HUMAN, *["agent"] * 3])
    counter = Clicks(rules, whole_moves)
    while not game.over():
        table, state = game.table(), game.nodes[game.now].state
        text = rules.env.ruleset.actions.texts[act(state, len(game.nodes))]
        if table.player == 0:
            counter.add(table.node, text, state)
        game.play(text)
        settings.carry_out(game, left)
    counter.convert()
    return counter.pressed


@pytest.mark.slow  # nine whole games
def test_a_game_takes_at_most_so_many_of_the_clicks_of_before() -> None:
    rules, ready = Rules("lost_fleet"), AgentProgram("zoo/quick")
    _compile(ready, rules)
    before, after, least = [], [], []
    for seed in SEEDS:
        before.append(clicks(rules, ready.act, seed, Settings(), False))
        after.append(clicks(rules, ready.act, seed, of_a_new_browser(), True))
        least.append(clicks(rules, ready.act, seed, ALL_LEFT, True))
    for name, counts in (("before", before), ("after", after), ("all left", least)):
        total: Counter[str] = sum(counts, Counter())
        print(name, [count.total() for count in counts], total.total(), dict(total.most_common()))
    old, new, fewest = (sum(count.total() for count in counts) for counts in (before, after, least))
    assert new <= MOST * old and fewest <= MOST_LEFT * old

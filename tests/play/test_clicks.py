"""How many clicks a game takes, with and without the settings that a new browser has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from training.play import settings
from training.play.agent_pool import Ready, _compile
from training.play.game import HUMAN, Game
from training.play.rules import Rules
from training.play.settings import Settings

STATIC = Path(settings.__file__).parent / "static"
SEEDS = (1, 2, 3)
# Of the clicks of before: as a new browser has it, and with all that can be left to the table. The
# second is what a person decides who converts as often as `zoo/quick` does; 0.6 is not reached.
MOST, MOST_LEFT = 0.92, 0.75
ALL_LEFT = Settings("always", 3, True, True, True)


def of_a_new_browser() -> Settings:
    """What the page begins with."""
    text = re.search(r"const DEFAULTS = (\{.*?\});", (STATIC / "settings.js").read_text(), re.S)
    own = re.search(r"const OF_PAGE = (\[.*?\]);", (STATIC / "settings.js").read_text())
    assert text and own
    found = json.loads(re.sub(r"(\w+):", r'"\1":', text[1]))
    return Settings.read({k: v for k, v in found.items() if k not in json.loads(own[1])})


def test_a_new_browser_has_settings_that_the_server_takes() -> None:
    assert of_a_new_browser().only_choice


def clicks(rules: Rules, act: Any, seed: int, left: Settings, whole: bool) -> tuple[int, int]:
    """Player 0 is a person who plays as an agent would; their clicks, and all decisions.

    Args:
        whole: a federation is one click.
    """
    game = Game("0", rules, rules.draw(seed), [HUMAN, *["agent"] * 3])
    found = 0
    while not game.over():
        table = game.table()
        text = rules.env.ruleset.actions.texts[act(game.nodes[game.now].state, len(game.nodes))]
        found += table.player == 0 and not (whole and table.node == "FEDERATION")
        game.play(text)
        settings.carry_out(game, left)
    return found, len(game.line) - 1


@pytest.mark.slow  # nine whole games
def test_a_game_takes_at_most_so_many_of_the_clicks_of_before() -> None:
    rules, ready = Rules("lost_fleet"), Ready("zoo/quick")
    _compile(ready, rules)
    before, after, least = [], [], []
    for seed in SEEDS:
        before.append(clicks(rules, ready.act, seed, Settings(), False))
        after.append(clicks(rules, ready.act, seed, of_a_new_browser(), True))
        least.append(clicks(rules, ready.act, seed, ALL_LEFT, True))
    print("clicks and decisions before", before, "after", after, "all left", least)
    old, new, fewest = (sum(n for n, _ in found) for found in (before, after, least))
    assert new <= MOST * old and fewest <= MOST_LEFT * old

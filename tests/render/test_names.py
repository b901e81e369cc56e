"""Plain names: one for every id and every action text of every ruleset."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from gaia_jax import RULESETS, render
from gaia_jax.render import help
from gaia_jax.render.names import _SKIPPED
from gaia_jax.state import Node

pytestmark = pytest.mark.no_compile

# Ids that two pieces of the box share are told apart by where they lie, not by their name.
SHARED = {"planet_type", "special"}


@pytest.mark.parametrize("id", RULESETS)
def test_every_id_has_a_name_of_its_own(id: str) -> None:
    table, ids = render.names(RULESETS[id]), RULESETS[id].ids
    assert table.keys() == ids.keys()
    for kind, kind_ids in ids.items():
        assert tuple(table[kind]) == kind_ids
        assert all(table[kind].values()), kind
        if kind not in SHARED and kind != "round_tile":
            doubled = [n for n in table[kind].values() if list(table[kind].values()).count(n) > 1]
            assert not doubled, f"{kind}: {doubled}"


@pytest.mark.parametrize("id", RULESETS)
def test_every_action_can_be_said(id: str) -> None:
    ruleset = RULESETS[id]
    for text in ruleset.actions.texts:
        words = render.say(ruleset, text)
        assert words and not re.search(r"[{}]|_", words), words


class At:
    """As much of a table as words are made of."""

    ruleset = RULESETS["lost_fleet"]
    advanced_tiles = {"extra": ("PI-AC-6VP", True)}
    artifacts = (("", True), (ruleset.artifacts[0].id, True))
    ship_tokens = {"TWILIGHT": (ruleset.ship_tokens[0].id, True)}
    ids = ruleset.ids
    player = 0

    def __init__(self, node: str):
        self.node = node
        structure = np.full(self.ruleset.actions.cell.max() + 1, self.ids["structure"].index("TS"))
        planet = np.full_like(structure, self.ids["planet"].index("Transdim"))
        self.map = SimpleNamespace(structure=structure, planet=planet)

    def faction(self, p: int) -> object:
        """The one whose academy brings no QIC."""
        return next(f for f in self.ruleset.factions if f.academy_b_action.credits)


def test_a_place_says_what_lies_there() -> None:
    """The extra tile and an artifact by what they do; who takes a booster in a round passes."""
    table: Any = At("TURN")
    named = render.names(At.ruleset)
    words = "advanced tile: 6 VP per planetary institute and academy (the extra tile)"
    assert render.say_at(table, "advanced extra") == words
    artifact = named["artifact"][At.ruleset.artifacts[0].id]
    assert render.say_at(table, "artifact 2") == f"take the artifact: {artifact}"
    token = named["token"][At.ruleset.ship_tokens[0].id]
    assert render.say_at(table, "token TWILIGHT") == f"federation token: {token}, of the Twilight"
    booster = f"booster {next(iter(At.ruleset.ids['booster']))}"
    name = named["booster"][booster.split()[1]]
    assert render.say_at(table, booster) == f"pass and take the booster: {name}"
    first: Any = At("BOOSTER")
    assert render.say_at(first, booster) == f"take the booster: {name}"
    assert render.say_at(table, "end_turn") == "end the turn"
    for node, words in _SKIPPED.items():
        table_at_node: Any = At(node)
        assert node in Node.__members__ and render.say_at(table_at_node, "skip") == words
    assert render.say_at(table, "skip") == "skip"
    tile, cover = next(iter(At.ruleset.ids["tile"])), cast(Any, At("COVER"))
    assert render.say_at(cover, f"tile {tile}") == f"cover the tech tile: {named['tile'][tile]}"
    assert render.say_at(table, f"tile {tile}") == f"tech tile: {named['tile'][tile]}"
    upgrade = next(text for text in At.ruleset.actions.texts if text.startswith("upgrade "))
    place = upgrade.split()[1]
    assert render.say_at(table, upgrade) == f"upgrade the trading station on {place}"
    target: Any = At("TARGET")
    assert render.say_at(target, f"pick {place}") == f"choose the trading station on {place}"
    target.map.structure[:] = 0
    assert render.say_at(target, f"pick {place}") == f"choose {place}: transdim planet"
    words = "special action: the academy's action: 4 credits"
    assert render.say_at(table, "special AC_B") == words


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown action text 'dance'"):
        render.say(RULESETS["base"], "dance")


def test_names_say_what_is_printed() -> None:
    table = render.names(RULESETS["lost_fleet"])
    assert table["tile"]["BT3_O1_Q1"] == "1 ore, 1 QIC"
    assert table["advanced"]["PI-AC-6VP"] == "6 VP per planetary institute and academy"
    assert table["booster"]["RB13"] == "income: 2 credits; action: a mine with one free step"
    assert table["power_action"]["PA_7C"] == "7 credits for 4 power"
    published = render.names(RULESETS["lost_fleet_published"])
    assert published["ship_action"]["TFM_C"] == "a mine with one free step for 3 credits"
    assert table["ship_action"]["TFM_C"] == "a mine with one free step for 5 credits"


def test_the_help_of_a_final_mission_says_whether_0_is_ranked():
    """FIN-03: as ruled it is, as published and in the base game it is not."""
    for id, phrase in (("lost_fleet", "is ranked too"), ("base", "gets none")):
        ruleset = RULESETS[id]
        entries = help.pages(ruleset, ())
        for mission in ruleset.final_missions:
            assert (
                phrase in entries[mission]["lines"][0] and "FIN-03" in entries[mission]["rulings"]
            )

"""Plain names: one for every id and every action text of every ruleset."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gaia_jax import RULESETS, render
from gaia_jax.render import help
from gaia_jax.render.names import _SKIPPED, sources
from gaia_jax.state import Node

pytestmark = pytest.mark.no_compile

# Kinds in which two pieces share a name; their place distinguishes them.
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


R = RULESETS["lost_fleet"]
NAMED = render.names(R)
ARTIFACT, TOKEN, TILE = R.artifacts[0].id, R.ship_tokens[0].id, R.ids["tile"][0]
BOOSTER = R.ids["booster"][0]


def table_at(node: str, structure: str = "TS") -> Any:
    """As much of a table as words are made of."""
    cells = np.full(R.actions.cell.max() + 1, 1)
    return SimpleNamespace(
        ruleset=R, ids=R.ids, player=0, node=node,
        advanced_tiles={"extra": ("PI-AC-6VP", True)},
        artifacts=(("", True), (ARTIFACT, True)),
        ship_tokens={"TWILIGHT": (TOKEN, True)},
        map=SimpleNamespace(
            structure=cells * R.ids["structure"].index(structure),
            planet=cells * R.ids["planet"].index("Transdim"),
        ),
        faction=lambda p: next(f for f in R.factions if f.academy_b_action.credits),
    )  # fmt: skip


PLACE = next(text for text in R.actions.texts if text.startswith("upgrade ")).split()[1]


@pytest.mark.parametrize(
    ("node", "structure", "text", "words"),
    [
        ("TURN", "TS", "advanced extra",
         "advanced tile: 6 VP per planetary institute and academy (the extra tile)"),
        ("TURN", "TS", "artifact 2", f"take the artifact: {NAMED['artifact'][ARTIFACT]}"),
        ("TURN", "TS", "token TWILIGHT",
         f"federation token: {NAMED['token'][TOKEN]}, of the Twilight"),
        ("TURN", "TS", f"booster {BOOSTER}",
         f"pass and take the booster: {NAMED['booster'][BOOSTER]}"),
        ("BOOSTER", "TS", f"booster {BOOSTER}", f"take the booster: {NAMED['booster'][BOOSTER]}"),
        ("TURN", "TS", "end_turn", "end the turn"),
        ("TURN", "TS", "skip", "skip"),
        *((node, "TS", "skip", words) for node, words in _SKIPPED.items()),
        ("COVER", "TS", f"tile {TILE}", f"cover the tech tile: {NAMED['tile'][TILE]}"),
        ("TURN", "TS", f"tile {TILE}", f"tech tile: {NAMED['tile'][TILE]}"),
        ("TURN", "TS", f"upgrade {PLACE}", f"upgrade the trading station on {PLACE}"),
        ("TARGET", "TS", f"pick {PLACE}", f"choose the trading station on {PLACE}"),
        ("TARGET", "NONE", f"pick {PLACE}", f"choose {PLACE}: transdim planet"),
        ("TURN", "TS", "special AC_B", "special action: the academy's action: 4 credits"),
    ],
)  # fmt: skip
def test_a_place_says_what_lies_there(node: str, structure: str, text: str, words: str) -> None:
    """The extra tile and an artifact by what they do; who takes a booster in a round passes."""
    assert node in Node.__members__
    assert render.say_at(table_at(node, structure), text) == words


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown action text 'dance'"):
        render.say(RULESETS["base"], "dance")


def test_the_help_of_a_final_mission_says_whether_0_is_ranked():
    """FIN-03: as ruled it is, as published and in the base game it is not."""
    for id, phrase in (("lost_fleet", "is ranked too"), ("base", "gets none")):
        ruleset = RULESETS[id]
        entries = help.pages(ruleset, ())
        for mission in ruleset.final_missions:
            assert phrase in entries[mission]["lines"][-1]
            assert "FIN-03" in entries[mission]["rulings"]


def test_the_actions_of_qic_are_named_where_there_are_no_ships() -> None:
    assert sources(RULESETS["base"], ())["SHIP"] == "QIC actions"
    assert sources(RULESETS["lost_fleet"], ())["SHIP"] == "ship actions"


def test_the_help_of_the_economy_track_is_of_the_side_in_the_game() -> None:
    ruleset = RULESETS["lost_fleet"]
    both, *sides = (help.pages(ruleset, (), side)["economy"]["lines"] for side in (None, 0, 1))
    assert sides[0] != sides[1] and any(" or income" in line for line in both)
    assert not any(" or income" in line for side in sides for line in side)

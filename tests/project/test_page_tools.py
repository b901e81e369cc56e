"""The tools that generate pages: tables that they read are complete, text is transformed."""

from dataclasses import fields
from xml.etree import ElementTree

import pytest

from gaia_jax.components.factions import Faction
from gaia_jax.render import faction_powers
from gaia_jax.ruleset import LOST_FLEET, RULESETS
from tools import names_page, rulesets_page, rulings_index, site_hooks
from tools.game_picture import stepping

pytestmark = pytest.mark.no_compile


def test_every_field_of_a_faction_is_described():
    described = {*faction_powers.POWERS, *faction_powers.SHOWN}
    assert {field.name for field in fields(Faction)} == described


@pytest.mark.parametrize("id", sorted(RULESETS.keys() - {"lost_fleet", "base"}))
def test_every_difference_of_a_ruleset_names_its_ruling(id):
    differences = {place for place, *_ in rulesets_page.differences(LOST_FLEET, RULESETS[id])}
    assert differences == rulesets_page.RULINGS.get(id, {}).keys()


def test_every_kind_of_id_is_listed_or_left_out_on_purpose():
    assert LOST_FLEET.ids.keys() == names_page.CHAPTERS.keys() | names_page.LEFT_OUT


def test_ruling_ids_are_read_from_comments_docstrings_and_test_names():
    text = '"""Builds (MIN-02)."""\n# A10, FED-03.\ndef test_lee_02_a_poor_player(x): ...\n'
    assert rulings_index.cited_in(text) == {"MIN-02", "A10", "FED-03", "LEE-02"}
    names = "def test_fed_05_and_06_and_mow_01_of_12(): ..."
    assert rulings_index.cited_in(names) == {"FED-05", "FED-06", "MOW-01"}
    assert rulings_index.cited_in("UTF-8, A100, SA-K-3, RM-TF-2VP, 2026-11-22") == set()


def test_a_page_in_backticks_becomes_a_link():
    pages = {"reference/actions.md", "api/index.md", "contributing.md"}
    block = "\n```\n`docs/reference/actions.md`\n```\n"
    text = "`docs/reference/actions.md`, `CONTRIBUTING.md`, `docs/none.md`, ![x](docs/a.svg)"
    assert site_hooks.linked("[한국어](README.ko.md)", "index.md", pages) == "[한국어](korean.md)"
    assert site_hooks.linked(text + block, "api/index.md", pages) == (
        "[`docs/reference/actions.md`](../reference/actions.md), "
        "[`CONTRIBUTING.md`](../contributing.md), "
        f"`docs/none.md`, ![x](../a.svg){block}"
    )


def test_a_part_of_an_animated_picture_is_shown_while_it_lasts():
    group = ElementTree.fromstring(f"<g>{stepping([(0, '<a/>'), (2, '<b/>'), (3, '')], 4, 8)}</g>")
    first, second = group
    assert first[0].attrib["dur"] == "8s"
    assert (first[0].attrib["keyTimes"], first[0].attrib["values"]) == ("0;0.5000", "inline;none")
    assert second[0].attrib["keyTimes"] == "0;0.5000;0.7500"
    assert second[0].attrib["values"] == "none;inline;none"
    assert stepping([(0, "<a/>")], 4, 8) == "<a/>"  # a part that never changes
    last = ElementTree.fromstring(stepping([(0, ""), (3, "<c/>")], 4, 8))
    assert "display" not in last.attrib  # without animation the end is visible

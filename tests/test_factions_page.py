"""docs/reference/factions.md: current, complete, and true to the table that it is made from."""

from dataclasses import fields

import pytest

from gaia_jax.components.factions import FACTIONS, Faction
from gaia_jax.render import faction_powers
from tools import factions_page


def test_the_page_is_current():
    found = (factions_page.ROOT / "docs" / "reference" / "factions.md").read_text()
    assert found == factions_page.page(), "make pages: factions"


def test_every_field_of_a_faction_is_on_the_page():
    known = {*faction_powers.POWERS, *faction_powers.SHOWN}
    assert {f.name for f in fields(Faction)} == known


@pytest.mark.parametrize("faction", FACTIONS, ids=lambda faction: faction.id)
def test_every_power_names_its_rulings_and_a_chapter_where_it_acts(faction):
    for field in faction_powers.POWERS:
        if getattr(faction, field) != getattr(factions_page.COMMON, field):
            assert factions_page.rulings(faction, field), field
            for chapter in factions_page.chapters(field):
                place = factions_page.RULES / chapter
                assert place.with_suffix(".py").exists() or (place / "__init__.py").exists()
            assert factions_page.chapters(field), field


@pytest.mark.parametrize("faction", FACTIONS, ids=lambda faction: faction.id)
def test_every_faction_has_scenarios(faction):
    assert factions_page.scenarios(faction)

"""docs/reference/rulesets.md: current, with every ruleset and a ruling for every difference."""

from pathlib import Path

import pytest

from gaia_jax.ruleset import LOST_FLEET, RULESETS
from tools import rulesets_page

ROOT = Path(__file__).resolve().parent.parent


def test_every_ruleset_is_on_the_page():
    assert rulesets_page.WHAT.keys() == RULESETS.keys(), "tools/rulesets_page.py, WHAT"
    text = rulesets_page.page()
    missing = [id for id in RULESETS if id != LOST_FLEET.id and f"\n## `{id}`\n" not in text]
    assert not missing


def test_the_page_is_current():
    found = (ROOT / "docs" / "reference" / "rulesets.md").read_text(encoding="utf-8")
    assert found == rulesets_page.page(), "make pages: rulesets"


@pytest.mark.parametrize("id", sorted(RULESETS.keys() - {"lost_fleet", "base"}))
def test_every_difference_names_its_ruling(id):
    found = {where for where, *_ in rulesets_page.differences(LOST_FLEET, RULESETS[id])}
    named = rulesets_page.RULINGS.get(id, {}).keys()
    assert found == named, f"tools/rulesets_page.py, RULINGS[{id!r}]"

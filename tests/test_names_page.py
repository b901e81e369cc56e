"""docs/reference/names.md: current, and with every kind of id."""

from gaia_jax.ruleset import BASE, LOST_FLEET
from tools import names_page


def test_the_page_is_current():
    found = (names_page.ROOT / "docs" / "reference" / "names.md").read_text("utf-8")
    assert found == names_page.page(), "python -m tools.names_page > docs/reference/names.md"


def test_every_kind_of_id_is_on_the_page_or_left_out_on_purpose():
    assert LOST_FLEET.ids.keys() == names_page.CHAPTERS.keys() | names_page.LEFT_OUT


def test_ids_of_other_rulesets_are_named_with_their_ruleset():
    assert {id for id, *_ in names_page.rows("qic_action")} == {*BASE.ids["qic_action"]}
    assert all(where == "`base`" for *_, where in names_page.rows("qic_action"))

"""The Automa's turns card by card, in the worked examples: what was considered, what decided."""

import json
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from gaia_jax.components import automa
from gaia_jax.render import automa_turns, automa_words
from gaia_jax.state import AUTOMA, HUMAN
from tests.scenarios.automa.positions import (
    X07,
    alptrauma,
    arranged,
    firaks,
    hadsch_hallas,
    passing,
    taklons,
    terrans,
    xenos,
)
from tests.scenarios.automa.solo import RULES, start


def turns(before, after):
    states = (SimpleNamespace(game=table.game) for table in (before, after))
    return automa_turns.automa_turns(*states, RULES)


def only_turn(table):
    (turn,) = turns(table, table.turn())
    return turn


def place(q, r):
    """A place as pages have it, of a cell of the printed tables."""
    return f"{q + r},{-r}"


def lost_by(step):
    return {option.place: option.lost_by for option in step.options}


def words(turn):
    return list(automa_words.turn_lines(turn, RULES))


def test_x01_the_set_up_names_the_mines_and_the_booster():
    table = start("ITARS", "GEODENS")
    (turn,) = turns(table, table.set_up_steps())
    mines = {step.place for step in turn.steps if step.verb == "mine"}
    assert (mines, turn.number, turn.support) == ({place(-2, 1), place(-3, 4)}, 0, 0)


@pytest.mark.parametrize(
    ("card", "first", "corner"), [(1, (-3, 2), "top left"), (4, (-2, 3), "bottom right")]
)
def test_aut_06_a_starting_mine_names_the_card_that_decides(card, first, corner):
    table = start("BESCODS", "ITARS", start_mine_cards=[card, 1, 1])
    (turn,) = turns(table, table.set_up_steps(2))
    (mine,) = turn.steps
    assert (mine.place, mine.card, mine.decided_by) == (place(*first), card, "direction")
    line, *options = words(turn)
    assert f"first from the {corner}; card {card}" in line
    assert len(options) == len(mine.options) and sum(x.startswith("* ") for x in options) == 1


def test_aut_07_the_first_booster_names_the_card_and_its_place():
    table = start(booster_card=8)
    (turn,) = turns(table, table.set_up_steps(4))
    (step,) = turn.steps
    assert (step.card, len(step.options)) == (8, 5)
    assert "number 3 from the left of 5; card 8" in words(turn)[0]


@pytest.mark.parametrize(
    ("deck", "count", "support", "action", "passes"),
    [
        ((4, 6, 7, 9), 3, 9, 0, True),
        ((6, 7, 1, 2, 3), 1, 7, 1, True),
        ((6, 1, 7, 2, 3), 0, 6, 1, False),
        ((6, 1, 7, 2, 3), 2, 7, 2, True),
    ],
    ids=["X02", "X03", "X04", "X04 passes"],
)
def test_x02_to_x04_the_cards_of_a_turn_and_why_it_passes(deck, count, support, action, passes):
    turn = only_turn(arranged(round=2).deck(*deck, turns=count).give(AUTOMA, booster=0))
    assert (turn.support, turn.action, turn.passes) == (support, action, passes)
    assert (turn.round, turn.number) == (2, count + 1)
    assert turn.cards_left == max(len(deck) - count - 2, 0)
    reason = {0: "no card is left: pass", 1: "card 1 is red: pass", 2: "card 2 is red: pass"}
    if passes:
        assert words(turn)[0].startswith(reason[action])


def test_x05_a_number_counts_among_what_is_open():
    open_ = [automa.ACTION_ROW[i] for i in (3, 5, 7, 9)]
    table = arranged().covered(*(x for x in automa.ACTION_ROW if x not in open_)).cards(5, 14)
    (step,) = only_turn(table).steps
    assert (step.verb, step.place, step.decided_by) == ("cover", open_[-1], "number")
    assert [option.place for option in step.options] == open_


def test_x06_xenos_cover_a_second_space_among_what_is_left():
    first, second = only_turn(xenos().cards(2, 14)).steps
    assert (first.place, second.place) == ("PA_TF2", "PA_2O")
    assert len(first.options) == 10 and first.place not in lost_by(second)


@pytest.mark.parametrize(("card", "track"), [(15, "science"), (16, "gaia"), (9, "gaia")])
def test_x07_a_level_5_or_the_removed_tile(card, track):
    slots = 1 << RULES.ids["track"].index("gaia")
    table = arranged().levels(AUTOMA, **X07).levels(HUMAN, ai=5).set_turn(advanced_left=slots)
    (step,) = only_turn(table.cards(card, 3)).steps
    assert set(lost_by(step)) == {"gaia", "science"} and step.decided_by == "number"
    assert (step.place, step.verb) == (track, "remove" if track == "gaia" else "advance")


@pytest.mark.parametrize(("card", "cell"), [(4, (-4, 1)), (6, (-2, 0))])
def test_x08_the_direction_decides_between_equal_planets(card, cell):
    turn = only_turn(arranged().cards(card, 8))
    (step,) = turn.steps
    assert (step.place, step.decided_by, step.before) == (
        place(*cell), "direction", {(-4, 1): "Gaia", (-2, 0): "Red"}[cell],
    )  # fmt: skip
    options = {option.place: option for option in step.options}
    tied = [options[place(*x)] for x in ((-2, 0), (-4, 1))]
    assert [(x.values["steps"], x.values["distance"]) for x in tied] == [(1, 2), (1, 2)]
    assert options[place(-2, 5)].lost_by == "distance"
    assert (turn.vp, turn.satellite, turn.offered) == (5, cell == (-4, 1), 1)
    corner = "bottom right" if card == 4 else "top left"
    assert f"first from the {corner}" in words(turn)[0]


def test_x09_the_faction_card_prefers_what_is_close_to_the_human():
    turn = only_turn(taklons().cards(1, 9))
    mine, cover = turn.steps
    assert (mine.place, mine.decided_by, turn.reach) == (place(-2, 1), "faction", 3)
    assert set(lost_by(mine).values()) == {"", "faction"}
    assert (cover.verb, turn.vp) == ("cover", 2)


def test_x10_terrans_research_and_then_prefer_transdim_planets():
    advance, mine = only_turn(terrans().levels(AUTOMA, gaia=1).cards(1, 9)).steps
    assert (advance.place, advance.before, advance.after) == ("gaia", "1", "2")
    assert (mine.place, mine.before, mine.decided_by) == (place(-1, -2), "Transdim", "distance")
    transdims = {x.place: x.values["distance"] for x in mine.options if x.planet == "Transdim"}
    assert transdims == {place(-1, -2): 2, place(3, -1): 5, place(-1, 2): 3, place(4, 3): 6}


@pytest.mark.parametrize(
    ("mission", "cell", "rule"),
    [("MAIN_SECTORS", (3, -1), "mission"), ("BUILDINGS", (4, -5), "distance")],
)
def test_x11_the_mission_decides_before_steps(mission, cell, rule):
    table = taklons(final_missions=[mission, "SATELLITES"]).cards(6, 8)
    (step,) = only_turn(table).steps
    assert (step.place, step.decided_by) == (place(*cell), rule)


@pytest.mark.parametrize(("card", "cell"), [(1, (4, -3)), (4, (-2, 0))])
def test_x12_the_direction_decides_between_equal_mines(card, cell):
    turn = only_turn(hadsch_hallas().cards(card, 10))
    (step,) = turn.steps
    assert (step.verb, step.place, step.before, step.after) == (
        "upgrade", place(*cell), "MINE", "TS",
    )  # fmt: skip
    assert step.decided_by == "direction" and {x.values["distance"] for x in step.options} == {3}
    assert turn.vp == 6


def test_x13_firaks_research_after_a_lab_and_not_after_a_downgrade():
    (downgrade,) = only_turn(firaks("RL").cards(2, 9)).steps
    assert (downgrade.before, downgrade.after, downgrade.decided_by) == ("RL", "TS", "")
    upgrade, advance = only_turn(firaks("TS").cards(2, 11)).steps
    assert (upgrade.after, advance.place, advance.decided_by) == ("RL", "navigation", "number")


def test_x14_an_upgrade_for_want_of_a_mine():
    turn = only_turn(taklons().give(AUTOMA, built=(0, 8, 0, 0, 0, 0, 0)).cards(1, 8))
    (step,) = turn.steps
    assert (step.verb, step.after, turn.vp) == ("upgrade", "TS", 3)


@pytest.mark.parametrize(("round", "vp"), [(3, 4), (6, 6)])
def test_x15_a_pass_with_the_middle_booster(round, vp):
    turn = only_turn(passing(round))
    assert (turn.vp, turn.passes) == (vp, True)
    assert [step.place for step in turn.steps] == (["RB7"] if round < 6 else [])
    if round < 6:
        assert "the middle one of 3" in words(turn)[0]


def test_x17_alptrauma_gains_more():
    assert only_turn(alptrauma()).vp == 8


def test_every_option_has_a_line_and_the_rows_are_json():
    turn = only_turn(arranged().cards(4, 8))
    row = automa_words.turn_json(turn, RULES)
    at = {detail["at"] for detail in row["details"] if detail["at"]}
    assert at == {option.place for option in turn.steps[0].options}
    assert sum(detail["chosen"] for detail in row["details"]) == 1
    assert json.loads(json.dumps(row)) == row and json.dumps(asdict(turn))
    assert [move["text"] for move in row["moves"]] == ["card", f"mine {place(-4, 1)}"]

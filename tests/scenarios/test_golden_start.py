"""The start and the first income of each faction: the golden rows of the numeric checks."""

import pytest

from gaia_jax.state import Node, Phase
from tests.golden_starts import GOLDEN
from tests.scenarios.scene import four
from tests.scenarios.table import Table

# One mine or the PI where not two mines (SET-14 to SET-18, INI-03 to INI-06).
STRUCTURES = {
    "HIVES": {"PI": 1}, "TINKEROIDS": {"PI": 1}, "XENOS": {"MINE": 3}, "DARKANIANS": {"MINE": 1},
    "SPACE_GIANTS": {"MINE": 1}, "MOWEYDS": {"MINE": 1},
}  # fmt: skip
BOOSTERS = ["RB13", "RB1", "RB3", "RB4", "RB5", "RB7", "RB8"]


def until(table, *nodes, phase=None):
    """Play the first option of each decision until one of these nodes, or the phase."""
    while table.node not in nodes and int(table.game.turn.phase) != phase:
        table = table.play(min(table.options()))
    return table


def dealt(faction):
    """A new game in which player 0 has the faction; RB13 is left for them (they pick last)."""
    return Table(factions=four(faction), boosters=BOOSTERS)


def chosen(table):
    """The booster picks: player 0 takes RB13, which brings 2 credits."""
    while table.decider != 0:
        table = table.play(min(table.options() - {"booster RB13"}))
    return table.play("booster RB13")


@pytest.mark.parametrize("faction", GOLDEN)
def test_set_14_the_start_with_the_bonuses_of_the_tracks(faction):
    start, bowls, gaiaformers, *_ = GOLDEN[faction]
    row = dealt(faction).player(0)
    assert (row.resources, row.power, row.gaiaformers) == (start, bowls, gaiaformers)
    assert row.vp == 10 and row.gaia_power == 0
    assert row.brainstone == (0 if faction == "TAKLONS" else -1)


@pytest.mark.parametrize("faction", GOLDEN)
def test_ini_07_placing_the_start_structures_costs_and_brings_nothing(faction):
    table = until(dealt(faction), Node.BOOSTER)
    row, ids = table.player(0), table.env.ruleset.ids["structure"]
    assert row.resources == GOLDEN[faction][0] and row.power == GOLDEN[faction][1]
    assert row.vp == 10 and row.gaiaformers == GOLDEN[faction][2]
    structures = {ids[i]: n for i, n in enumerate(row.built) if n}
    assert structures == STRUCTURES.get(faction, {"MINE": 2})


@pytest.mark.parametrize("faction", GOLDEN)
def test_inc_06_the_first_income(faction):
    _, (bowl_i, bowl_ii, bowl_iii), _, after, charge, tokens = GOLDEN[faction]
    table = chosen(until(dealt(faction), Node.BOOSTER))
    table = until(table, phase=Phase.ACTIONS)  # where there is a choice, charges come first
    moved = min(charge, bowl_i)
    second_move = min(charge - moved, bowl_ii + moved)
    assert table.player(0).power == (
        bowl_i - moved + tokens,
        bowl_ii + moved - second_move,
        bowl_iii + second_move,
    )
    assert table.player(0).resources == (after[0] + 2, *after[1:])


@pytest.mark.parametrize("faction", GOLDEN)
def test_inc_02_a_choice_opens_only_with_both_a_charge_and_a_token(faction):
    *_, charge, tokens = GOLDEN[faction]
    table = chosen(until(dealt(faction), Node.BOOSTER))
    has_choice = False
    while int(table.game.turn.phase) != Phase.ACTIONS:
        has_choice |= table.node == Node.INCOME and table.decider == 0
        table = table.play(min(table.options()))
    assert has_choice == (charge > 0 and tokens > 0)


def test_ini_01_the_stages_base_factions_then_the_lost_fleet_then_the_hive():
    table = Table(factions=("HIVES", "TINKEROIDS", "XENOS", "SPACE_GIANTS"), boosters=BOOSTERS)
    order = []
    while table.node == Node.START:
        order.append(table.decider)
        table = table.play(min(table.options()))
    assert order == [2, 2, 2, 1, 3, 0]  # the snake, a third mine (INI-03), stages 2 and 3


def test_ini_02_the_snake_and_the_third_mine_of_the_xenos():
    table = Table(factions=("XENOS", "TERRANS", "ITARS", "GEODENS"), boosters=BOOSTERS)
    order = []
    while table.node == Node.START:
        order.append(table.decider)
        table = table.play(min(table.options()))
    assert order == [0, 1, 2, 3, 3, 2, 1, 0, 0]


@pytest.mark.parametrize(
    "faction, planet",
    [("HIVES", "Red"), ("DARKANIANS", "Asteroid"), ("MOWEYDS", "Proto"), ("AMBAS", "Brown")],
)
def test_ini_04_any_free_planet_of_the_start_type(faction, planet):
    table = dealt(faction)
    while table.decider != 0:
        table = table.play(min(table.options()))
    assert table.options() == {f"pick {cell}" for cell in table.cells(planet)}


def test_set_13_boosters_are_picked_in_reverse_turn_order():
    table = until(dealt("TERRANS"), Node.BOOSTER)
    order, open_boosters = [], []
    while table.node == Node.BOOSTER:
        order.append(table.decider)
        open_boosters.append(len(table.options()))
        table = table.play(min(table.options()))
    assert order == [3, 2, 1, 0] and open_boosters == [7, 6, 5, 4]

"""The end of the game: final missions, research, resources, the winner (FIN)."""

from dataclasses import replace

import jax.numpy as jnp
import pytest

from gaia_jax.rewards import reward_at_end
from gaia_jax.rules import scoring
from gaia_jax.ruleset import LOST_FLEET, RULESETS
from gaia_jax.state import Node
from tests.scenarios.scene import own, scene

ROWS = (0, 1, -1, -3)  # a row of cells for each player


def last(mission="BUILDINGS", planets=None, factions=("TERRANS",), other="DEEP_SECTORS", **setup):
    """The last pass of the game is player 0's."""
    missions = [mission, other if other != mission else "GAIA_BUILDINGS"]
    table = scene(*factions, planets=planets or {}, final_missions=missions, **setup)
    for player in range(4):
        table = table.give(player, credits=0, ore=0, knowledge=0, tracks=0, vp=10, booster=0)
    return table.set_turn(round=6, passed=(0, 1, 2, 3)).turn(0)


def ended(table, source="FINAL_1"):
    """VP of all players from that source at the end."""
    table = table.play("pass")
    assert table.node == Node.ENDED
    return tuple(table.vp(player, source) for player in range(4))


def crowd(counts, planet="Red", **kwargs):
    """Mines on planets of one kind; `counts` has their number for each player."""
    cells = [[f"{q},{ROWS[p]}" for q in range(n)] for p, n in enumerate(counts)]
    table = last(planets={cell: planet for row in cells for cell in row}, **kwargs)
    for player, row in enumerate(cells):
        for cell in row:
            table = table.place(player, cell)
    return table


@pytest.mark.parametrize(
    ("values", "prizes"),
    [
        ((4, 3, 2, 1), (18, 12, 6, 0)),
        ((1, 2, 3, 4), (0, 6, 12, 18)),
        ((3, 3, 2, 1), (15, 15, 6, 0)),
        ((3, 2, 1, 2), (18, 9, 0, 9)),
        ((3, 2, 1, 1), (18, 12, 3, 3)),
        ((2, 2, 1, 2), (12, 12, 0, 12)),
        ((1, 1, 2, 1), (6, 6, 18, 6)),
        ((2, 1, 2, 1), (15, 3, 15, 3)),
        ((1, 1, 1, 1), (9, 9, 9, 9)),
    ],
)
def test_fin_02_equal_players_share_the_prizes_of_their_places(values, prizes):
    assert ended(crowd(values)) == prizes


@pytest.mark.parametrize(
    ("values", "prizes"),
    [((0, 0, 0, 0), (9, 9, 9, 9)), ((1, 0, 0, 0), (18, 6, 6, 6)), ((2, 1, 0, 0), (18, 12, 3, 3))],
)
def test_fin_03_a_zero_ranks_like_any_value(values, prizes):
    assert ended(crowd(values)) == prizes


def test_fin_01_nothing_is_scored_before_the_last_pass():
    table = crowd((3, 0, 0, 0)).set_turn(passed=(0, 1, 2, 0)).turn(0).play("pass")
    assert (table.node, table.decider, table.vp(0, "FINAL_1")) == (Node.TURN, 3, 0)
    assert table.play("pass").vp(0, "FINAL_1") == 18


def test_fin_01_both_missions_are_scored():
    table = crowd((1, 0, 0, 2), mission="BUILDINGS", planet="Gaia", other="GAIA_BUILDINGS")
    assert ended(table, "FINAL_1") == ended(table, "FINAL_2") == (12, 3, 3, 18)


# Below two players are compared: equal values share 30 VP, and two zeros share 6.
TIE, WIN, LOSS = (15, 15), (18, 12), (12, 18)


def duel(table):
    """The prizes of players 0 and 1."""
    return ended(table)[:2]


def rivals(mission, count, planets=None, factions=("TERRANS", "LANTIDS"), cell="{},-3", kind="Red"):
    """Player 1 has `count` mines far off, at least one of everything counted on them."""
    cells = [cell.format(q) for q in range(count)]
    table = last(mission, dict.fromkeys(cells, kind) | (planets or {}), factions)
    table = table.place(1, list(cells))
    return table


def test_fin_04_buildings_are_all_structures_with_artifact_mines():
    planets = {"0,0": "Red", "1,0": "Lost", "2,0": "Red", "3,0": "Transdim"}
    factions = ("LANTIDS", "XENOS")
    for count, result in ((4, TIE), (3, WIN), (5, LOSS)):
        table = rivals("BUILDINGS", count, planets, factions)
        table = table.place(0, "0,0", "PI").place(0, "1,0").place(2, "2,0")
        table = own(table.place(0, "2,0", "GUEST"), 0, "ART-PP-MINE")
        table = table.place(0, "3,0", "GAIAFORMER").place(0, "4,0", "SATELLITE")
        assert duel(table) == result


def test_fin_05_types_without_guests_with_lost_planet_and_artifacts():
    planets = {"0,0": "Red", "1,0": "Lost", "2,0": "Blue", "3,0": "Red"}
    planets |= {"0,-3": "Red", "1,-3": "Gaia", "2,-3": "Proto"}
    table = last("PLANET_TYPES", planets, ("LANTIDS", "XENOS"))
    table = table.place(0, "0,0").place(0, "3,0").place(0, "1,0").place(2, "2,0")
    table = own(table.place(0, "2,0", "GUEST"), 0, "ART-AS-MINE")  # Red, Lost, Asteroid
    table = table.place(1, "0,-3").place(1, "1,-3")
    assert duel(table) == WIN
    assert duel(table.place(1, "2,-3")) == TIE
    assert duel(own(table.place(1, "2,-3"), 1, "ART-AS-MINE")) == LOSS


def test_fin_06_the_farther_academy_from_the_institute():
    planets = dict.fromkeys(("0,0", "1,0", "4,0", "0,-3", "4,-3"), "Red")
    table = last("PI_AC_DISTANCE", planets).place(0, "0,0", "PI").place(0, "1,0", "AC_A")
    table = table.place(1, "0,-3", "PI").place(1, "4,-3", "AC_B")
    assert duel(table) == LOSS
    assert duel(table.place(0, "4,0", "AC_B")) == TIE


def test_fin_06_without_institute_or_academy_the_distance_is_0():
    table = last("PI_AC_DISTANCE", dict.fromkeys(("0,0", "4,0"), "Red"))
    table = table.place(0, "0,0", "AC_A").place(0, "4,0", "AC_B")
    assert ended(table) == (9, 9, 9, 9)


def hive_and_neighbour():
    """The Hive has a satellite and two stations, player 1 has two satellites."""
    table = last("SATELLITES", factions=("HIVES",))
    table = table.place(0, "0,0", "SATELLITE").place(0, "1,0", "STATION").place(0, "2,0", "STATION")
    return table.place(1, "0,-3", "SATELLITE").place(1, "1,-3", "SATELLITE")


def test_a22_the_stations_of_the_hive_are_no_satellites():
    table = hive_and_neighbour()
    assert duel(table) == LOSS
    assert duel(table.place(0, "3,0", "SATELLITE")) == TIE


@pytest.mark.parametrize("rules", RULESETS.values(), ids=RULESETS)
def test_a22_in_the_other_rulesets_they_are(rules):
    counts = replace(LOST_FLEET, stations_count_as_satellites=rules.stations_count_as_satellites)
    values = scoring.final_values(counts, hive_and_neighbour().game)
    row = LOST_FLEET.final_missions.index("SATELLITES")
    assert values[row].tolist() == [1 if rules is LOST_FLEET else 3, 2, 0, 0]


def test_fin_08_asteroids_and_protos_with_guests_and_artifacts():
    planets = {"0,0": "Asteroid", "1,0": "Proto", "2,0": "Asteroid", "3,0": "Proto"}
    factions = ("LANTIDS", "XENOS")
    for count, result in ((6, TIE), (5, WIN)):
        table = rivals("ASTEROID_PROTO_BUILDINGS", count, planets, factions, kind="Proto")
        table = table.place(0, "0,0", "TS").place(0, "1,0").place(2, "2,0").place(2, "3,0")
        table = table.place(0, "2,0", "GUEST").place(0, "3,0", "GUEST")
        assert duel(own(table, 0, "ART-PP-MINE", "ART-AS-MINE")) == result


def test_fin_09_structures_in_federations():
    planets = dict.fromkeys(("0,0", "1,0", "3,0", "0,-3", "1,-3"), "Red") | {"2,0": "Lost"}
    table = last("FEDERATION_BUILDINGS", planets, ("HIVES",))
    table = table.place(0, ["0,0", "1,0", "2,0", "3,0"])
    table = table.place(0, ["0,0", "2,0"], "FEDERATED")
    table = table.place(0, "4,0", "STATION").place(0, "4,0", "FEDERATED")
    table = table.place(0, "5,0", "SATELLITE")
    for cell in ("0,-3", "1,-3"):
        table = table.place(1, cell).place(1, cell, "FEDERATED")
    assert duel(table) == TIE
    assert duel(table.place(0, "3,0", "FEDERATED")) == WIN


def test_fin_09_a_federated_guest_counts_for_its_owner_alone():
    table = last("FEDERATION_BUILDINGS", {"0,0": "Red"}, ("LANTIDS", "XENOS"))
    table = table.place(1, "0,0").place(0, "0,0", "GUEST").place(0, "0,0", "FEDERATED")
    assert ended(table) == (18, 6, 6, 6)
    assert duel(table.place(1, "0,0", "FEDERATED")) == TIE


SECTORS = {"0,0": "Red", "1,0": "Red", "3,0": "Lost", "2,-3": "Red", "2,4": "Red", "2,5": "Red"}


@pytest.mark.parametrize(
    ("mission", "rival"), [("MAIN_SECTORS", ("0,-6", "5,-4")), ("DEEP_SECTORS", ("3,-8",))]
)
def test_fin_10_sectors_count_once(mission, rival):
    # Player 0 has sectors 1 and 5, deep 2, and interspace.
    table = last(mission, SECTORS | dict.fromkeys(rival, "Red"))
    table = table.place(0, list(SECTORS))
    assert duel(table) == (18, 6)
    table = table.place(1, list(rival))
    assert duel(table) == TIE


def test_fin_10_gaia_buildings_without_guests():
    planets = dict.fromkeys(("0,0", "1,0", "2,0"), "Gaia")
    for count, result in ((2, TIE), (3, LOSS)):
        table = rivals("GAIA_BUILDINGS", count, planets, ("LANTIDS", "XENOS"), kind="Gaia")
        table = table.place(0, "0,0").place(0, "1,0", "AC_A").place(2, "2,0")
        assert duel(table.place(0, "2,0", "GUEST")) == result


@pytest.mark.parametrize(
    ("credits", "ore", "knowledge", "expected"), [(1, 1, 0, 0), (1, 1, 1, 1), (30, 15, 14, 19)]
)
def test_fin_11_a_vp_for_three_resources_together(credits, ore, knowledge, expected):
    table = last().give(0, credits=credits, ore=ore, knowledge=knowledge, qic=9, power=(0, 0, 9))
    assert ended(table, "RESOURCES")[0] == expected


def test_fin_12_vp_are_the_sum_of_all_sources():
    table = crowd((3, 2, 1, 0)).give(0, credits=7, tracks=(3, 0, 0, 0, 0, 0)).play("pass")
    assert table.player(0).vp == 10 + 18 + table.vp(0, "FINAL_2") + 4 + 2
    for player in range(4):
        assert table.player(player).vp == sum(table.player(player).vp_source)


@pytest.mark.parametrize(
    ("vp", "win", "rank"),
    [
        ((90, 120, 80, 70), (0, 1, 0, 0), (1 / 3, 1, -1 / 3, -1)),
        ((90, 90, 80, 70), (0.5, 0.5, 0, 0), (2 / 3, 2 / 3, -1 / 3, -1)),
        ((90, 80, 70, 70), (1, 0, 0, 0), (1, 1 / 3, -2 / 3, -2 / 3)),
        ((50, 50, 50, 50), (0.25,) * 4, (0,) * 4),
    ],
)
def test_fin_12_ties_share_the_win_and_the_rank(vp, win, rank):
    assert reward_at_end("win", jnp.array(vp)).tolist() == pytest.approx(win)
    assert reward_at_end("rank", jnp.array(vp)).tolist() == pytest.approx(rank)


def test_a7_an_ended_game_stays_as_it_is():
    table = crowd((3, 2, 1, 0)).play("pass")
    after = table.play("pass", "mine 0,0", "end_turn")
    assert after.node == Node.ENDED
    assert [after.player(p).vp for p in range(4)] == [table.player(p).vp for p in range(4)]

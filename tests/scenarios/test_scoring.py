"""Round tiles and the final scoring (RMS, FIN)."""

import pytest

from tests.scenarios.scene import last_to_pass, own, scene

# 3,0 is in sector 5, 2,4 in deep 2, 2,-3 is interspace; 0,0 and its neighbours are sector 1.


def scoring(tile, planets=None, faction="TERRANS", start="Blue", **setup):
    """Player 0 with a mine at 0,0 in a round of that tile."""
    planets = {"0,0": start} | (planets or {})
    table = scene(faction, planets=planets, mission=tile, **setup).place(0, "0,0")
    return table.give(0, credits=20, ore=12, knowledge=9, qic=9, gaiaformers=1, power=(0, 0, 9))


def vp(table, *texts):
    """VP from the round tile for these actions."""
    return table.play(*texts).vp(0, "ROUND_TILE")


@pytest.mark.parametrize(
    ("planet", "expected"), [("Blue", 0), ("Red", 3), ("Gaia", 3), ("Proto", 3), ("Asteroid", 3)]
)
def test_rms_02_a_mine_on_a_new_type(planet, expected):
    table = scoring("RM-DIV-3VP", {"1,0": planet})
    assert vp(table, "mine 1,0") == expected
    assert table.play("mine 1,0").turn(0).vp(0, "ROUND_TILE") == expected


def test_rms_02_artifact_types_count_and_score():
    artifacts = ["ART-AS-MINE", "ART-PP-MINE", "ART-K-QIC", "ART-RS3VP"]
    table = own(scoring("RM-DIV-3VP", {"1,0": "Asteroid"}, artifacts=artifacts), 0, "TWILIGHT")
    assert vp(table, "artifact 1") == 3
    assert vp(own(table, 0, "ART-AS-MINE"), "mine 1,0") == 0
    assert vp(table.planet("2,0", "Asteroid").place(0, "2,0"), "artifact 1") == 0


@pytest.mark.parametrize(
    ("planet", "steps"),
    [("Blue", 0), ("White", 1), ("Orange", 2), ("Brown", 3), ("Proto", 3), ("Gaia", 0)],
)
def test_rms_03_two_vp_for_each_step_the_planet_needs(planet, steps):
    assert vp(scoring("RM-TF-2VP", {"1,0": planet}), "mine 1,0") == 2 * steps


@pytest.mark.parametrize(
    ("planet", "steps"), [("Blue", 0), ("White", 1), ("Orange", 2), ("Brown", 3)]
)
def test_rms_03_free_steps_score_and_wasted_ones_do_not(planet, steps):
    table = scoring("RM-TF-2VP", {"1,0": planet})
    assert vp(table, "power PA_TF2", "pick 1,0") == 2 * steps


@pytest.mark.parametrize(("tile", "points"), [("RM-GAIA-3VP", 3), ("RM-GAIA-4VP", 4)])
def test_rms_04_a_mine_on_a_gaia_planet(tile, points):
    table = scoring(tile, {"1,0": "Gaia", "0,1": "Gaia", "-1,0": "Red"})
    assert vp(table, "mine 1,0") == points
    assert vp(table.place(0, "0,1", "GAIAFORMER"), "mine 0,1") == points
    assert vp(table, "mine -1,0") == 0


def test_rms_04_not_for_a_guest_nor_for_an_upgrade():
    table = scoring("RM-GAIA-4VP", {"1,0": "Gaia", "0,1": "Gaia"}, "LANTIDS").place(1, "1,0")
    assert vp(table, "mine 1,0") == 0
    assert vp(table.place(0, "0,1"), "upgrade 0,1") == 0


def test_rms_05_every_mine():
    planets = {"1,0": "Blue", "0,1": "Gaia", "-1,0": "Asteroid", "0,-1": "Red"}
    artifacts = ["ART-AS-MINE", "ART-PP-MINE", "ART-K-QIC", "ART-RS3VP"]
    table = own(scoring("RM-MINE-2VP", planets, "LANTIDS", artifacts=artifacts), 0, "TWILIGHT")
    table = table.place(1, "0,-1")
    for text in ("mine 1,0", "mine 0,1", "mine -1,0", "mine 0,-1", "artifact 1", "artifact 2"):
        assert vp(table, text) == 2, text
    for text in ("upgrade 0,0", "artifact 3", "advance ai"):
        assert vp(table, text) == 0, text


@pytest.mark.parametrize(("cell", "expected"), [("1,0", 0), ("3,0", 3), ("2,4", 3), ("2,-3", 0)])
def test_rms_06_a_mine_in_a_new_main_or_deep_sector(cell, expected):
    assert vp(scoring("RM-SECTOR-3VP", {cell: "Blue"}), f"mine {cell}") == expected


def test_rms_06_only_structures_occupy_a_sector():
    table = scoring("RM-SECTOR-3VP", {"3,0": "Blue", "4,0": "Transdim"})
    for kind in ("SATELLITE", "STATION"):
        assert vp(table.place(0, "3,1", kind), "mine 3,0") == 3
    assert vp(table.place(0, "4,0", "GAIAFORMER"), "mine 3,0") == 3
    assert vp(table.planet("4,0", "Red").place(0, "4,0", "TS"), "mine 3,0") == 0


@pytest.mark.parametrize(("tile", "points"), [("RM-TS-3VP", 3), ("RM-TS-4VP", 4)])
def test_rms_08_each_new_trading_station(tile, points):
    table = own(scoring(tile, {"1,0": "Blue"}), 0, "REBELLION")
    assert vp(table, "upgrade 0,0") == points
    assert vp(table, "ship REB_P", "pick 0,0") == points
    assert vp(table, "mine 1,0") == 0
    firaks = scoring(tile, {"1,0": "Red", "2,0": "Red"}, "FIRAKS", "Black")
    firaks = firaks.place(0, "1,0", "RL").place(0, "2,0", "PI")
    assert vp(firaks, "special FACTION", "pick 1,0", "advance ai") == points


def test_rms_09_a_level_from_any_cause():
    table = own(scoring("RM-RS-2VP", {"1,0": "Red"}), 0, "ECLIPSE").place(0, "1,0", "RL")
    assert vp(table, "advance ai") == 2
    assert vp(table, "ship ECL_P", "advance ai") == 2
    assert vp(table, "upgrade 1,0", "piece AC_A", "tile BT9_7VP", "advance ai") == 2


@pytest.mark.parametrize("tile", ["RM-PI-ACAD-1-5VP", "RM-PI-ACAD-2-5VP"])
def test_rms_10_an_upgrade_to_institute_or_academy(tile):
    table = scoring(tile, {"1,0": "Red", "2,0": "Red"}).place(0, "1,0", "TS").place(0, "2,0", "RL")
    assert vp(table, "upgrade 1,0", "piece PI") == 5
    assert vp(table, "upgrade 2,0", "piece AC_B") == 5
    assert vp(table, "upgrade 1,0", "piece RL") == 0
    ambas = scoring(tile, {"1,0": "Red"}, "AMBAS", "Brown").place(0, "1,0", "PI")
    assert vp(ambas, "special FACTION", "pick 0,0") == 0


def test_rms_11_each_event_scores_without_limit():
    table = scoring("RM-MINE-2VP", {"1,0": "Blue", "0,1": "Blue", "-1,0": "Blue"})
    assert vp(table, "mine 1,0", "end_turn") == 2
    assert vp(table.play("mine 1,0").turn(0).play("mine 0,1").turn(0), "mine -1,0") == 6


def test_rou_01_the_tile_of_the_round_scores():
    table = scoring("RM-MINE-2VP", {"1,0": "Blue"}, round=2)
    assert vp(table, "mine 1,0") == 2
    assert vp(table.set_turn(round=1), "mine 1,0") == 0
    later = last_to_pass(table.set_turn(round=1)).play("booster RB5").turn(0)
    assert int(later.game.turn.round) == 2 and vp(later, "mine 1,0") == 2

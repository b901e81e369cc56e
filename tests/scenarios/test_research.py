"""Research: steps, level 5, the bonuses of the levels (RES)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import at, own, scene

TRACKS = ("terraforming", "navigation", "ai", "gaia", "economy", "science")


def start(faction="TERRANS", planets=None, **setup):
    """4 knowledge, nothing else, all tracks at 0."""
    table = scene(faction, planets={"0,0": "Blue"} | (planets or {}), **setup).place(0, "0,0")
    table = table.give(0, credits=0, ore=0, knowledge=4, qic=0, gaiaformers=0, tracks=0)
    return table.give(0, power=(9, 0, 0))


def level(table, track, player=0):
    """The player's level on that track."""
    return table.player(player).tracks[TRACKS.index(track)]


def test_res_01_a_step_costs_4_knowledge():
    table = start()
    assert table.options("advance") == {f"advance {track}" for track in TRACKS}
    assert not table.give(0, knowledge=3).options("advance")
    table = table.play("advance science")
    assert (level(table, "science"), table.player(0).knowledge) == (1, 0)


@pytest.mark.parametrize("track", TRACKS)
def test_res_02_level_5_takes_a_green_token(track):
    table = at(start(), 0, **{track: 4})
    assert not table.can(f"advance {track}")
    assert not own(table, 0, "FT_12VP").can(f"advance {track}")  # grey
    table = own(table, 0, "FT_7VP_2O")
    green = table.player(0).green
    table = table.play(f"advance {track}")
    assert level(table, track) == 5
    # Terraforming 5 has a token: in the drawn set-up the grey one.
    assert table.player(0).green == green - 1


@pytest.mark.parametrize("track", TRACKS)
def test_res_02_one_player_a_track_reaches_level_5(track):
    table = own(at(start(), 0, **{track: 4}), 0, "FT_7VP_2O")
    table = at(table, 2, **{track: 4})
    assert table.can(f"advance {track}")
    assert not at(table, 2, **{track: 5}).can(f"advance {track}")


def test_res_02_nobody_passes_level_5():
    table = own(at(start(), 0, science=5, ai=2), 0, "FT_7VP_2O")
    assert not table.can("advance science") and table.can("advance ai")


def test_res_02_the_eclipse_asks_for_the_token_too():
    full = dict.fromkeys(TRACKS, 5) | {"ai": 4, "science": 3}
    table = own(at(start(), 0, **full), 0, "ECLIPSE").give(0, power=(0, 0, 3))
    assert table.play("ship ECL_P").options() == {"advance science"}
    table = own(table, 0, "FT_7VP_2O")
    assert table.play("ship ECL_P").options() == {"advance science", "advance ai"}
    assert table.play("ship ECL_P", "advance ai").player(0).green == 0


@pytest.mark.parametrize("track", ("terraforming", "navigation", "economy", "science"))
def test_res_03_the_step_to_level_3_charges_3(track):
    table = at(start(), 0, **{track: 2}).play(f"advance {track}")
    assert table.player(0).power == (6, 3, 0)
    table = at(start(), 0, **{track: 1}).play(f"advance {track}")
    assert table.player(0).power == (9, 0, 0)


def test_res_03_any_cause_charges():
    table = own(at(start(), 0, science=2), 0, "ECLIPSE").give(0, power=(0, 9, 3))
    table = table.play("ship ECL_P", "advance science")
    assert table.player(0).power == (0, 12, 0)  # 3 paid to bowl I, then charged to II


@pytest.mark.parametrize(
    ("track", "old", "gain"),
    [
        ("terraforming", 0, {"ore": 2}),
        ("terraforming", 1, {"ore": 0}),
        ("terraforming", 2, {"ore": 0}),
        ("terraforming", 3, {"ore": 2}),
        ("navigation", 0, {"qic": 1}),
        ("navigation", 1, {"qic": 0}),
        ("navigation", 2, {"qic": 1}),
        ("navigation", 3, {"qic": 0}),
        ("ai", 0, {"qic": 1}),
        ("ai", 1, {"qic": 1}),
        ("ai", 2, {"qic": 2}),
        ("ai", 3, {"qic": 2}),
        ("ai", 4, {"qic": 4}),
        ("science", 4, {"knowledge": 9}),
        ("economy", 4, {"ore": 3, "credits": 6, "power": (3, 6, 0)}),
    ],
)
def test_set_14_each_level_gives_its_bonus_once(track, old, gain):
    table = own(at(start(), 0, **{track: old}), 0, "FT_7VP_2O").play(f"advance {track}")
    for name, amount in gain.items():
        assert getattr(table.player(0), name) == amount


@pytest.mark.parametrize(("old", "gaiaformers"), [(0, 1), (1, 0), (2, 1), (3, 1)])
def test_res_04_the_gaia_track_unlocks_gaiaformers(old, gaiaformers):
    assert at(start(), 0, gaia=old).play("advance gaia").player(0).gaiaformers == gaiaformers


def test_res_04_level_2_of_the_gaia_track_gives_3_tokens():
    assert at(start(), 0, gaia=1).play("advance gaia").player(0).power == (12, 0, 0)


def test_res_05_gaia_5_gives_4_vp_and_1_for_each_own_gaia_planet():
    table = own(at(start(planets={"1,0": "Gaia", "2,0": "Gaia"}), 0, gaia=4), 0, "FT_7VP_2O")
    assert table.play("advance gaia").vp(0, "RESEARCH") == 4
    table = table.place(0, "1,0").place(0, "2,0", "TS")
    assert table.play("advance gaia").vp(0, "RESEARCH") == 6


def test_res_05_gaia_5_counts_no_gaiaformer_and_no_guest():
    table = scene("LANTIDS", planets={"0,0": "Blue", "1,0": "Gaia", "2,0": "Gaia"})
    table = table.place(1, "1,0").place(0, "1,0", "GUEST").place(0, "2,0", "GAIAFORMER")
    table = own(at(table.give(0, knowledge=4), 0, gaia=4), 0, "FT_7VP_2O")
    assert table.play("advance gaia").vp(0, "RESEARCH") == 4


@pytest.mark.parametrize("track", ("economy", "science"))
def test_res_06_level_5_has_no_income(track):
    def income(to):
        table = at(start(), 0, **{track: to}).give(0, knowledge=0)
        for player in (1, 2, 3):
            table = table.give(player, booster=player)
        index = table.env.ruleset.ids["booster"].index
        table = table.give(0, booster=index("RB5"))
        table = table.set_turn(passed=(0, 1, 2, 3)).turn(0).play("booster RB7")
        return table.player(0).resources

    assert income(5) == income(0)
    assert income(4) != income(0)


def test_res_10_four_vp_for_each_level_from_the_third():
    table = at(start(), 0, terraforming=2, navigation=3, ai=4, gaia=5, economy=1)
    table = table.set_turn(round=6, passed=(0, 1, 2, 3)).turn(0).play("pass")
    assert table.node == Node.ENDED
    assert table.vp(0, "RESEARCH_END") == 4 + 8 + 12


def test_fed_23_terraforming_5_gives_the_token_that_lies_there():
    table = start(tf5_token="FT_6VP_2K", mission="RM-FED-5VP")
    table = own(at(table, 0, terraforming=4), 0, "FT_7VP_2O").play("advance terraforming")
    row, kinds = table.player(0), table.env.ruleset.ids["token"]
    assert row.tokens[kinds.index("FT_6VP_2K")] == 1
    assert (row.knowledge, table.vp(0, "FEDERATION")) == (2, 6)
    assert table.vp(0, "ROUND_TILE") == 5
    assert row.green == 1  # one flipped, one new
    assert row.formed == 0
    assert not table.game.turn.track_token


def test_fed_23_the_token_stays_there_until_terraforming_5():
    below = at(start(), 0, terraforming=3).play("advance terraforming")
    other_track = own(at(start(), 0, science=4), 0, "FT_7VP_2O").play("advance science")
    assert below.game.turn.track_token and other_track.game.turn.track_token


def test_fed_23_the_grey_token_can_lie_there_too():
    table = start(tf5_token="FT_12VP")
    table = own(at(table, 0, terraforming=4), 0, "FT_7VP_2O").play("advance terraforming")
    assert (table.vp(0, "FEDERATION"), table.player(0).green) == (12, 0)


def test_set_06_the_token_on_terraforming_5_comes_out_of_the_supply():
    table = start(tf5_token="FT_6VP_2K")
    assert tuple(table.game.turn.token_supply.tolist()) == (3, 3, 3, 3, 3, 2)


def test_rms_09_two_vp_for_every_level_gained():
    table = start(mission="RM-RS-2VP").play("advance ai")
    assert table.vp(0, "ROUND_TILE") == 2

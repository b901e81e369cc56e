"""The thirteen artifacts on Twilight: their price, what they give, what they count for."""

import pytest

from gaia_jax.components.artifacts import ARTIFACTS
from gaia_jax.state import Node
from tests.scenarios.scene import POOR, at, last_to_pass, own, scene

IDS = tuple(artifact.id for artifact in ARTIFACTS)
NEAR = {"0,0": "Orange", "1,0": "Red", "0,-1": "Proto"}


def before(artifact, *items, faction="GEODENS", mission="RM-FED-5VP", **fields):
    """A player with a mine at 0,0, a shuttle on Twilight and 6 tokens; place 1 has the artifact."""
    four = [artifact, *(a for a in IDS if a != artifact)][:4]
    planets = NEAR | {"0,0": "Yellow" if faction == "GLEENS" else "Orange"}
    table = scene(faction, "FIRAKS", planets=planets, mission=mission, artifacts=four)
    given = POOR | {"power": (6, 0, 0)} | fields
    return own(table.place(0, "0,0"), 0, "TWILIGHT", *items, **given).turn(0)


def after_taking(artifact, *items, **fields):
    """The same after taking it."""
    return before(artifact, *items, **fields).play("artifact 1")


def after_income(table):
    """The player after the income of the next round, which no booster and no charge disturbs."""
    return last_to_pass(table.turn(0)).play("booster RB5")


def test_act_04_artifacts_want_an_own_shuttle_on_twilight():
    assert len(before("ART-K-QIC").options("artifact")) == 4
    table = before("ART-K-QIC").give(0, shuttles=0b1110).turn(0)  # every other ship
    assert not table.options("artifact")


@pytest.mark.parametrize(
    "power, left", [((6, 1, 1), (0, 1, 1)), ((2, 3, 2), (0, 0, 1)), ((0, 0, 7), (0, 0, 1))]
)
def test_art_01_6_tokens_are_removed_from_bowls_i_ii_iii_in_order(power, left):
    assert after_taking("ART-ORE3CR3", power=power).player(0).power == left


def test_art_01_fewer_than_6_tokens_do_not_do_and_the_gaia_area_does_not_count():
    assert not before("ART-K-QIC", power=(2, 2, 1), gaia_power=4).options("artifact")


def test_art_01_the_brainstone_goes_last_and_counts_as_one():
    table = before("ART-ORE3CR3", faction="TAKLONS", power=(5, 0, 0), brainstone=0)
    row = table.play("artifact 1").player(0)
    assert row.power == (0, 0, 0) and row.brainstone == -1
    table = before("ART-ORE3CR3", faction="TAKLONS", power=(3, 0, 3), brainstone=0)
    assert table.play("artifact 1").player(0).brainstone == 0
    table = before("ART-ORE3CR3", faction="TAKLONS", power=(4, 0, 0), brainstone=2)
    assert not table.options("artifact")


def test_act_04_there_is_no_round_limit_but_each_artifact_is_taken_once():
    table = before("ART-K-QIC", power=(12, 0, 0)).play("artifact 1").turn(0)
    assert not table.can("artifact 1") and table.can("artifact 2")
    other = own(table, 1, "TWILIGHT", power=(6, 0, 0)).turn(1)
    assert other.options("artifact") == {"artifact 2", "artifact 3", "artifact 4"}
    table = table.play("artifact 4")
    assert bin(table.player(0).artifacts).count("1") == 2


def test_act_04_an_artifact_does_not_come_back_after_the_round():
    table = after_income(after_taking("ART-K-QIC").give(0, power=(6, 0, 0)))
    table = table.give(0, power=(6, 0, 0))
    assert table.turn(0).options("artifact") == {"artifact 2", "artifact 3", "artifact 4"}


def test_exp_05_no_artifact_in_the_turn_of_the_shuttle():
    table = before("ART-K-QIC", vp=10, qic=2).give(0, shuttles=0).turn(0)
    table = table.play("explore TWILIGHT")
    assert not table.options("artifact") and table.turn(0).can("artifact 1")


@pytest.mark.parametrize("artifact, kind", [("ART-PP-MINE", "Proto"), ("ART-AS-MINE", "Asteroid")])
def test_art_03_a_mine_artifact_gives_7_vp_and_no_piece(artifact, kind):
    table = after_taking(artifact)
    assert table.vp(0, "ARTIFACT") == 7 and table.vp(0, "PROTO") == 0
    assert table.player(0).built == before(artifact).player(0).built


@pytest.mark.parametrize("artifact", ["ART-PP-MINE", "ART-AS-MINE"])
@pytest.mark.parametrize(
    "mission, vp", [("RM-MINE-2VP", 2), ("RM-DIV-3VP", 3), ("RM-SECTOR-3VP", 0), ("RM-TF-2VP", 0)]
)
def test_art_03_it_is_a_mine_built_on_a_new_type_but_in_no_sector(artifact, mission, vp):
    assert after_taking(artifact, mission=mission).vp(0, "ROUND_TILE") == vp


def test_art_03_a_type_already_owned_is_not_new():
    table = before("ART-PP-MINE", mission="RM-DIV-3VP").place(0, "0,-1").turn(0)
    assert table.play("artifact 1").vp(0, "ROUND_TILE") == 0


def test_art_03_a_mine_of_that_type_on_the_map_is_not_new_after_the_artifact():
    table = after_taking("ART-PP-MINE", mission="RM-DIV-3VP").give(0, ore=15, credits=2).turn(0)
    table = table.play("mine 0,-1")
    assert table.vp(0, "ROUND_TILE") == 3 and table.vp(0, "PROTO") == 6


def test_art_03_the_geodens_learn_from_its_new_type_with_the_pi():
    assert after_taking("ART-AS-MINE").player(0).knowledge == 0
    table = before("ART-AS-MINE").planet("2,0", "Orange").place(0, "2,0", "PI").turn(0)
    assert table.play("artifact 1").player(0).knowledge == 3


def test_art_03_it_is_not_leeched_and_gives_no_income():
    table = before("ART-AS-MINE").place(1, "1,0", "PI").give(1, power=(4, 0, 0)).turn(0)
    table = table.play("artifact 1")
    assert table.node != Node.LEECH and table.player(1).power == (4, 0, 0)
    plain = after_income(before("ART-ORE3CR3")).player(0).ore
    assert after_income(after_taking("ART-AS-MINE")).player(0).ore == plain


def test_art_k_qic_gives_3_knowledge_and_a_qic():
    row = after_taking("ART-K-QIC").player(0)
    assert (row.knowledge, row.qic, row.ore, row.credits) == (3, 1, 0, 0)


def test_art_06_gleens_get_an_ore_for_the_qic_before_academy_b():
    row = after_taking("ART-K-QIC", faction="GLEENS").player(0)
    assert (row.knowledge, row.qic, row.ore) == (3, 0, 1)


def test_art_02_art_ore_cred_gives_3_ore_and_5_credits():
    row = after_taking("ART-ORE-CRED").player(0)
    assert (row.ore, row.credits, row.knowledge, row.qic) == (3, 5, 0, 0)


def test_art_ore3cr3_gives_3_ore_and_3_credits_up_to_the_caps():
    row = after_taking("ART-ORE3CR3", ore=13, credits=28).player(0)
    assert (row.ore, row.credits) == (15, 30)
    row = after_taking("ART-ORE3CR3").player(0)
    assert (row.ore, row.credits, row.knowledge) == (3, 3, 0)


def test_fed_21_art_fed_boost_scores_an_owned_token_again_without_flipping():
    table = after_taking("ART-FED-BOOST", "FT_7VP_6C", "FT_6VP_2K")
    assert table.node == Node.RETRIGGER
    assert table.options() == {"token FT_7VP_6C", "token FT_6VP_2K"}
    table = table.play("token FT_7VP_6C")
    row = table.player(0)
    assert row.credits == 6 and row.green == 2 and sum(row.tokens) == 2
    assert table.vp(0, "FEDERATION") + table.vp(0, "ARTIFACT") == 7  # FED-22
    assert table.vp(0, "ROUND_TILE") == 0  # RM-FED-5VP: not obtained (RMS-07)


def test_fed_21_art_fed_boost_may_be_taken_without_a_token():
    table = after_taking("ART-FED-BOOST")
    assert table.node != Node.RETRIGGER and table.player(0).power == (0, 0, 0)
    assert table.player(0).artifacts == 1 << IDS.index("ART-FED-BOOST")


@pytest.mark.parametrize("level", [0, 2, 5])
@pytest.mark.parametrize("artifact, track", [("ART-SCI-VP", "science"), ("ART-GAIA-VP", "gaia")])
def test_art_sci_and_gaia_vp_give_3_for_each_level_of_the_track(artifact, track, level):
    table = at(before(artifact), 0, ai=4, **{track: level}).turn(0).play("artifact 1")
    assert table.vp(0, "ARTIFACT") == 3 * level


def test_art_05_art_type_vp_gives_3_and_one_for_each_type():
    assert after_taking("ART-TYPE-VP").vp(0, "ARTIFACT") == 4
    table = before("ART-TYPE-VP", "ART-AS-MINE").place(0, "1,0", "TS").place(0, "0,-1").turn(0)
    assert table.play("artifact 1").vp(0, "ARTIFACT") == 3 + 4


def test_art_deep_vp_gives_3_for_each_deep_sector_with_an_own_structure():
    table = before("ART-DEEP-VP")  # the mine at 0,0 is in a main sector
    assert table.play("artifact 1").vp(0, "ARTIFACT") == 0
    for cell in ("2,4", "2,5", "7,0"):  # two cells of one deep sector, one of another
        table = table.planet(cell, "Asteroid").place(0, cell)
    table = table.planet("6,-2", "Asteroid").place(0, "6,-2")  # interspace: no sector (MAP-14)
    assert table.turn(0).play("artifact 1").vp(0, "ARTIFACT") == 6


def test_art_04_art_rs3vp_gives_3_for_each_track_at_level_3_or_more():
    table = at(before("ART-RS3VP"), 0, ai=3, gaia=5, science=2, economy=4).turn(0)
    assert table.play("artifact 1").vp(0, "ARTIFACT") == 9


def test_art_create_power_brings_2_tokens_into_bowl_iii_each_income():
    plain = after_income(before("ART-CREATE-POWER", power=(0, 0, 0))).player(0).power
    table = after_taking("ART-CREATE-POWER")
    assert table.player(0).power == (0, 0, 0)  # nothing at once
    row = after_income(table).player(0)
    assert plain == (0, 0, 0) and row.power == (0, 0, 2)


def test_art_kno1ore1_brings_a_knowledge_and_an_ore_each_income():
    plain = after_income(before("ART-KNO1ORE1", power=(0, 0, 0))).player(0)
    table = after_taking("ART-KNO1ORE1")
    assert (table.player(0).knowledge, table.player(0).ore) == (0, 0)
    row = after_income(table).player(0)
    assert (row.knowledge, row.ore) == (plain.knowledge + 1, plain.ore + 1)


@pytest.mark.parametrize("artifact", IDS)
def test_act_04_every_artifact_is_the_main_action_and_stays_with_its_owner(artifact):
    table = after_taking(artifact)
    assert table.player(0).artifacts == 1 << IDS.index(artifact)
    assert table.player(1).artifacts == 0 and not table.options("artifact")

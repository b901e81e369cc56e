"""The income phase (INC)."""

import pytest

from gaia_jax.state import Node
from tests.scenarios.scene import last_to_pass, own, scene
from tests.scenarios.table import Table


def eve(faction="TERRANS", planets=None, booster="RB6", structures=None, **setup):
    """Player 0 has nothing and is to pass last in round 1; the next round brings `booster`.

    RB6 charges 2, which empty bowls do not show.
    """
    boosters = ["RB1", "RB2", "RB3", "RB4", "RB7", "RB8"] + [booster]
    if booster in boosters[:-1]:
        boosters = boosters[:-1] + ["RB6"]
    planets = dict.fromkeys(structures or {}, "Red") | (planets or {})
    table = last_to_pass(scene(faction, planets=planets, boosters=boosters, **setup))
    table = table.place(0, structures or {})
    table = table.give(0, credits=0, ore=0, knowledge=0, qic=0, tracks=0, power=(0, 0, 0))
    table = table.give(0, vp=10, brainstone=-1)
    for player in (1, 2, 3):  # nothing of theirs asks a question
        table = table.give(player, power=(0, 0, 0))
    return table


def income(table, booster="RB6"):
    """The player passes; the table is in round 2, or asks for the order of the power."""
    table = table.play(f"booster {booster}")
    assert int(table.game.turn.round) == 2
    return table


def resources(table):
    """Credits, ore, knowledge, QIC of player 0."""
    return table.player(0).resources


# The Terrans' board brings 1 ore and 1 knowledge.
@pytest.mark.parametrize(("mines", "ore"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (8, 7)])
def test_inc_01_the_third_mine_earns_nothing(mines, ore):
    table = income(eve(structures={f"{q},0": "MINE" for q in range(mines)}))
    assert resources(table) == (0, 1 + ore, 1, 0)


def test_inc_01_guests_earn_the_lost_planet_and_artifact_mines_do_not():
    table = eve("LANTIDS", {"0,0": "Red", "1,0": "Lost"}, structures={"2,0": "MINE"})
    table = own(table.place(1, "0,0").place(0, "0,0", "GUEST").place(0, "1,0"), 0, "ART-AS-MINE")
    assert resources(income(table))[1] == 1 + 2


@pytest.mark.parametrize(("stations", "credits"), [(1, 3), (2, 7), (3, 11), (4, 16)])
def test_inc_01_trading_stations_earn_credits(stations, credits):
    table = income(eve(structures={f"{q},0": "TS" for q in range(stations)}))
    assert resources(table) == (credits, 1, 1, 0)


@pytest.mark.parametrize(
    ("structure", "gain"), [("RL", (0, 1, 2, 0)), ("AC_A", (0, 1, 3, 0)), ("AC_B", (0, 1, 1, 0))]
)
def test_inc_01_labs_and_the_first_academy_earn_knowledge(structure, gain):
    assert resources(income(eve(structures={"0,0": structure}))) == gain


@pytest.mark.parametrize(
    ("booster", "gain"),
    [
        ("RB1", (0, 1, 1, 0)),
        ("RB3", (3, 0, 0, 0)),
        ("RB4", (0, 1, 0, 0)),
        ("RB5", (4, 0, 0, 0)),
        ("RB7", (0, 1, 0, 0)),
        ("RB8", (0, 1, 0, 0)),
        ("RB10", (2, 0, 0, 1)),
        ("RB12", (0, 0, 1, 0)),
        ("RB13", (2, 0, 0, 0)),
        ("RB14", (0, 1, 0, 0)),
    ],
)
def test_inc_04_the_booster_earns(booster, gain):
    table = eve(booster=booster)
    for player in (0, 1, 2, 3):  # they hold other boosters
        table = table.give(player, booster=5)
    expected = tuple(a + b for a, b in zip((0, 1, 1, 0), gain, strict=True))
    assert resources(income(table, booster)) == expected


def test_inc_04_booster_9_brings_tokens_and_booster_2_charges():
    table = income(eve(booster="RB9"), "RB9")
    assert table.player(0).power == (2, 0, 0)
    table = eve(booster="RB2").give(1, booster=5).give(2, booster=5).give(3, booster=5)
    assert income(table.give(0, power=(3, 0, 0)), "RB2").player(0).power == (0, 2, 1)


@pytest.mark.parametrize(
    ("side", "level", "gain", "vp"),
    [
        ("A", 0, (0, 0), 0),
        ("A", 1, (2, 0), 0),
        ("A", 2, (2, 1), 0),
        ("A", 3, (2, 1), 0),
        ("A", 4, (2, 2), 0),
        ("B", 2, (2, 1), 0),
        ("B", 3, (3, 1), 1),
        ("B", 4, (4, 2), 1),
        ("B", 5, (0, 0), 0),
    ],
)
def test_inc_07_and_set_05_the_economy_track(side, level, gain, vp):
    table = income(eve(economy_side=side).give(0, tracks=(0, 0, 0, 0, level, 0)))
    assert resources(table) == (gain[0], 1 + gain[1], 1, 0)
    assert table.vp(0, "ECONOMY") == vp


@pytest.mark.parametrize(
    ("side", "level", "charge"), [("A", 1, 1), ("A", 3, 3), ("A", 4, 2), ("B", 3, 0)]
)
def test_set_05_the_economy_track_charges(side, level, charge):
    table = eve(economy_side=side, booster="RB8").give(0, power=(9, 0, 0))
    table = income(table.give(0, tracks=(0, 0, 0, 0, level, 0)), "RB8")
    assert table.player(0).power == (9 - charge, charge, 0)


@pytest.mark.parametrize(("level", "knowledge"), [(0, 0), (1, 1), (4, 4), (5, 0)])
def test_inc_04_the_science_track(level, knowledge):
    table = income(eve().give(0, tracks=(0, 0, 0, 0, 0, level)))
    assert resources(table) == (0, 1, 1 + knowledge, 0)


@pytest.mark.parametrize(
    ("item", "gain"),
    [
        ("BT2_INC_O1_CH1", (0, 1, 0, 0)),
        ("BT4_INC_C4", (4, 0, 0, 0)),
        ("BT5_INC_C1_K1", (1, 0, 1, 0)),
        ("ART-KNO1ORE1", (0, 1, 1, 0)),
        ("SA-O-3", (0, 0, 0, 0)),
    ],
)
def test_inc_04_uncovered_tiles_and_artifacts_earn(item, gain):
    table = own(eve(), 0, item)
    expected = tuple(a + b for a, b in zip((0, 1, 1, 0), gain, strict=True))
    assert resources(income(table)) == expected
    if item.startswith("BT"):
        covered = table.give(0, covered=table.player(0).tiles)
        assert resources(income(covered)) == (0, 1, 1, 0)


def test_inc_04_the_artifact_of_power_brings_tokens_into_bowl_3():
    table = income(own(eve(), 0, "ART-CREATE-POWER"))
    assert table.player(0).power == (0, 0, 2)


def test_gen_07_income_stops_at_the_caps():
    table = eve(structures={"0,0": "TS"}).give(0, credits=29, ore=15, knowledge=15)
    assert resources(income(table)) == (30, 15, 15, 0)


def ordered(**given):
    """Charges of the institute (4) and the booster (2), and a token of the institute."""
    table = eve(structures={"0,0": "PI"}).give(0, power=(1, 0, 0))
    return income(table.give(0, **given))


def test_inc_02_with_tokens_and_charges_pending_the_player_orders_them():
    table = ordered()
    assert (table.node, table.decider) == (Node.INCOME, 0)
    assert table.options() == {"income CH_PI", "income TK_PI", "income CH_BOOSTER"}
    assert resources(table) == (0, 1, 1, 0)  # all else has come


def test_inc_02_what_is_left_of_one_kind_comes_by_itself():
    token = ordered().play("income TK_PI")
    assert token.node != Node.INCOME
    assert token.player(0).power == (0, 0, 2)
    charge = ordered().play("income CH_PI")
    assert charge.options() == {"income TK_PI", "income CH_BOOSTER"}
    assert charge.play("income CH_BOOSTER").player(0).power == (1, 0, 1)
    assert charge.play("income TK_PI").player(0).power == (0, 0, 2)


def test_inc_02_charges_alone_ask_nothing():
    table = income(eve("HADSCH_HALLAS").give(0, power=(2, 0, 0), tracks=(0, 0, 0, 0, 1, 0)))
    assert table.node == Node.TURN and table.player(0).power == (0, 1, 1)


def test_inc_02_tokens_alone_ask_nothing():
    table = eve("ITARS", booster="RB9")
    table = income(table, "RB9")
    assert table.node == Node.TURN and table.player(0).power == (3, 0, 0)


def test_inc_02_all_tiles_that_charge_are_one_atom():
    table = own(eve("ITARS", booster="RB3").give(3, booster=5), 0, "BT2_INC_O1_CH1")
    table = income(table.give(0, power=(1, 0, 0)), "RB3")
    assert table.options() == {"income CH_TILE", "income TK_FACTION"}
    assert table.play("income CH_TILE").player(0).power == (1, 1, 0)
    assert table.play("income TK_FACTION").player(0).power == (1, 1, 0)


def test_inc_03_the_brainstone_moves_first():
    table = eve("TAKLONS").give(0, power=(3, 0, 0), brainstone=0)
    row = income(table).player(0)
    assert (row.power, row.brainstone) == ((2, 1, 0), 1)


def test_inc_08_no_free_action_during_income():
    assert not ordered(qic=3).options("free")


def test_inc_06_round_1_brings_income_from_structures_and_the_chosen_booster():
    boosters = ["RB1", "RB2", "RB3", "RB4", "RB5", "RB7", "RB8"]
    table = Table(factions=("GEODENS", "XENOS", "AMBAS", "FIRAKS"), boosters=boosters)
    while table.node == Node.START:
        table = table.play(sorted(table.options("pick"))[0])
    assert (table.node, table.decider) == (Node.BOOSTER, 3)  # reverse turn order
    table = table.play("booster RB4", "booster RB7", "booster RB8", "booster RB1")
    assert int(table.game.turn.round) == 1
    # 15, 6, 3, 1 at the start; 1 ore and 1 knowledge, two mines, the booster.
    assert table.player(0).resources == (15, 6 + 1 + 2 + 1, 3 + 1 + 1, 1)

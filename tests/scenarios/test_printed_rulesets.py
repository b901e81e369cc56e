"""The amendments of the printed rulesets, `base` and `lost_fleet_published` (A25 to A28)."""

import pytest

from gaia_jax.state import NO_BRAINSTONE, Node
from tests.scenarios.scene import POOR, camp, holding, own, piece, scene, upgraded

PRINTED = ("base", "lost_fleet_published")
RICH = {"credits": 20, "ore": 9, "knowledge": 9, "qic": 3, "power": (0, 0, 9)}
FULL = {"credits": 30, "ore": 15, "knowledge": 15}


def home(ruleset, faction="TERRANS", planets=None, start="Blue", **fields):
    """A mine of player 0 at 0,0 and plenty of everything, without research."""
    table = scene(faction, planets={"0,0": start} | (planets or {}), ruleset=ruleset)
    return table.place(0, "0,0").give(0, **(RICH | {"tracks": 0} | fields)).turn(0)


SEVEN = {"0,0": "PI", "1,0": "AC_A", "0,1": "MINE"}


@pytest.mark.parametrize(
    "ruleset", [pytest.param(x, marks=[pytest.mark.slow] * (x == "base")) for x in PRINTED]
)
def test_a25_two_mines_that_together_cost_a_satellite_are_too_many(ruleset):
    """A satellite at -1,0 joins both: it is needed without either, and not without both."""
    table = camp(SEVEN | {"-2,1": "MINE", "-1,-1": "MINE"}, ruleset=ruleset)
    table = table.play("form_federation")
    assert table.options() == {"pick 0,0"}
    table = table.play("pick 0,0")
    assert table.options() == {"commit"}
    table = table.play("commit")
    assert table.node == Node.TOKEN and table.player(0).satellites == 0


@pytest.mark.parametrize("ruleset", PRINTED)
def test_a25_a_needless_mine_that_costs_no_satellite_is_legal(ruleset):
    structures = {"0,0": "PI", "1,0": "TS", "-2,1": "AC_A", "-1,-1": "MINE"}
    table = camp(structures, ruleset=ruleset).play("form_federation", "pick 0,0", "pick -2,1")
    assert table.options() == {"commit", "pick -1,-1"}  # -1,0 takes the satellite in any case
    table = table.play("pick -1,-1", "commit")
    assert table.node == Node.TOKEN and table.player(0).satellites == 1


STEPS = [
    ("base", "TERRANS", "power PA_TF1"),
    ("base", "TERRANS", "power PA_TF2"),
    ("base", "TERRANS", "special RB13"),
    ("lost_fleet_published", "TERRANS", "power PA_TF2"),
    ("lost_fleet_published", "TERRANS", "special RB13"),
    ("lost_fleet_published", "TERRANS", "ship TFM_C"),
    ("lost_fleet_published", "SPACE_GIANTS", "special FACTION"),
]


def terraformer(ruleset, faction, planets):
    """Player 0 may take every action that gives terraforming steps."""
    table = home(ruleset, faction, planets)
    if ruleset == "lost_fleet_published":
        table = own(table, 0, "TF_MARS")
    return holding(table, "RB13").turn(0)


@pytest.mark.parametrize(("ruleset", "faction", "action"), STEPS)
def test_a26_steps_are_for_planets_that_need_one(ruleset, faction, action):
    near = {"1,0": "Gaia", "0,1": "Red"}
    near |= {} if faction == "SPACE_GIANTS" else {"-1,0": "Blue"}
    table = terraformer(ruleset, faction, near)
    assert table.can("mine 1,0")
    table = table.play(action)
    assert table.options("pick") == {"pick 0,1"}
    assert piece(table.play("pick 0,1"), "0,1") == "MINE"


@pytest.mark.parametrize(("ruleset", "faction", "action"), STEPS)
def test_a26_without_a_planet_that_needs_a_step_the_action_is_illegal(ruleset, faction, action):
    assert not terraformer(ruleset, faction, {"1,0": "Gaia"}).can(action)
    assert terraformer(ruleset, faction, {"1,0": "Red"}).can(action)


def test_a26_a_gaiaformed_planet_needs_no_step():
    table = terraformer("base", "TERRANS", {"1,0": "Gaia"}).place(0, "1,0", "GAIAFORMER").turn(0)
    assert table.can("mine 1,0") and not table.can("power PA_TF1")


def test_a26_a_proto_planet_needs_three_steps():
    table = terraformer("lost_fleet_published", "TERRANS", {"1,0": "Proto"})
    assert piece(table.play("power PA_TF2", "pick 1,0"), "1,0") == "MINE"


@pytest.mark.parametrize(
    ("tile", "target", "legal"),
    [
        ("TK-EARLY-TF1", "Red", True),
        ("TK-LATE-TF3", "Red", True),
        ("TK-EARLY-TF1", "Gaia", False),
        ("TK-LATE-TF3", "Gaia", False),
    ],
)
def test_a26_the_tinkering_tiles_of_steps(tile, target, legal):
    table = scene("TINKEROIDS", planets={"0,0": "White", "1,0": target}, ruleset=PRINTED[1])
    index = table.env.ruleset.ids["tinkering"].index(tile)
    table = table.place(0, "0,0", "PI").give(0, **(RICH | {"tinkering": index})).turn(0)
    assert table.can("mine 1,0") and table.can("special FACTION") is legal


@pytest.mark.parametrize(("target", "node"), [("Brown", Node.FREE_MINE), ("Orange", Node.STEP)])
def test_a26_the_tile_with_a_free_mine(target, node):
    """Without a target the mine is not asked for (A12)."""
    near = {"0,0": "Orange", "1,0": target}
    table = scene("GEODENS", planets=near, ruleset="lost_fleet_published").place(0, "0,0", "TS")
    table = own(table, 0, "ECLIPSE", ore=5, credits=9, qic=0).turn(0)
    assert table.can("mine 1,0") is (target == "Orange")  # Brown needs two steps of 3 ore
    assert upgraded(table, "RL").play("tile LF-TF2-FREE-MINE").node == node


@pytest.mark.parametrize("ruleset", PRINTED)
@pytest.mark.parametrize(
    ("action", "full", "short"),
    [
        ("power PA_7C", {"credits": 30}, {"credits": 29}),
        ("power PA_2O", {"ore": 15}, {"ore": 14}),
        ("power PA_2K", {"knowledge": 15}, {"knowledge": 14}),
        ("power PA_3K", {"knowledge": 15}, {"knowledge": 14}),
        ("special SA-K-3", {"knowledge": 15}, {"knowledge": 14}),
        ("special SA-O-3", {"ore": 15}, {"ore": 14}),
        ("special BT1_ACT_CHARGE4", {"power": (0, 0, 9)}, {"power": (0, 1, 8)}),
    ],
)
def test_a27_an_action_whose_gain_would_be_lost_is_illegal(ruleset, action, full, short):
    items = [action.split()[1]] if action.startswith("special") else []
    table = own(home(ruleset), 0, *items)
    assert not table.give(0, **full).turn(0).can(action)
    table = table.give(0, **short).turn(0).play(action)
    assert table.turn(0).options() and not table.turn(0).can(action)


@pytest.mark.parametrize("ruleset", PRINTED)
def test_a27_new_tokens_and_qic_are_never_lost(ruleset):
    table = own(home(ruleset, **FULL), 0, "SA-QIC-CRED")
    assert table.turn(0).can("power PA_2PT") and table.turn(0).can("special SA-QIC-CRED")
    academy = table.place(0, "0,0", "AC_B").turn(0)
    assert academy.can("special AC_B")


@pytest.mark.parametrize("ruleset", PRINTED)
@pytest.mark.parametrize(
    ("fields", "legal"), [(FULL, False), (FULL | {"ore": 14}, True), (FULL | {"credits": 29}, True)]
)
def test_a27_the_gleens_lose_a_qic_with_full_ore(ruleset, fields, legal):
    table = own(home(ruleset, "GLEENS", start="Yellow", **fields), 0, "SA-QIC-CRED").turn(0)
    assert table.can("special SA-QIC-CRED") is legal
    assert table.place(0, "0,0", "AC_B").turn(0).can("special SA-QIC-CRED")


@pytest.mark.parametrize("ruleset", PRINTED)
def test_a27_academy_b_of_the_bal_taks_gives_credits(ruleset):
    table = home(ruleset, "BAL_TAKS", start="Orange").place(0, "0,0", "AC_B")
    assert not table.give(0, credits=30).turn(0).can("special AC_B")
    assert table.give(0, credits=29).turn(0).can("special AC_B")


@pytest.mark.parametrize("ruleset", PRINTED)
@pytest.mark.parametrize(("bowl", "legal"), [(0, True), (1, True), (2, False)])
def test_a27_the_brainstone_can_be_charged(ruleset, bowl, legal):
    table = home(ruleset, "TAKLONS", start="Brown", power=(0, 0, 4), brainstone=bowl)
    table = own(table, 0, "BT1_ACT_CHARGE4").turn(0)
    assert table.can("special BT1_ACT_CHARGE4") is legal


@pytest.mark.parametrize("ruleset", PRINTED)
def test_a27_vp_are_never_lost(ruleset):
    table = home(ruleset, **FULL)
    table = table if ruleset == "base" else own(table, 0, "ECLIPSE")
    assert table.turn(0).can("qic QIC_TYPES" if ruleset == "base" else "ship ECL_Q")


@pytest.mark.parametrize(
    ("ruleset", "action"), [("base", "qic QIC_TOKEN"), ("lost_fleet_published", "ship TWI_Q")]
)
def test_a27_the_token_of_the_gleens_gives_nothing_to_full_stocks(ruleset, action):
    table = own(home(ruleset, "GLEENS", start="Yellow", **FULL), 0, "FT_GLEENS")
    table = table if ruleset == "base" else own(table, 0, "TWILIGHT")
    assert not table.turn(0).can(action)
    assert table.give(0, credits=29).turn(0).can(action)
    other = own(table, 0, "FT_7VP_6C").turn(0).play(action)
    assert other.options() == {"token FT_7VP_6C"}  # its VP are not lost


def test_a27_the_rebellions_credits_and_qic():
    table = own(home("lost_fleet_published", "GLEENS", start="Yellow", **FULL), 0, "REBELLION")
    assert not table.turn(0).can("ship REB_K")
    assert table.give(0, ore=14).turn(0).can("ship REB_K")
    terrans = own(home("lost_fleet_published", **FULL), 0, "REBELLION").turn(0)
    assert terrans.can("ship REB_K")


@pytest.mark.parametrize(
    ("tile", "fields", "legal"),
    [
        ("TK-EARLY-PW4", {"power": (0, 0, 9)}, False),
        ("TK-EARLY-PW4", {"power": (1, 0, 8)}, True),
        ("TK-LATE-KN3", {"knowledge": 15}, False),
        ("TK-LATE-KN3", {"knowledge": 14}, True),
        ("TK-EARLY-QIC1", FULL, True),
    ],
)
def test_a27_the_tinkering_tiles_of_goods(tile, fields, legal):
    table = scene("TINKEROIDS", planets={"0,0": "White"}, ruleset="lost_fleet_published")
    index = table.env.ruleset.ids["tinkering"].index(tile)
    fields = RICH | {"brainstone": NO_BRAINSTONE, "tinkering": index} | fields
    assert table.place(0, "0,0", "PI").give(0, **fields).turn(0).can("special FACTION") is legal


def with_token(faction, token, planets, ruleset, **fields):
    """A federation of 7 power is formed, and the token that Eclipse was dealt is taken."""
    tokens = ["SFT_12VP", "SFT_8VP_8C", "SFT_4VP_4K"]
    ships = ("ECLIPSE", "TWILIGHT", "REBELLION", "TF_MARS")
    dealt = dict(zip(ships, [token, *tokens], strict=True))
    structures = {"0,0": "PI", "1,0": "TS", "0,1": "TS"}
    colours = dict.fromkeys(structures, "Orange") | planets
    table = scene(faction, planets=colours, ship_tokens=dealt, ruleset=ruleset)
    table = table.place(0, structures)
    table = (
        own(table, 0, "ECLIPSE", **(POOR | {"gaiaformers": 0} | fields)).place(1, "6,-7").turn(0)
    )
    table = table.play("form_federation", "pick 0,0")
    table = table.play("commit") if table.can("commit") else table
    return table.play("token ECLIPSE")


FAR = {"6,-7": "Red", "-1,0": "White"}


def test_a28_the_token_of_unlimited_range_builds_a_guest_mine():
    table = with_token("LANTIDS", "SFT_RANGE_MINE", FAR, "lost_fleet_published", knowledge=0)
    assert table.node == Node.FREE_MINE and table.can("pick 6,-7")
    table = table.play("pick 6,-7")
    row = table.player(0)
    assert row.guests == 1 and (row.ore, row.credits, row.qic) == (0, 0, 0)  # the mine is free
    assert row.knowledge == 2  # LAN-02
    assert piece(table, "6,-7") == "MINE"  # the host's


def test_a28_others_build_no_guest_mine_by_it_and_the_default_ruleset_none():
    table = with_token("GEODENS", "SFT_RANGE_MINE", FAR, "lost_fleet_published", ore=3)
    assert not table.can("pick 6,-7")
    table = with_token("LANTIDS", "SFT_RANGE_MINE", FAR, "lost_fleet", ore=9)
    assert not table.can("pick 6,-7")


def test_a28_the_token_of_three_steps_builds_no_guest_mine():
    planets = {"2,0": "White", "-1,0": "White"}
    fields = {"ore": 9, "qic": 9}
    table = with_token("LANTIDS", "SFT_TF3_MINE", planets, "lost_fleet_published", **fields)
    assert table.can("pick 2,0")
    table = table.place(1, "2,0")
    assert not table.can("pick 2,0") and table.can("pick -1,0")


def test_a28_the_token_of_three_steps_takes_an_asteroid_for_a_gaiaformer():
    planets = {"-1,0": "Asteroid"}
    ruleset = "lost_fleet_published"
    table = with_token("GEODENS", "SFT_TF3_MINE", planets, ruleset, gaiaformers=1)
    assert table.options() == {"pick -1,0", "skip"}
    table = table.play("pick -1,0")
    assert piece(table, "-1,0") == "MINE" and table.player(0).gaiaformers == 0


@pytest.mark.parametrize(
    ("ruleset", "gaiaformers"), [("lost_fleet_published", 0), ("lost_fleet", 1)]
)
def test_a28_no_asteroid_without_a_gaiaformer_or_in_the_default_ruleset(ruleset, gaiaformers):
    planets = {"-1,0": "Asteroid"}
    table = with_token("GEODENS", "SFT_TF3_MINE", planets, ruleset, gaiaformers=gaiaformers)
    assert table.node != Node.FREE_MINE


@pytest.mark.parametrize("target", ["Orange", "Gaia"])
def test_a26_the_token_of_up_to_three_steps_may_use_none(target):
    """It is no action that gives steps, and A28 lets it take an asteroid, which needs none."""
    planets = {"-1,0": target}
    table = with_token("GEODENS", "SFT_TF3_MINE", planets, "lost_fleet_published", qic=1)
    assert piece(table.play("pick -1,0"), "-1,0") == "MINE"

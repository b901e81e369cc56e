"""Set-ups as JSON: there and back, and one clear error for each way to break one."""

import copy
import re

import jax
import numpy as np
import pytest

from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.setup.draw import draw_setup
from gaia_jax.setup.setup_json import players_of, setup_from_json, setup_to_dict, setup_to_json

draw_many = jax.jit(jax.vmap(draw_setup))


@pytest.fixture(scope="module")
def setups():
    batch = jax.device_get(draw_many(jax.random.split(jax.random.key(8), 32)))
    return [jax.tree.map(lambda leaf, i=i: leaf[i], batch) for i in range(32)]


@pytest.fixture
def data(setups):
    return setup_to_dict(setups[0], LOST_FLEET)


def assert_same(first, second):
    for name, value in vars(first).items():
        back = getattr(second, name)
        if value is None:  # the Automa's part, of a solo game alone
            assert back is None, name
            continue
        assert np.array_equal(value, back), name
        assert np.asarray(value).dtype == back.dtype, name


def test_there_and_back(setups):
    for setup in setups:
        assert_same(setup, setup_from_json(setup_to_json(setup, LOST_FLEET), LOST_FLEET))
        assert_same(setup, setup_from_json(setup_to_dict(setup, LOST_FLEET), LOST_FLEET))


def test_the_ruleset_must_be_given(setups):
    """That of another variant would read other tiles at the same indices."""
    for convert in (setup_to_dict, setup_to_json, setup_from_json):
        with pytest.raises(TypeError, match="'ruleset'"):
            convert(setups[0])


def test_an_edited_set_up(data):
    edited = copy.deepcopy(data)
    edited["economy_side"] = "B"
    edited["sectors"][4]["rotation"] = 5
    setup = setup_from_json(edited, LOST_FLEET)
    assert int(setup.economy_side) == 1
    assert int(setup.sector_rotation[4]) == 5


def test_a_batch_is_an_error():
    batch = draw_many(jax.random.split(jax.random.key(0), 3))
    with pytest.raises(ValueError, match=r"setup must be one set-up, got a batch of \(3,\)"):
        setup_to_json(batch, LOST_FLEET)


def test_an_index_out_of_range_is_an_error(setups):
    with pytest.raises(ValueError, match="7 is no index of FT_12VP"):
        setup_to_json(setups[0].replace(tf5_token=np.int8(7)), LOST_FLEET)
    with pytest.raises(ValueError, match="-1 is no index of -3,1"):
        setup_to_json(setups[0].replace(ship_cell=np.zeros(4, np.int16)), LOST_FLEET)


# Each edit of a sound set-up, and the words of the error.

SHIPS_APART = {"TWILIGHT": "-3,1", "ECLIPSE": "1,2", "REBELLION": "2,-3", "TF_MARS": "6,-2"}


def _ships(data, **places):
    data["ships"] = SHIPS_APART | places
    cells = ["-3,1", "-2,3", "-1,-2", "1,2", "2,-3", "3,-1", "4,-6", "6,-2", "7,-7", "8,-5"]
    free = [cell for cell in cells if cell not in data["ships"].values()]
    data["interface"] = dict(zip(free, ["Asteroid"] * 4 + ["Proto", "Empty"], strict=False))


def _set(*path):
    """An edit that puts the last of `path` at the place that the others name."""

    def edit(data):
        *parents, last, value = path
        for step in parents:
            data = data[step]
        data[last] = value

    return edit


def _swap_center(data):
    tiles = [entry["tile"] for entry in data["sectors"]]
    m10 = tiles.index("M10")
    data["sectors"][0]["tile"], data["sectors"][m10]["tile"] = "M10", tiles[0]


def _two_artifacts_alike(data):
    data["artifacts"][:2] = ["ART-GAIA-VP", "ART-GAIA-VP"]


def _deep_both_sides(data):
    data["deep"] = [{"tile": f"DS{i}A", "rotation": 0} for i in range(1, 9)]
    data["deep"][7]["tile"] = "DS3B"


def _two_free_basic_tiles_alike(data):
    data["basic_tiles"]["free_1"] = data["basic_tiles"]["free_2"] = "BT9_7VP"


def _interface(content):
    def edit(data):
        _ships(data)
        data["interface"]["8,-5"] = content

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        # Keys.
        (lambda d: d.pop("boosters"), "set-up: key 'boosters' is missing"),
        (_set("weather", 1), "set-up: unknown key 'weather'; known are sectors, ships"),
        (lambda d: d["ships"].pop("ECLIPSE"), "ships: key 'ECLIPSE' is missing"),
        (_set("ship_tiles", "TWILIGHT", "LF-NAV+1"), "ship_tiles: unknown key 'TWILIGHT'"),
        (_set("sectors", 3, {"tile": "M05"}), "sectors[3]: key 'rotation' is missing"),
        (_set("basic_tiles", "free_4", "BT9_7VP"), "basic_tiles: unknown key 'free_4'"),
        # Shapes and counts.
        (_set("ships", ["1,2"]), "ships: must be an object, got ['1,2']"),
        (_set("deep", 2, "DS1A"), "deep[2]: must be an object, got 'DS1A'"),
        (_set("turn_order", "0123"), "turn_order: must be a list of 4, got '0123'"),
        (lambda d: d["factions"].pop(), "factions: must be a list of 4"),
        (lambda d: d["sectors"].pop(), "sectors: must be a list of 10"),
        (lambda d: d["boosters"].append("RB1"), "boosters: must be a list of 7"),
        # Unknown values, with the choices.
        (
            _set("sectors", 3, "tile", "M11"),
            "sectors[3]: unknown value 'M11'; choose from M01, M02, M03",
        ),
        (_set("deep", 0, "tile", "DS1"), "deep[0]: unknown value 'DS1'; choose from DS1A, DS1B"),
        (
            _set("factions", 2, "TERRAN"),
            "factions[2]: unknown value 'TERRAN'; choose from HIVES, HADSCH_HALLAS",
        ),
        (_set("turn_order", 1, 4), "turn_order[1]: unknown value 4; choose from 0, 1, 2, 3"),
        (_set("turn_order", 1, True), "turn_order[1]: unknown value True"),
        (_set("turn_order", 1, "1"), "turn_order[1]: unknown value '1'"),
        (_set("basic_tiles", "ai", "BT10"), "basic_tiles['ai']: unknown value 'BT10'"),
        (_set("advanced_tiles", "extra", "RS"), "advanced_tiles['extra']: unknown value 'RS'"),
        (_set("ship_tokens", "ECLIPSE", 3), "ship_tokens['ECLIPSE']: unknown value 3"),
        (_set("tf5_token", "FT_GLEENS"), "tf5_token: unknown value 'FT_GLEENS'"),  # SET-06
        (_set("economy_side", "C"), "economy_side: unknown value 'C'; choose from A, B"),
        (_set("extra_condition", None), "extra_condition: unknown value None; choose from A, B"),
        (_set("colour_order", 0, "Gaia"), "colour_order[0]: unknown value 'Gaia'"),
        (_set("ships", "ECLIPSE", "0,0"), "ships['ECLIPSE']: unknown value '0,0'"),
        (_interface("Gaia"), "interface['8,-5']: unknown value 'Gaia'"),
        # Rotations.
        (_set("sectors", 3, "rotation", 6), "sectors[3]['rotation']: unknown value 6; choose from"),
        (_set("sectors", 3, "rotation", -1), "sectors[3]['rotation']: unknown value -1"),
        (_set("deep", 5, "rotation", 3), "deep[5]['rotation']: unknown value 3"),
        (_set("deep", 5, "rotation", 1.0), "deep[5]['rotation']: unknown value 1.0"),
        # Things that are there twice, or cannot go together.
        (_two_artifacts_alike, "artifacts: 'ART-GAIA-VP' appears twice"),
        (_two_free_basic_tiles_alike, "basic_tiles: 'BT9_7VP' appears twice"),
        (_set("turn_order", [0, 1, 2, 2]), "turn_order: 2 appears twice"),
        (_set("factions", ["XENOS", "HIVES", "AMBAS", "HIVES"]), "'HIVES' appears twice"),
        (
            _set("factions", ["XENOS", "HIVES", "AMBAS", "GLEENS"]),  # SET-11
            "factions: 'XENOS' and 'GLEENS' are two sides of one board",
        ),
        (_deep_both_sides, "deep: 'DS3A' and 'DS3B' are two sides of one tile"),
        (_swap_center, "sectors[0]: 'M10' cannot lie there; choose from M01, M02, M03, M04"),
        # The interspace.
        (lambda d: _ships(d, ECLIPSE="-3,1"), "ships: '-3,1' appears twice"),
        (
            lambda d: _ships(d, ECLIPSE="-2,3"),  # MAP-07
            "ships: TWILIGHT at '-3,1' and ECLIPSE at '-2,3' are closer than 4",
        ),
        (_interface("Proto"), "interface: must have 1 of 'Proto', got 2"),
        (lambda d: (_ships(d), d["interface"].pop("8,-5")), "interface: key '8,-5' is missing"),
        (
            lambda d: (_ships(d), d["interface"].update({"1,2": "Proto"})),
            "interface: unknown key '1,2'",
        ),
    ],
)
def test_a_broken_set_up(data, edit, message):
    broken = copy.deepcopy(data)
    edit(broken)
    with pytest.raises(ValueError, match=re.escape(message)):
        setup_from_json(broken, LOST_FLEET)


def test_the_number_of_players_that_is_wrong_is_named():
    with pytest.raises(ValueError, match="set-up: players must be one of .*, not 5"):
        players_of({"players": 5})
    with pytest.raises(ValueError, match="set-up: the number of factions must be one of .*, not 5"):
        players_of({"factions": ["HIVES"] * 5})
    assert players_of({"factions": ["HIVES"] * 2}) == 2 and players_of({}) == 4


def test_broken_text():
    with pytest.raises(ValueError, match="the set-up is not JSON: Expecting"):
        setup_from_json("{", LOST_FLEET)
    with pytest.raises(ValueError, match="set-up: must be an object, got None"):
        setup_from_json("null", LOST_FLEET)
    with pytest.raises(ValueError, match="the set-up: key 'deep' appears twice"):
        setup_from_json('{"deep": [], "deep": []}', LOST_FLEET)

"""The three rulesets: what they have, what they draw, and the page of their differences."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections import Counter
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax.components.map_tiles import hex_distance
from gaia_jax.components.planets import TERRAFORM_CYCLE
from gaia_jax.ruleset import BASE, GAIN_FIELDS, LOST_FLEET, LOST_FLEET_PUBLISHED, RULESETS, VARIANTS
from gaia_jax.ruleset.geometry import rotate
from gaia_jax.ruleset.operations import OperationRow
from gaia_jax.setup.draw import board_planets, draw_setup, draw_tables, same_types_touch
from gaia_jax.setup.setup_json import setup_from_json, setup_to_dict

ROOT = Path(__file__).resolve().parents[2]
PRINTED = (LOST_FLEET_PUBLISHED, BASE)
DRAWN = 64


def test_a_ruleset_is_short_where_it_is_shown():
    """In signatures, in what an editor shows, in messages."""
    assert [repr(rules) for rules in VARIANTS.values()][::3] == [
        "<Ruleset lost_fleet>",
        "<Ruleset base for 3 players>",
        "<Ruleset lost_fleet_published for 3 players>",
    ]
    assert len(str(inspect.signature(gaia_jax.setup_from_json))) < 200


@pytest.mark.parametrize(
    "rules, cells, actions, factions, boosters, rounds, finals, advanced",
    [
        (LOST_FLEET, 224, 1024, 18, 14, 12, 9, 21),
        (LOST_FLEET_PUBLISHED, 224, 1024, 18, 14, 13, 9, 21),
        (BASE, 190, 852, 14, 10, 10, 6, 15),
    ],
    ids=["lost_fleet", "lost_fleet_published", "base"],
)
def test_sizes(rules, cells, actions, factions, boosters, rounds, finals, advanced):
    assert rules.geometry.num_cells == cells
    assert rules.actions.num_actions == actions == len(set(rules.actions.texts))
    pieces = (rules.factions, rules.boosters, rules.round_tiles, rules.final_missions)
    assert [len(kind) for kind in pieces] == [factions, boosters, rounds, finals]
    assert len(rules.advanced_tiles) == advanced
    spec = gaia_jax.make(rules.id).observation_spec
    columns = [
        column.name for table in (spec.cells, spec.players, spec.globals) for column in table
    ]
    assert len(columns) == len(set(columns))


@pytest.mark.parametrize("rules", RULESETS.values(), ids=RULESETS)
def test_pas_01_no_pass_brings_a_gaiaformer(rules):
    """`gain_all` counts for the pass before it receives; gaiaformers are counted as well."""
    passes = [x for x in rules.actions.texts if x == "pass" or x.startswith("booster ")]
    assert len(passes) == 1 + len(rules.boosters)
    actions = [rules.actions.texts.index(x) for x in passes]
    gains = OperationRow.of(
        rules.tables.ops[np.asarray(rules.tables.index)[actions, 3]]
    ).gain_vector
    assert not gains[:, GAIN_FIELDS.index("gaiaformers")].any()


@pytest.mark.parametrize("rules", PRINTED, ids=lambda rules: rules.id)
def test_map_04_and_05_each_colour_is_printed_six_times(rules):
    planets = Counter(name for tile in rules.map.sector_tiles for _, name in tile.planets)
    assert planets == dict.fromkeys(TERRAFORM_CYCLE, 6) | {"Gaia": 7, "Transdim": 12}


@pytest.fixture(scope="module", params=RULESETS.values(), ids=RULESETS)
def drawn(request):
    """Set-ups of a ruleset."""
    env = gaia_jax.make(request.param.id)
    keys = jax.random.split(jax.random.key(0), DRAWN)
    setups = jax.device_get(jax.jit(jax.vmap(env.draw_setup))(keys))
    return request.param, [jax.tree.map(lambda x, i=i: x[i], setups) for i in range(DRAWN)]


def test_a_set_up_file_gives_the_set_up_back(drawn):
    rules, setups = drawn
    for setup in setups[:8]:
        read_back = setup_from_json(setup_to_dict(setup, rules), rules)
        pairs = zip(jax.tree.leaves(setup), jax.tree.leaves(read_back), strict=True)
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)


def laid_planets(rules, setup):
    """(tile, cell, planet) of every planet of the sector tiles and the deep space tiles."""
    for slot, center in enumerate(rules.map.sector_centers):
        tile = rules.map.sector_tiles[int(setup.sector_tile[slot])]
        for cell, planet in tile.planets:
            q, r = rotate(cell, int(setup.sector_rotation[slot]))
            yield slot, (center[0] + q, center[1] + r), planet
    for slot, place in enumerate(rules.map.deep_slots):
        tile, turns = int(setup.deep_tile[slot]), int(setup.deep_rotation[slot])
        for j, planet in enumerate(rules.map.deep_tiles[tile].contents):
            onto = j + turns if place.orientation == "A" else 2 - j - turns
            if planet != "Empty":
                yield f"deep {slot}", place.cells[onto % 3], planet


def touching(planets):
    """Pairs of equal planets that touch across tiles."""
    return [
        (a, b)
        for i, (slot, a, planet) in enumerate(planets)
        for other_slot, b, other in planets[:i]
        if slot != other_slot and planet == other and hex_distance(a, b) == 1
    ]


def test_map_06_and_a23_equal_planets_touch_in_lost_fleet_alone(drawn):
    rules, setups = drawn
    maps = [list(laid_planets(rules, setup)) for setup in setups]
    share = np.mean([bool(touching(planets)) for planets in maps])
    if rules.map.same_types_touch:
        assert 0.5 < share < 0.9  # 2,070 of 3,000 maps
    else:
        assert share == 0
    # All ways to turn a tile are drawn.
    assert {int(k) for setup in setups for k in setup.sector_rotation} == set(range(6))


def broken_map(rules):
    """A map on which transdim planets touch across tiles: the first found by turning one tile."""
    setup = gaia_jax.make(rules.id).draw_setup(jax.random.key(0))
    written = setup_to_dict(setup, rules)
    for place, turns in itertools.product(range(10), range(6)):
        turned = json.loads(json.dumps(written))
        turned["sectors"][place]["rotation"] = turns
        try:
            setup_from_json(turned, rules)
        except ValueError as error:
            return str(error)
    return ""


@pytest.mark.parametrize("rules", PRINTED, ids=lambda rules: rules.id)
def test_a23_a_set_up_file_that_breaks_the_rule_is_refused(rules):
    match = re.fullmatch(
        r"sectors: (\w+) on '\S+' touches (\w+) on '\S+' of another tile; .*", broken_map(rules)
    )
    assert match and match[1] == match[2]


@pytest.mark.parametrize("rules", PRINTED, ids=lambda rules: rules.id)
def test_a23_3000_maps_and_the_other_draws_stay_uniform(rules):
    keys = jax.random.split(jax.random.key(1), 3000)
    setups = jax.jit(jax.vmap(partial(draw_setup, ruleset=rules)))(keys)
    laid = jax.jit(jax.vmap(partial(board_planets, ruleset=rules)))(setups)
    assert not jax.vmap(partial(same_types_touch, tables=draw_tables(rules)))(laid).any()
    pools = {
        "boosters": rules.boosters,
        "round_tiles": rules.round_tiles,
        "faction": rules.factions,
    }
    pools |= {"turn_order": range(4), "advanced": rules.advanced_tiles, "sector_rotation": range(6)}
    for name, pool in pools.items():
        expected = 3000 / len(pool)
        for place in np.asarray(getattr(setups, name)).T:
            counts = np.bincount(place, minlength=len(pool))
            if name != "sector_rotation":  # turned so that nothing touches: nearly uniform
                assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all(), name
            assert (counts > 0.8 * expected).all() or name != "sector_rotation", (name, counts)


def test_set_11_one_side_of_a_board_each(drawn):
    rules, setups = drawn
    seen = set()
    for setup in setups:
        names = [rules.factions[int(i)] for i in setup.faction]
        assert len({faction.board for faction in names}) == 4
        seen.update(faction.id for faction in names)
    assert len(seen) == len(rules.factions)

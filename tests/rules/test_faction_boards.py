"""The factions against the golden values of the rulings."""

from dataclasses import fields

import pytest

from gaia_jax.components.common import STRUCTURES, Cost, Gain
from gaia_jax.components.costs import PIECES, START_VP, UPGRADE_COST
from gaia_jax.components.factions import FACTION_BOARDS, FACTIONS
from gaia_jax.components.free_actions import FREE_ACTIONS
from gaia_jax.components.planets import TERRAFORM_CYCLE
from gaia_jax.components.research import ECONOMY_INCOME, LEVEL_BONUS, SCIENCE_INCOME, TRACKS
from tests.golden_starts import GOLDEN

FACTION = {faction.id: faction for faction in FACTIONS}
COLOURS = set(TERRAFORM_CYCLE)


# Factions. Income is that of round 1, without a booster.


def _sum(gains):
    return Gain(**{f.name: sum(getattr(gain, f.name) for gain in gains) for f in fields(Gain)})


def _resources(gain):
    return gain.credits, gain.ore, gain.knowledge, gain.qic


def _start(faction):
    bonuses = [LEVEL_BONUS[t][level] for t, level in enumerate(faction.start_tracks)]
    gained = _sum(bonuses)
    if faction.qic_becomes_ore_until_academy_b:  # the gain, not the starting stock (SET-15)
        gained = _sum([gained, Gain(ore=gained.qic, qic=-gained.qic)])
    return _sum([faction.start, gained])


def _first_income(faction):
    structures = dict(faction.start_structures)
    mines = sum(faction.mine_income_ore[: structures.get("MINE", 0)])
    levels = dict(zip(TRACKS, faction.start_tracks, strict=True))
    parts = [faction.base_income, Gain(ore=mines)]
    parts += [faction.pi_income] * structures.get("PI", 0)
    parts += [ECONOMY_INCOME[0][levels["economy"]], SCIENCE_INCOME[levels["science"]]]
    return _sum(parts)


@pytest.mark.parametrize("faction", GOLDEN)
def test_set_14_to_set_19_start_and_first_income(faction):
    start, bowls, gaiaformers, after, charge, tokens = GOLDEN[faction]
    at_start, income = _start(FACTION[faction]), _first_income(FACTION[faction])
    assert _resources(at_start) == start
    assert FACTION[faction].start_power == bowls
    assert at_start.gaiaformers == gaiaformers
    assert _resources(_sum([at_start, income])) == after
    assert (income.charge, income.tokens, income.vp) == (charge, tokens, 0)
    assert START_VP == 10


def test_gen_17_the_third_mine_brings_no_ore():
    for faction in FACTIONS:
        assert faction.mine_income_ore == (1, 1, 0, 1, 1, 1, 1, 1)
    assert dict(FACTION["XENOS"].start_structures) == {"MINE": 3}


def test_set_11_two_sides_to_a_board_and_one_home_colour():
    assert len(FACTION_BOARDS) == 9
    assert tuple(side for board in FACTION_BOARDS for side in board) == tuple(FACTION)
    for board, sides in enumerate(FACTION_BOARDS):
        assert {FACTION[side].board for side in sides} == {board}
        assert len({FACTION[side].home for side in sides}) == 1
    homes = [FACTION[board[0]].home for board in FACTION_BOARDS]
    assert set(homes) == COLOURS | {None}
    assert homes.count(None) == 2


def test_expansion_factions_have_no_home_and_their_own_steps():
    for faction in FACTIONS:
        assert faction.expansion == (faction.home is None)
        assert (faction.colour_steps is not None or faction.drawn_colours) == faction.expansion
    steps = {f.id: (f.colour_steps, f.drawn_colours) for f in FACTIONS if f.expansion}
    assert steps == {  # MIN-21, MIN-22
        "TINKEROIDS": (None, True),
        "DARKANIANS": (1, False),
        "SPACE_GIANTS": (2, False),
        "MOWEYDS": (None, True),
    }


def _differing(name, usual):
    return {f.id: getattr(f, name) for f in FACTIONS if getattr(f, name) != usual}


@pytest.mark.parametrize(
    ("field", "usual", "others"),
    [
        ("brainstone", False, {"TAKLONS": True}),
        ("shuttles", 3, {"MOWEYDS": 2}),
        (
            "shuttle_cost",
            Cost(vp=5),
            {"BAL_TAKS": Cost(vp=7)}
            | dict.fromkeys(("ITARS", "NEVLAS"), Cost(vp=5, tokens=1)),  # EXP-01
        ),
        ("shuttle_brainstone", False, {"TAKLONS": True}),
        ("preplaced_ship", None, {"MOWEYDS": "TF_MARS"}),  # INI-08
        (
            "gaia_planet_cost",
            Cost(qic=1),
            {"GLEENS": Cost(ore=1)}
            | dict.fromkeys(("TINKEROIDS", "DARKANIANS", "SPACE_GIANTS"), Cost(qic=2)),  # MIN-09
        ),
        ("federation_requirement", 7, {}),
        ("federation_requirement_pi", 7, {"XENOS": 6}),
        ("federation_grows", False, {"HIVES": True}),
        ("satellite_qic", False, {"HIVES": True}),
        ("navigation_needs_pi", False, {"BAL_TAKS": True}),  # BAL-01
        ("qic_becomes_ore_until_academy_b", False, {"GLEENS": True}),  # GLE-01
        ("gaia_mine_vp", 0, {"GLEENS": 2}),  # GLE-03
        ("pi_token", False, {"GLEENS": True}),  # GLE-04
        ("pi_new_type_knowledge", 0, {"GEODENS": 3}),  # GEO-01
        ("pi_new_main_sector", Gain(), {"DARKANIANS": Gain(knowledge=1, credits=2)}),  # DAR-01
        ("guest_mines", False, {"LANTIDS": True}),  # LAN-01
        ("pi_guest_knowledge", 0, {"LANTIDS": 2}),  # LAN-02
        ("burn_to_gaia", False, {"ITARS": True}),  # FRE-05
        ("pi_gaia_tiles", False, {"ITARS": True}),  # GAI-09
        ("gaia_tokens_to_bowl", 1, {"TERRANS": 2}),  # GAI-05
        ("pi_gaia_convert", False, {"TERRANS": True}),  # GAI-08
        ("ore_token_bowl", 1, {"XENOS": 3}),  # XEN-01
        ("pi_power_worth", 1, {"NEVLAS": 2}),  # NEV-01
        ("pi_leech_token", False, {"TAKLONS": True}),  # LEE-07
        ("black_planet_bonus_pi", 0, {"BESCODS": 1}),  # BES-01
        ("pi_tech_tile", False, {"SPACE_GIANTS": True}),  # SPG-01
        ("tinkering", False, {"TINKEROIDS": True}),  # TIN-01
        ("special_free_steps", 0, {"SPACE_GIANTS": 2}),  # SPG-02
        (
            "special",
            None,
            {
                "HIVES": "HIVE_STATION",
                "AMBAS": "AMBAS_SWAP",
                "FIRAKS": "FIRAKS_DOWNGRADE",
                "BESCODS": "BESCODS_LOWEST",
                "TINKEROIDS": "TINKEROIDS_TILE",
                "SPACE_GIANTS": "SPACE_GIANTS_TF2",
                "MOWEYDS": "MOWEYDS_RING",
            },
        ),
        (
            "special_needs_pi",
            False,
            dict.fromkeys(("HIVES", "AMBAS", "FIRAKS", "TINKEROIDS", "MOWEYDS"), True),
        ),
        ("academy_a_income", Gain(knowledge=2), {"ITARS": Gain(knowledge=3)}),
        ("academy_b_action", Gain(qic=1), {"BAL_TAKS": Gain(credits=4)}),  # ACT-14
        (
            "pi_income",
            Gain(charge=4, tokens=1),
            {
                "HIVES": Gain(charge=4, qic=1, tokens=1),
                "XENOS": Gain(charge=4, qic=1),
                "GLEENS": Gain(charge=4, ore=1),
                "AMBAS": Gain(charge=4, tokens=2),
                "BESCODS": Gain(charge=4, tokens=2),
                "SPACE_GIANTS": Gain(charge=6, tokens=1),
            },
        ),
    ],
)
def test_what_only_some_factions_have(field, usual, others):
    assert _differing(field, usual) == others


def test_upg_01_the_bescods_swap_two_upgrades():
    usual = FACTION["TERRANS"].upgrades
    assert set(_differing("upgrades", usual)) == {"BESCODS"}
    assert set(usual) ^ set(FACTION["BESCODS"].upgrades) == {
        ("TS", "PI"),
        ("RL", "AC_A"),
        ("RL", "AC_B"),
        ("RL", "PI"),
        ("TS", "AC_A"),
        ("TS", "AC_B"),
    }
    assert FACTION["BESCODS"].ts_income == (Gain(knowledge=1),) * 4
    assert [gain.credits for gain in FACTION["BESCODS"].rl_income] == [3, 4, 5]
    for faction in FACTIONS:
        assert (len(faction.ts_income), len(faction.rl_income)) == (PIECES["TS"], PIECES["RL"])
        assert all(a in STRUCTURES and b in UPGRADE_COST for a, b in faction.upgrades)


def test_free_actions_name_their_factions():
    own = {action.id: action.faction for action in FREE_ACTIONS if action.faction}
    assert own == {id: faction.id for faction in FACTIONS for id in faction.free_actions}

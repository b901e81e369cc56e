"""The referee's Automa: the worked examples X01 to X17."""

from __future__ import annotations

from typing import Any

import pytest

from tests.referee import automa, automa_actions, leech, scoring
from tests.referee.automa_cards import facts
from tests.referee.solo_positions import (
    CARDS,
    FACTIONS,
    READING,
    REVERSE,
    Hex,
    a_game,
    act,
    at,
    hexes,
    mines,
    place_structures,
    planet,
    play_cards,
)

pytestmark = pytest.mark.no_compile

START_MINES = {
    "TERRANS": [(0, 1), (1, 2)],
    "XENOS": [(1, -2), (0, 3), (4, 0)],
    "TAKLONS": [(1, -1), (2, -4)],
    "HADSCH_HALLAS": [(-2, 0), (4, -3)],
    "GEODENS": [(-2, 1), (-3, 4)],
}


@pytest.mark.parametrize("card", [1, 4])
@pytest.mark.parametrize("faction", FACTIONS)
def test_x01_starting_mines(faction: str, card: int) -> None:
    tied = {"FIRAKS": [(1, -5), (-1, 5)], "ITARS": [(-3, 2), (-2, 3)]}
    expected = START_MINES.get(faction) or tied[faction][:: 1 if card == 1 else -1]
    game, player = a_game(faction, automa={"start_mine_cards": [card] * 3})
    assert hexes(game, player.structures) == expected
    assert set(player.structures.values()) == {"MINE"}


def test_x02_no_card_left() -> None:
    game, _ = a_game("GEODENS")
    assert play_cards(game, 4, 6, 7, 9) == [(4, 6), (6, 7), (7, 9), (9, None)]
    assert CARDS[9]["booster"] == "right"


def test_x03_a_red_card_among_the_three_at_the_bottom() -> None:
    game, _ = a_game("GEODENS")
    assert play_cards(game, 6, 7, 1, 2, 3) == [(6, 7), (7, None)]
    assert CARDS[7]["booster"] == "right"


def test_x04_a_red_card_above_them() -> None:
    game, _ = a_game("GEODENS")
    assert play_cards(game, 6, 1, 7, 2, 3) == [(6, 1), (1, 7), (7, None)]


def test_x05_the_count_begins_again() -> None:
    assert automa_actions.numbered(["4", "6", "8", "10"], CARDS[5]) == "10"
    game, player = a_game("GEODENS")
    spaces = facts()["action_spaces"]
    game.used = {spaces[number - 1] for number in (1, 2, 3, 5, 7, 9)}
    automa_actions.cover_action_space(game, player, CARDS[5])
    assert spaces[9] in game.used and len(game.used) == 7


def test_x06_the_xenos_take_two_spaces() -> None:
    game, _ = a_game("XENOS")
    spaces = facts()["action_spaces"]
    act(game, 2, 14)
    assert game.used == {spaces[1], spaces[2]}
    game.used = set(spaces) - {spaces[8]}
    act(game, 2, 14)
    assert game.used == set(spaces)


@pytest.mark.parametrize(("support", "track"), [(15, "science"), (16, "gaia"), (9, "gaia")])
def test_x07_the_highest_track(support: int, track: str) -> None:
    game, player = a_game("FIRAKS")
    levels = dict(zip(game.rules.tracks, (1, 3, 4, 4, 2, 4), strict=True))
    player.tracks = dict(levels)
    game.players[0].tracks["ai"] = 5
    tile = game.advanced["gaia"]
    game.advanced = {"gaia": tile, "economy": game.advanced["economy"]}
    automa_actions.research_highest(game, player, CARDS[support])
    if track == "science":
        assert player.tracks == levels | {"science": 5} and "gaia" in game.advanced
    else:
        assert player.tracks == levels and "gaia" not in game.advanced


@pytest.mark.parametrize(("direction", "chosen"), [("reverse", (-4, 1)), ("reading", (-2, 0))])
def test_x08_fewest_steps_then_distance_then_direction(direction: str, chosen: Hex) -> None:
    game, player = a_game("GEODENS", "ITARS")
    place_structures(game, player, mines((-2, 1), (-3, 4)))
    place_structures(game, game.players[0], mines((-3, 2), (5, -1)))
    game.players[0].bowls = [4, 0, 0]
    support = CARDS[4] | {"direction": direction}
    assert planet(game, (-2, 0)) == "Red" and planet(game, (-4, 1)) == "Gaia"
    before, satellites = player.vp, player.satellites_counted
    automa_actions.build_mine(game, player, support, support["range"])
    assert player.structures[at(game, chosen)] == "MINE" and len(player.structures) == 3
    assert player.satellites_counted - satellites == (chosen == (-4, 1))
    assert player.vp == before + 2  # Red and Gaia are both new
    (event,) = game.events
    assert event == at(game, chosen)
    assert leech.worth(game, game.players[0], at(game, (-4, 1))) == 1


def test_x09_taklons_build_closest_to_the_human() -> None:
    game, player = a_game("TAKLONS", "HADSCH_HALLAS")
    place_structures(game, player, mines((1, -1), (2, -4)))
    place_structures(game, game.players[0], mines((-2, 0), (4, -3)))
    before = player.vp
    automa_actions.faction_action(game, player, CARDS[7])
    assert player.structures[at(game, (-2, 1))] == "MINE"
    assert player.steps_to[planet(game, (-2, 1))] == 2
    assert len(game.used) == 1
    act(game, 7, 9)
    assert player.vp == before + 2  # the card's; nothing for the parts


def test_x10_terrans_build_on_a_transdim() -> None:
    game, player = a_game("TERRANS", "HADSCH_HALLAS")
    place_structures(game, player, mines((0, 1), (1, 2)))
    place_structures(game, game.players[0], mines((-2, 0), (-2, 5)))
    assert player.tracks["gaia"] == 1
    transdims = [c for c in automa_actions.sites(game, player, 4)
                 if game.board.planet[c] == "Transdim"]  # fmt: skip
    assert {h: automa_actions.distance_to_human(game, c)
            for h, c in zip(hexes(game, transdims), transdims, strict=True)} == {
        (-1, -2): 2, (3, -1): 5, (-1, 2): 3, (4, 3): 6,
    }  # fmt: skip
    automa_actions.faction_action(game, player, CARDS[4])
    assert player.tracks["gaia"] == 2
    assert player.structures[at(game, (-1, -2))] == "MINE"
    assert planet(game, (-1, -2)) == "Gaia"


@pytest.mark.parametrize(("upper", "chosen"), [("MAIN_SECTORS", (3, -1)), ("BUILDINGS", (4, -5))])
def test_x11_the_final_tile_comes_before_steps(upper: str, chosen: Hex) -> None:
    game, player = a_game("TAKLONS", "HADSCH_HALLAS", final_missions=[upper, "SATELLITES"])
    place_structures(game, player, mines((1, -1), (2, -4)))
    place_structures(game, game.players[0], mines((-2, 0), (4, -3)))
    cell = automa_actions.choose_site(game, player, CARDS[6], CARDS[6]["range"], None)
    assert cell == at(game, chosen)


@pytest.mark.parametrize(("support", "chosen"), [(READING, (4, -3)), (REVERSE, (-2, 0))])
def test_x12_upgrade_to_a_trading_station(support: Any, chosen: Hex) -> None:
    game, player = a_game("HADSCH_HALLAS", "TAKLONS")
    place_structures(game, player, {(1, -2): "PI", **mines((-2, 0), (4, -3))})
    place_structures(game, game.players[0], mines((1, -1), (2, -4)))
    before = player.vp
    act(game, support["id"], 10)
    assert player.structures[at(game, chosen)] == "TS" and player.count("TS") == 1
    assert player.vp == before + 3 + 3


def test_x12_upgrade_to_the_institute() -> None:
    game, player = a_game("HADSCH_HALLAS", "TAKLONS")
    place_structures(game, player, {(1, -2): "TS", **mines((-2, 0), (4, -3))})
    before = player.vp
    assert automa_actions.upgrade(game, player, READING)
    assert player.structures[at(game, (1, -2))] == "PI" and player.vp == before


def test_x13_firaks_downgrade_in_their_faction_action_alone() -> None:
    game, player = a_game("FIRAKS")
    place_structures(game, player, {(1, -5): "RL", (-1, 5): "PI", (-2, 5): "MINE"})
    levels, before = dict(player.tracks), player.vp
    act(game, 4, 9)
    assert player.structures[at(game, (1, -5))] == "TS"
    assert player.tracks == levels and player.vp == before + 2
    place_structures(game, player, {(1, -5): "RL", (-1, 5): "PI", (-2, 5): "MINE"})
    act(game, 4, 1)
    assert player.structures[at(game, (-2, 5))] == "TS"
    assert player.structures[at(game, (1, -5))] == "RL"


def test_x14_an_upgrade_instead_of_a_mine() -> None:
    game, player = a_game("GEODENS")
    game.board.owner = [
        0 if owner is None else owner for owner in game.board.owner
    ]  # no empty planet
    before = player.vp
    act(game, 1, 8)
    assert player.count("TS") == 1 and player.vp == before + 3
    place_structures(game, player, dict.fromkeys(hexes(game, player.structures), "PI"))
    before = player.vp
    act(game, 1, 8)
    assert player.count("PI") == 2 and player.vp == before + 3


def test_x14_no_mine_in_supply() -> None:
    game, player = a_game("GEODENS")
    free = [c for c in game.board.planets if game.board.owner[c] is None][:8]
    player.structures = dict.fromkeys(free, "MINE")
    act(game, 1, 8)
    assert player.count("MINE") == 7 and player.count("TS") == 1


@pytest.mark.parametrize(("round_", "vp", "booster", "row"), [
    (3, 4, "RB7", ["RB2", "RB1", "RB9"]), (6, 6, "RB9", ["RB2", "RB7", "RB1"]),
])  # fmt: skip
def test_x15_passing(round_: int, vp: int, booster: str, row: list[str]) -> None:
    game, player = a_game("GEODENS", round_tiles=["RM-MINE-2VP"] * 6)
    game.round, player.booster = round_, "RB9"
    game.open_boosters = ["RB2", "RB7", "RB1"]
    before = player.vp
    automa.pass_(game, player, CARDS[8])
    assert player.vp == before + vp and player.booster == booster
    assert game.open_boosters == row and game.pass_order == [player]


def test_x16_final_tiles() -> None:
    """Structures 12 to 11 and 11; federations 11 to 10 and 10; Gaia planets 0 to 5 and 4."""
    game, player = a_game("GEODENS", final_missions=["BUILDINGS", "FEDERATION_BUILDINGS"])
    human = game.players[0]
    cells = [c for c in game.board.planets if game.board.planet[c] not in ("Gaia", "Transdim")]
    player.structures = dict.fromkeys(cells[:12], "MINE")
    human.structures = dict.fromkeys(cells[12:23], "MINE")
    human.federated = set(cells[12:22])
    scoring.final_scoring(game)
    assert [player.vp_source[f"FINAL_{n}"] for n in (1, 2)] == [18, 18]
    assert [human.vp_source[f"FINAL_{n}"] for n in (1, 2)] == [9, 9]
    game, player = a_game("GEODENS", final_missions=["GAIA_BUILDINGS", "SATELLITES"])
    gaia = [c for c in game.board.planets if game.board.planet[c] == "Gaia"]
    game.players[0].structures = dict.fromkeys(gaia[:5], "MINE")
    scoring.final_scoring(game)
    assert (game.players[0].vp_source["FINAL_1"], player.vp_source["FINAL_1"]) == (18, 0)


def test_x17_every_gain_brings_one_more() -> None:
    game, player = a_game("HADSCH_HALLAS", level="alptrauma")
    before = player.vp
    act(game, 1, 10)
    assert player.count("TS") == 1 and player.vp == before + 8

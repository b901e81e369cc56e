"""The referee's solo game of The Lost Fleet: AUT-41 to AUT-44, the worked examples X18 to X20."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.referee import automa, automa_actions, fleet, scoring, solo, turn
from tests.referee.automa import Automa
from tests.referee.automa_cards import facts
from tests.referee.board import Cell
from tests.referee.game import Game
from tests.referee.setup import SetupError
from tests.referee.solo_positions import (
    CARDS,
    READING,
    a_fleet_game,
    act,
    place_at,
)

pytestmark = pytest.mark.no_compile

SHIPS = ["REBELLION", "ECLIPSE", "TF_MARS"]  # their tiles from left to right
POWER = facts()["action_spaces"][:7]
RULES = solo.rules_for_both(solo.FLEET)
LEFT_1, LEFT_3, LEFT_4 = CARDS[6], CARDS[10], CARDS[4]  # arrows left with these numbers


def explored(*ships: str) -> tuple[Game, Automa]:
    """A game in which the tiles of these ships show their action sides."""
    game, player = a_fleet_game("GEODENS", "TERRANS", automa={"explored_ship": ships[0]})
    player.shuttles = set(ships)
    return game, player


# -- AUT-42: the tiles of the ships


def test_x18_a_ship_is_explored() -> None:
    game, player = explored("TF_MARS")
    game.used = {"ECL_P"}  # by the human
    automa_actions.cover_action_space(game, player, LEFT_4)
    assert player.shuttles == {"TF_MARS", "ECLIPSE"} and game.used == {"ECL_P"}
    options = automa_actions.action_options(game, player)
    assert options == [*POWER, "REBELLION", "ECL_Q", "ECL_C", "TFM_Q", "TFM_P", "TFM_C"]


def test_x19_the_qic_space_has_no_neighbour_on_its_left() -> None:
    game, player = explored("ECLIPSE", "TF_MARS")
    game.used = {"ECL_P", "ECL_C", "TFM_Q"}
    automa_actions.cover_action_space(game, player, LEFT_3)
    assert game.used == {"ECL_P", "ECL_C", "TFM_Q", "ECL_Q"}


def test_x20_the_space_on_the_left_is_covered_too() -> None:
    game, player = explored("ECLIPSE", "TF_MARS")
    game.used = {"ECL_P", "ECL_C", "TFM_Q"}
    automa_actions.cover_action_space(game, player, LEFT_1)
    assert game.used == {"ECL_P", "ECL_C", "TFM_Q", "TFM_C", "TFM_P"}


@pytest.mark.parametrize("ship", SHIPS)
def test_aut_42_one_ship_is_explored_from_the_start(ship: str) -> None:
    game, player = a_fleet_game("ITARS", automa={"explored_ship": ship})
    assert player.shuttles == {ship} and player.vp_source["EXPLORE"] == 0
    spaces = facts()["ship_tiles"]
    expected = [option for s in SHIPS for option in (spaces[s] if s == ship else [s])]
    assert automa_actions.action_options(game, player) == [*POWER, *expected]
    drawn = Counter(solo.draw(n, name=solo.FLEET)["automa"]["explored_ship"] for n in range(60))
    assert set(drawn) == set(SHIPS)
    with pytest.raises(SetupError, match="explored"):
        a_fleet_game("ITARS", automa={"explored_ship": "TWILIGHT"})


@pytest.mark.parametrize(("chosen", "covered", "expected"), [
    ("REB_Q", set(), {"REB_Q"}),
    ("REB_P", set(), {"REB_Q", "REB_P"}),
    ("REB_K", set(), {"REB_P", "REB_K"}),
    ("REB_K", {"REB_P"}, {"REB_P", "REB_K"}),
    ("ECL_Q", set(), {"ECL_Q"}),  # nothing on another ship's tile
    ("PA_TF2", set(), {"PA_TF2"}),
])  # fmt: skip
def test_aut_42_what_a_choice_covers(chosen: str, covered: set[str], expected: set[str]) -> None:
    game, player = explored(*SHIPS)
    game.used = set(covered)
    options = automa_actions.action_options(game, player)
    support = READING | {"number": options.index(chosen) + 1}
    automa_actions.cover_action_space(game, player, support)
    assert game.used == expected


def test_aut_42_the_second_space_of_the_xenos_may_be_one_just_uncovered() -> None:
    game, player = a_fleet_game("XENOS", automa={"explored_ship": "REBELLION"})
    game.used = {*POWER, "REB_Q", "REB_P", "REB_K"}
    act(game, 2, 14)  # from the left, number 2: Eclipse and T F Mars, then the three of T F Mars
    assert player.shuttles == {"REBELLION", "TF_MARS"}
    assert game.used - {*POWER, "REB_Q", "REB_P", "REB_K"} == {"TFM_Q"}


def test_aut_42_what_is_covered_bars_the_human_until_the_round_ends() -> None:
    game, player = explored("ECLIPSE")
    human = game.players[0]
    human.shuttles.add("ECLIPSE")
    human.qic = 9
    assert "ship ECL_Q" in dict(fleet.options(game, human))
    automa_actions.cover_action_space(game, player, READING | {"number": 9})
    assert game.used == {"ECL_Q"} and "ship ECL_Q" not in dict(fleet.options(game, human))
    game.pass_order = [human, player]
    turn.clean_up(game)
    assert not game.used and player.shuttles == {"ECLIPSE"}


@pytest.mark.parametrize(("ship", "charge"), [("ECLIPSE", 2), ("REBELLION", 0)])
def test_aut_42_the_human_who_comes_later_charges_by_the_next_space(ship: str, charge: int) -> None:
    game, player = explored("ECLIPSE")
    human = game.players[0]
    human.bowls, human.qic = [6, 0, 0], 60
    vp = player.vp
    fleet.explore(game, human, ship, 0, {})
    assert human.bowls == [6 - charge, charge, 0]
    assert player.shuttles == {"ECLIPSE"} and player.vp == vp  # the human turns no tile


# -- AUT-41: mines


def by_type(game: Game, *types: str) -> list[Cell]:
    """The first free planet of each type."""
    board = game.board
    return [
        next(c for c in board.planets if board.planet[c] == kind and board.owner[c] is None)
        for kind in types
    ]


def test_aut_41_asteroids_and_protoplanets_are_valid() -> None:
    game, player = a_fleet_game("TERRANS", "ITARS")
    assert player.steps_to["Asteroid"] == 2 and player.steps_to["Proto"] == 3
    cells = automa_actions.sites(game, player, 99)
    free = [c for c in game.board.planets if game.board.owner[c] is None]
    assert cells == free
    assert {"Asteroid", "Proto", "Transdim"} < {game.board.planet[c] for c in cells}


@pytest.mark.parametrize("kind", ["Asteroid", "Proto"])
@pytest.mark.parametrize("level", ["automa", "alptrauma"])
def test_aut_41_such_a_mine_brings_nothing(kind: str, level: str) -> None:
    game, player = a_fleet_game("TERRANS", "ITARS", level)
    (cell,) = by_type(game, kind)
    for other in game.board.planets:
        if other != cell:
            game.board.owner[other] = 0
    vp = player.vp
    automa_actions.build_mine(game, player, READING, 99)
    assert player.structures[cell] == "MINE" and game.board.planet[cell] == kind
    assert player.vp == vp and not player.gaiaformers_lost  # OPEN-14


def test_aut_41_an_asteroid_is_a_type_of_the_geodens() -> None:
    game, player = a_fleet_game("GEODENS", "TERRANS")
    for cell in by_type(game, "Asteroid", "Proto"):
        for other in game.board.planets:
            game.board.owner[other] = None if other == cell else 0
        vp = player.vp
        automa_actions.build_mine(game, player, READING, 99)
        assert player.structures[cell] == "MINE" and player.vp == vp + 2


def test_aut_41_transdim_and_asteroid_before_a_protoplanet() -> None:
    game, player = a_fleet_game("TERRANS", "ITARS", final_missions=["BUILDINGS", "SATELLITES"])
    cells = by_type(game, "Proto", "Asteroid")
    for other in game.board.planets:
        if other not in cells:
            game.board.owner[other] = 0
    assert automa_actions.choose_site(game, player, READING, 99, None) == cells[1]
    game.board.owner[cells[1]] = 0
    assert automa_actions.choose_site(game, player, READING, 99, None) == cells[0]


def chosen_for(game: Game, player: Automa, cells: list[Cell]) -> set[Cell]:
    return set(automa_actions.for_final_tile(game, player, cells, READING))


def test_aut_41_the_tile_asteroids() -> None:
    missions = ["ASTEROID_BUILDINGS", "BUILDINGS"]
    game, player = a_fleet_game("TERRANS", "ITARS", seed=2, final_missions=missions)
    board = game.board
    cells = automa_actions.sites(game, player, 99)
    asteroids = {c for c in cells if board.planet[c] == "Asteroid"}
    assert chosen_for(game, player, cells) == asteroids
    others = [c for c in cells if c not in asteroids]
    rows = board.geometry.distance
    nearest = min(rows[c][a] for c in others for a in asteroids)
    assert chosen_for(game, player, others) == {
        c for c in others if min(rows[c][a] for a in asteroids) == nearest
    }
    last, *rest = sorted(asteroids)
    for cell in rest:
        board.owner[cell] = 0
    nearest = min(rows[c][last] for c in others)
    assert chosen_for(game, player, others) == {c for c in others if rows[c][last] == nearest}
    board.owner[last] = 1
    assert chosen_for(game, player, others) == set(others)


def test_aut_41_the_tile_deep_sectors() -> None:
    missions = ["DEEP_SECTORS", "BUILDINGS"]
    game, player = a_fleet_game("TERRANS", "ITARS", final_missions=missions)
    sector = game.board.geometry.sector
    cells = automa_actions.sites(game, player, 99)
    deep = {c for c in cells if (sector[c] or ("", 0))[0] == "deep"}
    assert chosen_for(game, player, cells) == deep
    first = min(deep)
    player.structures[first] = "MINE"
    game.board.owner[first] = 1
    new = {c for c in deep if sector[c] != sector[first]}
    assert chosen_for(game, player, [c for c in cells if c != first]) == new
    others = [c for c in cells if c not in deep]
    rows = game.board.geometry.distance
    nearest = min(rows[c][t] for c in others for t in new)
    assert chosen_for(game, player, others) == {
        c for c in others if min(rows[c][t] for t in new) == nearest
    }


def test_aut_41_interspace_and_deep_sectors_are_no_new_sector() -> None:
    missions = ["MAIN_SECTORS", "BUILDINGS"]
    game, player = a_fleet_game("TERRANS", "ITARS", final_missions=missions)
    sector = game.board.geometry.sector
    cells = automa_actions.sites(game, player, 99)
    own = {sector[c] for c in player.structures}
    chosen = chosen_for(game, player, cells)
    assert {(sector[c] or ("", 0))[0] for c in cells} == {"main", "deep", ""}
    assert chosen == {c for c in cells if (s := sector[c]) and s[0] == "main" and s not in own}
    elsewhere = [c for c in cells if c not in chosen]
    assert chosen_for(game, player, elsewhere) == set(elsewhere)


# -- AUT-43: upgrades


def near_and_far(game: Game) -> list[Cell]:
    """Three cells: the second is near to the first, the third far from both."""
    row = game.board.geometry.distance[game.board.planets[0]]
    order = sorted(game.board.planets, key=lambda cell: row[cell])
    return [order[0], order[1], order[-1]]


@pytest.mark.parametrize(("kinds", "missions", "chosen"), [
    (["PI", "MINE", "MINE"], ["PI_AC_DISTANCE", "BUILDINGS"], 2),
    (["PI", "MINE", "MINE"], ["BUILDINGS", "PI_AC_DISTANCE"], 2),  # whatever the card shows
    (["PI", "MINE", "MINE"], ["BUILDINGS", "SATELLITES"], 1),
    (["PI", "TS", "TS"], ["PI_AC_DISTANCE", "BUILDINGS"], 2),
    (["PI", "TS", "TS"], ["BUILDINGS", "SATELLITES"], 1),
    (["TS", "TS", "TS"], ["PI_AC_DISTANCE", "BUILDINGS"], 0),  # to the PI: closest to the human
])  # fmt: skip
def test_aut_43_farthest_from_the_institute(
    kinds: list[str], missions: list[str], chosen: int
) -> None:
    """The human is on the first cell: closeness alone chooses the nearest."""
    game, player = a_fleet_game("TERRANS", "ITARS", final_missions=missions)
    cells = near_and_far(game)
    place_at(game, player, dict(zip(cells, kinds, strict=True)))
    game.players[0].structures = {cells[0]: "MINE"}
    assert automa_actions.upgrade(game, player, READING)
    assert player.structures[cells[chosen]] != kinds[chosen]


@pytest.mark.parametrize(("kind", "farthest"), [("MINE", False), ("TS", True)])
def test_aut_43_with_an_academy(kind: str, farthest: bool) -> None:
    missions = ["PI_AC_DISTANCE", "BUILDINGS"]
    game, player = a_fleet_game("TERRANS", "ITARS", final_missions=missions)
    institute, near, far = near_and_far(game)
    academy = next(c for c in game.board.planets if c not in (institute, near, far))
    structures = {institute: "PI", near: kind, far: kind, academy: "AC_A"}
    place_at(game, player, structures)
    game.players[0].structures = {institute: "MINE"}
    assert automa_actions.upgrade(game, player, READING)
    changed = far if farthest else near
    assert player.structures[changed] != kind and len(set(player.structures.values())) == 4


# -- AUT-44: final missions and round tiles


def test_aut_44_neutral_player_and_round_tiles() -> None:
    assert RULES.neutral_counts == {
        "BUILDINGS": 11, "FEDERATION_BUILDINGS": 10, "PLANET_TYPES": 6, "GAIA_BUILDINGS": 4,
        "MAIN_SECTORS": 6, "SATELLITES": 8, "ASTEROID_BUILDINGS": 3, "DEEP_SECTORS": 3,
        "PI_AC_DISTANCE": 8,
    }  # fmt: skip
    numbers = facts()["round_tile_vp"]
    assert set(RULES.round_tiles) == set(numbers)
    for tile, (early, late) in {
        "RM-DIV-3VP": (4, 6), "RM-SECTOR-3VP": (3, 6), "RM-LAB-4VP": (4, 8)
    }.items():  # fmt: skip
        game, player = a_fleet_game("ITARS", round_tiles=[tile] * 6)
        for game.round, vp in ((3, early), (4, late)):
            before = player.vp
            automa.pass_(game, player, READING)
            assert player.vp == before + vp


def test_aut_44_what_the_automa_counts() -> None:
    game, player = a_fleet_game("TERRANS", "ITARS")
    near_pi, far_pi = near_and_far(game)[1:]
    (institute, asteroid, proto) = [near_and_far(game)[0], *by_type(game, "Asteroid", "Proto")]
    place_at(game, player, {institute: "PI", near_pi: "AC_A", far_pi: "AC_B"})
    row = game.board.geometry.distance[institute]
    assert scoring.final_count(player, "PI_AC_DISTANCE") == row[far_pi] > row[near_pi]
    place_at(game, player, {institute: "PI", far_pi: "TS"})
    assert scoring.final_count(player, "PI_AC_DISTANCE") == 0
    place_at(game, player, {asteroid: "MINE", proto: "TS"})
    sectors = {game.board.geometry.sector[c] for c in (asteroid, proto)}
    deep = len({s for s in sectors if s and s[0] == "deep"})
    expected = {"ASTEROID_BUILDINGS": 1, "PLANET_TYPES": 2, "DEEP_SECTORS": deep}
    assert {mission: scoring.final_count(player, mission) for mission in expected} == expected

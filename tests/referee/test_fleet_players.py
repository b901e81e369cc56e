"""The referee's Lost Fleet for two and three players: PLA-08 to PLA-14, without the engine."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from tests.referee import fleet, mine, tech
from tests.referee.board import distance, geometry
from tests.referee.decision import Script
from tests.referee.game import Game
from tests.referee.player import Player
from tests.referee.random_games import in_a_turn, play_to_end
from tests.referee.rules import maps_of, ruleset
from tests.referee.setup import SetupError, draw, homeless_colours, steps_to, touching

pytestmark = pytest.mark.no_compile

NAME = "lost_fleet_published"
COLOURS = ruleset(NAME).terraforming_cycle
TWO_AND_THREE = pytest.mark.parametrize("players", [2, 3])


def a_game(*factions: str, seed: int = 1, **changes: Any) -> Game:
    setup = draw(seed, NAME, list(factions), players=len(factions))
    return Game(setup | changes, NAME)


def a_first_turn(*factions: str, **changes: Any) -> tuple[Game, Player]:
    """A game in its first turn, and the player of the first faction, whom nothing is too far."""
    game = in_a_turn(a_game(*factions, **changes))
    player = game.players[0]
    player.ore, player.credits, player.qic, player.vp = 15, 30, 60, 90
    mine.look_again(game)
    return game, player


def answer(script: Script | None, *texts: str) -> None:
    """Play a script through with these answers."""
    if script is None:
        return
    next(script, None)
    for text in texts:
        try:
            script.send(text)
        except StopIteration:
            return


# -- the map


def test_pla_01_numbers_of_players() -> None:
    assert {name: sorted(maps_of(name)) for name in ("base", NAME, "lost_fleet")} == {
        "base": [2, 3, 4], NAME: [2, 3, 4], "lost_fleet": [4],
    }  # fmt: skip
    with pytest.raises(ValueError, match="not played by 5"):
        ruleset(NAME, 5)


@pytest.mark.parametrize(("players", "cells", "holes", "notches", "ships"), [
    (2, 157, 6, 6, 2), (3, 203, 8, 8, 5), (4, 224, 10, 8, 21),
])  # fmt: skip
def test_pla_08_pla_10_holes_and_notches_follow_from_the_tiles(
    players: int, cells: int, holes: int, notches: int, ships: int
) -> None:
    """A single hole has tiles on all sides; the cells of a notch touch one another and tiles."""
    rules = ruleset(NAME, players)
    shape = geometry(rules)
    tiles = [set(hexes) for hexes in shape.sector_hexes]
    on_tiles = set().union(*tiles)
    assert len(on_tiles) == 19 * len(tiles) and len(shape.cells) == cells

    around = {c for q, r in on_tiles for c in near(q, r)} - on_tiles
    enclosed = {cell for cell in around if set(near(*cell)) <= on_tiles}
    assert set(shape.interface_hexes) == enclosed and len(enclosed) == holes

    assert len(shape.deep_hexes) == notches
    deep_cells = [c for slot in shape.deep_hexes for c in slot]
    assert len(deep_cells) == len(set(deep_cells)) == 3 * notches
    assert not set(deep_cells) & (on_tiles | enclosed)
    for slot in shape.deep_hexes:
        assert all(distance(a, b) == 1 for a, b in itertools.combinations(slot, 2))
        assert all(set(near(*cell)) & on_tiles for cell in slot)
        assert sum(any(n in tile for cell in slot for n in near(*cell)) for tile in tiles) >= 2

    far = [
        places
        for places in itertools.combinations(shape.interface_hexes, len(rules.ships))
        if all(distance(a, b) >= 4 for a, b in itertools.combinations(places, 2))
    ]
    assert len(far) == ships
    if players == 2:
        assert {distance(a, b) for p in far for a, b in itertools.combinations(p, 2)} == {5}


def near(q: int, r: int) -> list[tuple[int, int]]:
    return [(q + 1, r), (q, r + 1), (q - 1, r + 1), (q - 1, r), (q, r - 1), (q + 1, r - 1)]


@TWO_AND_THREE
def test_pla_08_each_tile_around_the_middle_borders_it_along_two_cells(players: int) -> None:
    middle, *others = geometry(ruleset(NAME, players)).sector_hexes
    for tile in others[:6]:
        pairs = [(a, b) for a in middle for b in tile if distance(a, b) == 1]
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 2


def test_pla_10_with_three_two_notches_are_side_by_side() -> None:
    """Between the last two sector tiles; no other two notches touch."""
    shape = geometry(ruleset(NAME, 3))
    touching_slots = [
        (i, j)
        for (i, a), (j, b) in itertools.combinations(enumerate(shape.deep_hexes), 2)
        if any(distance(c, d) == 1 for c in a for d in b)
    ]
    assert touching_slots == [(3, 4)]
    for slot in (3, 4):
        adjacent_tiles = {
            i
            for i, tile in enumerate(shape.sector_hexes)
            for cell in shape.deep_hexes[slot]
            if set(near(*cell)) & set(tile)
        }
        assert adjacent_tiles & {7, 8}


@pytest.mark.parametrize(("players", "deep", "per_colour", "gaia", "holes"), [
    (2, range(1, 7), 4, 5, {"Asteroid": 2, "Proto": 1}),
    (3, range(1, 9), 5, 7, {"Asteroid": 2, "Proto": 1, "Empty": 1}),
])  # fmt: skip
def test_pla_08_pla_10_what_lies_on_the_map(
    players: int, deep: range, per_colour: int, gaia: int, holes: dict[str, int]
) -> None:
    middles = set()
    for seed in range(40):
        setup = draw(seed, NAME, players=players)
        game = Game(setup, NAME)
        assert not touching(game.rules, setup)
        middles.add(setup["sectors"][0]["tile"])
        assert sorted(int(laid["tile"][2]) for laid in setup["deep"]) == list(deep)
        assert Counter(setup["interface"].values()) == holes
        planet = Counter(game.board.planet)
        assert planet["Gaia"] == gaia and planet["Ship"] == len(setup["ships"])
        counts = [planet[colour] for colour in COLOURS]
        assert counts == [per_colour] * 7
    assert middles == {"M01", "M02", "M03", "M04"}


def test_pla_10_with_two_the_mission_for_asteroids_has_six_of_them() -> None:
    turned = 0
    for seed in range(300):
        setup = draw(seed, NAME, players=2)
        asteroids = Game(setup, NAME).board.planet.count("Asteroid")
        deep = [laid["tile"] for laid in setup["deep"]]
        if "ASTEROID_BUILDINGS" in setup["final_missions"]:
            assert asteroids >= 6
            back = [d | {"tile": "DS6A"} if d["tile"] == "DS6B" else d for d in setup["deep"]]
            if "DS6B" in deep and asteroids < 8:
                turned += 1
                with pytest.raises(SetupError, match="6"):
                    Game(setup | {"deep": back}, NAME)
        else:
            assert asteroids >= 5
    assert turned > 5


def test_set_ups_of_another_table_are_refused() -> None:
    two, three, four = (draw(1, NAME, players=players) for players in (2, 3, 4))
    middle = next(i for i, s in enumerate(two["sectors"]) if s["tile"] == "M05B")
    corner = [two["sectors"][middle], *(s for s in two["sectors"] if s["tile"] != "M05B")]
    cases: list[tuple[dict[str, Any], str]] = [
        (two | {"sectors": corner}, "in the middle"),
        (two | {"sectors": three["sectors"]}, "7. tiles, not 9"),
        (two | {"players": 3}, "2 factions"),
        (two | {"deep": three["deep"]}, "the deep tiles"),
        (two | {"ships": three["ships"]}, "the ships"),
        (two | {"interface": three["interface"]}, "holes"),
        (two | {"ship_tokens": three["ship_tokens"]}, "ship_tokens"),
        (two | {"ship_tiles": three["ship_tiles"]}, "ship_tiles"),
        (two | {"artifacts": three["artifacts"]}, "2 artifacts"),
        (three | {"artifacts": four["artifacts"]}, "3 artifacts"),
        (two | {"boosters": three["boosters"]}, "5 boosters"),
        (two | {"extra_condition": "B"}, "no condition 'B'"),
        (draw(1, "base", players=3), "9. tiles, not 10"),
    ]
    for setup, message in cases:
        with pytest.raises(SetupError, match=message):
            Game(setup, NAME)


# -- pieces


def test_pla_09_two_play_without_the_rebellion() -> None:
    rules = ruleset(NAME, 2)
    assert not [action for action in rules.ship_actions if action.startswith("REB")]
    assert len(rules.ship_actions) == 9 and len(ruleset(NAME, 3).ship_actions) == 12
    tiles, tokens = set(), set()
    for seed in range(60):
        setup = draw(seed, NAME, players=2)
        assert list(setup["ship_tiles"]) == ["TF_MARS", "ECLIPSE"]
        assert setup["ship_tokens"].keys() == {"TWILIGHT", "ECLIPSE", "TF_MARS"}
        assert setup["extra_condition"] == "A"
        tiles.add(tuple(setup["ship_tiles"].values()))
        tokens.update(setup["ship_tokens"].values())
    assert tiles == set(itertools.permutations(rules.ship_tiles, 2))
    assert tokens == set(rules.ship_tokens)
    conditions = {draw(seed, NAME, players=3)["extra_condition"] for seed in range(20)}
    assert conditions == {"A", "B"}


@pytest.mark.parametrize(("vp", "legal"), [(24, False), (25, True)])
def test_pla_09_the_extra_tile_asks_for_25_vp(vp: int, legal: bool) -> None:
    game, player = a_first_turn("TERRANS", "XENOS")
    player.vp = vp
    assert tech.extra_condition(game, player) == legal


@TWO_AND_THREE
def test_pla_11_as_many_artifacts_as_players(players: int) -> None:
    game, player = a_first_turn(*("TERRANS", "XENOS", "FIRAKS")[:players])
    player.shuttles.add("TWILIGHT")
    player.bowls = [60, 0, 0]
    places = [f"artifact {place}" for place in range(1, players + 1)]
    assert [text for text, _ in fleet.artifact_options(game, player)] == places


@pytest.mark.parametrize(("factions", "left"), [
    (("TERRANS", "XENOS"), 2), (("MOWEYDS", "XENOS"), 1),
    (("TERRANS", "XENOS", "FIRAKS"), 3), (("MOWEYDS", "XENOS", "FIRAKS"), 2),
])  # fmt: skip
def test_pla_12_shuttles(factions: tuple[str, ...], left: int) -> None:
    game, player = a_first_turn(*factions)
    explored = 0
    while options := dict(fleet.explorations(game, player)):
        text = min(options)
        fleet.explore(game, player, text.split()[1], 0, {})
        explored += 1
    assert explored == left
    assert len(player.shuttles) == (2 if len(factions) == 2 else 3)


@TWO_AND_THREE
def test_pla_02_boosters(players: int) -> None:
    assert len(draw(1, NAME, players=players)["boosters"]) == players + 3


# -- the Lantids


def mine_of_the_lantids(players: int, kind: str, institute: bool = True) -> tuple[int, int]:
    """The knowledge and the charge that a mine of the Lantids brings."""
    factions = ("LANTIDS", "XENOS", "FIRAKS")[:players]
    game, player = a_first_turn(*factions)
    board = game.board
    player.structures[min(player.structures)] = "PI" if institute else "TS"
    free = [c for c in board.planets if board.owner[c] is None]
    planet = "Blue" if kind.endswith("Blue") else "Red"
    cell = next(c for c in free if board.planet[c] == planet)
    if kind.startswith("guest"):
        board.owner[cell] = 1
        game.players[1].structures[cell] = "MINE"
    mine.look_again(game)
    player.knowledge, player.bowls = 0, [6, 0, 0]
    effect, *arguments = dict(mine.options(game, player))[f"mine {board.text[cell]}"]
    effect(game, player, *arguments)
    return player.knowledge, player.bowls[1]


@pytest.mark.parametrize(("players", "kind", "gain"), [
    (2, "guest", (2, 0)), (2, "own on Blue", (2, 0)), (2, "guest on Blue", (2, 0)),
    (2, "own", (0, 0)),
    (3, "guest", (2, 1)), (3, "own on Blue", (0, 0)), (3, "guest on Blue", (2, 1)),
    (3, "own", (0, 0)),
])  # fmt: skip
def test_pla_13_the_lantids_mines(players: int, kind: str, gain: tuple[int, int]) -> None:
    assert mine_of_the_lantids(players, kind) == gain
    assert mine_of_the_lantids(players, kind, institute=False) == (0, 0)


@pytest.mark.parametrize("token", ["SFT_RANGE_MINE", "SFT_TF3_MINE"])
def test_pla_13_however_the_mine_on_blue_is_built(token: str) -> None:
    game, player = a_first_turn("LANTIDS", "XENOS")
    player.structures[min(player.structures)] = "PI"
    player.knowledge = 0
    board = game.board
    cell = next(c for c in board.planets if board.planet[c] == "Blue" and board.owner[c] is None)
    answer(mine.free_mine(game, player, mine.TERMS[token]), f"pick {board.text[cell]}")
    assert board.owner[cell] == 0 and player.knowledge == 2


# -- colours and final missions


@pytest.mark.parametrize(("factions", "turn_order", "three_steps"), [
    (["TINKEROIDS", "XENOS"], [0, 1], {"TINKEROIDS": ["Yellow", "Red", "Black"]}),
    (["MOWEYDS", "SPACE_GIANTS"], [0, 1], {"MOWEYDS": ["Red", "Black", "Yellow"]}),
    (["MOWEYDS", "TINKEROIDS"], [0, 1], {"MOWEYDS": ["Red", "Black", "Yellow"],
                                         "TINKEROIDS": ["Brown", "Blue", "White"]}),
    (["MOWEYDS", "TINKEROIDS"], [1, 0], {"TINKEROIDS": ["Red", "Black", "Yellow"],
                                         "MOWEYDS": ["Brown", "Blue", "White"]}),
    (["MOWEYDS", "TINKEROIDS", "FIRAKS"], [2, 1, 0], {"TINKEROIDS": ["Black", "Red", "Yellow"],
                                                      "MOWEYDS": ["Black", "Brown", "Blue"]}),
])  # fmt: skip
def test_ini_09_colours_of_three_steps(
    factions: list[str], turn_order: list[int], three_steps: dict[str, list[str]]
) -> None:
    order = ["Red", "Black", "Yellow", "Brown", "Blue", "White", "Orange"]
    rules = ruleset(NAME, len(factions))
    setup = {"factions": factions, "turn_order": turn_order, "colour_order": order}
    drawn = homeless_colours(rules, setup)
    assert drawn == {faction: set(colours) for faction, colours in three_steps.items()}
    for player in draw_players(rules, factions):
        if player.faction in drawn:
            steps = steps_to(rules, player, drawn[player.faction])
            assert sorted(steps[colour] for colour in COLOURS) == [1, 1, 1, 1, 3, 3, 3]


def draw_players(rules: Any, factions: list[str]) -> list[Player]:
    return Game(draw(1, NAME, factions, players=len(factions)), NAME).players


# -- whole games


@TWO_AND_THREE
def test_random_games(players: int) -> None:
    factions = Counter[str]()
    for seed in range(24):
        game = Game(draw(seed, NAME, players=players), NAME)
        factions.update(game.setup["factions"])
        play_to_end(game, seed)
        assert all(len(player.shuttles) <= (2 if players == 2 else 3) for player in game.players)
        assert len(game.open_boosters) == 3
    assert len(factions) >= 16

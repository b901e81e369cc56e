"""The referee's Automa: its actions, its passing, the end, AUT-16 to AUT-34."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.referee import (
    automa,
    automa_actions,
    gaia,
    income,
    research,
    scoring,
    turn,
    upgrade,
)
from tests.referee.mine import PLAIN, picks
from tests.referee.solo_positions import (
    CARDS,
    READING,
    SPACES,
    TRACKS,
    a_game,
    act,
    at,
    hexes,
    mines,
    place_structures,
)

pytestmark = pytest.mark.no_compile


# -- selecting


def test_aut_16_rows_from_the_top_and_each_from_the_left() -> None:
    game, _ = a_game("GEODENS")
    order = hexes(game, automa_actions.reading_order(game))
    assert order == sorted(order, key=lambda hex_: (hex_[1], hex_[0]))
    assert order[:3] == [(3, -7), (4, -7), (5, -7)]
    cells = [at(game, hex_) for hex_ in ((1, 0), (0, 0), (-1, 1))]
    assert automa_actions.first_in_direction(game, cells, "reading") == cells[1]
    assert automa_actions.first_in_direction(game, cells, "reverse") == cells[2]


def test_aut_17_numbered_selection() -> None:
    for card in CARDS.values():
        for k in range(1, 11):
            options = [str(n) for n in range(k)]
            place = (card["number"] - 1) % k
            expected = place if card["from"] == "leftmost" else k - 1 - place
            assert automa_actions.numbered(options, card) == options[expected]


def test_aut_18_what_counts_as_a_planet_of_the_human() -> None:
    game, player = a_game("GEODENS", "LANTIDS")
    human = game.players[0]
    place_structures(game, human, mines((5, -1)))
    centre = at(game, (0, 0))
    far = automa_actions.distance_to_human(game, centre)
    assert far == 5
    human.stations.add(centre)
    human.satellites.add(centre)
    game.board.gaiaformer[centre] = 0
    assert automa_actions.distance_to_human(game, centre) == far
    guest = at(game, (-2, 1))  # on an Automa planet
    assert game.board.owner[guest] == 1
    human.structures[guest] = "MINE"
    human.guests.add(guest)
    assert automa_actions.distance_to_human(game, centre) == 2
    human.structures[centre] = "MINE"
    human.lost_planet = centre
    assert automa_actions.distance_to_human(game, centre) == 0


# -- build a mine


def test_aut_19_planets_in_range() -> None:
    game, player = a_game("TERRANS", "HADSCH_HALLAS")
    player.tracks["navigation"] = 5
    for reach in (1, 2, 3, 4):
        cells = automa_actions.sites(game, player, reach)
        distance = game.board.geometry.distance
        for cell in game.board.planets:
            near = min(distance[cell][own] for own in player.structures) <= reach
            assert (cell in cells) == (near and game.board.owner[cell] is None)
    transdim = next(c for c in cells if game.board.planet[c] == "Transdim")
    game.board.gaiaformer[transdim] = 0
    assert transdim not in automa_actions.sites(game, player, 4)  # OPEN-12


@pytest.mark.parametrize(("mission", "remaining"), [
    ("PLANET_TYPES", {"Gaia", "Transdim", "Red"}),
    ("GAIA_BUILDINGS", {"Gaia", "Transdim"}),
    ("SATELLITES", {"Gaia", "Transdim", "Red", "Orange"}),
])  # fmt: skip
@pytest.mark.parametrize(("support", "upper"), [(6, True), (8, False)])
def test_aut_20_final_tiles(mission: str, remaining: set[str], support: int, upper: bool) -> None:
    missions = [mission, "BUILDINGS"] if upper else ["BUILDINGS", mission]
    game, player = a_game("GEODENS", "ITARS", final_missions=missions)
    planets = {game.board.planet[c]: c for c in game.board.planets}
    cells = [planets[kind] for kind in ("Gaia", "Transdim", "Red", "Orange")]
    assert {game.board.planet[c] for c in player.structures} == {"Orange"}

    def left(card: int) -> set[str]:
        chosen = automa_actions.for_final_tile(game, player, cells, CARDS[card])
        return {game.board.planet[c] for c in chosen}

    assert left(support) == remaining
    assert left(8 if upper else 6) == left(4) == {"Gaia", "Transdim", "Red", "Orange"}
    player.structures[planets["Gaia"]] = "MINE"
    if mission == "PLANET_TYPES":
        assert left(support) == {"Red"}
        player.structures[planets["Red"]] = "MINE"
        assert len(left(support)) == 4  # nothing fits, all stay


def test_aut_20_steps() -> None:
    steps = a_game("GEODENS")[1].steps_to
    assert steps | {"Gaia": 1, "Transdim": 2, "Orange": 0, "Red": 1, "Yellow": 1, "Brown": 2,
                    "Blue": 2, "Black": 3, "White": 3} == steps  # fmt: skip


@pytest.mark.parametrize(("adjacent", "satellites"), [(False, 1), (True, 0)])
def test_aut_21_a_satellite_where_nothing_is_adjacent(adjacent: bool, satellites: int) -> None:
    game, player = a_game("GEODENS", "ITARS")
    site = automa_actions.sites(game, player, 2)[0]
    near = game.board.geometry.neighbours[site][0]
    player.structures = {near if adjacent else at(game, (-3, 4)): "MINE"}
    game.board.planet[site] = "Transdim"
    for cell in game.board.planets:
        if cell != site:
            game.board.owner[cell] = 0
    automa_actions.build_mine(game, player, READING, 9)
    assert player.structures[site] == "MINE" and game.board.planet[site] == "Gaia"
    assert player.satellites_counted == satellites and not player.satellites


def test_aut_22_an_upgrade_instead_in_faction_actions_too() -> None:
    game, player = a_game("TAKLONS", "TERRANS")
    for cell in game.board.planets:
        game.board.owner[cell] = 0
    automa_actions.faction_action(game, player, READING)
    assert player.count("TS") == 1 and len(game.used) == 1
    game, player = a_game("HADSCH_HALLAS", "TERRANS")
    place_structures(game, player, {(-2, 0): "PI"})
    automa_actions.faction_action(game, player, READING)
    assert len(player.structures) == 2  # no upgrade: a mine in range 3


# -- other actions


@pytest.mark.parametrize(("before", "after"), [
    (["MINE", "TS", "RL"], ["MINE", "PI", "RL"]),
    (["MINE", "TS", "RL", "PI"], ["TS", "TS", "RL", "PI"]),
    (["TS", "RL", "PI"], ["TS", "AC_A", "PI"]),
    (["TS", "RL", "PI", "AC_A"], ["TS", "AC_B", "PI", "AC_A"]),
    (["TS", "RL", "PI", "AC_A", "AC_B"], ["RL", "RL", "PI", "AC_A", "AC_B"]),
    (["TS", "RL", "RL", "RL", "PI", "AC_A", "AC_B"], None),
    (["MINE", "TS", "TS", "TS", "TS", "PI"], ["MINE", "RL", "TS", "TS", "TS", "PI"]),
])  # fmt: skip
def test_aut_23_the_first_possible_upgrade(before: list[str], after: list[str] | None) -> None:
    game, player = a_game("GEODENS", "ITARS")
    human = at(game, (5, -1))
    game.players[0].structures = {human: "MINE"}
    cells = sorted(game.board.planets, key=lambda c: game.board.geometry.distance[human][c])
    player.structures = dict(zip(cells[1:], before, strict=False))
    assert automa_actions.upgrade(game, player, READING) == (after is not None)
    kinds = list(player.structures.values())
    assert Counter(kinds) == Counter(after or before)


def test_aut_24_valid_tracks() -> None:
    game, player = a_game("FIRAKS", "TERRANS")
    game.advanced = {"ai": game.advanced["ai"]}
    game.players[0].tracks |= {"navigation": 5, "ai": 5, "gaia": 5}
    player.tracks = {
        "terraforming": 4,  # 5 is free
        "navigation": 4,  # 5 is taken
        "ai": 4,  # its tile is left
        "gaia": 3,  # it can advance, though not to 5 (OPEN-03)
        "economy": 5,
        "science": 0,
    }
    valid = automa_actions.valid_tracks(game, player)
    assert valid == ["terraforming", "ai", "gaia", "science"]
    automa_actions.advance(game, player, "ai")
    assert player.tracks["ai"] == 4 and not game.advanced
    automa_actions.advance(game, player, "terraforming")
    assert player.tracks["terraforming"] == 5
    assert automa_actions.valid_tracks(game, player) == ["gaia", "science"]
    automa_actions.research_random(game, player, CARDS[7])
    assert player.tracks["science"] == 1


def test_aut_24_the_automa_on_5_bars_the_human() -> None:
    game, player = a_game("FIRAKS", "TERRANS")
    human = game.players[0]
    human.tracks["science"], human.green = 4, 1
    assert research.can_advance(game, human, "science")
    player.tracks["science"] = 5
    assert not research.can_advance(game, human, "science")


def test_aut_25_spaces_from_left_to_right() -> None:
    game, player = a_game("ITARS")
    assert SPACES == ["PA_3K", "PA_TF2", "PA_2O", "PA_7C", "PA_2K", "PA_TF1", "PA_2PT",
                      "QIC_TECH", "QIC_TOKEN", "QIC_TYPES"]  # fmt: skip
    for support, space in ((1, 0), (1, 1), (12, 9), (2, 3), (9, 7)):
        automa_actions.cover_action_space(game, player, CARDS[support])
        assert SPACES[space] in game.used
    assert len(game.used) == 5


def test_aut_26_geodens_get_vp_for_a_new_type() -> None:
    game, player = a_game("GEODENS", "ITARS")
    for kind, vp in (("Gaia", 2), ("Transdim", 0), ("Orange", 0), ("Red", 2)):
        for cell in game.board.planets:
            game.board.owner[cell] = 0
        site = next(c for c in game.board.planets
                    if game.board.planet[c] == kind and c not in player.structures)  # fmt: skip
        game.board.owner[site] = None
        before = player.vp
        automa_actions.build_mine(game, player, READING, 99)
        assert player.vp == before + vp


def test_aut_26_terrans_skip_a_blocked_track() -> None:
    game, player = a_game("TERRANS", "HADSCH_HALLAS")
    player.tracks["gaia"] = 5
    levels = dict(player.tracks)
    automa_actions.faction_action(game, player, READING)
    assert player.tracks == levels and len(player.structures) == 3  # OPEN-07


def test_aut_26_firaks_research_after_a_lab() -> None:
    game, player = a_game("FIRAKS", "TERRANS")
    place_structures(game, player, {(1, -5): "TS", (-1, 5): "PI"})
    act(game, 2, 10)
    assert player.count("RL") == 1 and player.tracks["navigation"] == 1


def test_aut_26_itars_and_geodens() -> None:
    game, player = a_game("ITARS")
    act(game, 1, 9)
    assert game.used == set(SPACES[:2])
    game, player = a_game("GEODENS")
    before = player.vp
    act(game, 17, 13)
    assert player.tracks["economy"] == 1 and game.used == {SPACES[4]} and player.vp == before + 1


def test_aut_27_the_xenos_faction_action_covers_one_space() -> None:
    game, player = a_game("XENOS")
    act(game, 1, 9)
    assert len(game.used) == 1 and len(player.structures) == 4


# -- passing, and the human


def test_aut_28_the_first_booster_is_taken_and_the_old_one_put_last() -> None:
    game, player = a_game("GEODENS", round_tiles=["RM-RS-2VP"] * 6)
    a, b, c = game.open_boosters
    old, before = player.booster, player.vp
    player.deck, player.cards_turned = [9, 14, 11, 17, 4], 5
    assert list(automa.take_turn(game, player)) == []
    assert player.vp == before + 2 and player.passed
    assert (player.booster, game.open_boosters) == (a, [b, c, old])


def test_aut_29_who_passes_first_is_first() -> None:
    game, player = a_game("GEODENS", "TERRANS")
    a, b, c = game.open_boosters
    own = game.players[0].booster
    game.apply(f"booster {b}")  # the Automa plays its round to the end alone
    while game.node == "LEECH":
        assert game.current_player == 0 and game.players[0].passed
        game.apply("leech DECLINE")
    assert game.round == 2 and game.turn_order == [0, 1] and player.turns == 0
    expected = [a, c, own]  # OPEN-18
    place = expected.index(player.booster)
    del expected[place]
    assert game.open_boosters[:2] == expected


def test_aut_29_the_automa_passes_first() -> None:
    game, player = a_game("GEODENS", "TERRANS")
    player.cards_turned = len(player.deck)
    human = game.players[0]
    human.ore = human.credits = human.qic = 0
    while not player.passed:
        legal = game.legal_actions()
        verbs = ("advance", "power", "end_turn", "leech")
        busy = [t for t in sorted(legal) if t.split()[0] in verbs]
        game.apply(busy[0] if busy else min(t for t in legal if t.startswith("free")))
    assert game.round == 1 and game.current_player == 0
    while game.round == 1:
        legal = game.legal_actions()
        game.apply(min(t for t in legal if t.split()[0] in ("booster", "leech")))
    assert game.turn_order == [1, 0]
    assert player.turns == 1  # its first turn of round 2 came before the human's


def test_aut_30_the_human_may_charge_power() -> None:
    game, player = a_game("HADSCH_HALLAS", "TAKLONS")
    place_structures(game, player, mines((-2, 0)))
    place_structures(game, game.players[0], {(-2, 1): "TS"})
    human = game.players[0]
    human.bowls, human.brainstone, human.vp = [4, 0, 0], 0, 10
    player.deck, player.cards_turned = [1, 10, 4, 6, 7, 9], 0
    before = player.vp
    script = automa.take_turn(game, player)
    decision = next(script)
    assert player.vp == before + 6  # the whole turn comes first
    assert (decision.player, decision.node) == (0, "LEECH")
    assert decision.menu["leech CHARGE"][1] == 2
    with pytest.raises(StopIteration):
        script.send("leech CHARGE")
    assert human.vp == 9
    assert not game.others(game.players[0])  # the Automa itself charges nothing


def test_aut_31_its_structures_are_an_opponents() -> None:
    game, player = a_game("GEODENS", "LANTIDS")
    human = game.players[0]
    place_structures(game, player, mines((-2, 1)))
    place_structures(game, human, mines((-2, 0)))
    mine = at(game, (-2, 0))
    assert upgrade.price(game, human, mine, "TS")["credits"] == 3
    human.ore, human.credits, human.qic = 15, 30, 9
    game.sites_of = None
    menu = picks(game, human, PLAIN)
    host = f"pick {game.board.text[at(game, (-2, 1))]}"
    assert menu[host][2].kind == "GUEST"


def test_aut_32_no_income_no_gaia_phase_and_spaces_clear() -> None:
    game, player = a_game("TERRANS", "HADSCH_HALLAS")
    place_structures(game, player, {(0, 1): "PI", (1, 2): "AC_A"})
    player.gaia_tokens = 4
    assert list(income.phase(game)) == list(gaia.phase(game)) == []
    assert player.gaia_tokens == 4
    assert not any((player.ore, player.knowledge, player.credits, player.qic, *player.bowls))
    automa_actions.cover_action_space(game, player, READING)
    game.pass_order = [player, game.players[0]]
    turn.clean_up(game)
    assert not game.used and game.turn_order == [1, 0]


# -- the end


def test_aut_33_the_neutral_player() -> None:
    rules = a_game("GEODENS")[0].rules
    assert rules.neutral_counts == {
        "BUILDINGS": 11, "FEDERATION_BUILDINGS": 10, "PLANET_TYPES": 5, "GAIA_BUILDINGS": 4,
        "MAIN_SECTORS": 6, "SATELLITES": 8,
    }  # fmt: skip
    assert rules.final_prizes[:3] == [18, 12, 6]


def test_aut_33_what_the_automa_counts() -> None:
    game, player = a_game("GEODENS")
    board = game.board
    chosen = [next(c for c in board.planets if board.planet[c] == kind) for kind in ("Gaia", "Red")]
    player.structures = dict.fromkeys(chosen, "MINE") | dict.fromkeys(player.structures, "TS")
    player.satellites_counted = 3
    sectors = {board.geometry.sector[c] for c in player.structures}
    expected = {"BUILDINGS": 4, "FEDERATION_BUILDINGS": 3, "PLANET_TYPES": 3, "GAIA_BUILDINGS": 1,
                "MAIN_SECTORS": len(sectors), "SATELLITES": 3}  # fmt: skip
    for mission, count in expected.items():
        assert scoring.final_count(player, mission) == count, mission


def test_aut_34_research_alone_is_scored() -> None:
    game, player = a_game("GEODENS", final_missions=["SATELLITES", "GAIA_BUILDINGS"])
    player.tracks = dict(zip(TRACKS, (5, 4, 3, 2, 1, 0), strict=True))
    before = player.vp
    scoring.final_scoring(game)
    assert player.vp == before + 4 * (3 + 2 + 1)
    assert player.vp_source["RESOURCES"] == 0

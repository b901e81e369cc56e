"""The referee's base game for two and three players: what the number of players changes.

The numbers are those of the base rulebook: its set-up, its final scoring with the neutral player,
its chapter of map variants. The Lost Fleet has the same ranks with the neutral player.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.referee import leech, scoring
from tests.referee.duel import differing_rewards
from tests.referee.game import Game
from tests.referee.random_games import in_a_turn, play_to_end
from tests.referee.rules import ruleset
from tests.referee.setup import SetupError, draw, touching

pytestmark = pytest.mark.no_compile

# Players, tiles on the table.
TABLES = [(2, 7), (3, 10), (3, 8), (4, 10)]
COLOURS = ruleset("base").terraforming_cycle


def a_game(players: int, seed: int = 1, sectors: int | None = None, **changes: Any) -> Game:
    setup = draw(seed, "base", players=players, sectors=sectors)
    return Game(setup | changes, "base")


def past_setup(game: Game) -> Game:
    while game.node in ("START", "BOOSTER"):
        game.apply(min(game.legal_actions()))
    return game


# -- the set-up


@pytest.mark.parametrize(("players", "in_play"), [(2, 5), (3, 6), (4, 7)])
def test_boosters_are_three_more_than_players(players: int, in_play: int) -> None:
    game = a_game(players)
    assert len(game.setup["boosters"]) == in_play
    past_setup(game)
    assert len(game.open_boosters) == 3


@pytest.mark.parametrize(("players", "sectors", "cells", "per_colour", "gaia", "transdim"), [
    (2, 7, 133, 4, 5, 7), (3, 10, 190, 6, 7, 12), (3, 8, 152, 5, 5, 9), (4, 10, 190, 6, 7, 12),
])  # fmt: skip
def test_planets_on_the_map(
    players: int, sectors: int, cells: int, per_colour: int, gaia: int, transdim: int
) -> None:
    """As many planets of every colour on each of the maps."""
    for seed in range(10):
        planet = Counter(a_game(players, seed, sectors).board.planet)
        assert planet.total() == cells
        assert [planet[colour] for colour in COLOURS] == [per_colour] * 7
        assert (planet["Gaia"], planet["Transdim"]) == (gaia, transdim)


def test_the_other_sides_of_three_tiles() -> None:
    """5 lacks a planet, 6 lacks one, 7 has two Gaia planets, Brown and Black but no Red."""
    two, four = (ruleset("base", players).map["sector_tiles"] for players in (2, 4))
    for tile, added, lacking in [
        ("M05", {}, {"Yellow": 1}),
        ("M06", {}, {"Brown": 1}),
        ("M07", {}, {"Red": 1}),
    ]:
        outline, filled = Counter(two[f"{tile}B"]), Counter(four[tile])
        assert {k: v for k, v in (filled - outline).items() if k != "Empty"} == lacking
        assert {k: v for k, v in (outline - filled).items() if k != "Empty"} == added
    assert set(two) == {"M01", "M02", "M03", "M04", "M05B", "M06B", "M07B"}


@pytest.mark.parametrize(("players", "sectors"), TABLES)
def test_a23_on_every_map(players: int, sectors: int) -> None:
    rules = ruleset("base", players, sectors)
    refused = Counter[str]()
    for seed in range(40):
        setup = draw(seed, "base", players=players, sectors=sectors)
        assert not touching(rules, setup)
        for place, laid in enumerate(setup["sectors"]):
            turned = [*setup["sectors"]]
            turned[place] = laid | {"rotation": (laid["rotation"] + 1) % 6}
            if pairs := touching(rules, {"sectors": turned}):
                refused.update({line.split()[0] for line in pairs})
                with pytest.raises(SetupError, match="equal types touch"):
                    Game(setup | {"sectors": turned}, "base")
    # No tile has a Gaia planet at its rim.
    assert refused.keys() <= {*rules.terraforming_cycle, "Transdim"}
    assert refused["Transdim"] and len(refused) >= 6 and refused.total() > 40


def test_set_ups_of_another_table_are_refused() -> None:
    two, three = draw(1, "base", players=2), draw(1, "base", players=3)
    cases: list[tuple[dict[str, Any], str, str]] = [
        (two, "lost_fleet", "not played by 2"),
        (three, "lost_fleet_published", "maps of .9. tiles, not 10"),
        (two | {"factions": two["factions"][:1]}, "base", "not played by 1"),
        (two | {"sectors": three["sectors"]}, "base", "maps of .7. tiles, not 10"),
        (three | {"sectors": two["sectors"]}, "base", "not 7"),
        (two | {"sectors": three["sectors"][:7]}, "base", "tiles of 2 players"),
        (two | {"boosters": three["boosters"]}, "base", "5 boosters"),
        (two | {"turn_order": [0, 2]}, "base", "2 players sit"),
    ]
    for setup, name, message in cases:
        with pytest.raises(SetupError, match=message):
            Game(setup, name)


def test_starting_structures_and_boosters_of_three() -> None:
    """Mines in turn order and back, the Xenos' third, the Hive last; boosters in reverse order."""
    game = a_game(3, factions=["XENOS", "HIVES", "TERRANS"], turn_order=[1, 2, 0])
    decisions = []
    while game.node in ("START", "BOOSTER"):
        decisions.append((game.node, game.players[game.current_player].faction))
        game.apply(min(game.legal_actions()))
    starts = ["TERRANS", "XENOS", "XENOS", "TERRANS", "XENOS", "HIVES"]
    assert decisions == [("START", f) for f in starts] + [
        ("BOOSTER", f) for f in ("XENOS", "TERRANS", "HIVES")
    ]


# -- the course of the game


@pytest.mark.parametrize("players", [2, 3])
def test_pass_order_is_the_next_turn_order(players: int) -> None:
    """The last in turn order passes first each time, and so begins the next round."""
    game = in_a_turn(a_game(players))
    while game.round < 3:
        order = list(game.turn_order)
        passes = []
        while game.round < 3 and game.turn_order == order and len(passes) < players:
            player = game.current_player
            legal = game.legal_actions()
            still = [p for p in order if not game.players[p].passed]
            if game.node != "TURN":
                game.apply(min(legal))
            elif player == still[-1]:
                game.apply(min(text for text in legal if text.startswith("booster")))
                passes.append(player)
            else:  # something else, so that the round continues
                game.apply(next(t for t in sorted(legal) if t.split()[0] in
                                ("mine", "upgrade", "advance", "power", "special")))  # fmt: skip
        in_a_turn(game)
        assert game.turn_order == passes


def test_who_is_left_alone_plays_on() -> None:
    game = in_a_turn(a_game(2))
    first, second = game.turn_order
    assert game.current_player == first
    game.apply(min(t for t in game.legal_actions() if t.startswith("booster")))
    turns = 0
    while game.round == 1:
        assert game.current_player == second or game.node == "LEECH"
        if game.node == "TURN":
            turns += 1
            legal = sorted(game.legal_actions())
            busy = [t for t in legal if t.split()[0] in ("mine", "upgrade", "advance", "power")]
            game.apply(busy[0] if busy else next(t for t in legal if t.startswith("booster")))
        else:
            game.apply(min(game.legal_actions()))
    assert turns > 2 and game.turn_order == [first, second]


@pytest.mark.parametrize(("players", "builder", "expected"), [
    (2, 0, [1]), (2, 1, [0]),
    (3, 0, [1, 2]), (3, 1, [2, 0]), (3, 2, [0, 1]),
])  # fmt: skip
def test_leech_is_asked_as_they_sit(players: int, builder: int, expected: list[int]) -> None:
    """From the builder on, whatever the turn order; who has no structure near is left out."""
    game = in_a_turn(a_game(players, turn_order=[*reversed(range(players))]))
    cell = min(game.players[builder].structures)
    for player in game.players:
        player.bowls = [4, 0, 0]
        if player.number != builder:
            player.structures[cell] = "TS"  # worth 2, at distance 0
    assert offered(game, builder, cell) == expected
    far = game.players[expected[-1]]
    del far.structures[cell]
    far.structures = {
        c: kind for c, kind in far.structures.items() if game.board.geometry.distance[c][cell] > 2
    }
    assert offered(game, builder, cell) == expected[:-1]


def offered(game: Game, builder: int, cell: int) -> list[int]:
    """Who is asked about one structure; everybody declines."""
    game.events = [cell]
    script = leech.resolve(game, game.players[builder])
    order = []
    decision = next(script, None)
    while decision is not None:
        order.append(decision.player)
        assert decision.menu["leech CHARGE"][1] == 2
        try:
            decision = script.send("leech DECLINE")
        except StopIteration:
            decision = None
    return order


# -- the end


BASE, FLEET = "base", "lost_fleet_published"
NEUTRAL = {
    BASE: {
        "BUILDINGS": 11, "FEDERATION_BUILDINGS": 10, "PLANET_TYPES": 5, "GAIA_BUILDINGS": 4,
        "MAIN_SECTORS": 6, "SATELLITES": 8,
    },
    FLEET: {
        "BUILDINGS": 11, "DEEP_SECTORS": 3, "PLANET_TYPES": 6, "PI_AC_DISTANCE": 8, "SATELLITES": 8,
        "ASTEROID_BUILDINGS": 3, "MAIN_SECTORS": 6, "GAIA_BUILDINGS": 4, "FEDERATION_BUILDINGS": 10,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", NEUTRAL)
def test_pla_06_and_14_the_neutral_player_counts_in_every_mission(name: str) -> None:
    assert ruleset(name, 2).neutral_counts == NEUTRAL[name]
    assert set(ruleset(name, 2).final_missions) == set(NEUTRAL[name])
    assert not ruleset(name, 3).neutral_counts and not ruleset(name, 4).neutral_counts


@pytest.mark.parametrize(("name", "mission"), [(n, m) for n in NEUTRAL for m in NEUTRAL[n]])
@pytest.mark.parametrize(("beyond", "vp"), [
    # What two players count, relative to the neutral player.
    ((2, 1), (18, 12)),  # the neutral player is third
    ((1, -1), (18, 6)),  # second
    ((-1, -2), (12, 6)),  # first
    ((0, -1), (15, 6)),  # first with one of them
    ((1, 0), (18, 9)),  # second with one of them
    ((0, 0), (12, 12)),  # all three level
    ((1, 1), (15, 15)),
    ((-1, -1), (9, 9)),
    ((1, None), (18, 0)),  # nothing counted scores nothing
    ((None, 1), (0, 18)),
    ((None, None), (0, 0)),
])  # fmt: skip
def test_pla_06_and_14_ranks_with_the_neutral_player(
    name: str, mission: str, beyond: tuple[Any, Any], vp: tuple[int, int], monkeypatch: Any
) -> None:
    neutral = NEUTRAL[name][mission]
    counts = [0 if count is None else neutral + count for count in beyond]
    assert scored(name, mission, counts, monkeypatch) == list(vp)


@pytest.mark.parametrize(("counts", "vp"), [
    ([5, 4, 3], [18, 12, 6]),
    ([5, 5, 3], [15, 15, 6]),
    ([5, 3, 3], [18, 9, 9]),
    ([4, 4, 4], [12, 12, 12]),
    ([5, 0, 0], [18, 0, 0]),
    ([0, 2, 2], [0, 15, 15]),
    ([0, 0, 0], [0, 0, 0]),
])  # fmt: skip
def test_final_mission_of_three(counts: list[int], vp: list[int], monkeypatch: Any) -> None:
    """No neutral player; the fourth prize is nothing, so the third scores 6."""
    assert scored(BASE, "SATELLITES", counts, monkeypatch) == vp


def scored(name: str, mission: str, counts: list[int], monkeypatch: Any) -> list[int]:
    """The VP of the first of two final missions where the players count so much."""
    setup = draw(1, name, players=len(counts))
    if "deep" in setup:  # six asteroids, as ASTEROID_BUILDINGS needs (PLA-10)
        setup["deep"] = [{**x, "tile": x["tile"].replace("DS6A", "DS6B")} for x in setup["deep"]]
    other = next(m for m in NEUTRAL[name] if m not in (mission, "ASTEROID_BUILDINGS"))
    game = Game(setup | {"final_missions": [mission, other]}, name)
    monkeypatch.setattr(scoring, "final_count", lambda player, _: counts[player.number])
    scoring.final_scoring(game)
    return [player.vp_source["FINAL_1"] for player in game.players]


def test_the_margin_is_that_over_the_mean_of_the_others() -> None:
    for players, vp, margins in [
        (2, [90, 60], [0.3, -0.3]),
        (3, [90, 60, 30], [0.45, 0.0, -0.45]),
    ]:
        game = a_game(players)
        for player, total in zip(game.players, vp, strict=True):
            player.vp = total
        assert not differing_rewards(game, margins)
        assert differing_rewards(game, [m + 0.01 for m in margins])


@pytest.mark.parametrize(("players", "sectors"), TABLES)
def test_random_games(players: int, sectors: int) -> None:
    factions = Counter[str]()
    for seed in range(24):
        game = a_game(players, seed, sectors)
        factions.update(game.setup["factions"])
        play_to_end(game, seed)
        assert all(len(player.satellites) <= 25 for player in game.players)
        assert sorted(game.setup["boosters"]) == sorted(
            [*game.open_boosters, *(p.booster for p in game.players if p.booster)]
        )
    assert len(factions) == 14

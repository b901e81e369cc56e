"""What only the printed rulesets forbid or allow: A25 to A28, in the referee alone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.referee import federation, fleet, mine, power_actions, satellites, special
from tests.referee.board import geometry
from tests.referee.game import Game
from tests.referee.player import Player
from tests.referee.random_games import in_a_turn, table_of
from tests.referee.rules import ruleset
from tests.referee.setup import draw

pytestmark = pytest.mark.no_compile

PRINTED = ["base", "lost_fleet_published"]
ALL = [*PRINTED, "lost_fleet"]


def a_game(name: str, faction: str, seed: int = 1) -> tuple[Game, Player]:
    """A game in its first turn, and its first player, who has this faction and the turn."""
    game = in_a_turn(Game(draw(seed, name, table_of(name, faction)), name))
    mine.look_again(game)
    return game, game.players[0]


def set_fields(player: Player, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(player, name, value)


# -- A25: federations


def on_bare_map(name: str, structures: dict[str, str]) -> tuple[Game, Player]:
    """A map of empty hexes but for the planets of one player's structures."""
    game, player = a_game(name, "TERRANS")
    board = game.board
    board.planet[:] = ["Empty"] * len(board.planet)
    player.structures = {board.geometry.cell(text): kind for text, kind in structures.items()}
    for cell in player.structures:
        board.planet[cell] = "Blue"
    player.bowls = [20, 0, 0]
    return game, player


def legal_federations(game: Game, player: Player) -> set[frozenset[str]]:
    """The structures of every legal federation, by their hexes."""
    work = federation.builder(game, player)
    text = game.board.text
    return {
        frozenset(text[c] for i, group in enumerate(work.groups) if mask >> i & 1 for c in group)
        for mask in work.legal(player, federation.most_satellites(game, player))
    }


CORE = {"0,0": "PI", "1,0": "AC_A", "0,1": "MINE"}
MINES = {"-2,1": "MINE", "-1,-1": "MINE"}


@pytest.mark.parametrize("name", ALL)
def test_a25_two_needless_mines_that_share_a_satellite(name: str) -> None:
    game, player = on_bare_map(name, CORE | MINES)
    assert legal_federations(game, player) == {frozenset(CORE)}


@pytest.mark.parametrize("name", PRINTED)
def test_a25_the_builder_offers_neither_mine(name: str) -> None:
    game, player = on_bare_map(name, CORE | MINES)
    picks = next(federation.form(game, player)).menu
    assert picks.keys() == {f"pick {game.board.text[min(map(game.board.geometry.cell, CORE))]}"}


@pytest.mark.parametrize("name", PRINTED)
def test_a11_a_needless_mine_that_saves_nothing_stays_legal(name: str) -> None:
    """The rulebook's picture: 3 + 2 + 2 takes two satellites, with an adjacent mine or without."""
    needed = {"0,0": "PI", "0,1": "TS", "3,0": "TS"}
    game, player = on_bare_map(name, needed | {"2,-1": "MINE"})
    assert legal_federations(game, player) == {frozenset(needed), frozenset({*needed, "2,-1"})}


def test_a25_against_every_subset() -> None:
    """Random positions of up to eight groups: the definition itself, subset by subset."""
    rng = random.Random(3)
    shape = geometry(ruleset("base"))
    near = [c for c in range(len(shape.cells)) if shape.distance[shape.cell("1,0")][c] <= 4]
    limit, surplus, num_different = 6, 0, 0
    for _ in range(150):
        cells = rng.sample(near, rng.randint(8, 11))
        kinds = rng.choices(("MINE", "TS", "PI"), (5, 3, 1), k=len(cells))
        structures = {shape.text[c]: kind for c, kind in zip(cells, kinds, strict=True)}
        game, player = on_bare_map("base", structures)
        work = federation.Builder(game, player)
        if len(work.groups) > 8:
            continue
        fewest = fewest_satellites(work, limit)
        legal = sorted(
            mask
            for mask, own in fewest.items()
            if not any(m & ~mask == 0 and fewer < own for m, fewer in fewest.items())
        )
        one_by_one = sorted(
            mask
            for mask, own in fewest.items()
            if not any(fewest.get(mask & ~(1 << i), own) < own for i in range(len(work.groups)))
        )
        assert work.legal(player, limit) == legal[:128]
        surplus += any(m != mask and m & ~mask == 0 for m in legal for mask in legal)
        num_different += legal != one_by_one
    assert surplus > 20 and num_different > 5  # positions in which the readings differ


def fewest_satellites(work: federation.Builder, limit: int) -> dict[int, int]:
    """By a search of its own: the satellites of every set of groups that is strong enough."""
    search = satellites.Search(
        satellites.grid(work.geometry),
        [satellites.grid(work.geometry).set(group) for group in work.groups],
        satellites.grid(work.geometry).set(work.allowed),
        limit,
    )
    fewest = {}
    for mask in range(1, 1 << len(work.groups)):
        least = search.least(mask)
        if least is not None and sum_of(work.strength, mask) >= work.needed:
            fewest[mask] = least
    return fewest


def sum_of(strength: list[int], mask: int) -> int:
    return sum(s for i, s in enumerate(strength) if mask >> i & 1)


# -- A26: free steps must be needed


def targets(menu: dict[str, Any], game: Game) -> set[str]:
    return {game.board.planet[game.board.geometry.cell(text.split()[1])] for text in menu}


def everything_in_reach(name: str, faction: str) -> tuple[Game, Player]:
    """A rich player with a gaiaformer and every ship, whom nothing on the map is too far."""
    game, player = a_game(name, faction)
    set_fields(player, ore=15, credits=30, knowledge=15, qic=30, bowls=[0, 0, 12], gaiaformers=1)
    player.shuttles |= set(game.board.ship)
    return game, player


STEPS = ["PA_TF1", "PA_TF2", "RB13", "LF-TF2-FREE-MINE"]


@pytest.mark.parametrize("terms", STEPS)
@pytest.mark.parametrize("name", ALL)
def test_a26_a_step_must_be_needed(name: str, terms: str) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    reached = targets(mine.picks(game, player, mine.TERMS[terms]), game)
    assert {"Red", "White", "Black"} <= reached and "Asteroid" not in reached
    assert ({"Blue", "Gaia"} & reached == set()) == (name in PRINTED)
    assert {"Blue", "Gaia"} <= targets(mine.picks(game, player, mine.PLAIN), game)


@pytest.mark.parametrize("name", PRINTED)
def test_a26_an_own_gaiaformed_planet_needs_no_step(name: str) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    cell = next(c for c in game.board.planets if game.board.planet[c] == "Gaia")
    game.board.gaiaformer[cell] = player.number
    mine.look_again(game)
    text = f"pick {game.board.text[cell]}"
    assert text in mine.picks(game, player, mine.PLAIN)
    assert text not in mine.picks(game, player, mine.TERMS["PA_TF1"])


@pytest.mark.parametrize(("name", "faction", "tinkering"), [
    ("lost_fleet_published", "SPACE_GIANTS", None),
    ("lost_fleet_published", "TINKEROIDS", "TK-EARLY-TF1"),
    ("lost_fleet", "SPACE_GIANTS", None),
    ("lost_fleet", "TINKEROIDS", "TK-LATE-TF3"),
])  # fmt: skip
def test_a26_faction_actions(name: str, faction: str, tinkering: str | None) -> None:
    game, player = everything_in_reach(name, faction)
    player.tinkering = tinkering
    reached = targets(special.faction_targets(game, player), game)
    assert "Red" in reached and ("Gaia" in reached) == (name == "lost_fleet")


@pytest.mark.parametrize("name", ["lost_fleet_published", "lost_fleet"])
def test_a26_mars(name: str) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    reached = targets(fleet.targets(game, player, "TFM_C"), game)
    assert "Red" in reached and ("Blue" in reached) == (name == "lost_fleet")


@pytest.mark.parametrize(("name", "legal"), [("base", False), ("lost_fleet", True)])
def test_a26_an_action_with_nothing_but_home_planets_is_illegal(name: str, legal: bool) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    for cell, content in enumerate(game.board.planet):
        if content not in ("Blue", "Empty", "Ship"):
            game.board.planet[cell] = "Transdim"
    mine.look_again(game)
    assert ("power PA_TF1" in dict(power_actions.options(game, player))) == legal


# -- A27: something of the gain must have room


@pytest.mark.parametrize(("action", "stock", "full"), [
    ("power PA_7C", "credits", 30), ("power PA_2O", "ore", 15),
    ("power PA_2K", "knowledge", 15), ("power PA_3K", "knowledge", 15),
])  # fmt: skip
@pytest.mark.parametrize("name", ALL)
def test_a27_power_actions(name: str, action: str, stock: str, full: int) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    setattr(player, stock, full)
    assert (action in dict(power_actions.options(game, player))) == (name == "lost_fleet")
    setattr(player, stock, full - 1)  # a part has room
    assert action in dict(power_actions.options(game, player))


@pytest.mark.parametrize("name", ALL)
def test_a27_new_tokens_always_have_room(name: str) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    assert "power PA_2PT" in dict(power_actions.options(game, player))


@pytest.mark.parametrize("name", ALL)
def test_a27_a_charge_needs_a_token_to_move(name: str) -> None:
    game, player = everything_in_reach(name, "TAKLONS")
    player.tiles["BT1_ACT_CHARGE4"] = False
    text = "special BT1_ACT_CHARGE4"
    set_fields(player, bowls=[0, 0, 4], brainstone=2)
    assert (text in dict(special.options(game, player))) == (name == "lost_fleet")
    set_fields(player, brainstone=1)
    assert text in dict(special.options(game, player))
    set_fields(player, bowls=[1, 0, 4], brainstone=2)
    assert text in dict(special.options(game, player))


@pytest.mark.parametrize("name", ALL)
def test_a27_the_gleens_qic_is_ore(name: str) -> None:
    """Before academy B a QIC needs room for ore, and 5 credits have their own."""
    game, player = everything_in_reach(name, "GLEENS")
    player.advanced |= {"SA-QIC-CRED", "SA-O-3"}
    set_fields(player, ore=15, credits=30)
    lost_fleet = name == "lost_fleet"
    legal = dict(special.options(game, player))
    assert ("special SA-QIC-CRED" in legal) == ("special SA-O-3" in legal) == lost_fleet
    player.credits = 29
    assert "special SA-QIC-CRED" in dict(special.options(game, player))
    player.credits = 30
    player.structures[min(player.structures)] = "AC_B"
    legal = dict(special.options(game, player))
    assert {"special SA-QIC-CRED", "special AC_B"} <= legal.keys()


@pytest.mark.parametrize("name", ALL)
def test_a27_the_bal_taks_academy(name: str) -> None:
    game, player = everything_in_reach(name, "BAL_TAKS")
    player.structures[min(player.structures)] = "AC_B"
    assert ("special AC_B" in dict(special.options(game, player))) == (name == "lost_fleet")
    player.credits = 27
    assert "special AC_B" in dict(special.options(game, player))


@pytest.mark.parametrize("name", ["lost_fleet_published", "lost_fleet"])
def test_a27_rebellion_and_tinkering(name: str) -> None:
    lost_fleet = name == "lost_fleet"
    game, player = everything_in_reach(name, "GLEENS")
    assert ("ship REB_K" in dict(fleet.options(game, player))) == lost_fleet
    player.ore = 14
    assert "ship REB_K" in dict(fleet.options(game, player))
    game, player = everything_in_reach(name, "TINKEROIDS")
    player.tinkering = "TK-EARLY-PW4"
    assert ("special FACTION" in dict(special.options(game, player))) == lost_fleet
    player.bowls = [0, 1, 4]
    assert "special FACTION" in dict(special.options(game, player))


@pytest.mark.parametrize("name", ALL)
def test_a27_a_token_scored_again(name: str) -> None:
    """VP always have room; of the Gleens' token nothing does. A16 keeps the one of a tile."""
    game, player = everything_in_reach(name, "GLEENS")
    set_fields(player, ore=15, credits=30, knowledge=15)
    player.tokens["FT_GLEENS"] = 1

    def scorable() -> set[str]:
        if name == "base":
            return set(federation.scorable_tokens(game, player))
        return set(fleet.targets(game, player, "TWI_Q"))

    assert scorable() == ({"token FT_GLEENS"} if name == "lost_fleet" else set())
    if name == "base":
        assert "qic QIC_TOKEN" not in dict(power_actions.qic_options(game, player))
    player.tokens["FT_7VP_6C"] = 1
    if name != "base":
        player.tokens["SFT_TECH"] = 1
    assert "token FT_7VP_6C" in scorable()
    assert len(scorable()) == len(player.tokens) - (name != "lost_fleet")
    player.credits = 29
    assert "token FT_GLEENS" in scorable()


# -- A28: two tokens of ships


@pytest.mark.parametrize(("name", "open_"), [("lost_fleet_published", True), ("lost_fleet", False)])
def test_a28_a_guest_mine_by_the_token_of_unlimited_range(name: str, open_: bool) -> None:
    game, player = everything_in_reach(name, "LANTIDS")
    set_fields(player, ore=0, credits=0, qic=0)
    hosts = {c for other in game.players[1:] for c in other.structures}
    guests = {f"pick {game.board.text[c]}" for c in hosts}
    menu = mine.picks(game, player, mine.TERMS["SFT_RANGE_MINE"])
    assert (guests <= menu.keys()) == open_
    assert guests.isdisjoint(menu) == (not open_)
    assert guests.isdisjoint(mine.picks(game, player, mine.TERMS["SFT_TF3_MINE"]))
    if open_:
        chosen = min(guests)
        function, *arguments = menu[chosen]
        function(game, player, *arguments)
        cell = game.board.geometry.cell(chosen.split()[1])
        assert player.guests == {cell} and game.board.guest[cell] == player.number
        assert (player.ore, player.credits, player.qic) == (0, 0, 0)


@pytest.mark.parametrize(("name", "open_"), [("lost_fleet_published", True), ("lost_fleet", False)])
def test_a28_an_asteroid_by_the_token_of_three_steps(name: str, open_: bool) -> None:
    game, player = everything_in_reach(name, "TERRANS")
    terms = mine.TERMS["SFT_TF3_MINE"]
    menu = mine.picks(game, player, terms)
    assert ("Asteroid" in targets(menu, game)) == open_
    assert {"Blue", "Gaia", "Red"} <= targets(menu, game)  # A26 names no token
    if open_:
        before = player.ore, player.credits
        _, _, plan = next(e for t, e in menu.items() if e[2].kind == "ASTEROID")
        mine.build(game, player, terms, plan)
        assert (player.ore, player.credits) == before
        assert (player.gaiaformers, player.gaiaformers_lost) == (0, 1)
        mine.look_again(game)
        assert "Asteroid" not in targets(mine.picks(game, player, terms), game)

"""The referee by itself: golden numbers, its federation search, whole games of every faction."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest

from tests.referee import free, income, leech, mine, passing, power, satellites, scoring, turn
from tests.referee.board import geometry
from tests.referee.game import Game, IllegalAction
from tests.referee.player import Player
from tests.referee.policies import POLICIES
from tests.referee.random_games import table_of
from tests.referee.rules import ruleset
from tests.referee.setup import SetupError, draw, homeless_colours, touching

pytestmark = pytest.mark.no_compile

RULES = ruleset("lost_fleet")
FACTIONS = list(RULES.factions)

# Credits, ore, knowledge, QIC at the start and after the first income without a booster; bowls;
# gaiaformers; pending charge and tokens.
GOLDEN = {
    "HIVES": ((15, 4, 3, 1), (2, 2, 0), 0, (15, 5, 4, 2), 4, 1),
    "HADSCH_HALLAS": ((15, 4, 3, 1), (2, 4, 0), 0, (20, 7, 4, 1), 1, 0),
    "GEODENS": ((15, 6, 3, 1), (2, 4, 0), 0, (15, 9, 4, 1), 0, 0),
    "BAL_TAKS": ((15, 4, 3, 1), (2, 2, 0), 1, (15, 7, 4, 1), 0, 0),
    "XENOS": ((15, 4, 3, 2), (2, 4, 0), 0, (15, 7, 4, 2), 0, 0),
    "GLEENS": ((15, 5, 3, 1), (2, 4, 0), 0, (15, 8, 4, 1), 0, 0),
    "TAKLONS": ((15, 4, 3, 1), (2, 4, 0), 0, (15, 7, 4, 1), 0, 0),
    "AMBAS": ((15, 4, 3, 2), (2, 4, 0), 0, (15, 8, 4, 2), 0, 0),
    "FIRAKS": ((15, 3, 2, 1), (2, 4, 0), 0, (15, 6, 4, 1), 0, 0),
    "BESCODS": ((15, 4, 3, 1), (2, 4, 0), 0, (15, 7, 3, 1), 0, 0),
    "ITARS": ((15, 5, 3, 1), (4, 4, 0), 0, (15, 8, 3, 1), 0, 1),
    "NEVLAS": ((15, 4, 2, 1), (4, 2, 0), 0, (15, 7, 4, 1), 0, 0),
    "TERRANS": ((15, 4, 3, 1), (4, 4, 0), 1, (15, 7, 4, 1), 0, 0),
    "LANTIDS": ((13, 4, 3, 1), (0, 4, 0), 0, (13, 7, 4, 1), 0, 1),
    "TINKEROIDS": ((15, 4, 2, 1), (4, 2, 0), 0, (15, 5, 4, 1), 4, 1),
    "DARKANIANS": ((15, 7, 3, 2), (4, 2, 0), 0, (17, 9, 4, 2), 1, 0),
    "SPACE_GIANTS": ((15, 6, 3, 2), (4, 4, 0), 0, (15, 8, 4, 2), 0, 0),
    "MOWEYDS": ((15, 6, 5, 1), (4, 4, 0), 1, (15, 8, 6, 1), 0, 0),
}


def past_setup(faction: str) -> Game:
    """A game in which all starting structures are placed and no player has a booster yet."""
    game = Game(draw(1, factions=table_of("lost_fleet", faction)))
    while game.node == "START":
        game.apply(min(game.legal_actions()))
    return game


@pytest.mark.parametrize("faction", FACTIONS)
def test_golden_start_and_first_income(faction: str) -> None:
    start, bowls, gaiaformers, after, charge, tokens = GOLDEN[faction]
    game = past_setup(faction)
    player = game.players[0]
    assert (player.credits, player.ore, player.knowledge, player.qic) == start
    assert tuple(player.bowls) == bowls
    assert player.gaiaformers == gaiaformers
    assert player.brainstone == (0 if faction == "TAKLONS" else -1)
    player.booster = "RB2"  # no income but a charge
    for gain in income.plain_income(game, player):
        player.gain(gain, "ECONOMY")
    assert (player.credits, player.ore, player.knowledge, player.qic) == after
    charges, new = income.power_income(game, player)
    assert sum(charges.values()) - charges["CH_BOOSTER"] == charge
    assert sum(new.values()) == tokens


def test_map_counts() -> None:
    shape = geometry(RULES)
    assert len(shape.cells) == 224
    assert sum(len(n) for n in shape.neighbours) == 2 * 617
    assert max(max(row) for row in shape.distance) == 19
    for seed in range(20):
        planet = Game(draw(seed)).board.planet
        assert [planet.count(colour) for colour in RULES.terraforming_cycle] == [
            7, 6, 5, 6, 6, 6, 6,
        ]  # fmt: skip
        assert planet.count("Gaia") == 7 and planet.count("Ship") == 4
        assert 7 <= planet.count("Asteroid") <= 13 and 2 <= planet.count("Proto") <= 7
        assert 12 <= planet.count("Transdim") <= 15


def test_prices_of_modes_are_those_of_their_actions() -> None:
    for name, terms in mine.TERMS.items():
        if name in RULES.power_actions:
            assert terms.price == {"power": RULES.power_actions[name]["power"]}
            assert terms.free_steps == RULES.power_action_steps[name]
        if name in RULES.ship_actions:
            assert terms.price == RULES.ship_actions[name]["cost"]
        if name in RULES.tinkering:
            assert terms.free_steps == RULES.tinkering[name]["free_steps"]


def test_ini_09_tinkeroids_and_moweyds_share_no_filler() -> None:
    setup = {
        "factions": ["TINKEROIDS", "HIVES", "MOWEYDS", "TERRANS"],
        "turn_order": [2, 0, 1, 3],
        "colour_order": ["Red", "White", "Blue", "Black", "Yellow", "Brown", "Orange"],
    }
    assert homeless_colours(RULES, setup) == {
        "MOWEYDS": {"Red", "Blue", "White"},
        "TINKEROIDS": {"Red", "Blue", "Black"},
    }


@pytest.mark.parametrize(
    ("counts", "vp"),
    [
        ([5, 4, 3, 2], [18, 12, 6, 0]),
        ([5, 5, 3, 2], [15, 15, 6, 0]),
        ([5, 3, 3, 2], [18, 9, 9, 0]),
        ([5, 5, 5, 2], [12, 12, 12, 0]),
        ([0, 0, 0, 0], [9, 9, 9, 9]),
        ([5, 4, 2, 2], [18, 12, 3, 3]),
        ([5, 0, 0, 0], [18, 6, 6, 6]),
    ],
)
def test_fin_02_ties(counts: list[int], vp: list[int]) -> None:
    assert scoring.mission_vp(counts, RULES.final_prizes, zero_scores=True) == vp


def player_with(faction: str, **fields: Any) -> Player:
    game = past_setup(faction)
    for name, value in fields.items():
        setattr(game.players[0], name, value)
    return game.players[0]


def test_act_06_taklons_payment() -> None:
    player = player_with("TAKLONS", bowls=[0, 0, 2], brainstone=2)
    assert power.can_spend(player, 5) and not power.can_spend(player, 6)
    power.spend(player, 4)
    assert (player.bowls, player.brainstone) == ([1, 0, 1], 0)
    player = player_with("TAKLONS", bowls=[0, 0, 2], brainstone=2)
    power.spend(player, 2)
    assert (player.bowls, player.brainstone) == ([2, 0, 0], 2)
    player = player_with("TAKLONS", bowls=[0, 0, 1], brainstone=2)
    power.spend(player, 2)
    assert (player.bowls, player.brainstone) == ([0, 0, 1], 0)


def test_inc_03_the_brainstone_moves_first() -> None:
    player = player_with("TAKLONS", bowls=[1, 1, 0], brainstone=0)
    power.charge(player, 1)
    assert (player.bowls, player.brainstone) == ([1, 1, 0], 1)
    power.charge(player, 2)
    assert (player.bowls, player.brainstone) == ([0, 2, 0], 2)


def test_lee_01_a_token_may_move_twice() -> None:
    player = player_with("TERRANS", bowls=[4, 1, 0])
    assert power.capacity(player) == 9
    power.charge(player, 6)
    assert player.bowls == [0, 3, 2]


PLAIN, TURNED = False, True


@pytest.mark.parametrize(
    ("amount", "bowls", "turned", "after"),
    [
        (1, [0, 0, 2], PLAIN, ([1, 0, 1], 2)),
        (1, [0, 0, 2], TURNED, ([0, 0, 2], 0)),
        (2, [0, 0, 1], TURNED, ([0, 0, 1], 0)),
        (3, [0, 0, 3], PLAIN, ([0, 0, 3], 0)),
        (3, [0, 0, 3], TURNED, ([3, 0, 0], 2)),
        (4, [0, 0, 3], TURNED, ([1, 0, 2], 0)),
        (7, [0, 0, 7], TURNED, ([7, 0, 0], 2)),
    ],
)
def test_a21_payments_the_other_way_round(
    amount: int, bowls: list[int], turned: bool, after: tuple[list[int], int]
) -> None:
    player = player_with("TAKLONS", bowls=bowls, brainstone=2, brainstone_turned=turned)
    power.spend(player, amount)
    assert (player.bowls, player.brainstone) == after


@pytest.mark.parametrize(
    ("bowls", "stone", "amount", "turned", "after"),
    [
        ([1, 1, 1], 0, 2, PLAIN, ([0, 1, 1], 3)),
        ([1, 1, 1], 0, 2, TURNED, ([0, 0, 1], 0)),
        ([1, 1, 1], 0, 4, TURNED, ([0, 0, 0], 3)),
        ([0, 2, 2], 1, 3, PLAIN, ([0, 0, 2], 3)),
        ([0, 2, 2], 1, 3, TURNED, ([0, 0, 1], 1)),
    ],
)
def test_a21_projects_the_other_way_round(
    bowls: list[int], stone: int, amount: int, turned: bool, after: tuple[list[int], int]
) -> None:
    player = player_with("TAKLONS", bowls=bowls, brainstone=stone, brainstone_turned=turned)
    power.to_gaia_area(player, amount)
    assert (player.bowls, player.brainstone) == after


@pytest.mark.parametrize(
    ("bowls", "turned", "after"),
    [
        ([0, 2, 0], PLAIN, ([0, 1, 0], 2)),
        ([0, 2, 0], TURNED, ([0, 0, 1], 1)),
        ([0, 1, 0], TURNED, ([0, 0, 0], 2)),
    ],
)
def test_a21_a_burn_the_other_way_round(
    bowls: list[int], turned: bool, after: tuple[list[int], int]
) -> None:
    player = player_with("TAKLONS", bowls=bowls, brainstone=1, brainstone_turned=turned)
    free.burn(past_setup("TAKLONS"), player)
    assert (player.bowls, player.brainstone) == after


def taklons_turn(bowls: list[int], stone: int, **fields: int) -> Game:
    """A game that waits for the first turn of the Taklons."""
    game = past_setup("TAKLONS")
    while game.node != "TURN" or game.current_player != 0:
        quiet = [t for t in game.legal_actions() if t.split()[0] not in ("free", "form_federation")]
        game.apply(min(quiet))
    player = game.players[0]
    player.bowls, player.brainstone = bowls, stone
    for name, value in fields.items():
        setattr(player, name, value)
    menu = game.decision.menu
    menu.clear()
    menu.update(free.options(game, player))
    menu.update(free.turning(game, player))
    menu.update(turn.main_actions(game, player))
    return game


def test_a21_the_mark_lasts_for_the_turn_and_is_taken_once() -> None:
    game = taklons_turn([0, 0, 3], 2)
    game.apply("free brainstone")
    player = game.players[0]
    assert player.brainstone_turned and "free brainstone" not in game.legal_actions()
    before = player.credits
    game.apply("free P1_to_C")
    assert player.credits == before + 3
    assert (player.bowls, player.brainstone) == ([0, 0, 3], 0)
    game.apply(min(t for t in game.legal_actions() if t.startswith(("booster", "pass"))))
    assert not player.brainstone_turned


@pytest.mark.parametrize("stone", [power.GAIA_AREA, power.NOWHERE])
def test_a21_the_brainstone_must_lie_in_a_bowl(stone: int) -> None:
    assert "free brainstone" not in taklons_turn([0, 0, 3], stone).legal_actions()


@pytest.mark.parametrize(("knowledge", "node"), [(4, "over"), (5, "AFTER")])
def test_a21_it_keeps_no_turn_open(knowledge: int, node: str) -> None:
    """After a step that costs 4 nothing else can be converted, or 1 knowledge can."""
    game = taklons_turn([4, 0, 0], 0, credits=0, ore=0, knowledge=knowledge, qic=0)
    game.apply("advance economy")
    assert (game.node, game.current_player) == ("AFTER", 0) or node == "over"
    if node == "over":
        assert game.active is not game.players[0]
    else:
        assert game.legal_actions() == {"free K_to_C", "free brainstone", "end_turn"}
        game.apply("free brainstone")
        assert game.legal_actions() == {"free K_to_C", "end_turn"}
        game.apply("free K_to_C")  # P1_to_C has nothing to pay with
        assert game.active is not game.players[0]


def test_a20_itars_with_the_institute_are_asked_for_free_leech() -> None:
    for faction, institute, is_asked in (("ITARS", True, True), ("ITARS", False, False),
                                      ("TERRANS", True, False)):  # fmt: skip
        game = past_setup(faction)
        player = game.players[0]
        cell = min(player.structures)
        if institute:
            player.structures[cell] = "PI"
        player.bowls, player.vp = [0, 1, 0], 10  # one charge at most
        script = leech.offer(game, player, cell)
        menu = next(script, None)
        assert (menu is not None) == is_asked, (faction, institute)
        assert player.bowls == ([0, 1, 0] if is_asked else [0, 0, 1])
    published = ruleset("lost_fleet_published")
    assert published.switches.free_leech_is_asked and not RULES.switches.free_leech_is_asked


@pytest.mark.parametrize(("name", "count"), [("lost_fleet", 2), ("lost_fleet_published", 5),
                                             ("base", 5)])  # fmt: skip
def test_a22_stations_in_the_satellite_mission(name: str, count: int) -> None:
    seed = next(s for s in range(100) if "HIVES" in draw(s, name)["factions"])
    game = Game(draw(seed, name), name)
    player = next(p for p in game.players if p.is_("HIVES"))
    player.satellites, player.stations = {1, 2}, {3, 4, 5}
    assert scoring.final_count(player, "SATELLITES") == count


def test_a23_equal_types_do_not_touch() -> None:
    """The maps of the base game are in `test_players.py`."""
    name = "lost_fleet_published"
    rules = ruleset(name)
    refused = Counter[str]()
    for seed in range(60):
        drawn = draw(seed, name)
        assert not touching(rules, drawn)
        for place, laid in enumerate(drawn["sectors"]):
            turned = [*drawn["sectors"]]
            turned[place] = laid | {"rotation": (laid["rotation"] + 1) % 6}
            broken = drawn | {"sectors": turned}
            if pairs := touching(rules, broken):
                refused.update({line.split()[0] for line in pairs})
                with pytest.raises(SetupError, match="equal types touch"):
                    Game(broken, name)
    # No tile has a Gaia planet at its rim.
    assert refused.keys() <= {*RULES.terraforming_cycle, "Transdim"}
    assert refused["Transdim"] and len(refused) >= 6


def test_pas_04_gaiaformers_spent_on_asteroids_do_not_score() -> None:
    player = player_with("TERRANS", booster="RB4", gaiaformers=2, gaiaformers_lost=1)
    assert passing.booster_vp(player) == 6


def test_an_illegal_text_is_refused() -> None:
    with pytest.raises(IllegalAction):
        Game(draw(0)).apply("pass")


# -- satellites, against a search through all sets


def joined(shape: Any, cells: set[int]) -> bool:
    reached: set[int] = set()
    fresh = {min(cells)}
    while fresh:
        reached |= fresh
        fresh = {n for c in fresh for n in shape.neighbours[c]} & cells - reached
    return reached == cells


def test_fed_03_satellites_are_the_fewest_and_least_in_touch() -> None:
    shape = geometry(RULES)
    board = satellites.grid(shape)
    rng = random.Random(5)
    solved = 0
    for _ in range(60):
        centre = rng.randrange(224)
        region = [c for c in range(224) if shape.distance[centre][c] <= 3]
        rng.shuffle(region)
        groups: list[list[int]] = []
        while region and len(groups) < rng.choice((2, 3, 4)):
            cell = region.pop()
            if all(shape.distance[cell][c] > 1 for group in groups for c in group):
                groups.append([cell])
        allowed = set(region[:15]) - {c for g in groups for c in g}
        touched = {c: rng.choice((0, 0, 1, 2)) for c in allowed}
        members = {c for g in groups for c in g}
        best = min(
            (
                size * satellites.COUNT + sum(touched[c] for c in chosen)
                for size in range(6)
                for chosen in itertools.combinations(sorted(allowed), size)
                if joined(shape, members.union(chosen))
            ),
            default=None,
        )
        search = satellites.Search(board, [board.set(g) for g in groups], board.set(allowed), 5)
        least = search.least((1 << len(groups)) - 1)
        if best is None:
            assert least is None
            continue
        solved += 1
        assert least == best // satellites.COUNT
        worth, laid = satellites.best_layout(shape, groups, allowed, touched)
        assert worth == best and joined(shape, members | laid)
        assert worth == len(laid) * satellites.COUNT + sum(touched[c] for c in laid)
    assert solved > 20


# -- whole games


class Ledger:
    """Power tokens gained and discarded, counted in parallel to the game."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.balance: dict[int, int] = {}
        gain, discard = Player.gain, power.discard

        def booked_gain(player: Player, amounts: dict[str, int], source: str = "") -> None:
            new = amounts.get("tokens", 0) + amounts.get("tokens_iii", 0)
            self.balance[id(player)] = self.balance.get(id(player), 0) + new
            gain(player, amounts, source)

        def booked_discard(player: Player, amount: int) -> None:
            self.balance[id(player)] = self.balance.get(id(player), 0) - amount
            discard(player, amount)

        monkeypatch.setattr(Player, "gain", booked_gain)
        monkeypatch.setattr(power, "discard", booked_discard)

    def burnt(self, player: Player) -> None:
        self.balance[id(player)] = self.balance.get(id(player), 0) - 1


def all_tokens(player: Player) -> int:
    return sum(player.bowls) + player.gaia_tokens + (player.brainstone != power.NOWHERE)


@pytest.mark.parametrize("faction", FACTIONS)
def test_random_games(faction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games end; stocks keep their limits; VP sum up; power tokens are conserved."""
    ledger = Ledger(monkeypatch)
    for number, policy in enumerate(("uniform", "long", "rare")):
        seed = 100 * FACTIONS.index(faction) + number
        game = Game(draw(seed, factions=table_of("lost_fleet", faction)))
        choose = POLICIES[policy]()
        rng = random.Random(seed)
        at_start = [all_tokens(p) - ledger.balance.get(id(p), 0) for p in game.players]
        decisions = 0
        while not game.over:
            legal = sorted(game.legal_actions())
            text = choose(rng, legal, game)
            player = game.players[game.current_player]
            if text == "free burn" and not player.is_("ITARS"):
                ledger.burnt(player)
            if game.node == "ITARS" and text != "skip":
                for _ in range(4):
                    ledger.burnt(player)
            game.apply(text)
            decisions += 1
            check(game)
        assert decisions < 8192
        for player, start in zip(game.players, at_start, strict=True):
            assert all_tokens(player) == start + ledger.balance.get(id(player), 0)


def check(game: Game) -> None:
    assert game.over or game.legal_actions()
    for player in game.players:
        assert player.vp == sum(player.vp_source.values()) >= 0
        assert 0 <= player.ore <= 15 and 0 <= player.knowledge <= 15 and 0 <= player.credits <= 30
        assert 0 <= player.qic and min(player.bowls) >= 0 and player.gaia_tokens >= 0
        assert 0 <= player.green <= sum(player.tokens.values())
        owned = player.gaiaformers_owned() + player.gaiaformers_lost
        assert owned == (0, 1, 1, 2, 3, 3)[player.tracks["gaia"]]
        assert all(player.supply(piece) >= 0 for piece in ("MINE", "TS", "RL", "PI"))
        assert len(player.satellites) <= 25
    for track in RULES.tracks:
        assert sum(player.tracks[track] == 5 for player in game.players) <= 1

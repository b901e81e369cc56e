"""The referee by itself: golden numbers, its federation search, whole games of every faction."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from tests.referee import income, mine, passing, power, satellites, scoring
from tests.referee.board import geometry
from tests.referee.game import Game, IllegalAction
from tests.referee.player import Player
from tests.referee.policies import POLICIES
from tests.referee.rules import ruleset
from tests.referee.setup import draw, homeless_colours

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


def table_of(faction: str) -> list[str]:
    """Four factions of different boards, `faction` first."""
    chosen = [faction]
    for other in FACTIONS:
        boards = {RULES.factions[f]["board"] for f in chosen}
        if RULES.factions[other]["board"] not in boards and len(chosen) < 4:
            chosen.append(other)
    return chosen


def past_setup(faction: str) -> Game:
    """A game in which all starting structures stand and nobody has a booster yet."""
    game = Game(draw(1, factions=table_of(faction)))
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
    """Power tokens gained and discarded, booked beside the game."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.balance: dict[int, int] = {}
        gain, discard = Player.gain, power.discard

        def booked_gain(player: Player, what: dict[str, int], source: str = "") -> None:
            new = what.get("tokens", 0) + what.get("tokens_iii", 0)
            self.balance[id(player)] = self.balance.get(id(player), 0) + new
            gain(player, what, source)

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
        game = Game(draw(seed, factions=table_of(faction)))
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

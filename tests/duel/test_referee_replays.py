"""The reader of recorded games, over games that the referee plays and records in the same form.

The public engine's games are not part of the project: `python -m tests.replays.play` and
`python -m tests.replays.mutants` read them from files.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from typing import Any

import numpy as np
import pytest

from gaia_jax.importers import player as player_module
from gaia_jax.importers.lines import is_leech
from gaia_jax.importers.notation import MismatchError, setup_of
from gaia_jax.importers.position import brainstone_and_tokens, neighbours
from gaia_jax.ruleset import VARIANTS
from tests.conftest import GAMES
from tests.replays import brainstone, compare, layouts, mutants, play
from tests.replays.player import Player
from tests.replays.record import record
from tests.replays.table import Position, Table

TASTE = {
    "piece PI": 100.0, "upgrade": 4.0, "project": 4.0, "mine": 2.0, "free": 20.0,
    "free brainstone": 3.0, "form_federation": 5.0,
}  # fmt: skip
Games = list[dict[str, Any]]
CHARGE_4 = "BT1_ACT_CHARGE4"
TAKLONS = ["TAKLONS", "ITARS", "TERRANS", "HIVES"]
# The seeds are such that the games have what `test_the_games_have_all_kinds_of_lines` asks for.
TABLES = [(TAKLONS, 3), (TAKLONS, 4), (["AMBAS", "NEVLAS", "LANTIDS", "FIRAKS"], 19)]


@pytest.fixture(scope="module")
def games() -> Games:
    return [record(f"{names[0]} {seed}", names, seed, TASTE) for names, seed in TABLES]


@pytest.fixture(scope="module")
def declining() -> dict[str, Any]:
    """A game with research steps declined; the seed is such that it has two."""
    names = ["AMBAS", "NEVLAS", "GLEENS", "FIRAKS"]
    return record("declining", names, 4, TASTE | {"skip": 30.0})


def in_other_words(game: dict[str, Any]) -> dict[str, Any]:
    """The same game as other hands and older versions write it."""
    reworded = copy.deepcopy(game) | {"id": f"{game['id']} in other words"}
    for step in reworded["steps"]:
        step["l"] = step["l"].replace("decline up", "decline")
        step["l"] = re.sub(r"(income \w+)\. income ", r"\1,", step["l"])
        # The last part too, which our game takes by itself.
        step["l"] = re.sub(r"(income [\w,]+)$", r"\1,1pw", step["l"])
        if step["op"] and "pass" in step["op"]:
            step["op"]["federation"] = []  # one may be typed
    return reworded


@pytest.fixture(scope="module")
def table() -> Table:
    return Table("base", GAMES)


@pytest.fixture(scope="module")
def report(games: Games, declining: dict[str, Any], table: Table) -> play.Report:
    """What the reader reports on the unchanged games, and on those that it cannot read."""
    report = play.Report()
    broken = copy.deepcopy(games[0])
    broken["id"] = "broken"
    broken["setup"]["hexes"][0][2] = "?"
    three = copy.deepcopy(games[0])
    three["id"], three["vp"] = "three", three["vp"][:3]
    others = [in_other_words(game) for game in (games[1], declining)]
    play.play(table, [broken, three, *games, declining, *others], report)
    return report


def test_the_games_have_all_kinds_of_lines(games: Games) -> None:
    lines = [step["l"].split(" ", 1)[1].split(". ") for game in games for step in game["steps"]]
    words = {command.split()[0] for commands in lines for command in commands if command}
    assert words >= {
        *("build", "up", "pass", "booster", "charge", "decline", "spend", "burn", "action"),
        *("special", "tech", "cover", "federation", "income", "brainstone", "swap-PI"),
    }
    areas = {c.split()[1] for commands in lines for c in commands if c.startswith("brainstone")}
    assert areas >= {"area1", "area2", "area3", "discard"}
    assert any("tg for tech" in c for commands in lines for c in commands)
    # Who passed last converted before.
    assert any(
        "spend" in game["steps"][-1]["l"] or "burn" in game["steps"][-1]["l"] for game in games
    )
    # Conversions wait for the others' answers, one of which names the new place of the brainstone.
    assert any(waits_for_the_brainstone(game["steps"], i) for game in games
               for i in range(len(game["steps"])))  # fmt: skip


def test_a_leech_line_is_known() -> None:
    answers = [["charge", "2pw"], ["decline", "2pw"], ["decline"]]
    assert all(is_leech([command]) for command in answers)
    others = [["decline", "up"], ["up", "eco"], ["charge"], ["pass", "booster1"]]
    assert not any(is_leech([command]) for command in others) and not is_leech([])


def waits_for_the_brainstone(steps: list[dict[str, Any]], turn: int) -> bool:
    step = steps[turn]
    if not step["s"] or step["s"]["ph"] != "roundLeech" or "charge" in (step["op"] or {}):
        return False
    last = step["l"].split(". ")[-1].split()
    answers = []
    for later in steps[turn + 1 :]:
        if "charge" not in (later["op"] or {}):
            break
        answers.append(later["l"])
    is_asked = any(line.startswith("taklons") and "brainstone" in line for line in answers)
    return is_asked and last[0] in ("spend", "burn")


def test_recorded_games_play_as_recorded(
    report: play.Report, games: Games, declining: dict[str, Any]
) -> None:
    """Also after a game whose set-up cannot be read."""
    wrong = [
        difference for game, difference in report.differences if game not in ("broken", "three")
    ]
    assert not wrong
    assert report.games == len(games) + 5 and report.ended == len(games) + 3
    twice = [*games, games[1], declining, declining]
    assert report.lines == sum(step["s"] is not None for game in twice for step in game["steps"])
    assert report.asked > 100
    # What a player may choose beyond our rules happens in these games, and is written.
    assert report.written["the brainstone and a token change places"] >= 2


def test_an_unreadable_set_up_is_reported(report: play.Report) -> None:
    differences = dict(report.differences)
    assert differences["broken"].startswith("set-up: unreadable: '?'")
    assert "3 players, at a table of 4" in differences["three"]


def test_other_words_are_there(games: Games, declining: dict[str, Any]) -> None:
    """`test_recorded_games_play_as_recorded` reads them."""
    text = " ".join(step["l"] for step in in_other_words(declining)["steps"])
    assert text.count("decline. ") + text.count("decline ") >= 2 and "decline up" not in text
    assert re.search(r"income \w+,\w+", text)
    offers = [game["steps"] for game in (games[1], declining)]
    assert any("federation" in (step["op"] or {}) for steps in offers for step in steps)


@pytest.mark.slow
def test_every_mutant_is_reported(games: Games, table: Table) -> None:
    def play_games(records: Games, report: play.Report) -> None:
        play.play(table, records, report)

    seen, missed = mutants.run(play_games, games, per_kind=1)
    assert not missed
    assert len(seen) >= 109


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"opts": {"factionVariant": "beta"}}, ("not base", "factionVariant 'beta'", "standard")),
        (
            {"opts": {"factionVariant": "more-balanced", "factionVariantVersion": 0}},
            ("not base", "factionVariant 'more-balanced'", "standard"),
        ),
        ({"opts": {"frontiers": True}}, ("not base", "the expansion frontiers", "without it")),
        ({"sectors": 8}, ("not base", "a map of 8 sectors", "10 for 4")),
        ({"neutral": {"gaia": 4}}, ("neutral", {"gaia": 4}, None)),
    ],
)
def test_other_games_than_base_are_named(
    games: Games, changed: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    game = copy.deepcopy(games[0])
    game["opts"] |= changed.get("opts", {})
    game["setup"]["sectors"] = game["setup"]["sectors"][: changed.get("sectors")]
    if "neutral" in changed:
        game["setup"]["neutral"] = changed["neutral"]
    with pytest.raises(MismatchError) as difference:
        setup_of(game, VARIANTS["base", 4])
    assert difference.value.args == expected


def test_the_neutral_player_is_compared() -> None:
    """With two it counts what is printed on the tiles (PLA-06)."""
    game = record("two", ["TAKLONS", "TERRANS"], 0, {})
    assert setup_of(game, VARIANTS["base", 2])["final_missions"]
    right = dict(game["setup"]["neutral"])
    for wrong in ({tile: count + 1 for tile, count in right.items()}, None):
        game["setup"]["neutral"] = wrong
        with pytest.raises(MismatchError) as difference:
            setup_of(game, VARIANTS["base", 2])
        assert difference.value.args[:2] == ("neutral", wrong)


def test_a_number_of_players_that_base_does_not_have(games: Games) -> None:
    five = copy.deepcopy(games[0]) | {"id": "five"}
    five["vp"].append(five["vp"][0])
    report = play.Report()
    play.play_all([five], report)
    assert report.differences == [("five", "set-up: not base: 5 players, ours 2 to 4")]


def test_the_command_fails_where_something_differs(
    games: Games, table: Table, tmp_path: Any, capsys: Any, monkeypatch: Any
) -> None:
    """A recorded offer that we do not have is enough."""
    game = copy.deepcopy(games[0])
    step = next(step for step in game["steps"] if step["op"] and "up" in step["op"])
    step["op"]["up"].remove("eco")
    path = tmp_path / "games.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps(game) + "\n")
    monkeypatch.setattr(play, "Table", lambda *_: table)
    monkeypatch.setattr("sys.argv", ["play", str(path)])
    assert play.main() == 1
    out = capsys.readouterr().out
    assert "offered: not offered, ours advance economy" in out
    assert out.splitlines()[-1].endswith("differences 1")


@pytest.fixture(scope="module")
def at_the_start(table: Table, games: Games) -> Any:
    """Call `look(position)` before the first decision; player 0 has the brainstone."""

    def play_none(look: Any, game: dict[str, Any] = games[0]) -> None:
        def script(lane: int) -> Any:
            look(Position(table, lane))
            yield from ()

        table.play([table.read(setup_of(game, table.env.ruleset))], script)

    return play_none


def test_a_wasted_payment_takes_the_brainstone(at_the_start: Any) -> None:
    cases = [
        ("1pw", [0, 0, 2, 0], (2, [1, 0, 1, 0])),
        ("3pw", [0, 0, 2, 0], (0, [0, 0, 2, 0])),
        ("4pw", [0, 0, 2, 0], (0, [1, 0, 1, 0])),
        ("1pw", [0, 0, 0, 0], (0, [0, 0, 0, 0])),
    ]

    def look(position: Position) -> None:
        for price, tokens, after in cases:
            brainstone.write(position, 0, 2, tokens)
            layouts.pay(position, price, 0)
            assert brainstone_and_tokens(position.state.game, 0) == after

    at_the_start(look)


def test_the_brainstone_and_a_token_change_places(at_the_start: Any) -> None:
    """Its place before and after, the recorded place, and the tokens that follow from it."""
    cases = [
        ((0, [3, 0, 0, 0]), (1, [3, 0, 0, 0]), 0, (0, [2, 1, 0, 0])),  # charged
        ((0, [1, 3, 1, 0]), (0, [0, 0, 0, 0]), -1, (-1, [0, 0, 1, 0])),  # discarded
        ((1, [4, 6, 0, 0]), (1, [0, 4, 0, 6]), 3, (3, [0, 5, 0, 5])),  # a project
        ((0, [3, 0, 0, 0]), (1, [3, 0, 0, 0]), 1, (1, [3, 0, 0, 0])),  # already there
    ]

    def look(position: Position) -> None:
        for was, now, place, after in cases:
            brainstone.write(position, 0, *was)
            before = position.state.game
            brainstone.write(position, 0, *now)
            assert brainstone.place_brainstone(position, before, 0, place) == (now != after)
            assert brainstone_and_tokens(position.state.game, 0) == after
        with pytest.raises(MismatchError):  # no token in III to change places with
            brainstone.place_brainstone(position, before, 0, 2)

    at_the_start(look)


def with_players(position: Position, **fields: Any) -> None:
    """Write the fields of player 0."""
    state = position.state
    players = state.game.players
    for name, value in fields.items():
        row = np.array(getattr(players, name))
        row[0] = value
        players = players.replace(**{name: row})
    position.set_state(state.replace(game=state.game.replace(players=players)))


def test_the_used_special_of_a_covered_tile_is_not_told(at_the_start: Any) -> None:
    def look(position: Position) -> None:
        ids = position.rules.ids
        tile, special = ids["tile"].index(CHARGE_4), ids["special"].index(CHARGE_4)
        with_players(position, tiles=1 << tile, used=1 << special)
        assert compare.specials(position, position.state.game, 0) == {CHARGE_4}
        with_players(position, covered=1 << tile)
        assert compare.specials(position, position.state.game, 0) == set()

    at_the_start(look)


def with_factions(game: dict[str, Any], *names: str) -> dict[str, Any]:
    """The set-up of a game with other factions for the first players."""
    changed = copy.deepcopy(game)
    changed["steps"] = [step for step in changed["steps"] if step["s"] is None]
    for number, name in enumerate(names):
        changed["steps"][number]["l"] = f"p{number + 1} faction {name}"
    return changed


def test_gleens_full_of_ore_gain_nothing_for_power(at_the_start: Any, games: Games) -> None:
    """Without the QIC academy their QIC is ore (GLE-01), and that has no room (FRE-03)."""
    game = with_factions(games[0], "gleens")

    def look(position: Position) -> None:
        resources = np.array(position.state.game.players.resources[0])
        resources[1] = 15
        with_players(position, resources=resources, power=[0, 0, 4])
        assert list(Player(position, game).spend("4pw", "1q")) == []
        assert position.state.game.players.power[0].tolist() == [4, 0, 0]
        assert position.state.game.players.resources[0].tolist() == resources.tolist()
        with_players(position, power=[0, 0, 4], built=[0, 0, 0, 0, 0, 0, 1])
        with pytest.raises(MismatchError) as difference:  # with it, a conversion of ours
            list(Player(position, game).spend("4pw", "1q"))
        assert difference.value.args[1] == "free P4_to_Q"

    at_the_start(look, game)


def test_only_nevlas_with_the_institute_pay_4_for_an_ore(at_the_start: Any, games: Games) -> None:
    game = with_factions(games[0], "nevlas", "xenos")

    def look(position: Position) -> None:
        for institutes, reason in ((0, "price"), (1, "legal START")):
            with_players(position, power=[0, 0, 4], built=[0, 0, 0, 0, institutes, 0, 0])
            with pytest.raises(MismatchError) as difference:
                list(Player(position, game).spend("4pw", "1o"))
            assert difference.value.args[0] == reason

    at_the_start(look, game)


def test_nevlas_with_the_institute_lose_tokens_not_credits(at_the_start: Any, games: Games) -> None:
    """Power turned into credits that have no room: a token for two of them (ACT-07)."""
    game = with_factions(games[0], "nevlas", "xenos")

    def look(position: Position) -> None:
        for price, spent in (("4pw", 2), ("3pw", 2), ("1pw", 1)):
            with_players(position, resources=[30, 0, 0, 0], power=[0, 0, 4])
            with_players(position, built=[0, 0, 0, 0, 1, 0, 0])
            assert list(Player(position, game).spend(price, price.replace("pw", "c"))) == []
            assert position.state.game.players.power[0].tolist() == [spent, 0, 4 - spent]

    at_the_start(look, game)


def test_a_satellite_keeps_away_from_other_federations(at_the_start: Any) -> None:
    """FED-04, FED-05; the Hive, player 3, extends its own (FED-15)."""

    def look(position: Position) -> None:
        state = position.state
        geometry, board = position.rules.geometry, state.game.board
        empty = np.asarray(board.planet) == position.rules.ids["planet"].index("Empty")
        middle = next(
            cell
            for cell in np.flatnonzero(empty)
            if (geometry.neighbors[cell] >= 0).all() and not empty[geometry.neighbors[cell]].all()
        )
        around = geometry.neighbors[middle].tolist()
        planet = next(cell for cell in around if not empty[cell])
        bits = np.zeros_like(board.federation_bits)
        bits[planet] = (16 << 0) | (16 << 3)
        game = state.game.replace(board=board.replace(federation_bits=bits))
        far = next(c for c in around if c not in neighbours(position, {planet}) | {planet})
        with pytest.raises(MismatchError, match="next to another federation"):
            layouts.check_satellites(position, game, 0, {far}, {int(middle)})
        layouts.check_satellites(position, game, 3, {far}, {int(middle)})
        with pytest.raises(MismatchError, match="no empty space"):
            layouts.check_satellites(position, game, 3, {far}, {int(middle), planet})
        with pytest.raises(MismatchError, match="not connected"):
            layouts.check_satellites(position, state.game, 0, {far, planet}, set())

    at_the_start(look)


def test_the_brainstone_is_turned_before_an_action_that_asks_for_its_target(
    at_the_start: Any, games: Games, monkeypatch: Any
) -> None:
    """`free brainstone` is legal only before the action; logs name its place after the target."""
    calls = []

    def record_call(position: Position, player: int, command: list[str], place: int | None) -> bool:
        calls.append((command, place))
        return True

    monkeypatch.setattr(player_module, "wants_other_way", record_call)
    project = ["build", "gf", "1A0"]

    def look(position: Position) -> None:
        rest = [["special", "range+3"], project, ["brainstone", "area1"]]
        with pytest.raises(MismatchError, match="free brainstone"):
            list(Player(position, games[0]).next_command(0, rest))
        assert calls == [(project, 0)]

    at_the_start(look)

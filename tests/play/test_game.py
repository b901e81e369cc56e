"""A game at the table without its server: settings, whole federations, conversions, the end.

The tests follow a recorded game; the engine provides the expected results.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.env import State
from gaia_jax.render import Table, effects
from gaia_jax.render.names import STRUCTURES
from tests.render.records import RECORDS

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from training.analysis.action_words import cell_of, words_with_place
from training.play import conversions, lookahead, settings
from training.play.compiled_rules import Rules
from training.play.game import HUMAN, Game, Refused
from training.play.game_json import _with_warnings, end_summary
from training.play.settings import Settings

NONE = Settings()
TAKES_ALL = Settings("always", 20, True, True, True)


@pytest.fixture(scope="module")
def game() -> Game:
    """`docs/records/lost_fleet.json` with four people, at its end."""
    record = replay.read(RECORDS["lost_fleet"])
    rules = Rules(record.ruleset)
    rules.prepare()
    step = rules.step.__wrapped__  # type: ignore[attr-defined]
    programs = step._cache_size()
    played = Game("0", rules, rules.read_setup(record.setup), [HUMAN] * 4)
    for text in record.actions:
        played.play(text)
    # What was prepared is what takes the actions: nothing is compiled a second time.
    assert step._cache_size() == programs
    return played


def at(game: Game, *nodes: str) -> list[int]:
    """The positions of the line where one of these nodes is open."""
    return [id for id in game.line if game.view(id).node in nodes and not game.view(id).over]


def settings_choice(game: Game, id: int, chosen: Settings) -> str | None:
    """What a setting would play at a position."""
    game.now = id
    choice = settings._choice(game, chosen)
    return choice[0] if choice else None


def structure_at(table: Table, text: str) -> str:
    """The id of the structure on the cell of an action."""
    return table.ids["structure"][table.map.structure[cell_of(table, text)]]


def legal(game: Game, id: int) -> list[str]:
    return game.rules.legal(game.nodes[id].state)


def begins_turn(game: Game, id: int) -> bool:
    """Whether a turn begins at a position: no conversion of it led there."""
    return game.view(id).node == "TURN" and not game.nodes[id].text.startswith("free")


def test_a_start_place_says_where_it_lies(game: Game) -> None:
    """As one sees it: a greater r is higher in the picture, a greater 2q + r further right."""
    for id in at(game, "START"):
        table = game.view(id)
        positions, places = [], list[str]()
        for text in legal(game, id):
            words = words_with_place(table, text)
            match = re.search(r"\), (top|middle|bottom) (left|centre|right) of the map", words)
            assert match, words
            q, r = map(int, text.split()[1].split(","))
            positions.append((match, r, 2 * q + r))
            places.append(words.partition(": ")[2])
        assert len(set(places)) == len(places), "each place has words of its own"
        order = {"top": 2, "middle": 1, "bottom": 0, "left": 0, "centre": 1, "right": 2}
        for (place, high, wide), (other, lower, narrower) in itertools.permutations(positions, 2):
            assert order[place[1]] >= order[other[1]] or high < lower
            assert order[place[2]] >= order[other[2]] or wide < narrower


def test_start_places_of_many_games_have_words_of_their_own(game: Game) -> None:
    """Two of a kind in one ninth of the map are the left one and the right one, or the like."""
    rules, suffixes = game.rules, set[str]()
    for seed in range(12):
        state = rules.start(rules.draw(seed))
        table = rules.table(state)
        places = {words_with_place(table, text).partition(": ")[2] for text in rules.legal(state)}
        assert len(places) == len(rules.legal(state)), places
        suffixes |= {place.partition("of the map")[2] for place in places}
    assert {", the left one", ", the right one"} <= suffixes, suffixes


def test_a_turn_ends_by_itself_unless_room_is_short_and_a_conversion_makes_some(game: Game) -> None:
    ends = at(game, "AFTER")
    assert len(ends) > 30
    idle: list[bool] = []
    short: list[bool] = []
    for id in ends[::3]:
        assert settings_choice(game, id, NONE) is None
        assert settings_choice(game, id, Settings("always")) == "end_turn"
        before = game.view(id)
        rooms = [
            game.rules.table(
                game.rules.after(game.nodes[id].state, game.rules.index(text))
            ).power_room(before.player)
            for text in legal(game, id)
            if text.startswith("free")
        ]
        room, built = before.power_room(before.player), before.seat(before.player).built
        offer = (
            3
            if built["PI"] + built["AC_A"] + built["AC_B"]
            else 2 - (built["TS"] + built["RL"] == 0)
        )
        start = max(k for k in game.path(id)[:-1] if begins_turn(game, k))
        before_it = game.view(start).power_room(before.player)
        person_decides = max(rooms) > room and room < offer <= before_it
        short.append(room < offer)
        expected = None if person_decides else "end_turn"
        assert settings_choice(game, id, Settings("idle")) == expected
        idle.append(not person_decides)
    assert 0 < sum(idle) < len(idle), "both happen in this game"
    assert 0 < sum(short) < len(idle) / 2, "most turns end without a question"


def test_power_is_taken_up_to_a_price_that_the_engine_names(game: Game) -> None:
    offers = at(game, "LEECH")
    assert len(offers) > 10
    prices = set()
    for id in offers:
        after = game.rules.after(game.nodes[id].state, game.rules.index("leech CHARGE"))
        before, player = game.view(id), game.view(id).player
        price = before.seat(player).vp - game.rules.table(after).seat(player).vp
        prices.add(price)
        assert settings_choice(game, id, NONE) is None
        assert settings_choice(game, id, Settings(take_power=price)) == "leech CHARGE"
        assert settings_choice(game, id, Settings(take_power=price - 1)) is None
        declined = settings_choice(game, id, Settings(take_power=price - 1, decline_rest=True))
        assert declined == ("leech DECLINE" if price else None)
        last = before.round == 6 and before.seat(player).passed > 0
        after_pass = settings_choice(game, id, Settings(take_power=price, decline_last=True))
        assert after_pass == ("leech DECLINE" if last and price else "leech CHARGE")
    assert len(prices) > 1


def test_only_the_only_choice_is_taken(game: Game) -> None:
    single = [id for id in game.line[:-1] if len(legal(game, id)) == 1]
    assert single
    for id in single:
        assert settings_choice(game, id, Settings(only_choice=True)) == legal(game, id)[0]
    several = at(game, "TURN", "TILE", "START")
    several = [id for id in several if len(legal(game, id)) > 1]
    assert several and all(settings_choice(game, id, TAKES_ALL) is None for id in several)


def test_what_a_setting_did_is_marked_and_taken_back_with_ones_own_move(game: Game) -> None:
    position = next(
        before for before, id in zip(game.line, game.line[1:], strict=False)
        if game.view(before).node == "TURN" and game.view(id).node == "AFTER"
        and game.view(game.line[game.line.index(id) + 1]).player != game.view(id).player
    )  # fmt: skip
    played = game.nodes[game.line[game.line.index(position) + 1]].text
    own = Game("1", game.rules, game.setup, [HUMAN] * 4)
    for id in game.path(position)[1:]:
        own.play(game.nodes[id].text)
    start = own.now
    own.play(played)
    settings.carry_out(own, [Settings("always")] * 4)
    rows = own.move_rows(own.line)
    assert [row["by"] for row in rows[-2:]] == ["", "end-turn"]
    assert own.view().player != own.view(start).player
    own.back()
    assert own.now == start, "the setting's decision is no stop of its own"
    settings.carry_out(own, [Settings("always")] * 4)
    assert own.now == start, "nor is it made again where one looks back"
    # The same move again is followed by the setting, and by no move that was taken back.
    ended, later = own.line[-1], own.rules.legal(own.nodes[own.line[-1]].state)[0]
    own.resume(ended)
    own.play(later)
    own.back()
    own.back()
    own.play(played)
    settings.carry_out(own, [Settings("always")] * 4)
    assert own.now == own.line[-1] == ended and len(own.nodes[ended].children) == 1
    own.back()
    assert own.now == start and own.nodes[own.line[-1]].text == later, "what was played is kept"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"end_turn": "never"}, "end_turn must be one of"),
        ({"end_turn": 1}, "end_turn cannot be 1"),
        ({"take_power": 21}, "take_power must be from -1 to 20"),
        ({"take_power": True}, "take_power cannot be True"),
        ({"colour": "red"}, "known are end_turn"),
        ([], "an object is required"),
    ],
)
def test_settings_that_are_none_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        Settings.read(wrong)
    assert Settings.read({"take_power": 3}) == replace(NONE, take_power=3)


def test_a_new_browser_has_settings_that_the_server_takes() -> None:
    text = (Path(settings.__file__).parent / "static/settings.js").read_text()
    defaults = re.search(r"const DEFAULTS = (\{.*?\});", text, re.S)
    of_page = re.search(r"const OF_PAGE = (\[.*?\]);", text)
    assert defaults and of_page
    values = json.loads(re.sub(r"(\w+):", r'"\1":', defaults[1]))
    own = {key: value for key, value in values.items() if key not in json.loads(of_page[1])}
    assert Settings.read(own).only_choice


def test_a_federation_is_one_choice(game: Game) -> None:
    """The recorded federation is listed; each listed one forms with the listed satellites."""
    formed = [k for k, id in enumerate(game.line) if game.nodes[id].text == "form_federation"]
    assert len(formed) > 2
    for k in formed[:4]:
        before = game.line[k - 1]
        state = game.nodes[before].state
        options = lookahead.federations(game.rules, state)
        texts = [game.nodes[id].text for id in game.line[k:]]
        picks = next(n for n, text in enumerate(texts[1:]) if not text.startswith("pick"))
        action_sets = {frozenset(option["actions"]) for option in options}
        assert frozenset(texts[: picks + 1]) in action_sets
        assert len(action_sets) == len(options), "each once"
        for option in options[:4]:
            pieces = sum(int(text.split()[0]) for text in option["pieces"].split(", "))
            assert pieces == len(option["cells"]) and "nothing" not in option["pieces"]
            for kind in option["pieces"].split(", "):
                assert kind.endswith("s") == (int(kind.split()[0]) > 1), kind
            own = Game("2", game.rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all(option["actions"])
            table = own.view()
            assert table.node != "FEDERATION"
            assert option["power"] >= 6, "the Xenos with a PI need 6, all others 7"
            player = own.view(0).player
            laid = table.seat(player).satellites - own.view(0).seat(player).satellites
            assert laid == len(option["satellites"])
            own.back()
            assert own.now == 0, "one choice, taken back as one"
    assert lookahead.federations(game.rules, game.nodes[0].state) == []


@pytest.mark.slow
def test_a_move_of_two_decisions_is_one_choice(game: Game) -> None:
    """The recorded ones are listed; each that is listed is legal, with the price that is paid."""
    rules = game.rules
    game.now = at(game, "TURN")[3]
    if not rules.prices_ready:
        assert lookahead.two_step_moves(rules, game.nodes[game.now].state) == []
        rules.prepare_prices()
    ends = [k for k, id in enumerate(game.line) if game.view(id).node in lookahead.TWO_STEPS]
    recorded = [
        (game.line[k - 1], [game.nodes[id].text for id in game.line[k : k + 2]]) for k in ends
    ]
    assert {texts[0].split()[0] for _, texts in recorded} >= {"upgrade", "special"}
    left_out = 0
    for before, texts in recorded[:: len(recorded) // 6]:
        state = game.nodes[before].state
        options = lookahead.two_step_moves(rules, state)
        assert texts in [option["actions"] for option in options]
        for first in (text for text in rules.legal(state) if not text.startswith("booster")):
            after_first = rules.after(state, rules.index(first))
            half = rules.table(after_first).node in lookahead.TWO_STEPS
            listed = [option["actions"][1] for option in options if option["actions"][0] == first]
            assert set(listed) <= set(rules.legal(after_first) if half else [])
            for text in set(rules.legal(after_first) if half else []) - set(listed):
                # A mine that costs more than the plain one, and is no other one.
                dear = rules.table(rules.after(after_first, rules.index(text)))
                plain = rules.index(f"mine {text.split()[1]}")
                cheap = rules.table(rules.after(state, plain))
                me = rules.table(state).player
                assert dear.seat(me).built == cheap.seat(me).built
                assert stock(dear.seat(me)) < stock(cheap.seat(me))
                left_out += 1
        for option in options[:3]:
            own = Game("4", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all(option["actions"])
            paid = effects(own.view(0), own.view()).brief(option["words"])
            assert option["effects"] == paid and not paid.get("then", "").startswith("not paid")
            assert option["cell"] in " ".join(option["actions"])
            own.back()
            assert own.now == 0, "one choice, taken back as one"
    assert left_out, "some power or special action is for nothing somewhere"
    assert lookahead.two_step_moves(rules, game.nodes[0].state) == []


def stock(seat: Any) -> int:
    """The number of a player's resources."""
    return int(seat.credits + seat.ore + seat.knowledge + seat.qic + seat.power[2])


def test_the_last_pass_says_what_is_left_and_what_conversions_would_bring(game: Game) -> None:
    """The VP are those that the game gave in the end; conversions score more once played."""
    rules, num_better = game.rules, 0
    end = game.view(game.line[-1])
    last = [id for id in at(game, "TURN") if "pass" in legal(game, id)]
    assert last and all(game.view(id).round == 6 for id in last)
    passed = {game.nodes[id].parent for id in game.line if game.nodes[id].text == "pass"}
    for id in last:
        state, player = game.nodes[id].state, game.view(id).player
        option = conversions.left_over(rules, state)
        now = vp_left(option)
        if id in passed:
            assert now == end.seat(player).vp_source["RESOURCES"]
        if "actions" not in option:
            continue
        own = Game("6", rules, game.setup, [HUMAN] * 4)
        own.nodes[0].state = state
        *free_actions, text = option["actions"]
        assert text == "pass" and all(action.startswith("free ") for action in free_actions)
        assert all(rules.action_words(action) in option["words"] for action in free_actions), (
            "each in words"
        )
        own.play_all(free_actions)
        after_conversions = conversions.left_over(rules, own.nodes[own.now].state)
        then = vp_left(after_conversions)
        assert "actions" not in after_conversions and then > now
        assert option["more"].startswith(f"{then - now} VP more")
        num_better += 1
    assert num_better, "somebody has power left"
    other = next(id for id in at(game, "TURN") if game.view(id).round == 3)
    assert conversions.left_over(rules, game.nodes[other].state) == {}


def vp_left(option: dict[str, Any]) -> int:
    match = re.search(r"left: (\d+) VP", option["text"])
    assert match
    return int(match[1])


def test_an_income_is_taken_by_itself_where_its_order_is_the_same(game: Game) -> None:
    """Whatever order: the same. Where it is asked, two orders come to something else."""
    rules, num_automatic, num_decided = game.rules, 0, 0
    orders = [id for id in at(game, "INCOME") if len(legal(game, id)) > 1]
    assert orders
    for id in orders:
        player, state = game.view(id).player, game.nodes[id].state
        for bowls in (None, (9, 0, 0)):  # the tokens of bowl I are more than what is charged
            own = Game("7", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state if bowls is None else with_power(state, player, bowls)
            action = settings_choice(own, 0, Settings(only_choice=True))
            ends = set(all_ends(rules, own.nodes[0].state, player))
            assert (action is None) == (len(ends) > 1)
            num_automatic += action is not None
            num_decided += action is None
    assert num_automatic and num_decided, (num_automatic, num_decided)


def with_power(state: State, player: int, bowls: tuple[int, int, int]) -> State:
    """A state in which a player has these tokens in the bowls."""
    players = state.game.players.edit()
    power = np.array(players.power)
    power[player] = bowls
    packed = jax.device_get(players.replace(power=power).pack())
    return state.replace(game=state.game.replace(players=packed))  # type: ignore[no-any-return]


def all_ends(rules: Rules, state: Any, player: int) -> Iterator[tuple[int, ...]]:
    """What a player holds after each order of an income."""
    for text in rules.legal(state):
        after = rules.after(state, rules.index(text))
        table = rules.table(after)
        if table.node == "INCOME" and table.player == player:
            yield from all_ends(rules, after, player)
        else:
            seat = table.seat(player)
            yield (*seat.power, seat.brainstone, seat.gaia_power, seat.ore, seat.credits)


@pytest.mark.slow
def test_a_tile_and_the_track_of_its_step_are_one_choice(game: Game) -> None:
    rules, seen = game.rules, 0
    rules.prepare_prices()
    for id in at(game, "TILE")[::3]:
        state = game.nodes[id].state
        options_by_tile = lookahead.tracks(rules, state)
        for text in rules.legal(state):
            after_tile = rules.after(state, rules.index(text))
            steps = rules.legal(after_tile) if rules.table(after_tile).node == "STEP" else []
            listed = [option["actions"] for option in options_by_tile.get(text, [])]
            assert listed == [[text, step] for step in steps if step != "skip"]
        for options in options_by_tile.values():
            own = Game("8", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all(options[-1]["actions"])
            paid = effects(own.view(0), own.view()).brief(
                rules.action_words(options[-1]["actions"][0])
            )
            assert options[-1]["effects"] == paid
            seen += 1
    assert seen
    assert lookahead.tracks(rules, game.nodes[0].state) == {}


def test_several_actions_are_taken_all_or_none(game: Game) -> None:
    own = Game("3", game.rules, game.setup, [HUMAN] * 4)
    first = own.rules.legal(own.nodes[0].state)[0]
    with pytest.raises(Refused, match="another player's|not legal"):
        own.play_all([first, "end_turn"])
    assert own.now == 0
    own.play(first)
    own.back()
    line, count = own.line, len(own.nodes)
    with pytest.raises(Refused, match="another player's|not legal"):
        own.play_all([first, "end_turn"])
    assert own.now == 0 and own.line == line, "what was taken back is still in view"
    assert len(own.nodes) == count and own.nodes[0].children == [1]


def test_an_upgrade_names_its_structure_once(game: Game) -> None:
    named = [
        (words_with_place(game.view(id), text), STRUCTURES[kind])
        for id in at(game, "TURN")
        for text in legal(game, id)
        if text.startswith("upgrade")
        for kind in [structure_at(game.view(id), text)]
    ]
    assert named and all(words.count(structure) == 1 for words, structure in named)


def test_what_conversions_make_possible(game: Game) -> None:
    """Each is not legal now and is after its conversions; nothing that one makes possible lacks."""
    turns = at(game, "TURN")
    sampled_turns = turns[5 :: len(turns) // 8]
    rules, several = game.rules, 0
    for id in sampled_turns:
        state = game.nodes[id].state
        options = conversions.reached(rules, state)
        for option in options[:6]:
            position = state
            assert option["text"] not in rules.legal(state) and option["first"]
            for text in option["first"]:
                assert text in rules.legal(position) and text.startswith("free ")
                position = rules.after(position, rules.index(text))
            assert option["text"] in rules.legal(position)
            several += len(option["first"]) > 1
        for text in rules.legal(state):
            if text.startswith("free "):
                opened = set(rules.legal(rules.after(state, rules.index(text))))
                new = {x for x in opened - set(rules.legal(state)) if not x.startswith("free ")}
                assert new <= {option["text"] for option in options}
    assert several, "also what takes two conversions and more"
    assert conversions.reached(rules, game.nodes[0].state) == []


def test_a_conversion_is_made_several_times_by_one_choice(game: Game) -> None:
    rules, max_repeats = game.rules, 0
    for id in at(game, "TURN", "AFTER")[::9]:
        state = game.nodes[id].state
        repeats_by_action = conversions.repeats(rules, state)
        free_actions = [text for text in rules.legal(state) if text.startswith("free ")]
        assert set(repeats_by_action) <= set(free_actions)
        for text in free_actions:
            listed = repeats_by_action.get(text, [])
            assert [option["actions"] for option in listed] == [
                [text] * times for times in range(2, len(listed) + 2)
            ]
            own = Game("5", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all([text] * (len(listed) + 1))
            if listed:
                paid = effects(own.view(0), own.view()).brief()
                assert listed[-1]["effects"] == paid
            if len(listed) < 3:
                assert text not in rules.legal(own.nodes[own.now].state)
            max_repeats = max(max_repeats, len(listed))
    assert max_repeats == 3, "up to four times"
    assert conversions.repeats(rules, game.nodes[0].state) == {}


def test_the_end_of_a_game(game: Game) -> None:
    game.now = game.line[-1]
    summary, vp = end_summary(game, game.now), [seat.vp for seat in game.view().seats]
    numbers = [row["round"] for row in summary["rounds"]]
    assert numbers == [0, 0, *range(1, 7), 0]
    assert summary["rounds"][-1]["vp"] == vp
    assert all(a < b for a, b in zip(summary["rounds"][-2]["vp"], vp, strict=True))
    assert summary["places"] == [1 + sorted(vp, reverse=True).index(own) for own in vp]
    gains = [move["gain"] for move in summary["best"]]
    assert gains == sorted(gains, reverse=True) and gains[0] >= 10
    for move in summary["best"]:
        before = game.nodes[move["node"]].parent
        player = move["player"]
        assert game.view(before).player == player
        change = game.view(move["node"]).seat(player).vp - game.view(before).seat(player).vp
        assert change == move["gain"] or game.view(move["node"]).over
        assert not move["words"].startswith(("choose ", "cover ")), "what it is of comes first"


def test_a_game_is_one_file(game: Game, tmp_path: Any) -> None:
    game.now = game.line[-1]
    replay.write(tmp_path / "game.json", game.record(["Anna", ""]))
    record = replay.read(tmp_path / "game.json")
    assert record.players == ("Anna", *("a person",) * 3)
    assert record.actions == replay.read(RECORDS["lost_fleet"]).actions
    assert replay.play(record).terminated


def test_a_project_of_the_last_round_says_that_it_is_too_late() -> None:
    for number, notes in ((5, []), (6, ["this is the last round: the project is never completed"])):
        table: Any = SimpleNamespace(round=number)
        assert _with_warnings(table, "project 1,2", {}).get("notes", []) == notes

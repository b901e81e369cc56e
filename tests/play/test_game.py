"""A game at the table without its server: settings, whole federations, conversions, the end.

All of it is asked along a recorded game; the engine says what was right.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.env import State
from gaia_jax.render import effects
from tests.render.records import RECORDS

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from training.play import conversions, endings, lookahead, settings
from training.play.compiled_rules import Rules
from training.play.game import HUMAN, Game, Refused
from training.play.settings import Settings

NONE = Settings()
TAKES_ALL = Settings("always", 20, True, True, True)


@pytest.fixture(scope="module")
def game() -> Game:
    """`docs/records/lost_fleet.json` with four people, at its end."""
    record = replay.read(RECORDS["lost_fleet"])
    rules = Rules(record.ruleset)
    rules.prepare()
    programs = rules.step._cache_size()  # type: ignore[attr-defined]
    found = Game("0", rules, rules.read_setup(record.setup), [HUMAN] * 4)
    for text in record.actions:
        found.play(text)
    # What was prepared is what takes the actions: nothing is compiled a second time.
    assert rules.step._cache_size() == programs  # type: ignore[attr-defined]
    return found


def at(game: Game, *nodes: str) -> list[int]:
    """The positions of the line where one of these nodes is open."""
    return [id for id in game.line if game.table(id).node in nodes and not game.table(id).over]


def made(game: Game, id: int, chosen: Settings) -> str | None:
    """What a setting would play at a position."""
    game.now = id
    found = settings._choice(game, chosen)
    return found[0] if found else None


def legal(game: Game, id: int) -> list[str]:
    return game.rules.legal(game.nodes[id].state)


def began(game: Game, id: int) -> bool:
    """Whether a turn begins at a position: no conversion of it led there."""
    return game.table(id).node == "TURN" and not game.nodes[id].text.startswith("free")


def test_a_start_place_says_where_it_lies(game: Game) -> None:
    """As one sees it: a greater r is higher in the picture, a greater 2q + r further right."""
    for id in at(game, "START"):
        table, rules = game.table(id), game.rules
        found, places = [], list[str]()
        for text in legal(game, id):
            said = lookahead.in_words(rules, table, text)
            where = re.search(r"\), (top|middle|bottom) (left|centre|right) of the map", said)
            assert where, said
            q, r = map(int, text.split()[1].split(","))
            found.append((where, r, 2 * q + r))
            places.append(said.partition(": ")[2])
        assert len(set(places)) == len(places), "each place has words of its own"
        order = {"top": 2, "middle": 1, "bottom": 0, "left": 0, "centre": 1, "right": 2}
        for (one, high, wide), (other, lower, less) in itertools.permutations(found, 2):
            assert order[one[1]] >= order[other[1]] or high < lower
            assert order[one[2]] >= order[other[2]] or wide < less


def test_start_places_of_many_games_have_words_of_their_own(game: Game) -> None:
    """Two of a kind in one ninth of the map are the left one and the right one, or the like."""
    rules, told = game.rules, set[str]()
    for seed in range(12):
        state = rules.start(rules.draw(seed))
        table = rules.table(state)
        said = {
            lookahead.in_words(rules, table, text).partition(": ")[2] for text in rules.legal(state)
        }
        assert len(said) == len(rules.legal(state)), said
        told |= {one.partition("of the map")[2] for one in said}
    assert {", the left one", ", the right one"} <= told, told


def test_a_turn_ends_by_itself_unless_room_is_short_and_a_conversion_makes_some(game: Game) -> None:
    ends = at(game, "AFTER")
    assert len(ends) > 30
    idle: list[bool] = []
    short: list[bool] = []
    for id in ends[::3]:
        assert made(game, id, NONE) is None
        assert made(game, id, Settings("always")) == "end_turn"
        before = game.table(id)
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
        start = max(k for k in game.path(id)[:-1] if began(game, k))
        before_it = game.table(start).power_room(before.player)
        asked = max(rooms) > room and room < offer <= before_it
        short.append(room < offer)
        assert made(game, id, Settings("idle")) == (None if asked else "end_turn")
        idle.append(not asked)
    assert 0 < sum(idle) < len(idle), "both happen in this game"
    assert 0 < sum(short) < len(idle) / 2, "most turns end without a question"


def test_power_is_taken_up_to_a_price_that_the_engine_names(game: Game) -> None:
    offers = at(game, "LEECH")
    assert len(offers) > 10
    prices = set()
    for id in offers:
        after = game.rules.after(game.nodes[id].state, game.rules.index("leech CHARGE"))
        before, player = game.table(id), game.table(id).player
        price = before.seat(player).vp - game.rules.table(after).seat(player).vp
        prices.add(price)
        assert made(game, id, NONE) is None
        assert made(game, id, Settings(take_power=price)) == "leech CHARGE"
        assert made(game, id, Settings(take_power=price - 1)) is None
        declined = made(game, id, Settings(take_power=price - 1, decline_rest=True))
        assert declined == ("leech DECLINE" if price else None)
        last = before.round == 6 and before.seat(player).passed > 0
        after_pass = made(game, id, Settings(take_power=price, decline_last=True))
        assert after_pass == ("leech DECLINE" if last and price else "leech CHARGE")
    assert len(prices) > 1


def test_only_the_only_choice_is_taken(game: Game) -> None:
    single = [id for id in game.line[:-1] if len(legal(game, id)) == 1]
    assert single
    for id in single:
        assert made(game, id, Settings(only_choice=True)) == legal(game, id)[0]
    several = at(game, "TURN", "TILE", "START")
    several = [id for id in several if len(legal(game, id)) > 1]
    assert several and all(made(game, id, TAKES_ALL) is None for id in several)


def test_what_a_setting_did_is_marked_and_taken_back_with_ones_own_move(game: Game) -> None:
    here = next(
        before for before, id in zip(game.line, game.line[1:], strict=False)
        if game.table(before).node == "TURN" and game.table(id).node == "AFTER"
        and game.table(game.line[game.line.index(id) + 1]).player != game.table(id).player
    )  # fmt: skip
    played = game.nodes[game.line[game.line.index(here) + 1]].text
    own = Game("1", game.rules, game.setup, [HUMAN] * 4)
    for id in game.path(here)[1:]:
        own.play(game.nodes[id].text)
    start = own.now
    own.play(played)
    settings.carry_out(own, Settings("always"))
    rows = own.move_rows()
    assert [row["by"] for row in rows[-2:]] == ["", "ends the turn"]
    assert own.table().player != own.table(start).player
    own.back()
    assert own.now == start, "the setting's decision is no stop of its own"
    settings.carry_out(own, Settings("always"))
    assert own.now == start, "nor is it made again where one looks back"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"end_turn": "never"}, "end_turn must be one of"),
        ({"end_turn": 1}, "end_turn cannot be 1"),
        ({"take_power": 21}, "take_power must be from -1 to 20"),
        ({"take_power": True}, "take_power cannot be True"),
        ({"colour": "red"}, "known are end_turn"),
        ([], "an object is wanted"),
    ],
)
def test_settings_that_are_none_are_refused(wrong: Any, said: str) -> None:
    with pytest.raises(Refused, match=said):
        Settings.read(wrong)
    assert Settings.read({"take_power": 3}) == replace(NONE, take_power=3)


def test_a_federation_is_one_choice(game: Game) -> None:
    """The recorded one is listed; each that is listed is formed, and lies as it was shown."""
    formed = [k for k, id in enumerate(game.line) if game.nodes[id].text == "form_federation"]
    assert len(formed) > 2
    for k in formed[:4]:
        before = game.line[k - 1]
        state = game.nodes[before].state
        found = lookahead.federations(game.rules, state)
        texts = [game.nodes[id].text for id in game.line[k:]]
        picks = next(n for n, text in enumerate(texts[1:]) if not text.startswith("pick"))
        known = {frozenset(one["actions"]) for one in found}
        assert frozenset(texts[: picks + 1]) in known
        assert len(known) == len(found), "each once"
        for one in found[:4]:
            pieces = sum(int(text.split()[0]) for text in one["pieces"].split(", "))
            assert pieces == len(one["cells"]) and "nothing" not in one["pieces"]
            for kind in one["pieces"].split(", "):
                assert kind.endswith("s") == (int(kind.split()[0]) > 1), kind
            own = Game("2", game.rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all(one["actions"])
            table = own.table()
            assert table.node != "FEDERATION"
            assert one["power"] >= 6, "the Xenos with a PI need 6, all others 7"
            player = own.table(0).player
            laid = table.seat(player).satellites - own.table(0).seat(player).satellites
            assert laid == len(one["satellites"])
            own.back()
            assert own.now == 0, "one choice, taken back as one"
    assert lookahead.federations(game.rules, game.nodes[0].state) == []


@pytest.mark.slow
def test_a_move_of_two_decisions_is_one_choice(game: Game) -> None:
    """The recorded ones are listed; each that is listed is legal, with the price that is paid."""
    rules = game.rules
    game.now = at(game, "TURN")[3]
    if not rules.prices_ready:
        assert lookahead.ways(rules, game.nodes[game.now].state) == []
        rules.prepare_prices()
    ends = [k for k, id in enumerate(game.line) if game.table(id).node in lookahead.TWO_STEPS]
    recorded = [
        (game.line[k - 1], [game.nodes[id].text for id in game.line[k : k + 2]]) for k in ends
    ]
    assert {texts[0].split()[0] for _, texts in recorded} >= {"upgrade", "special"}
    left_out = 0
    for before, texts in recorded[:: len(recorded) // 6]:
        state = game.nodes[before].state
        found = lookahead.ways(rules, state)
        assert texts in [one["actions"] for one in found]
        for first in (text for text in rules.legal(state) if not text.startswith("booster")):
            here = rules.after(state, rules.index(first))
            half = rules.table(here).node in lookahead.TWO_STEPS
            listed = [one["actions"][1] for one in found if one["actions"][0] == first]
            assert set(listed) <= set(rules.legal(here) if half else [])
            for text in set(rules.legal(here) if half else []) - set(listed):
                # A mine that costs more than the plain one, and is no other one.
                dear = rules.table(rules.after(here, rules.index(text)))
                plain = rules.index(f"mine {text.split()[1]}")
                cheap = rules.table(rules.after(state, plain))
                me = rules.table(state).player
                assert dear.seat(me).built == cheap.seat(me).built
                assert stock(dear.seat(me)) < stock(cheap.seat(me))
                left_out += 1
        for one in found[:3]:
            own = Game("4", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all(one["actions"])
            paid = effects(own.table(0), own.table()).brief(one["words"])
            assert one["effects"] == paid and not paid.get("then", "").startswith("not paid")
            assert one["cell"] in " ".join(one["actions"])
            own.back()
            assert own.now == 0, "one choice, taken back as one"
    assert left_out, "some power or special action is for nothing somewhere"
    assert lookahead.ways(rules, game.nodes[0].state) == []


def stock(seat: Any) -> int:
    """All that a player holds, whatever it is worth."""
    return int(seat.credits + seat.ore + seat.knowledge + seat.qic + seat.power[2])


def test_the_last_pass_says_what_is_left_and_what_conversions_would_bring(game: Game) -> None:
    """The VP are those that the game gave in the end; conversions score more once played."""
    rules, more = game.rules, 0
    end = game.table(game.line[-1])
    last = [id for id in at(game, "TURN") if "pass" in legal(game, id)]
    assert last and all(game.table(id).round == 6 for id in last)
    passed = {game.nodes[id].parent for id in game.line if game.nodes[id].text == "pass"}
    for id in last:
        state, player = game.nodes[id].state, game.table(id).player
        found = conversions.left_over(rules, state)
        now = vp_left(found)
        if id in passed:
            assert now == end.seat(player).vp_source["RESOURCES"]
        if "actions" not in found:
            continue
        own = Game("6", rules, game.setup, [HUMAN] * 4)
        own.nodes[0].state = state
        *free_actions, text = found["actions"]
        assert text == "pass" and all(one.startswith("free ") for one in free_actions)
        assert all(rules.say(one) in found["words"] for one in free_actions), "each in words"
        own.play_all(free_actions)
        again = conversions.left_over(rules, own.nodes[own.now].state)
        then = vp_left(again)
        assert "actions" not in again and found["more"].startswith(f"{then - now} VP more")
        assert then > now
        more += 1
    assert more, "somebody has power left"
    other = next(id for id in at(game, "TURN") if game.table(id).round == 3)
    assert conversions.left_over(rules, game.nodes[other].state) == {}


def vp_left(found: dict[str, Any]) -> int:
    said = re.search(r"left: (\d+) VP", found["said"])
    assert said
    return int(said[1])


def test_an_income_is_taken_by_itself_where_its_order_is_the_same(game: Game) -> None:
    """Whatever order: the same. Where it is asked, two orders come to something else."""
    rules, taken, asked = game.rules, 0, 0
    orders = [id for id in at(game, "INCOME") if len(legal(game, id)) > 1]
    assert orders
    for id in orders:
        player, state = game.table(id).player, game.nodes[id].state
        for bowls in (None, (9, 0, 0)):  # the tokens of bowl I are more than what is charged
            own = Game("7", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state if bowls is None else with_power(state, player, bowls)
            found = made(own, 0, Settings(only_choice=True))
            ends = set(all_ends(rules, own.nodes[0].state, player))
            assert (found is None) == (len(ends) > 1)
            taken += found is not None
            asked += found is None
    assert taken and asked, (taken, asked)


def with_power(state: State, player: int, bowls: tuple[int, int, int]) -> State:
    """A state in which a player has so many tokens in the bowls."""
    players = state.game.players.edit()
    power = np.array(players.power)
    power[player] = bowls
    found = jax.device_get(players.replace(power=power).pack())
    return state.replace(game=state.game.replace(players=found))  # type: ignore[no-any-return]


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
        found = lookahead.tracks(rules, state)
        for text in rules.legal(state):
            here = rules.after(state, rules.index(text))
            steps = rules.legal(here) if rules.table(here).node == "STEP" else []
            listed = [one["actions"] for one in found.get(text, [])]
            assert listed == [[text, step] for step in steps if step != "skip"]
        for some in found.values():
            own = Game("8", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all(some[-1]["actions"])
            paid = effects(own.table(0), own.table()).brief(rules.say(some[-1]["actions"][0]))
            assert some[-1]["effects"] == paid
            seen += 1
    assert seen
    assert lookahead.tracks(rules, game.nodes[0].state) == {}


def test_several_actions_are_taken_all_or_none(game: Game) -> None:
    own = Game("3", game.rules, game.setup, [HUMAN] * 4)
    first = own.rules.legal(own.nodes[0].state)[0]
    with pytest.raises(Refused, match="another player's|not legal"):
        own.play_all([first, "end_turn"])
    assert own.now == 0


def test_what_conversions_make_possible(game: Game) -> None:
    """Each is not legal now and is after its conversions; nothing that one makes possible lacks."""
    turns = at(game, "TURN")
    some = turns[5 :: len(turns) // 8]
    rules, several = game.rules, 0
    for id in some:
        state = game.nodes[id].state
        found = lookahead.reached(rules, state)
        for one in found[:6]:
            here = state
            assert one["text"] not in rules.legal(state) and one["first"]
            for text in one["first"]:
                assert text in rules.legal(here) and text.startswith("free ")
                here = rules.after(here, rules.index(text))
            assert one["text"] in rules.legal(here)
            several += len(one["first"]) > 1
        for text in rules.legal(state):
            if text.startswith("free "):
                opened = set(rules.legal(rules.after(state, rules.index(text))))
                new = {x for x in opened - set(rules.legal(state)) if not x.startswith("free ")}
                assert new <= {one["text"] for one in found}
    assert several, "also what takes two conversions and more"
    assert lookahead.reached(rules, game.nodes[0].state) == []


def test_a_conversion_is_made_several_times_by_one_choice(game: Game) -> None:
    rules, most = game.rules, 0
    for id in at(game, "TURN", "AFTER")[::9]:
        state = game.nodes[id].state
        found = lookahead.repeats(rules, state)
        assert set(found) <= {text for text in rules.legal(state) if text.startswith("free ")}
        for text in (text for text in rules.legal(state) if text.startswith("free ")):
            listed = found.get(text, [])
            assert [one["actions"] for one in listed] == [
                [text] * times for times in range(2, len(listed) + 2)
            ]
            own = Game("5", rules, game.setup, [HUMAN] * 4)
            own.nodes[0].state = state
            own.play_all([text] * (len(listed) + 1))
            if listed:
                paid = effects(own.table(0), own.table()).brief()
                assert listed[-1]["effects"] == paid
            if len(listed) < 3:
                assert text not in rules.legal(own.nodes[own.now].state)
            most = max(most, len(listed))
    assert most == 3, "up to four times"
    assert lookahead.repeats(rules, game.nodes[0].state) == {}


def test_the_end_of_a_game(game: Game) -> None:
    game.now = game.line[-1]
    found, vp = endings.ending(game), [seat.vp for seat in game.table().seats]
    names = [row["name"] for row in found["rounds"]]
    assert names == ["Start", "Set-up", *(f"Round {n}" for n in range(1, 7)), "Final scoring"]
    assert found["rounds"][-1]["vp"] == vp
    assert all(a < b for a, b in zip(found["rounds"][-2]["vp"], vp, strict=True))
    assert found["places"] == [1 + sorted(vp, reverse=True).index(own) for own in vp]
    gains = [one["gain"] for one in found["best"]]
    assert gains == sorted(gains, reverse=True) and gains[0] >= 10
    for one in found["best"]:
        before = game.nodes[one["node"]].parent
        player = one["player"]
        assert game.table(before).player == player
        change = game.table(one["node"]).seat(player).vp - game.table(before).seat(player).vp
        assert change == one["gain"] or game.table(one["node"]).over
        assert not one["words"].startswith(("choose ", "cover ")), "what it is of comes first"


def test_a_game_is_one_file(game: Game, tmp_path: Any) -> None:
    game.now = game.line[-1]
    (tmp_path / "game.json").write_text(endings.record(game))
    found = replay.read(tmp_path / "game.json")
    assert found.players == ("a person",) * 4
    assert found.actions == replay.read(RECORDS["lost_fleet"]).actions
    assert replay.play(found).terminated

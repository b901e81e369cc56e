"""The solo game at the table: the form, the Automa's turns in the log, its row, the end."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests import measures
from tests.browser import Watched
from tests.play.page import MINE
from tests.play.player import Player
from tests.play.server import Server

FORM = {
    "ruleset": "base",
    "seats": ["you"],
    "seed": 4,
    "automa": "ultoma",
    "automa_faction": "TAKLONS",
    "factions": ["HADSCH_HALLAS"],
}
# Passes come first: a game of few decisions, in which the Automa takes all its turns.
SHORTEST = ("booster", "pass", "end_turn", "leech DECLINE")


def choice(legal: list[dict[str, Any]]) -> str:
    """A legal action that ends a turn or a round if there is one, else the first."""
    texts = [str(action["text"]) for action in legal]
    return next((text for text in texts if text.startswith(SHORTEST)), texts[0])


@pytest.fixture(scope="module")
def whole_game(server: Server) -> dict[str, Any]:
    """A solo game at its end."""
    id = server.new_game(**FORM)
    game = server.request("GET", f"/api/games/{id}")[1]
    while not game["over"]:
        game = server.change(id, "act", action=choice(game["legal"]))
    return dict(game)


def test_the_form_offers_one_player_five_levels_and_seven_factions(server: Server) -> None:
    rulesets = server.request("GET", "/api/offers?brief=1")[1]["rulesets"]
    base = next(entry for entry in rulesets if entry["id"] == "base")
    assert base["players"][0] == 1
    names = [level["name"] for level in base["automa"]["levels"]]
    assert names == ["Automalein", "Automa", "Automachtig", "Ultoma", "Alptrauma"]
    assert base["automa"]["level"] == "automachtig" and len(base["automa"]["factions"]) == 7


@pytest.mark.parametrize(
    ("changes", "human", "opponent"),
    [
        ({}, "HADSCH_HALLAS", "TAKLONS"),
        ({"factions": ["AMBAS"], "automa_faction": ""}, "AMBAS", None),
        ({"factions": None, "automa_faction": "ITARS"}, None, "ITARS"),
    ],
)
def test_chosen_factions_and_level_are_dealt(
    server: Server, changes: dict[str, Any], human: str | None, opponent: str | None
) -> None:
    form = {key: value for key, value in (FORM | changes).items() if value is not None}
    status, data, text = server.request("POST", "/api/preview", form)
    assert status == 200, text
    setup = data["setup"]
    assert {*setup["automa"]} == {"level", "faction"}, "no card shows before the game"
    assert setup["automa"]["level"] == "ultoma" and data["advice"]["refusal"] == ""
    assert human in (None, *setup["factions"])
    assert opponent in (None, setup["automa"]["faction"])
    assert len(data["seats"]) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"automa": "easy"}, "unknown level 'easy'"),
        ({"automa_faction": "IVITS"}, "'IVITS' is none of"),
        ({"automa_faction": "TAKLONS", "factions": ["AMBAS"]}, "share a board"),
        ({"seats": []}, "from one to four names are required"),
    ],
)
def test_broken_forms_are_refused(server: Server, changes: dict[str, Any], message: str) -> None:
    status, _, text = server.request("POST", "/api/preview", FORM | changes)
    assert status == 400 and message in text


def test_the_automa_has_a_seat_that_nobody_takes(
    server: Server, whole_game: dict[str, Any]
) -> None:
    assert [seat["who"] for seat in whole_game["seats"]] == ["you", "the Automa"]
    assert whole_game["advised"]
    status, _, text = server.request(
        "POST", f"/api/games/{whole_game['id']}/seat", {"player": 1, "who": "random"}
    )
    assert status == 400 and "there is no player 1" in text


def test_the_log_has_every_turn_of_the_automa(whole_game: dict[str, Any]) -> None:
    turns = [turn for move in whole_game["moves"] for turn in move["automa"]]
    vp = sum(turn["vp"] for turn in turns)
    final = dict(
        zip((s["name"] for s in whole_game["sources"]), whole_game["by_source"][1], strict=True)
    )
    assert vp == final["faction, cards of the Automa"] + final["round tiles"]
    passes = [turn for turn in turns if turn["moves"][0]["words"].endswith(": pass")]
    assert [turn["round"] for turn in passes] == [1, 2, 3, 4, 5, 6]
    round_turns = [turn for turn in turns if turn["round"]]
    assert all(turn["moves"][0]["words"].startswith(("card ", "no card")) for turn in round_turns)
    mines = [
        row for turn in round_turns for row in turn["moves"] if row["text"].startswith("mine ")
    ]
    assert mines and all("planet" in row["words"] for row in mines)
    assert any(detail["chosen"] for turn in round_turns for detail in turn["details"])
    # What the human decides has the human's gains alone.
    assert not any("Taklons" in move["effects_text"] for move in whole_game["moves"])


def test_the_row_of_boosters_has_its_order(server: Server, whole_game: dict[str, Any]) -> None:
    """The booster given back last is the right one (AUT-28): by place the Automa takes the next."""
    path, passes = f"/api/games/{whole_game['id']}?since=1", 0
    boosters: list[str] = ["", ""]
    for node in whole_game["line"]:
        parts = server.request("GET", f"{path}&at={node}")[1]["parts"]
        before, boosters = boosters, [booster_of(json.dumps(parts[f"seat-{p}"])) for p in (0, 1)]
        given = [old for old, new in zip(before, boosters, strict=True) if old and old != new]
        if given:
            row = re.findall(r'data-of="(RB\d+)"', parts["boosters"]["boosters"])
            assert len(row) == 3 and row[-1] == given[-1]
            passes += 1
    assert passes >= 5


def booster_of(board: str) -> str:
    """The booster on a board, as JSON; "" for none."""
    match = re.search(r'data-of=\\"(RB\d+)', board)
    return match[1] if match else ""


def test_the_end_names_the_winner(whole_game: dict[str, Any]) -> None:
    human, opponent = (seat["vp"] for seat in whole_game["seats"])
    verdict = whole_game["end"]["verdict"]
    assert ("win" if human > opponent else "lose") in verdict and "Ultoma" in verdict
    assert f"{abs(human - opponent)} VP" in verdict
    assert whole_game["end"]["places"] == ([1, 2] if human > opponent else [2, 1])


def test_the_log_ends_with_the_final_scoring_of_both(
    tab: Watched, server: Server, whole_game: dict[str, Any]
) -> None:
    tab.page.goto(f"{server.home}#{whole_game['id']}")
    tab.until("document.querySelectorAll('#moves > li').length > 1")
    last = tab.page.locator("#moves > li").last
    gains = [int(n) for n in re.findall(r"\+(\d+) VP", last.text_content())]
    assert gains == [sum(vp[-4:]) for vp in whole_game["by_source"]]


def test_a_solo_game_is_saved_and_opened_again(server: Server, whole_game: dict[str, Any]) -> None:
    id = whole_game["id"]
    saved = server.request("POST", f"/api/games/{id}/save", {"name": "solo"})[1]
    record = json.loads((server.saves / f"{saved['name']}.json").read_text())
    assert record["setup"]["automa"]["level"] == "ultoma" and len(record["final_vp"]) == 2
    reopened = server.new_game(record=saved["name"], seats=["you"])
    opened = server.request("GET", f"/api/games/{reopened}")[1]
    assert [move["automa"] for move in opened["moves"]] == [
        move["automa"] for move in whole_game["moves"]
    ]
    page = server.request("GET", f"/api/games/{id}/file/replay.html")
    assert page[0] == 200 and "<!-- a game of gaia_jax -->" in page[2]
    rematch = server.request("GET", f"/api/games/{server.new_game(again=id)}")[1]
    assert [seat["name"] for seat in rematch["seats"]] == [s["name"] for s in opened["seats"]]


def test_the_board_shows_the_cards_and_no_resources(server: Server) -> None:
    id = server.new_game(**FORM)
    game = server.request("GET", f"/api/games/{id}")[1]
    while not any(turn["round"] for move in game["moves"] for turn in move["automa"]):
        game = server.change(id, "act", action=choice(game["legal"]))
    rest = game["parts"]["seat-1"]["seat-1-rest"]
    assert "level: Ultoma" in rest and "decision cards left in this round: " in rest
    assert "credits-1" not in json.dumps(game["parts"]) and "credits-0" in json.dumps(game["parts"])


@pytest.mark.parametrize("device", ["mouse", "touch"])
def test_the_automas_turns_by_mouse_and_on_a_phone(
    browser: Any, server: Server, device: str
) -> None:
    touched = device == "touch"
    size = (390, 844) if touched else (1280, 800)
    tab = Watched(browser, *size, has_touch=touched, is_mobile=touched)
    page, player = tab.page, Player(tab, device, 5)
    page.goto(f"{server.home}#seed=4&ruleset=base&players=1&factions=HADSCH_HALLAS")
    tab.until("document.querySelectorAll('#automa-faction option').length > 1")
    page.select_option("#automa-level", "automa")
    page.select_option("#automa-faction", "TAKLONS")
    tab.until("!document.getElementById('advice').hidden")
    player.press("#begin")
    tab.until(MINE, 300)
    while not page.evaluate("game.moves.some(({ automa }) => automa.some(({ round }) => round))"):
        node = page.evaluate("game.node")
        player.decide()
        tab.until(f"game.node !== {node}")
    assert not page.evaluate("document.getElementById('hint-panel').hidden")
    assert not page.is_visible("[data-tab='Analysis']"), "no agent values the Automa's seat"
    assert "card " in page.inner_text("#since")
    rules = page.locator("#rules summary").all_text_contents()
    assert {"The Automa", "Hadsch Hallas"} <= set(rules) and "Taklons" not in rules
    player.press(".tabs [data-tab='Log']")
    player.press("#moves details.automa:has-text('supports') summary")  # after its set-up
    assert "supports with range" in page.inner_text("#moves details.automa[open]")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()
    tab.check(server.home)


@pytest.mark.parametrize("size", [(390, 844), (844, 390)])
def test_no_button_of_a_phone_covers_a_planet(
    browser: Any, server: Server, whole_game: dict[str, Any], size: tuple[int, int]
) -> None:
    four = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=5)
    with measures.page_of(browser, size) as (tab, _):
        page = tab.page
        for game in (whole_game["id"], four):
            page.goto("about:blank")  # another game in the same page only changes the address
            page.goto(f"{server.home}#{game}")
            page.wait_for_selector(".zoom button")
            planets, buttons = (
                [item.bounding_box() for item in page.locator(selector).all()]
                for selector in (".stage [id^='planet-']", ".zoom button")
            )
            assert len(planets) > 20 and len(buttons) == 4
            for button in buttons:
                for planet in planets:
                    x, y = planet["x"] + planet["width"] / 2, planet["y"] + planet["height"] / 2
                    is_below = 0 < x - button["x"] < button["width"]
                    assert not (is_below and 0 < y - button["y"] < button["height"])

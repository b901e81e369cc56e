"""Before the game: what is offered, what would be dealt, who chooses a faction."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from gaia_jax.ruleset import LOST_FLEET, VARIANTS
from tests.browser import Watched
from tests.play.server import Server
from tests.render.records import RECORDS
from training.agents.levels import LEVELS
from training.play.catalogue import RULESETS_SHOWN, level, rulesets
from training.play.game import Refused
from training.play.setups import with_factions

DEALT = ["TERRANS", "XENOS", "TAKLONS", "ITARS"]


def test_the_form_has_the_typeface_and_the_emblems_of_the_factions(
    tab: Watched, server: Server
) -> None:
    tab.page.goto(f"{server.home}#seed=5&ruleset=lost_fleet")
    tab.page.wait_for_selector("#preview svg")
    tab.until("[...document.fonts].every(({ status }) => status === 'loaded')")
    assert f"{server.home}static/inter.woff2" in tab.requests
    drawn = """all => all.map(use => use.getAttribute("href"))
        .filter(id => document.querySelector(`symbol${id}`))"""
    tab.until("document.querySelectorAll('.chair .disc').length === 4")
    assert len(set(tab.page.eval_on_selector_all(".chair .disc use", drawn))) == 4


def test_a_chosen_faction_is_had_and_what_was_dealt_goes_to_who_had_it() -> None:
    pairs = dict(LOST_FLEET.faction_boards)
    other = pairs.get("TERRANS") or next(a for a, b in pairs.items() if b == "TERRANS")
    swapped = with_factions(DEALT, ["", "TERRANS", "", ""], LOST_FLEET)
    assert swapped == ["XENOS", "TERRANS", "TAKLONS", "ITARS"]
    side = with_factions(DEALT, ["", "", "", other], LOST_FLEET)
    assert side == ["ITARS", "XENOS", "TAKLONS", other], "the board of seat 0 is needed"
    assert with_factions(DEALT, [""] * 4, LOST_FLEET) == DEALT
    free = next(
        id for id in LOST_FLEET.ids["faction"]
        if not {id, *(x for pair in LOST_FLEET.faction_boards if id in pair for x in pair)}
        & set(DEALT)
    )  # fmt: skip
    assert with_factions(DEALT, [free, "", "", ""], LOST_FLEET) == [free, *DEALT[1:]]
    for wrong, message in (
        (["TERRANS", other, "", ""], "share a board"),
        (["TERRANS", "TERRANS", "", ""], "share a board"),
        (["MARTIANS", "", "", ""], "unknown faction 'MARTIANS'"),
        ([""] * 3, "a list of 4"),
        ("TERRANS", "a list of 4"),
    ):
        with pytest.raises(Refused, match=message):
            with_factions(DEALT, wrong, LOST_FLEET)


def test_every_choice_of_four_is_a_set_up() -> None:
    """Any choices from any deal give four factions of four boards."""
    ids = LOST_FLEET.ids["faction"]
    boards = {id: n for n, pair in enumerate(LOST_FLEET.faction_boards) for id in pair}
    for first in ids:
        for second in ids:
            if boards[first] == boards[second]:
                continue
            factions = with_factions(DEALT, ["", first, "", second], LOST_FLEET)
            assert factions[1] == first and factions[3] == second
            assert len({boards[id] for id in factions}) == 4, factions


def test_a_game_that_comes_late_keeps_its_address(tab: Watched, server: Server) -> None:
    """The set-up of the form is looked at meanwhile, which has an address too."""
    page, held_routes = tab.page, list[Any]()
    game = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=3)
    page.route(f"**/api/games/{game}", lambda route: held_routes.append(route))
    page.goto(f"{server.home}#{game}")
    tab.until("offers && offers.records.length > 0 && previews > 0")
    before = page.evaluate("previews")
    page.select_option("#record", "")
    tab.until(f"previews > {before}")
    held_routes[0].continue_()
    tab.until("game")
    assert page.evaluate("location.hash") == f"#{game}"


def test_what_is_offered_is_said_in_words() -> None:
    by_id = {ruleset["id"]: ruleset for ruleset in rulesets()}
    assert set(by_id) == set(RULESETS_SHOWN) == {id for id, _ in VARIANTS}
    printed = by_id["base"]["players"], by_id["lost_fleet_published"]["players"]
    assert printed == ([1, 2, 3, 4], [1, 2, 3, 4]) and by_id["lost_fleet"]["players"] == [4]
    assert len(by_id["lost_fleet"]["factions"]) == 18
    assert level("zoo/quick").name == "beginner" and level("zoo/clone").name == ""
    assert level("zoo/strong").vp == LEVELS[3].vp and " VP" in level("zoo/clone").about
    assert level("runs/mine") == ("", "runs/mine", "", None)


def test_a_preview_is_what_is_then_dealt(server: Server) -> None:
    form: dict[str, Any] = {"ruleset": "lost_fleet", "seats": ["you"] * 4, "seed": 8}
    status, plain, text = server.request("POST", "/api/preview", form)
    assert status == 200, text
    assert "block-map" in plain["picture"]["map"] and len(plain["setup"]["final_missions"]) == 2
    dealt = plain["setup"]["factions"]
    form["factions"] = ["", dealt[0], "", ""]
    changed = server.request("POST", "/api/preview", form)[1]
    assert changed["setup"]["factions"] == [dealt[1], dealt[0], *dealt[2:]]
    assert changed["setup"] | {"factions": 0} == plain["setup"] | {"factions": 0}
    game = server.request("GET", f"/api/games/{server.new_game(**form)}")[1]
    assert [seat["name"] for seat in game["seats"]] == [seat["name"] for seat in changed["seats"]]
    for wrong in ({"seed": -1}, {"factions": ["MARTIANS", "", "", ""]}, {"ruleset": "chess"}):
        assert server.request("POST", "/api/preview", form | wrong)[0] == 400


def test_shipped_records_are_offered_and_not_written_over(server: Server) -> None:
    offered = server.request("GET", "/api/offers")[1]["records"]
    shipped = [record for record in offered if record["name"].startswith("Shipped: ")]
    assert {record["ruleset"] for record in shipped} == set(RULESETS_SHOWN)
    id = server.new_game(seats=["you"] * 4, record="Shipped: lost_fleet")
    game = server.request("GET", f"/api/games/{id}")[1]
    assert game["name"] == "lost_fleet" and len(game["line"]) > 200
    for bad in ("Shipped: ../../README", "Shipped: nothing", "Shipped: "):
        assert server.request("POST", "/api/games", {"seats": ["you"] * 4, "record": bad})[0] == 400


def test_the_form_shows_what_would_be_dealt_and_a_link_holds_it(
    tab: Watched, server: Server
) -> None:
    page = tab.page
    page.goto(server.home)
    tab.until("document.querySelectorAll('#faction-3 option').length > 1")
    page.select_option("#record", "")
    seeds = []
    for _ in range(2):
        tab.until("document.querySelector('#preview svg')", 120)
        tab.until("location.hash.includes('seed=')")
        seeds.append(page.input_value("#seed"))
        page.click("#dice")
        tab.until("location.hash.includes(`seed=${document.getElementById('seed').value}`)")
    assert seeds[0] != seeds[1]
    page.fill("#seed", "8")
    for player in (1, 2, 3):
        page.select_option(f"#chair-{player}", "random")
    page.select_option("#faction-0", "TERRANS")
    offered = page.locator("#faction-1 option").evaluate_all("all => all.map(one => one.value)")
    assert "TERRANS" not in offered and "LANTIDS" not in offered, "two sides of one board"
    tab.until("location.hash === '#seed=8&ruleset=lost_fleet&factions=TERRANS%2C%2C%2C'")
    tab.until("document.querySelector('#faction-1 option').textContent.startsWith('dealt: ')", 60)
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    tab.until("document.querySelectorAll('#faction-3 option').length > 1")
    assert page.input_value("#seed") == "8" and page.input_value("#faction-0") == "TERRANS"
    for player in (1, 2, 3):
        page.select_option(f"#chair-{player}", "random")
    page.select_option("#record", "")
    page.click("#begin")
    tab.until("game && game.seats[0].name === 'Terrans'", 60)
    assert page.inner_html("#preview") == "", "one picture at a time"


def test_seats_have_one_number_and_a_game_is_gone_on_with(tab: Watched, server: Server) -> None:
    """On form, table and pieces; boosters by what they do; a game under way is offered."""
    page = tab.page
    id = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=5)
    game = server.request("GET", f"/api/games/{id}")[1]
    games = server.request("GET", "/api/offers?brief=1")[1]["games"]
    assert games[0]["id"] == id, "before its first move too"
    while game["asks"] != "BOOSTER":
        game = server.change(id, "act", action=game["legal"][0]["text"])
    page.goto(f"{server.home}#{id}")
    tab.until("game && game.legal.length > 0")
    discs = page.locator("#seats .disc").all_text_contents()
    pieces = page.locator(".stage [id^='part-'] text").all_text_contents()
    assert discs == ["1", "2", "3", "4"] and set(discs) <= set(pieces), "as on the map"
    assert page.locator("#view-of option").first.text_content().startswith("1 ")
    words = page.locator("#legal .words").all_inner_texts()
    assert len(words) == len(game["legal"]) > 3 and not any("booster" in text for text in words)
    assert len({text.split(" (")[0] for text in words}) == len(words), "the difference comes first"
    first, last = (page.locator(f"#welcome button >> nth={n}").bounding_box() for n in (0, 1))
    assert first["y"] == last["y"], "the first look is offered in one line"
    page.evaluate("location.hash = ''")
    tab.until("!document.getElementById('under-way').hidden")
    labels = page.locator(".chair:not([hidden]) label").all_inner_texts()
    assert labels == [f"Player {number}" for number in range(1, 5)]
    page.click(f"#under-way a[href='#{id}']")
    tab.until(f"game && game.id === '{id}' && game.asks === 'BOOSTER'")


def test_a_form_between_two_rulesets_is_not_dealt(tab: Watched, server: Server) -> None:
    """Its two seats were asked for with a ruleset for four, where the offers came late."""
    page = tab.page
    page.goto(f"{server.home}#seed=3&ruleset=base&players=2")
    tab.until("offers && offers.records.length > 0")
    page.select_option("#record", "")
    tab.hold("/api/")
    page.select_option("#ruleset", "lost_fleet")
    page.evaluate("pause(2 * PREVIEW_AFTER)")
    assert page.is_disabled("#begin"), "the game cannot start either"
    tab.release()
    tab.until("document.querySelectorAll('#faction-0 option').length === 19")
    assert not page.is_disabled("#begin")
    assert page.evaluate("seatsNow().length") == 4
    tab.until("heldBack.length > 0 && /[1-9] s/.test(byId('preview').textContent)")
    tab.release()
    tab.until("document.querySelector('#preview svg')")


def test_an_answer_for_the_previous_ruleset_does_not_start_a_game(
    tab: Watched, server: Server
) -> None:
    """The offers asked for earlier arrived while those of the ruleset now chosen were awaited."""
    page = tab.page
    page.goto(f"{server.home}#seed=3&ruleset=base&players=2")
    tab.until("offers && offers.records.length > 0 && !byId('begin').disabled")
    page.select_option("#record", "")
    tab.hold("/api/offers")
    page.evaluate("void loadOffers()")
    page.select_option("#ruleset", "lost_fleet")
    tab.until("heldBack.length === 2")
    with tab.answered("/api/offers"):
        page.evaluate("heldBack.shift()()")
    assert page.is_disabled("#begin"), "the second answer is still awaited"
    tab.release()
    tab.until("!byId('begin').disabled && seatsNow().length === 4")


@pytest.mark.slow
def test_only_what_fits_is_offered(tab: Watched, server: Server) -> None:
    """Fewer than four in the base game alone, and who cannot play so is not listed."""
    page = tab.page
    page.goto(f"{server.home}#seed=3&ruleset=base&players=2")
    tab.until("document.querySelectorAll('#faction-1 option').length > 1")
    page.select_option("#record", "")
    values = "all => all.map(one => one.value)"
    assert page.input_value("#chair-2") == page.input_value("#chair-3") == ""
    assert page.is_hidden("#faction-2")
    two = page.locator("#chair-1 option").evaluate_all(values)
    assert "zoo/duel" in two and "zoo/strong" not in two and "" in two, "one player is possible"
    assert page.locator("#faction-0 option").count() == 15
    page.select_option("#ruleset", "lost_fleet")
    tab.until("document.querySelectorAll('#faction-0 option').length === 19")
    assert page.input_value("#chair-3") == "zoo/quick"
    named = page.locator("#chair-3 option").all_inner_texts()
    vp = [f"{level.name.capitalize()}, {int((level.vp or 0) + 0.5)} VP" for level in LEVELS[:3]]
    assert named[:4] == ["You", *vp]
    assert "" not in page.locator("#chair-3 option").evaluate_all(values)
    assert "18 factions" in page.inner_text("#ruleset-about")
    about = page.inner_text("#about-3")
    assert "network" in about and " VP" not in about, "its VP are only in the list"


def test_default_opponents_fit_the_number_of_players(tab: Watched, server: Server) -> None:
    """A learned agent for two or three; an agent that somebody has chosen stays."""
    page = tab.page
    page.goto(f"{server.home}#seed=3&ruleset=base")
    tab.until("offers && offers.records.length > 0 && byId('chair-3').options.length > 1")
    page.select_option("#record", "")
    page.select_option("#chair-3", "")
    assert page.input_value("#chair-1") == page.input_value("#chair-2") == "zoo/trio"
    page.select_option("#chair-2", "")
    assert page.input_value("#chair-1") == "zoo/duel"
    page.select_option("#chair-1", "random")
    page.select_option("#chair-2", "random")
    page.select_option("#chair-2", "")
    assert page.input_value("#chair-1") == "random"


def test_a_record_is_offered_the_agents_of_its_ruleset(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.home}#seed=3&ruleset=base")
    tab.until("offers && offers.records.length > 0 && byId('chair-3').options.length > 1")
    page.select_option("#record", "Shipped: lost_fleet")
    values = page.locator("#chair-1 option").evaluate_all("all => all.map(one => one.value)")
    assert "zoo/strong" in values and "zoo/base" not in values


def test_a_new_form_asks_for_the_records_once(tab: Watched, server: Server) -> None:
    tab.page.goto(server.home)
    tab.until("offers && offers.records.length > 0")
    assert tab.requests.count(f"{server.home}api/offers") == 1


def test_every_game_under_way_is_offered(tab: Watched, server: Server) -> None:
    page = tab.page
    server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=5)
    page.goto(server.home)
    tab.until("offers && offers.games.length > 0 && !byId('under-way').hidden")
    for count in (9, 8):
        page.evaluate(f"offers.games = Array({count}).fill(offers.games[0]); fillUnderWay()")
        assert page.locator("#under-way a").count() == 8
        assert page.locator("#under-way-earlier a").count() == count - 8
        assert page.is_visible("#under-way-earlier") == (count > 8)


def test_an_error_of_a_file_ends_with_the_next_one(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(f"{server.home}#seed=3&ruleset=base")
    tab.until("offers && offers.records.length > 0")
    page.evaluate("byId('upload').closest('details').open = true")
    broken = {"name": "x.json", "mimeType": "application/json", "buffer": b"{"}
    page.set_input_files("#upload", broken)
    tab.until("byId('start-message').textContent === 'not valid JSON'")
    record = RECORDS["lost_fleet"].read_bytes()
    page.set_input_files("#upload", {**broken, "buffer": record})
    tab.until("byId('start-message').textContent === ''")


def test_the_seats_of_the_form_are_those_of_a_file_that_they_fit(
    tab: Watched, server: Server
) -> None:
    tab.page.goto(f"{server.home}#seed=3&ruleset=lost_fleet")
    tab.until("offers && offers.records.length > 0 && byId('chair-3').options.length > 1")
    tab.page.select_option("#record", "")
    tab.page.select_option("#chair-1", "zoo/strong")
    seats_for = "(record) => readUpload(new File([JSON.stringify(record)], 'x.json'))"
    seats_for += ".then(({ seats }) => seats || null)"
    four = ["TERRANS", "XENOS", "TAKLONS", "ITARS"]
    for ruleset, factions, fit in (
        ("lost_fleet", four, True), ("lost_fleet", four[:2], False), ("chess", four, False)
    ):  # fmt: skip
        record = {"ruleset": ruleset, "setup": {"factions": factions}}
        seats = tab.page.evaluate(seats_for, record)
        assert seats == (tab.page.evaluate("seatsNow()") if fit else None), record


@pytest.mark.slow  # compiles the rules for two
@pytest.mark.parametrize("kind", ["json", "jsonl.gz"])
def test_a_log_opens_as_it_is_downloaded(tab: Watched, server: Server, kind: str) -> None:
    page, data = tab.page, Path("docs/records/logs/two_players.json").read_bytes()
    if kind != "json":
        game = json.loads(data)
        for step in game["steps"]:
            step["s"] = {"map": ["x"] * 400}  # states, which make a log too long for a request
        data = gzip.compress(f"{json.dumps(game)}\n{json.dumps(game)}\n".encode())
    page.goto(f"{server.home}#seed=3&ruleset=base")
    tab.until("offers && offers.records.length > 0")
    page.evaluate("byId('upload').closest('details').open = true")
    file = {"name": f"game.{kind}", "mimeType": "application/octet-stream", "buffer": data}
    page.set_input_files("#upload", file)
    page.click("#begin")
    tab.until("game && game.seats.length === 2", 300)
    assert page.evaluate("[game.node, game.ended]") == [0, True]


def test_a_position_is_a_link(tab: Watched, server: Server) -> None:
    """It opens the game up to there as one of its own; the link has the whole game in it."""
    page = tab.page
    id = server.new_game(seats=["you"] * 4, record="Shipped: lost_fleet")
    page.goto(f"{server.home}#{id}")
    tab.until("game")
    page.evaluate("go(game.line[200])")
    tab.until("game.node === game.line[200]")
    before = page.evaluate("[game.player, game.asks, game.vp[200]]")
    page.click(".tabs [data-tab='Table']")
    page.click("#share-position")
    tab.until("byId('link').value.includes('#position=')")
    link = page.input_value("#link")
    assert len(link) < 8000 and page.is_visible("#link")
    page.goto("about:blank")
    page.goto(link)
    tab.until("game", 60)
    assert page.evaluate("game.id") != id
    assert page.evaluate("[game.player, game.asks, game.vp[200]]") == before
    assert page.evaluate("[game.line.length, game.node === game.now]") == [201, True]
    page.goto("about:blank")
    page.goto(link[:300])
    tab.until("!byId('begin').disabled && byId('chair-3').options.length > 1")
    assert page.inner_text("#start-message").startswith("this link is damaged")

"""The table in a real browser: a whole game by clicks, records, analysis, settings."""

from __future__ import annotations

from typing import Any

import pytest

from gaia_jax import replay
from tests.browser import Watched
from tests.play.page import MINE, PRICED, begin, go, press, show
from tests.play.server import Server

# A wide page and a narrow one.
both = pytest.mark.parametrize("width", [1280, pytest.param(800, marks=pytest.mark.slow)])


def choice(legal: list[str], turn: int) -> str:
    """A decision of a player who wants to be done: passes where that is possible, at times."""
    done = [t for t in legal if t.split()[0] in ("booster", "pass", "end_turn", "skip", "leech")]
    main = [t for t in legal if t.split()[0] != "free"]
    return done[-1] if done and turn % 3 else (main or legal)[turn % len(main or legal)]


@pytest.mark.slow
def test_a_whole_game_against_three_agents(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you", "random", "random", "random"))
    page, turn = tab.page, 0
    while True:
        tab.until(f"({MINE}) || game.over", 240)
        if page.evaluate("game.over"):
            break
        legal = page.evaluate("game.legal.map(a => a.text)")
        lit = page.locator(".stage .legal-cell")
        if turn < 2 and lit.count():
            # On the board itself: the click hits the planet above the cell, with its price shown.
            tab.until(PRICED, 300)
            node = page.evaluate("game.node")
            box = lit.first.bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            tab.until(f"game.node !== {node}")
        else:
            press(tab, choice(legal, turn))
        turn += 1
    assert turn > 10
    assert "Final score" in str(page.text_content("#block-head"))
    show(tab, "Table")
    page.fill("#save-name", "whole game")
    with tab.answered("/save"):
        page.click("#save")
    record = replay.read(server.saves / "whole game.json")
    state = replay.play(record)
    assert tuple(state.game.players.vp.tolist()) == record.final_vp
    assert len(record.actions) == page.evaluate("game.line.length - 1")


@both
def test_take_back_take_over_branch_and_cancel(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you", "you", "you", "you"))
    page = tab.page
    tab.until(MINE)
    first, second = page.evaluate("game.legal.slice(0, 2).map(a => a.text)")
    press(tab, first)
    page.click("#undo")
    tab.until("game.node === 0")
    press(tab, second)
    show(tab, "Log")
    assert page.locator(".moves li.branch").count() == 1, "the other first move is a branch"
    page.locator(".moves li.branch button").first.press("Enter")
    tab.until(f"game.moves[0].text === '{first}'")
    # Looking at a branch leaves the game where it is.
    show(tab, "Play")
    page.click("#present")
    tab.until(f"game.moves[0].text === '{second}'")
    # An agent takes over the player to move, until all play the set-up as agents.
    show(tab, "Table")
    seats = page.locator("#seats select")
    for player in range(4):
        seats.nth(player).select_option("random")
        tab.until(f"game.seats[{player}].who === 'random'")
    tab.until("game.line.length > 30", 240)
    # Quick agents may have ended the game before all seats are taken back; the page then shows the
    # end, and the lists are out of view.
    for player in range(4):
        page.evaluate(
            """player => {
              const list = document.querySelectorAll("#seats select")[player];
              list.value = "you";
              list.dispatchEvent(new Event("change"));
            }""",
            player,
        )
        tab.until(f"game.seats[{player}].who === 'you'")
    tab.until(f"({MINE}) || game.over")
    page.keyboard.press("Home")
    tab.until("game.node === 0")
    page.keyboard.press("End")
    tab.until("game.line.indexOf(game.node) === game.line.length - 1")


def test_a_half_made_move_is_shown_and_cancelled(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    modes = ("power PA_TF1", "power PA_TF2", "special RB13", "special RB11", "ship TWI_K")
    moves = page.evaluate("game.moves.map(m => m.text)")
    at = next(k for k, text in enumerate(moves) if text in modes)
    go(tab, at)
    press(tab, moves[at])
    page.wait_for_selector(".legal-cell, .legal-piece", state="attached")
    page.click("#cancel")  # once it can be
    tab.until("!game.half_made")
    assert page.evaluate("game.legal.map(a => a.text)").count(moves[at]) == 1


@both
def test_go_on_from_the_middle_of_a_record(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you", "random", "random", "random"), "lost_fleet")
    page = tab.page
    assert page.evaluate("game.line.length") > 200
    show_position(tab, 121)
    before = page.evaluate("game.line.length")
    show(tab, "Table")
    for player in range(4):
        page.locator("#seats select").nth(player).select_option("you")
        tab.until(f"game.seats[{player}].who === 'you'")
    legal = page.evaluate("game.legal.map(a => a.text)")
    played = page.evaluate("game.moves[121].text")
    press(tab, next(text for text in legal if text != played and text.split()[0] != "free"))
    assert page.evaluate("game.line.length") == 123 < before
    show(tab, "Log")
    assert page.locator(".moves li.branch").count() == 1
    page.locator(".moves li.branch button").first.click()
    tab.until(f"game.line.length === {before}")
    show(tab, "Table")
    page.select_option("#view-of", "2")
    assert page.is_visible(".own #block-seat-2")


def test_the_line_of_progress_ends_when_the_compiling_does(tab: Watched, server: Server) -> None:
    """Though it is a person's decision, and nothing else on the table moves."""
    begin(tab, server.home, ("you", "you", "you", "zoo/quick"))
    tab.until("game.progress.length === 0", 300)
    assert tab.page.evaluate("game.line.length") == 1
    assert tab.page.inner_text("#progress") == ""


def test_save_writes_the_whole_line(tab: Watched, server: Server) -> None:
    """A record opens at its first position; what is saved there is not nothing."""
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    record = replay.read(server.saves / "lost_fleet.json")
    for name, place in (("from 0", 0), ("from 100", 100)):
        if place:
            show_position(tab, place)
        show(tab, "Table")
        page.fill("#save-name", name)
        with tab.answered("/save"):
            page.click("#save")
        saved = replay.read(server.saves / f"{name}.json")
        assert saved.actions == record.actions and saved.final_vp == record.final_vp


@pytest.mark.slow
def test_only_ones_own_tiles_are_lit(tab: Watched, server: Server) -> None:
    """Tiles and tokens are taken from the supply, though others have the same ones."""
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    moves = replay.read(server.saves / "lost_fleet.json").actions
    places = [n for n, text in enumerate(moves) if text.split()[0] in ("tile", "token")]
    clicked = 0
    for place in [*places, moves.index("special FACTION")]:
        go(tab, place)
        lit = """one => { const board = one.closest('[id^="block-seat-"]');
          return board ? board.id : ''; }"""
        boards = page.evaluate(f"[...document.querySelectorAll('.legal-piece')].map({lit})")
        verb, own = moves[place].split()[0], f"block-seat-{page.evaluate('game.player')}"
        assert set(boards) <= {own, ""}, (place, boards)
        is_taking_tile = page.evaluate("game.asks") in ("TILE", "TOKEN")
        assert set(boards) == {"" if is_taking_tile else own} or verb == "special", (place, boards)
        # A click on another's piece of that name does nothing.
        others_tiles = page.locator(f'[id^="block-seat-"] [data-action="{moves[place]}"]')
        for piece in others_tiles.all():
            if piece.evaluate(lit) != own:
                piece.dispatch_event("click")
                clicked += 1
        assert page.evaluate("game.node") == page.evaluate(f"game.line[{place}]")
        assert page.evaluate("document.body.classList.contains('busy')") is False
    assert clicked > 5, "others have such tiles"


@pytest.mark.slow
@both
def test_a_record_opens_at_its_start_under_its_name(tab: Watched, server: Server) -> None:
    """Also after another game whose list was scrolled, and whose name is in the field."""
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    assert page.input_value("#save-name") == "lost_fleet"
    page.evaluate("go(game.line[game.line.length - 1])")
    tab.until("game.node === game.line[game.line.length - 1]")
    show(tab, "Log")
    assert page.evaluate("document.querySelector('.deck.play').scrollTop") > 100
    show(tab, "Table")
    page.fill("#save-name", "an old name")
    old = page.evaluate("game.id")
    page.click("#new")
    page.wait_for_selector("#start", state="visible")
    assert page.input_value("#record") == "", "what the last game went on from"
    page.select_option("#record", "lost_fleet")
    page.click("#begin")
    tab.until(f"game && game.id !== '{old}'", 120)
    assert page.evaluate("game.node") == 0
    show(tab, "Log")
    assert page.evaluate("document.querySelector('.deck.play').scrollTop") == 0
    show(tab, "Table")
    assert page.input_value("#save-name") == "lost_fleet"
    page.click("#new")
    page.wait_for_selector("#start", state="visible")
    page.click("#begin")
    tab.until("game && game.line.length === 1", 120)
    assert page.input_value("#save-name") == ""


def options(tab: Watched, selector: str) -> list[str]:
    """The values that a list offers."""
    values: list[str] = tab.page.evaluate(
        f"[...document.querySelectorAll('{selector} option')].map(o => o.value)"
    )
    return values


def test_agents_are_offered_for_as_many_as_they_play(tab: Watched, server: Server) -> None:
    page = tab.page
    page.goto(server.home)
    page.wait_for_selector("#chair-3", state="attached")
    tab.until("document.querySelectorAll('#chair-3 option').length > 0")
    for chair in range(4):
        offered = options(tab, f"#chair-{chair}")
        assert "zoo/strong" in offered and not {"zoo/duel", "zoo/base"} & set(offered)
    page.select_option("#record", "")
    page.select_option("#ruleset", "base")
    tab.until("[...document.querySelectorAll('#chair-3 option')].some(o => o.value === 'zoo/base')")
    assert page.inner_text("#chair-3 option[value='zoo/base']") == "Expert"
    assert page.inner_text("#chair-3 option[value='zoo/strong']") == "zoo/strong"
    page.select_option("#chair-3", "")
    page.select_option("#chair-2", "")
    assert "zoo/strong" not in options(tab, "#chair-0")
    page.select_option("#chair-1", "zoo/duel")
    page.select_option("#chair-2", "random")
    assert page.input_value("#chair-1") != "zoo/duel", "three play now"
    page.select_option("#chair-2", "")
    page.select_option("#chair-1", "zoo/duel")
    assert "zoo/duel" in options(tab, "#chair-0")
    # The seats of a game, and the analysts.
    game = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=6)
    page.goto(f"{server.home}#{game}")
    tab.until("game && document.querySelectorAll('#seats option').length > 0", 60)
    for selector in ("#seats", "#analyst"):
        assert not [name for name in options(tab, selector) if name.startswith("zoo/duel")]
        assert "zoo/strong" in options(tab, selector)


@pytest.mark.slow
def test_twenty_tabs(browser: Any, server: Server) -> None:
    game = server.new_game(ruleset="lost_fleet", seats=["you"] * 4, seed=3)
    tabs = [Watched(browser, 1280) for _ in range(20)]
    for tab in tabs:
        tab.page.goto(f"{server.home}#{game}")
    for tab in tabs:
        tab.until(MINE)
    text = tabs[0].page.evaluate("game.legal[0].text")
    press(tabs[0], text)
    for tab in tabs:
        tab.until("game.line.length === 2")
    for tab in tabs:
        tab.page.close()
        tab.check(server.home)
    assert server.request("GET", "/api/offers")[0] == 200


def show_position(tab: Watched, number: int) -> None:
    """Go to a position of the line."""
    show(tab, "Log")
    tab.page.set_checked("#each", True)
    tab.page.click(f"#moves .decisions li[data-n='{number}'] .what")
    tab.until(f"game.node === game.line[{number}]")


@pytest.mark.slow
def test_what_an_agent_thinks(tab: Watched, server: Server) -> None:
    """Values, the policy as bars and on the map, four lines over the game."""
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    show_position(tab, 160)
    show(tab, "Analysis")
    assert page.is_hidden("#analysis-panel"), "off unless asked"
    page.select_option("#analyst", "zoo/strong")
    page.click("#analysis")
    tab.until("document.querySelectorAll('#policy .bar').length > 0", 240)
    chances = page.evaluate("analysis.report.policy.map(row => row[2])")
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1.001
    texts = page.evaluate("[Object.keys(analysis.report.all), game.legal.map(a => a.text)]")
    assert set(texts[0]) <= set(texts[1])
    by_cell = "Object.entries(analysis.report.all).filter(e => e[0].includes(',') && e[1] > 0.005)"
    on_cells = page.evaluate(f"{by_cell}.length")
    assert bool(page.locator(".stage .over-cell").count()) == bool(on_cells)
    page.click("#whole")
    tab.until("analysis.report.missing === 0", 120)
    assert page.evaluate("analysis.report.lines.every(line => line.every(v => v !== null))")
    assert page.locator("#values svg path").count() == 8, "a line and its edge for each seat"
    expected_vp = page.evaluate("analysis.report.lines.map(line => Math.round(line[160]))")
    shown_vp = page.locator("#expected > span").all_inner_texts()
    assert [text.split()[-1] for text in shown_vp] == [str(vp) for vp in expected_vp]
    page.click("#analysis")
    assert not page.locator(".stage .over-cell").count() and page.is_hidden("#analysis-panel")


def search_of(tab: Watched, server: Server, agent: str) -> None:
    """Ask for a search in the middle of a record, and read its table."""
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    show_position(tab, 160)
    show(tab, "Analysis")
    page.select_option("#analyst", agent)
    page.click("#analysis")
    tab.until("analysis.report && !document.getElementById('search-here').disabled", 500)
    page.click("#search-here")
    tab.until("document.querySelector('#search table')", 240)
    assert page.locator("#search tr.then").count() > 0, "the line that follows"
    assert page.locator("#search tr:not(.then)").count() > 2
    assert "> the played one" in str(page.text_content("#search"))


@pytest.mark.slow
def test_the_table_of_a_search(tab: Watched, server: Server) -> None:
    """What the page makes of it; the search itself compiles for minutes and is not run here."""
    row = {"action": "pass", "words": "pass", "prior": 0.5, "visits": 3, "final_vp": [9, 8, 7, 6],
           "line": ["Nevlas: pass", "Xenos: pass"], "played": True, "best": False}  # fmt: skip
    other = row | {
        "prior": 1.0,
        "action": "skip",
        "words": "skip",
        "best": True,
        "played": False,
        "line": [],
    }
    table = {"candidates": [other, row]}
    count = len(replay.read(server.saves / "lost_fleet.json").actions)
    report = {
        "policy": [["pass", "pass", 1.0]], "all": {"pass": 1.0}, "missing": 0, "agent": "x",
        "lines": [[1] * (count + 1)] * 4, "vp": [9, 8, 7, 6],
    }  # fmt: skip

    def answer(route: Any) -> None:
        is_search = "search=1" in route.request.url
        at = tab.page.evaluate("game.node")
        route.fulfill(
            json=report | {"searches": True, "at": at, "search": table if is_search else None}
        )

    tab.page.route("**/analysis?*", answer)
    search_of(tab, server, "zoo/strong+search:32")
    text = str(tab.page.inner_text("#search"))
    assert "then Nevlas: pass; Xenos: pass" in text
    assert "50.0 %" in text and ">99.9 %" in text and "100" not in text


@pytest.mark.slow  # compiles a search: minutes on two cores
def test_a_search_at_the_table(tab: Watched, server: Server) -> None:
    search_of(tab, server, "zoo/strong+search:32")
    tab.until("analysis.report.search.candidates.some(row => row.played)")

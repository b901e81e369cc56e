"""The table, in a real browser: a whole game clicked through, and all that a table is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gaia_jax import replay
from tests.browser import Watched
from tests.play.server import Server

MINE = "game && game.legal.length > 0 && !game.thinking"


@pytest.fixture(params=[1280, 800])
def tab(browser: Any, server: Server, request: Any) -> Iterator[Watched]:
    """A page of the given width; at its end nothing went wrong and nobody else was asked."""
    watched = Watched(browser, request.param)
    yield watched
    watched.page.close()
    watched.check(server.home)


@pytest.fixture
def wide(browser: Any, server: Server) -> Iterator[Watched]:
    """A page 1,280 wide."""
    watched = Watched(browser, 1280)
    yield watched
    watched.page.close()
    watched.check(server.home)


def begin(tab: Watched, home: str, seats: tuple[str, ...], record: str = "") -> None:
    """Fill in the start form."""
    page = tab.page
    page.goto(home)
    page.wait_for_selector("#chair-3", state="attached")
    for player, who in enumerate(seats):
        page.select_option(f"#chair-{player}", who)
    page.select_option("#record", record)
    page.fill("#seed", "5")
    page.click("#begin")
    page.wait_for_selector("#table svg", timeout=240_000)


def press(tab: Watched, text: str) -> None:
    """Press the button of a legal action and wait until the table has moved on."""
    version = tab.page.evaluate("game.version")
    tab.page.evaluate(
        "document.querySelectorAll('#legal details').forEach(d => { d.open = true; })"
    )
    tab.page.click(f'#legal button[data-text="{text}"]')
    tab.until(f"game.version > {version}")


def choice(legal: list[str], turn: int) -> str:
    """A decision of a player who wants to be done: passes where that is possible, at times."""
    done = [t for t in legal if t.split()[0] in ("booster", "pass", "end_turn", "skip", "leech")]
    main = [t for t in legal if t.split()[0] != "free"]
    return done[-1] if done and turn % 3 else (main or legal)[turn % len(main or legal)]


def test_a_whole_game_against_three_agents(wide: Watched, server: Server) -> None:
    begin(wide, server.home, ("you", "random", "random", "random"))
    page, turn = wide.page, 0
    while True:
        wide.until(f"({MINE}) || game.over", 240)
        if page.evaluate("game.over"):
            break
        legal = page.evaluate("game.legal.map(a => a.text)")
        lit = page.locator("#table .legal-cell")
        if turn < 2 and lit.count():
            # On the board itself: the click meets the planet that lies over the cell.
            node = page.evaluate("game.node")
            box = lit.first.bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            wide.until(f"game.node !== {node}")
        else:
            press(wide, choice(legal, turn))
        turn += 1
    assert turn > 10
    assert "Final score" in str(page.text_content("#block-head"))
    page.fill("#save-name", "whole game")
    page.click("#save")
    wide.until("document.getElementById('message').textContent.includes('saved as')")
    record = replay.read(server.saves / "whole game.json")
    state = replay.play(record)
    assert tuple(state.game.players.vp.tolist()) == record.final_vp
    assert len(record.actions) == page.evaluate("game.line.length - 1")


def test_take_back_take_over_branch_and_cancel(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you", "you", "you", "you"))
    page = tab.page
    tab.until(MINE)
    first, second = page.evaluate("game.legal.slice(0, 2).map(a => a.text)")
    press(tab, first)
    page.click("#undo")
    tab.until("game.node === 0")
    press(tab, second)
    assert page.locator(".moves li.branch").count() == 1, "the other first move is beside the line"
    page.locator(".moves li.branch").first.click()
    tab.until(f"game.moves[0].text === '{first}'")
    # An agent takes over whoever is to move, until everybody is an agent for the set-up.
    seats = page.locator("#seats select")
    for player in range(4):
        seats.nth(player).select_option("random")
        tab.until(f"game.seats[{player}].who === 'random'")
    tab.until("game.line.length > 30", 240)
    for player in range(4):
        seats.nth(player).select_option("you")
        tab.until(f"game.seats[{player}].who === 'you'")
    # Quick agents may have ended the game before all seats were taken back.
    tab.until(f"({MINE}) || game.over")
    page.keyboard.press("Home")
    tab.until("game.node === 0")
    page.keyboard.press("End")
    tab.until("game.line.indexOf(game.node) === game.line.length - 1")


def test_a_half_made_move_is_shown_and_cancelled(wide: Watched, server: Server) -> None:
    begin(wide, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = wide.page
    modes = ("power PA_TF1", "power PA_TF2", "special RB13", "special RB11", "ship TWI_K")
    moves = page.evaluate("game.moves.map(m => m.text)")
    at = next(k for k, text in enumerate(moves) if text in modes)
    page.evaluate(f"change('go', {{ node: game.line[{at}] }})")
    wide.until(f"game.node === game.line[{at}]")
    press(wide, moves[at])
    assert page.is_visible("#cancel")
    assert page.locator("#table .legal-cell, #table .legal-piece").count() > 0
    page.click("#cancel")
    wide.until("!game.half_made")
    assert page.evaluate("game.legal.map(a => a.text)").count(moves[at]) == 1


def test_go_on_from_the_middle_of_a_record(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you", "random", "random", "random"), "lost_fleet")
    page = tab.page
    assert page.evaluate("game.line.length") > 200
    page.locator(".moves li[data-node]").nth(120).click()
    tab.until("game.node === game.line[121]")
    before = page.evaluate("game.line.length")
    for player in range(4):
        page.locator("#seats select").nth(player).select_option("you")
        tab.until(f"game.seats[{player}].who === 'you'")
    legal = page.evaluate("game.legal.map(a => a.text)")
    played = page.evaluate("game.moves[121].text")
    press(tab, next(text for text in legal if text != played and text.split()[0] != "free"))
    assert page.evaluate("game.line.length") == 123 < before
    assert page.locator(".moves li.branch").count() == 1
    page.locator(".moves li.branch").first.click()
    tab.until(f"game.line.length === {before}")
    page.select_option("#view-of", "2")
    first = page.evaluate("view.places[0]")
    assert page.get_attribute("#block-seat-2", "transform") == first


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
    assert server.ask("GET", "/api/offers")[0] == 200


def stand(tab: Watched, number: int) -> None:
    """Go to a position of the line."""
    tab.page.locator(".moves li[data-node]").nth(number - 1).click()
    tab.until(f"game.node === game.line[{number}]")


def test_what_an_agent_thinks(wide: Watched, server: Server) -> None:
    """Policy as bars and on the map, four lines over the game, costs, the next costly move."""
    begin(wide, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = wide.page
    stand(wide, 160)
    assert page.is_hidden("#insight"), "off unless asked"
    page.select_option("#analyst", "zoo/strong")
    page.click("#analysis")
    wide.until("document.querySelectorAll('#policy .bar').length > 0", 240)
    chances = page.evaluate("analysis.report.policy.map(row => row[2])")
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1.001
    texts = page.evaluate("[Object.keys(analysis.report.all), game.legal.map(a => a.text)]")
    assert set(texts[0]) <= set(texts[1])
    by_cell = "Object.entries(analysis.report.all).filter(e => e[0].includes(',') && e[1] > 0.005)"
    on_cells = page.evaluate(f"{by_cell}.length")
    assert bool(page.locator("#table .over-cell").count()) == bool(on_cells)
    assert "The last move" in str(page.text_content("#verdict"))
    assert "The next move" in str(page.text_content("#verdict"))
    page.click("#costly")  # looks at the whole line first
    wide.until("game.node !== game.line[160]", 120)
    wide.until("analysis.report.missing === 0")
    assert page.evaluate("analysis.report.cost[game.line.indexOf(game.node) - 1]") >= 2
    assert page.evaluate("analysis.report.lines.every(line => line.every(v => v !== null))")
    assert page.locator("#values svg path").count() == 8, "a line and its edge for each seat"
    marked = "[...document.querySelectorAll('.moves .cost')].filter(c => c.textContent).length"
    assert page.evaluate(marked) == page.evaluate("analysis.report.cost.filter(c => c >= 2).length")
    page.click("#analysis")
    assert not page.locator("#table .over-cell").count() and page.is_hidden("#insight")


def search_of(tab: Watched, server: Server, agent: str) -> None:
    """Ask for a search in the middle of a record, and read its table."""
    begin(tab, server.home, ("you", "you", "you", "you"), "lost_fleet")
    page = tab.page
    stand(tab, 160)
    page.select_option("#analyst", agent)
    page.click("#analysis")
    tab.until("analysis.report && !document.getElementById('search-here').disabled", 500)
    page.click("#search-here")
    tab.until("document.querySelector('#search table')", 240)
    assert page.locator("#search tr.then").count() > 0, "the line that follows"
    assert page.locator("#search tr:not(.then)").count() > 2
    assert "The played move is" in str(page.text_content("#search"))


def test_the_table_of_a_search(wide: Watched, server: Server) -> None:
    """What the page makes of it; the search itself compiles for minutes and is not run here."""
    row = {"action": "pass", "words": "pass", "prior": 0.5, "visits": 3, "final_vp": [9, 8, 7, 6],
           "line": ["Nevlas: pass", "Xenos: pass"], "played": True, "best": False}  # fmt: skip
    other = row | {"action": "skip", "words": "skip", "best": True, "played": False, "line": []}
    table = {"candidates": [other, row], "cost": 1.25, "unlike": False}
    count = len(replay.read(server.saves / "lost_fleet.json").actions)
    report = {
        "policy": [["pass", "pass", 1.0]], "all": {"pass": 1.0}, "missing": 0, "agent": "x",
        "lines": [[1] * (count + 1)] * 4, "cost": [0] * count, "rank": [1] * count,
    }  # fmt: skip

    def answer(route: Any) -> None:
        asked = "search=1" in route.request.url
        at = wide.page.evaluate("game.node")
        route.fulfill(
            json=report | {"searches": True, "at": at, "search": table if asked else None}
        )

    wide.page.route("**/insight?*", answer)
    search_of(wide, server, "zoo/strong+search:32")
    text = str(wide.page.inner_text("#search"))
    assert "then Nevlas: pass; Xenos: pass" in text and "candidate 2 of 2; it cost 1.3 VP" in text


@pytest.mark.slow  # compiles a search: minutes on two cores
def test_a_search_at_the_table(wide: Watched, server: Server) -> None:
    search_of(wide, server, "zoo/strong+search:32")
    wide.until("analysis.report.search.candidates.some(row => row.played)")

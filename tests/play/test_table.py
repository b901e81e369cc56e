"""At the table in a real browser: settings, federations by one click, the end, the log."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gaia_jax import replay
from tests.browser import Watched
from tests.play.page import MINE, PRICED, begin, go, opened, press
from tests.play.server import Server


def test_a_setting_is_kept_and_ends_the_turn(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet", left=True)
    page = tab.page
    moves = replay.read(server.saves / "lost_fleet.json").actions
    place = next(k for k, text in enumerate(moves) if text == "end_turn")
    page.click(".tabs button[data-tab='Table']")
    page.evaluate("document.getElementById('settings').open = true")
    page.select_option("#set-end_turn", label="always")
    tab.until("game.settings.end_turn === 'always'")
    go(tab, place - 1)
    # Another main action than the recorded one: a new line, which the setting continues.
    played = moves[place - 1]
    other = page.evaluate(
        f"game.legal.map(a => a.text).find(t => t.startsWith('advance') && t !== '{played}')"
        f" || game.legal.map(a => a.text).find(t => t.startsWith('upgrade') && t !== '{played}')"
    )
    player = page.evaluate("game.player")
    press(tab, other)
    asked = "['TILE', 'STEP', 'LEECH'].includes(game.asks)"
    tab.until(f"!game.thinking && (game.player !== {player} || {asked})")
    if not page.evaluate(asked):
        assert "ends the turn" in page.inner_text(".moves li.now")
    page.reload()
    tab.until("game && document.getElementById('set-end_turn')")
    assert page.input_value("#set-end_turn") == "always"


def test_a_federation_is_formed_by_one_click(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    moves = replay.read(server.saves / "lost_fleet.json").actions
    tab.until(PRICED, 300)
    go(tab, moves.index("form_federation"))
    page.evaluate("byId('kinds').children.length && openGroup('federation')")
    first = page.locator("#legal [data-federation]").first
    marks = first.evaluate("""(button) => { // at once: news clear the marks
      button.dispatchEvent(new MouseEvent("mouseenter"));
      return document.querySelectorAll(".stage .federation-mark").length;
    }""")
    assert marks > 1, "pieces and satellites are drawn"
    assert "Power" in first.inner_text() and "satellite" in first.inner_text()
    before = page.evaluate("[game.line.indexOf(game.node), game.player]")
    first.click()
    tab.until("game.asks === 'TOKEN'")
    assert page.evaluate("game.player") == before[1]
    page.click("#undo")
    tab.until(f"game.line.indexOf(game.node) === {before[0]}")


def test_the_only_federation_is_drawn_while_its_kind_is_open(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    tab.until(PRICED, 300)
    go(tab, replay.read(server.saves / "lost_fleet.json").actions.index("form_federation"))
    # All at once: news clear the marks.
    marks = tab.page.evaluate("""() => {
      furtherNow().federations.splice(1);
      return ["federation", "upgrade", "federation", ""].map((kind) => {
        openGroup(kind);
        return document.querySelectorAll(".stage .federation-mark").length;
      });
    }""")
    assert min(marks[::2]) > 1 and marks[1::2] == [0, 0]


def test_kinds_of_choices_and_places_that_stand_for_them(tab: Watched, server: Server) -> None:
    """A kind highlights only its places; a place lists its legal actions with prices."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    moves = replay.read(server.saves / "lost_fleet.json").actions
    tab.until(PRICED, 300)
    go(tab, next(k for k, text in enumerate(moves) if text.startswith("piece")) - 1)
    built = "furtherNow().two_step_moves.find(w => w.actions[1].startsWith('piece'))"
    place = page.evaluate(f"{built}.cell")
    sections = page.locator("#legal section").evaluate_all(
        "all => all.map(one => [one.dataset.group, one.children.length, one.checkVisibility()])"
    )
    folded = {kind for kind, _, is_visible in sections if not is_visible}
    single = {kind for kind, count, _ in sections if count == 1} - {"upgrade", "federation"}
    assert {"mine", "upgrade"} <= folded, "kinds come first"
    assert not single - {"way", "reached"} & folded, "the only choice of a kind takes one click"
    everything = page.locator(".stage .legal-cell").count()
    page.click("#kinds [data-kind='upgrade']")
    buttons = page.locator("#legal section:visible button")
    assert buttons.count() == page.evaluate("choicesNow().filter(c => c.kind === 'upgrade').length")
    assert all("\u2212" in text for text in buttons.all_inner_texts()), (
        "whole moves have their price"
    )
    lit = page.locator(".stage .legal-cell").evaluate_all("all => all.map(one => one.dataset.cell)")
    ups = page.evaluate("choicesNow().filter(c => c.kind === 'upgrade').map(c => c.cell)")
    assert set(lit) == set(ups) and len(lit) < everything
    buttons.first.hover()
    assert page.locator(".stage .over-look.ring").count() == 1, "its place is shown"
    page.keyboard.press("Escape")
    assert page.locator(".stage .legal-cell").count() == everything
    # The place itself: both structures, each with its price; one click makes the whole move.
    box = page.locator(f".stage [data-cell='{place}']").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    choices = page.locator("#choice button")
    assert choices.count() >= 2
    texts = choices.first.get_attribute("data-text").split("; ")
    before = page.evaluate("game.line.indexOf(game.node)")
    choices.first.click()
    tab.until(f"game.line.indexOf(game.node) >= {before + 2}")
    path = page.evaluate(f"game.moves.slice({before}, {before + 2}).map(m => m.text)")
    assert path == texts
    page.click("#undo")
    tab.until(f"game.line.indexOf(game.node) === {before}")


# A lit place with one choice that has a price: its middle, the price in words, the action.
ONE_CHOICE = """() => {
  const all = choicesNow();
  for (const cell of document.querySelectorAll(".stage .legal-cell")) {
    const here = choicesAt(all, cell);
    if (here.length !== 1 || here[0].kind === "reached" || !here[0].effects?.costs) continue;
    const box = cell.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2, cost: here[0].effects.costs[0],
      texts: here[0].texts };
  }
  return null;
}"""


def at_a_turn(tab: Watched, server: Server) -> dict[str, Any]:
    """A turn of a record with prices, where a place on the map has one choice."""
    moves = replay.read(server.saves / "lost_fleet.json").actions
    tab.until(PRICED, 300)
    for place in [k for k, text in enumerate(moves) if text.startswith("mine")][8:]:
        go(tab, place)
        place_with_choice: dict[str, Any] | None = tab.page.evaluate(ONE_CHOICE)
        if place_with_choice:
            return place_with_choice
    raise AssertionError("no such place")


def test_a_place_tells_its_price_and_a_click_makes_it(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    choice = at_a_turn(tab, server)
    page.mouse.move(choice["x"], choice["y"])
    page.wait_for_selector("#help-box .may")
    assert f"\u2212{choice['cost']}" in page.inner_text("#help-box"), "before the click"
    before = page.evaluate("game.line.indexOf(game.node)")
    page.mouse.click(choice["x"], choice["y"])
    tab.until(f"game.line.indexOf(game.node) >= {before + len(choice['texts'])}")
    actions = page.evaluate(f"game.moves.slice({before}).map(m => m.text)")
    assert actions[: len(choice["texts"])] == choice["texts"]
    page.evaluate("pause(2 * HELP_AFTER)")
    assert page.is_hidden("#help-box"), "its place has changed"


def test_a_finger_selects_first(browser: Any, server: Server) -> None:
    """The first tap shows what is possible there and its price, the second one makes it."""
    tab = Watched(browser, 390, 844, has_touch=True, is_mobile=True)
    page = tab.page
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    page.goto(f"{server.home}#{game}")
    choice = at_a_turn(tab, server)
    before = page.evaluate("game.line.indexOf(game.node)")
    page.touchscreen.tap(choice["x"], choice["y"])
    page.wait_for_selector("#choice button")
    assert f"\u2212{choice['cost']}" in page.inner_text("#choice")
    assert page.locator(".stage .over-look.ring").count() == 1
    box = page.locator("#choice").bounding_box()
    assert not (
        box["x"] < choice["x"] < box["x"] + box["width"]
        and box["y"] < choice["y"] < box["y"] + box["height"]
    ), "the place itself is in view"
    assert page.evaluate("!busy && game.line.indexOf(game.node)") == before, "nothing is made yet"
    page.touchscreen.tap(choice["x"], choice["y"])
    tab.until(f"game.line.indexOf(game.node) >= {before + len(choice['texts'])}")
    page.close()
    tab.check(server.home)


def test_who_looks_at_an_earlier_position_is_told_so(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    go(tab, 100)
    text = page.inner_text("#past-status")
    assert text.startswith(f"You are viewing round {page.evaluate('game.moves[100].round')}, turn ")
    assert "replaces the moves that followed" in text
    assert page.inner_text("#present") == "To the end"
    node = page.evaluate("game.node")
    row = page.locator("#since .turn-row").first
    assert row.locator(".effects-text:visible").count() == 0
    row.click()
    assert row.locator(".effects-text:visible").count() > 0
    assert page.evaluate("game.node") == node, "the table stays where it is"
    page.click("#present")
    tab.until("game.over")
    assert page.is_hidden("#past")


def test_ones_own_stock_stands_for_conversions(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    moves = replay.read(server.saves / "lost_fleet.json").actions
    at = next(k for k, text in enumerate(moves) if text.startswith("free P"))
    go(tab, at)
    tab.until(MINE)
    page.evaluate("seatInView(game.player)")
    page.click(f"#bowls-{page.evaluate('game.player')}")
    texts = page.locator("#choice button").evaluate_all("all => all.map(one => one.dataset.text)")
    assert moves[at] in texts and all(text.startswith("free ") for text in texts)
    page.click(f"#choice button[data-text='{moves[at]}']")
    tab.until(f"game.line.indexOf(game.node) === {at + 1}")


def test_what_the_others_did_is_a_line_a_turn(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    go(tab, 100)
    lines = page.locator("#since .turn-row")
    assert 0 < lines.count() <= 6
    assert page.locator("#since .effects-text:visible").count() == 0
    lines.first.hover()
    places = lines.first.get_attribute("data-at")
    assert page.locator(".stage .over-look.ring").count() == len((places or "").split())
    page.click("#since .fold")
    assert page.locator("#since .effects-text:visible").count() > 0


def test_the_end_says_who_won_and_by_what(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    record = replay.read(server.saves / "lost_fleet.json")
    assert page.is_hidden("#end") and page.is_visible("#hint")
    go(tab, len(record.actions))
    tab.until("!document.getElementById('end').hidden")
    assert page.is_hidden("#hint")
    ranking = page.locator(".ranking li").all_inner_texts()
    assert [int(text.split()[1]) for text in ranking] == sorted(record.final_vp, reverse=True)
    sums = page.locator(".sources .sum td").all_inner_texts()
    assert [int(x) for x in sums] == sorted(record.final_vp, reverse=True)
    columns = page.evaluate("""[...document.querySelectorAll('.sources tr:not(.sum)')].slice(1)
      .map(row => [...row.querySelectorAll('td')].map(
        cell => Number(cell.textContent.replace('\u2212', '-'))))""")
    assert [sum(column) for column in zip(*columns, strict=True)] == [int(x) for x in sums]
    assert page.locator(".best li").count() == 8
    named = page.locator(".sources th[scope='row']").all_inner_texts()
    assert sum(text.startswith("mission: ") for text in named) == 2, named
    assert page.locator("#end svg.chart").count() == 1
    node = page.locator(".best button").first.get_attribute("data-node")
    page.locator(".best button").first.click()
    tab.until(f"game.node === {node}")
    go(tab, len(record.actions))
    tab.until("document.getElementById('again')")
    old = page.evaluate("game.id")
    page.click("#again")
    tab.until(f"game && game.id !== '{old}' && game.line.length === 1", 60)
    assert page.is_hidden("#end")


def test_what_was_taken_back_is_said_so(tab: Watched, server: Server) -> None:
    """Not that one looks at an earlier turn; what leads back is not the button to press first."""
    begin(tab, server.home, ("you",) * 4)
    page = tab.page
    tab.until(MINE)
    first = page.evaluate("game.legal[0].text")
    press(tab, first)
    page.click("#undo")
    tab.until("document.getElementById('past-status').textContent.startsWith('Taken back to')")
    assert page.locator("#present.main").count() == 0
    page.click("#present")
    tab.until("game.line.indexOf(game.node) === 1")
    assert page.is_hidden("#past")
    page.keyboard.press("Home")
    tab.until("game.node === 0 && document.querySelector('#present.main')")
    assert page.inner_text("#past-status").startswith("You are viewing the set-up, turn 1.")


def test_what_does_nothing_is_not_the_first_choice(tab: Watched, server: Server) -> None:
    """To skip a step or to pass comes last, without emphasis, while there is something to do."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    moves = replay.read(server.saves / "lost_fleet.json").actions
    step = next(k for k, text in enumerate(moves) if moves[k - 1].startswith("tile"))
    last_turn = moves.index("pass") + 1
    for place, empty in ((step, "skip"), (last_turn, "pass")):
        go(tab, place)
        if empty == "skip":
            page.evaluate("game.legal.unshift({ text: 'skip', words: 'no step' }); drawLegal()")
        first, last = (page.locator(f"#legal-panel button >> nth={n}") for n in (0, -1))
        assert last.get_attribute("data-text").endswith(empty), place
        assert first.get_attribute("data-text") not in (empty, last.get_attribute("data-text"))
        assert not page.locator(f"#legal .alone[data-text$='{empty}']").count(), place


def test_what_a_page_waits_for_is_said_with_its_seconds(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4)
    page = tab.page
    tab.until(f"({MINE}) && game.progress.length === 0", 300)
    progress = "document.getElementById('progress').textContent"
    assert page.evaluate(progress) == ""
    tab.hold(f"/api/games/{page.evaluate('game.id')}/act")
    opened(tab, page.evaluate("game.legal[0].text")).click()
    tab.until(f"/[1-9] s$/.test({progress})")
    tab.release()
    tab.until(f"game.line.length === 2 && {progress} === ''")
    # The server is away: the next request fails, then one is answered again.
    page.evaluate("window.ask = fetch; fetch = () => Promise.reject(new TypeError('away')); null")
    server.change(page.evaluate("game.id"), "undo")
    tab.until(f"/[1-9] s$/.test({progress})")
    page.evaluate("fetch = ask; null")
    tab.until(f"game.node === 0 && {progress} === ''")


def test_a_kind_that_is_opened_on_a_phone_comes_into_view(browser: Any, server: Server) -> None:
    tab = Watched(browser, 390, 844, has_touch=True, is_mobile=True)
    page = tab.page
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    page.goto(f"{server.home}#{game}")
    at_a_turn(tab, server)
    assert page.locator("#kinds button").count() > 2
    for kind in page.locator("#kinds button").all():
        kind.tap()
        box = page.locator("#legal section:not([hidden]) button").first.bounding_box()
        deck = page.locator(".deck.play").bounding_box()
        assert box["y"] + min(box["height"], 60) <= deck["y"] + deck["height"], kind.inner_text()
    page.close()
    tab.check(server.home)


# What is busy at the frame after a click, and whether it looks otherwise than before.
LOOK = """() => {
  const look = (one) => getComputedStyle(one).boxShadow + getComputedStyle(one).stroke;
  const before = new Map();
  window.busyAtFrame = null;
  document.addEventListener("pointerdown", () => { window.busyAtFrame = null; }, true);
  document.addEventListener("click", () => {
    for (const one of document.querySelectorAll("#layout button, .stage [data-cell]")) {
      if (!before.has(one)) before.set(one, look(one));
    }
    requestAnimationFrame(() => {
      window.busyAtFrame = [...document.querySelectorAll('[aria-busy="true"]')].map((one) =>
        [one.dataset.text || one.dataset.cell || one.id, look(one) !== before.get(one)]);
    });
  }, true);
}"""


def held_press(
    tab: Watched, name: str, press_it: Callable[[], None], refused: bool = False
) -> None:
    """A press whose answer is held back: busy at the next frame, and only until the answer."""
    page = tab.page
    held_events: list[Any] = []

    def hold(route: Any) -> None:
        held_events.append(route)

    page.evaluate("window.busyAtFrame = null")
    act = re.compile(r"/(act|undo)\?")
    page.route(act, hold)
    node = page.evaluate("game.node")
    press_it()
    tab.until("window.busyAtFrame !== null")
    assert page.evaluate("window.busyAtFrame") == [[name, True]]
    tab.until("document.body.classList.contains('busy')")
    for _ in range(6000):  # on a busy machine the request is seen later than what the page shows
        if held_events:
            break
        page.wait_for_timeout(10)
    assert len(held_events) == 1 and page.evaluate("game.node") == node, "nothing is answered yet"
    if refused:
        held_events[0].fulfill(status=400, json={"error": "it is not to be"})
        tab.until("document.getElementById('message').textContent === 'it is not to be'")
    else:
        held_events[0].continue_()
        tab.until(f"game.node !== {node}")
    page.unroute(act)
    tab.until("!busy")
    assert not page.locator('[aria-busy="true"]').count()


def test_a_press_is_seen_before_the_server_answers(tab: Watched, server: Server) -> None:
    """By the mouse on a button and on the map, by the keyboard, of a refused one too."""
    begin(tab, server.home, ("you",) * 4)
    page = tab.page
    tab.until(f"{MINE} && {PRICED}", 300)
    page.evaluate(LOOK)
    first = page.locator("#legal button").first
    held_press(tab, first.get_attribute("data-text"), first.click)
    tab.until(MINE)
    held_press(tab, "undo", page.locator("#undo").click)
    tab.until(f"{MINE} && {PRICED}")

    def enter() -> None:
        first.focus()
        page.keyboard.press("Enter")

    tab.wrong.clear()
    held_press(tab, first.get_attribute("data-text"), enter, refused=True)
    assert all("400" in line for line in tab.wrong), tab.wrong
    tab.wrong.clear()
    box = page.locator(".stage .legal-cell").first.bounding_box()
    cell = page.locator(".stage .legal-cell").first.get_attribute("data-cell")
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    held_press(tab, cell, lambda: page.mouse.click(*middle))


def test_an_earlier_decision_of_an_agent_is_called_its_own(tab: Watched, server: Server) -> None:
    game = server.new_game(seats=["you", *["random"] * 3], record="lost_fleet")
    page = tab.page
    page.goto(f"{server.home}#{game}")
    tab.until("game")
    place = page.evaluate("game.moves.findIndex(({ player }) => player > 0)")
    go(tab, place)
    assert page.inner_text("#asks").endswith("an agent's decision")
    own = page.evaluate("game.moves.findIndex(({ player }) => player === 0)")
    go(tab, own)
    assert page.inner_text("#asks").endswith("your decision")


def test_the_map_has_most_of_a_laptop_and_a_large_screen_is_full(
    browser: Any, server: Server
) -> None:
    """At 1280 the map; at 1920 research, actions and the VP of all players at once."""
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    for width, height in ((1280, 800), (1920, 1080)):
        tab = Watched(browser, width, height)
        page = tab.page
        page.goto(f"{server.home}#{game}")
        tab.until("game && view")
        if width == 1280:
            share = page.evaluate("document.querySelector('.stage').offsetWidth / innerWidth")
            assert share >= 0.55
        else:
            ids = ["#block-research", "#part-power", *(f"#vp-{p}" for p in range(4))]
            assert all(page.locator(id).is_visible() for id in ids)
            page.set_viewport_size({"width": 390, "height": 844})
            tab.until("document.querySelector('.stage.far')")
        page.close()
        tab.check(server.home)

"""Details of the page that were hard to see: dots, minus signs, disabled buttons, a phone's map."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gaia_jax import replay
from tests import measures
from tests.browser import Watched
from tests.play.page import begin, go
from tests.play.server import Server

pytestmark = pytest.mark.slow
# The contrast of the text of a disabled button with its background, as of WCAG.
CONTRAST = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const button = document.getElementById("begin");
  button.disabled = true; // within this call: the offers may come meanwhile
  const style = getComputedStyle(button);
  const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""
LEAST_CONTRAST = 4.5


def moves_of(server: Server) -> list[str]:
    return list(replay.read(server.saves / "lost_fleet.json").actions)


def test_a_begin_button_that_is_not_ready_can_be_read(browser: Any, server: Server) -> None:
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(server.home)
        assert page.evaluate(CONTRAST) >= LEAST_CONTRAST, scheme
        page.close()


def test_a_tile_to_choose_is_a_dot_on_its_tab(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    moves = moves_of(server)
    go(tab, next(k for k, text in enumerate(moves) if text.startswith("tile")))
    tab.until("game.asks === 'TILE' && game.legal.length > 0")
    dots = "[...document.querySelectorAll('.tabs .called')].map((tab) => tab.dataset.tab)"
    assert set(tab.page.evaluate(dots)) >= {"Play", "Research"}
    go(tab, next(k for k, text in enumerate(moves) if text.startswith("leech")))
    tab.until("game.asks === 'LEECH'")
    assert tab.page.evaluate(dots) == ["Play"]


def test_a_page_has_one_kind_of_minus_sign(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    moves = moves_of(server)
    piece = next(k for k, text in enumerate(moves) if text.startswith("piece PI"))
    for place in (piece, len(moves)):  # the end has VP below 0 by source
        go(tab, place)
        tab.page.evaluate("document.querySelectorAll('.tabs button')[0].click()")
        text = tab.page.evaluate("document.body.textContent.replace(/-?\\d+,-?\\d+/g, '')")
        assert "\u2212" in text and not re.search(r"(?<![\w.])-\d", text)


def test_the_log_counts_the_final_scoring_apart(tab: Watched, server: Server) -> None:
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    page = tab.page
    go(tab, len(moves_of(server)))
    measures.press_tab(page, "Log")
    row = page.locator("#moves li.final")
    gains = [int(n) for n in re.findall(r"\+(\d+) VP", row.inner_text())]
    last = page.locator("#moves .turn-row .gain").last.inner_text()
    assert row.inner_text().startswith("Final scoring") and len(gains) == 4
    assert int(re.sub(r"\D", "", last) or 0) < min(gains)


def test_a_phone_shows_numbers_of_structures_and_names_of_ships(
    browser: Any, server: Server
) -> None:
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    with measures.page_of(browser, (390, 844)) as (tab, _):
        page = tab.page
        page.goto(f"{server.home}#{game}")
        page.wait_for_selector("#layout svg", state="visible")
        page.evaluate("along(1e6)")
        tab.until("game.over")
        shown = """(selector) => [...document.querySelectorAll(`.stage ${selector} text`)]
            .map((text) => text.getBoundingClientRect().height > 5 && text.textContent)"""
        assert page.evaluate("document.querySelector('.stage').classList.contains('far')")
        numbers = page.evaluate(shown, '[id^="structure-"]')
        assert len(numbers) > 20 and set(numbers) == {"1", "2", "3", "4"}
        ships = page.evaluate(shown, "#part-ship-names")
        assert len(ships) == 4 and all(ships)


def test_a_turn_in_a_page_in_the_background_is_a_notification(tab: Watched, server: Server) -> None:
    page = tab.page
    page.add_init_script("""
      window.notified = [];
      window.Notification = class {
        static requestPermission() {
          return Promise.resolve(window.mayNotify ? "granted" : "denied");
        }
        constructor(title) { window.notified.push(title); }
      };
      Object.defineProperty(document, "hidden", { get: () => true });
    """)
    begin(tab, server.home, ("you", "random", "random", "random"))
    tab.until("game.legal.length > 0")
    measures.press_tab(page, "Table")
    page.evaluate("document.getElementById('settings').open = true")
    page.click("#set-notify")
    tab.until("document.getElementById('message').textContent.includes('does not allow')")
    assert not page.is_checked("#set-notify")
    page.evaluate("window.mayNotify = true")
    page.click("#set-notify")
    tab.until("allSettings().notify")
    assert page.evaluate("notified.length") == 0
    page.evaluate("document.title = TITLE; drawTurn(game)")
    assert len(page.evaluate("notified")) == 1
    page.evaluate("drawTurn(game)")
    assert len(page.evaluate("notified")) == 1, "once a turn"


def test_a_turn_plays_a_sound_if_that_is_set(tab: Watched, server: Server) -> None:
    page = tab.page
    page.add_init_script("""
      window.tones = 0;
      const start = OscillatorNode.prototype.start;
      OscillatorNode.prototype.start = function (...when) { tones += 1; start.apply(this, when); };
    """)
    begin(tab, server.home, ("you", "random", "random", "random"))
    tab.until("game.legal.length > 0")
    assert page.evaluate("tones") == 0, "off by default"
    measures.press_tab(page, "Table")
    page.evaluate("document.getElementById('settings').open = true")
    page.click("#set-sound")
    assert page.evaluate("tones") == 0
    page.evaluate("document.title = TITLE; drawTurn(game); drawTurn(game)")
    assert page.evaluate("tones") == 1, "once a turn"


def test_a_reload_keeps_the_position_in_view(tab: Watched, server: Server) -> None:
    """Also the end of a record, which opens at its beginning."""
    begin(tab, server.home, ("you",) * 4, "lost_fleet")
    place = "game && game.line.indexOf(game.node)"
    assert tab.page.evaluate(place) == 0
    for number in (7, len(moves_of(server))):
        go(tab, number)
        tab.page.reload()
        tab.until("game && game.line.length > 1")
        assert tab.page.evaluate(place) == number

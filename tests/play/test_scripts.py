"""Functions of the table's scripts on an empty page, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gaia_jax import replay
from training import play

pytestmark = pytest.mark.no_compile
STATIC = Path(play.__file__).parent / "static"
RENDER = Path(replay.__file__).parent / "static"
# `answers`: of the next requests, null for a failed one; `asked`: the bodies of the requests.
STUBS = """() => Object.assign(window, {
  setTimeout: () => 0,
  game: null, offers: { players: ["Anna", "Ben"] }, answers: [], asked: [], messages: [],
  byId: (id) => document.getElementById(id), say: (id) => id, farOf: () => "far",
  ownName: () => "Ben", announce: () => {}, element: () => document.createElement("li"),
  setOptions: (select, names, selected) => {
    select.replaceChildren(...names.map(([name]) => new Option(name)));
    select.value = selected;
  },
  call: async (path, body) => { asked.push(body); return answers.shift() ?? null; },
  change: async (what, body) => { asked.push(body); return answers.shift() ?? null; },
})"""
PAGE = """<form><input id="chat-line"></form><div id="habits"><select id="habits-of"></select>
<button id="habits-ask">?</button><button id="habits-off">x</button><p id="habits-status"></p>
<ul id="habit-list"></ul></div><p id="start-message"></p>"""


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    page.set_content(PAGE)
    page.evaluate(STUBS)
    yield page
    page.close()


def load(page: Any, name: str) -> None:
    page.add_script_tag(path=STATIC / name)


def test_a_browser_that_refuses_notifications_draws_the_turn(page: Any) -> None:
    load(page, "game.js")
    page.evaluate("""() => {
      window.allSettings = () => ({ notify: true });
      window.Notification = function () { throw new TypeError("Illegal constructor"); };
      Object.defineProperty(document, "hidden", { get: () => true });
      const seats = [{ name: "Terrans" }, {}];
      drawTurn({ your_turn: true, legal: [], mine: [0], seats, player: 1, node: 0, now: 1 });
    }""")
    assert page.title().startswith("\u25cf")


def test_the_progress_of_a_check_is_no_error(page: Any) -> None:
    page.set_content('<p id="message" class="message"></p>')
    page.evaluate(STUBS)
    load(page, "api.js")
    load(page, "hints.js")
    during = page.evaluate("""async () => {
      let during = "";
      window.request = async () => answers.shift();
      window.setTimeout = (done) => { during = byId("message").className; done(); };
      answers = [{ status: "running" }, { status: "ready", checked: {} }];
      game = { id: "1", node: 2 };
      await check(["pass"]);
      return during;
    }""")
    assert "quiet" in during and page.inner_text("#message") == ""
    page.evaluate("showMessage('it is not to be')")
    assert "quiet" not in page.get_attribute("#message", "class")


@pytest.mark.parametrize(("status", "message"), [(403, "it is not yours"), (404, "no-game")])
def test_a_refused_poll_says_why(page: Any, status: int, message: str) -> None:
    page.set_content('<p id="message"></p>')
    page.evaluate(STUBS)
    load(page, "api.js")
    page.evaluate(
        """async (status) => {
          window.fetch = async () => ({ status, json: async () => ({ error: "it is not yours" }) });
          window.drawProgress = () => {};
          game = { id: "1", version: 1 };
          await follow("1");
        }""",
        status,
    )
    assert page.inner_text("#message") == message


def test_a_wait_is_announced_once_and_an_error_at_once(page: Any) -> None:
    """Screen readers would read the running seconds each second."""
    page.set_content('<p id="start-message"></p>')
    page.evaluate(STUBS)
    for folder, name in ((RENDER, "view.js"), (STATIC, "request.js"), (STATIC, "api.js")):
        page.add_script_tag(path=folder / name)
    spoken = page.evaluate("""() => {
      let now = 0, tick = null;
      performance.now = () => now;
      window.say = (id, { text, n }) => `${text} ${n}`;
      window.setInterval = (act) => { tick = act; };
      const line = byId("announced"), spoken = new MutationObserver(() => {});
      spoken.observe(line, { childList: true });
      waiting("dealing");
      for (now = 1000; now <= 5000; now += 1000) tick();
      return [spoken.takeRecords().length, line.textContent];
    }""")
    assert spoken == [1, "dealing"]
    assert page.inner_text("#start-message") == "dealing 5"
    assert page.get_attribute("#start-message", "role") == "none"
    page.evaluate("showMessage('no such file')")
    assert page.get_attribute("#start-message", "role") == "alert"


def test_a_line_of_the_chat_that_was_not_sent_stays(page: Any) -> None:
    load(page, "seats.js")
    send = "sendLine(new Event('submit')).then(() => byId('chat-line').value)"
    page.fill("#chat-line", "well played")
    assert page.evaluate(send) == "well played"
    page.evaluate("answers = [{}]")
    assert page.evaluate(send) == ""
    assert page.evaluate("asked") == [{"text": "well played"}] * 2


def test_habits_survive_a_failed_poll_and_can_be_asked_for_after_several(page: Any) -> None:
    load(page, "api.js")
    load(page, "habits.js")
    page.evaluate("offers = { players: ['Anna', 'Ben'] }; fillHabits()")
    assert page.input_value("#habits-of") == "Ben"
    page.select_option("#habits-of", "Anna")
    waits, tries = page.evaluate("""async () => {
      const waits = [];
      window.request = async () => answers.shift() ?? null;
      window.setTimeout = (done) => { waits.push(byId("habits-ask").disabled); done(); };
      answers = [{ status: "running" }, null, { status: "running" }];
      await askHabits("start");
      return [waits, POLL_TRIES];
    }""")
    assert len(waits) == 2 + tries and all(waits), "running all the while"
    assert page.is_enabled("#habits-ask") and not page.is_visible("#habits-off")
    page.evaluate("fillHabits()")
    assert page.input_value("#habits-of") == "Anna", "the list is filled again after a game"

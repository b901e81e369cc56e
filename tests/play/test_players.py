"""Whole games by one who sees the page alone: by mouse, by touch on a phone, by keyboard.

Nothing but clicks, taps and keys reaches the page. What is decided is drawn by a seed.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests import measures
from tests.browser import Watched
from tests.play.server import Server

SIZES = {"mouse": (1280, 800), "touch": (390, 844), "keyboard": (1280, 800)}
MINE = "game && game.legal.length > 0 && !game.thinking && !busy"
# When a press was made, and when its answer was on the screen.
WATCH = """() => {
  window.answers = [];
  let pressed = 0;
  const shown = window.update;
  for (const kind of ["pointerup", "keydown"]) {
    document.addEventListener(kind, () => { pressed = performance.now(); }, true);
  }
  window.update = (found) => {
    shown(found);
    const own = found.legal.length > 0 || found.over;
    requestAnimationFrame(() => window.answers.push([performance.now() - pressed, own]));
  };
}"""


class Player:
    """Somebody with one kind of device."""

    def __init__(self, tab: Watched, device: str, seed: int):
        self.tab, self.page, self.device = tab, tab.page, device
        self.rng = random.Random(seed)
        self.presses = self.keys = 0  # keys: those that move the focus

    def reach(self, selector: str, max_presses: int = 150) -> None:
        """By Tab, and by the arrows within a list."""
        is_focused = f"document.activeElement.matches({selector!r})"
        in_list = f"document.activeElement.closest(LISTS)?.querySelector({selector!r}) != null"
        for _ in range(max_presses):
            if self.page.evaluate(is_focused):
                return
            self.page.keyboard.press("ArrowDown" if self.page.evaluate(in_list) else "Tab")
            self.keys += 1
        raise AssertionError(f"the keyboard does not come to {selector}")

    def press(self, selector: str) -> None:
        """Press what a selector finds first."""
        self.presses += 1
        if self.device == "keyboard":
            self.reach(selector)
            self.page.keyboard.press("Enter")
        elif self.device == "touch":
            self.page.locator(selector).first.tap()
        else:
            self.page.locator(selector).first.click()

    def choose(self, selector: str, value: str, named: str) -> None:
        """An entry of a list of the form."""
        if self.device == "keyboard":
            self.reach(selector)
            self.page.keyboard.type(named)
        else:
            self.page.select_option(selector, value)

    def decide(self, on_map: bool = True) -> None:
        """One decision: on the map, where something is lit there, at times; else by the list."""
        end = "#legal > .alone"
        if self.page.locator(end).count() and self.rng.random() < 0.7:
            return self.by_list(end)
        lit = self.page.locator(".stage .legal-cell")
        if on_map and self.device != "keyboard" and lit.count() and self.rng.random() < 0.5:
            return self.on_the_map(lit)
        if self.device == "keyboard":
            self.page.keyboard.press("c")
            self.presses += 1
        elif not self.page.locator("#legal-panel").is_visible():
            self.press(".tabs [data-tab='Play']")
        kinds = self.page.locator("#kinds button")
        if kinds.count():
            names = kinds.evaluate_all("all => all.map(one => one.dataset.kind)")
            done = "booster" in names and self.rng.random() < 0.25
            kind = (
                "booster" if done else self.rng.choice([n for n in names if n != "free"] or names)
            )
            self.press(f"#kinds [data-kind='{kind}']")
        return self.by_list("#legal section:not([hidden]) button, #legal > button")

    def by_list(self, selector: str) -> None:
        texts = self.page.locator(selector).evaluate_all("all => all.map(one => one.dataset.text)")
        button = f"#legal button[data-text='{self.rng.choice(texts)}']"
        self.press(button)
        # A finger sees a federation before it forms it.
        if self.device == "touch" and self.page.locator(f"{button}[aria-pressed='true']").count():
            self.press(button)

    def on_the_map(self, lit: Any) -> None:
        box = lit.nth(self.rng.randrange(lit.count())).bounding_box()
        at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.presses += 1
        if self.device == "touch":
            self.page.touchscreen.tap(*at)
        else:
            self.page.mouse.click(*at)
        if self.page.is_visible("#choice"):
            self.press("#choice button")


def line(page: Any) -> int:
    """How many decisions the game had."""
    length: int = page.evaluate("game.line.length - 1")
    return length


@pytest.mark.slow  # a whole game in a browser each
@pytest.mark.parametrize("device", SIZES)
def test_a_whole_game(browser: Any, server: Server, device: str) -> None:
    touched = device == "touch"
    tab = Watched(browser, *SIZES[device], has_touch=touched, is_mobile=touched)
    page, player = tab.page, Player(tab, device, 3)
    page.goto(f"{server.home}#seed=5&ruleset=lost_fleet")
    tab.until("document.querySelectorAll('#faction-3 option').length > 1")
    for p in (1, 2, 3):
        player.choose(f"#chair-{p}", "random", "Newcomer")
    player.press("#begin")
    tab.until(f"{MINE} && game.progress.length === 0", 300)
    page.evaluate(WATCH)
    decisions = 0
    while True:
        tab.until(f"({MINE}) || game.over", 120)
        if page.evaluate("game.over"):
            break
        node = page.evaluate("game.node")
        player.decide()
        tab.until(f"game.node !== {node} || game.over", 120)
        decisions += 1
    tab.until("document.querySelectorAll('.ranking li').length === 4")
    waits = sorted(ms for ms, _ in page.evaluate("window.answers"))
    print(f"{device}: {player.presses} presses, {player.keys} keys that move the focus,")
    print(f"{decisions} decisions of {line(page)} in the game")
    print(f"ms until an answer is shown: {waits[len(waits) // 2]:.0f}, at most {waits[-1]:.0f}")
    assert decisions >= 2 + 6 + 1  # two mines, six rounds and a pass, at least
    page.close()
    tab.check(server.home)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["mouse", "touch"])
def test_the_first_look_is_walked_through(browser: Any, server: Server, device: str) -> None:
    """Ten steps; those that require a move wait for it, while the game continues."""
    touched = device == "touch"
    tab = Watched(browser, *SIZES[device], has_touch=touched, is_mobile=touched)
    page, player = tab.page, Player(tab, device, 4)
    game = server.new_game(ruleset="lost_fleet", seats=["you", *["random"] * 3], seed=5)
    page.goto(f"{server.home}#{game}")
    tab.until(f"{MINE} && game.progress.length === 0", 300)
    measures.press_tab(page, "Help")
    player.press("#tour")
    steps: list[str] = []
    while page.locator("#tour-box").count():
        text = page.inner_text("#tour-box p")
        steps.append(text.split(".")[0])
        highlighted = page.locator(".toured")
        assert highlighted.count() == 1, text
        if page.inner_text("#tour-box button.main") == "Skip this":
            tab.until(MINE, 120)
            page.locator("#legal section button, #kinds button").first.wait_for()
            # The set-up is a step of several decisions.
            same_step = (
                f"document.querySelector('#tour-box')?.textContent.startsWith('{steps[-1]}.')"
            )
            while page.evaluate(same_step):
                node = page.evaluate("game.node")
                player.decide(on_map=False)
                tab.until(f"game.node !== {node} && (!({same_step}) || ({MINE}))", 120)
        else:
            player.press("#tour-box button.main")
    assert steps == [f"{n} of 10" for n in range(1, 11)]
    assert page.is_visible("#legal-panel") or page.evaluate("game.thinking"), (
        "back to what is asked"
    )
    page.close()
    tab.check(server.home)


def test_the_first_look_waits_for_no_decision_that_was_made(tab: Watched, server: Server) -> None:
    """The set-up is over in a record: a press continues its step. The keyboard keeps working."""
    page = tab.page
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    page.goto(f"{server.home}#{game}")
    tab.until(MINE)
    page.click("#welcome-tour")
    page.reload()
    tab.until(MINE)
    assert page.is_hidden("#welcome"), "it is offered once, also if a reload ends it"
    step = page.evaluate("TOUR.findIndex(({ until }) => until)")

    def button_texts() -> list[str]:
        page.evaluate(f"tour.begin(); tour.step = {step - 1}; tour.next()")
        return page.locator("#tour-box button").all_inner_texts()

    assert button_texts()[0] == "Skip this"
    page.evaluate("tour.end()")
    turn = "game.moves.findIndex(({ text }) => text.startsWith('advance'))"
    page.evaluate(f"go(game.line[{turn}])")
    tab.until("game.asks === 'TURN'")
    assert button_texts()[0] == "Next"
    assert page.evaluate("document.activeElement.closest('#tour-box') !== null")
    page.keyboard.press("Escape")
    assert page.locator("#tour-box").count() == 0
    assert page.evaluate("document.activeElement.closest('#legal-panel') !== null")


def test_the_ring_of_a_step_moves_to_the_others_turns(tab: Watched, server: Server) -> None:
    """They come into view only after the step that explains them has begun."""
    page = tab.page
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    page.goto(f"{server.home}#{game}")
    tab.until(MINE)
    step = page.evaluate("TOUR.findIndex(({ at }) => String(at).includes('#since'))")
    page.evaluate(f"tour.begin(); tour.step = {step - 1}; tour.next()")
    assert page.locator(".toured").get_attribute("id") == "status"
    page.evaluate("go(game.line[100])")
    tab.until("document.querySelector('.toured')?.id === 'since'")

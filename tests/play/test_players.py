"""Whole games by one who sees the page alone: by mouse, by touch on a phone, by keyboard.

Nothing but clicks, taps and keys reaches the page. What is decided is drawn by a seed.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser import Watched
from tests.play.page import MINE, show
from tests.play.player import Player
from tests.play.server import Server

SIZES = {"mouse": (1280, 800), "touch": (390, 844), "keyboard": (1280, 800)}
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
    show(tab, "Help")
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

"""The page of the table in a browser: begin a game, show panels and positions, press actions."""

from __future__ import annotations

import json
from typing import Any

from tests import measures
from tests.browser import Watched

# The settings under which a page asks for every decision.
ASKED = {"end_turn": "ask", "take_power": -1, "decline_last": False, "only_choice": False}
MINE = "game && game.legal.length > 0 && !game.thinking && !busy"
# Compiled once: positions that are shown later have their prices at once.
PRICED = "game && game.legal.length > 0 && game.legal.every(a => a.effects)"
# The choices of several actions have arrived, at the decisions that have such.
COMPLETE = """!game.legal.length || !["TURN", "AFTER", "TILE"].includes(game.asks)
  || furtherNow().turn > 0"""


def begin(
    tab: Watched, home: str, seats: tuple[str, ...], record: str = "", left: bool = False
) -> None:
    """Fill in the start form.

    Args:
        left: what the settings of a new browser decide is left to them; else all is asked.
    """
    page = tab.page
    page.goto(home)
    page.wait_for_selector("#chair-3", state="attached")
    tab.until("document.querySelectorAll('#faction-3 option').length > 1")
    if not left:
        page.evaluate(f"Object.assign(allSettings(), {json.dumps(ASKED)})")
    for player, occupant in enumerate(seats):
        page.select_option(f"#chair-{player}", occupant)
    page.select_option("#record", record)
    page.fill("#seed", "5")
    page.click("#begin")
    page.wait_for_selector(".stage > svg", timeout=240_000)


def show(tab: Watched, name: str) -> None:
    """Press the tab of a panel."""
    measures.press_tab(tab.page, name)


def opened(tab: Watched, text: str) -> Any:
    """The button of a legal action, its kind of choices opened; else of a move that begins so."""
    tab.page.evaluate(
        """text => {
          const found = choicesNow().find(({ texts }) => texts[0] === text);
          if (byId("kinds").children.length && found) openGroup(found.kind);
        }""",
        text,
    )
    exact = tab.page.locator(f'#legal button[data-text="{text}"]')
    return (
        exact if exact.count() else tab.page.locator(f'#legal button[data-text^="{text}; "]')
    ).first


def press(tab: Watched, text: str) -> None:
    """Press the button of a legal action and wait until it is answered."""
    show(tab, "Play")
    node = tab.page.evaluate("game.node")
    opened(tab, text).click()
    tab.until(f"game.node !== {node} && !busy")


def go(tab: Watched, place: int) -> None:
    """Show a position of the line, with all its choices."""
    tab.page.evaluate(f"go(game.line[{place}])")
    tab.until(f"game.node === game.line[{place}] && !busy")
    tab.until(COMPLETE)

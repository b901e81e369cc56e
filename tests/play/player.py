"""Somebody at the table in a browser who presses, taps or types alone."""

from __future__ import annotations

import random
from typing import Any

from tests.browser import Watched


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

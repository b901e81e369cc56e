"""What a page looks like to somebody who uses it, measured in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.browser import Watched

SIZES = ((390, 844), (844, 390), (1280, 800), (1920, 1080), (2560, 1440))
# A phone and a laptop each time, the others with the slow tests.
ALL = [
    pytest.param(size, marks=() if size in ((390, 844), (1280, 800)) else pytest.mark.slow)
    for size in SIZES
]
LEAST_TEXT = 11.0  # px
LEAST_TARGET = 40.0  # px, on a screen that is touched

# Small text, small targets, buttons over buttons, what is cut off, scroll bars.
_LOOK = """touch => {
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && one.getClientRects().length > 0;
  const name = (one) => `${one.tagName} ${one.id || one.className?.baseVal || one.className}`
    + ` ${(one.textContent || "").trim().slice(0, 30)}`;
  const small = [], low = [], over = [], out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    const one = text.parentElement;
    if (!text.data.trim() || ["SCRIPT", "STYLE", "OPTION"].includes(one.tagName)) continue;
    if (!seen(one) || one.closest("defs, symbol")) continue;
    const scale = one.ownerSVGElement ? one.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(one).fontSize) * scale;
    if (size < touch.text - 0.05) small.push(`${size.toFixed(1)} ${name(one)}`);
  }
  const kinds = "button, a.button, select, summary, .decisions li, input";
  const pressed = [...document.querySelectorAll(kinds)].filter((one) => seen(one)
      && !["checkbox", "range", "radio"].includes(one.type));
  const boxes = pressed.map((one) => one.getBoundingClientRect());
  pressed.forEach((one, i) => {
    const box = boxes[i];
    if (touch.target && Math.min(box.width, box.height) < touch.target - 0.5) {
      low.push(`${box.width.toFixed(0)}x${box.height.toFixed(0)} ${name(one)}`);
    }
    for (let k = i + 1; k < pressed.length; k++) {
      const other = boxes[k], second = pressed[k];
      if (one.contains(second) || second.contains(one)) continue;
      if ([one, second].some((item) => item.closest(".zoom, .choice, .stuck"))) continue;
      const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      const within = ".panel, .own, .tabs, .strip";
      const same = one.closest(within) === second.closest(within);
      if (same && wide > 1 && high > 1) over.push(`${name(one)} / ${name(second)}`);
    }
    if (box.left < -1 || box.right > innerWidth + 1) out.push(name(one));
    if (one.scrollWidth > one.clientWidth + 2) out.push(`text of ${name(one)}`);
  });
  const bars = [...document.querySelectorAll("body *"), document.documentElement].filter((one) =>
    seen(one) && one.scrollHeight > one.clientHeight + 1 && one.clientHeight > 0
    && ["auto", "scroll"].includes(getComputedStyle(one).overflowY)).map(name);
  if (document.documentElement.scrollHeight > innerHeight + 1) bars.push("the page");
  if (document.documentElement.scrollWidth > innerWidth) out.push("the page");
  return { small, low, over, out, bars };
}"""


@contextmanager
def page_of(browser: Any, size: tuple[int, int]) -> Iterator[tuple[Watched, bool]]:
    """A page at a size, and whether its screen is touched; its console must stay empty."""
    touched = min(size) < 500
    tab = Watched(browser, *size, has_touch=touched, is_mobile=touched)
    yield tab, touched
    tab.page.close()
    assert not tab.wrong, tab.wrong


def looked_at(page: Any, touched: bool) -> dict[str, list[str]]:
    """What is wrong with a page in its current state.

    Returns:
        `small`: text below LEAST_TEXT; `low`: what is pressed below LEAST_TARGET, where `touched`;
        `over`: buttons over buttons of their panel; `out`: what sticks out or is cut off;
        `bars`: what scrolls.
    """
    problems: dict[str, list[str]] = page.evaluate(
        _LOOK, {"text": LEAST_TEXT, "target": LEAST_TARGET if touched else 0}
    )
    return problems


def check(page: Any, touched: bool, label: str) -> None:
    """Nothing is too small, over another, cut off; at most one thing scrolls."""
    problems = looked_at(page, touched)
    for kind in ("small", "low", "over", "out"):
        assert not problems[kind], f"{label}: {kind}: {problems[kind][:12]}"
    assert len(problems["bars"]) <= 1, f"{label}: {problems['bars']}"


def tabs(page: Any) -> list[str]:
    """The panels that have a tab: in view, or in the menu of the tab "more"."""
    if page.locator(".more-tabs[aria-expanded='true']").is_visible():
        page.click(".more-tabs")
    names: list[str] = page.evaluate(
        "[...document.querySelectorAll('.tabs button[data-tab]')].filter(one => one.offsetParent"
        " || one.matches('[data-rare]')).map(one => one.dataset.tab)"
    )
    return names


def press_tab(page: Any, name: str) -> None:
    """Press the tab of a panel; the one that shows more before it, where it is not in view."""
    tab = page.locator(f'.tabs button[data-tab="{name}"]')
    if not tab.is_visible():
        page.click(".tabs .more-tabs")
    tab.click()


# What has a light ground although most of the page is dark; the pieces of a map may.
_BRIGHT = """() => [...document.querySelectorAll(
  "body, body :not(svg, svg *), path, rect")].filter((one) => {
  const style = getComputedStyle(one), { width, height } = one.getBoundingClientRect();
  if (one.closest(".stage, .picture") || width < 60 || height < 60) return false;
  const colour = one instanceof SVGElement ? style.fill : style.backgroundColor;
  const [red, green, blue, alpha = 1] = (colour.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  return one.checkVisibility() && alpha > 0.5 && red + green + blue > 380;
}).map((one) => one.outerHTML.slice(0, 120))"""


def bright(page: Any) -> list[str]:
    """The areas of a page in the dark theme that have a light ground."""
    areas: list[str] = page.evaluate(_BRIGHT)
    return areas


def serious(page: Any) -> list[str]:
    """The serious findings of axe-core, which a package brings along; no network is asked."""
    module = "axe_playwright_python.sync_playwright"
    axe = pytest.importorskip(module, reason="axe-playwright-python is not installed (extra dev)")
    violations = axe.Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]

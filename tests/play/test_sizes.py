"""Start form and table at five sizes: text, targets, overlaps, scroll bars; axe-core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from gaia_jax import replay
from tests import measures
from tests.play.server import Server
from tests.render.records import RECORDS

APPEARANCES = (
    ("light", "en", (1280, 800)), ("dark", "en", (1920, 1080)), ("light", "ko", (390, 844)),
    ("dark", "de", (844, 390)), ("light", "de", (2560, 1440)),
)  # fmt: skip


# A phone and a laptop each time, the others with the slow tests.
ALL = [
    pytest.param(size, marks=() if size in ((390, 844), (1280, 800)) else pytest.mark.slow)
    for size in measures.SIZES
]


@pytest.fixture(params=ALL, ids=lambda size: f"{size[0]}x{size[1]}")
def tab(browser: Any, server: Server, request: Any) -> Iterator[tuple[Any, bool]]:
    """A page at a size, and whether its screen is touched."""
    with measures.page_of(browser, request.param) as (page, touched):
        page.set_default_timeout(60_000)
        yield page, touched


def until(page: Any, expression: str, seconds: float = 120) -> None:
    """Wait; the page's own policy forbids to evaluate a text in it."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} does not come true"
        time.sleep(0.02)


def enter(page: Any, server: Server) -> None:
    """A recorded game, at its first position."""
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    page.goto(f"{server.home}#{game}")
    until(page, "game && game.legal.length > 0 && game.legal.every(a => a.effects)")


def go(page: Any, place: int) -> None:
    page.evaluate(f"go(game.line[{place}])")
    until(page, f"game.node === game.line[{place}]")
    until(page, "game.asks !== 'TURN' || furtherNow().turn > 0")


def places() -> dict[str, int]:
    """Decisions of the record that look different."""
    moves = replay.read(RECORDS["lost_fleet"]).actions
    return {
        "set-up": 0,
        "a turn": next(k for k, text in enumerate(moves) if text.startswith("upgrade")),
        "a federation": moves.index("form_federation"),
        "power offered": next(k for k, text in enumerate(moves) if text.startswith("leech")),
        "a tile": next(k for k, text in enumerate(moves) if text.startswith("tile")),
        "the end": len(moves),
    }


def test_the_form_can_be_read_and_touched(tab: tuple[Any, bool], server: Server) -> None:
    page, touched = tab
    page.goto(f"{server.home}#seed=5&ruleset=lost_fleet")
    page.wait_for_selector("#preview svg")
    problems = measures.looked_at(page, touched)
    for kind in ("small", "low", "over", "out"):
        assert not problems[kind], (kind, problems[kind][:8])


@pytest.mark.slow
def test_the_table_can_be_read_and_touched(tab: tuple[Any, bool], server: Server) -> None:
    page, touched = tab
    enter(page, server)
    for place_name, place in places().items():
        go(page, place)
        for name in measures.tabs(page):
            measures.press_tab(page, name)
            measures.check(page, touched, f"{name} at {place_name}")
        measures.press_tab(page, "Play")
        for kind in page.locator("#kinds button").all():
            kind.click()
            # A low screen scrolls to its first choice; the fixed line may cover other choices.
            page.evaluate("document.querySelector('.deck.play').scrollTop = 0")
            measures.check(page, touched, f"{kind.inner_text()} at {place_name}")


@pytest.mark.slow  # axe-core looks for seconds at each panel
@pytest.mark.parametrize(("scheme", "code", "size"), APPEARANCES)
def test_axe_finds_nothing_serious(
    browser: Any, server: Server, scheme: Any, code: str, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, locale=code)
    page = context.new_page()
    page.goto(f"{server.home}#seed=5&ruleset=lost_fleet")
    page.wait_for_selector("#preview svg")
    assert measures.serious(page) == [], "the form"
    enter(page, server)
    for place_name in ("power offered", "the end"):
        go(page, places()[place_name])
        assert measures.serious(page) == [], place_name
    go(page, places()["a turn"])
    page.click("#kinds [data-kind='upgrade']")
    for name in measures.tabs(page):
        measures.press_tab(page, name)
        assert measures.serious(page) == [], name
    context.close()

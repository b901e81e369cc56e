"""Start form and table at five sizes: text, targets, overlaps, scroll bars; axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gaia_jax import replay
from tests import measures
from tests.browser import Watched
from tests.play.page import PRICED, go
from tests.play.server import Server
from tests.render.records import RECORDS

APPEARANCES = (
    ("light", "en", (1280, 800)), ("dark", "en", (1920, 1080)), ("light", "ko", (390, 844)),
    ("dark", "de", (844, 390)), ("light", "de", (2560, 1440)),
)  # fmt: skip


@pytest.fixture(params=measures.ALL, ids=lambda size: f"{size[0]}x{size[1]}")
def sized(browser: Any, server: Server, request: Any) -> Iterator[tuple[Watched, bool]]:
    """A page at a size, and whether its screen is touched."""
    with measures.page_of(browser, request.param) as (tab, touched):
        yield tab, touched


def enter(tab: Watched, server: Server) -> None:
    """A recorded game, at its first position."""
    game = server.new_game(seats=["you"] * 4, record="lost_fleet")
    tab.page.goto(f"{server.home}#{game}")
    tab.until(PRICED, 300)


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


def test_the_form_can_be_read_and_touched(sized: tuple[Watched, bool], server: Server) -> None:
    tab, touched = sized
    page = tab.page
    page.goto(f"{server.home}#seed=5&ruleset=lost_fleet")
    page.wait_for_selector("#preview svg")
    problems = measures.looked_at(page, touched)
    for kind in ("small", "low", "over", "out"):
        assert not problems[kind], (kind, problems[kind][:8])


@pytest.mark.slow
def test_the_table_can_be_read_and_touched(sized: tuple[Watched, bool], server: Server) -> None:
    tab, touched = sized
    page = tab.page
    enter(tab, server)
    for place_name, place in places().items():
        go(tab, place)
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
    tab = Watched(browser, *size, color_scheme=scheme, locale=code)
    page = tab.page
    page.goto(f"{server.home}#seed=5&ruleset=lost_fleet")
    page.wait_for_selector("#preview svg")
    assert measures.serious(page) == [], "the form"
    enter(tab, server)
    for place_name in ("power offered", "the end"):
        go(tab, places()[place_name])
        assert measures.serious(page) == [], place_name
    go(tab, places()["a turn"])
    page.click("#kinds [data-kind='upgrade']")
    for name in measures.tabs(page):
        measures.press_tab(page, name)
        assert measures.serious(page) == [], name
    page.close()

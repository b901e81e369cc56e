"""The replay page at five sizes: sizes of text and targets, overlaps, scroll bars, axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import measures

PLACES = (0, 110, 313)


@pytest.fixture(params=measures.ALL, ids=lambda size: f"{size[0]}x{size[1]}")
def page_at_size(written: Path, browser: Any, request: Any) -> Iterator[tuple[Any, bool]]:
    """The page at a size, and whether its screen is touched."""
    with measures.page_of(browser, request.param) as (tab, touched):
        tab.page.goto(written.as_uri())
        tab.page.wait_for_selector("body[data-ready]")
        yield tab.page, touched


def test_every_panel_can_be_read_and_touched(page_at_size: tuple[Any, bool]) -> None:
    tab, touched = page_at_size
    for place in PLACES:
        tab.evaluate(f"go({place})")
        for name in measures.tabs(tab):
            measures.press_tab(tab, name)
            measures.check(tab, touched, f"{name} at {place}")


def test_ones_own_board_and_the_way_to_all_panels_are_in_view(
    page_at_size: tuple[Any, bool],
) -> None:
    tab, _ = page_at_size
    width, height = tab.viewport_size["width"], tab.viewport_size["height"]
    board = ".tabs.board"
    if not tab.is_visible(board):  # a large screen has room for the panels themselves
        board = ".deck.board > .panel:not(#panel-players)"
    for selector in (".own .stock", ".own .vp", ".tabs.play", board, ".stage"):
        boxes = [found.bounding_box() for found in tab.locator(selector).all()]
        assert boxes, selector  # of every player on a large screen
        for box in boxes:
            assert box and box["width"] > 30 and box["height"] > 15, selector
            assert 0 <= box["x"] and box["x"] + box["width"] <= width, selector
            assert 0 <= box["y"] and box["y"] + box["height"] <= height, selector
    least = 0.24 if width > height else 0.3
    stage = tab.locator(".stage").bounding_box()
    assert stage["width"] * stage["height"] > least * width * height, "the map is a picture"


PIECES = """() => [...document.querySelectorAll(
    "[id^='structure-'], [id^='gaiaformer-'], [id^='satellite-'], [id^='guest-'], [id^='station-']",
  )].map((piece) => {
    const text = piece.querySelector("text"), scale = text.getScreenCTM().a;
    const { fill } = game.seats[Number(text.textContent) - 1];
    return { id: piece.id, shown: text.checkVisibility(), coloured: piece.innerHTML.includes(fill),
      size: parseFloat(getComputedStyle(text).fontSize) * scale };
  })"""


def test_pieces_on_the_map_have_the_number_of_their_player(page_at_size: tuple[Any, bool]) -> None:
    tab, _ = page_at_size
    tab.evaluate("go(count)")
    pieces = tab.evaluate(PIECES)
    kinds = {piece["id"].split("-")[0] for piece in pieces}
    assert {"structure", "satellite"} <= kinds and len(pieces) > 30
    for piece in pieces:
        assert piece["shown"] and piece["coloured"] and piece["size"] >= 11, piece


def test_the_typeface_comes_with_the_page(page_at_size: tuple[Any, bool]) -> None:
    tab, _ = page_at_size
    fonts = tab.evaluate(
        "document.fonts.ready.then(all => [...all].map(x => [x.family, x.status]))"
    )
    assert fonts == [["Inter", "loaded"]]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_last_move_glides_unless_one_wants_less_motion(
    written: Path, browser: Any, motion: Any
) -> None:
    context = browser.new_context(reduced_motion=motion)
    tab = context.new_page()
    tab.goto(written.as_uri())
    tab.wait_for_selector("body[data-ready]")
    durations = "document.getAnimations().map(x => x.effect.getTiming().duration)"
    built = tab.evaluate("game.moves.findIndex(({ text }) => text.startsWith('mine')) + 1")
    tab.evaluate(f"go({built - 1})")
    gliding = tab.evaluate(f"(go({built}), {durations})")
    assert len(gliding) == (motion == "no-preference") and all(ms < 400 for ms in gliding)
    tab.evaluate("Promise.all(document.getAnimations().map(x => x.finished)).then(() => 0)")
    assert tab.evaluate(f"(go(count), {durations})") == [], "a jump changes many"
    context.close()


def test_the_map_zooms_and_pans(page_at_size: tuple[Any, bool]) -> None:
    tab, _ = page_at_size
    box = tab.locator(".stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    width = "view.zoom.box.width"
    initial_width = tab.evaluate(width)
    tab.click("[aria-label='zoom in']")
    assert tab.evaluate(width) < initial_width
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, -300)
    near = tab.evaluate(width)
    assert near < initial_width / 1.6
    before = tab.evaluate("view.zoom.box.x")
    tab.mouse.down()
    tab.mouse.move(x - 40, y, steps=4)
    tab.mouse.up()
    assert tab.evaluate("view.zoom.box.x") > before
    tab.mouse.dblclick(x, y)
    assert tab.evaluate(width) == initial_width


def test_names_of_ships_leave_the_planets_of_a_small_map_free(
    page_at_size: tuple[Any, bool],
) -> None:
    tab, touched = page_at_size
    if not touched:
        pytest.skip("a large map")
    names, planets = (
        [one.bounding_box() for one in tab.locator(selector).all()]
        for selector in ("#part-ship-names text", ".stage [id^='planet-']")
    )
    assert len(names) == 4 and len(planets) > 40
    for name in names:
        for planet in planets:
            x, y = (planet[at] + planet[side] / 2 for at, side in (("x", "width"), ("y", "height")))
            right, baseline = name["x"] + name["width"], name["y"] + 0.8 * name["height"]
            far_x, far_y = max(name["x"] - x, x - right, 0), max(name["y"] - y, y - baseline, 0)
            assert max(far_x, far_y) > 0.3 * planet["width"], "on the sign of a planet"


def test_coordinates_and_the_place_of_a_move(page_at_size: tuple[Any, bool]) -> None:
    tab, touched = page_at_size
    tab.click("[aria-label='coordinates']")
    names = tab.locator(".stage .coordinate:visible")
    assert names.count() == tab.locator(".stage [data-cell]").count(), (
        "drawn nearer where it is small"
    )
    measures.check(tab, touched, "coordinates")
    tab.click("[aria-label='coordinates']")
    assert names.count() == 0
    tab.evaluate("go(110)")
    row = tab.locator("#moves .turn-row[data-at]").first
    row.focus()
    places = row.get_attribute("data-at").split()
    assert tab.locator(".stage .over-look.ring").count() == len(places)
    row.blur()
    assert tab.locator(".stage .over-look").count() == 0


def test_help_at_the_focus_and_under_a_finger(page_at_size: tuple[Any, bool]) -> None:
    tab, touched = page_at_size
    piece = ".own [id^='built-0-MINE'], .own .stock .piece"
    if touched:
        tab.locator(piece).first.tap()
    else:
        tab.locator(piece).first.hover()
    tab.wait_for_selector("#help-box", state="visible")
    assert len(str(tab.inner_text("#help-box"))) > 20
    tab.keyboard.press("Escape")
    assert tab.is_hidden("#help-box")
    tab.keyboard.press("Tab")
    measures.press_tab(tab, "Help")
    assert tab.locator("#rules details").count() >= 10


def test_arrows_move_within_a_board_and_tab_leaves_it(page_at_size: tuple[Any, bool]) -> None:
    """A walk by Tab alone had 125 stops on a large screen."""
    tab, _ = page_at_size
    board = tab.locator(".own .seat-board").first

    def focused() -> int:
        """The place of the focus in the board; -1 if it is elsewhere."""
        place = "board => [...board.querySelectorAll('button')].indexOf(document.activeElement)"
        return int(board.evaluate(place))

    board.locator("button").first.focus()
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("Tab", -1)):
        tab.keyboard.press(key)
        assert focused() == place, key
    tab.keyboard.press("Shift+Tab")
    assert focused() > 2, "into it from below: at its last piece"
    tab.keyboard.press("ArrowDown")
    assert focused() == 0
    tab.keyboard.press("Shift+Tab")
    assert focused() == -1


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "size"), [("light", (1280, 800)), ("dark", (844, 390))])
def test_axe_finds_nothing_serious(
    written: Path, browser: Any, scheme: Any, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(written.as_uri())
    tab.wait_for_selector("body[data-ready]")
    tab.evaluate("go(150)")
    for name in measures.tabs(tab):
        measures.press_tab(tab, name)
        assert measures.serious(tab) == [], name
    context.close()

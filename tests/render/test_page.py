"""The replay page: small, soon made, and in a real browser."""

from __future__ import annotations

import csv
import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gaia_jax import replay
from gaia_jax.language import in_language
from gaia_jax.replay import move_list
from gaia_jax.replay.page import moves
from tests.browser import Watched
from tests.render.records import RECORDS

PER_DECISION = 1_500_000 / 400  # bytes: 1.5 MB for 400 decisions


def test_a_page_is_small(written: Path) -> None:
    count = len(replay.read(RECORDS["lost_fleet"]).actions)
    assert written.stat().st_size <= PER_DECISION * count
    text = written.read_text(encoding="utf-8")
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https" not in text


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 800])
def test_slider_keys_rounds_and_seats(written: Path, width: int, browser: Any) -> None:
    record = replay.read(RECORDS["lost_fleet"])
    count = len(record.actions)
    tab = Watched(browser, width)
    show = tab.page
    show.goto(written.as_uri())
    show.wait_for_selector("body[data-ready]")

    def place() -> str:
        return str(show.text_content("#place"))

    assert place() == f"0 / {count}"
    for _ in range(3):
        show.keyboard.press("ArrowRight")
    assert place() == f"3 / {count}"
    colours = show.locator(".turn-row").evaluate_all(
        "rows => rows.map((row) => getComputedStyle(row).color)"
    )
    assert colours[0] != colours[-1], "later turns are paler"
    show.keyboard.press("ArrowLeft")
    assert place() == f"2 / {count}"
    show.keyboard.press("End")
    assert place() == f"{count} / {count}"
    for player, vp in enumerate(record.final_vp):
        assert show.text_content(f"#vp-{player} span") == str(vp)
    in_turn_order = [int(vp) for vp in show.locator(".head .turn small").all_text_contents()]
    assert sorted(in_turn_order) == sorted(record.final_vp), "in view whatever panel is open"
    show.keyboard.press("Home")
    show.locator("#slider").fill(str(count // 2))
    assert place() == f"{count // 2} / {count}"
    show.click("[data-round='3']")
    assert "Round 3" in str(show.text_content("#block-head"))
    show.keyboard.press("ArrowDown")
    assert "Round 4" in str(show.text_content("#block-head"))
    assert show.is_visible(".own #block-seat-0")
    show.keyboard.press("v")
    assert show.is_visible(".own #block-seat-1") and show.locator(".own .seat-board").count() == 1
    show.click("#each")
    show.click("#moves li[data-n='7'] .what")
    assert place() == f"7 / {count}"
    show.click("[data-tab='Charts']")
    assert show.locator("#scores svg path").count() == 8
    assert show.locator("#sources svg polygon").count() == 18
    tab.check("file://")
    assert len(tab.requests) == 1


def opened(file: Path, browser: Any) -> Watched:
    """The page of a file, as soon as it is drawn."""
    tab = Watched(browser, 1280)
    tab.page.goto(file.as_uri())
    tab.page.wait_for_selector("body[data-ready]")
    return tab


def test_space_plays_only_where_nothing_else_has_it(written: Path, browser: Any) -> None:
    tab = opened(written, browser)
    show = tab.page
    show.focus("#each")
    show.keyboard.press("Space")
    assert show.is_checked("#each") and show.evaluate("playback.timer") is None
    show.evaluate("document.querySelector('#rules summary').closest('details').open = false")
    show.evaluate("document.querySelector('#rules summary').focus()")
    show.keyboard.press("Space")
    assert show.evaluate("playback.timer") is None
    show.focus("#slider")
    show.keyboard.press("Space")
    assert show.evaluate("playback.timer") is not None
    tab.check("file://")


def test_a_playback_that_starts_again_during_a_step_runs_once(written: Path, browser: Any) -> None:
    tab = opened(written, browser)
    tab.page.evaluate("""() => {
      window.steps = [];
      const step = () => new Promise((done) => steps.push(done));
      window.slow = new Playback(element("button"), { value: "1" }, step);
      slow.toggle();
    }""")
    tab.until("steps.length === 1")
    tab.page.evaluate("slow.toggle(); slow.toggle()")
    tab.until("steps.length === 2")
    later = "new Promise((done) => setTimeout(() => done(steps.length), 20))"
    assert tab.page.evaluate(f"steps[0](true); {later}") == 2
    tab.page.evaluate("steps[1](false)")
    tab.until("slow.timer === null")


def test_charts_and_sheets_of_factions_have_names(written: Path, browser: Any) -> None:
    tab = opened(written, browser)
    show = tab.page
    show.click("[data-tab='Charts']")
    sources = show.inner_text("#sources-title")
    for holder, name in (("#scores", "VP"), ("#sources", sources)):
        assert show.locator(holder).get_by_role("img", name=name, exact=True).count() == 1
    names = show.evaluate("game.seats.map(({ name }) => name)")
    titles = show.locator("#rules summary").all_text_contents()
    assert titles[-len(names) :] == names


@pytest.mark.parametrize("ruleset", ["lost_fleet", pytest.param("base", marks=pytest.mark.slow)])
def test_every_decision_is_listed(ruleset: str) -> None:
    record = replay.read(RECORDS[ruleset])
    decisions = list(moves(record))
    lines = list(move_list.lines(decisions))
    assert len(lines) == len(record.actions) + 7, "a line a decision, a head line a round"
    assert lines[0] == "Set-up" and "Round 6" in lines
    with in_language("de"):
        assert next(move_list.lines(decisions)) == "Aufbau"


@pytest.mark.slow
def test_the_command_writes_page_csv_and_moves(tmp_path: Path) -> None:
    out, table = tmp_path / "a.html", tmp_path / "a.csv"
    record = replay.read(RECORDS["base"])
    command = [sys.executable, "-m", "gaia_jax.replay", str(RECORDS["base"])]
    done = subprocess.run(
        [*command, "--moves", "--csv", str(table), "--html", str(out)],
        capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Round 6" in done.stdout and "verified" in done.stdout
    assert done.stderr.splitlines()[-2:] == [f"wrote {table}", f"wrote {out}"]
    # What this command wrote may be written again.
    assert out.read_bytes().startswith(replay.HTML_HEAD)
    assert table.read_bytes().startswith(replay.CSV_HEAD)
    with table.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    assert [row["action"] for row in rows] == list(record.actions)
    assert tuple(int(rows[-1][f"vp_{p}"]) for p in range(4)) == record.final_vp


def test_a_key_twice_is_refused(tmp_path: Path) -> None:
    text = RECORDS["base"].read_text(encoding="utf-8")
    path = tmp_path / "twice.json"
    path.write_text(text.replace('"version"', '"ruleset"', 1), encoding="utf-8")
    with pytest.raises(replay.RecordError, match="key 'ruleset' appears twice"):
        replay.read(path)


def test_an_unfinished_game_is_a_record_too(tmp_path: Path) -> None:
    record = replay.read(RECORDS["base"])
    part = replay.Record(record.ruleset, record.version, record.setup, record.actions[:9], ())
    path = tmp_path / "part.json"
    replay.write(path, part)
    assert not bool(replay.play(replay.read(path)).terminated)


@pytest.mark.slow
def test_a_page_that_does_not_fit_on_the_disk_is_not_there(tmp_path: Path) -> None:
    """One line names the file; an existing page is unchanged."""
    record, out = tmp_path / "begun.json", tmp_path / "a.html"
    record_file = replay.read(RECORDS["base"])
    replay.write(record, dataclasses.replace(record_file, actions=(), final_vp=()))
    script = (
        "import resource, sys\n"
        "from gaia_jax import replay\n"
        "from gaia_jax.replay import page\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "sys.exit(replay.main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", script, str(record), "--quiet", "--html", str(out)]
    # The limit holds for JAX's cache too, so it is read and nothing is written to it.
    environment = os.environ | {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1e9"}
    for content_before in (None, replay.HTML_HEAD + b"an older page"):
        if content_before is not None:
            out.write_bytes(content_before)
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
        assert done.returncode == 2, done.stderr
        assert done.stderr == f"error: cannot write {out}: File too large\n"
        files = {path: path.read_bytes() for path in tmp_path.iterdir() if path != record}
        assert files == ({out: content_before} if content_before is not None else {})

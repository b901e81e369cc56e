"""Debian's Chromium for tests: found, started with nothing of its own to say to any network."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def executable() -> str:
    """The path of the browser; skips the test with the reason where it is missing."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra dev)")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.skip("there is no chromium: apt-get install chromium")
    return path


@contextmanager
def opened() -> Iterator[Any]:
    """A running browser."""
    path = executable()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


_HOLD = """(path) => {
  const ask = window.fetch;
  window.heldBack = [];
  window.fetch = (url, options) => (url.startsWith(path)
    ? new Promise((done) => heldBack.push(() => done(ask(url, options)))) : ask(url, options));
}"""


class Watched:
    """A page whose requests, console and errors are kept."""

    def __init__(self, browser: Any, width: int, height: int = 900, **more: Any):
        """`more`: what else a page of Playwright is made with, such as `has_touch`."""
        self.page = browser.new_page(viewport={"width": width, "height": height}, **more)
        self.page.set_default_timeout(60_000)
        self.requests: list[str] = []
        self.wrong: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self._console)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def until(self, expression: str, seconds: float = 60) -> None:
        """Wait until a JavaScript expression holds. The page's own policy forbids eval in it."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"{expression} does not come true; {self.wrong}"
            time.sleep(0.02)

    def hold(self, path: str) -> None:
        """What the page asks of a path that begins so waits for `release`, from now on.

        A route of Playwright's that is set on an open page may come too late for the next request.
        """
        self.page.evaluate(_HOLD, path)

    def hold_from_start(self, path: str) -> None:
        """`hold` for the pages that are loaded from now on, before their first request."""
        self.page.add_init_script(f"({_HOLD})({json.dumps(path)})")

    def num_waiting(self) -> int:
        """How many requests wait."""
        return int(self.page.evaluate("heldBack.length"))

    def release(self) -> None:
        """Ask what waits."""
        self.page.evaluate("heldBack.splice(0).forEach((go) => go())")

    @contextmanager
    def answered(self, path: str) -> Iterator[None]:
        """What is done meanwhile asks for a path; at the end the page has read the answer."""
        with self.page.expect_response(lambda response: path in response.url) as waiting:
            yield
        waiting.value.finished()
        self.page.evaluate("new Promise((done) => setTimeout(done))")

    def check(self, home: str) -> None:
        """Nothing went wrong, and nothing was asked of anybody but `home`."""
        assert not self.wrong, self.wrong
        strangers = [url for url in self.requests if not url.startswith((home, "data:"))]
        assert not strangers, strangers

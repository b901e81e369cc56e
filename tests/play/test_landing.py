"""The first page comes before the games are there; what needs them waits."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from tests.play.asgi import request, run
from training.play import __main__ as play
from training.play.landing import FILES, Landing
from training.play.request_guard import LOOPBACK


def test_the_page_is_there_before_the_games() -> None:
    landing = Landing(["localhost"])

    async def games(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"offers"})

    async def visit() -> None:
        page = await request(landing, "/")
        assert page.status == 200 and b"/static/main.js" in page.body
        for name in FILES:
            assert (await request(landing, f"/static/{name}")).status == 200
        assert (await request(landing, "/static/landing.py")).status == 404
        assert (await request(landing, "/nothing")).status == 404
        assert (await request(landing, "/", host="evil.example")).status == 421
        waiting = asyncio.ensure_future(request(landing, "/api/offers"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        landing.games = games
        offers = await waiting
        assert (offers.status, offers.body) == (200, b"offers")
        assert (await request(landing, "/api/offers", host="evil.example")).status == 421

    run(visit())


def test_the_first_page_needs_no_jax() -> None:
    """It is the import that takes the seconds."""
    code = "import sys, training.play.landing, training.play.__main__; print('jax' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True
    )
    assert done.stdout.split() == ["False"], done.stderr


@pytest.mark.parametrize(
    ("options", "needs_key"),
    [([], False), (["--host", "192.0.2.5"], True), (["--allow-host", "games.example"], True)],
)
def test_whoever_comes_from_elsewhere_needs_a_key(options: list[str], needs_key: bool) -> None:
    assert play._needs_key(play._parse(options), LOOPBACK) is needs_key


@pytest.mark.parametrize(
    ("host", "displayed"),
    [("127.0.0.1", "localhost"), ("192.0.2.5", "192.0.2.5"), ("::1", "[::1]")],
)
def test_the_printed_address_can_be_opened(host: str, displayed: str) -> None:
    assert play._displayed_host(host) == displayed


def test_the_local_network_gets_an_address_and_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = dict[str, bool]()
    code = SimpleNamespace(terminal=lambda compact: printed.update(compact=compact))
    monkeypatch.setitem(sys.modules, "segno", SimpleNamespace(make=lambda address: code))
    play._print_qr_code("http://192.0.2.5:8420/#key=abc")
    assert printed == {"compact": True}

"""One server and one browser for all tests of the table."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import Watched
from tests.play.server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The table, with one saved record in its folder."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra play)")
    from tests.render.records import RECORDS

    folder = tmp_path_factory.mktemp("play")
    running = Server(folder, "--record", str(RECORDS["lost_fleet"]))
    # The first action waits for the rules to be compiled.
    game = running.new_game(ruleset="lost_fleet", seats=["you"] * 4)
    legal = running.request("GET", f"/api/games/{game}")[1]["legal"]
    running.change(game, "act", action=legal[0]["text"])
    yield running
    trace = [line for line in running.output if "Traceback" in line]
    running.end()
    assert not trace, "".join(running.output)


@pytest.fixture
def width() -> int:
    """Of the page; a test that wants others is parametrized with it."""
    return 1280


@pytest.fixture
def tab(browser: Any, server: Server, width: int) -> Iterator[Watched]:
    """A page; at its end it had no errors and sent requests only to the server."""
    watched = Watched(browser, width)
    yield watched
    watched.page.close()
    watched.check(server.home)

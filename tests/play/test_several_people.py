"""Several people at one table: four browsers at once, a server that is killed between two moves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Watched
from tests.play.server import Server

NETWORK = ("--host", "127.0.0.2")  # not this machine's own name: as on a local network
NAMES = ("\uae40\ubbfc\uc900", "J\u00f6rg", "Anna")


class Person(Watched):
    """A browser of its own."""

    def __init__(self, browser: Any, link: str, name: str = ""):
        super().__init__(browser, 1280)
        if name:
            self.page.add_init_script(f"localStorage.setItem('gaia_jax name', '\"{name}\"')")
        self.page.goto(link)

    def at_table(self) -> None:
        """Wait until the table is in view."""
        self.until("game && document.querySelector('.stage > svg')", 240)

    def view(self) -> list[int]:
        """The position and the board in view."""
        values: list[int] = self.page.evaluate("[game.node, view.first]")
        return values

    def play(self) -> int:
        """Take the first legal action; how many decisions the game had before."""
        self.until("game.legal.length > 0 && !busy")
        length: int = self.page.evaluate("game.line.length")
        self.page.evaluate("act(game.legal[0].text)")
        self.until(f"game.line.length > {length} && !busy")
        return length


@pytest.fixture
def network(tmp_path: Path) -> Iterator[list[Server]]:
    """A server with a key; a test may put another one in its place."""
    servers = [Server(tmp_path, *NETWORK)]
    yield servers
    servers[0].end()


def links_of(host: Person) -> list[str]:
    """The link of each seat and the one to watch, as the host of a table sees them."""
    keys: list[str] = host.page.evaluate("[...game.seats.map(s => s.key), game.watch_key]")
    home: str = host.page.evaluate("location.origin")
    return [f"{home}/#key={key}" for key in keys]


@pytest.mark.slow  # two servers, five browsers
def test_four_browsers_at_one_table(browser: Any, network: list[Server], tmp_path: Path) -> None:
    server = network[0]
    host = Person(browser, f"{server.home}#key={server.key}", NAMES[0])
    host.until("offers && !byId('begin').disabled")
    game = host.page.evaluate(
        "call('/api/games', {ruleset: 'lost_fleet', seats: ['you', 'you', 'you', 'you'], seed: 5})"
    )["id"]
    host.page.evaluate(f"location.hash = '{game}'")
    host.at_table()
    links = links_of(host)
    second, third = (
        Person(browser, link, name) for link, name in zip(links[1:3], NAMES[1:], strict=True)
    )
    watcher = Person(browser, links[4])
    for person in (second, third, watcher):
        person.at_table()
    people = [host, second, third, watcher]
    assert [person.page.evaluate("game.mine") for person in people] == [[0], [1], [2], []]
    host.until("game.seats[2].person")
    assert host.page.evaluate("game.seats.slice(1, 3).map(s => s.person)") == list(NAMES[1:])
    assert second.page.evaluate("game.settings.take_power") == 0, "its own settings, by the link"
    # The host also plays the free fourth seat.
    host.page.evaluate("sit(3)")
    host.until("game.mine.length === 2")

    # Moves of one are seen by all; nobody plays for another.
    for _ in range(3):
        now = next(p for p in people if p.page.evaluate("game.legal.length > 0"))
        assert all(p.page.evaluate("game.legal.length === 0") for p in people if p is not now)
        length = now.play()
        for person in people:
            person.until(f"game.line.length > {length}")
    host.page.evaluate("byId('chat-line').value = 'hello <b>'; byId('chat').requestSubmit()")
    faction = host.page.evaluate("game.seats[0].name")  # the host has given no name
    for person in people:
        person.until(f"byId('chat-lines').textContent === '{faction}: hello <b>'")
    assert second.page.inner_text("#heard") == f"{faction}: hello <b>"
    # The watcher looks back and at another board; nobody else's view moves.
    watcher.page.keyboard.press("Home")
    watcher.until("game.node === 0")
    watcher.page.keyboard.press("v")
    seen = watcher.view()
    views = [person.view() for person in people[:3]]
    second.page.reload()
    second.at_table()
    assert [person.view() for person in people[:3]] == views
    assert second.page.evaluate("game.mine") == [1]

    # Killed between two moves: the same seats, positions and views after it starts again.
    length = host.page.evaluate("game.line.length")
    server.process.kill()
    server.process.wait(10)
    third.page.close()
    network[0] = Server(tmp_path, *NETWORK, port=server.port)
    assert network[0].key == server.key
    people = [host, second, watcher]
    for person in people:
        person.page.reload()
        person.at_table()
    assert watcher.view() == seen
    assert [person.view() for person in people[:2]] == views[:2]
    assert host.page.evaluate("[game.line.length, game.mine]") == [length, [0, 3]]
    assert "hello" in host.page.text_content("#chat-lines")
    again = Person(browser, links[2])  # on another device, by the link of the seat
    again.at_table()
    assert again.page.evaluate("[game.mine, game.seats[2].person]") == [[2], NAMES[2]]
    now = next(p for p in (host, second, again) if p.page.evaluate("game.legal.length > 0"))
    assert now.page.title().startswith("\u25cf Your turn")
    length = now.play()
    for person in (host, second, again):
        person.until(f"game.line.length > {length}")
    assert watcher.view() == seen
    for person in (host, second, again, watcher):
        person.page.close()
        # While there was no server.
        person.wrong = [line for line in person.wrong if "net::ERR_CONNECTION" not in line]
        person.check(server.home)


@pytest.mark.slow  # compiles the rules in a server of its own
def test_a_free_seat_is_taken_by_name_and_a_stranger_sees_nothing(
    browser: Any, network: list[Server]
) -> None:
    server = network[0]
    stranger = Person(browser, server.home)
    stranger.until("byId('start-message').textContent.startsWith('open the link')")
    host = Person(browser, f"{server.home}#key={server.key}", NAMES[0])
    host.until("offers && !byId('begin').disabled")
    game = host.page.evaluate(
        "call('/api/games', {ruleset: 'base', seats: ['you', 'you'], seed: 5})"
    )["id"]
    guest = Person(browser, f"{server.home}#key={server.key}")
    guest.until("byId('under-way').textContent.includes('a free seat')")
    guest.page.click(f"#under-way a[href='#{game}']")
    guest.at_table()
    guest.page.click(".tabs button[data-tab='Table']")
    guest.page.fill("#own-name", NAMES[1])
    guest.page.click("#seats .person button >> text=Sit here")
    guest.until("game.mine.length === 1")
    assert guest.page.evaluate("game.seats[1].person") == NAMES[1]
    stranger.wrong.clear()
    stranger.page.goto(f"{server.home}#{game}")
    stranger.page.reload()
    stranger.until("byId('start-message').textContent.startsWith('open the link')")
    stranger.page.evaluate(f"location.hash = 'key={server.key}'")
    stranger.until("offers && !byId('begin').disabled && !byId('start').hidden")
    for person in (host, guest):
        person.page.close()
        person.check(server.home)

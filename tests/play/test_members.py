"""Who may do what at a table, without a browser: seats, links, strangers, tables kept on disk."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is not installed (extra play)")

from gaia_jax.replay import Record
from tests.play.network import Client, Network
from training.play import kept_tables, table_changes
from training.play.access import MAX_WRONG_KEYS, Access
from training.play.agent_pool import AgentPool, AgentProgram
from training.play.all_rules import AllRules
from training.play.app import Pages
from training.play.background import Job, error_text
from training.play.compiled_rules import Rules
from training.play.game import HUMAN, Game, Position, Refused
from training.play.game_server import GameServer
from training.play.hints import AnalysedPosition
from training.play.kept_tables import KeptTables, OpenTable
from training.play.members import Forbidden, Members, read_name

SEATS = [HUMAN, HUMAN, "random", HUMAN]


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    """Its rules compile when the first action needs them."""
    monkeypatch.setattr(AllRules, "compile", lambda self, rules: None)
    yield Network(tmp_path)


def test_a_browser_plays_its_own_seats_alone() -> None:
    members = Members.of("host", "", SEATS, shared=True)
    assert members.played_by("host", SEATS) == [0] and members.free_seats(SEATS) == [1, 3]
    assert members.enter("guest", members.seat_keys[1], "J\u00f6rg")
    assert members.names == ["", "J\u00f6rg", "", ""]
    assert members.played_by("guest", SEATS) == [1] and not members.is_alone("guest", SEATS)
    assert members.enter("phone", members.seat_keys[1], ""), "the link works on a second device"
    assert members.names[1] == "J\u00f6rg" and members.played_by("phone", SEATS) == [1]
    assert not members.enter("stranger", "x" * 22, "") and not members.sees("stranger")
    assert members.enter("fan", members.watch_key, "") and members.sees("fan")
    assert members.played_by("fan", SEATS) == [] and not members.is_alone("fan", SEATS)
    old = members.seat_keys[1]
    with pytest.raises(Forbidden):
        members.leave("fan", 1)
    members.leave("phone", 1)
    assert members.free_seats(SEATS) == [1, 3] and members.names[1] == ""
    assert not members.enter("guest", old, ""), "the link of a seat that was left is void"
    members.clear(0)
    members.sit("guest", 1, "")
    assert not members.is_alone("host", SEATS), "a host without a seat leaves the game to others"
    assert members.is_alone("host", ["random"] * 4)


def test_one_screen_plays_all_seats_until_the_table_is_shared() -> None:
    members = Members.of("host", "", SEATS, shared=False)
    for browser in ("host", "other"):
        assert members.played_by(browser, SEATS) == [0, 1, 3] and members.is_alone(browser, SEATS)
    members.share("host")
    assert members.played_by("other", SEATS) == [] and not members.sees("other")
    assert members.played_by("host", SEATS) == [0]


@pytest.mark.parametrize("name", ["\uae40\ubbfc\uc900", "J\u00f6rg", " Anna ", "\u0928\u092e"])
def test_names_of_any_script(name: str) -> None:
    assert read_name(name) == name.strip()


@pytest.mark.parametrize("name", ["", "  ", "a" * 31, "a\nb", None, 5, "\u202eabc"])
def test_names_that_are_none(name: object) -> None:
    with pytest.raises(Refused, match="name: from 1 to 30 characters"):
        read_name(name)


GAME = "/api/games/{id}"
# Every endpoint, with a body that a member may send.
ENDPOINTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/api/offers", {}),
    ("GET", "/api/offers?brief=1", {}),
    ("GET", "/api/puzzles", {}),
    ("GET", "/api/puzzles/1", {}),
    ("POST", "/api/puzzles/1", {"action": "pass"}),
    ("POST", "/api/preview", {"ruleset": "base", "seats": ["you"] * 2}),
    ("POST", "/api/advice", {"ruleset": "base", "seats": ["you"] * 4}),
    ("GET", "/api/advice/abc", {}),
    ("POST", "/api/advice/abc", {"off": True}),
    ("GET", "/api/advice/abc/page", {}),
    ("POST", "/api/games", {"ruleset": "base", "seats": ["you"] * 2}),
    ("POST", "/api/games", {"again": "{id}"}),
    ("POST", "/api/games", {"record": "lost_fleet"}),
    ("POST", "/api/games", {"record": {}}),
    ("POST", "/api/games", {"log": {}}),
    ("POST", "/api/habits", {"name": "Anna"}),
    ("POST", "/api/habits", {"name": "Anna", "change": "start"}),
    ("POST", "/api/habits", {"name": "Anna", "change": "off"}),
    ("POST", "/api/enter", {"key": "{id}"}),
    ("POST", "/api/enter", {"key": "x" * 22}),
    ("POST", "/api/enter", {}),
    ("GET", GAME, {}),
    ("GET", GAME + "?since=1", {}),
    ("GET", GAME + "?at=0", {}),
    ("GET", "/api/games/0123456789ab", {}),
    ("GET", GAME + "/further/moves", {}),
    ("GET", GAME + "/further/conversions?at=0", {}),
    ("GET", GAME + "/ask/hint", {}),
    ("GET", GAME + "/ask/review", {}),
    ("POST", GAME + "/ask/hint", {}),
    ("POST", GAME + "/ask/hint", {"off": True}),
    ("POST", GAME + "/ask/review", {}),
    ("POST", GAME + "/ask/review", {"off": True}),
    ("GET", GAME + "/ask/check?action=pass", {}),
    ("POST", GAME + "/ask/check?action=pass", {}),
    ("POST", GAME + "/ask/check?action=pass", {"off": True}),
    ("GET", GAME + "/further/nothing", {}),
    ("GET", GAME + "/ask/nothing", {}),
    ("GET", GAME + "/file/nothing", {}),
    ("POST", GAME + "/nothing", {}),
    ("GET", GAME + "/file/record.json", {}),
    ("GET", GAME + "/file/replay.html", {}),
    ("GET", GAME + "/file/review.html", {}),
    ("GET", GAME + "/analysis?agent=random", {}),
    ("GET", GAME + "/analysis?agent=random&whole=1", {}),
    ("GET", GAME + "/analysis?agent=random&search=1", {}),
    ("POST", GAME + "/save", {"name": "mine"}),
    ("POST", GAME + "/act", {"action": "{legal}"}),
    ("POST", GAME + "/act", {"actions": ["{legal}"], "node": 0}),
    ("POST", GAME + "/act", {"actions": ["{legal}"], "node": 0, "branch": True}),
    ("POST", GAME + "/undo", {}),
    ("POST", GAME + "/resume", {}),
    ("POST", GAME + "/resume", {"node": 0}),
    ("POST", GAME + "/settings", {"end_turn": "always"}),
    ("POST", GAME + "/seat", {"player": 0, "who": "random"}),
    ("POST", GAME + "/seat", {"player": 1, "who": "you"}),
    ("POST", GAME + "/sit", {"player": 1, "name": "Eve"}),
    ("POST", GAME + "/leave", {"player": 0}),
    ("POST", GAME + "/share", {}),
    ("POST", GAME + "/chat", {"text": "hello"}),
]


@pytest.fixture(scope="module")
def strangers_table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Network, str, str]]:
    """A server with a table, its id and a legal action."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AllRules, "compile", lambda self, rules: None)
        network = Network(tmp_path_factory.mktemp("network"))
        host = network.browser(network.access.key)
        id = host.post("/api/games", ruleset="base", seats=["you"] * 2, seed=1)["id"]
        legal = host.get(f"/api/games/{id}")["legal"][0]["text"]
        # A position after the first one, without the compilation that a move needs.
        game = network.server.get(id).game
        first, action = game.nodes[0], game.rules.index(legal)
        first.children.append(1)
        game.nodes.append(Position(1, 0, legal, action, first.state))
        game.resume(1)
        yield network, id, legal


@pytest.mark.parametrize("cookie", ["", "x" * 22, "key of another server"])
@pytest.mark.parametrize(("method", "path", "body"), ENDPOINTS)
def test_a_stranger_is_refused(
    strangers_table: tuple[Network, str, str],
    method: str,
    path: str,
    body: dict[str, Any],
    cookie: str,
) -> None:
    network, id, legal = strangers_table
    stranger = Client(network.app)
    if cookie:
        stranger.cookies = {"gaia_browser": cookie, "gaia_key": cookie}
    text = json.dumps(body).replace("{id}", id).replace("{legal}", legal)
    status, data = stranger.request(method, path.format(id=id), json.loads(text))
    assert status in (403, 429) and data.keys() == {"error"}, (status, data)
    table = network.server.get(id)
    assert len(table.game.nodes) == 2 and table.members.free_seats(["you"] * 2) == [1]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (path, body)
        for method, path, body in ENDPOINTS
        if method == "POST" and path.startswith(GAME)
        if "/ask/review" not in path and "/nothing" not in path
    ],
)
def test_a_spectator_changes_nothing(
    strangers_table: tuple[Network, str, str], path: str, body: dict[str, Any]
) -> None:
    """Not even the free seat: that takes the link of the seat, or the key of the server."""
    if path.endswith("/settings") or body.get("off"):
        pytest.skip("changes nothing that is another's")
    network, id, legal = strangers_table
    members = network.server.get(id).members
    fan = network.browser(members.watch_key)
    assert fan.get(f"/api/games/{id}")["mine"] == []
    names, keys = list(members.names), list(members.seat_keys)
    text = json.dumps(body).replace("{legal}", legal)
    status, data = fan.request("POST", path.format(id=id), json.loads(text))
    assert status == 403 or "/ask/" in path and status == 400, (status, data)
    game = network.server.get(id).game
    assert (len(game.nodes), game.now) == (2, 1)
    assert (members.names, members.seat_keys) == (names, keys)


def test_a_table_of_one_screen_is_closed_to_strangers_on_a_network(tmp_path: Path) -> None:
    """It was kept by a server of this machine alone; then one for a network opens the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AllRules, "compile", lambda self, rules: None)
        alone = GameServer(AgentPool(), tmp_path)
        game = alone.open({"ruleset": "base", "seats": ["you"] * 2, "seed": 1}, "x" * 22)
        network = Network(tmp_path)
        host = network.browser(network.access.key)
        shared = host.post("/api/games", ruleset="base", seats=["you"] * 2, seed=1)["id"]
        guest = network.browser(network.server.get(shared).members.seat_keys[1])
    assert [table["id"] for table in guest.get("/api/offers")["games"]] == [shared]
    for browser in (guest, Client(network.app)):
        assert browser.request("GET", f"/api/games/{game.id}")[0] == 403
        assert browser.request("POST", f"/api/games/{game.id}/undo")[0] == 403
    assert game.id not in network.server.tables, "refused before its moves are played again"
    assert {table["id"] for table in host.get("/api/offers")["games"]} == {shared, game.id}
    assert host.request("GET", "/api/games/0123456789ab")[0] == 404


def test_settings_belong_to_whoever_plays_the_seat(network: Network) -> None:
    host, other = (network.browser(network.access.key) for _ in range(2))
    seats = ["you", "you", "random"]
    form = {"ruleset": "base", "seats": seats, "seed": 1, "settings": {"take_power": 3}}
    id = host.post("/api/games", **form)["id"]
    table = network.server.get(id)
    assert [chosen.take_power for chosen in table.settings] == [3, -1, -1]
    guest = network.browser(table.members.seat_keys[1])
    guest.post(f"/api/games/{id}/settings", take_power=5)
    assert [chosen.take_power for chosen in table.settings] == [3, 5, -1]
    again = host.post("/api/games", again=id, settings={"take_power": 4})["id"]
    assert [chosen.take_power for chosen in network.server.get(again).settings] == [4, 5, -1]
    status, data = other.request("POST", "/api/games", {"again": id})
    assert status == 403 and data["error"] == "again: that game is not yours"
    guest.post(f"/api/games/{id}/leave", player=1)
    assert [chosen.take_power for chosen in table.settings] == [3, -1, -1]


def test_a_name_that_was_given_later_is_that_of_the_next_table(network: Network) -> None:
    host = network.browser(network.access.key)
    id = host.post("/api/games", ruleset="base", seats=["you"] * 2, seed=1)["id"]
    for name in ("Anna", "Ben"):
        id = host.post("/api/games", again=id, name=name)["id"]
        assert network.server.get(id).members.names == ["Anna", ""], "an earlier name stays"


def test_a_turn_is_reported_at_every_position(strangers_table: tuple[Network, str, str]) -> None:
    network, id, _ = strangers_table
    members, host = network.server.get(id).members, Client(network.app)
    host.cookies = {"gaia_browser": members.host, "gaia_key": network.access.key}
    fan = network.browser(members.watch_key)
    states = [client.get(f"/api/games/{id}?at=0") for client in (host, fan)]
    assert [state["your_turn"] for state in states] == [True, False]
    assert [state["legal"] for state in states] == [[], []]


def test_a_step_through_the_log_waits_for_no_agent(
    strangers_table: tuple[Network, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, id, _ = strangers_table

    async def wait(self: Pages, game: Game, since: int) -> None:
        raise AssertionError

    monkeypatch.setattr(Pages, "_news", wait)
    host = network.browser(network.access.key)
    assert host.get(f"/api/games/{id}?since=1&at=0")["node"] == 0


def test_no_agent_moves_while_the_record_of_a_file_is_made(
    strangers_table: tuple[Network, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, id, _ = strangers_table
    usual, lock, is_free = Game.record, network.server.lock, list[bool]()

    def record(self: Game, names: Sequence[str] = ()) -> Record:
        with ThreadPoolExecutor(1) as agents:
            is_free.append(agents.submit(lock.acquire, blocking=False).result())
        return usual(self, names)

    monkeypatch.setattr(Game, "record", record)
    host = network.browser(network.access.key)
    assert host.get(f"/api/games/{id}/file/record.json")["actions"] and is_free == [False]


def test_a_past_decision_is_explained_to_those_who_play() -> None:
    """Player 0 decided at position 0 and decides at position 1; at position 2 the game is over."""
    seats = ["you", "you"]
    members = Members.of("host", "", seats, True)
    members.sit("guest", 1, "Guest")
    members.enter("fan", members.watch_key, "")
    game: Any = SimpleNamespace(
        now=1, seats=seats, over=lambda at: at == 2, view=lambda at: SimpleNamespace(player=0)
    )
    table = OpenTable(game, members, [])

    def explained(browser: str) -> list[bool]:
        return [table.may_explain(browser, at) for at in range(3)]

    assert explained("host") == [True, True, False]
    assert explained("guest") == [True, False, False], "not what another is deciding"
    assert explained("fan") == [False, False, False]
    game.seats = ["zoo/strong"] * 2
    assert explained("host") == [True, True, False], "the host of a game of agents alone"


def test_the_people_of_a_shared_table_write_lines(network: Network, tmp_path: Path) -> None:
    host = network.browser(network.access.key)
    id = host.post("/api/games", ruleset="base", seats=["you"] * 2, name="준호", seed=1)["id"]
    assert host.post(f"/api/games/{id}/chat", text="  안녕 <b> ")["chat"] == [
        [0, "준호", "안녕 <b>"]
    ]
    for wrong in ("", "a" * 201, "a\nb", None, 3):
        status, data = host.request("POST", f"/api/games/{id}/chat", {"text": wrong})
        assert (status, data["error"]) == (400, "text: from 1 to 200 characters are required")
    for number in range(table_changes.MAX_LINES):
        last = host.post(f"/api/games/{id}/chat", text=str(number))["chat"]
    assert len(last) == table_changes.MAX_LINES and last[0] == [0, "준호", "0"]
    stored = json.loads((network.folder / "tables" / f"{id}.json").read_text())
    assert stored["chat"] == last


@pytest.mark.parametrize("kind", ["hint", "check", "review"])
def test_a_spectator_cancels_no_work(strangers_table: tuple[Network, str, str], kind: str) -> None:
    network, id, _ = strangers_table
    table, analyses = network.server.get(id), network.server.analyses
    fan = network.browser(table.members.watch_key)
    host = Client(network.app)
    host.cookies = {"gaia_browser": table.members.host, "gaia_key": network.access.key}
    is_over = threading.Event()
    job = Job(lambda job: is_over.wait(10) and None, kind)
    analysis: Any = None
    node, jobs = table.game.now, {"hint": {"hint": job}, "check": {"checks": {("pass",): job}}}
    state = table.game.nodes[node].state
    analyses._positions[id, node] = AnalysedPosition(state, analysis, **jobs.get(kind, {}))  # type: ignore[arg-type]
    analyses._reviews[id] = list(table.game.line), job
    path = f"/api/games/{id}/ask/{kind}?action=pass"
    try:
        assert fan.request("POST", path, {"off": True})[0] == 403
        assert fan.get(path + "&at=0")["status"] == ("running" if kind == "review" else "none")
        assert job.now == "running"
        assert host.post(path, off=True)["status"] == job.now == "called off"
    finally:
        is_over.set()
        analyses.forget(id)


def test_wrong_links_are_counted() -> None:
    from starlette.exceptions import HTTPException

    access = Access(None)
    statuses = []
    for _ in range(MAX_WRONG_KEYS + 1):
        with pytest.raises(HTTPException) as refused:
            access.refuse_key()
        statuses.append(refused.value.status_code)
    assert statuses == [403] * MAX_WRONG_KEYS + [429]


@pytest.mark.slow  # compiles the rules for two
def test_the_key_and_the_tables_survive_a_restart(network: Network) -> None:
    host = network.browser(network.access.key)
    id = host.post("/api/games", ruleset="base", seats=["you"] * 2, seed=1)["id"]
    state = host.get(f"/api/games/{id}")
    guest = network.browser(state["seats"][1]["key"])
    guest.post(f"/api/games/{id}/settings", take_power=3)
    assert guest.request("POST", "/api/games", {"ruleset": "base", "seats": ["you"] * 2})[0] == 403
    assert [game["id"] for game in guest.get("/api/offers")["games"]] == [id]
    # Moves that are taken back are branches, also those after a move that is then made again.
    turn = {p: client for client in (host, guest) for p in client.get(f"/api/games/{id}")["mine"]}
    first, second = (action["text"] for action in turn[state["player"]].get(
        f"/api/games/{id}")["legal"][:2])  # fmt: skip
    mover = turn[state["player"]]
    mover.post(f"/api/games/{id}/act", action=first)
    other = turn[1 - state["player"]]
    assert other.request("POST", f"/api/games/{id}/undo")[0] == 403, "not the other's decision"
    reply = other.get(f"/api/games/{id}")["legal"][0]["text"]
    other.post(f"/api/games/{id}/act", action=reply)
    other.post(f"/api/games/{id}/undo")
    mover.post(f"/api/games/{id}/undo")
    mover.post(f"/api/games/{id}/act", action=second)
    mover.post(f"/api/games/{id}/undo")
    assert mover.post(f"/api/games/{id}/act", action=first)["line"] == [0, 1]

    restarted = Network(network.folder)
    assert restarted.access.key == network.access.key
    for client, seat in ((host, 0), (guest, 1)):
        before = client.get(f"/api/games/{id}")
        client.app = restarted.app
        after = client.get(f"/api/games/{id}")
        assert after["mine"] == before["mine"] == [seat]
        for key in ("line", "node", "moves", "seats", "settings", "vp"):
            assert after[key] == before[key], key
    assert restarted.server.get(id).game.nodes[0].children == [1, 3]
    listed = host.get("/api/offers")["games"][0]
    assert listed["id"] == id and listed["round"] == 0 and len(listed["factions"]) == 2
    assert (restarted.folder / "tables" / f"{id}.json").stat().st_mode & 0o077 == 0


def test_a_table_without_a_move_survives_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who looks at a record has not begun a game."""
    monkeypatch.setattr(AllRules, "compile", lambda self, rules: None)
    monkeypatch.setattr(Rules, "prepare", lambda self: None)
    monkeypatch.setattr(GameServer, "_play_record", lambda self, game, record: None)
    server, host = GameServer(AgentPool(), tmp_path), "x" * 22
    seats = ["you", "random"]
    game = server.open({"ruleset": "base", "seats": seats, "seed": 1, "name": "준호"}, host)
    server.save(server.get(game.id), "record")
    record = server.open({"record": "record", "seats": seats}, host)

    restarted = GameServer(AgentPool(), tmp_path)
    assert [about["id"] for about in restarted.kept.under_way(host, True)] == [game.id]
    table = restarted.get(game.id)
    assert table.game.seats == seats and table.members.names == ["준호", ""]
    assert table.game.setup_json() == game.setup_json()
    with pytest.raises(KeyError):
        restarted.get(record.id)


def test_a_record_that_agents_alone_play_on_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, is_kept = list[Any](), threading.Event()
    monkeypatch.setattr(AllRules, "compile", lambda self, rules: None)
    monkeypatch.setattr(Rules, "prepare", lambda self: None)
    monkeypatch.setattr(AgentPool, "hurry", lambda self, names, rules: None)
    monkeypatch.setattr(GameServer, "_play_record", lambda self, game, record: None)
    monkeypatch.setattr(GameServer, "_next", lambda self: turns.pop() if turns else None)
    monkeypatch.setattr(Game, "play", lambda self, text: None)
    server = GameServer(AgentPool(), tmp_path)
    game = server.open({"ruleset": "base", "seats": ["you"] * 2, "seed": 1})
    server.save(server.get(game.id), "record")
    record = server.open({"record": "record", "seats": ["random"] * 2})
    monkeypatch.setattr(server.kept, "keep", lambda table, open_ids: is_kept.set())
    turns.append((server.get(record.id), AgentProgram("random", act=lambda state, seed: 0)))
    server.stir()
    assert is_kept.wait(60)


def test_what_is_refused_to_an_agent_is_shown_as_it_is() -> None:
    assert error_text(Refused("a game holds at most 2 positions")).startswith("a game holds")
    assert error_text(KeyError("vp")).startswith("KeyError")


def test_an_agent_that_failed_to_compile_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AllRules, "compile", lambda self, rules: None)
    monkeypatch.setattr(AgentPool, "_work", lambda self: None)  # compiles nothing
    server = GameServer(AgentPool(), tmp_path)
    seats = ["you", "random"]
    table = server.get(server.open({"ruleset": "base", "seats": seats, "seed": 1}).id)
    program = server.agents.get("random", table.game.rules)
    for status in ("waiting", "failed"):
        program.status = status
        server.change(table, "", "resume", {})
        latest = server.agents.get("random", table.game.rules)
        assert (latest is program) == (status == "waiting")


def test_a_table_that_was_closed_is_changed_no_more(network: Network) -> None:
    """It may be open again, and what was played there since would be overwritten."""
    network.server.max_games = 1
    host = network.browser(network.access.key)
    seats = {"ruleset": "base", "seats": ["you"] * 2}
    closed = network.server.get(host.post("/api/games", **seats, seed=1)["id"])
    host.post("/api/games", **seats, seed=2)
    with pytest.raises(Refused, match="the table has changed since"):
        network.server.change(closed, closed.members.host, "sit", {"player": 1, "name": "Eve"})
    assert closed.members.names == ["", ""]


def test_a_move_is_kept_if_a_setting_fails_after_it(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = network.browser(network.access.key)
    id = host.post("/api/games", ruleset="base", seats=["you"] * 2, seed=1)["id"]
    table, kept = network.server.get(id), network.server.kept._data

    def move_and_fail(table: Any, browser: str, body: Any) -> None:
        game = table.game
        game.nodes.append(Position(1, 0, "", 0, game.nodes[0].state))
        game.resume(1)
        raise Refused("a game holds at most 2 positions")

    monkeypatch.setitem(table_changes.CHANGES, "undo", move_and_fail)
    with pytest.raises(Refused, match="at most 2"):
        network.server.change(table, table.members.host, "undo", {})
    assert kept[id]["now"] == 1 and len(kept[id]["nodes"]) == 1


def test_what_makes_room_first(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    host = network.browser(network.access.key)
    seats = {"ruleset": "base", "seats": ["you"] * 2}
    first, second, third = (host.post("/api/games", **seats, seed=n)["id"] for n in range(3))
    kept, tables = network.server.kept, dict(network.server.tables)
    monkeypatch.setattr(kept_tables, "MAX_TABLES", 3)
    kept._data[second]["about"]["over"] = True
    fourth = network.server.open({**seats, "seed": 3}, "x" * 22)
    assert list(kept._data) == [first, second, third, fourth.id], "those that are open stay"
    monkeypatch.setattr(kept_tables, "MAX_TABLES", 4)
    kept.keep(tables[third], [fourth.id])
    assert list(kept._data) == [first, second, fourth.id, third], "its own file is replaced"
    monkeypatch.setattr(kept_tables, "MAX_TABLES", 3)
    kept.keep(tables[third], [fourth.id])
    assert list(kept._data) == [first, fourth.id, third], "the ended one before an older one"
    kept.keep(tables[second], [first])
    assert list(kept._data) == [first, third, second]
    files = {path.stem for path in kept.folder.glob("*.json")}
    assert files == {first, third, second} and not list(kept.folder.glob("*.part"))
    kept._data[first]["nodes"], kept._data[first]["about"]["over"] = [[0, 0, ""]], True
    kept.keep(network.server.tables[fourth.id])
    assert list(kept._data) == [first, second, fourth.id], "without a move"


def test_a_table_of_another_version_is_not_offered(network: Network) -> None:
    host = network.browser(network.access.key)
    id = host.post("/api/games", ruleset="base", seats=["you"] * 2, seed=1)["id"]
    assert [table["id"] for table in host.get("/api/offers")["games"]] == [id]
    network.server.kept._data[id]["version"] = "0.0"
    assert host.get("/api/offers")["games"] == []


def test_a_file_that_is_no_table_is_left_alone(tmp_path: Path) -> None:
    for name, text in (("0123456789ab", "{"), ("0123456789ac", "[]"), ("notes", "{}")):
        (tmp_path / f"{name}.json").write_text(text)
    assert KeptTables(tmp_path).under_way("browser", True) == []
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.slow  # compiles the rules for two
def test_the_log_that_ships_opens_at_its_last_move(network: Network) -> None:
    log = json.loads(Path("docs/records/logs/two_players.json").read_text())
    client = network.browser(network.access.key)
    id = client.post("/api/games", log=log)["id"]
    state = client.get(f"/api/games/{id}")
    assert [seat["name"] for seat in state["seats"]] == ["Terrans", "Xenos"] and state["ended"]
    assert state["node"] == 0 and state["now"] == state["line"][-1]
    log["steps"][5]["l"] = "terrans build m 9Z9"
    status, data = client.request("POST", "/api/games", {"log": log})
    assert status == 400 and "move 6" in data["error"], data

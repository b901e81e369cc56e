"""The server answers invalid requests with one clear JSON error, and keeps running."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import Any, cast

import pytest

from gaia_jax import replay
from tests.play import asgi
from tests.play.server import FINE, Server
from tests.render.records import RECORDS
from training.play.access import Access
from training.play.app import BATCH_SECONDS, NEWS_TIMEOUT, Pages

DEEP = b"[" * 50_000 + b"]" * 50_000
# (method, path, body, further headers): {game} is the id of a game that is there.
BAD: list[tuple[str, str, Any, dict[str, str]]] = [
    ("GET", "/nothing", None, {}),
    ("GET", "/static/app.py", None, {}),
    ("GET", "/static/../app.py", None, {}),
    ("GET", "/static/..%2fapp.py", None, {}),
    ("GET", "/static/%2e%2e/%2e%2e/etc/passwd", None, {}),
    ("DELETE", "/api/games", None, {}),
    ("PUT", "/api/games/{game}", {}, {}),
    ("GET", "/api/games", None, {}),
    ("GET", "/api/games/000000000000", None, {}),
    ("GET", "/api/games/{game}?since=-1", None, {}),
    ("GET", "/api/games/{game}/further", None, {}),
    ("GET", "/api/games/{game}/further/ways", None, {}),
    ("GET", "/api/games/{game}?since=x", None, {}),
    ("GET", "/api/games/{game}?since=99999999999999999999", None, {}),
    ("GET", "/api/games/{game}/analysis?agent=os:system", None, {}),
    ("GET", "/api/games/{game}/analysis?agent=../../etc", None, {}),
    ("GET", "/api/games/{game}/analysis", None, {}),
    ("GET", "/api/puzzles/9999", None, {}),
    ("GET", "/api/puzzles/-1", None, {}),
    ("POST", "/api/puzzles/0", {}, {}),
    ("POST", "/api/puzzles/0", {"action": "pass"}, {}),
    ("POST", "/api/games", b"", {"Content-Type": "text/plain"}),
    ("POST", "/api/games", b"{", {}),
    ("POST", "/api/games", b"[]", {}),
    ("POST", "/api/games", b"\xff\xfe", {}),
    ("POST", "/api/games", DEEP, {}),
    ("POST", "/api/games", b"1" * 5000, {}),
    ("POST", "/api/games", b" " * 200_000, {}),
    ("POST", "/api/games", {}, {}),
    ("POST", "/api/games", {**FINE, "ruleset": "chess"}, {}),
    ("POST", "/api/games", {**FINE, "ruleset": ["base"]}, {}),
    ("POST", "/api/games", {**FINE, "seats": "you"}, {}),
    ("POST", "/api/games", {**FINE, "seats": ["you"] * 5}, {}),
    ("POST", "/api/games", {**FINE, "seats": ["you", "you", "you", "os:system"]}, {}),
    ("POST", "/api/games", {**FINE, "seats": ["you", "you", "you", "runs/../../etc"]}, {}),
    ("POST", "/api/games", {**FINE, "seats": [1, 2, 3, {}]}, {}),
    ("POST", "/api/games", {**FINE, "seats": ["you", "you", "you", "zoo/duel"]}, {}),
    ("POST", "/api/games/{game}/seat", {"player": 0, "who": "zoo/duel"}, {}),
    ("GET", "/api/games/{game}/analysis?agent=zoo/duel", None, {}),
    ("POST", "/api/games", {**FINE, "seed": -1}, {}),
    ("POST", "/api/games", {**FINE, "seed": 2**31}, {}),
    ("POST", "/api/games", {**FINE, "seed": "1"}, {}),
    ("POST", "/api/games", {**FINE, "seed": 1.5}, {}),
    ("POST", "/api/games", {**FINE, "seed": True}, {}),
    ("POST", "/api/games", {**FINE, "setup": []}, {}),
    ("POST", "/api/games", {**FINE, "setup": {}}, {}),
    ("POST", "/api/games", {**FINE, "setup": {"sectors": [[]] * 10}}, {}),
    ("POST", "/api/games", {**FINE, "record": "no such record"}, {}),
    ("POST", "/api/games", {**FINE, "record": "../lost_fleet"}, {}),
    ("POST", "/api/games", {**FINE, "record": "/etc/passwd"}, {}),
    ("POST", "/api/games", {**FINE, "record": 7}, {}),
    ("POST", "/api/games", {**FINE, "record": {"format": "gaia_jax game 1"}}, {}),
    ("POST", "/api/games", {**FINE, "record": {"format": "other"}}, {}),
    ("POST", "/api/games/{game}/act", {}, {}),
    ("POST", "/api/games/{game}/act", {"action": 5}, {}),
    ("POST", "/api/games/{game}/act", {"action": "dance"}, {}),
    ("POST", "/api/games/{game}/act", {"action": "pass"}, {}),
    ("POST", "/api/games/{game}/act", {"action": "mine " + "9" * 5000}, {}),
    ("POST", "/api/games/{game}/act", {"action": "pass", "node": 17}, {}),
    ("GET", "/api/games/{game}?at=-1", None, {}),
    ("GET", "/api/games/{game}?at=x", None, {}),
    ("POST", "/api/games/{game}/resume", {"node": 99}, {}),
    ("POST", "/api/games/{game}/resume", {"node": "0"}, {}),
    ("POST", "/api/games/{game}/act", {"action": "pass", "node": 99, "branch": True}, {}),
    ("POST", "/api/games/{game}/act", {"action": "pass", "node": True, "branch": True}, {}),
    ("POST", "/api/games/{game}/sit", {"player": 0, "name": ""}, {}),
    ("POST", "/api/games/{game}/sit", {"player": 0, "name": "a" * 31}, {}),
    ("POST", "/api/games/{game}/sit", {"player": 0, "name": "a\nb"}, {}),
    ("POST", "/api/games/{game}/sit", {"player": 4, "name": "Anna"}, {}),
    ("POST", "/api/games/{game}/leave", {"player": 9}, {}),
    ("POST", "/api/enter", {"key": "x" * 22}, {}),
    ("POST", "/api/enter", {"key": "../../etc/passwd"}, {}),
    ("POST", "/api/enter", {}, {}),
    ("POST", "/api/games", {**FINE, "record": "lost_fleet", "at": 9999}, {}),
    ("POST", "/api/games", {"log": []}, {}),
    ("POST", "/api/games", {"log": {"steps": []}}, {}),
    ("POST", "/api/games", {"log": {"steps": [{"l": "x", "p": 0}], "vp": 3, "setup": {}}}, {}),
    ("POST", "/api/games/{game}/undo", {}, {}),
    ("POST", "/api/games/{game}/seat", {"player": 4, "who": "you"}, {}),
    ("POST", "/api/games/{game}/seat", {"player": 0, "who": "training.play.app:make_app"}, {}),
    ("POST", "/api/games/{game}/seat", {"player": None}, {}),
    ("POST", "/api/games/{game}/explode", {}, {}),
    ("POST", "/api/games/{game}/act", {"actions": []}, {}),
    ("POST", "/api/games/{game}/act", {"actions": ["pass"] * 65}, {}),
    ("POST", "/api/games/{game}/act", {"actions": ["pass", 3]}, {}),
    ("POST", "/api/games/{game}/act", {"actions": "pass"}, {}),
    ("POST", "/api/games/{game}/settings", {"end_turn": "never"}, {}),
    ("POST", "/api/games/{game}/settings", {"colour": 1}, {}),
    ("POST", "/api/games", {**FINE, "seed": 1, "settings": []}, {}),
    ("POST", "/api/games", {**FINE, "seed": 1, "factions": ["MARTIANS"] * 4}, {}),
    ("POST", "/api/games", {"again": "000000000000"}, {}),
    ("POST", "/api/preview", {}, {}),
    ("POST", "/api/preview", {**FINE, "setup": {}}, {}),
    ("GET", "/api/preview", None, {}),
    ("POST", "/api/preview", FINE, {"Origin": "https://evil.example"}),
    ("GET", "/api/games/{game}/file/review.html", None, {}),
    ("GET", "/api/games/{game}/file/..%2f..%2fREADME.md", None, {}),
    ("GET", "/api/games/{game}/file/app.py", None, {}),
    ("GET", "/api/games/{game}/ask/nothing", None, {}),
    ("POST", "/api/games/{game}/ask/review", {}, {"Origin": "https://evil.example"}),
    ("GET", "/api/games/{game}/file/record.json", None, {"Sec-Fetch-Site": "cross-site"}),
    ("POST", "/api/games/{game}/save", {"name": "../../outside"}, {}),
    ("POST", "/api/games/{game}/save", {"name": ".hidden"}, {}),
    ("POST", "/api/games/{game}/save", {"name": "a" * 61}, {}),
    ("POST", "/api/games/{game}/save", {"name": ["x"]}, {}),
    ("GET", "/", None, {"Host": "evil.example"}),
    ("GET", "/", None, {"Host": "localhost.evil.example"}),
    ("GET", "/", None, {"Host": "[::1]evil"}),
    ("GET", "/", None, {"Host": "[::1]evil:8420"}),
    ("GET", "/", None, {"Host": "[::1"}),
    ("GET", "/", None, {"Host": "evil@localhost"}),
    ("GET", "/", None, {"Host": "localhost/evil"}),
    ("GET", "/", None, {"Host": "localhost?evil"}),
    ("GET", "/", None, {"Host": "localhost#evil"}),
    ("GET", "/", None, {"Host": "localhost:evil"}),
    ("GET", "/", None, {"Host": "localhost:8420:1"}),
    ("GET", "/", None, {"Host": ""}),
    ("GET", "/api/offers", None, {"Host": "localhost:1", "Origin": "localhost:1"}),
    ("GET", "/api/offers", None, {"Host": "localhost:1", "Origin": "http://evil@localhost:1"}),
    ("GET", "/api/offers", None, {"Origin": "https://evil.example"}),
    ("GET", "/api/offers", None, {"Origin": "null"}),
    ("GET", "/api/offers", None, {"Origin": "http://localhost:1"}),
    ("GET", "/api/offers", None, {"Origin": "http://[::1"}),
    ("GET", "/api/offers", None, {"Sec-Fetch-Site": "cross-site"}),
    ("POST", "/api/games", FINE, {"Origin": "https://evil.example"}),
]


@pytest.fixture(scope="module")
def game(server: Server) -> str:
    """A game at its first decision."""
    return server.new_game(**FINE, seed=1)


def test_sixty_bad_requests(server: Server, game: str) -> None:
    assert len(BAD) >= 60
    for method, path, body, headers in BAD:
        raw = body if isinstance(body, bytes) else None
        body = None if raw is not None else body
        status, data, text = server.request(method, path.format(game=game), body, headers, raw)
        description = f"{method} {path} {str(body)[:80]} {headers}: {status} {text[:200]}"
        assert 400 <= status < 500, description
        assert isinstance(data, dict) and data.keys() == {"error"}, description
        assert "\n" not in data["error"] and "Traceback" not in text, description
    assert server.process.poll() is None
    assert server.request("GET", f"/api/games/{game}")[1]["node"] == 0
    assert not (server.saves.parent.parent / "outside.json").exists()


def test_pages_may_load_nothing_from_elsewhere(server: Server) -> None:
    status, _, text = server.request("GET", "/")
    assert status == 200 and "http://" not in text and "https://" not in text
    named = re.findall(r'(?:src|href)="/static/([^"]+)"', text)
    assert {"view.js", "view.css", "play.css", "main.js"} <= set(named)
    for name in named:
        status, _, text = server.request("GET", f"/static/{name}")
        body = text.replace("http://www.w3.org/2000/svg", "")
        assert status == 200 and "http" not in body, name


def test_more_games_than_there_is_room_for(server: Server) -> None:
    """The least recently used game is closed, and opens again as it was."""
    first = server.new_game(**FINE, seed=2)
    path = f"/api/games/{first}"
    before = server.request("GET", path)[1]
    games = [server.new_game(**FINE, seed=2 + number) for number in range(16)]
    status, after, _ = server.request("GET", path)
    assert status == 200 and after["seats"] == before["seats"] and after["node"] == before["node"]
    assert server.request("GET", f"/api/games/{games[-1]}")[0] == 200


def test_a_setup_can_be_dealt(server: Server) -> None:
    setup = json.loads(RECORDS["lost_fleet"].read_text())["setup"]
    game = server.new_game(**FINE, setup=setup)
    state = server.request("GET", f"/api/games/{game}")[1]
    assert [seat["name"] for seat in state["seats"]][0] == "Nevlas"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8420", "127.0.0.1:1", "[::1]:8420"])
def test_the_names_of_this_machine_are_taken(server: Server, host: str) -> None:
    for headers in ({}, {"Origin": f"http://{host}"}, {"Origin": f"https://{host.lower()}"}):
        assert server.request("GET", "/", None, {"Host": host, **headers})[0] == 200


def test_nothing_is_taken_back_before_ones_first_decision(server: Server) -> None:
    """The agents' moves before it are not a person's to take back."""
    game = server.new_game(ruleset="lost_fleet", seats=["random"] * 3 + ["you"], seed=5)
    state, version = {"thinking": "random"}, 0
    while state["thinking"]:
        state = server.request("GET", f"/api/games/{game}?since={version}")[1]
        version = state["version"]
    assert state["node"] > 0 and not state["can_undo"]
    status, data, _ = server.request("POST", f"/api/games/{game}/undo", {})
    assert status == 400 and data == {"error": "there is no decision of a person to take back"}
    now = server.request("GET", f"/api/games/{game}")[1]
    assert now["node"] == state["node"] and not now["paused"]
    # One's own decision is taken back, over those of the agents that followed it.
    after = server.change(game, "act", action=state["legal"][0]["text"])
    assert after["can_undo"]
    back = server.change(game, "undo")
    assert back["node"] == state["node"] and not back["can_undo"]


def test_a_cancelled_move_leaves_the_record_in_view(server: Server) -> None:
    """The later moves of the record are on the line again, and saved with it."""
    game = server.new_game(**FINE, record="lost_fleet")
    actions = replay.read(server.saves / "lost_fleet.json").actions
    modes = ("power PA_TF1", "power PA_TF2", "special RB13", "special RB11", "ship TWI_K")
    place = next(k for k, text in enumerate(actions) if text in modes)
    line = server.request("GET", f"/api/games/{game}")[1]["line"]
    state = server.look(game, line[place])
    others = [
        a["text"] for a in state["legal"] if a["text"] in modes and a["text"] != actions[place]
    ]
    for text in (actions[place], *others):
        half = server.change(game, "act", action=text, node=line[place], branch=True)
        assert half["half_made"]
        back = server.change(game, "undo")
        assert back["node"] == line[place] and back["line"] == line
    assert server.change(game, "save", name="cancelled")["moves"] == len(actions)


def test_agents_say_what_games_they_play(server: Server) -> None:
    agents = server.request("GET", "/api/offers")[1]["agents"]
    games_by_agent = {agent["name"]: agent["plays"] for agent in agents}
    for_four = {"base": [4], "lost_fleet": [4], "lost_fleet_published": [4]}
    assert games_by_agent["zoo/strong"] == games_by_agent["zoo/strong+search:32"] == for_four
    assert games_by_agent["zoo/duel"] == games_by_agent["zoo/duel+search:32"] == {"base": [2]}
    assert games_by_agent["zoo/base"] == {"base": [4]}
    everything = {"base": [2, 3, 4], "lost_fleet": [4], "lost_fleet_published": [2, 3, 4]}
    assert games_by_agent["random"] == games_by_agent["greedy"] == everything


def test_the_expert_of_a_ruleset_is_its_strongest_agent(server: Server) -> None:
    agents = server.request("GET", "/api/offers")[1]["agents"]
    names = {agent["name"]: agent["level_names"] for agent in agents}
    assert names["zoo/base"] == names["zoo/duel"] == names["zoo/trio"] == {"base": "Expert"}
    assert names["zoo/strong"] == {"lost_fleet": "Expert", "lost_fleet_published": "Expert"}
    assert set(names["greedy"]) == {"base", "lost_fleet", "lost_fleet_published"}
    assert names["zoo/clone"] == {}


def test_a_port_that_is_taken_is_one_line(server: Server) -> None:
    done = subprocess.run(
        [*server.process.args[:3], "--port", str(server.port)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot listen on") and done.stderr.count("\n") == 1


class _Moving:
    """A game whose agents decide `left` more times, one each time that it is looked at."""

    version = 2

    def __init__(self, left: float):
        self.left = left

    def agent_to_move(self) -> str | None:
        self.left -= 1
        return "agent" if self.left >= 0 else None


def test_quick_decisions_of_agents_are_one_update() -> None:
    """One answer when a person has to decide; one after a while if agents continue."""
    pages = Pages(cast(Any, None), None, lambda: False, Access(None))
    short, long = _Moving(5), _Moving(float("inf"))
    started_at = time.monotonic()
    asgi.run(pages._news(cast(Any, short), 1))
    assert short.left < 0
    asgi.run(pages._news(cast(Any, long), 1))
    assert BATCH_SECONDS <= time.monotonic() - started_at < NEWS_TIMEOUT and pages.waiting == 0

"""How long you wait for the table in the browser, over HTTP as a page requests it.

    python -m benchmarks.table --agent zoo/strong --moves 20

Starts a new server and prints: when the first page is there, when the first game is dealt, when
the rules and the agent are compiled or read from the cache, and how long its answers take: from
the person's move being sent until the agent's move is there to be shown, picture included. A warm
start is the second one on a machine.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any


class Server:
    """The server as a process of its own."""

    def __init__(self, saves: str):
        self.started = time.monotonic()
        command = [sys.executable, "-m", "training.play", "--port", "0", "--saves", saves]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        match = re.search(r"http://localhost:(\d+)/", self.process.stdout.readline())
        assert match, "the server printed no address"
        self.port = int(match[1])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """One request; the JSON of the answer, or its text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200, text
        return json.loads(text) if text.startswith("{") else text

    def since(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started


def ready(server: Server, game: str) -> None:
    """Wait until the agents of a game are compiled, saying how far they are."""
    status = ""
    while True:
        game_state = server.request("GET", f"/api/games/{game}")
        if not game_state["progress"]:
            return
        line = "; ".join(step["text"] for step in game_state["progress"])
        if line != status:
            status = line
            print(f"{server.since():7.2f} s  {line}", flush=True)
        time.sleep(0.2)


def answers(server: Server, game: str, moves: int) -> tuple[list[float], list[float]]:
    """Seconds of the server's answers to a person's moves, and of the agent's decisions."""
    own, agent = [], []
    game_state = server.request("GET", f"/api/games/{game}")
    while len(own) < moves and not game_state["over"]:
        started = time.monotonic()
        if game_state["thinking"]:
            length = len(game_state["line"])
            while len(game_state["line"]) == length and not game_state["over"]:
                game_state = server.request(
                    "GET", f"/api/games/{game}?since={game_state['version']}"
                )
            agent.append((time.monotonic() - started) / (len(game_state["line"]) - length))
            continue
        text = game_state["legal"][len(own) % len(game_state["legal"])]["text"]
        game_state = server.request("POST", f"/api/games/{game}/act", {"action": text})
        own.append(time.monotonic() - started)
    return own, agent


def summary(values: list[float]) -> str:
    """Median and maximum, milliseconds."""
    if not values:
        return "none"
    median, maximum = statistics.median(values) * 1000, max(values) * 1000
    return f"median {median:.0f} ms, max {maximum:.0f} ms, of {len(values)}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--agent", default="zoo/strong")
    parser.add_argument("--ruleset", default="lost_fleet")
    parser.add_argument("--moves", type=int, default=20, help="of the person")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as saves:
        server = Server(saves)
        try:
            server.request("GET", "/")
            print(f"{server.since():7.2f} s  the first page", flush=True)
            server.request("GET", "/api/offers")
            print(f"{server.since():7.2f} s  what the start form offers", flush=True)
            seats = ["you", *[args.agent] * 3]
            settings = {"ruleset": args.ruleset, "seats": seats, "seed": 1}
            game = server.request("POST", "/api/games", settings)["id"]
            print(f"{server.since():7.2f} s  the first game", flush=True)
            ready(server, game)
            print(f"{server.since():7.2f} s  {args.agent} is ready", flush=True)
            own, agent = answers(server, game, args.moves)
            print(f"a person's move: {summary(own)}")
            print(f"a decision of {args.agent}: {summary(agent)}")
            server.request("GET", f"/api/games/{game}/analysis?agent={args.agent}&whole=1")
            started = time.monotonic()
            server.request("GET", f"/api/games/{game}/analysis?agent={args.agent}")
            print(f"analysis of a position: {(time.monotonic() - started) * 1000:.0f} ms")
        finally:
            server.process.terminate()
            server.process.wait(20)
    return 0


if __name__ == "__main__":
    sys.exit(main())

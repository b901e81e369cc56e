"""The server of the table as a process of its own, and requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

FINE = {"ruleset": "lost_fleet", "seats": ["you"] * 4}  # the form of a game


class Server:
    """`python -m training.play` on a free port."""

    def __init__(self, folder: Path, *arguments: str, port: int = 0, module: str = "training.play"):
        self.saves = folder / "saves"
        command = [sys.executable, "-m", module, "--port", str(port)]
        self.process = subprocess.Popen(
            [*command, "--saves", str(self.saves), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=Path(__file__).resolve().parents[2], env=os.environ,
        )  # fmt: skip
        self.output: list[str] = []
        assert self.process.stdout
        line = self.process.stdout.readline()
        address = re.search(r"http://([^:]+):(\d+)/(?:#key=(\S+))?", line)
        assert address, line + self.process.stdout.read()
        self.host, self.port, self.key = address[1], int(address[2]), address[3] or ""
        self.home = f"http://{self.host}:{self.port}/"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        self.output += self.process.stdout.readlines()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> tuple[int, Any, str]:
        """One request: status, JSON (None if it is none), text."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=600)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if data is not None else {}
        connection.request(method, path, data, {**sent, **(headers or {})})
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        connection.close()
        try:
            return response.status, json.loads(text), text
        except ValueError:
            return response.status, None, text

    def new_game(self, **wanted: Any) -> str:
        """The id of a new game."""
        status, data, text = self.request("POST", "/api/games", wanted)
        assert status == 200, text
        return str(data["id"])

    def look(self, game: str, at: int) -> Any:
        """A game at one of its positions."""
        status, data, text = self.request("GET", f"/api/games/{game}?at={at}")
        assert status == 200, text
        return data

    def change(self, game: str, change_name: str, **body: Any) -> Any:
        """A change to a game; the game after it."""
        status, data, text = self.request("POST", f"/api/games/{game}/{change_name}", body)
        assert status == 200, text
        return data

    def end(self) -> None:
        """End it, as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()

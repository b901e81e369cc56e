"""A server for a local network without a socket, and browsers without a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.play import asgi
from training.play.access import Access
from training.play.agent_pool import AgentPool
from training.play.app import make_app
from training.play.game_server import GameServer


class Client:
    """A browser without a page: its requests and its cookies."""

    def __init__(self, app: Any):
        self.app, self.cookies = app, dict[str, str]()

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        text = json.dumps(body or {}).encode()
        answer = asgi.run(asgi.request(self.app, path, method, text, cookie=cookies))
        for name, value in answer.headers:
            if name == b"set-cookie":
                key, _, rest = value.decode().partition("=")
                self.cookies[key] = rest.partition(";")[0]
                assert "httponly" in rest.lower() and "samesite=strict" in rest.lower()
        return answer.status, json.loads(answer.body)

    def get(self, path: str) -> Any:
        status, data = self.request("GET", path)
        assert status == 200, data
        return data

    def post(self, path: str, **body: Any) -> Any:
        status, data = self.request("POST", path, body)
        assert status == 200, data
        return data


class Network:
    """A server for a local network."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.access = Access(folder / "tables")
        self.server = GameServer(AgentPool(), folder, shared=True)
        self.app = make_app(self.server, None, lambda: False, self.access)

    def browser(self, key: str = "") -> Client:
        """A new browser, which has opened a link."""
        client = Client(self.app)
        if key:
            client.post("/api/enter", key=key)
        return client

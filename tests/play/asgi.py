"""Requests to an application of the server without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


async def request(
    app: Any, path: str, method: str = "GET", body: bytes = b"", **headers: str
) -> Answer:
    """Ask an application.

    Args:
        headers: with _ for - in their names; the host is `localhost` unless given.
    """
    path, _, query = path.partition("?")
    fields = {"host": "localhost"} | headers
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": query.encode(), "http_version": "1.1", "scheme": "http",
        "headers": [(name.replace("_", "-").encode(), x.encode()) for name, x in fields.items()],
        "root_path": "", "client": ("127.0.0.1", 1), "server": ("localhost", 1),
    }  # fmt: skip
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    parts = b"".join(part.get("body", b"") for part in sent[1:])
    return Answer(sent[0]["status"], sent[0]["headers"], parts)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Its result, from a thread of its own: a browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()

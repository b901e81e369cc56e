"""The first page and its files, served while the game and the agents are still imported."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .request_guard import RequestGuard, refusal

POLL = 0.02  # seconds between two checks whether the games are loaded
_TYPES = {".js": "text/javascript", ".css": "text/css"}
# Without importing `gaia_jax.replay`, which imports JAX.
_FOLDERS = (
    resources.files("gaia_jax").joinpath("replay", "static"),
    resources.files(str(__package__)).joinpath("static"),
)
# The served files by name; no other files of these folders are served.
FILES = {
    file.name: file
    for folder in _FOLDERS
    for file in folder.iterdir()
    if Path(file.name).suffix in _TYPES
}
PAGES = {"/": "index.html", "/puzzles": "puzzles.html"}
Handler = Callable[[Request], Awaitable[Response]]


class Landing:
    """ASGI: serves the pages at once; requests for the games wait until these are loaded."""

    def __init__(self, hosts: Sequence[str]):
        """`hosts`: the allowed host names of the server."""
        self.games: ASGIApp | None = None  # `app.make_app`, set from any thread
        pages = [Route(path, page_of(name)) for path, name in PAGES.items()]
        page = make_starlette([*pages, Route("/static/{name}", file)])

        async def either(scope: Scope, receive: Receive, send: Send) -> None:
            app: ASGIApp = page
            if scope["type"] == "http" and scope["path"].startswith("/api/"):
                while self.games is None:
                    await asyncio.sleep(POLL)
                app = self.games
            await app(scope, receive, send)

        self._guarded = RequestGuard(either, hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._guarded(scope, receive, send)


def page_of(name: str) -> Handler:
    """The handler of a page."""

    async def page(request: Request) -> Response:
        text = await run_in_threadpool(_FOLDERS[1].joinpath(name).read_text, "utf-8")
        return Response(text, media_type="text/html")

    return page


async def file(request: Request) -> Response:
    """A script or a style sheet."""
    name = request.path_params["name"]
    if name not in FILES:
        return refusal(404, "there is no such file")
    text = await run_in_threadpool(FILES[name].read_text, "utf-8")
    return Response(text, media_type=_TYPES[Path(name).suffix])


def with_json_errors(handler: Handler) -> Handler:
    """A handler that answers errors of the user as JSON."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except ValueError as error:  # Refused among them
            return refusal(400, " ".join(str(error).split())[:500])
        except HTTPException as error:
            return refusal(error.status_code, error.detail)

    return answered


async def _missing(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    texts = {404: "there is no such page", 405: "that method is not allowed"}
    return refusal(status, texts.get(status, "the server failed; see its terminal"))


def make_starlette(routes: list[Route]) -> Starlette:
    """An application that answers every error as JSON."""
    handlers: Any = {404: _missing, 405: _missing, 500: _missing}
    return Starlette(routes=routes, exception_handlers=handlers)


class Served(uvicorn.Server):
    """A server that saves running games whenever it shuts down."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], list[str]]):
        """`on_stop`: saves the unfinished games and returns lines to print."""
        super().__init__(config)
        self._on_stop = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Save after the last response has been sent."""
        await super().shutdown(sockets)
        for line in self._on_stop():
            print(line, flush=True)

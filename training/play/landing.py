"""The page and its files, served while the game and the agents are still being imported."""

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

LOOK = 0.02  # seconds between two looks at whether the games are there
_TYPES = {".js": "text/javascript", ".css": "text/css"}
# Not by `gaia_jax.replay`: that module brings JAX along.
_FOLDERS = (
    resources.files("gaia_jax").joinpath("replay", "static"),
    resources.files(str(__package__)).joinpath("static"),
)
# Paths of the files that a page may load, by name. Nothing else in these folders is served.
FILES = {
    file.name: file
    for folder in _FOLDERS
    for file in folder.iterdir()
    if Path(file.name).suffix in _TYPES
}
PAGES = {"/": "index.html", "/puzzles": "puzzles.html"}
Handler = Callable[[Request], Awaitable[Response]]


class Front:
    """ASGI: the page at once; a request for the games waits until they are there."""

    def __init__(self, hosts: Sequence[str]):
        """`hosts`: the names by which the server may be called."""
        self.games: ASGIApp | None = None  # `app.make_app`, set from any thread
        pages = [Route(path, page_of(name)) for path, name in PAGES.items()]
        page = starlette([*pages, Route("/static/{name}", file)])

        async def either(scope: Scope, receive: Receive, send: Send) -> None:
            app: ASGIApp = page
            if scope["type"] == "http" and scope["path"].startswith("/api/"):
                while self.games is None:
                    await asyncio.sleep(LOOK)
                app = self.games
            await app(scope, receive, send)

        self._guarded = RequestGuard(either, hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._guarded(scope, receive, send)


def page_of(name: str) -> Handler:
    """What answers with a page."""

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


def told(handler: Handler) -> Handler:
    """A handler whose mistakes of the user are answers."""

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
    texts = {404: "there is no such page", 405: "that method is not taken here"}
    return refusal(status, texts.get(status, "the server failed; see its terminal"))


def starlette(routes: list[Route]) -> Starlette:
    """An application whose every refusal is one clear JSON error."""
    handlers: Any = {404: _missing, 405: _missing, 500: _missing}
    return Starlette(routes=routes, exception_handlers=handlers)


class Served(uvicorn.Server):
    """A server that saves running games whenever it shuts down."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], list[str]]):
        """`on_stop`: saves the games that are under way; what is to be said of it."""
        super().__init__(config)
        self._keep = on_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Save after the last response has been sent."""
        await super().shutdown(sockets)
        for line in self._keep():
            print(line, flush=True)

"""The first page and its files, served while the game and the agents are still imported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gaia_jax.language import (
    ENGLISH,
    LANGUAGES,
    in_language,
    language,
    texts_script,
    with_texts,
)

from .languages import COOKIE, language_of, page_texts, translated
from .request_guard import RequestGuard, refusal

POLL = 0.02  # seconds between two checks whether the games are loaded
_TYPES = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}
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
COOKIE_AGE = 365 * 24 * 3600  # seconds


class Landing:
    """ASGI: serves the pages at once; requests for the games wait until these are loaded."""

    def __init__(self, hosts: Sequence[str]):
        """`hosts`: the allowed host names of the server."""
        self.games: ASGIApp | None = None  # `app.make_app`, set from any thread
        page = make_starlette(
            [*map(_page, PAGES), Route("/texts.js", _texts), Route("/static/{name}", _file)]
        )

        async def either(scope: Scope, receive: Receive, send: Send) -> None:
            app: ASGIApp = page
            if scope["type"] == "http" and scope["path"].startswith("/api/"):
                while self.games is None:
                    await asyncio.sleep(POLL)
                app = self.games
            with in_language(_language(scope)):
                await app(scope, receive, send)

        self._guarded = RequestGuard(either, hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._guarded(scope, receive, send)


def _language(scope: Scope) -> str:
    """The language of the answer to a request; handlers that run in threads inherit it."""
    return language_of(Request(scope)) if scope["type"] == "http" else ENGLISH


def _page(name: str) -> Route:
    """The route of a page; Starlette calls its handler in a thread."""
    file = _FOLDERS[1].joinpath(PAGES[name])

    def page(request: Request) -> Response:
        text = with_texts(file.read_text("utf-8"), page_texts())
        response = Response(text, media_type="text/html")
        if request.query_params.get("lang") == language():
            response.set_cookie(COOKIE, language(), max_age=COOKIE_AGE, samesite="lax")
        return response

    return Route(name, page)


def _file(request: Request) -> Response:
    """A script, a style sheet or the typeface."""
    name = request.path_params["name"]
    if name not in FILES:
        raise HTTPException(404, "there is no such file")
    return Response(FILES[name].read_bytes(), media_type=_TYPES[Path(name).suffix])


def _texts(request: Request) -> Response:
    """The texts of the pages, for `texts.js`, and the languages to choose from."""
    script = f"{texts_script(page_texts())}\nconst LANGUAGES = {json.dumps(LANGUAGES)};"
    return Response(script, media_type=_TYPES[".js"])


async def _invalid(request: Request, error: Exception) -> Response:
    return refusal(getattr(error, "status", 400), translated(" ".join(str(error).split())[:500]))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {
        "Not Found": "there is no such page",
        "Method Not Allowed": "that method is not allowed",
    }
    return refusal(error.status_code, translated(texts.get(error.detail, error.detail)))


async def _failed(request: Request, error: Exception) -> Response:
    return refusal(500, translated("the server failed; see its terminal"))


def make_starlette(routes: list[Route]) -> Starlette:
    """An application that answers every error as JSON: ValueError, Refused among them, with 400."""
    handlers: Any = {ValueError: _invalid, HTTPException: _http_error, Exception: _failed}
    return Starlette(routes=routes, exception_handlers=handlers)

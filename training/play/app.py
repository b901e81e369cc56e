"""The HTTP interface of a server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from . import catalogue
from .background import Job
from .game import HUMAN, Game, Refused
from .game_json import game_json
from .game_server import GameServer
from .landing import Handler, make_starlette, with_json_errors
from .request_guard import is_local, read_object, refusal

CHANGES = ("act", "go", "undo", "seat", "settings", "resume")
NEWS_TIMEOUT = 15.0  # seconds until a request without news is answered
# Agents' decisions within this many seconds are sent as one update, which costs more than they do.
BATCH_SECONDS = 0.3
MAX_WAITING = 64  # requests
# A self-contained page: its own script runs, but sends no request to this server.
SANDBOX = {
    "Content-Security-Policy": "sandbox allow-scripts; default-src 'none'; img-src data:;"
    " script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'"
}


class Pages:
    """The handlers."""

    def __init__(self, server: GameServer, record: str | None, ending: Callable[[], bool]):
        """
        Args:
            record: the name of a saved record that the first page opens.
            ending: whether the server is about to end, which answers waiting requests.
        """
        self.server, self.first, self.ending = server, record, ending
        self.waiting = 0

    async def puzzle(self, request: Request) -> Response:
        """The list of puzzles with themes and levels, one puzzle, or the result of an answer."""
        book, number = self.server.puzzles, request.path_params.get("number")
        if number is None:
            return JSONResponse(await run_in_threadpool(book.index))
        if request.method == "POST":
            body = await read_object(request)
            return JSONResponse(await run_in_threadpool(book.explanation, number, body))
        return JSONResponse(await run_in_threadpool(book.question, number))

    async def offers(self, request: Request) -> Response:
        """Rulesets, agents, records and open games; with `brief=1` without the records."""
        brief = request.query_params.get("brief") == "1"
        ruleset = request.query_params.get("ruleset", "lost_fleet")
        return JSONResponse(
            {
                "rulesets": catalogue.rulesets(),
                "human": HUMAN,
                "agents": self.server.agents.describe(ruleset),
                "records": [] if brief else await run_in_threadpool(self.server.records),
                "first": self.first,
                "games": self.server.under_way() if is_local(request) else [],
            }
        )

    async def preview(self, request: Request) -> Response:
        """The set-up that a form deals."""
        form = await read_object(request)
        return JSONResponse(await run_in_threadpool(self.server.preview, form))

    async def advise(self, request: Request) -> Response:
        """Advice on the set-up of a form: start it, return its status, cancel it."""
        body = await read_object(request) if request.method == "POST" else {}
        if "id" not in request.path_params:
            return JSONResponse(await run_in_threadpool(self.server.advise, body))
        job = self._advice(request)
        if body.get("off"):
            job.call_off()
        return JSONResponse(job.json())

    async def advice_page(self, request: Request) -> Response:
        """The page of an advice."""
        job = self._advice(request)
        if job.status != "ready":
            raise HTTPException(404, "there is no advice on this set-up yet")
        return Response(job.result, media_type="text/html", headers=SANDBOX)

    def _advice(self, request: Request) -> Job:
        job = self.server.setup_advice.get(request.path_params["id"])
        if job is None:
            raise HTTPException(404, "there is no such advice")
        return job

    async def open(self, request: Request) -> Response:
        """A new game."""
        form = await read_object(request)
        game = await run_in_threadpool(self.server.open, form)
        return JSONResponse({"id": game.id})

    async def game(self, request: Request) -> Response:
        """A game, once it differs from version `since` or `NEWS_TIMEOUT` has passed."""
        game = self._game(request)
        since = _integer_query(request, "since", 0)
        if since:
            await self._news(game, since)
        return await self._answer(game, whole_game=not since)

    async def _news(self, game: Game, since: int) -> None:
        if self.waiting >= MAX_WAITING:
            return
        self.waiting += 1
        try:
            until = time.monotonic() + NEWS_TIMEOUT
            while game.version <= since and time.monotonic() < until and not self.ending():
                await asyncio.sleep(0.02)
            until = time.monotonic() + BATCH_SECONDS
            while game.agent_to_move() and time.monotonic() < until and not self.ending():
                await asyncio.sleep(0.01)
        finally:
            self.waiting -= 1

    async def change(self, request: Request) -> Response:
        """A change to a game, and the game after it."""
        game, change_name = self._game(request), request.path_params["what"]
        if change_name not in CHANGES:
            return refusal(404, "there is no such request")
        body = await read_object(request)
        await run_in_threadpool(self.server.change, game, change_name, body)
        return await self._answer(game)

    async def analysis(self, request: Request) -> Response:
        """An agent's evaluation of the position, or of the whole line."""
        game = self._game(request)
        name = request.query_params.get("agent", "")
        whole_game, search = (request.query_params.get(key) == "1" for key in ("whole", "search"))
        return JSONResponse(
            await run_in_threadpool(self.server.analyse, game, name, whole_game, search)
        )

    async def further(self, request: Request) -> Response:
        """One part of the lookahead."""
        game, part = self._game(request), request.path_params["what"]
        return JSONResponse(await run_in_threadpool(self.server.lookahead, game, part))

    async def advice(self, request: Request) -> Response:
        """Status of a hint or a review; POST starts it, and `{"off": true}` cancels it."""
        game, kind = self._game(request), request.path_params["what"]
        if kind not in ("hint", "review"):
            return refusal(404, "there is no such request")
        advice = self.server.advice
        if request.method == "POST":
            if (await read_object(request)).get("off"):
                advice.call_off(game, kind)
            else:
                await run_in_threadpool(self.server.ask_advice, game, kind)
        if kind == "hint":
            return JSONResponse(advice.hint(game))
        job = advice.review_job(game)
        return JSONResponse(job.json() if job else {"status": "none"})

    async def file_of(self, request: Request) -> Response:
        """A game as a file: its record, its replay page, its review."""
        game, format = self._game(request), request.path_params["what"]
        name = re.sub(r"[^A-Za-z0-9 _.-]", "_", game.name or "gaia project")
        if format == "record.json":
            text = await run_in_threadpool(game.record_text)
            return _download(text, "application/json", f"{name}.json")
        if format == "replay.html":
            text = await run_in_threadpool(game.replay_page)
            return _download(text, "text/html", f"{name}.html")
        job = self.server.advice.review_job(game) if format == "review.html" else None
        if job is None or job.status != "ready":
            raise HTTPException(404, "there is no review of this game yet")
        return Response(job.result, media_type="text/html", headers=SANDBOX)

    async def save(self, request: Request) -> Response:
        """Save a record."""
        game = self._game(request)
        body = await read_object(request)
        name, moves = await run_in_threadpool(self.server.save, game, body.get("name", ""))
        return JSONResponse({"name": name, "moves": moves})

    async def _answer(self, game: Game, whole_game: bool = False) -> Response:
        def build() -> dict[str, Any]:
            with self.server.lock:
                out = {**game_json(self.server, game), "parts": game.parts()}
                return {**out, "picture": game.picture()} if whole_game else out

        return JSONResponse(await run_in_threadpool(build))

    def _game(self, request: Request) -> Game:
        try:
            return self.server.get(request.path_params["id"])
        except KeyError:
            raise HTTPException(404, "there is no such game") from None


def _download(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


def _integer_query(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise Refused(f"{name}: a whole number is required")
    return int(text)


def make_app(server: GameServer, record: str | None, ending: Callable[[], bool]) -> ASGIApp:
    """The application below `/api/`; `Landing` handles all other requests.

    Args:
        server: the games.
        record: the name of a saved record that the first page opens.
        ending: whether the server is about to end.
    """
    pages = Pages(server, record, ending)
    game = "/api/games/{id}"
    paths: list[tuple[str, Handler, list[str]]] = [
        ("/api/offers", pages.offers, ["GET"]),
        ("/api/puzzles", pages.puzzle, ["GET"]),
        ("/api/puzzles/{number:int}", pages.puzzle, ["GET", "POST"]),
        ("/api/preview", pages.preview, ["POST"]),
        ("/api/advice", pages.advise, ["POST"]),
        ("/api/advice/{id}", pages.advise, ["GET", "POST"]),
        ("/api/advice/{id}/page", pages.advice_page, ["GET"]),
        ("/api/games", pages.open, ["POST"]),
        (game, pages.game, ["GET"]),
        (game + "/further/{what}", pages.further, ["GET"]),
        (game + "/ask/{what}", pages.advice, ["GET", "POST"]),
        (game + "/file/{what}", pages.file_of, ["GET"]),
        (game + "/analysis", pages.analysis, ["GET"]),
        (game + "/save", pages.save, ["POST"]),
        (game + "/{what}", pages.change, ["POST"]),
    ]
    return make_starlette(
        [Route(path, with_json_errors(call), methods=methods) for path, call, methods in paths]
    )

"""The HTTP interface of a server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
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
from .landing import make_starlette
from .request_guard import is_local, read_object

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


Body = dict[str, object]
Answer = Any  # JSON values, or a Response


class Pages:
    """The handlers. Each runs in a thread, except `game`, which waits."""

    def __init__(self, server: GameServer, record: str | None, ending: Callable[[], bool]):
        """
        Args:
            record: the name of a saved record that the first page opens.
            ending: whether the server is about to end, which answers waiting requests.
        """
        self.server, self.first, self.ending = server, record, ending
        self.waiting = 0

    def puzzle(self, request: Request, body: Body) -> Answer:
        """A puzzle, or the result of an answer."""
        book, number = self.server.puzzles, request.path_params["number"]
        return book.explanation(number, body) if request.method == "POST" else book.question(number)

    def offers(self, request: Request, body: Body) -> Answer:
        """Rulesets, agents, records and open games; with `brief=1` without the records."""
        brief = request.query_params.get("brief") == "1"
        return {
            "rulesets": catalogue.rulesets(),
            "human": HUMAN,
            "agents": self.server.agents.describe(),
            "records": [] if brief else self.server.records(),
            "first": self.first,
            "games": self.server.under_way() if is_local(request) else [],
        }

    def setup_advice(self, request: Request, body: Body) -> Answer:
        """Status of an advice; `{"off": true}` cancels it."""
        job = self._setup_advice(request)
        if body.get("off"):
            job.call_off()
        return job.json()

    def setup_advice_page(self, request: Request, body: Body) -> Answer:
        """The page of an advice."""
        return _sandboxed(self._setup_advice(request), "there is no advice on this set-up yet")

    def _setup_advice(self, request: Request) -> Job:
        job = self.server.setup_advice.get(request.path_params["id"])
        if job is None:
            raise HTTPException(404, "there is no such advice")
        return job

    async def game(self, request: Request) -> Response:
        """A game, once it differs from version `since` or `NEWS_TIMEOUT` has passed."""
        game, since = self._game(request), _integer_query(request, "since", 0)
        if since:
            await self._news(game, since)
        return JSONResponse(await run_in_threadpool(self._game_json, game, not since))

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

    def change(self, request: Request, body: Body) -> Answer:
        """A change to a game, and the game after it."""
        game = self._game(request)
        self.server.change(game, _check_name(request, CHANGES), body)
        return self._game_json(game)

    def analysis(self, request: Request, body: Body) -> Answer:
        """An agent's evaluation of the position, or of the whole line."""
        query = request.query_params
        whole_game, search = (query.get(key) == "1" for key in ("whole", "search"))
        return self.server.analyse(self._game(request), query.get("agent", ""), whole_game, search)

    def lookahead(self, request: Request, body: Body) -> Answer:
        """One part of the lookahead."""
        return self.server.lookahead(self._game(request), request.path_params["what"])

    def save(self, request: Request, body: Body) -> Answer:
        """Save a record."""
        name, moves = self.server.save(self._game(request), body.get("name", ""))
        return {"name": name, "moves": moves}

    def advice(self, request: Request, body: Body) -> Answer:
        """Status of a hint or a review; POST starts it, and `{"off": true}` cancels it."""
        game, kind = self._game(request), _check_name(request, ("hint", "review"))
        advice = self.server.advice
        if request.method == "POST" and body.get("off"):
            advice.call_off(game, kind)
        elif request.method == "POST":
            self.server.ask_advice(game, kind)
        if kind == "hint":
            return advice.hint(game)
        job = advice.review_job(game)
        return job.json() if job else {"status": "none"}

    def game_file(self, request: Request, body: Body) -> Answer:
        """A game as a file: its record, its replay page, its review."""
        game, format = self._game(request), request.path_params["what"]
        name = re.sub(r"[^A-Za-z0-9 _.-]", "_", game.name or "gaia project")
        if format == "record.json":
            return _download(game.record_text(), "application/json", f"{name}.json")
        if format == "replay.html":
            return _download(game.replay_page(), "text/html", f"{name}.html")
        job = self.server.advice.review_job(game) if format == "review.html" else None
        return _sandboxed(job, "there is no review of this game yet")

    def _game_json(self, game: Game, whole_game: bool = False) -> dict[str, Any]:
        with self.server.lock:
            out = {**game_json(self.server, game), "parts": game.parts()}
            return {**out, "picture": game.picture()} if whole_game else out

    def _game(self, request: Request) -> Game:
        try:
            return self.server.get(request.path_params["id"])
        except KeyError:
            raise HTTPException(404, "there is no such game") from None


def _check_name(request: Request, names: Sequence[str]) -> str:
    name = str(request.path_params["what"])
    if name not in names:
        raise HTTPException(404, "there is no such request")
    return name


def _sandboxed(job: Job | None, missing: str) -> Response:
    """The page that a job has made; 404 before."""
    if job is None or job.status != "ready":
        raise HTTPException(404, missing)
    return Response(job.result, media_type="text/html", headers=SANDBOX)


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
    return make_starlette(
        [
            _route("/api/offers", pages.offers),
            _route("/api/puzzles", lambda request, body: server.puzzles.index()),
            _route("/api/puzzles/{number:int}", pages.puzzle, "GET", "POST"),
            _route("/api/preview", lambda request, body: server.preview(body), "POST"),
            _route("/api/advice", lambda request, body: server.advise(body), "POST"),
            _route("/api/advice/{id}", pages.setup_advice, "GET", "POST"),
            _route("/api/advice/{id}/page", pages.setup_advice_page),
            _route("/api/games", lambda request, body: {"id": server.open(body).id}, "POST"),
            Route(game, pages.game),
            _route(game + "/further/{what}", pages.lookahead),
            _route(game + "/ask/{what}", pages.advice, "GET", "POST"),
            _route(game + "/file/{what}", pages.game_file),
            _route(game + "/analysis", pages.analysis),
            _route(game + "/save", pages.save, "POST"),
            _route(game + "/{what}", pages.change, "POST"),
        ]
    )


def _route(path: str, handler: Callable[[Request, Body], Answer], *methods: str) -> Route:
    """Run a handler in a thread, with the JSON object of a POST; answer with JSON."""

    async def respond(request: Request) -> Response:
        body = await read_object(request) if request.method == "POST" else {}
        answer = await run_in_threadpool(handler, request, body)
        return answer if isinstance(answer, Response) else JSONResponse(answer)

    return Route(path, respond, methods=methods or ("GET",))

"""The HTTP interface of a server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gaia_jax.replay import to_text
from gaia_jax.replay.page import page

from ..analysis.habits import MIN_GAMES
from . import catalogue
from .access import KEY, NEEDS_LINK, Access, Visitor
from .background import Job
from .game import HUMAN, MAX_NODES, Game, Refused
from .game_json import game_json, lookahead_json
from .game_server import GameServer
from .kept_tables import OpenTable
from .landing import make_starlette
from .members import Forbidden, read_name
from .request_guard import read_object
from .table_changes import CHANGES, MOVES

NEWS_TIMEOUT = 15.0  # seconds until a request without news is answered
# Agents' decisions within this many seconds are sent as one update, which costs more than they do.
BATCH_SECONDS = 0.3
MAX_WAITING = 64  # requests
# A self-contained page: its own script runs and sends no request (default-src); its links lead back
# to the table, which an origin of its own could not open.
SANDBOX = {
    "Content-Security-Policy": "sandbox allow-scripts allow-same-origin; default-src 'none';"
    " img-src data:; font-src data:;"
    " script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-ancestors 'none'"
}


Body = dict[str, object]
Answer = Any  # JSON values, or a Response
Handler = Callable[[Request, Body], Answer]
NO_GAME = "there is no such game"


class FirstRecord(NamedTuple):
    """The saved record that the first page opens."""

    name: str
    at: int | None = None  # its number of decisions before the position in view


class Pages:
    """The handlers. Each runs in a thread, except `game`, which waits."""

    def __init__(
        self,
        server: GameServer,
        first: FirstRecord | None,
        ending: Callable[[], bool],
        access: Access,
    ):
        """
        Args:
            first: None: the first page opens no record.
            ending: whether the server is about to end, which answers waiting requests.
            access: the rules of access to the server.
        """
        self.server, self.first, self.ending, self.access = server, first, ending, access
        self.waiting = 0

    def enter(self, request: Request, body: Body) -> Answer:
        """Follow the link with a `key`: of the server, of a seat or to watch; `name` for a seat."""
        key: Any = body.get("key")
        name = body.get("name", "")
        if not isinstance(key, str) or not KEY.fullmatch(key):
            self.access.refuse_key()
        if self.access.key and self.access.is_key(key):
            response = JSONResponse({"id": None})
            self.access.admit(response)
            return response
        browser = _visitor(request).browser
        id = self.server.enter(browser, key, read_name(name) if name else "")
        return {"id": id} if id else self.access.refuse_key()

    def puzzle(self, request: Request, body: Body) -> Answer:
        """A puzzle, or the result of an answer."""
        book, number = self.server.puzzles, request.path_params["number"]
        return book.explanation(number, body) if request.method == "POST" else book.question(number)

    def offers(self, request: Request, body: Body) -> Answer:
        """Rulesets, agents, records and open games; with `brief=1` without the records."""
        visitor = _visitor(request)
        with self.server.lock:
            is_guest = self.server.kept.is_guest(visitor.browser)
        if not visitor.admitted and not is_guest:
            raise HTTPException(403, NEEDS_LINK)
        brief = request.query_params.get("brief") == "1" or not visitor.admitted
        return {
            "rulesets": catalogue.rulesets(),
            "human": HUMAN,
            "agents": self.server.agents.describe(),
            "records": [] if brief else self.server.records(),
            "first": self.first and self.first._asdict(),
            "games": self._under_way(visitor),
            "players": self._players(visitor) if visitor.admitted else [],
            "admitted": visitor.admitted,
        }

    def _under_way(self, visitor: Visitor) -> list[dict[str, Any]]:
        with self.server.lock:
            return self.server.kept.under_way(visitor.browser, visitor.admitted)

    def _players(self, visitor: Visitor) -> list[str]:
        """The names in enough ended tables for their habits."""
        with self.server.lock:
            tables = self.server.kept.ended_of(visitor.browser)
        return [name for name, ids in tables.items() if len(ids) >= MIN_GAMES]

    def open(self, request: Request, body: Body) -> Answer:
        """A new game."""
        return {"id": self.server.open(body, _visitor(request).browser).id}

    def habits(self, request: Request, body: Body) -> Answer:
        """Status of the habits of a player `name`; `change` "start" or "off"."""
        browser = _visitor(request).browser
        return self.server.habits(browser, body.get("name"), body.get("change"))

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
        """A game, once it differs from version `since` or `NEWS_TIMEOUT` has passed.

        At once with its picture if `since` is 0, without it if `since` is 1: no game has it.
        """
        visitor, since = self.access.visitor(request), _integer_query(request, "since", 0)
        request.state.visitor = visitor
        table = await run_in_threadpool(self._table, request)
        if since > 1:
            await self._news(table.game, since)
        answer = await run_in_threadpool(self._game_json, request, table, not since)
        response = JSONResponse(answer)
        self.access.remember(request, response, visitor)
        return response

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
        table, name = self._table(request), _check_name(request, (*CHANGES, "seat"))
        visitor, played = _visitor(request), self._played(request, table)
        if name == "sit" and not visitor.admitted and body.get("player") not in played:
            raise Forbidden("take that seat by its link")
        if name == "act" and not played:
            raise Forbidden("you play none of the seats")  # before the rules are compiled
        self.server.change(table, visitor.browser, name, body)
        return self._game_json(request, table, at_now=name in MOVES)

    def analysis(self, request: Request, body: Body) -> Answer:
        """An agent's evaluation of the position, or of the whole line."""
        query, game = request.query_params, self._table(request).game
        whole_game, search = (query.get(key) == "1" for key in ("whole", "search"))
        agent, at = query.get("agent", ""), _position(request, game)
        return self.server.analyse(game, at, agent, whole_game, search)

    def lookahead(self, request: Request, body: Body) -> Answer:
        """One part of the lookahead."""
        game = self._table(request).game
        return lookahead_json(game, _position(request, game), request.path_params["what"])

    def save(self, request: Request, body: Body) -> Answer:
        """Save a record."""
        table = self._table(request)
        if not self._played(request, table) and not _visitor(request).admitted:
            raise Forbidden("only players save the game")
        name, moves = self.server.save(table, body.get("name", ""))
        return {"name": name, "moves": moves}

    def game_analysis(self, request: Request, body: Body) -> Answer:
        """Status of a hint, check or review; POST starts it, and `{"off": true}` cancels it.

        The query names the move of a check by its `action`s.
        """
        table, kind = self._table(request), _check_name(request, ("hint", "check", "review"))
        game, analyses = table.game, self.server.analyses
        at, move = _position(request, game), request.query_params.getlist("action")
        if request.method == "POST" and body.get("off"):
            if not table.may_call_off(_visitor(request).browser, kind, at):
                raise Forbidden("that is another player's to cancel")
            analyses.call_off(game, kind, at, move)
        elif request.method == "POST":
            self.server.start_analysis(table, _visitor(request).browser, kind, at, move)
        if kind != "review":
            return analyses.hint(game, at) if kind == "hint" else analyses.check(game, move, at)
        job = analyses.review_job(game)
        return job.json() if job else {"status": "none"}

    def game_file(self, request: Request, body: Body) -> Answer:
        """A game as a file: its record, its replay page, its review."""
        table, format = self._table(request), request.path_params["what"]
        game = table.game
        name = re.sub(r"[^\w .-]", "_", game.name or "gaia project")
        with self.server.lock:  # an agent may move meanwhile
            record = game.record(table.members.names)
            states = [game.nodes[id].state for id in game.line]
        if format == "record.json":
            return _download(to_text(record), "application/json", f"{name}.json")
        if format == "replay.html":
            return _download(page(record, played=states), "text/html", f"{name}.html")
        job = self.server.analyses.review_job(game) if format == "review.html" else None
        return _sandboxed(job, "there is no review of this game yet")

    def _played(self, request: Request, table: OpenTable) -> list[int]:
        return table.members.played_by(_visitor(request).browser, table.game.seats)

    def _game_json(
        self, request: Request, table: OpenTable, whole_game: bool = False, at_now: bool = False
    ) -> dict[str, Any]:
        browser, game = _visitor(request).browser, table.game
        with self.server.lock:
            at = game.now if at_now else _position(request, game)
            if whole_game and "at" not in request.query_params and game.opens_at is not None:
                at = game.opens_at
            out = {**game_json(self.server, table, browser, at), "parts": game.parts(at)}
            return {**out, "picture": game.picture(at)} if whole_game else out

    def _table(self, request: Request) -> OpenTable:
        """The table of a request.

        Raises:
            HTTPException: 404, there is none; 403, the browser may not look at it.
        """
        visitor, id = _visitor(request), request.path_params["id"]
        try:
            members, seats = self.server.members(id)  # before a kept table is played again
            if not members.is_open_to(visitor.browser, visitor.admitted, seats):
                raise HTTPException(403, NEEDS_LINK)
            return self.server.get(id)
        except KeyError:
            raise HTTPException(404 if visitor.admitted else 403, NO_GAME) from None


def _visitor(request: Request) -> Visitor:
    visitor: Visitor = request.state.visitor
    return visitor


def _position(request: Request, game: Game) -> int:
    """The position `at` of a query; without it, or if it was removed, the present one."""
    at = _integer_query(request, "at", MAX_NODES)
    return at if at < len(game.nodes) else game.now


def _check_name(request: Request, names: Sequence[str]) -> str:
    name = str(request.path_params["what"])
    if name not in names:
        raise HTTPException(404, "there is no such request")
    return name


def _sandboxed(job: Job | None, missing: str) -> Response:
    """The page that a job has made; 404 before."""
    if job is None or job.status != "ready":
        raise HTTPException(404, missing)
    return Response(job.result.text(), media_type="text/html", headers=SANDBOX)


def _download(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(text, media_type=kind, headers=headers)


def _integer_query(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise Refused(f"{name}: a whole number is required")
    return int(text)


def make_app(
    server: GameServer, first: FirstRecord | None, ending: Callable[[], bool], access: Access
) -> ASGIApp:
    """The application below `/api/`; `Landing` handles all other requests.

    Args:
        server: the games.
        first: None: the first page opens no record.
        ending: whether the server is about to end.
        access: the rules of access to the server.
    """
    pages = Pages(server, first, ending, access)
    game = "/api/games/{id}"
    # These check the browser themselves; all others are for admitted browsers.
    own_checks = partial(_route, access, False)
    route = partial(_route, access, True)
    return make_starlette(
        [
            own_checks("/api/enter", pages.enter, "POST"),
            own_checks("/api/offers", pages.offers),
            route("/api/puzzles", lambda request, body: server.puzzles.index()),
            route("/api/puzzles/{number:int}", pages.puzzle, "GET", "POST"),
            route("/api/preview", lambda request, body: server.preview(body), "POST"),
            route("/api/advice", lambda request, body: server.advise(body), "POST"),
            route("/api/advice/{id}", pages.setup_advice, "GET", "POST"),
            route("/api/advice/{id}/page", pages.setup_advice_page),
            route("/api/habits", pages.habits, "POST"),
            route("/api/games", pages.open, "POST"),
            Route(game, pages.game),
            own_checks(game + "/further/{what}", pages.lookahead),
            own_checks(game + "/ask/{what}", pages.game_analysis, "GET", "POST"),
            own_checks(game + "/file/{what}", pages.game_file),
            own_checks(game + "/analysis", pages.analysis),
            own_checks(game + "/save", pages.save, "POST"),
            own_checks(game + "/{what}", pages.change, "POST"),
        ]
    )


def _route(access: Access, admitted: bool, path: str, handler: Handler, *methods: str) -> Route:
    """Run a handler in a thread, with the JSON object of a POST; answer with JSON.

    Args:
        admitted: whether only admitted browsers may ask.
    """

    async def respond(request: Request) -> Response:
        request.state.visitor = visitor = access.visitor(request)
        if admitted and not visitor.admitted:
            raise HTTPException(403, NEEDS_LINK)
        body = await read_object(request) if request.method == "POST" else {}
        answer = await run_in_threadpool(handler, request, body)
        response = answer if isinstance(answer, Response) else JSONResponse(answer)
        access.remember(request, response, visitor)
        return response

    return Route(path, respond, methods=methods or ("GET",))

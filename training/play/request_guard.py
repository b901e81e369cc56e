"""Checks of every request: known hosts, own pages, small JSON bodies; errors are JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES = 128 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# HOST, HOST:PORT or [ADDRESS]:PORT. URL parsers accept `[::1]evil`, `evil@localhost` and
# `localhost/evil` as this machine, and Starlette's TrustedHostMiddleware answers in plain text.
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def refusal(status: int, message: str) -> JSONResponse:
    """A JSON error."""
    return JSONResponse({"error": message}, status_code=status)


class RequestGuard:
    """ASGI middleware: rejects requests of other hosts and sites, and adds `HEADERS`."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]):
        """`hosts`: the names, without ports, by which a page may address this server."""
        self.app, self.hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            app = self._refusal(Headers(scope=scope), scope["method"]) or self.app
            await app(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers, method: str) -> JSONResponse | None:
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        match = _HOST.fullmatch(host)
        if match is None or (match[1] or match[2]) not in self.hosts:
            return refusal(421, "the Host header is not a name of this server; see --allow-host")
        is_own_page = origin is None or origin.lower() in (f"http://{host}", f"https://{host}")
        if not is_own_page or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return refusal(403, "requests of other sites are rejected")
        if method == "POST" and headers.get("content-type", "").split(";")[0] != "application/json":
            return refusal(415, "a body must be application/json")
        return None


async def read_object(request: Request) -> dict[str, object]:
    """The JSON object in the body of a request.

    Raises:
        ValueError: the body is not a JSON object.
        HTTPException: 413, it is longer than MAX_BYTES.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HTTPException(413, f"a body must have at most {MAX_BYTES} bytes")
    try:
        data = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise ValueError("the body is not JSON") from error
    if not isinstance(data, dict):
        raise ValueError("the body must be a JSON object")
    return data

"""What may reach the server: known hosts, own pages, small bodies. All else is a JSON error."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 128 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# HOST, HOST:PORT or [ADDRESS]:PORT and nothing around it: a reader of addresses takes
# `[::1]evil`, `evil@localhost` and `localhost/evil` for this machine.
_CALLED = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://", re.IGNORECASE)
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def from_here(request: Request) -> bool:
    """Whether a request comes from this machine: only then does it list the games of others."""
    return request.client is not None and request.client.host in LOOPBACK


def refusal(status: int, message: str) -> JSONResponse:
    """One clear JSON error."""
    return JSONResponse({"error": message}, status_code=status, headers=HEADERS)


class RequestGuard:
    """ASGI: refuses what comes from elsewhere, reads bodies up to a limit, adds the headers."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]):
        """`hosts`: the names, without ports, by which a page may call this server."""
        self.app, self.hosts = app, frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        wrong = self._wrong(Headers(scope=scope), scope["method"])
        if wrong:
            await wrong(scope, receive, send)
            return
        body = await _body(receive)
        if body is None:
            await refusal(413, f"a body has at most {MOST_BYTES} bytes")(scope, receive, send)
            return
        body_sent = False

        async def given() -> Message:
            nonlocal body_sent
            if body_sent:
                return await receive()
            body_sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                header_names = {name.lower() for name, _ in message["headers"]}
                extra = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                message["headers"] += [(k, v) for k, v in extra if k not in header_names]
            await send(message)

        await self.app(scope, given, answered)

    def _wrong(self, headers: Headers, method: str) -> JSONResponse | None:
        called = headers.get("host", "")
        if not self._is_allowed_host(called):
            return refusal(421, "this server is not called by that host name")
        origin = headers.get("origin")
        if origin is not None and not self._same(origin, called):
            return refusal(403, "requests of other sites are refused")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return refusal(403, "requests of other sites are refused")
        if method == "POST" and headers.get("content-type", "").split(";")[0] != "application/json":
            return refusal(415, "a body must be application/json")
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            return refusal(400, "content-length must be a number")
        if length > MOST_BYTES:
            return refusal(413, f"a body has at most {MOST_BYTES} bytes")
        return None

    def _is_allowed_host(self, called: str) -> bool:
        match = _CALLED.fullmatch(called)
        return match is not None and (match[1] or match[2]).lower() in self.hosts

    @staticmethod
    def _same(origin: str, called: str) -> bool:
        """Whether a page of this very server asks: host and port are those it was called by."""
        return _ORIGIN.sub("", origin, count=1).lower() == called.lower() != origin.lower()


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None where it is too long."""
    out = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return out
        out += bytes(message.get("body", b""))
        if len(out) > MOST_BYTES:
            return None
        if not message.get("more_body", False):
            return out


def parsed(body: bytes) -> dict[str, object]:
    """The JSON object of a body; ValueError with one line if it is none."""
    try:
        data = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise ValueError("the body is not JSON") from error
    if not isinstance(data, dict):
        raise ValueError("the body must be a JSON object")
    return data

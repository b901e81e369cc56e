"""Access to the server: browsers by a cookie, and on a network only those with its key.

A server that listens on this machine alone admits every browser. Any other has a key, which is part
of the address that it prints: a browser that has opened that address once is admitted. The links of
a table admit a browser to that table alone.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

BROWSER, ADMISSION = "gaia_browser", "gaia_key"  # cookies
YEAR = 365 * 24 * 3600  # seconds
MAX_WRONG_KEYS = 30  # a minute, of all strangers together
NEEDS_LINK = "open the link that you were given: this table is not open to all"
KEY = re.compile(r"[A-Za-z0-9_-]{20,64}")  # also a browser's id


def new_key() -> str:
    """A random key of a link, or a browser's id."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class Visitor:
    """The browser of a request."""

    browser: str
    admitted: bool  # to the server; a guest of one table may not be


class Access:
    """The key of a server."""

    def __init__(self, folder: Path | None):
        """
        Args:
            folder: keeps the key for the next start; None for a server that admits all.
        """
        self.key = _kept_key(folder / ".key") if folder else ""
        self._wrong: deque[float] = deque(maxlen=MAX_WRONG_KEYS)

    def visitor(self, request: Request) -> Visitor:
        """The browser of a request; a new one gets an id."""
        browser = request.cookies.get(BROWSER, "")
        key = request.cookies.get(ADMISSION, "")
        return Visitor(browser if KEY.fullmatch(browser) else new_key(), self.is_key(key))

    def is_key(self, key: str) -> bool:
        """Whether a key is the server's, or the server needs none."""
        return not self.key or secrets.compare_digest(key.encode(), self.key.encode())

    def remember(self, request: Request, response: Response, visitor: Visitor) -> None:
        """Let the browser keep its id."""
        if request.cookies.get(BROWSER) != visitor.browser:
            _set_cookie(response, BROWSER, visitor.browser)

    def admit(self, response: Response) -> None:
        """Let the browser keep the key."""
        _set_cookie(response, ADMISSION, self.key)

    def refuse_key(self) -> NoReturn:
        """Count a wrong key.

        Raises:
            HTTPException: 403, or 429 after too many.
        """
        now = time.monotonic()
        if len(self._wrong) == MAX_WRONG_KEYS and now - self._wrong[0] < 60:
            raise HTTPException(429, "too many wrong links; wait a minute")
        self._wrong.append(now)
        raise HTTPException(403, "this link is not known here; ask for a new one")


def _set_cookie(response: Response, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=YEAR, httponly=True, samesite="strict")


def _kept_key(path: Path) -> str:
    """The key in a file that only its owner can read; a new one if there is none."""
    if path.is_file() and KEY.fullmatch(key := path.read_text().strip()):
        return key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(key := new_key())
    return key

"""The texts of the pages of the table, and the language of a request. Without JAX."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

from starlette.requests import Request

from gaia_jax.language import ENGLISH, LANGUAGES, fill_in, language, read_catalogue

COOKIE = "language"  # keeps the choice of a browser
# Folders with a catalogue: the scripts of the replay page are the table's too.
_FOLDERS = (
    resources.files("gaia_jax").joinpath("replay"),
    resources.files(str(__package__)),
)


@cache
def _catalogues(code: str) -> list[dict[str, Any]]:
    return [read_catalogue(folder, code) for folder in _FOLDERS]


def page_texts() -> dict[str, str]:
    """The texts of the pages by id, in the language in use."""
    return {id: text for texts in _catalogues(language()) for id, text in texts["page"].items()}


def page_text(id: str, **values: object) -> str:
    """A text of the pages with its values, in the language in use."""
    return fill_in(page_texts()[id], **values)


def server_text(id: str, **values: object) -> str:
    """A text of the server with its values, in the language in use."""
    return fill_in(_catalogues(language())[-1]["server"][id], **values)


def language_of(request: Request) -> str:
    """The language of the link parameter `lang`, of the cookie, or of the browser; else English."""
    accepted = []
    for part in request.headers.get("accept-language", "").split(","):
        tag, _, weight = part.partition(";q=")
        number = weight.strip() or "1"
        is_number = re.fullmatch(r"[01](\.\d{1,3})?", number)
        accepted.append((float(number) if is_number else 0.0, tag.strip().lower().split("-")[0]))
    accepted.sort(key=lambda entry: -entry[0])
    wanted = [request.query_params.get("lang", ""), request.cookies.get(COOKIE, "")]
    wanted += [code for weight, code in accepted if weight]
    return next((code for code in wanted if code in LANGUAGES), ENGLISH)


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """The server's English texts as patterns with their ids, the most specific first."""
    texts = _catalogues(ENGLISH)[-1]["server"]
    parts = {id: re.split(r"\{(\w+)\}", text) for id, text in texts.items()}
    order = sorted(parts, key=lambda id: -sum(map(len, parts[id][::2])))
    patterns = []
    for id in order:
        pieces = [
            f"(?P<{part}>.+?)" if n % 2 else re.escape(part) for n, part in enumerate(parts[id])
        ]
        patterns.append((re.compile("".join(pieces), re.DOTALL), id))
    return patterns


def translated(text: str) -> str:
    """A message that the server made in English, such as an error, in the language in use.

    A message without a text in the catalogue stays English.
    """
    if language() == ENGLISH:
        return text
    for pattern, id in _patterns():
        if match := pattern.fullmatch(text):
            values = match.groupdict()
            if "error" in values:
                values["error"] = translated(values["error"])
            return server_text(id, **values)
    return text

"""Languages: which one is in use, catalogues of texts, and texts with their values. Without JAX.

    with in_language("ko"):
        render.names(ruleset)["structure"]["MINE"]     # "광산"

A folder with texts has a `texts.toml`, the English one, and a `texts.CODE.toml` for each other
language with the same ids. What that one leaves out stays English, such as numbers of rulings.
A text is a template: `{n}` is a value, `{n:token|tokens}` depends on the number, `{name:이|가}` on
the last letter of a Korean name.
"""

from __future__ import annotations

import json
import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from importlib.resources.abc import Traversable
from typing import Any

ENGLISH = "en"
# The languages with a catalogue, each by its own name.
LANGUAGES = {ENGLISH: "English", "ko": "한국어", "de": "Deutsch"}
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def language() -> str:
    """The language in use, a key of `LANGUAGES`; English outside `in_language`."""
    return _language.get()


@contextmanager
def in_language(code: str) -> Iterator[None]:
    """Use a language inside the `with` block, in this thread or task.

    Raises:
        KeyError: `code` is not a key of `LANGUAGES`.
    """
    LANGUAGES[code]
    token = _language.set(code)
    try:
        yield
    finally:
        _language.reset(token)


def read_catalogue(folder: Traversable, code: str) -> dict[str, Any]:
    """The texts of a folder in a language, over the English ones."""
    texts: dict[str, Any] = tomllib.loads(folder.joinpath("texts.toml").read_text("utf-8"))
    if code != ENGLISH:
        other = folder.joinpath(f"texts.{code}.toml").read_text("utf-8")
        texts = _merged(texts, tomllib.loads(other))
    return texts


def _merged(texts: Any, other: Any) -> Any:
    if not isinstance(texts, dict):
        return other
    return texts | {key: _merged(texts.get(key), value) for key, value in other.items()}


# The digits whose Korean names end in a consonant: 0, 1, 3, 6, 7, 8.
_CLOSED_DIGITS = "013678"


def ends_closed(text: str) -> bool:
    """Whether a Korean word ends in a consonant, which decides the particle after it."""
    last = text[-1:]
    if "가" <= last <= "힣":
        return (ord(last) - ord("가")) % 28 > 0
    return last in _CLOSED_DIGITS


class _Formatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return str(super().format_field(value, format_spec))
        first, second = format_spec.split("|")
        takes_first = ends_closed(value) if isinstance(value, str) else value == 1
        return first if takes_first else second


_FORMATTER = _Formatter()


def fill_in(template: str, **values: object) -> str:
    """A text with its values; KeyError if one is missing."""
    return str(_FORMATTER.vformat(template, (), values))


def with_minus(text: str) -> str:
    """A text for a page: a hyphen as a sign becomes a minus sign, which terminals may lack."""
    return re.sub(r"(?<![^\s(])-(?=\S)", "\N{MINUS SIGN}", text)


def texts_script(texts: Mapping[str, str]) -> str:
    """A script that defines the texts of a page for `texts.js`."""
    return f"const PAGE_TEXTS = {json.dumps(texts).replace('<', chr(92) + 'u003c')};"


def with_texts(template: str, texts: Mapping[str, str]) -> str:
    """A page with its texts in place of `{{id}}`, and its language in place of `{{language}}`.

    Raises:
        KeyError: the template has an id without a text.
    """
    values = {**texts, "language": language()}
    return re.sub(r"\{\{([\w-]+)\}\}", lambda match: escape(values[match[1]]), template)

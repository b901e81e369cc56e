"""The words of `texts.toml` in the language in use, by kind and id."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from gaia_jax.language import ENGLISH, fill_in, language, read_catalogue


@functools.cache
def _catalogue(code: str) -> dict[str, Any]:
    return read_catalogue(resources.files("gaia_jax").joinpath("render"), code)


@functools.cache
def _rows(code: str, kind: str, key: str) -> dict[str, Any]:
    rows: dict[str, Any] = _catalogue(code).get(kind, {})
    return {id: row[key] for id, row in rows.items() if key in row} if key else rows


class Texts(Mapping[str, Any]):
    """The texts of a kind by id, in the language in use at each look-up."""

    def __init__(self, kind: str, key: str = ""):
        """`key`: of the text in each row; "" for the rows themselves."""
        self._kind, self._key = kind, key

    def __getitem__(self, id: str) -> Any:
        return _rows(language(), self._kind, self._key)[id]

    def __iter__(self) -> Iterator[str]:
        return iter(_rows(language(), self._kind, self._key))

    def __len__(self) -> int:
        return len(_rows(language(), self._kind, self._key))


TEXTS: Mapping[str, Texts] = {kind: Texts(kind) for kind in (*_catalogue(ENGLISH), "faction")}


def column(kind: str, key: str = "name") -> Mapping[str, str]:
    """The texts of a kind under one key, by id; ids without that text are left out."""
    return Texts(kind, key)


def phrase(id: str, **values: object) -> str:
    """A phrase of the catalogue with its values; KeyError for an unknown phrase or value."""
    return fill_in(_rows(language(), "phrase", "")[id], **values)


def joined(parts: list[str]) -> str:
    """`a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return phrase("and", first=", ".join(parts[:-1]), last=parts[-1])

"""The words of `texts.toml`, by kind and id."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

TEXTS: dict[str, dict[str, Any]] = tomllib.loads(
    resources.files("gaia_jax.render").joinpath("texts.toml").read_text("utf-8")
)


def column(kind: str, key: str = "name") -> dict[str, str]:
    """The texts of a kind under one key, by id; ids without that text are left out."""
    return {id: row[key] for id, row in TEXTS[kind].items() if key in row}

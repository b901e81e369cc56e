"""Answers of a dataset as a JSON file (--figures), which can be kept without the games."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from ..games import dataset
from ..stats.effects import Effect
from ..system import data_files
from ..system.data_files import LIST, NUMBER, OBJECT, SWITCH, TEXT, WHOLE
from . import opponent_pairs
from .game_table import GameTable
from .questions import Answers

FORMAT = "gaia_jax figures 1"
IS_OWN_FILE = outputs.begins(json.dumps({"format": FORMAT})[:-1])
DECIMALS = 4
MAX_BYTES = 10**7
KEYS = {"format": TEXT, "games": WHOLE, "deals": WHOLE, "about": OBJECT, "figures": OBJECT}
EFFECT_KINDS = (TEXT, NUMBER, NUMBER, NUMBER, WHOLE, SWITCH)


class Results(NamedTuple):
    """The answers of a dataset."""

    games: int
    deals: int
    about: dict[str, Any]  # the content of `dataset.json`
    answers: Answers


def save(path: Path, data: Path, table: GameTable, answers: Answers) -> None:
    """Write answers as JSON.

    Args:
        data: the folder of the dataset; table: its games.
    """
    header = {
        "format": FORMAT, "games": len(table.vp), "deals": len(np.unique(table.deal)),
        "about": dataset.read_about(data),
    }  # fmt: skip
    lines = [
        f" {json.dumps(key)}: {json.dumps([_to_row(effect) for effect in effects])}"
        for key, effects in answers.items()
    ]
    text = json.dumps(header)[:-1] + ',\n"figures": {\n' + ",\n".join(lines) + "\n}}\n"
    outputs.write_text(path, text)


def _to_row(effect: Effect) -> list[Any]:
    """An effect as a list; null for a number that is not finite."""
    numbers = (round(x, DECIMALS) if math.isfinite(x) else None for x in effect[1:4])
    return [effect.name, *numbers, *effect[4:]]


def load(path: Path) -> Results:
    """Read a file that `save` wrote.

    Raises:
        UserError: `save` did not write the file, or it is damaged.
    """
    payload = data_files.read_json(path, "the figures", MAX_BYTES)
    data_files.check_keys(str(path), payload, KEYS)
    if payload["format"] != FORMAT:
        raise UserError(f"{path} has no format {FORMAT!r}")
    dataset.check_about(f"{path}: about", payload["about"])
    answers: Answers = {}
    for key, rows in payload["figures"].items():
        location = f"{path}: figures.{key}"
        data_files.check_kind(location, rows, LIST)
        answers[key] = [_to_effect(location, row) for row in rows]
    if not answers.get("agents"):
        raise UserError(f"{path}: figures.agents is missing")
    answers |= opponent_pairs.split(answers.get("opponents", []))
    return Results(payload["games"], payload["deals"], payload["about"], answers)


def _to_effect(location: str, row: Any) -> Effect:
    if not isinstance(row, list) or len(row) != len(EFFECT_KINDS):
        raise UserError(f"{location} has an invalid row: {data_files.shown(row)}")
    for name, kind, value in zip(Effect._fields, EFFECT_KINDS, row, strict=True):
        if value is not None or kind != NUMBER:
            data_files.check_kind(f"{location}: {name}", value, kind)
    return Effect._make(math.nan if x is None else x for x in row)

"""The games of an evaluation on the disk: `--save FILE.npz`, goes on where it stopped, merges."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from training.config import UserError
from training.games.results import Results, joined
from training.system import atomic_files, data_files
from training.system.data_files import TEXT, WHOLE

ABOUT = "about"
# What `about` must say beside `same` in `read`, and what it may.
KEYS = {"env": TEXT, "first": WHOLE}
MAY = {"players": WHOLE, "seed": WHOLE, "opponent": TEXT}
BY_GAME = ("decisions",)  # (S, R); all others are by seat, (S, R, P, ...)


def write(path: Path, about: dict[str, Any], results: Results) -> None:
    """Write games, whole or not at all.

    Args:
        about: what they are games of (`same` in `read`), and `first`, the number of the first
            set-up.
    Raises:
        UserError: they cannot be written.
    """
    file = io.BytesIO()
    arrays: dict[str, Any] = {**results.arrays(), ABOUT: np.array(json.dumps(about))}
    np.savez_compressed(file, **arrays)
    atomic_files.write_bytes(path, file.getvalue())


def read(path: Path) -> tuple[dict[str, Any], Results]:
    """What a file says of its games, and the games.

    Raises:
        UserError: it is no file of `write`.
    """
    none = f"{path} holds no games of an evaluation"
    arrays = data_files.read_arrays(path, "the games")
    try:
        about = json.loads(str(arrays.pop(ABOUT)))
        results = Results.of_arrays(arrays)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{none}: {data_files.reason(error)}") from error
    data_files.check_keys(f"{none}: {ABOUT}", about, KEYS)
    may = {key: kind for key, kind in MAY.items() if key in about}
    data_files.check_keys(f"{none}: {ABOUT}", about, may)
    shape = results.vp.shape
    if len(shape) != 3 or not shape[0] or about["first"] < 0:
        raise UserError(f"{none}: vp is of shape {shape}, first {about['first']}")
    for name, x in arrays.items():
        wanted = shape[:2] if name in BY_GAME else shape
        if x.shape[: len(wanted)] != wanted or x.dtype.kind not in "biuf":
            raise UserError(f"{none}: {name} is of shape {x.shape} and {x.dtype}, vp {shape}")
    return about, results


def check_same(path: Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Refuse games of another evaluation; where they begin does not matter.

    Raises:
        UserError: the first thing that differs.
    """
    for key in sorted((ours.keys() | theirs.keys()) - {"first"}):
        if theirs.get(key) != ours.get(key):
            raise UserError(f"{path} has {key} {theirs.get(key)!r}, not {ours.get(key)!r}")


def check_order(path: Path, first: int, wanted: int, what: str = "set-ups") -> None:
    """Refuse a part that does not begin where the one before ends.

    Raises:
        UserError: it does not.
    """
    if first != wanted:
        which = "missing" if first > wanted else "there twice"
        low, high = sorted((first, wanted))
        raise UserError(f"{what} {low} to {high - 1} are {which}, before {path}")


class ResultsFile:
    """The file of an evaluation that is under way."""

    def __init__(
        self, path: Path, about: dict[str, Any], first: int, setups: int, resume: bool = False
    ):
        """
        Args:
            about: what the games are games of.
            first, setups: which set-ups.
            resume: go on with the games that are there.
        Raises:
            UserError: there are some (without `resume`), or of another evaluation.
        """
        self._path, self._about = path, about | {"first": first}
        self.played: Results | None = None
        if not path.exists():
            return
        if not resume:
            raise UserError(f"{path} exists: --resume goes on with it, or name another file")
        theirs, self.played = read(path)
        check_same(path, theirs, about)
        count = len(self.played.vp)
        if theirs["first"] != first or count > setups:
            raise UserError(
                f"{path} holds {count} set-ups from {theirs['first']} on, "
                f"not a part of {setups} from {first} on"
            )

    def save(self, results: Results) -> None:
        """All games so far."""
        write(self._path, self._about, results)


def merge(paths: list[Path]) -> tuple[dict[str, Any], Results]:
    """The games of several files as one: no set-up is missing between them, none is there twice.

    Raises:
        UserError: they do not fit together.
    """
    parts = sorted(((path, *read(path)) for path in paths), key=lambda part: part[1]["first"])
    _, about, _ = parts[0]
    following = int(about["first"])
    for path, theirs, results in parts:
        check_same(path, theirs, about)
        check_order(path, theirs["first"], following)
        following += len(results.vp)
    return about, joined([results for _, _, results in parts])

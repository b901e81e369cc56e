"""Paths of checkpoints: names of runs, free folders, folders that orbax cannot read.

orbax reads parts of a path as patterns and as addresses of remote stores: it writes a checkpoint
below a folder `[x]` or `gs:` without an error and cannot read it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from gaia_jax.cli.command_line import UserError, reason, shorten

FOLDER = "checkpoints"  # in a run folder
ASIDE = "aside"  # later checkpoints of a resumed run; nothing is deleted
PATTERNS = "*?[]\\"  # characters that orbax and tensorstore read as patterns or escapes


def check_characters(run: Path) -> None:
    """Refuse a run folder below which checkpoints are unreadable.

    Args:
        run: the folder; its absolute path counts.
    Raises:
        UserError: it names the character.
    """
    for part in run.absolute().parts[1:]:
        wrong = next((x for x in part if x in PATTERNS), ":" if part.endswith(":") else "")
        if wrong:
            raise UserError(
                f"checkpoints cannot be read back below a folder with {wrong!r} in its name, "
                f"got {part!r} in {run.absolute()}; allowed are names without any of "
                f"{' '.join(PATTERNS)} and without a colon at the end"
            )


def check_round_trip(run: Path) -> None:
    """Write a small checkpoint where those of a run will be and read it; nothing is left.

    Args:
        run: the run folder; it may still be missing.
    Raises:
        UserError: it cannot be written, or reads back as something else.
    """
    import orbax.checkpoint as ocp

    above = run.absolute()
    while not above.is_dir():
        above = above.parent
    tree = {"first": np.arange(4.0), "second": np.arange(3)}
    try:
        with tempfile.TemporaryDirectory(dir=above, prefix=".checkpoint-test-") as folder:
            place = Path(folder) / run.name / "checkpoints"
            place.parent.mkdir()
            with ocp.StandardCheckpointer() as writer:
                writer.save(place, tree)
            with ocp.StandardCheckpointer() as reader:
                restored = reader.restore(place, tree)
    except Exception as error:  # whatever orbax raises
        raise UserError(
            f"a checkpoint in {run.absolute()} cannot be written and read back: {reason(error)}"
        ) from error
    if not all(np.array_equal(restored[name], tree[name]) for name in tree):
        raise UserError(f"a checkpoint in {run.absolute()} reads back as something else")


def is_folder(path: Path) -> bool:
    """Also for names that no file system takes."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def split_update(name: str) -> tuple[str, str | None]:
    """`RUN@UPDATE` -> (RUN, UPDATE); a folder, and a name without @ -> (RUN, None)."""
    run, at, update = name.rpartition("@")
    return (run, update) if at and not is_folder(Path(name)) else (name, None)


def number_of(name: str, update: str | None) -> int | None:
    """The update after the @ of a name; a UserError where it is no number."""
    if update is None:
        return None
    if not (update.isascii() and update.isdigit() and len(update) < 10):
        raise UserError(f"{shorten(name, 100)}: after @ comes the number of an update")
    return int(update)


def free_path(folder: Path, name: str) -> Path:
    """folder/NAME, or the first of NAME-2, -3, ... that does not exist."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}"
    return path

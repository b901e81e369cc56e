"""What a command writes, and the lock of a run folder.

`gaia_jax.cli.outputs` has what `gaia_jax.replay` needs too: what is refused before any work.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from gaia_jax.cli.command_line import UserError, reason
from gaia_jax.cli.outputs import (
    COMMENT,
    PICTURE,
    REPORT,
    anything,
    begins,
    check_different,
    check_file,
    check_folder,
    check_games,
    check_inside,
    json_with,
    lock,
    new_folder,
    nothing,
    plain_name,
    replace,
    sync_folder,
    write_bytes,
    write_text,
)

__all__ = [
    "COMMENT",
    "PICTURE",
    "REPORT",
    "anything",
    "begins",
    "check_different",
    "check_file",
    "check_folder",
    "check_games",
    "check_inside",
    "folder_lock",
    "json_with",
    "lock",
    "new_folder",
    "nothing",
    "plain_name",
    "replace",
    "sync_folder",
    "write_bytes",
    "write_json",
    "write_text",
]


@contextlib.contextmanager
def folder_lock(run: Path) -> Iterator[None]:
    """Hold a run folder against a second process that would write there. Leaves no file.

    Raises:
        UserError: another process holds it.
    """
    try:
        handle = os.open(run, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"cannot use {run}: {reason(error)}") from error
    try:
        if not lock(handle):
            raise UserError(f"{run} is in use by another process: wait for its end")
        yield
    finally:
        os.close(handle)


def write_json(path: Path, report: Mapping[str, object]) -> None:
    """`write_text` of a report."""
    write_text(path, json.dumps(report, indent=2) + "\n")

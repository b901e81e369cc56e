"""What a command writes: checked before any work, written whole or not at all, locked.

A path that cannot be written is found before anything is compiled, by trying: permissions do not
tell of a full disk or of a folder that is read-only for everybody.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gaia_jax.cli.command_line import UserError, reason

try:
    import fcntl
except ImportError:  # no locks on this system
    fcntl = None  # type: ignore[assignment]

PROBE = b"\0" * 4096  # so much must fit on the disk before work begins
MARKS = ("games", "setups")  # keys of every report of ours
LONGEST_REPORT = 10**8  # bytes


def check_file(flag: str, path: Path) -> None:
    """Refuse a path that no file can be written to. Nothing is left there.

    Args:
        flag: what named it, for the message.
        path: a file that is there stays as it is.
    Raises:
        UserError: it is a folder or a device, its folder is missing or cannot be written.
    """
    try:
        if path.is_dir():
            raise UserError(f"{flag} wants a file, {path} is a folder")
        if path.exists() and not path.is_file():
            raise UserError(f"{flag} wants a file, {path} is none")
        if path.exists() and not os.access(path, os.W_OK):
            raise UserError(f"{flag}: cannot write {path}: Permission denied")
        if path.is_symlink() and not path.exists():
            raise UserError(f"{flag} wants a file, {path} is a link to nothing")
        if not path.parent.is_dir():
            raise UserError(f"{flag}: the folder {path.parent} does not exist")
        with contextlib.suppress(FileNotFoundError):
            path.lstat()  # tells of a name that is too long
        _probe(path.parent)
    except (OSError, ValueError) as error:
        raise UserError(f"{flag}: cannot write {path}: {reason(error)}") from error


def check_report(flag: str, path: Path, marks: tuple[str, ...] = MARKS) -> None:
    """`check_file` for a report in JSON: one of ours may be replaced, nothing else.

    Args:
        marks: keys that every report of the command has.
    """
    check_file(flag, path)
    try:
        if not path.exists() or not path.stat().st_size:
            return
        known = path.stat().st_size <= LONGEST_REPORT
        data = json.loads(path.read_bytes()) if known else None
    except (OSError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not all(key in data for key in marks):
        raise UserError(f"{flag}: {path} exists and is no report of ours: name another file")


def check_folder(flag: str, path: Path) -> None:
    """Refuse a path that no folder of results can be made at; an empty folder may be there.

    Args:
        flag: what named it, for the message.
        path: nothing is made yet; `path.mkdir(exist_ok=True)` does it once work begins.
    Raises:
        UserError: it is a file, is not empty, its parent is missing or cannot be written.
    """
    try:
        if path.is_dir():
            if any(path.iterdir()):
                raise UserError(f"{flag}: the folder {path} is not empty: name another")
            _probe(path)
            return
        if path.exists() or path.is_symlink():
            raise UserError(f"{flag} wants a folder, {path} is none")
        if not path.parent.is_dir():
            raise UserError(f"{flag}: the folder {path.parent} does not exist")
        _probe(path.parent)
    except (OSError, ValueError) as error:
        raise UserError(f"{flag}: cannot write {path}: {reason(error)}") from error


def check_inside(flag: str, folder: Path) -> None:
    """Refuse a folder that nothing can be written into; one that is missing can be made.

    Raises:
        UserError: it is no folder, or it, or its parent where it is missing, cannot be written.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{flag}: {folder} is no folder")
        _probe(folder if folder.is_dir() else folder.parent)
    except (OSError, ValueError) as error:
        raise UserError(f"{flag}: cannot write into {folder}: {reason(error)}") from error


def _probe(folder: Path) -> None:
    """Write a file into a folder and take it away; an OSError where that does not work."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(PROBE)
        file.flush()


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; what stood there is replaced in one moment.

    Raises:
        UserError: it cannot be written; what stood there still does.
    """
    try:
        replace(path, text.encode("utf-8")).close()
    except OSError as error:
        raise UserError(f"cannot write {path}: {reason(error)}") from error


def write_json(path: Path, report: dict[str, Any]) -> None:
    """`write_text` of a report."""
    write_text(path, json.dumps(report, indent=2) + "\n")


def replace(path: Path, data: bytes, locked: bool = False) -> Any:
    """Write beside a file and put the new one in its place, safe on the disk.

    Args:
        locked: the new file is locked before it is put there.
    Returns:
        The new file, open for appending.
    """
    path = Path(os.path.realpath(path))  # what a link points to, not the link
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        file = os.fdopen(handle, "ab")
        file.write(data)
        file.flush()
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(handle, path.stat().st_mode & 0o777)
        if not path.exists():
            os.fchmod(handle, 0o666 & ~_umask())
        os.fsync(handle)
        if locked:
            lock(file)
        os.replace(name, path)
        sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    return file


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def sync_folder(folder: Path) -> None:
    """Make new names in a folder safe on the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(file: Any) -> bool:
    """Lock an open file for this process, without waiting; False where another one holds it.

    The system lets go of it when the file is closed, however the process ends.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


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

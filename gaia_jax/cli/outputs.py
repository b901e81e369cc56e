"""Outputs of commands: checked before any work, written atomically, locked.

A command overwrites only files of its own, which it recognizes by a mark (`begins`, `json_with`),
and empty files. Checks write a file into the folder: permissions do not show a full disk or a
read-only file system.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from gaia_jax.cli.command_line import UserError, check_system, one_line, reason, shorten

with contextlib.suppress(ImportError):  # on a system that `check_system` refuses
    import fcntl

PROBE = b"\0" * 4096  # must fit on the disk before work begins
LONGEST_REPORT = 10**8  # bytes
LONGEST_NAME = 100  # bytes
FORBIDDEN = '/ \\ @ : , * ? " < > |'  # in names, on one system or another
COMMENT = "<!-- made by gaia_jax -->\n"  # the start of pages and pictures
NAME_ANOTHER = "name another file"

OwnFile = Callable[[Path], bool]  # whether the command wrote an existing file


def begins(head: str) -> OwnFile:
    """The mark of a text is its start."""
    prefix = head.encode("utf-8")

    def written(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(prefix)) == prefix

    return written


def json_with(*keys: str, **values: Any) -> OwnFile:
    """The mark of a JSON report: its keys, and values of some."""

    def written(path: Path) -> bool:
        try:
            is_short = path.stat().st_size <= LONGEST_REPORT
            data = json.loads(path.read_bytes()) if is_short else None
        except (ValueError, RecursionError):
            return False
        return isinstance(data, dict) and data.keys() >= {*keys, *values} and (
            all(data[key] == value for key, value in values.items())
        )  # fmt: skip

    return written


def nothing(path: Path) -> bool:
    """Accept no existing file."""
    return False


def anything(path: Path) -> bool:
    """Accept any existing file: the command continues it and checks it itself."""
    return True


REPORT = json_with("games", "setups")  # of an arena, an evaluation
PICTURE = begins(COMMENT + "<svg ")


def check_file(
    flag: str, path: Path, is_own_file: OwnFile, hint: str = NAME_ANOTHER, parents: bool = False
) -> None:
    """Reject a file that cannot be written, or that the command did not write.

    Args:
        flag: names it in messages.
        hint: what to do about a file of another origin.
        parents: its folder may be missing; the command creates it later.
    Raises:
        UserError: it is no regular file, or its folder is missing or cannot be written.
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
        if not path.parent.is_dir() and not parents:
            raise UserError(f"{flag}: the folder {path.parent} does not exist")
        _probe(_nearest_folder(path.parent))
        with contextlib.suppress(FileNotFoundError):
            path.lstat()  # fails for a name that is too long
        if path.exists() and path.stat().st_size and not is_own_file(path):
            owner = "" if is_own_file is nothing else " and was not written by this command"
            raise UserError(f"{flag}: {path} exists{owner}: {hint}")
    except (OSError, ValueError) as error:
        raise UserError(f"{flag}: cannot write {path}: {reason(error)}") from error


def check_folder(flag: str, path: Path) -> None:
    """Reject a path for a new folder: a file, a folder with files, or one that is not writable.

    An empty folder passes. Nothing is created; `path.mkdir(parents=True, exist_ok=True)` does it.
    """
    try:
        if path.is_dir():
            if any(path.iterdir()):
                raise UserError(f"{flag}: the folder {path} is not empty: name another")
            _probe(path)
            return
        if path.exists() or path.is_symlink():
            raise UserError(f"{flag} wants a folder, {path} is none")
        _probe(_nearest_folder(path.parent))
    except (OSError, ValueError) as error:
        raise UserError(f"{flag}: cannot write {path}: {reason(error)}") from error


def check_inside(flag: str, folder: Path, files: str = "", is_own_file: OwnFile = anything) -> None:
    """Reject a folder that is not writable; one that is missing passes.

    Args:
        files: the names that the command writes there, as `Path.glob` has them.
        is_own_file: whether the command wrote an existing file of these names.
    Raises:
        UserError: it is no folder, cannot be written, or has a file of another origin.
    """
    try:
        if folder.exists() and not folder.is_dir() or folder.is_symlink() and not folder.exists():
            raise UserError(f"{flag}: {folder} is no folder")
        _probe(_nearest_folder(folder))
        for path in sorted(folder.glob(files)) if files else ():
            check_file(flag, path, is_own_file, "name another folder")
    except (OSError, ValueError) as error:
        raise UserError(f"{flag}: cannot write into {folder}: {reason(error)}") from error


def check_files(files: Mapping[str, tuple[Path | None, OwnFile]]) -> None:
    """`check_file` of each file by flag, None for a flag that was not given; all differ."""
    check_different({flag: path for flag, (path, _) in files.items()})
    for flag, (path, is_own_file) in files.items():
        if path:
            check_file(flag, path, is_own_file)


def check_different(paths: Mapping[str, Path | None]) -> None:
    """Reject a file or folder that two flags name; None is a flag that was not given."""
    seen: dict[str, str] = {}
    for flag, path in paths.items():
        if path is not None:
            other = seen.setdefault(_real(flag, path), flag)
            if other != flag:
                raise UserError(f"{other} and {flag} want two paths, both are {path}")


def _real(flag: str, path: Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError as error:  # a NUL in it
        raise UserError(f"{flag}: cannot write {path}: {reason(error)}") from error


def plain_name(flag: str, name: str) -> None:
    """Reject a name that is not a plain name of a file or folder on any system."""
    if (
        not name.isprintable()
        or any(c in name for c in FORBIDDEN.split())
        or name != name.strip(" .")
        or not 0 < len(name.encode("utf-8", "replace")) <= LONGEST_NAME
    ):
        raise UserError(
            f"{flag} must be a plain folder name of 1 to {LONGEST_NAME} bytes, all printable, "
            f"without any of {FORBIDDEN} and without a space or dot at its ends, got "
            f"{one_line(repr(shorten(name, 60)))}"
        )


def _nearest_folder(folder: Path) -> Path:
    """The folder, or the nearest existing one above it."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder


def _probe(folder: Path) -> None:
    """Write and remove a file in a folder; an OSError if that fails."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(PROBE)
        file.flush()


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of a text as UTF-8, its line ends as they are."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, report: Mapping[str, object]) -> None:
    """`write_text` of a report."""
    write_text(path, json.dumps(report, indent=2) + "\n")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file completely or not at all; an existing file is replaced atomically.

    Raises:
        UserError: it cannot be written; an existing file is unchanged.
    """
    try:
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise UserError(f"cannot write {path}: {reason(error)}") from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that replaces `path` at the end; after an error `path` is unchanged."""
    path = Path(os.path.realpath(path))  # the target of a link
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    part = _unused_name(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    handle = os.open(part, flags, 0o666 if mode is None else 0o600)  # less the umask
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if mode is not None:
                os.fchmod(handle, mode)
            os.fsync(handle)
        os.replace(part, path)
        sync_folder(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that is moved to `path` if the body succeeds, and removed if it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _unused_name(path)
    part.mkdir()
    try:
        yield part
        if path.is_dir():
            path.rmdir()  # it is empty
        part.rename(path)
        sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _unused_name(path: Path) -> Path:
    """A new hidden name in the folder of `path`.

    `tempfile` would create it for its owner alone; the usual permissions would then need the umask,
    which no thread can read without setting it for all.
    """
    return path.parent / f".{path.name[:40]}.{os.urandom(8).hex()}"


def sync_folder(folder: Path) -> None:
    """Flush new names in a folder to disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def lock(file: IO[bytes] | IO[str] | int) -> bool:
    """Lock an open file without waiting, until it is closed; False if another process holds it."""
    check_system()
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_lockable(handle: int) -> bool:
    """Whether the file system can lock a folder that is open; on success it is locked."""
    check_system()
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno != errno.EBADF
    return True


def _open_lock_file(folder: Path, handle: int) -> int:
    """Open the lock file of a folder instead of its handle, unless its parent is read-only."""
    path = Path(os.path.realpath(folder))
    try:
        file = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EROFS):
            return handle
        raise
    os.close(handle)
    return file


@contextlib.contextmanager
def folder_lock(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold a folder against other processes.

    Leaves no file, except on NFS, which only locks files that are open for writing: there it locks
    `.NAME.lock` next to the folder. It locks nothing where that file cannot be created.

    Args:
        wait: for the end of another process that holds it.
    Raises:
        UserError: another process holds it.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
        if not _is_lockable(handle):
            handle = _open_lock_file(folder, handle)
    except OSError as error:
        raise UserError(f"cannot use {folder}: {reason(error)}") from error
    try:
        while not lock(handle):
            if not wait:
                raise UserError(f"{folder} is in use by another process: wait for its end")
            time.sleep(0.1)
        yield
    finally:
        os.close(handle)

"""Shards: result files that exist or do not, in a folder next to the result of a command."""

from __future__ import annotations

import contextlib
import os
import pkgutil
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, finishing

FOLDER, HEAD = ".shards", "about.json"

Function = Callable[..., bytes]
# The index of each shard that has ended, and its error.
Results = Generator[tuple[int, Exception | None], None, None]


class Shard(NamedTuple):
    """A result file and the arguments, JSON, of the function that computes it."""

    path: Path
    args: Sequence[Any]


class On(NamedTuple):
    """The place where shards are computed."""

    backend: str = "local"
    address: str = ""  # of Ray
    processes: int = 0  # at the same time; 0: the default of the back end

    @property
    def in_process(self) -> bool:
        """Whether this process computes all shards."""
        return self.backend == "local" and self.processes < 2


def name_of(function: Function) -> str:
    """`module:qualname` of a function, for `pkgutil.resolve_name` in another process.

    Raises:
        UserError: another process cannot import it by this name.
    """
    name = f"{function.__module__}:{getattr(function, '__qualname__', function)}"
    with contextlib.suppress(ImportError, AttributeError, ValueError):
        if function.__module__ != "__main__" and pkgutil.resolve_name(name) is function:
            return name
    raise UserError(f"a worker can only import a function of a module, not {name!r}")


def write_missing(function: Function, shard: Shard) -> None:
    """Write one shard unless it exists."""
    if not shard.path.exists():
        data = function(*shard.args)
        with finishing():
            outputs.write_bytes(shard.path, data)


def lock_folder() -> Path:
    """A folder of this machine for the locks of this user's workers."""
    folder = Path(tempfile.gettempdir()) / f"gaia_jax-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    return folder


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait for the other workers of this machine: compiling two programs takes much memory."""
    with outputs.folder_lock(lock_folder(), wait=True):
        yield


@contextlib.contextmanager
def shard_folder(path: Path | None, about: Mapping[str, Any], resume: bool) -> Iterator[Path]:
    """The locked folder FILE.shards for the shards of a file, a temporary one without a file.

    Args:
        about: everything that the shards depend on, for JSON.
        resume: continue an existing folder.
    Raises:
        UserError: the folder exists without `resume`, is in use, or has other shards.
    """
    from .data_files import check_same, read_object  # not for --help

    if path is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    folder = path.with_name(path.name + FOLDER)
    if folder.exists():
        if not resume:
            raise UserError(f"{folder} exists: --resume continues it, or name another file")
        check_same(folder, read_object(folder / HEAD, {}), about)
    else:
        with outputs.new_folder(folder) as new:
            outputs.write_json(new / HEAD, about)
    with outputs.folder_lock(folder):
        yield folder
        if folder.exists() and not any(folder.glob("[0-9]*")):
            shutil.rmtree(folder)

"""The code that runs: whether it is that of the source files, and a name for it.

A program kept on disk was traced by some code. It may be read again where the packages' files have
the same contents and none of them has changed since this process began to load them.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import time
from collections.abc import Iterator
from functools import cache
from importlib import metadata

# `gaia_jax` imports this module before all others: what is changed later may be loaded or not.
began = time.time_ns()
PACKAGES = ("gaia_jax", "training", "gaia_training")  # the last is its installed name
LIBRARIES = ("jax", "jaxlib", "numpy", "flax", "optax")


class UnknownError(Exception):
    """What cannot be named; the message says what it is."""


def sources() -> str:
    """The contents of all source files of the loaded packages, as a hash.

    Raises:
        UnknownError: a file has changed since this process began; there are no files.
    """
    folders = []
    for name in PACKAGES:
        if name in sys.modules:
            path = getattr(sys.modules[name], "__path__", None)
            folders += list(path or [])
    files = []
    for folder in folders:
        files += sorted(_files(folder))
    if not files:
        raise UnknownError("no source files")
    for path, changed in files:
        if changed >= began:
            raise UnknownError(f"{path} has changed since the process began")
    return _contents(tuple(folders), tuple(path for path, _ in files))


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """(path, time of the last change in ns) of the source files in a folder and below."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            elif entry.name.endswith(".py"):
                stat = entry.stat()
                # A file moved here keeps its time of writing; on POSIX the other one is new.
                yield entry.path, max(stat.st_mtime_ns, stat.st_ctime_ns)


@cache
def _contents(folders: tuple[str, ...], paths: tuple[str, ...]) -> str:
    told = hashlib.sha256()
    for path in paths:
        home = next(folder for folder in folders if path.startswith(folder + os.sep))
        with open(path, "rb") as file:
            text = file.read()
        name = os.path.relpath(path, os.path.dirname(home)).encode()
        told.update(b"%d %b %d %b" % (len(name), name, len(text), text))
    return told.hexdigest()


def is_known(module: str) -> bool:
    """Whether a module's code has a name: of these packages, of Python, or installed."""
    return version(module.partition(".")[0]) is not None


@cache
def installed() -> list[str]:
    """The versions of what the packages call while JAX traces; "" where one is not installed."""
    found = []
    for name in LIBRARIES:
        try:
            found.append(metadata.version(name))
        except metadata.PackageNotFoundError:
            found.append("")
    return found


def version(package: str) -> str | None:
    """The version of a package; "" of those hashed here, None of one that has none."""
    if package in PACKAGES:
        return ""
    if package in sys.stdlib_module_names:
        return sys.version
    return _version(package) if package in sys.modules else None


@cache
def _version(package: str) -> str | None:
    """Of a loaded package; None where it is not installed: its files may change."""
    module = sys.modules[package]
    file = getattr(module, "__file__", None)
    paths = sysconfig.get_paths()
    installed = {os.path.realpath(paths[name]) for name in ("purelib", "platlib")}
    if file is None or not any(
        os.path.realpath(file).startswith(path + os.sep) for path in installed
    ):
        return None
    said = getattr(module, "__version__", None)
    if isinstance(said, str):
        return said
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

"""What stands in the packages' modules: a test or a notebook may have put something else there.

A name for each module that is loaded. A program on disk is read where the modules that it was
traced with, as far as they are loaded, have the same names; the code itself is in `sources`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType

from gaia_jax.xla import fingerprint, sources

WITHOUT_RULES = {"gaia_jax.cli.interrupts"}  # it holds the name of the command


def modules() -> dict[str, str]:
    """A short hash for each loaded module: of its functions, methods and constants.

    Raises:
        UnknownError: a function from elsewhere stands there, and nothing can be said of it.
    """
    found = {x for x in sys.modules if x.partition(".")[0] in sources.PACKAGES} - WITHOUT_RULES
    return {name: _module(sys.modules[name]) for name in sorted(found)}


def _module(module: ModuleType) -> str:
    lines = sorted(_members(vars(module), module.__name__))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _members(names: dict[str, object], home: str) -> Iterator[str]:
    """A line for each function, each method of a class of the module, each constant."""
    for name, value in list(names.items()):
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, type):
            if value.__module__ == home and value.__qualname__ == name:
                yield from (f"{name}.{line}" for line in _members(dict(vars(value)), home))
        elif isinstance(value, FunctionType) or hasattr(value, "__wrapped__"):
            yield from (f"{name} {line}" for line in _functions(value))
        elif name.isupper() and _is_plain(value):
            yield f"{name} = {value!r}"


def _functions(value: object) -> Iterator[str]:
    """A line for a function and for each that it is wrapped around."""
    while value is not None:
        if isinstance(value, FunctionType):
            where, code = value.__globals__.get("__name__") or "", value.__code__
            if sources.is_known(where):
                yield f"{where} {value.__qualname__} {code.co_name} {code.co_firstlineno}"
            else:
                yield fingerprint.of(value)
        value = getattr(value, "__wrapped__", None)


def _is_plain(value: object) -> bool:
    """A number, a text, or a tuple, list or dict of them."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return value is None or type(value) in (bool, int, float, str)

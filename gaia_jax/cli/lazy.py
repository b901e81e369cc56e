"""Load the names of a package at their first use (PEP 562); modules of extras.

Nothing is stored in the package: the names of stored programs (`gaia_jax.xla.stored_programs`)
depend on the contents of modules, which must not depend on earlier uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def names(
    package: str, homes: Mapping[str, str], elsewhere: Mapping[str, str]
) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        homes: for each module its names, separated by spaces.
        elsewhere: hints for names of other packages.
    """
    home_of = {name: home for home, listed in homes.items() for name in listed.split()}

    def get(name: str) -> Any:
        if name in home_of:
            return getattr(import_module(f"{package}.{home_of[name]}"), name)
        if name.isidentifier() and name[0] != "_" and find_spec(f"{package}.{name}"):
            return import_module(f"{package}.{name}")
        hint = f"; {elsewhere[name]}" if name in elsewhere else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")

    return get


@contextmanager
def of_extra(name: str) -> Iterator[None]:
    """Around imports of modules that an extra installs: the error of a missing one names it."""
    try:
        yield
    except ModuleNotFoundError as error:
        hint = f'pip install "gaia_jax[{name}]" installs it'
        raise ModuleNotFoundError(f"{error.msg}; {hint}", name=error.name) from error

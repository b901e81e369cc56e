"""A package whose names are loaded when they are asked for.

Nothing is stored in the package: what its modules hold is part of the names of the programs on disk
(`gaia_jax.xla.stored_programs`), so it must not depend on what was asked for before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def names(
    package: str, homes: Mapping[str, str], elsewhere: Mapping[str, str]
) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562).

    Args:
        package: its name.
        homes: for each module its names, separated by spaces.
        elsewhere: what to say of names that somebody may look for here.
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

"""How many files one decision goes through: `python -m tools.one_decision [--list]`.

Traces `env.step` on one state without compiling it, and counts calls between the package's own
files: a reader who follows one `mine` walks the same way.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp

import gaia_jax

PACKAGE = str(Path(gaia_jax.__file__).parent)
# Where fields are declared: a call into these reads `me.ore`, `op.mine` or `faction.home`.
DECLARED = (
    "ruleset/faction_row.py",
    "ruleset/faction_table.py",
    "ruleset/operations.py",
    "xla/packed.py",
    "xla/struct.py",
    "state.py",
)
assert all(Path(PACKAGE, name).is_file() for name in DECLARED), "a file was moved"


class Road:
    """Counts the calls of the package's functions while it is installed as profiler."""

    def __init__(self) -> None:
        """Nothing has been called."""
        self.files: list[str] = []  # in the order in which they were first entered
        self.crossings: Counter[tuple[str, str]] = Counter()  # (from, to), different files
        self.functions: list[str] = []  # module.function, in the order of their first call

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """One event of `sys.setprofile`."""
        if event != "call" or not (file := _file(frame)):
            return
        if file not in self.files:
            self.files.append(file)
        name = f"{file.removesuffix('.py')}.{frame.f_code.co_qualname}"
        if "<" not in name and name not in self.functions:
            self.functions.append(name)
        caller = frame.f_back
        while caller is not None and not (before := _file(caller)):
            caller = caller.f_back
        if caller is not None and before != file:
            self.crossings[before, file] += 1


def _file(frame: FrameType) -> str:
    """The file of a frame within the package, else ""."""
    name = frame.f_code.co_filename
    return name[len(PACKAGE) + 1 :] if name.startswith(PACKAGE) else ""


def trace(env: gaia_jax.GaiaEnv) -> Road:
    """The road of one decision and the mask that follows it."""
    state = jax.eval_shape(env.init, jax.random.key(0))
    action = jnp.int32(0)
    env.ruleset.tables  # noqa: B018  made once, no part of a decision
    road = Road()
    sys.setprofile(road)
    try:
        jax.make_jaxpr(env.step)(state, action)
    finally:
        sys.setprofile(None)
    return road


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.one_decision", description=__doc__)
    parser.add_argument("--list", action="store_true", help="the functions in order, and crossings")
    args = parser.parse_args()
    road = trace(gaia_jax.make())
    reads = sum(n for (_, file), n in road.crossings.items() if file in DECLARED)
    total = sum(road.crossings.values())
    print(
        f"{len(road.files)} files, {total} border crossings, "
        f"{reads} of them into the files that declare fields"
    )
    if args.list:
        print("\n".join(road.functions))
        for (before, file), count in road.crossings.most_common():
            print(f"{count:5} {before} -> {file}")


if __name__ == "__main__":
    main()

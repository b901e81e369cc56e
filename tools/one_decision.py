"""List the functions that one decision calls, in call order: `python -m tools.one_decision`.

Traces `env.step` on one state without compiling it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp

import gaia_jax

PACKAGE = str(Path(gaia_jax.__file__).parent)


def called_functions(env: gaia_jax.GaiaEnv) -> list[str]:
    """`module.function` of one decision and its next mask, in the order of their first calls."""
    state = jax.eval_shape(env.init, jax.random.key(0))
    action = jnp.int32(0)
    env.ruleset.tables  # noqa: B018  made once, no part of a decision
    functions: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not (file := _file(frame)):
            return
        name = f"{file.removesuffix('.py')}.{frame.f_code.co_qualname}"
        if "<" not in name:
            functions.setdefault(name)

    sys.setprofile(profile)
    try:
        jax.make_jaxpr(env.step)(state, action)
    finally:
        sys.setprofile(None)
    return list(functions)


def _file(frame: FrameType) -> str:
    """The file of a frame within the package, else ""."""
    name = frame.f_code.co_filename
    return name[len(PACKAGE) + 1 :] if name.startswith(PACKAGE) else ""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.one_decision", description=__doc__)
    parser.parse_args()
    print("\n".join(called_functions(gaia_jax.make())))


if __name__ == "__main__":
    main()

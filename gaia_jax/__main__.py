"""`python -m gaia_jax`: runs the `gaia` command if the trainer is installed.

Otherwise only `--version` works. This package does not import the trainer: it finds the installed
program `gaia` by its name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

from gaia_jax import __version__
from gaia_jax.cli import command_line


def main() -> int:
    """The command line. Returns the exit code."""
    for entry_point in metadata.entry_points(group="console_scripts", name="gaia"):
        program: Callable[[], Any] = entry_point.load()
        return int(program())
    if sys.argv[1:] == ["--version"]:
        print(f"gaia_jax {__version__}")
        return 0
    text = "the program gaia is not installed; python -m gaia_jax.replay plays records"
    return command_line.run(lambda: _refuse(text))


def _refuse(text: str) -> int:
    raise command_line.UserError(text)


if __name__ == "__main__":
    sys.exit(main())

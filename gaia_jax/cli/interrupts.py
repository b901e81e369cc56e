"""What a command does before anything else is imported: Ctrl-C is one line, XLA's log is off.

Ctrl-C while a command is still being imported is one line, as it is later. XLA reads the level of
its log when it is loaded. After two minutes of compiling it asks to file a bug, as an error, so
errors are off too: what fails is raised as well. A level that the user has set stays.

A command is what `python -m` runs, `sys.argv[0]` is "-m" while Python looks for the module, or an
installed `gaia-jax-...`. From `gaia_jax.cli.command_line.run` on that says it. A program that
imports this package is left alone.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


_NAME = os.path.basename(sys.argv[0]) if sys.argv else ""
if _NAME == "-m" or _NAME.startswith("gaia-jax-"):
    sys.excepthook = _told
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

"""What a command does before anything else is imported: Ctrl-C is one line, XLA's log is off.

Ctrl-C while a command is still being imported is one line, as it is later. XLA reads the level of
its log when it is loaded. After two minutes of compiling it asks to file a bug, as an error, so
errors are off too: what fails is raised as well. A level that the user has set stays.

Who starts a command with standard error closed (`2>&-`) does not want it: Python has no stream then
and prints on standard output what was for the other, and the next file that is opened gets its
number, so that XLA's messages land in that file.

A command is what `python -m` runs, `sys.argv[0]` is "-m" while Python looks for the module, or an
installed `gaia` or `gaia-jax-...`. From `gaia_jax.cli.command_line.run` on that says it. A program
that imports this package is left alone.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType


def _report_interrupt(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def open_what_is_closed() -> None:
    """Give each standard stream that is closed the null device."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "w" if number else "r"))


_NAME = os.path.basename(sys.argv[0]) if sys.argv else ""
if _NAME in ("-m", "gaia") or _NAME.startswith("gaia-jax-"):
    open_what_is_closed()
    sys.excepthook = _report_interrupt
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

"""Set up a command before its imports: Ctrl-C prints one line, XLA's log is off.

Only `python -m` (`sys.argv[0]` is "-m" while Python searches the module) and the installed `gaia`
and `gaia-jax-...` are commands; a program that imports this package is unchanged. XLA reads its log
level when it is loaded, and logs a request for a bug report after two minutes of compiling.
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
    """Connect closed standard streams (`2>&-`) to the null device.

    Otherwise Python prints errors on standard output, and the next opened file gets the number of
    the stream and with it XLA's messages.
    """
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

"""Progress of a command."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_SECONDS = 10.0  # until the first line of progress that no terminal shows
LONGEST_WAIT = 600.0  # seconds between two such lines, at most
PATIENCE = 2.0  # seconds without a progress line


def next_wait(seconds: float) -> float:
    """The seconds until the line after the next one, without a terminal."""
    return min(2 * seconds, LONGEST_WAIT)


@contextmanager
def status_line(
    text: Callable[[], str], enabled: bool = True, at_once: bool = False
) -> Iterator[None]:
    """Report on stderr how far the body is while it runs.

    On a terminal the line is rewritten every second and removed at the end. Elsewhere lines follow
    after LINE_SECONDS, twice as long, and so on. An unchanged text is followed by its seconds.

    Args:
        text: the present state; called from another thread.
        enabled: False writes nothing.
        at_once: write a first line immediately, not after PATIENCE or LINE_SECONDS, by when most
            errors have been reported.
    """
    if not enabled:
        yield
        return
    live, done = sys.stderr.isatty(), threading.Event()
    last, since = "", time.monotonic()

    def print_line() -> None:
        nonlocal last, since
        now, waited = text(), ""
        if now == last:
            waited = f", {time.monotonic() - since:.0f} s"
        elif last:
            since = time.monotonic()
        last = now
        head, end = ("\r\033[K", "") if live else ("", "\n")
        print(f"{head}{now}{waited}", end=end, file=sys.stderr, flush=True)

    def repeat() -> None:
        wait = LINE_SECONDS
        if live:
            wait = 1.0 if at_once else PATIENCE
        while not done.wait(wait):
            print_line()
            wait = 1.0 if live else next_wait(wait)

    if at_once:
        print_line()
    printer = threading.Thread(target=repeat, daemon=True)
    printer.start()
    try:
        yield
    finally:
        done.set()
        printer.join()
        if live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

"""Handlers of Ctrl-C and SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def handling(handler: Callable[..., object]) -> Iterator[None]:
    """Call `handler(number, frame)` at SIGINT and SIGTERM while the body runs.

    Python takes handlers in the main thread alone: in another thread (a notebook's executor, Ray,
    FastAPI) the signals keep the handlers of the program.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in NUMBERS}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)

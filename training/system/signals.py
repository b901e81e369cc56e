"""Handlers of Ctrl-C and SIGTERM, and the end of a parent process. Without JAX."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
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


def end_with_parent(parent: int) -> None:
    """End this process when its parent ends, also if that is killed or has ended before.

    Args:
        parent: process id.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    else:
        threading.Thread(target=_kill_without_parent, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        sys.exit(f"process {parent} has ended")


def _kill_without_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)

"""Work that a page asks for and does not wait for: its progress, its end, its being called off."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from gaia_jax.cli.command_line import UserError

ENDING = (
    5.0  # seconds that a process waits at its end for its jobs to hear that they are called off
)


class CalledOff(Exception):
    """The work has been cancelled."""


class Job:
    """Work in a thread of its own; the end of the process calls it off."""

    _all: weakref.WeakSet[Job] = weakref.WeakSet()

    def __init__(self, work: Callable[[Job], None], name: str):
        """
        Args:
            work: keeps what it finds in `result`, calls `tell` again and again.
            name: of the thread.
        """
        self.result: Any = None
        self.said, self.done, self.total = "", 0, 0
        self.status = "running"  # running, ready, failed, called off
        self._off, self._began = False, time.monotonic()
        self._work = work
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._all.add(self)
        self._thread.start()

    def tell(self, status: str, done: int = 0, total: int = 0) -> None:
        """How far it is.

        Raises:
            CalledOff: it is to end.
        """
        self.said, self.done, self.total = status, done, total
        if self._off:
            raise CalledOff

    def call_off(self) -> None:
        """End it at its next `tell`."""
        self._off = True

    @property
    def now(self) -> str:
        """Its status; work that is called off is so at once, though it has yet to hear of it."""
        return "called off" if self._off and self.status == "running" else self.status

    def wait(self) -> None:
        """Until it has ended."""
        self._thread.join()

    @classmethod
    def end_all(cls) -> None:
        """Call all of them off, and wait `ENDING` seconds.

        A thread that computes while the interpreter goes takes the process down with it.
        """
        running, end = list(cls._all), time.monotonic() + ENDING
        for job in running:
            job.call_off()
        for job in running:
            job._thread.join(max(0.0, end - time.monotonic()))

    def json(self) -> dict[str, Any]:
        """The status, without the result."""
        return {
            "status": self.now,
            "said": self.said,
            "done": self.done,
            "total": self.total,
            "seconds": round(time.monotonic() - self._began),
        }

    def _run(self) -> None:
        try:
            self._work(self)
            self.status = "ready"
        except CalledOff:
            self.status = "called off"
        except Exception as error:  # an agent's own code may raise anything
            plain = isinstance(error, UserError)
            text = (str(error).splitlines() or [""])[0]
            self.said = text if plain else f"{type(error).__name__}: {text}"
            self.status = "failed"


atexit.register(Job.end_all)

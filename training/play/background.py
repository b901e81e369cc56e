"""Work in the background: jobs that a page starts and can cancel, and compilations."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from gaia_jax.cli.command_line import UserError

EXIT_WAIT = 5.0  # seconds for which a process that exits waits for its cancelled jobs


def error_text(error: Exception) -> str:
    """One line for an error of an agent, whose code may raise anything."""
    text = (str(error).splitlines() or [""])[0]
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"


class Compilation:
    """A compilation: a line of progress and the seconds that it has taken so far."""

    def __init__(self, text: str):
        """`text`: the line of progress."""
        self.text, self._started_at = text, 0.0

    def start(self) -> None:
        """Start the clock."""
        self._started_at = time.monotonic()

    def end(self) -> None:
        """Stop the clock."""
        self._started_at = 0.0

    @property
    def seconds(self) -> float:
        """Since `start`; 0 if nothing is being compiled."""
        return time.monotonic() - self._started_at if self._started_at else 0.0

    def progress(self) -> list[tuple[str, float | None]]:
        """The line and its seconds, while it is being compiled."""
        return [(self.text, self.seconds)] if self._started_at else []


class CalledOff(Exception):
    """The job has been cancelled."""


class Job:
    """Work in its own thread; the exit of the process cancels it."""

    _all: weakref.WeakSet[Job] = weakref.WeakSet()

    def __init__(self, work: Callable[[Job], None], name: str):
        """
        Args:
            work: sets `result` and calls `report` repeatedly.
            name: of the thread.
        """
        self.result: Any = None
        self.message, self.done, self.total = "", 0, 0
        self.status = "running"  # running, ready, failed, called off
        self._off, self._began = False, time.monotonic()
        self._work = work
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._all.add(self)
        self._thread.start()

    def report(self, status: str, done: int = 0, total: int = 0) -> None:
        """Set the progress.

        Raises:
            CalledOff: the job has been cancelled.
        """
        self.message, self.done, self.total = status, done, total
        if self._off:
            raise CalledOff

    def call_off(self) -> None:
        """Cancel the job: it ends at its next `report`."""
        self._off = True

    @property
    def now(self) -> str:
        """The status; a cancelled job counts as called off before its thread has ended."""
        return "called off" if self._off and self.status == "running" else self.status

    def wait(self) -> None:
        """Wait for the end of the job."""
        self._thread.join()

    @classmethod
    def end_all(cls) -> None:
        """Cancel all jobs, and wait up to `EXIT_WAIT` seconds.

        A thread that computes while the interpreter shuts down crashes the process.
        """
        running, end = list(cls._all), time.monotonic() + EXIT_WAIT
        for job in running:
            job.call_off()
        for job in running:
            job._thread.join(max(0.0, end - time.monotonic()))

    def json(self) -> dict[str, Any]:
        """The status, without the result."""
        return {
            "status": self.now,
            "said": self.message,
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
            self.message, self.status = error_text(error), "failed"


atexit.register(Job.end_all)

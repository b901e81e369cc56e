"""Work in the background: jobs that a page starts and can cancel, and compilations."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from typing import Any

from gaia_jax.cli.command_line import UserError
from gaia_jax.language import language

from .compile_process import compile_elsewhere, is_large, mark_compiled
from .languages import translated

# Held while a program is compiled: one at a time, since the compiler takes up to 1 GB for each.
compiler = threading.RLock()
_registry = threading.Lock()  # of all compilations
POLL = 0.2  # seconds between two checks whether a waiting job has been cancelled
EXIT_WAIT = 5.0  # seconds for which a process that exits waits for its cancelled jobs


def error_text(error: Exception) -> str:
    """One line for an error of an agent, whose code may raise anything."""
    text = (str(error).splitlines() or [""])[0]
    return text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"


class Compilation:
    """A program that the first caller compiles while others wait; `text` is its progress line.

    A loaded program takes 30 to 200 MB. A large process therefore releases idle ones before it
    makes another; the next caller of `make` loads them again.
    """

    _all: weakref.WeakSet[Compilation] = weakref.WeakSet()

    def __init__(
        self, text: str, task: Sequence[str] = (), release: Callable[[], bool] = lambda: False
    ):
        """
        Args:
            task: as of `compile_elsewhere`; without it this process compiles the program.
            release: drops the program unless it is in use; returns whether it did.
        """
        self.text, self.is_ready, self.elapsed_s, self._task = text, False, 0.0, task
        self.error = ""  # of the latest attempt, one line
        self._failures = 0
        self._lock, self._started_at, self._release = threading.Lock(), 0.0, release
        with _registry:
            self._all.add(self)

    def make(self, compile: Callable[[], object]) -> None:
        """Compile it unless it is compiled; then `elapsed_s` is how long that took.

        Raises:
            UserError: an attempt of another caller, for which this one waited, failed.
        """
        failures = self._failures
        with self._lock:
            if self.is_ready:
                return
            if self.error and self._failures > failures:
                raise UserError(self.error)
            with compiler:
                self._release_others()
                self._started_at, self.error = time.monotonic(), ""
                try:
                    if self._task:
                        compile_elsewhere(self._task)
                    compile()
                    self.is_ready = True
                    if self._task:
                        mark_compiled(self._task)
                except Exception as error:
                    self.error = error_text(error)
                    self._failures += 1
                    raise
                finally:
                    self.elapsed_s = time.monotonic() - self._started_at
                    self._started_at = 0.0
                    return_free_memory()

    def _release_others(self) -> None:
        if is_large():
            with _registry:
                others = [other for other in self._all if other.is_ready]
            for other in others:
                other.is_ready = not other._release()
            gc.collect()  # traced programs are in cycles
            return_free_memory()

    def progress(self) -> list[tuple[str, float | None]]:
        """The line and its seconds, while it is being compiled."""
        started_at = self._started_at
        return [(self.text, time.monotonic() - started_at)] if started_at else []


def return_free_memory() -> None:
    """Give the memory that the compiler has freed back to the system; glibc keeps it otherwise."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim:
        trim(0)


class JobPage:
    """A page that a job makes, and requests in further languages make again."""

    def __init__(self, make: Callable[[], str]):
        """`make`: the page in the language in use."""
        self._in_language = cache(lambda code: make())

    def text(self) -> str:
        """The page in the language in use."""
        return self._in_language(language())


class CalledOff(Exception):
    """The job has been cancelled."""


class Job:
    """Work in its own thread; the exit of the process cancels it."""

    _all: weakref.WeakSet[Job] = weakref.WeakSet()

    def __init__(self, work: Callable[[Job], None], name: str, is_localized: bool = False):
        """
        Args:
            work: sets `result` and calls `report` repeatedly.
            name: of the thread.
            is_localized: run it in the language of the caller; otherwise in English.
        """
        self.result: Any = None
        self.message, self.done, self.total = "", 0, 0
        self.status = "running"  # running, ready, failed, called off
        self._off, self._began = False, time.monotonic()
        self._work = work
        run = partial(copy_context().run, self._run) if is_localized else self._run
        self._thread = threading.Thread(target=run, name=name, daemon=True)
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
            "message": translated(self.message),
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
        finally:
            return_free_memory()  # of the programs that it compiled, and of its playouts


@contextmanager
def hold(lock: threading.Lock, job: Job, message: str) -> Iterator[None]:
    """Hold a lock in the body; a job that is cancelled while it waits ends.

    Args:
        message: the progress of the job while it waits.
    Raises:
        CalledOff: the job has been cancelled.
    """
    while not lock.acquire(timeout=POLL):
        job.report(message)
    try:
        yield
    finally:
        lock.release()


atexit.register(Job.end_all)

"""What the command lines share: the compilation cache, a word while compiling.

`gaia_jax.cli` has what `gaia_jax.replay` needs too: mistakes are one line and exit code 2.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from gaia_jax.cli import (
    LARGEST_SEED,
    Parser,
    UserError,
    finishing,
    one_line,
    reason,
    whole,
)
from gaia_jax.cli import run as run_command
from gaia_jax.compilation_cache import disable_compilation_cache, enable_compilation_cache

__all__ = [
    "LARGEST_SEED",
    "Parser",
    "UserError",
    "add_cache_flag",
    "compiling",
    "finishing",
    "one_line",
    "reason",
    "run",
    "whole",
]

HIT, MISS = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"


def run(main: Callable[[], int]) -> int:
    """`gaia_jax.cli.run` with the compilation cache."""
    enable_compilation_cache()
    return run_command(main)


class _NoCache(argparse.Action):
    def __call__(self, *args: Any, **kwargs: Any) -> None:
        disable_compilation_cache()


def add_cache_flag(parser: argparse.ArgumentParser) -> None:
    """`--no-cache`: compile everything, and keep nothing of it."""
    text = "compile everything anew and keep nothing of it"
    parser.add_argument("--no-cache", action=_NoCache, nargs=0, help=text)


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Say on stderr that `what` is being compiled, and at the end how long it took.

    On a terminal the seconds run; elsewhere it is a line before and a line after.
    """
    began, done, events = time.monotonic(), threading.Event(), _events()
    before = events.copy()
    live = sys.stderr.isatty()

    def tell() -> None:
        while not done.wait(1.0):
            seconds = time.monotonic() - began
            print(f"\rcompiling {what}, {seconds:.0f} s ", end="", file=sys.stderr, flush=True)

    print(f"compiling {what}", end="" if live else "\n", file=sys.stderr, flush=True)
    teller = threading.Thread(target=tell, daemon=True)
    if live:
        teller.start()
    try:
        yield
    finally:
        done.set()
        if live:
            teller.join()
            print("\r\033[K", end="", file=sys.stderr)
    hits, misses = events[HIT] - before[HIT], events[MISS] - before[MISS]
    note = " (from the cache)" if hits and not misses else ""
    print(f"compiled in {time.monotonic() - began:.0f} s{note}", file=sys.stderr)


@cache
def _events() -> Counter[str]:
    """How often JAX read a program from its cache, or had to compile one."""
    import jax.monitoring

    events: Counter[str] = Counter()

    def count(event: str, **_: Any) -> None:
        events[event] += 1

    jax.monitoring.register_event_listener(count)
    return events

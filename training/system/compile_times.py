"""Compile times of earlier starts, stored next to the cached programs and shown while compiling."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

from . import atomic_files

FILE = "seconds.json"
LEAST = 2.0  # seconds; shorter compilations are not stored
_lock = threading.Lock()


def _path() -> Path | None:
    from gaia_jax.xla.compilation_cache import enabled_folder

    folder = enabled_folder()
    return None if folder is None else folder / FILE


def _stored_times() -> dict[str, float]:
    """Seconds by program name; empty without a cache or without the file."""
    path = _path()
    try:
        times = json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    if not isinstance(times, dict):
        return {}
    return {k: v for k, v in times.items() if isinstance(v, int | float)}


def longest_note(what: str) -> str:
    """Return the suffix of "WHAT is being compiled": " (took up to 40 s before)"; "" if unknown."""
    seconds = _stored_times().get(what)
    return "" if seconds is None else f" (took up to {seconds:.0f} s before)"


def note(what: str, seconds: float) -> None:
    """Store the seconds if they are the longest so far, so that cache hits do not count."""
    path = _path()
    if path is None or seconds < LEAST:
        return
    with _lock, contextlib.suppress(OSError):  # not worth failing for
        times = _stored_times()
        if seconds > times.get(what, 0.0):
            atomic_files.write_text(path, json.dumps(times | {what: round(seconds, 1)}))

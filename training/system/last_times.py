"""How long compiling took before: kept beside the programs, told to whoever waits again."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

from . import atomic_files

FILE = "seconds.json"
LEAST = 2.0  # seconds; what is compiled sooner is no wait
_lock = threading.Lock()


def _path() -> Path | None:
    from gaia_jax.xla.compilation_cache import enabled_folder

    folder = enabled_folder()
    return None if folder is None else folder / FILE


def _stored_times() -> dict[str, float]:
    """By what was compiled, seconds; nothing where there is no cache or no such file."""
    path = _path()
    try:
        times = json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    if not isinstance(times, dict):
        return {}
    return {k: v for k, v in times.items() if isinstance(v, int | float)}


def said(what: str) -> str:
    """What follows "WHAT is being compiled": " (took up to 40 s before)"; "" at the first time."""
    seconds = _stored_times().get(what)
    return "" if seconds is None else f" (took up to {seconds:.0f} s before)"


def note(what: str, seconds: float) -> None:
    """Keep how long it took, where that is the longest so far: a program from the cache is none."""
    path = _path()
    if path is None or seconds < LEAST:
        return
    with _lock, contextlib.suppress(OSError):  # it is no reason to fail
        times = _stored_times()
        if seconds > times.get(what, 0.0):
            atomic_files.write_text(path, json.dumps(times | {what: round(seconds, 1)}))

"""Compile programs of the server in a process of their own, whose memory ends with it.

A compiler takes up to 1 GB and keeps a part of it. The process, `compile_task`, stores the programs
in the compilation cache, from which the server then loads them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli.command_line import reason
from gaia_jax.xla.compilation_cache import enabled_folder
from gaia_jax.xla.stored_programs import library_digest, package_digest

TIMEOUT = 1800.0  # seconds for one task; other compilations wait for it
LARGE_MB = 700.0  # a smaller server compiles itself, which is faster, and keeps idle programs
MARKS = "compiled"  # folder of empty files, named by what the cache contains
RULES, PRICES, PLAYOUTS = "rules", "prices", "playouts"

is_server = False  # whether this process saves memory in this way; the command line sets it


def compile_elsewhere(task: Sequence[str]) -> None:
    """Compile a task in another process if this one is large and the cache lacks its programs.

    Args:
        task: of `compile_task`: ruleset, number of players, part, and maybe an agent.
    """
    mark = _mark(task) if is_server else None
    if not mark or mark.exists() or not is_large():
        return
    command = [sys.executable, "-m", "training.play.compile_task", str(os.getpid()), *task]
    if error := _error_of(command):
        text = f"{' '.join(task)} failed to compile in another process: {error}"
        print(text, file=sys.stderr, flush=True)  # the server compiles it


def _error_of(command: Sequence[str]) -> str:
    """Run a command. Returns one line on its failure; "" if it succeeds."""
    try:
        # In a session of its own it gets no Ctrl-C of the server; it ends with it all the same.
        subprocess.run(
            command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace", timeout=TIMEOUT,
            start_new_session=True,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        last_line = (error.stderr.strip().splitlines() or [""])[-1]
        return f"exit code {error.returncode}: {last_line}".rstrip(": ")
    except (OSError, subprocess.TimeoutExpired) as error:
        return reason(error)
    return ""


def mark_compiled(task: Sequence[str]) -> None:
    """Note that the cache contains the programs of a task."""
    if is_server and (mark := _mark(task)):
        with contextlib.suppress(OSError):  # the disk is full: a later server compiles again
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def _mark(task: Sequence[str]) -> Path | None:
    """The file that notes a task; None without a cache, or if the sources have changed."""
    folder = enabled_folder()
    try:
        parts = repr((tuple(task), package_digest(), library_digest()))
    except ValueError:
        return None
    return folder / MARKS / hashlib.sha256(parts.encode()).hexdigest()[:32] if folder else None


def is_large() -> bool:
    """Whether this process is a server that has to save memory."""
    return is_server and resident_mb() >= LARGE_MB


def resident_mb() -> float:
    """Resident memory of this process; 0 where the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
    except OSError:
        return 0.0
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000

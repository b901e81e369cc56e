"""Play the missing pieces of an export in one process or several.

A piece does not depend on the process, so the processes divide the pieces by number.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import finishing

from .playing import Source
from .schema import to_table
from .shards import Shards

OFTEN = 0.5  # seconds between two checks of the other processes

Report = Callable[[int], object]  # called with the number of further games


class Work:
    """The games of a part, in pieces."""

    def __init__(self, source: Source, part: dict[str, Any], pieces: Shards):
        """
        Args:
            part: of `dataset.json`.
            pieces: the folder of pieces.
        """
        self.source, self.part, self.pieces = source, part, pieces
        deals: int = part["games"] // part["rotations"]
        self.sizes: list[int] = [
            min(source.deals, deals - at) for at in range(0, deals, source.deals)
        ]

    def games(self, numbers: Sequence[int]) -> int:
        """The number of games of some pieces."""
        return sum(self.sizes[n] for n in numbers) * int(self.part["rotations"])

    def missing(self, share: tuple[int, int] = (0, 1)) -> list[int]:
        """The numbers of the missing pieces.

        Args:
            share: (I, N), only numbers that are I modulo N.
        """
        numbers = range(share[0], len(self.sizes), share[1])
        return [n for n in numbers if not self.pieces.has(n, self.games([n]))]

    def play(self, numbers: Sequence[int], report: Report) -> None:
        """Play pieces, one after the other."""
        for number in numbers:
            first = self.part["first"] + number * self.source.deals
            games = self.source.play(self.part["seed"], first, self.sizes[number])
            table = to_table(games, first, self.part, self.source.env.ruleset)
            with finishing():
                self.pieces.write(number, table)
            report(self.games([number]))


def together(work: Work, processes: int, command: Sequence[str], report: Report) -> int:
    """Play all missing pieces in several processes.

    Args:
        command: plays the pieces of one share; I/N is appended.
    Returns:
        The exit code of the first process that failed; 0 where none did.
    """
    left = set(work.missing())
    workers = [
        subprocess.Popen([*command, f"{n}/{processes}"], stdin=subprocess.PIPE)
        for n in range(processes)
    ]
    try:
        while True:
            codes = [process.poll() for process in workers]
            finished = {n for n in left if work.pieces.path(n).exists()}
            report(work.games(sorted(finished)))
            left -= finished
            failed = [code for code in codes if code]
            if failed:
                return failed[0]
            if all(code == 0 for code in codes):
                return 0
            time.sleep(OFTEN)
    finally:
        for process in workers:
            process.terminate()
        for process in workers:
            process.wait()


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait for the other processes of this folder; leaves no file.

    Compiling takes more memory than playing. The second process reads the program of the first.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        while not outputs.lock(handle):
            time.sleep(OFTEN)
        yield
    finally:
        os.close(handle)


def join_workers(number: int) -> None:
    """Pin a process of `together` to a core and end it when its parent ends.

    Two processes on the same cores wait for each other at each of a thousand small kernels. Call
    this before the first array.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})

    def watch() -> None:
        while os.read(0, 1):  # until the parent is gone
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

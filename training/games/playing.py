"""Play the games of a dataset in batches, in one process or several.

A batch depends only on the seed, the agents, its size and its first deal. So processes divide the
batches by number, and can be interrupted anywhere. Each batch is stored as a piece.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pyarrow as pa

from gaia_jax.cli.command_line import UserError, finishing

from ..agents import Agent
from ..types import Environment
from .arena import agents_by_name
from .engine import Match
from .schema import to_table
from .shards import Shards
from .table import rotated

BATCH = 4096  # games of a batch
PER_SLOT = 4  # at least this many games of a batch share a slot
# Running games for each agent if a network decides: its activations stay in a core's cache.
SLOTS = 256
OFTEN = 0.5  # seconds between two checks of the other processes

Report = Callable[[int], object]  # called with the number of further games


class Source:
    """A table of agents that plays deals of a seed."""

    def __init__(
        self, env: Environment, names: Sequence[str], batch: int = BATCH, likeliest: bool = False
    ):
        """
        Args:
            names: as of `agents_by_name`; the agents sit one seat further in each game of a deal,
                unless all are the same.
            batch: games of a batch; at most a quarter of them run at the same time.
        Raises:
            UserError: as `agents_by_name`, or the batch is not a multiple of the rotations.
        """
        agents = agents_by_name(names, env, likeliest)
        agent_of = dict(zip(names, agents, strict=True))
        self.env, self.names, self.likeliest = env, list(names), likeliest
        self.seating = rotated(env.num_players)[: 1 if len(agent_of) == 1 else None]
        if batch % len(self.seating):
            raise UserError(f"--batch must be a multiple of {len(self.seating)}, not {batch}")
        self.deals = batch // len(self.seating)  # of a batch
        hashes = {name: fingerprint(agent) for name, agent in agent_of.items()}
        self.hashes = [hashes[name] for name in names]
        slots = -(-batch // PER_SLOT)
        if any(agent.policy for agent in agent_of.values()):
            slots = min(slots, SLOTS * len(agent_of))
        self._match = Match(env, agents, self.seating, self.deals, batch, slots, moves=True)

    def about(self) -> dict[str, Any]:
        """Identity of the games without seed and range, for a `part` of `dataset.json`."""
        return {
            "env": self.env.id,
            "version": str(self.env.version),
            "players": self.env.num_players,
            "agents": [
                {"name": name, "sha256": sha}
                for name, sha in zip(self.names, self.hashes, strict=True)
            ],
            "likeliest": self.likeliest,
            "rotations": len(self.seating),
            "batch": self.deals * len(self.seating),
        }

    def compile(self) -> None:
        """Compile everything, once."""
        self._match.compile()

    def play(self, part: dict[str, Any], first: int, count: int) -> pa.Table:
        """Rows of the first `count` deals of the batch that begins with deal `first` of a part."""
        games = self._match.play_batch(part["seed"], first).slice(0, count)
        assert games.actions is not None
        longest = games.actions.shape[-1]
        if games.decisions.max() > longest:
            raise UserError(f"a game has more than {longest} decisions, which is too long")
        return to_table(games, first, part, self.env.ruleset)


def fingerprint(agent: Agent) -> str:
    """SHA-256 of an agent's name and parameters."""
    digest = hashlib.sha256(agent.name.encode())
    leaves, tree = jax.tree.flatten(agent.params)
    digest.update(str(tree).encode())
    for leaf in leaves:
        array = np.asarray(jax.device_get(leaf))
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class Work:
    """The games of a part of `dataset.json`, in pieces."""

    def __init__(self, source: Source, part: dict[str, Any], pieces: Shards):
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
            table = self.source.play(self.part, first, self.sizes[number])
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

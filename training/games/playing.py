"""Play the games of a dataset in batches.

A batch depends only on the seed, the agents, its size and its first deal. So several processes can
play ranges of deals, and a process can be interrupted anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..agents import Agent, make_agent
from ..types import Environment
from .engine import Match
from .table import Games, rotated

BATCH = 4096  # games of a batch
PER_SLOT = 4  # at least this many games of a batch share a slot
# Running games for each agent if a network decides: its activations stay in a core's cache.
SLOTS = 256


class Source:
    """A table of agents that plays deals of a seed."""

    def __init__(
        self, env: Environment, names: Sequence[str], batch: int = BATCH, likeliest: bool = False
    ):
        """
        Args:
            names: of the agents, one a seat; they sit one seat further in each game of a deal,
                unless all are the same.
            batch: games of a batch; at most a quarter of them run at the same time.
            likeliest: checkpoints take the most probable action instead of sampling.
        Raises:
            UserError: the number of names is not the number of seats, a name is unknown, or the
                batch is not a multiple of the rotations.
        """
        players = env.num_players
        if len(names) != players:
            raise UserError(f"--agents needs {players} names, got {len(names)}")
        different = list(dict.fromkeys(names))
        self.env, self.names, self.likeliest = env, list(names), likeliest
        self.seating = rotated(players)[: 1 if len(different) == 1 else players]
        if batch % len(self.seating):
            raise UserError(f"--batch must be a multiple of {len(self.seating)}, not {batch}")
        self.deals = batch // len(self.seating)  # of a batch
        agent_of = {name: make_agent(name, env, likeliest) for name in different}
        hashes = {name: fingerprint(agent) for name, agent in agent_of.items()}
        self.hashes = [hashes[name] for name in names]
        slots = -(-batch // PER_SLOT)
        if any(agent.policy for agent in agent_of.values()):
            slots = min(slots, SLOTS * len(agent_of))
        agents = [agent_of[name] for name in names]
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

    def play(self, seed: int, first: int, count: int) -> Games:
        """The games of the batch that begins with deal `first`.

        Args:
            first: a multiple of `deals`.
            count: number of its deals to return.
        """
        games = self._match.play_batch(seed, first).slice(0, count)
        assert games.actions is not None
        longest = games.actions.shape[-1]
        if games.decisions.max() > longest:
            raise UserError(f"a game has more than {longest} decisions, which is too long")
        return games


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

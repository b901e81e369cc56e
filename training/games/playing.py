"""The games of a dataset: played batch by batch, each batch from its own keys.

A batch depends on the seed, the agents, its size and its first deal alone. So a dataset can be
played by several processes, each its own range of deals, and be interrupted anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..agents import Agent, make_agent
from ..system.cli import UserError
from ..types import Environment
from .engine import Match
from .table import Games, rotated

BATCH = 4096  # games of a batch
PER_SLOT = 4  # at least this many games of a batch share a slot
# Under way at most for each agent where a network decides: what it computes for those that are
# its own stays in a core's cache.
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
            batch: games of a batch, at most a quarter of them under way at the same time.
            likeliest: checkpoints take the most probable action instead of sampling.
        Raises:
            UserError: another number of names than seats, an unknown name, or a batch that holds
                no whole deals.
        """
        players = env.num_players
        if len(names) != players:
            raise UserError(f"--agents wants {players} names, got {len(names)}")
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
        """What the games depend on, besides seed and range; the `part` of `dataset.json`."""
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
            count: how many of its deals are kept.
        """
        games = self._match.play_batch(seed, first).slice(0, count)
        assert games.actions is not None
        longest = games.actions.shape[-1]
        if games.decisions.max() > longest:
            raise UserError(f"a game has more than {longest} decisions and cannot be kept")
        return games


def fingerprint(agent: Agent) -> str:
    """SHA-256 over an agent's name and the numbers that it decides with."""
    digest = hashlib.sha256(agent.name.encode())
    leaves, tree = jax.tree.flatten(agent.params)
    digest.update(str(tree).encode())
    for leaf in leaves:
        array = np.asarray(jax.device_get(leaf))
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()

"""The games of a dataset: played batch by batch, each batch from its own keys.

A batch depends on the seed, the agents, its size and its first deal alone. So a dataset can be
played by several processes, each its own range of deals, and be interrupted anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from training.agents import Agent, make_agent
from training.config import UserError
from training.data.schema import Games
from training.game_records import Recorder
from training.match import Match, rotated

BATCH = 1024  # games that are played together
MANY = 2**31  # deals of a seed, more than anybody plays


class _Sink(Recorder):
    """Takes what a recorder would write."""

    def __init__(self, env: Any, names: Sequence[str]):
        super().__init__(Path(), env, names)
        self.games: tuple[Any, ...] = ()

    def batch(
        self, seed: int, first: int, sits: np.ndarray, count: int, games: tuple[Any, Any, Any, Any]
    ) -> None:
        """Keep a batch of ended games."""
        self.games = jax.device_get(games)


class Source:
    """A table of agents that plays deals of a seed."""

    def __init__(self, env: Any, names: Sequence[str], batch: int = BATCH, likeliest: bool = False):
        """
        Args:
            names: of the agents, one a seat; they sit one seat further in each game of a deal,
                unless all are the same.
            batch: games that are played together.
            likeliest: checkpoints take the likeliest action instead of sampling.
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
        agents = [make_agent(name, env, likeliest) for name in different]
        self.hashes = [fingerprint(agents[different.index(name)]) for name in names]
        self._entry = np.array([different.index(name) for name in names])
        self._sink = _Sink(env, different)
        sits = self._entry[self.seating]
        self._compiled = False
        self._match = Match(env, agents, sits, MANY, batch, recorder=self._sink)

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

    def compile(self, seed: int) -> None:
        """Compile everything, once."""
        if not self._compiled:
            self._match.compile(seed)
            self._compiled = True

    def play(self, seed: int, first: int, count: int) -> Games:
        """The games of the batch that begins with deal `first`.

        Args:
            first: a multiple of `deals`.
            count: how many of its deals are kept.
        """
        results = self._match.play_batch(seed, first)
        setups, actions, decisions, _ = self._sink.games
        rotations = len(self.seating)
        kept = np.arange(count * rotations)
        longest = actions.shape[1]
        if decisions[kept].max() > longest:
            raise UserError(f"a game has more than {longest} decisions and cannot be kept")
        assert results.illegal is not None

        def flat(x: np.ndarray) -> np.ndarray:
            return np.asarray(x).reshape(-1, *x.shape[2:])[kept]

        return Games(
            deal=first + kept // rotations,
            rotation=kept % rotations,
            setups=jax.tree.map(lambda x: np.asarray(x)[kept], setups),
            sits=self.seating[kept % rotations],
            actions=[actions[g, : decisions[g]].astype(np.uint16) for g in kept],
            vp=flat(results.vp).astype(np.int16),
            sources=flat(results.vp_source).astype(np.int16),
            illegal=flat(results.illegal).astype(np.int16),
        )


def fingerprint(agent: Agent) -> str:
    """SHA-256 over an agent's name and the numbers that it decides with."""
    found = hashlib.sha256(agent.name.encode())
    leaves, tree = jax.tree.flatten(agent.params)
    found.update(str(tree).encode())
    for leaf in leaves:
        array = np.asarray(jax.device_get(leaf))
        found.update(f"{array.dtype}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()

"""Strength of a policy: an arena of two agents, the policy and who holds the other seats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from training import zoo
from training.agents import make_agent, policy_agent
from training.games.arena import Arena
from training.games.engine import GAMES_AT_ONCE
from training.games.formats import Head, Npz
from training.games.records import Recorder
from training.games.report import evaluation_report
from training.games.store import Store
from training.games.table import Games
from training.types import Environment, Params, PolicyNetwork


class Evaluation:
    """A policy against an opponent in all other seats; compiled once, for any parameters."""

    def __init__(
        self,
        env: Environment,
        network: PolicyNetwork,
        games: int,
        likeliest: bool = False,
        opponent: str = "random",
        temperature: float = 1.0,
        record: Path | None = None,
        first: int = 0,
    ):
        """
        Args:
            games: at least this many; a set-up is one for each seat.
            likeliest: the likeliest action instead of a sample.
            opponent: who holds the other seats, a name of `training.agents.make_agent`.
            temperature: of the policy's choices.
            record: a folder that gets a record of each game.
            first: number of the first set-up.
        """
        self.env, self.likeliest, self.opponent = env, likeliest, opponent
        policy = policy_agent(env, network, None, "policy", likeliest, temperature=temperature)
        others = [make_agent(opponent, env)] * (env.num_players - 1)
        self._others = [agent.params for agent in others]
        names = ["policy", *[opponent] * len(others)]
        self._recorder = Recorder(record, env, names) if record else None
        self._arena = Arena(
            env, [policy, *others], games, first, at_once=GAMES_AT_ONCE,
            recorder=self._recorder, what=f"the games against {opponent}",
        )  # fmt: skip

    def store(
        self,
        seed: int,
        path: Path | None = None,
        policy: dict[str, Any] | None = None,
        resume: bool = False,
    ) -> Store:
        """Where the games go.

        Args:
            path: an npz; None keeps them in memory.
            policy: what the policy is, beside what `about` says.
            resume: go on with the games that are there.
        """
        players = self.env.num_players
        head = Head((policy or {}) | self.about(seed), self._arena.first, players, players)
        return Store(path, Npz(), head, self._arena.setups, resume)

    def play(
        self,
        params: Params,
        seed: int,
        quiet: bool = False,
        label: str = "",
        store: Store | None = None,
    ) -> Games:
        """Play all games.

        Args:
            params: of the policy.
            seed: which set-ups.
            quiet: show no progress while it plays.
            label: at the head of the names of records, if any are written.
            store: of `store`, to go on with.
        """
        if self._recorder:
            self._recorder.prefix = label
        store = store or self.store(seed)
        return self._arena.play(seed, store, [params, *self._others], quiet)

    def report(self, games: Games, seed: int) -> dict[str, Any]:
        """Plain numbers; writes to JSON."""
        return self.about(seed) | evaluation_report(games, self.env.ruleset.ids)

    def about(self, seed: int) -> dict[str, Any]:
        """What the games are games of, beside the policy."""
        return {
            **zoo.identity(self.env),
            "opponent": self.opponent,
            "seed": seed,
            "likeliest": self.likeliest,
        }

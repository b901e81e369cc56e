"""Arenas: entries, one for each seat, that play the set-ups of a seed into a store.

An evaluation is an arena of two agents: a policy, and who holds the other seats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gaia_jax.cli.command_line import UserError, finishing

from ..agents import Agent, environment_of, make_agent, parse_name, policy_agent, trained
from ..system import cli
from ..system.environments import identity, with_short_turns
from ..types import Environment, EnvModule, Params
from . import engine
from .arms import check_programs
from .engine import Match
from .records import Recorder
from .report import evaluation_report
from .store import Head, Store
from .table import Games, rotated

GAMES_AT_ONCE = 128


class Arena:
    """The entries and the games between them; compiled once."""

    def __init__(
        self,
        env: Environment,
        agents: Sequence[Agent],
        games: int,
        first: int = 0,
        rotations: int | None = None,
        at_once: int | None = None,
        recorder: Recorder | None = None,
        task: str = "the games",
    ):
        """
        Args:
            agents: one for each entry; agents may repeat.
            games: rounded up to whole set-ups.
            first: number of the first set-up.
            rotations: games of a set-up: one for each seat (None), or 1.
            at_once: maximum number of games of a batch.
            task: the compiled program in messages.
        """
        self.env, self.rotations, self.first = env, rotations or env.num_players, first
        seating = rotated(env.num_players)[: self.rotations]
        self.setups = max(1, math.ceil(games / self.rotations))
        setups, moves = range(first, first + self.setups), recorder is not None
        at_once = at_once or GAMES_AT_ONCE
        self._match = Match(env, agents, seating, setups, at_once, moves=moves)
        self._recorder, self._what, self._compiled = recorder, task, False

    def store(self, about: dict[str, Any], path: Path | None = None, resume: bool = False) -> Store:
        """Where the games go: a file, or the memory.

        Args:
            about: `env`, `version`, `seed`, `agents`, stored in the file.
            resume: continue with the games in the file.
        """
        head = Head(about, self.first, self.rotations, self.env.num_players)
        return Store(path, head, self.env.ruleset.ids, self.setups, resume)

    def play(
        self,
        seed: int,
        store: Store,
        params: list[Params] | None = None,
        quiet: bool = False,
        decided: Callable[[Games], bool] = lambda games: False,
    ) -> Games:
        """Play the games that a store lacks, batch by batch, and store them.

        Ctrl-C loses the present batch.

        Args:
            params: instead of the entries' own parameters.
            quiet: show no progress.
            decided: called with all games so far before and after each batch; True ends the arena.
        """
        match = self._match

        def stop() -> bool:
            return store.games is not None and decided(store.games)

        if store.count < self.setups and not stop():
            store.truncate(store.count - store.count % match.at_once)  # a batch is played as one
            if not self._compiled:
                with cli.compiling(self._what):
                    match.compile(params)
                self._compiled = True

            def save(first: int, games: Games) -> None:
                with finishing():
                    store.add(games)
                if self._recorder:
                    self._recorder.write(seed, first, games)

            done = store.count
            total, before = (n * self.rotations for n in (self.setups, done))
            with cli.bar("game", total, before, not quiet) as bar:
                match.play(seed, params, lambda ended: bar.update(ended - bar.n), done, save, stop)
        assert store.games is not None
        return store.games


def agents_by_name(names: Sequence[str], env: Environment, likeliest: bool = False) -> list[Agent]:
    """An agent for each seat; a repeated name is one agent.

    Args:
        likeliest: checkpoints take the most probable action instead of sampling.
    Raises:
        UserError: not as many names as seats, or one that is unknown.
    """
    players = env.num_players
    if len(names) != players:
        raise UserError(f"--agents needs {players} names, got {len(names)}; a name may be repeated")
    for name in names:
        if not name.isprintable():
            raise UserError(f"--agents: names must be printable, got {name!r}")
    agent_of = {name: make_agent(name, env, likeliest) for name in dict.fromkeys(names)}
    return [agent_of[name] for name in names]


def of_names(
    env: Environment,
    names: Sequence[str],
    games: int,
    rotations: int,
    likeliest: bool = False,
    record: Path | None = None,
    first: int = 0,
) -> Arena:
    """The arena of `agents_by_name`; a folder `record` gets a record of each game."""
    agents = agents_by_name(names, env, likeliest)
    check_programs(env, agents)
    recorder = Recorder(record, env, names) if record else None
    return Arena(env, agents, games, first, rotations, recorder=recorder)


def make_opponent(name: str, env: Environment) -> Agent:
    """The agent of this name for the other seats of an evaluation; it plays whole turns."""
    return make_agent(name, with_short_turns(env, False))._replace(name=name)


class Evaluation:
    """An agent against an opponent in all other seats; compiled once, for any parameters."""

    def __init__(
        self,
        env: Environment,
        policy: Agent,
        games: int,
        likeliest: bool = False,
        *,
        opponent: Agent,
        record: Path | None = None,
        first: int = 0,
    ):
        """
        Args:
            env: of the policy's training; the games have whole turns.
            policy: the agent; `play` takes its parameters.
            games, first: as of `Arena`; a set-up has a game for each seat.
            likeliest: whether the policy takes the most probable action, for the report.
            opponent: plays the other seats; made for the whole game.
            record: a folder for a record of each game.
        """
        env = with_short_turns(env, False)  # all agents play the game with whole turns
        self.env, self.likeliest, self.opponent = env, likeliest, opponent.name
        others = [opponent] * (env.num_players - 1)
        self._others = [agent.params for agent in others]
        names = ["policy", *[opponent.name] * len(others)]
        self._recorder = Recorder(record, env, names) if record else None
        self._arena = Arena(
            env, [policy, *others], games, first, at_once=engine.GAMES_AT_ONCE,
            recorder=self._recorder, task=f"the games against {opponent.name}",
        )  # fmt: skip

    def store(
        self,
        seed: int,
        path: Path | None = None,
        policy: dict[str, Any] | None = None,
        resume: bool = False,
    ) -> Store:
        """`Arena.store`, with the identity of the policy in `about`."""
        return self._arena.store((policy or {}) | self.about(seed), path, resume)

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
            label: prefix of the names of records.
            store: result of `store`, to be continued; None: in memory.
        """
        if self._recorder:
            self._recorder.prefix = label
        store = store or self.store(seed)
        return self._arena.play(seed, store, [params, *self._others], quiet)

    def report(self, games: Games, seed: int) -> dict[str, Any]:
        """Plain numbers; writes to JSON."""
        return self.about(seed) | evaluation_report(games, self.env.ruleset.ids)

    def about(self, seed: int) -> dict[str, Any]:
        """Identity of the games, without the policy."""
        return {
            **identity(self.env),
            "opponent": self.opponent,
            "seed": seed,
            "likeliest": self.likeliest,
        }


def evaluation_of_name(
    name: str,
    env_module: EnvModule,
    games: int,
    opponent: str = "random",
    likeliest: bool = False,
    **more: Any,
) -> tuple[Evaluation, Params, dict[str, Any]]:
    """The evaluation of an agent on what it was trained on, or else on `lost_fleet`.

    Args:
        name: any that `training.agents.make_agent` takes.
        likeliest: checkpoints take the likeliest action instead of sampling.
        more: arguments of `Evaluation`.
    Returns:
        It, the policy's parameters and its identity, for `Evaluation.store`.
    Raises:
        UserError: unknown policy or opponent.
    """
    parts = parse_name(name)
    if parts.is_network:
        source = trained(name, None, env_module)
        env, params = source.as_trained, source.params
        temperature = source.temperature
        policy = policy_agent(
            env, source.network, None, "policy", likeliest, temperature=temperature
        )
        about = {"run": parts.run, "update": source.update}
    else:
        env = environment_of(name, env_module)
        policy = make_agent(name, env, likeliest)
        params, about = policy.params, {"run": name, "update": None}
    agent = make_opponent(opponent, env)
    return Evaluation(env, policy, games, likeliest, opponent=agent, **more), params, about

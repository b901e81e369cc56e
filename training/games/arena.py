"""An arena: entries, one for each seat, that play the set-ups of a seed into a store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.agents import Agent, make_agent
from training.config import UserError
from training.games.engine import Match
from training.games.formats import Csv, Head
from training.games.records import Recorder
from training.games.seating import rotated
from training.games.store import Store
from training.games.table import Games
from training.system import cli
from training.types import Environment, Params

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
        what: str = "the games",
    ):
        """
        Args:
            agents: of each entry; the same one may be there again.
            games: at least so many; rounded up to whole set-ups.
            first: number of the first set-up.
            rotations: games of a set-up: one for each seat (None), or 1.
            at_once: games of a batch, at most.
            recorder: writes a record of each game.
            what: is compiled, for the message.
        """
        self.rotations, self.first = rotations or env.num_players, first
        seating = rotated(env.num_players)[: self.rotations]
        self.setups = max(1, math.ceil(games / self.rotations))
        setups, moves = range(first, first + self.setups), recorder is not None
        at_once = at_once or GAMES_AT_ONCE
        self._match = Match(env, agents, seating, setups, at_once, moves=moves)
        self._recorder, self._what, self._compiled = recorder, what, False

    def play(
        self, seed: int, store: Store, params: list[Params] | None = None, quiet: bool = False
    ) -> Games:
        """Play what a store has not, batch by batch, into it: all games are in it then.

        Args:
            params: instead of the entries' own parameters.
            quiet: show no progress while it plays.
        Raises:
            KeyboardInterrupt: the batch under way is lost.
        """
        match = self._match
        if store.count < self.setups:
            store.keep(store.count - store.count % match.at_once)  # a batch is played as one
            if not self._compiled:
                with cli.compiling(self._what):
                    match.compile(params)
                self._compiled = True

            def save(first: int, games: Games) -> None:
                with cli.finishing():
                    store.add(games)
                if self._recorder:
                    self._recorder.write(seed, first, games)

            done = store.count
            every, before = (n * self.rotations for n in (self.setups, done))
            with cli.bar("game", every, before, not quiet) as bar:
                match.play(seed, params, lambda ended: bar.update(ended - bar.n), done, save)
        assert store.games is not None
        return store.games


def of_names(
    env: Environment,
    names: Sequence[str],
    games: int,
    rotations: int,
    likeliest: bool = False,
    record: Path | None = None,
    first: int = 0,
) -> Arena:
    """The arena of agents by name.

    Args:
        names: of an agent for each seat; the same name is the same agent, yet an entry more.
        likeliest: checkpoints take the likeliest action instead of sampling.
        record: a folder that gets a record of each game.
    Raises:
        UserError: not as many names as seats, or one that is unknown.
    """
    players = env.num_players
    if len(names) != players:
        raise UserError(f"--agents wants {players} names, got {len(names)}; a name may be repeated")
    for name in names:
        if not name.isprintable():
            raise UserError(f"--agents: {name!r} is no name: it cannot be printed")
    made = {name: make_agent(name, env, likeliest) for name in dict.fromkeys(names)}
    recorder = Recorder(record, env, names) if record else None
    agents = [made[name] for name in names]
    return Arena(env, agents, games, first, rotations, recorder=recorder)


def store_of(
    path: Path | None, env: Environment, about: dict[str, Any], arena: Arena, resume: bool
) -> Store:
    """The CSV of an arena; `about` has `env`, `version`, `seed`, `agents`."""
    head = Head(about, arena.first, arena.rotations, env.num_players)
    return Store(path, Csv(lambda *_: env.ruleset.ids), head, arena.setups, resume)

"""Arenas: entries, one for each seat, that play the set-ups of a seed.

An evaluation is an arena of two agents: a policy, and who holds the other seats. `play_stored`
plays either as shards of `training.system.jobs` and stores the games in a file.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from ..agents import Agent, environment_of, make_agent, parse_name, policy_agent, trained
from ..agents.base import automa_agent
from ..agents.registry import with_updates
from ..system import cli, jobs
from ..system.data_files import npz_of, read_arrays
from ..system.environments import identity, is_solo, make_env, module, with_level, with_short_turns
from ..system.jobs import compile_lock, shard_folder
from ..types import Environment, JsonObject, Params
from . import engine, store, table
from .engine import Match
from .records import Recorder
from .report import evaluation_report
from .same_agents import check_programs
from .table import Games, rotated

GAMES_AT_ONCE = 128
MAX_SHARDS = 256  # a shard is a whole number of batches


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
            agents: one for each seat that decides; agents may repeat. In a solo game the Automa is
                a second entry.
            games: rounded up to whole set-ups.
            first: number of the first set-up.
            rotations: games of a set-up: one for each seat (None), or 1.
            at_once: maximum number of games of a batch.
            task: the compiled program in messages.
        """
        self.env, self.rotations, self.first = env, rotations or env.num_players, first
        if is_solo(env):
            agents = [*agents, automa_agent(env)]
        seating = rotated(len(agents))[: self.rotations]
        self.setups = max(1, math.ceil(games / self.rotations))
        setups, moves = range(first, first + self.setups), recorder is not None
        self._match = Match(env, agents, seating, setups, at_once or GAMES_AT_ONCE, moves=moves)
        self._recorder, self._task = recorder, task
        self.params: list[Params] | None = None  # instead of the entries' own
        self.progress: Callable[[int], object] = lambda ended: None

    def compile(self) -> None:
        """Compile everything, once."""
        if not self._match.is_compiled:
            with compile_lock(), cli.compiling(self._task):
                self._match.compile(self.params)

    def play(self, seed: int, quiet: bool = False) -> Games:
        """Play all games; `quiet` shows no progress."""
        self.compile()
        with cli.bar("game", self.setups * self.rotations, shown=not quiet) as bar:
            self.progress = lambda ended: bar.update(ended - bar.n)
            return self.play_setups(seed, self.first, self.setups)

    def play_setups(self, seed: int, first: int, count: int) -> Games:
        """Play `count` set-ups from number `first` on, which begins a batch."""

        def save(first: int, games: Games) -> None:
            if self._recorder:
                self._recorder.write(seed, first, games)

        setups = range(first, first + count)
        return self._match.play(seed, self.params, self.progress, setups, save)

    def shards(self, args: JsonObject, seed: int, folder: Path) -> list[jobs.Shard]:
        """The batches, for `play_shard`."""
        each = self._match.batch
        each *= max(self.setups // (each * MAX_SHARDS), 1)
        stop = self.first + self.setups
        return [
            jobs.Shard(folder / f"{first:09}.npz", (args, seed, first, min(each, stop - first)))
            for first in range(self.first, stop, each)
        ]


class ArenaArgs(NamedTuple):
    """The arguments of an arena of names, which are JSON."""

    env_module: str
    env: str
    players: int
    names: str  # with commas
    games: int
    rotations: int | None = None
    likeliest: bool = False
    record: str | None = None  # a folder for a record of each game
    level: str | None = None  # of the Automa in a solo game

    def fixed(self) -> ArenaArgs:
        """The same with the checkpoints of `with_updates`. Call it before any array."""
        self._split_cpu()
        return self._replace(names=",".join(with_updates(self.names.split(","))))

    def _split_cpu(self) -> None:
        together = self.rotations or self.players
        engine.split_cpu_for(self.games, together, GAMES_AT_ONCE)

    def make(self) -> Arena:
        """The arena of `agents_by_name`. Call it before any array.

        Raises:
            UserError: wrong names, rotations or level.
        """
        self._split_cpu()
        env = make_env(module(self.env_module), self.env, "vp", self.players)
        env, names = with_level(env, self.level), self.names.split(",")
        if self.rotations not in (None, 1, env.num_players):
            raise UserError(f"--rotations must be 1 or {env.num_players}, not {self.rotations}")
        agents = agents_by_name(names, env, self.likeliest)
        check_programs(env, agents)
        names = entry_names(env, names)
        recorder = Recorder(self.record, env, names) if self.record else None
        return Arena(env, agents, self.games, rotations=self.rotations, recorder=recorder)


class EvaluationArgs(NamedTuple):
    """The arguments of an evaluation by name, which are JSON."""

    name: str
    env_module: str
    games: int
    opponent: str = "random"
    likeliest: bool = False
    record: str | None = None
    level: str | None = None  # of the Automa in a solo game; None: automachtig

    def fixed(self) -> EvaluationArgs:
        """The same with the checkpoints of `with_updates`. Call it before any array."""
        self.split_cpu()
        name, opponent = with_updates([self.name, self.opponent])
        return self._replace(name=name, opponent=opponent)

    def split_cpu(self) -> None:
        """Split the CPU for games of four: the run, read later, has the number of players."""
        engine.split_cpu_for(self.games, 4, engine.GAMES_AT_ONCE)

    def make(self) -> Arena:
        """The arena of `evaluation_of_name`."""
        return evaluation_of_name(self)[0].arena


class _Decided(Exception):
    """The games so far suffice."""


class _FirstShards:
    """The shards before the first missing one, read as they come."""

    def __init__(self, work: Sequence[jobs.Shard], decided: Callable[[Games], bool]):
        self.work, self.decided = work, decided
        self.parts: list[Games] = []

    def collect(self) -> None:
        """Read the shards that have come; `_Decided` where the games suffice."""
        before, parts = len(self.parts), self.parts
        while len(parts) < len(self.work) and self.work[len(parts)].path.exists():
            path, args = self.work[len(parts)]
            arrays = read_arrays(path, "the shard", table.ROWS)
            if len(arrays["vp"]) != (count := args[-1]):
                raise UserError(
                    f"{path} has {len(arrays['vp'])} set-ups, not {count}; move {path.parent} away "
                    "to start again"
                )
            parts.append(Games(**arrays))
        if len(parts) > before and self.decided(table.join(parts)):
            raise _Decided


_arena: list[tuple[JsonObject, Arena]] = []  # of this process, compiled once


def play_shard(args: JsonObject, seed: int, first: int, count: int) -> bytes:
    """`Arena.play_setups` as the bytes of an npz; args: `ArenaArgs` or `EvaluationArgs`."""
    if not _arena or _arena[0][0] != args:
        kind = EvaluationArgs if "opponent" in args else ArenaArgs
        _arena[:] = [(args, kind(**args).make())]
    arena = _arena[0][1]
    arena.compile()
    return npz_of(arena.play_setups(seed, first, count).rows())


def play_stored(
    args: ArenaArgs | EvaluationArgs,
    arena: Arena,
    about: dict[str, Any],
    path: Path | None = None,
    resume: bool = False,
    on: jobs.On = jobs.LOCAL,
    decided: Callable[[Games], bool] = lambda games: False,
) -> tuple[Games | None, bool]:
    """Play an arena in shards and store its games.

    Args:
        arena: of `args.make()`.
        about: as of `store.encode`; its `seed` is that of the games.
        path: the file; None: the games are returned only.
        resume: continue the shards that an interrupted command has left.
        decided: called with the games from the first set-up on, whenever there are more; True ends
            the arena with them.
    Returns:
        The games, and whether the arena has ended; after Ctrl-C those from the first set-up on.
    Raises:
        UserError: an agent failed, workers were lost, the file cannot be written.
    """
    arguments = args._asdict()
    _arena[:] = [(arguments, arena)]
    if path and path.exists():
        raise UserError(f"{path} exists: name another file")
    setups = {"set-ups": arena.setups, "rotations": arena.rotations}
    with shard_folder(path, about | setups, resume) as folder:
        work, is_complete = arena.shards(arguments, about["seed"], folder), True
        sizes = [shard.args[-1] * arena.rotations for shard in work]
        done = sum(size for size, x in zip(sizes, work, strict=True) if x.path.exists())
        first = _FirstShards(work, decided)

        with cli.bar("game", sum(sizes), done) as bar:

            def report(index: int) -> None:
                nonlocal done
                done += sizes[index]
                bar.update(done - bar.n)
                first.collect()

            arena.progress = lambda ended: bar.update(done + ended - bar.n)
            try:
                first.collect()
                if on.in_process and done < sum(sizes):
                    arena.compile()
                jobs.compute(play_shard, work, on, report)
            except _Decided:
                pass
            except KeyboardInterrupt:
                is_complete = False
            except RuntimeError as error:  # of XLA: a callback of an agent failed
                raise UserError(f"an agent failed while it played: {error}") from error
        games = table.join(first.parts) if first.parts else None
        if path and games and is_complete:
            outputs.write_bytes(path, store.encode(path, about, games, arena.env.ruleset.ids))
            shutil.rmtree(folder)
    return games, is_complete


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


def entry_names(env: Environment, names: Sequence[str]) -> list[str]:
    """The names of all entries: those of the seats, and the Automa of a solo game."""
    return [*names, automa_agent(env).name] if is_solo(env) else list(names)


def make_opponent(name: str, env: Environment) -> Agent:
    """The agent of this name for the other seats of an evaluation; it plays whole turns.

    In a solo game it is the Automa, whatever the name.
    """
    if is_solo(env):
        return automa_agent(env)
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
        record: str | Path | None = None,
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
        self._others = [agent.params for agent in (others or [opponent])]
        names = entry_names(env, ["policy", *[opponent.name] * len(others)])
        self._recorder = Recorder(record, env, names) if record else None
        self.arena = Arena(
            env, [policy, *others], games, first, at_once=engine.GAMES_AT_ONCE,
            recorder=self._recorder, task=f"the games against {opponent.name}",
        )  # fmt: skip

    def use(self, params: Params) -> None:
        """Let these parameters of the policy play."""
        self.arena.params = [params, *self._others]

    def play(self, params: Params, seed: int, quiet: bool = False, label: str = "") -> Games:
        """Play all games.

        Args:
            params: of the policy.
            label: prefix of the names of records.
        """
        if self._recorder:
            self._recorder.prefix = label
        self.use(params)
        return self.arena.play(seed, quiet)

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


def evaluation_of_name(args: EvaluationArgs) -> tuple[Evaluation, dict[str, Any]]:
    """The evaluation of an agent on what it was trained on, or else on `lost_fleet`.

    Call it before any array.

    Returns:
        It, with the policy's parameters, and the policy's identity.
    Raises:
        UserError: unknown policy or opponent.
    """
    args.split_cpu()
    name, parts = args.name, parse_name(args.name)
    if parts.is_network:
        source = trained(name, None, module(args.env_module))
        env, params = with_level(source.as_trained, args.level), source.params
        temperature = source.temperature
        policy = policy_agent(
            env, source.network, None, "policy", args.likeliest, temperature=temperature
        )
        about = {"run": parts.run, "update": source.update}
    else:
        env = with_level(environment_of(name, module(args.env_module)), args.level)
        policy = make_agent(name, env, args.likeliest)
        params, about = policy.params, {"run": name, "update": None}
    opponent = make_opponent(args.opponent, env)
    evaluation = Evaluation(
        env, policy, args.games, args.likeliest, opponent=opponent, record=args.record
    )
    evaluation.use(params)
    return evaluation, about

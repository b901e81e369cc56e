"""Play the games of a dataset in batches, the shards of `training.system.jobs`.

A batch depends only on the seed, the agents, its size and its first deal.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from gaia_jax.cli.command_line import UserError

from ..agents import fingerprint
from ..agents.base import automa_agent
from ..system import jobs
from ..system.environments import is_solo, make_env, module
from ..system.jobs import compile_lock
from ..types import Environment, JsonObject
from . import parquet_files
from .arena import agents_by_name, entry_names
from .engine import Match
from .schema import to_table
from .table import rotated

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
            names: as of `agents_by_name`; the agents sit one seat further in each game of a deal,
                unless all are the same.
            batch: games of a batch; at most a quarter of them run at the same time.
        Raises:
            UserError: as `agents_by_name`, or the batch is not a multiple of the rotations.
        """
        agents = agents_by_name(names, env, likeliest)
        is_one_agent = len(set(names)) == 1
        if is_solo(env):
            agents = [*agents, automa_agent(env)]
        self.env, self.names, self.likeliest = env, entry_names(env, names), likeliest
        self.seating = rotated(len(agents))[: 1 if is_one_agent else None]
        agent_of = dict(zip(self.names, agents, strict=True))
        if batch % len(self.seating):
            raise UserError(f"--batch must be a multiple of {len(self.seating)}, not {batch}")
        self.deals = batch // len(self.seating)  # of a batch
        hashes = {name: fingerprint(agent) for name, agent in agent_of.items()}
        self.hashes = [hashes[name] for name in self.names]
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
        if not self._match.is_compiled:
            with compile_lock():
                self._match.compile()

    def play(self, part: dict[str, Any], first: int, count: int) -> pa.Table:
        """Rows of the first `count` deals of the batch that begins with deal `first` of a part."""
        games = self._match.play_batch(part["seed"], first).slice(0, count)
        assert games.actions is not None
        longest = games.actions.shape[-1]
        if games.decisions.max() > longest:
            raise UserError(f"a game has more than {longest} decisions, which is too long")
        return to_table(games, first, part, self.env.ruleset)


class SourceArgs(NamedTuple):
    """The arguments of a `Source`, which are JSON."""

    env_module: str
    env: str
    players: int
    names: str  # with commas
    batch: int
    likeliest: bool
    level: str | None = None  # of the Automa in a solo game


@functools.lru_cache(maxsize=1)
def source_of(args: SourceArgs) -> Source:
    """The source of these arguments; a process compiles it once."""
    level = args.level or ""
    env = make_env(module(args.env_module), args.env, "vp", args.players, automa=level)
    return Source(env, args.names.split(","), args.batch, args.likeliest)


def piece(args: JsonObject, part: dict[str, Any], first: int, count: int) -> bytes:
    """`Source.play` as the bytes of a Parquet file; args: `SourceArgs`."""
    source = source_of(SourceArgs(**args))
    source.compile()
    return parquet_files.to_bytes(source.play(part, first, count))


def pieces(args: SourceArgs, part: dict[str, Any], folder: Path) -> list[jobs.Shard]:
    """The batches of a part of `dataset.json`, for `piece`."""
    source = source_of(args)
    deals: int = part["games"] // part["rotations"]
    out = []
    for at in range(0, deals, source.deals):
        count = min(source.deals, deals - at)
        path = folder / f"{at:09}-{count * part['rotations']}.parquet"
        out.append(jobs.Shard(path, (args._asdict(), part, part["first"] + at, count)))
    return out

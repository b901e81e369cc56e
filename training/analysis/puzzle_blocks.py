"""Make puzzles in blocks of games, each a shard, in this process, in several, or on a cluster."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import gaia_jax

from ..system import jobs
from ..system.environments import make_env
from ..types import JsonObject
from . import puzzles
from .puzzle_maker import GAMES_PER_BLOCK, PuzzleMaker
from .puzzles import AnswerCriteria


class MakerArgs(NamedTuple):
    """The arguments of puzzles except for their set-ups."""

    env: str
    players: int
    agent: str
    num_playouts: int
    criteria: AnswerCriteria
    seed: int
    from_round: int


_makers: dict[str, PuzzleMaker] = {}  # the one of this process, compiled once


def make_block(maker_args: JsonObject, first: int, count: int) -> bytes:
    """The puzzles of `count` set-ups from number `first` on, as a file; maker_args: `MakerArgs`."""
    args = MakerArgs(**maker_args | {"criteria": AnswerCriteria(**maker_args["criteria"])})
    env = make_env(gaia_jax, args.env, "vp", args.players)
    if str(args) not in _makers:
        _makers.clear()
        _makers[str(args)] = PuzzleMaker(env, args.agent, args.num_playouts, args.criteria)
    empty = puzzles.new_collection(
        env, args.agent, args.num_playouts, args.seed, first, args.from_round, args.criteria
    )
    collection, is_complete = _makers[str(args)].extend(empty, first, count, None)
    if not is_complete:
        raise KeyboardInterrupt
    return puzzles.to_text(collection).encode()


def make_in_blocks(
    args: MakerArgs, first: int, games: int, out: Path | None, resume: bool, on: jobs.On
) -> JsonObject:
    """The puzzles of all set-ups; a block of `GAMES_PER_BLOCK` is a shard.

    Raises:
        UserError: as of `jobs.compute` and `jobs.shard_folder`.
    """
    maker_args = args._asdict() | {"criteria": args.criteria._asdict()}
    about = {"puzzles": str(args), "set-ups": f"{games} from {first}"}
    starts = [first, *range(first - first % GAMES_PER_BLOCK, first + games, GAMES_PER_BLOCK)[1:]]
    with jobs.shard_folder(out, about, resume) as folder:
        shards = [
            jobs.Shard(folder / f"{start:06}.json", (maker_args, start, stop - start))
            for start, stop in zip(starts, [*starts[1:], first + games], strict=True)
        ]
        jobs.compute(make_block, shards, on)
        collection = puzzles.join([puzzles.read(shard.path) for shard in shards])
        if out:
            puzzles.write(out, collection)
            shutil.rmtree(folder)
    return collection

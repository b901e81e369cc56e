"""What is killed: an arena and a trainer that do all but play, so that they write all the time."""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import gaia_jax
import training.arena as arena
import training.train as train
from tests.fuzz.cli_cases import FOUR
from tests.training import toy_env
from training.games import arena as games_arena
from training.games import table
from training.games.engine import Match
from training.games.table import Games
from training.learn.checkpoint import Checkpoints
from training.learn.trainer import Trainer
from training.system import cli, jobs

SETUPS = 32  # of a batch


def _batch(self: Match, seed: int, first: int, *_: Any) -> Games:
    """A batch of invented games, different for each set-up."""
    time.sleep(0.1)
    ids = gaia_jax.make("lost_fleet").ruleset.ids
    rng = np.random.default_rng([seed, first])
    shape = (SETUPS, 4, 4)

    def draw(high: int, *axes: int) -> np.ndarray:
        return rng.integers(0, high, (*shape, *axes))

    sits = np.broadcast_to((np.arange(4) - np.arange(4)[:, None]) % 4, shape)
    return Games(
        sits, draw(4) + 1, draw(len(ids["faction"])), draw(150), draw(40, len(ids["vp_source"])),
        draw(9, len(table.BEHAVIOUR)), rng.integers(300, 500, shape[:2]), np.full(shape[:2], 0.25),
        draw(120), draw(1),
    )  # fmt: skip


def _doomed(owner: type, name: str, moment: float) -> None:
    """kill -9 comes `moment` seconds after the first call of a method."""
    method, doom = getattr(owner, name), []

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not doom:
            doom.append(threading.Timer(moment, os.kill, (os.getpid(), signal.SIGKILL)))
            doom[0].start()
        return method(*args, **kwargs)

    setattr(owner, name, call)


def play(csv: str, games: int, moment: float) -> int:
    """The arena's command line, with games that take no time.

    Args:
        moment: of its death, in seconds after it first plays a shard.
    """
    _doomed(games_arena.Arena, "play_setups", moment)
    Match.play_batch = _batch  # type: ignore[method-assign,assignment]
    Match.compile = lambda self, params=None: None  # type: ignore[method-assign]
    args = ["--agents", FOUR, "--games", str(games), "--csv", csv, "--resume"]
    return cli.run(lambda: arena.main(args))


def run(args: list[str], moment: float | None = None) -> int:
    """The trainer's command line on the toy game, with updates that take no time.

    Args:
        moment: of its death, in seconds after it first saves a checkpoint; None: it ends by itself.
    """
    if moment is not None:
        _doomed(Checkpoints, "save", moment)

    def advance(self: Trainer) -> list[dict[str, float]]:
        count = self.config.run.updates_per_chunk
        self.update += count
        self.runner = self.runner._replace(update=self.runner.update + count)
        names = ("games/ended", "games/vp_sum", "games/reward_sum", "loss/policy", "loss/value")
        return [dict.fromkeys((*names, "policy/entropy"), 0.0) for _ in range(count)]

    Trainer.advance = advance  # type: ignore[method-assign]
    Trainer.compile = lambda self: None  # type: ignore[method-assign]
    return cli.run(lambda: train.main(args, toy_env))


def shards(path: Path) -> dict[str, bytes]:
    """The shards of the unfinished CSV of an arena, by name."""
    folder = path.with_name(path.name + jobs.FOLDER)
    return {file.name: file.read_bytes() for file in sorted(folder.glob("[0-9]*"))}

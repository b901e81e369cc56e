"""`--record DIR`: the games of evaluations and arenas as records, a file a game.

A name says where a game comes from: `seed0-setup00012-seats2.json` is set-up 12 of seed 0 with the
agents two seats further on. `python -m gaia_jax.replay` plays them again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gaia_jax import replay
from training.system import atomic_files

# Decisions of a game that are kept: no game of agents or of random play has come near.
LONGEST = 2048
# What the files begin with, by which those that may be written again are known.
OURS = atomic_files.begins('{\n  "format": "gaia_jax game ')


def check(folder: Path, resume: bool) -> None:
    """Refuse a folder for records before any work.

    Args:
        resume: the command goes on, or a run adds to what it has written: records may be there.
    Raises:
        UserError: it takes no files, or a file there would be written over that is no record.
    """
    if resume:
        atomic_files.check_inside("--record", folder, "*seed*-setup*-seats*.json", OURS)
    else:
        atomic_files.check_folder("--record", folder)


class Recorder:
    """Writes records into a folder."""

    def __init__(self, folder: Path, env: Any, names: Sequence[str]):
        """
        Args:
            folder: made at the first record.
            env: where the games are played.
            names: of the agents of a match, in its order.
        """
        self.folder, self.env, self.names = folder, env, tuple(names)
        self.prefix = ""  # of every name, for example the update

    def batch(
        self, seed: int, first: int, sits: np.ndarray, count: int, games: tuple[Any, Any, Any, Any]
    ) -> None:
        """Write a batch of ended games.

        Args:
            seed, first: of the match, the number of its first set-up here.
            sits: (R, P), which agent sits where.
            count: how many set-ups of the batch belong to the match.
            games: set-ups with a leading axis B = S * R, actions (B, LONGEST), decisions (B,),
                final VP (B, P).
        """
        setups, actions, decisions, vp = jax.device_get(games)
        self.folder.mkdir(parents=True, exist_ok=True)
        rotations, long = len(sits), 0
        for game in range(count * rotations):
            if decisions[game] > actions.shape[1]:
                long += 1
                continue
            setup = jax.tree.map(lambda x, game=game: x[game], setups)
            moves = actions[game, : decisions[game]].tolist()
            record = replay.Record.of(self.env, setup, moves, vp[game].tolist())
            rotation = game % rotations
            players = [self.names[agent] for agent in sits[rotation]]
            name = f"seed{seed}-setup{first + game // rotations:05}-seats{rotation}.json"
            text = replay.to_text(record.with_players(players))
            atomic_files.write_text(self.folder / f"{self.prefix}{name}", text)
        if long:
            print(f"{long} games of over {LONGEST} decisions are not recorded", file=sys.stderr)


def add_flag(parser: Any) -> None:
    """`--record DIR`."""
    parser.add_argument(
        "--record", metavar="DIR", type=Path, help="write a record of each game into this folder"
    )

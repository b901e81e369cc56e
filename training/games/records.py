"""`--record DIR`: write each game of an evaluation or arena as a record.

`seed0-setup00012-seats2.json` is set-up 12 of seed 0 with the agents moved on by two seats.
`python -m gaia_jax.replay` replays records.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import jax
import numpy as np

from gaia_jax import GaiaEnv, replay
from gaia_jax.cli import outputs

from ..types import Environment
from .table import Games

# Decisions of a game that are stored; games of agents and of random play are much shorter.
LONGEST = 2048
# The first bytes of a record; only files with them are overwritten.
IS_RECORD = outputs.begins('{\n  "format": "gaia_jax game ')


def check(folder: Path, resume: bool) -> None:
    """Raise a UserError for a folder that is not writable or would lose a file of another origin.

    Args:
        resume: the command or run continues, so records may exist already.
    """
    if resume:
        outputs.check_inside("--record", folder, "*seed*-setup*-seats*.json", IS_RECORD)
    else:
        outputs.check_folder("--record", folder)


class Recorder:
    """Writes records into a folder."""

    def __init__(self, folder: str | Path, env: Environment, names: Sequence[str]):
        """`names`: of the entries of a match. The folder is created at the first record."""
        self.folder, self.names = Path(folder), tuple(names)
        self._env = cast(GaiaEnv, env)  # records are of this game alone
        self.prefix = ""  # of every name, for example the update

    def write(self, seed: int, first: int, games: Games) -> None:
        """Write ended games with their set-ups and actions; `first` numbers their first set-up."""
        self.folder.mkdir(parents=True, exist_ok=True)
        long = 0
        assert games.actions is not None
        for s, r in np.ndindex(*games.decisions.shape):
            if games.decisions[s, r] > games.actions.shape[-1]:
                long += 1
                continue
            setup = jax.tree.map(lambda x, at=(s, r): x[at], games.setups)
            moves = games.actions[s, r, : games.decisions[s, r]].tolist()
            record = replay.Record.of(self._env, setup, moves, games.vp[s, r].tolist())
            players = [self.names[entry] for entry in games.entry[s, r]]
            text = replay.to_text(record.with_players(players))
            name = f"{self.prefix}seed{seed}-setup{first + s:05}-seats{r}.json"
            outputs.write_text(self.folder / name, text)
        if long:
            print(f"{long} games of over {LONGEST} decisions are not recorded", file=sys.stderr)

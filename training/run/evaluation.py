"""Evaluations of a run while it is trained, by all of its processes.

Each process plays its share of the set-ups, one of several on one of its devices. A game depends
on its number alone (`training.games.engine`), so that the report is the same whatever the split,
up to rounding.
"""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from gaia_jax.cli.progress import status_line

from ..agents import Agent, policy_agent
from ..games import table
from ..games.arena import Evaluation
from ..games.table import Games
from ..system.data_files import npz_of
from ..system.process_group import Place, ProcessGroup

if TYPE_CHECKING:
    from ..learn.trainer import Trainer


def share_of(place: Place, count: int) -> tuple[int, int]:
    """The set-ups of `count` that a process plays: the number of the first, and their number."""
    largest_share = -(-count // place.size)
    first = min(place.id * largest_share, count)
    return first, min(largest_share, count - first)


class RunEvaluation:
    """Evaluates the policy of a run against one opponent; compiled at the first use."""

    def __init__(
        self, trainer: Trainer, opponent: Agent, number: int, games: int, record: Path | None
    ):
        """
        Args:
            number: of the opponent in `eval.opponents`, from 1.
            games: of all processes together, at least; a set-up is one for each seat.
            record: a folder for records of the games.
        """
        config = trainer.config
        self._trainer, self._group = trainer, trainer.group
        players = trainer.env.num_players
        first, count = share_of(trainer.group.place, -(-games // players))
        self._idle = count == 0
        self.opponent, self._number = opponent.name, number
        likeliest = config.eval.likeliest
        policy = policy_agent(trainer.env, trainer.network, None, "policy", likeliest)
        self._evaluation = Evaluation(
            trainer.env, policy, players * max(count, 1), likeliest, opponent=opponent,
            record=record, first=first,
        )  # fmt: skip

    def report(self, prefix: str = "", quiet: bool = True) -> dict[str, Any]:
        """Play and summarize, the same at all processes.

        Args:
            prefix: of the names of records, if any are written.
            quiet: show no progress.
        """
        trainer, evaluation = self._trainer, self._evaluation
        seed = trainer.config.eval.seed
        label = f"{prefix}update{trainer.update:06}-opponent{self._number}-"
        # On one device of this process, not on all.
        params = jax.tree.map(lambda x: x.addressable_data(0), trainer.policy)
        # Without a terminal a quiet evaluation prints a status line.
        waits = quiet and not sys.stderr.isatty() and not self._idle
        with status_line(lambda: f"playing against {self.opponent}", waits):
            played = None if self._idle else evaluation.play(params, seed, quiet, label)
        return evaluation.report(_of_all(self._group, played), seed)

    def measure(self) -> dict[str, float]:
        """The same set-ups each time, so that the curve is of the policy alone."""
        report, head = self.report(), f"evaluation/{self.opponent}"
        return {
            f"{head}/vp": report["vp"]["policy"]["mean"],
            f"{head}/vp_difference": report["vp_difference"]["mean"],
            f"{head}/win_share": report["win_share"]["policy"]["mean"],
        }


def evaluations_of(
    trainer: Trainer, opponents: Sequence[Agent], games: int, record: Path | None
) -> list[RunEvaluation]:
    """One evaluation for each opponent; [] if `games` is 0."""
    return [
        RunEvaluation(trainer, opponent, number, games, record)
        for number, opponent in enumerate(opponents, 1)
        if games
    ]


def _of_all(group: ProcessGroup, played: Games | None) -> Games:
    """The games of all processes, in order."""
    if group.alone and played is not None:
        return played
    data = None if played is None else npz_of(played.rows(), compressed=True)
    texts = group.all(None if data is None else base64.b64encode(data).decode("ascii"))
    parts = []
    for text in texts:
        if text is not None:
            with np.load(io.BytesIO(base64.b64decode(text))) as file:
                parts.append(Games(**dict(file)))
    return table.join(parts)

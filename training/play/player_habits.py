"""The habits of a player over the ended tables of a server, in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..analysis import habits, review
from .advisers import Advisers, refusal
from .background import Job
from .hints import NUM_REVIEW_PLAYOUTS, recorded_game
from .kept_tables import OpenTable

MAX_GAMES = 8  # the latest ones; each takes minutes
OpenKept = Callable[[str], OpenTable]


class PlayerHabits:
    """The started comparisons, by player and tables; one of them runs at a time."""

    def __init__(self, advisers: Advisers) -> None:
        self._advisers = advisers
        self._lock = threading.Lock()
        self._latest: tuple[tuple[str, Sequence[str]], Job] | None = None

    def get(self, name: str, ids: Sequence[str]) -> Job | None:
        """The job of a player with these tables; None before its start."""
        with self._lock:
            is_same = self._latest and self._latest[0] == (name, ids)
            return self._latest[1] if self._latest and is_same else None

    def start(self, name: str, ids: Sequence[str], open_kept: OpenKept) -> None:
        """Review the latest ended tables of a player unless that is done; it ends an earlier job.

        Args:
            ids: the tables, the latest first.
            open_kept: reads one of them.
        """
        job = self.get(name, ids)
        if job and job.now in ("running", "ready"):
            return
        with self._lock:
            if self._latest:
                self._latest[1].call_off()
            work = partial(self._work, name, ids, open_kept)
            self._latest = (name, ids), Job(work, "habits", is_localized=True)

    def _work(self, name: str, ids: Sequence[str], open_kept: OpenKept, job: Job) -> None:
        """Set `job.result` to the report; an example has the `node` of its position."""
        games, lines = list[habits.PlayerGame](), dict[str, Sequence[int]]()
        for id in ids[:MAX_GAMES]:
            table = open_kept(id)
            game = table.game
            if refusal(game.rules) or not game.over(game.line[-1]):
                continue
            adviser = self._advisers.get(game.rules)
            adviser.prepare(job.report)
            reviewed = review.review_game(
                recorded_game(game), adviser.name, NUM_REVIEW_PLAYOUTS, 0,
                partial(job.report, "played out"), adviser.runner,
            )  # fmt: skip
            seats = [seat for seat, person in enumerate(table.members.names) if person == name]
            games.append(habits.PlayerGame(id, reviewed, seats))
            lines[id] = list(game.line)
        if len(games) < habits.MIN_GAMES:
            job.result = {"player": name, "records": [], "habits": []}
            return
        report = habits.build_report(name, games)
        for habit in report["habits"]:
            example: dict[str, Any] = habit["example"]
            example["node"] = lines[example["record"]][example["decision"] - 1]
        job.result = report

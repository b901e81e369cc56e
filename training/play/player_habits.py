"""The habits of a player over the ended tables of a server, in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gaia_jax.cli.command_line import UserError
from gaia_jax.language import LANGUAGES, in_language, language

from ..analysis import habits, review
from .advisers import Advisers
from .background import Job, hold
from .game import Refused
from .hints import NUM_REVIEW_PLAYOUTS, recorded_game
from .kept_tables import OpenTable

MAX_GAMES = 8  # the latest ones; each takes minutes
MAX_KEPT = 16  # comparisons
TOO_FEW = "name: of a player of at least two ended games that can be reviewed is required"
OpenKept = Callable[[str], OpenTable]


class PlayerHabits:
    """The started comparisons, by browser and player; one of them runs at a time."""

    def __init__(self, advisers: Advisers) -> None:
        self._advisers = advisers
        self._lock, self._busy = threading.Lock(), threading.Lock()
        self._started: dict[tuple[str, str], tuple[set[str], Job]] = {}

    def get(self, browser: str, name: str) -> Job | None:
        """The latest job of a browser on a player; None before its start."""
        with self._lock:
            _, job = self._started.get((browser, name), (set[str](), None))
            return job

    def call_off(self, browser: str, name: str) -> None:
        """Cancel the latest job of a browser on a player."""
        if job := self.get(browser, name):
            job.call_off()

    def status(self, browser: str, name: str) -> dict[str, Any]:
        """`status`, progress, and at its end the `report` in the language in use."""
        job = self.get(browser, name)
        if job is None:
            return {"status": "none", "report": None}
        return {**job.json(), "report": job.result[language()] if job.result else None}

    def start(self, browser: str, name: str, ids: Sequence[str], open_kept: OpenKept) -> None:
        """Review the latest ended tables of a player unless that is done or under way.

        Args:
            ids: the tables, the latest first.
            open_kept: reads one of them.
        """
        with self._lock:
            tables, job = self._started.get((browser, name), (set[str](), None))
            is_done = job is not None and job.now == "ready" and tables == set(ids)
            if is_done or (job is not None and job.now == "running"):
                return
            work = partial(self._work, name, ids[:MAX_GAMES], open_kept)
            self._started.pop((browser, name), None)
            self._started[browser, name] = set(ids), Job(work, "habits")
            for old in list(self._started)[:-MAX_KEPT]:
                self._started.pop(old)[1].call_off()

    def _work(self, name: str, ids: Sequence[str], open_kept: OpenKept, job: Job) -> None:
        """Set `job.result` to the report by language; an example has the `node` of its position."""
        with hold(self._busy, job, "waiting for the habits of another player"):
            self._compare(name, ids, open_kept, job)

    def _compare(self, name: str, ids: Sequence[str], open_kept: OpenKept, job: Job) -> None:
        games, lines = list[habits.PlayerGame](), dict[str, Sequence[int]]()
        for id in ids:
            try:
                table = open_kept(id)
            except Refused:  # it has been removed since
                continue
            game = table.game
            seats = [seat for seat, person in enumerate(table.members.names) if person == name]
            if not seats or not game.over(game.line[-1]):  # it has been changed since
                continue
            adviser = self._advisers.get(game.rules)
            progress = partial(job.report, "played out")
            with adviser.in_use(job.report):
                reviewed = review.review_game(
                    recorded_game(game), adviser.name, NUM_REVIEW_PLAYOUTS, 0, progress,
                    adviser.runner,
                )  # fmt: skip
            games.append(habits.PlayerGame(id, reviewed, seats))
            lines[id] = list(game.line)
        if len(games) < habits.MIN_GAMES:
            raise UserError(TOO_FEW)
        reports = {}
        for code in LANGUAGES:
            with in_language(code):
                reports[code] = _report(name, games, lines)
        job.result = reports


def _report(
    name: str, games: Sequence[habits.PlayerGame], lines: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """The report in the language in use. `lines`: the positions of each table."""
    report = habits.build_report(name, games)
    for habit in report["habits"]:
        example: dict[str, Any] = habit["example"]
        example["node"] = lines[example["record"]][example["decision"] - 1]
    return report

"""Advice on the set-up that a form shows: what `training.advise` does, in the background.

Factions are dealt anew for every game, so the advice is the same whoever has chosen one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import Any

from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from ..analysis import ADVICE_GAMES, ADVISER, advice, advice_page
from .background import Job
from .compiled_rules import Rules
from .game import Refused
from .hints import Compiling, refusal

KEPT = 32  # pages
TURN = 0.2  # seconds between two looks at whether the one before has ended


class SetupAdvice:
    """The advice that was asked for, by set-up; one is made at a time."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}  # the one asked for last at the end
        self._advisors: dict[str, advice.Advisor] = {}  # by ruleset; its compiled games
        self._lock, self._busy = threading.Lock(), threading.Lock()

    def of(self, rules: Rules, setup: Setup, form: Mapping[str, object]) -> dict[str, Any]:
        """Status of the advice on a set-up.

        Args:
            form: what it was dealt from.
        Returns:
            `id`; `refusal`, why there can be none, "" where there can; what `Job.json` says,
            `status` "none" before the first request.
        """
        id = _id(rules, setup, form)
        job = self.get(id)
        now = job.json() if job else {"status": "none"}
        return {"id": id, "refusal": refusal(ADVISER, rules), **now}

    def get(self, id: str) -> Job | None:
        """What was asked for, by the id of `of`; None where nothing was."""
        with self._lock:
            return self._jobs.get(id)

    def ask(self, rules: Rules, setup: Setup, form: Mapping[str, object]) -> dict[str, Any]:
        """Start it unless it exists and has not failed. Returns what `of` returns.

        Raises:
            Refused: there can be none.
        """
        if why := refusal(ADVISER, rules):
            raise Refused(why)
        id = _id(rules, setup, form)
        with self._lock:
            job = self._jobs.pop(id, None)
            if job is None or job.now in ("failed", "called off"):
                job = Job(lambda job: self._work(job, rules, setup, _from(form)), "advice")
            self._jobs[id] = job
            for old in list(self._jobs)[:-KEPT]:
                self._jobs.pop(old).call_off()
        return self.of(rules, setup, form)

    def _work(self, job: Job, rules: Rules, setup: Setup, id: str) -> None:
        """Keep the page in `job.result`."""
        while not self._busy.acquire(timeout=TURN):
            job.tell("waits for the advice that was asked for before")
        try:
            self._advise(job, rules, setup, id)
        finally:
            self._busy.release()

    def _advise(self, job: Job, rules: Rules, setup: Setup, id: str) -> None:
        job.tell(f"{ADVISER} is read")
        env, name = rules.env, rules.env.ruleset.name
        compiled = name in self._advisors
        advisor = self._advisors.get(name) or advice.Advisor.named(env, ADVISER)
        boards = advice.boards_of(env, setup)
        total = boards.games(ADVICE_GAMES)
        compiling = Compiling("set-up", ADVISER, name)
        job.tell("the games are dealt" if compiled else compiling.said, 0, total)

        def progress(ended: int) -> None:
            if name not in self._advisors:
                compiling.ended()
                self._advisors[name] = advisor
            job.tell("played out" if ended < total else "the page is made", ended, total)

        about = {"agent": ADVISER, "from": id}
        report = advice_page.advised(advisor, setup, boards, ADVICE_GAMES, about, progress)
        job.result = advice_page.page(report)


def _from(form: Mapping[str, object]) -> str:
    """The origin of a set-up, in the words of `training.analysis.given_setup`."""
    return "the form" if form.get("setup") is not None else f"seed {form.get('seed', 0)}"


def _id(rules: Rules, setup: Setup, form: Mapping[str, object]) -> str:
    """An id of a set-up and its origin, whatever factions are played."""
    setup_json = {**setup_to_dict(setup, rules.env.ruleset), "factions": None}
    text = json.dumps([rules.env.ruleset.name, _from(form), setup_json], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]

"""Advice on the set-up of a form: `training.advise` in the background.

Every game deals the factions of the players differently, so the advice does not depend on them.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from gaia_jax.render import svg
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Setup

from ..analysis import ADVICE_GAMES, advice, advice_report
from ..analysis.report_texts import phrase
from .advisers import Advisers, adviser_name, refusal
from .background import Job, JobPage, hold
from .compiled_rules import Rules
from .game import Refused
from .languages import translated

Form = Mapping[str, object]  # the origin of a set-up

MAX_PAGES = 32


class SetupAdvice:
    """The started advice, by set-up; one job runs at a time."""

    def __init__(self, advisers: Advisers):
        self._advisers = advisers
        self._jobs: dict[str, Job] = {}  # the latest start last
        self._lock, self._busy = threading.Lock(), threading.Lock()

    def of(self, rules: Rules, setup: Setup, form: Form) -> dict[str, Any]:
        """Status of the advice on a set-up.

        Args:
            form: the origin of the set-up.
        Returns:
            `id`; `refusal`, the reason why there is no advice, or ""; the fields of `Job.json`,
            with `status` "none" before the start.
        """
        id = _id(rules, setup, form)
        job = self.get(id)
        now = job.json() if job else {"status": "none"}
        return {"id": id, "refusal": translated(refusal(rules)), **now}

    def get(self, id: str) -> Job | None:
        """The job by the id of `of`; None before its start."""
        with self._lock:
            return self._jobs.get(id)

    def start(self, rules: Rules, setup: Setup, form: Form) -> dict[str, Any]:
        """Start the advice unless it exists and has not failed. Returns as `of`.

        Raises:
            Refused: the adviser does not play such games.
        """
        if reason := refusal(rules):
            raise Refused(reason)
        id = _id(rules, setup, form)
        with self._lock:
            job = self._jobs.pop(id, None)
            if job is None or job.now in ("failed", "called off"):
                job = Job(lambda job: self._work(job, rules, setup, form), "advice", True)
            self._jobs[id] = job
            for old in list(self._jobs)[:-MAX_PAGES]:
                self._jobs.pop(old).call_off()
        return self.of(rules, setup, form)

    def _work(self, job: Job, rules: Rules, setup: Setup, form: Form) -> None:
        """Set `job.result` to the `JobPage`."""
        with hold(self._busy, job, "waiting for earlier advice"):
            self._advise(job, rules, setup, form)

    def _advise(self, job: Job, rules: Rules, setup: Setup, form: Form) -> None:
        job.report(f"loading {adviser_name(rules)}")
        adviser = self._advisers.get(rules)
        boards = advice.boards_of(rules.env, setup)
        total = boards.num_games(ADVICE_GAMES)

        def progress(ended: int) -> None:
            job.report("played out" if ended < total else "writing the page", ended, total)

        factions = advice.design(boards, ADVICE_GAMES)
        with adviser.in_use(job.report):
            advisor = advice.Advisor(rules.env, adviser.agent, adviser.runner)
            job.report("dealing the games", 0, total)
            played = advisor.play(setup, factions, progress=progress)

        def page() -> str:
            about = {"agent": adviser.name, "from": _origin(form), "wanted": len(factions)}
            report = advice_report.build_report(rules.env, setup, played, boards, about)
            picture = svg(rules.start(setup), rules.env.ruleset)
            return advice_report.report_page(report, picture, _address(rules, form), is_served=True)

        job.result = JobPage(page)
        job.result.text()


def _origin(form: Form) -> str:
    """The origin of a set-up in words."""
    has_setup = form.get("setup") is not None
    return phrase("origin-form") if has_setup else phrase("origin-seed", n=form.get("seed", 0))


def _address(rules: Rules, form: Form) -> str:
    """The start form with this set-up, up to the faction of the first player; "" without a seed."""
    if form.get("setup") is not None:
        return ""
    link = {"seed": form.get("seed", 0), "ruleset": rules.env.id, "players": rules.env.num_players}
    link |= {key: form[key] for key in ("automa", "automa_faction") if form.get(key)}
    return f"/#{urlencode(link)}&factions="


def _id(rules: Rules, setup: Setup, form: Form) -> str:
    """An id of a set-up and its origin, independent of its factions."""
    setup_json = {**setup_to_dict(setup, rules.env.ruleset), "factions": None}
    seed = None if form.get("setup") is not None else form.get("seed", 0)
    text = json.dumps([rules.env.ruleset.name, seed, setup_json], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]

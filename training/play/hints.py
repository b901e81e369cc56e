"""Hints, checks of moves and reviews of a game at the table, by the playouts of an adviser.

A hint and a check share the playouts of their position (`analysis.position_analysis`). A hint at a
position that was played on also has the played move, which explains the decision.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gaia_jax.render import Table
from gaia_jax.render.names import faction_name, sources

from ..analysis import review, review_report
from ..analysis.action_words import cell_of, place_words, words_with_place
from ..analysis.attribution import by_source
from ..analysis.judge import estimate_loss
from ..analysis.position_analysis import PositionAnalysis
from ..analysis.recorded_game import Game as RecordedGame
from ..analysis.recorded_game import whole_moves
from .advisers import Adviser, Advisers, adviser_name
from .background import Job, JobPage, hold
from .compiled_rules import Rules
from .game import HUMAN, Game, Refused
from .languages import server_text

LINE_MOVES = 4  # of a line in words
NUM_REVIEW_PLAYOUTS = 8
MAX_POSITIONS = 4  # of a game with a hint or a check; one more cancels the oldest
MAX_CHECKS = 8  # of a position; one more cancels the oldest
# Verbs whose actions have a part of the table; a hint looks there first.
LOOK_AT = (
    "advance", "power", "qic", "upgrade", "form_federation", "ship", "explore", "artifact",
    "special", "tile", "advanced", "token", "booster", "pass", "leech", "income", "free", "piece",
)  # fmt: skip


@dataclass
class AnalysedPosition:
    """The analysis of a position of a game, and its jobs."""

    state: Any
    analysis: PositionAnalysis
    played: int = -1  # the action that the hint includes because it was played
    hint: Job | None = None
    checks: dict[tuple[str, ...], Job] = field(default_factory=dict)  # by the texts of the move
    num_running: int = 0  # of the checks

    def count_checks(self, change: int) -> None:
        """Count a check that starts or ends; while one runs, the hint ends early."""
        self.num_running += change
        self.analysis.is_hurried = self.num_running > 0

    def call_off(self) -> None:
        """Cancel its jobs."""
        for job in (self.hint, *self.checks.values()):
            if job:
                job.call_off()


class GameAnalyses:
    """Hints, checks and reviews of all games; a move cancels the hint and check before it."""

    def __init__(self, advisers: Advisers) -> None:
        self._advisers = advisers
        self._positions: dict[tuple[str, int], AnalysedPosition] = {}  # by game and node
        self._reviews: dict[str, tuple[list[int], Job]] = {}  # by game, with the line
        self._lock = threading.Lock()

    def start_hint(self, game: Game, at: int) -> None:
        """Start a hint for a position."""
        state = game.nodes[at].state
        adviser = self._advisers.get(game.rules)  # takes seconds, in which pages need the lock
        with self._lock:
            position, played = self._position(game, at, state, adviser), game.played_at(at)
            is_same = position.played == played
            if position.hint and position.hint.now in ("running", "ready") and is_same:
                return
            if position.hint:
                position.hint.call_off()
            position.played = played
            rules = game.rules

            def work(job: Job) -> None:
                waiting = hold(adviser.busy, job, "waiting for an earlier hint or check")
                with waiting, adviser.in_use(job.report):
                    position.analysis.suggest(partial(job.report, "played out"), played)
                    job.result = suggestions(rules, state, position.analysis, played)

            position.hint = Job(work, "hint", is_localized=True)

    def start_check(self, game: Game, texts: Sequence[str], at: int) -> None:
        """Check a move at a position, unless its check runs or is ready.

        Args:
            texts: of its decisions.
        Raises:
            Refused: one of them is not legal.
        """
        rules, state = game.rules, game.nodes[at].state
        actions = _legal_actions(rules, state, texts)
        adviser = self._advisers.get(rules)
        with self._lock:
            position = self._position(game, at, state, adviser)
            earlier = position.checks.get(tuple(texts))
            if earlier and earlier.now in ("running", "ready"):
                return

            def work(job: Job) -> None:
                try:
                    waiting = hold(adviser.busy, job, "waiting for the hint")
                    with waiting, adviser.in_use(job.report):
                        check = position.analysis.check(actions, partial(job.report, "played out"))
                finally:
                    with self._lock:
                        position.count_checks(-1)
                job.result = {
                    "actions": list(texts),
                    "warned": check.is_mistake,
                    "lost": check.loss.rounded,
                    "grade": check.loss.grade or "mistake",
                    "playouts": check.num_playouts,
                }

            position.count_checks(1)
            position.checks.pop(tuple(texts), None)
            position.checks[tuple(texts)] = Job(work, "check")
            for key in list(position.checks)[:-MAX_CHECKS]:
                position.checks.pop(key).call_off()

    def _position(self, game: Game, node: int, state: Any, adviser: Adviser) -> AnalysedPosition:
        """The analysis of a position of a game; only the latest of a game are held.

        Raises:
            Refused: the position has been taken back since its `state` was read.
        """
        if node >= len(game.nodes) or game.nodes[node].state is not state:
            raise Refused(f"this game has no position {node}")
        position = self._known(game, node)
        if position is None:
            analysis = PositionAnalysis(adviser.runner, state, game.rules.after)
            position = AnalysedPosition(state, analysis)
        self._positions.pop((game.id, node), None)
        self._positions[game.id, node] = position
        for key in [key for key in self._positions if key[0] == game.id][:-MAX_POSITIONS]:
            self._positions.pop(key).call_off()
        return position

    def _known(self, game: Game, node: int) -> AnalysedPosition | None:
        """The analysis of a position if there is one; removed positions leave their numbers."""
        position = self._positions.get((game.id, node))
        return position if position and position.state is game.nodes[node].state else None

    def hint(self, game: Game, at: int) -> dict[str, Any]:
        """The hint of a position: `status`, `candidates`, progress."""
        job = self._job(game, "hint", at)
        if job is None:
            return {"status": "none", "node": at, "candidates": []}
        nothing = {"candidates": [], "tried": 0, "nothing_near": ""}
        return {**job.json(), "node": at, **(job.result or nothing)}

    def check(self, game: Game, texts: Sequence[str], at: int) -> dict[str, Any]:
        """The check of a move at a position: `status`, progress, and `checked` at its end."""
        job = self._job(game, "check", at, texts)
        if job is None:
            return {"status": "none", "node": at, "checked": None}
        return {**job.json(), "node": at, "checked": job.result}

    def _job(self, game: Game, kind: str, at: int, texts: Sequence[str] = ()) -> Job | None:
        """The hint of a position or the check of a move there; None if there is none."""
        with self._lock:
            position = self._known(game, at)
            if position is None:
                return None
            return position.hint if kind == "hint" else position.checks.get(tuple(texts))

    def leave(self, game: Game, node: int) -> None:
        """Cancel the hint and the check of a position that is no longer the present one."""
        with self._lock:
            position = self._positions.pop((game.id, node), None)
        if position:
            position.call_off()

    def start_review(self, game: Game) -> None:
        """Start a review of the line of the game unless there is one; it ends that of another."""
        line, played = list(game.line), recorded_game(game)

        def work(job: Job) -> None:
            job.report(f"loading {adviser_name(game.rules)}")
            adviser = self._advisers.get(game.rules)
            progress = partial(job.report, "played out")
            with adviser.in_use(job.report):
                reviewed = review.review_game(
                    played, adviser.name, NUM_REVIEW_PLAYOUTS, 0, progress, adviser.runner
                )
            job.report("writing the page")
            job.result = JobPage(
                lambda: review_report.report_page(
                    played, review_report.build_report(reviewed), _links(game, line)
                )
            )
            job.result.text()

        with self._lock:
            reviewed, job = self._reviews.get(game.id, ([], None))
            if job and reviewed != line:
                job.call_off()
            if job is None or reviewed != line or job.now in ("failed", "called off"):
                self._reviews[game.id] = line, Job(work, "review", is_localized=True)

    def call_off(self, game: Game, kind: str, at: int, texts: Sequence[str] = ()) -> None:
        """Cancel the `hint`, the `check` or the `review`; a started compilation still finishes.

        Args:
            at: the position of a hint or check.
            texts: of the move of a check.
        """
        job = self.review_job(game) if kind == "review" else self._job(game, kind, at, texts)
        if job:
            job.call_off()

    def review_job(self, game: Game) -> Job | None:
        """The review of a game; None before it is started."""
        with self._lock:
            return self._reviews.get(game.id, ([], None))[1]

    def has_review(self, game: Game) -> bool:
        """Whether the review of a game is complete."""
        job = self.review_job(game)
        return job is not None and job.now == "ready"

    def forget(self, id: str) -> None:
        """Cancel everything about a game that has been closed."""
        with self._lock:
            keys = [key for key in self._positions if key[0] == id]
            positions = [self._positions.pop(key) for key in keys]
            _, job = self._reviews.pop(id, ([], None))
        for position in positions:
            position.call_off()
        if job:
            job.call_off()


def recorded_game(game: Game) -> RecordedGame:
    """The line of a game as analyses read it."""
    nodes = [game.nodes[id] for id in game.line]
    actions = [node.action for node in nodes[1:]]
    return RecordedGame(game.rules.env, [node.state for node in nodes], actions)


def _links(game: Game, line: Sequence[int]) -> review_report.PageLinks:
    """The addresses of a game and of the positions of a line at the table.

    Args:
        line: numbers of its positions.
    """
    address = f"/#{game.id}"
    positions = {decision: f"{address}@{id}" for decision, id in enumerate(line, 1)}
    seat = game.seats.index(HUMAN) if HUMAN in game.seats else None
    return review_report.PageLinks(address, positions, seat)


def _legal_actions(rules: Rules, state: Any, texts: Sequence[str]) -> list[int]:
    """The actions of a move.

    Raises:
        Refused: one of them is not legal.
    """
    actions = list[int]()
    for text in texts:
        state = rules.after(state, actions[-1]) if actions else state
        if text not in rules.legal(state):
            raise Refused(f"{text!r} is not legal here")
        actions.append(rules.index(text))
    return actions


def suggestions(
    rules: Rules, state: Any, analysis: PositionAnalysis, played: int = -1
) -> dict[str, Any]:
    """The best candidate, the alternatives near it and the played move, in words.

    Args:
        played: the action that was played; -1 for none.
    Returns:
        `candidates`, the best first; `tried`, the number of plans that were played out;
        `nothing_near`, a sentence where there are fewer than two alternatives, or "".
    """
    best, *others = analysis.candidates
    near = analysis.alternatives()
    nothing_near = ""
    if len(near) < 2:
        further = [action for action in others if action not in near]
        lost = round(analysis.losses(further[0], best).mean) if further else 0
        phrase = "nothing-near-next" if further else "nothing-near-none"
        nothing_near = server_text(phrase, n=len(others) + 1, vp=lost)
    compared = others[0] if others else None
    listed = [best, *near]
    plan = analysis.plan_of(played)
    listed += [plan] * (plan >= 0 and plan not in listed)
    return {
        "candidates": [
            _suggestion(rules, state, analysis, action, compared if action == best else best)
            | {"played": action == plan}
            for action in listed
        ],
        "tried": len(others) + 1,
        "nothing_near": nothing_near,
    }


def _suggestion(
    rules: Rules, state: Any, analysis: PositionAnalysis, action: int, compared: int | None
) -> dict[str, Any]:
    """A candidate in words.

    Args:
        compared: the candidate to compare it with; None if there is no other.
    Returns:
        `place`, where to look; `text` and `words` of the action; `orders`, in words, other first
        actions of the same plan; `why`, VP by source compared with the other candidate, the
        largest first; `vp`, `lost` and their intervals; `line`, moves that follow.
    """
    table, best = rules.table(state), analysis.candidates[0]
    ends = analysis.ends([action] if compared is None else [action, compared])
    by_kind = ends.sources[:, :, analysis.seat].mean(1)
    names = sources(table.ruleset, table.final_missions)
    own_vp = ends.vp[0, :, analysis.seat]
    own, loss = estimate_loss(own_vp, np.zeros_like(own_vp)), analysis.losses(action, best)
    median = ends.moves[0, int(np.argsort(own_vp, kind="stable")[len(own_vp) // 2])]
    text = rules.text(action)
    return {
        "text": text,
        "place": _where(table, text),
        "words": words_with_place(table, text),
        "orders": [words_with_place(table, rules.text(x)) for x in analysis.orders_of(action)],
        "why": by_source(rules.env.ruleset, by_kind[0] - by_kind[-1], names),
        "vp": own.rounded,
        "lost": loss.rounded,
        "grade": loss.grade,
        "playouts": len(own_vp),
        "line": _line(rules, state, action, median),
    }


def _where(table: Table, text: str) -> str:
    """The place of an action on the table."""
    cell = cell_of(table, text)
    if cell >= 0:
        return server_text("look-map", part=place_words(table, cell))
    verb = text.split()[0]
    return server_text(f"look-{verb if verb in LOOK_AT else 'moves'}")


def _line(rules: Rules, state: Any, first: int, actions: Sequence[int] | np.ndarray) -> list[str]:
    """The moves after an action, in words, each with its faction."""
    out = []
    moves = (first, *(int(x) for x in actions[:LINE_MOVES]))
    for number, (action, after) in enumerate(whole_moves(rules.env, rules.after, state, moves)):
        if number and rules.text(action) != "end_turn":
            table = rules.table(state)
            words = rules.action_words(rules.text(action), table)
            out.append(f"{faction_name(table.faction(table.player))}: {words}")
        state = after
    return out

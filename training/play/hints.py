"""Hints and reviews of a game at the table, by the playouts of `training.review`.

A hint plays the most likely actions of a position out with the same random numbers, with the agent
at all seats.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.env import State

from ..agents import make_agent
from ..agents.registry import plays
from ..analysis import ADVISER, review, review_report
from ..analysis.judge import (
    LINE_LENGTH,
    MAX_CANDIDATES,
    estimate_loss,
    make_comparison,
    policy_probabilities,
)
from ..analysis.playouts import Playouts, jobs_of
from ..analysis.recorded_game import Game as RecordedGame
from ..analysis.recorded_game import whole_moves
from .background import Job
from .compiled_rules import Rules
from .game import Game

ROUND = 8  # playouts of each candidate between two updates of the page
ROUNDS = 4
LINE_MOVES = 4  # of a line in words
NUM_REVIEW_PLAYOUTS = 8
COMPILING_PLAYOUTS = "getting ready to play the {} out, once"


class Adviser:
    """The playouts of one agent for one ruleset; the first hint compiles them."""

    _compiled = False

    def __init__(self, rules: Rules, name: str = ADVISER):
        self.rules, self.name = rules, name
        self._agent = make_agent(name, rules.env)
        self._busy = threading.Lock()  # a cancelled hint ends first
        self._runner = Playouts(
            rules.env, self._agent, moves=LINE_LENGTH, slots=MAX_CANDIDATES * ROUND
        )

    def candidates(self, state: State) -> np.ndarray:
        """(K,) legal actions, most likely first, chosen as in a review."""
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        probabilities = policy_probabilities(self._agent, states)[0]
        likeliest, seat = int(probabilities.argmax()), int(state.current_player)
        return make_comparison(0, seat, likeliest, probabilities).candidates

    def judge(self, state: State, job: Job) -> None:
        """Set `job.result` to the suggestions, after each round of playouts."""
        if self._busy.locked():
            job.report("waiting until a cancelled hint has been compiled")
        with self._busy:
            self._judge(state, job)

    def _judge(self, state: State, job: Job) -> None:
        job.report("choosing likely moves")
        actions, seat = self.candidates(state), int(state.current_player)
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        total = len(actions) * ROUND * ROUNDS
        vp = np.empty((len(actions), 0), int)
        moves = np.empty((len(actions), 0, LINE_LENGTH), int)
        before = 0

        def progress(ended: int) -> None:
            self._compiled = True
            job.report("played out", before + ended, total)

        for number in range(ROUNDS):
            before = number * len(actions) * ROUND
            compiling = COMPILING_PLAYOUTS.format("moves")
            job.report("played out" if self._compiled else compiling, before, total)
            jobs = jobs_of([actions], ROUND, number * ROUND)
            ends = self._runner.play(states, jobs, 0, progress, MAX_CANDIDATES * ROUND)
            new = ends.vp[:, seat].reshape(len(actions), ROUND)
            vp = np.concatenate([vp, new], 1)
            line = ends.moves.reshape(len(actions), ROUND, -1)
            moves = np.concatenate([moves, line], 1)
            job.result = self._suggestions(state, actions, vp, moves)

    def _suggestions(
        self, state: State, actions: np.ndarray, vp: np.ndarray, moves: np.ndarray
    ) -> list[dict[str, Any]]:
        """The candidates in words, best first.

        Args:
            actions: (K,). vp: (K, n) of the decider at the end. moves: (K, n, M) later actions.
        """
        rules, means, table = self.rules, vp.mean(1), self.rules.table(state)
        best = int(means.argmax())
        texts = rules.env.ruleset.actions.texts
        suggestions = []
        for i in np.argsort(-means, kind="stable"):
            own, loss = estimate_loss(vp[i], np.zeros_like(vp[i])), estimate_loss(vp[best], vp[i])
            median = moves[i, int(np.argsort(vp[i], kind="stable")[vp.shape[1] // 2])]
            text = texts[int(actions[i])]
            suggestions.append(
                {
                    "text": text,
                    "words": rules.action_words(text, table),
                    "vp": [round(x, 1) for x in (own.mean, own.low, own.high)],
                    "lost": [round(x, 1) for x in (loss.mean, loss.low, loss.high)],
                    "grade": loss.grade,
                    "playouts": vp.shape[1],
                    "line": self._line(state, int(actions[i]), median),
                }
            )
        return suggestions

    def _line(self, state: State, first: int, actions: Sequence[int] | np.ndarray) -> list[str]:
        """The moves after an action, in words, each with its faction."""
        rules, out = self.rules, []
        moves = (first, *(int(x) for x in actions[:LINE_MOVES]))
        for number, (action, after) in enumerate(whole_moves(rules.env, rules.after, state, moves)):
            if number and rules.text(action) != "end_turn":
                table = rules.table(state)
                words = rules.action_words(rules.text(action), table)
                out.append(f"{table.faction(table.player).name}: {words}")
            state = after
        return out


def refusal(agent: str, rules: Rules) -> str:
    """The reason why an agent gives no advice on such games; "" if it does."""
    reason = plays(agent).refusal(rules.env.id, rules.env.num_players)
    return f"{agent} {reason}" if reason else ""


class Hint(NamedTuple):
    """The hint of one position."""

    node: int
    job: Job


class Advice:
    """Hints and reviews of all games: one hint at a time, cancelled where the position changes."""

    def __init__(self) -> None:
        self._advisers: dict[str, Adviser] = {}
        self._hints: dict[str, Hint] = {}  # by game
        self._reviews: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start_hint(self, game: Game, at: int | None = None) -> None:
        """Start a hint for a position, by default the present one; cancel all others."""
        node = game.now if at is None else at
        state = game.nodes[node].state
        with self._lock:
            for id, hint in list(self._hints.items()):
                if id == game.id and hint.node == node and hint.job.now in ("running", "ready"):
                    return
                hint.job.call_off()
                del self._hints[id]

            def work(job: Job) -> None:
                job.report("reading the game")
                name = game.rules.env.ruleset.name
                if name not in self._advisers:
                    self._advisers[name] = Adviser(game.rules)
                self._advisers[name].judge(state, job)

            self._hints[game.id] = Hint(node, Job(work, "hint"))

    def hint(self, game: Game, at: int | None = None) -> dict[str, Any]:
        """The hint of a position, by default the present one: `status`, `candidates`, progress."""
        node = game.now if at is None else at
        with self._lock:
            hint = self._hints.get(game.id)
            if hint and hint.node != node:
                hint.job.call_off()
                del self._hints[game.id]
                hint = None
        if hint is None:
            return {"status": "none", "node": node, "candidates": []}
        return {**hint.job.json(), "node": hint.node, "candidates": hint.job.result or []}

    def start_review(self, game: Game) -> None:
        """Start a review of the line in view unless there is one."""
        line = list(game.line)
        states = [game.nodes[id].state for id in line]
        actions = [game.nodes[id].action for id in line[1:]]

        def work(job: Job) -> None:
            job.report(f"loading {ADVISER}")
            played = RecordedGame(game.rules.env, states, actions)
            job.report(COMPILING_PLAYOUTS.format("game"))
            progress = partial(job.report, "played out")
            reviewed = review.review_game(played, ADVISER, NUM_REVIEW_PLAYOUTS, 0, progress)
            job.report("writing the page")
            job.result = review_report.report_page(played, review_report.build_report(reviewed))

        with self._lock:
            cached = self._reviews.get(game.id)
            if cached is None or cached.now in ("failed", "called off"):
                self._reviews[game.id] = Job(work, "review")

    def call_off(self, game: Game, kind: str) -> None:
        """Cancel the `hint` or the `review`; a started compilation still finishes."""
        with self._lock:
            hint = self._hints.get(game.id)
            job = self._reviews.get(game.id) if kind == "review" else hint and hint.job
            if job:
                job.call_off()

    def review_job(self, game: Game) -> Job | None:
        """The review of a game; None before it is started."""
        with self._lock:
            return self._reviews.get(game.id)

    def forget(self, id: str) -> None:
        """Cancel everything about a game that has been closed."""
        with self._lock:
            hint, job = self._hints.pop(id, None), self._reviews.pop(id, None)
        for pending in (hint.job if hint else None, job):
            if pending:
                pending.call_off()

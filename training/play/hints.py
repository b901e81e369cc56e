"""Hints and reviews of a game at the table, by the playouts that `training.review` judges with.

A hint plays the likeliest actions of a position out, all on the same luck, the agent at all seats.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.env import State

from ..agents import make_agent
from ..agents.plays import plays
from ..analysis import ADVISER, explain, review, review_page
from ..analysis.accuracy import paired
from ..analysis.judge import LINE, MOST, question
from ..analysis.playouts import Playouts, jobs_of, whole_moves
from ..analysis.position import probabilities
from ..system import compile_times
from .background import Job
from .compiled_rules import Rules
from .game import Game

ROUND = 8  # playouts of each candidate between two updates of the page
ROUNDS = 4
SHOWN = 4  # moves of a line in words
REVIEW_PLAYOUTS = 8


class Adviser:
    """One agent's playouts for one ruleset; compiled at the first hint."""

    _compiled = False

    def __init__(self, rules: Rules, name: str = ADVISER):
        self.rules, self.name = rules, name
        self._agent = make_agent(name, rules.env)
        self._busy = threading.Lock()  # one that is called off ends first
        self._playouts = Playouts(rules.env, self._agent, moves=LINE, slots=MOST * ROUND)

    def candidates(self, state: State) -> np.ndarray:
        """(K,) legal actions, most likely first, as a review chooses them."""
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        chance = probabilities(self._agent, states)[0]
        return question(0, int(state.current_player), int(chance.argmax()), chance).candidates

    def judge(self, state: State, job: Job) -> None:
        """Keep in `job.result` what is known of the candidates, again after each round."""
        if self._busy.locked():
            job.tell("what was called off is still being compiled, and waited for")
        with self._busy:
            self._judge(state, job)

    def _judge(self, state: State, job: Job) -> None:
        job.tell("likely moves are looked for")
        actions, seat = self.candidates(state), int(state.current_player)
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        total = len(actions) * ROUND * ROUNDS
        vp = np.empty((len(actions), 0), int)
        moves = np.empty((len(actions), 0, LINE), int)
        before = 0

        def progress(ended: int) -> None:
            compiling.ended()
            self._compiled = True
            job.tell("played out", before + ended, total)

        compiling = Compiling("moves", self.name, self.rules.env.ruleset.name)
        for number in range(ROUNDS):
            before = number * len(actions) * ROUND
            job.tell("played out" if self._compiled else compiling.said, before, total)
            jobs = jobs_of([actions], ROUND, number * ROUND)
            ends = self._playouts.play(states, jobs, 0, progress, MOST * ROUND)
            new = ends.vp[:, seat].reshape(len(actions), ROUND)
            vp = np.concatenate([vp, new], 1)
            line = ends.moves.reshape(len(actions), ROUND, -1)
            moves = np.concatenate([moves, line], 1)
            job.result = self._suggestions(state, actions, vp, moves)

    def _suggestions(
        self, state: State, actions: np.ndarray, vp: np.ndarray, moves: np.ndarray
    ) -> list[dict[str, Any]]:
        """The candidates in words, the best first.

        Args:
            actions: (K,). vp: (K, n) of the decider at the end. moves: (K, n, M) later actions.
        """
        rules, means, table = self.rules, vp.mean(1), self.rules.table(state)
        best = int(means.argmax())
        texts = rules.env.ruleset.actions.texts
        suggestions = []
        for i in np.argsort(-means, kind="stable"):
            own, lost = paired(vp[i], np.zeros_like(vp[i])), paired(vp[best], vp[i])
            median = moves[i, int(np.argsort(vp[i], kind="stable")[vp.shape[1] // 2])]
            text = texts[int(actions[i])]
            suggestions.append(
                {
                    "text": text,
                    "words": rules.say(text, table),
                    "vp": [round(x, 1) for x in (own.mean, own.low, own.high)],
                    "lost": [round(x, 1) for x in (lost.mean, lost.low, lost.high)],
                    "grade": lost.grade,
                    "playouts": vp.shape[1],
                    "line": self._line(state, int(actions[i]), median),
                }
            )
        return suggestions

    def _line(self, state: State, first: int, actions: Sequence[int] | np.ndarray) -> list[str]:
        """What follows an action, in words, each with who."""
        rules, out = self.rules, []
        moves = (first, *(int(x) for x in actions[:SHOWN]))
        for number, (action, after) in enumerate(whole_moves(rules.env, rules.after, state, moves)):
            if number and rules.text(action) != "end_turn":
                table = rules.table(state)
                words = rules.say(rules.text(action), table)
                out.append(f"{table.faction(table.player).name}: {words}")
            state = after
        return out


class Compiling:
    """The playouts of a hint or a review on their way to the first stride, which compiles them.

    `what`: what is played out, in words.
    """

    def __init__(self, task: str, agent: str, ruleset: str):
        key = f"playouts of {agent} of {task} for {ruleset}"
        self._key, self._began = key, time.monotonic()
        self._going = True
        estimate = compile_times.longest_note(self._key)
        self.said = f"getting ready to play the {task} out, once{estimate}"

    def ended(self) -> None:
        """The first stride is done: how long it took is kept."""
        if self._going:
            compile_times.note(self._key, time.monotonic() - self._began)
        self._going = False


def refusal(agent: str, rules: Rules) -> str:
    """Why an agent gives no advice on such games; "" where it does."""
    why = plays(agent).refusal(rules.env.id, rules.env.num_players)
    return f"{agent} {why}" if why else ""


class Hint(NamedTuple):
    """What is being found of one position."""

    node: int
    job: Job


class Advice:
    """Hints and reviews of all games: one hint at a time, cancelled where the position changes."""

    def __init__(self) -> None:
        self._advisers: dict[str, Adviser] = {}
        self._hints: dict[str, Hint] = {}  # by game
        self._reviews: dict[str, Job] = {}
        self._lock = threading.Lock()

    def refusal(self, rules: Rules) -> str:
        """Why there is no advice for a ruleset; "" where there is."""
        return refusal(ADVISER, rules)

    def ask(self, game: Game) -> None:
        """Begin a hint for the present position; those of others are called off."""
        node, state = game.now, game.nodes[game.now].state
        with self._lock:
            for id, hint in list(self._hints.items()):
                if id == game.id and hint.node == node and hint.job.now in ("running", "ready"):
                    return
                hint.job.call_off()
                del self._hints[id]

            def work(job: Job) -> None:
                job.tell("the game is read")
                name = game.rules.env.ruleset.name
                if name not in self._advisers:
                    self._advisers[name] = Adviser(game.rules)
                self._advisers[name].judge(state, job)

            self._hints[game.id] = Hint(node, Job(work, "hint"))

    def hint(self, game: Game) -> dict[str, Any]:
        """What is known of the present position: `status`, `candidates` and progress."""
        with self._lock:
            hint = self._hints.get(game.id)
            if hint and hint.node != game.now:
                hint.job.call_off()
                del self._hints[game.id]
                hint = None
        if hint is None:
            return {"status": "none", "node": game.now, "candidates": []}
        return {**hint.job.json(), "node": hint.node, "candidates": hint.job.result or []}

    def review(self, game: Game) -> None:
        """Start a review of the line in view unless it has one."""
        line = list(game.line)
        states = [game.nodes[id].state for id in line]
        actions = [game.nodes[id].action for id in line[1:]]

        def work(job: Job) -> None:
            job.tell(f"{ADVISER} is read")
            reviewer = review.Reviewer(game.rules.env, ADVISER, REVIEW_PLAYOUTS)
            played = explain.Game(game.rules.env, states, actions)
            positions, questions = reviewer.ask(played)
            total = reviewer.total(questions)
            compiling = Compiling("game", ADVISER, game.rules.env.ruleset.name)
            job.tell(compiling.said, 0, total)

            def progress(ended: int) -> None:
                compiling.ended()
                job.tell("played out", ended, total)

            about = reviewer.review(played, positions, questions, 0, progress)
            job.tell("the page is made", total, total)
            job.result = review_page.page(played, about)

        with self._lock:
            cached = self._reviews.get(game.id)
            if cached is None or cached.now in ("failed", "called off"):
                self._reviews[game.id] = Job(work, "review")

    def call_off(self, game: Game, kind: str) -> None:
        """Cancel the `hint` or the `review`; a compilation that has started is finished."""
        with self._lock:
            hint, job = self._hints.get(game.id), self._reviews.get(game.id)
            job_to_cancel = (
                hint.job if kind == "hint" and hint else job if kind == "review" else None
            )
            if job_to_cancel:
                job_to_cancel.call_off()

    def reviewed(self, game: Game) -> Job | None:
        """The review of a game, None where none has been asked for."""
        with self._lock:
            return self._reviews.get(game.id)

    def forget(self, id: str) -> None:
        """A game is gone."""
        with self._lock:
            hint, job = self._hints.pop(id, None), self._reviews.pop(id, None)
        for pending in (hint.job if hint else None, job):
            if pending:
                pending.call_off()

"""Verify puzzles with a stronger agent.

A puzzle's answer may look best only because the agent that made the puzzle plays the other
candidates badly. `PuzzleVerifier` replays every candidate with a stronger agent (usually a search)
at the deciding seat, in both orders (`candidates`), and keeps the puzzle only if the answer still
leads. It also replays the other legal moves that the weaker agent does best with: none may have
more VP than the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, make_agent, sha256_of
from ..system import cli
from ..system.cli import UserError
from ..types import EnvState, Params
from .accuracy import paired
from .candidates import CandidatePlayer, Line, Results, Trial
from .judge import Question
from .puzzles import CLEAR, CONVERSION, positions, select
from .review import Plain, loss_json

PLAYOUTS = 12  # of each candidate
RIVALS, RIVAL_PLAYOUTS = 8, 6  # other legal moves for the stronger agent, and playouts of each
GLANCES = 8  # playouts of every other legal move by the weaker agent
CHUNK = 16  # puzzles of one seat that are verified together
FIRST = 1 << 17  # number of the first playout: luck that made no puzzle
SLOTS = 128  # searches at the same time on each device

Position = tuple[int, Plain, State]  # the number of a puzzle, the puzzle, its state


class PuzzleVerifier:
    """Replays puzzles with a stronger agent at the deciding seat; compiled once."""

    def __init__(self, env: GaiaEnv, name: str, stronger: str):
        """
        Args:
            name: of the agent that made the puzzles. stronger: of the agent at the deciding seat.
        Raises:
            UserError: an unknown agent.
        """
        self._env, self._stronger = env, stronger
        base, other = make_agent(name, env), make_agent(stronger, env)
        self._base = CandidatePlayer(env, base)
        self._player = CandidatePlayer(env, with_stronger_seat(base, other), SLOTS)

    def verify(self, collection: Plain) -> tuple[Plain, bool]:
        """The verified puzzles, each with the VP and lines of the stronger agent.

        Returns:
            The collection, and whether all puzzles were replayed; Ctrl-C keeps those verified.
        Raises:
            UserError: a game does not play, or the agent of the puzzles has changed.
            KeyboardInterrupt: no puzzles have been replayed.
        """
        agent, count = collection["agent"], len(collection["puzzles"])
        if collection["sha256"] != sha256_of(agent):
            raise UserError(
                f"these puzzles were made by an older version of {agent}; rebuild them with --again"
            )
        verified, done = dict[int, Plain](), 0

        def status() -> str:
            playouts = self._base.num_played + self._player.num_played
            return f"verified {done} of {count} puzzles, {playouts} playouts"

        try:
            with cli.status_line(status):
                puzzles = list(positions(collection))
                for seat in range(self._env.num_players):
                    own = [position for position in puzzles if position[1]["player"] == seat]
                    for start in range(0, len(own), CHUNK):
                        verified |= self.verify_seat(own[start : start + CHUNK])
                        done += len(own[start : start + CHUNK])
        except KeyboardInterrupt:
            if not done:
                raise
        updated = [verified.get(n, puzzle) for n, puzzle in enumerate(collection["puzzles"])]
        collection = collection | {"puzzles": updated}
        names = {"held_by": [self._stronger]}
        return select(collection, sorted(verified), names), done == count

    def verify_seat(self, chunk: Sequence[Position]) -> dict[int, Plain]:
        """The verified ones of some puzzles of one seat, by number.

        Raises:
            KeyboardInterrupt: not all playouts have ended.
        """
        agent = self._player.playouts.agent
        seat = jnp.int32(chunk[0][1]["player"])
        params = agent.params | {"seat": seat}
        self._player.playouts.agent = agent._replace(params=params)
        trials = [trial_of(n, puzzle, state) for n, (_, puzzle, state) in enumerate(chunk)]

        def leads(trial: Trial) -> bool:
            return is_verified(trial, chunk[trial.number][1]["answer"]["action"])

        trials = self._player.try_both_ways(trials, PLAYOUTS, FIRST, leads)
        rivals = self._rivals(trials)
        results = self._player.play(trials, rivals, RIVAL_PLAYOUTS, FIRST)
        verified = {}
        for trial, lines, result in zip(trials, rivals, results, strict=True):
            number, puzzle, _ = chunk[trial.number]
            summary = self._summary(trial, lines, result)
            if summary.get("rival", {"less": 0})["less"] >= 0:
                verified[number] = self._updated(puzzle, trial, summary)
        return verified

    def _rivals(self, trials: Sequence[Trial]) -> list[list[Line]]:
        """The other legal moves that the weaker agent does best with, each in its better way."""
        lines, rivals = list[list[Line]](), list[list[Line]]()
        for trial in trials:
            plans = trial.plans(self._player.last_pass)
            others = self._others(trial)
            lines.append([line for a in others for line in (Line(a), Line(a, plans))])
        glances = self._base.play(trials, lines, GLANCES, FIRST)
        for trial, own, results in zip(trials, lines, glances, strict=True):
            means = results.vp[:, :, trial.question.seat].mean(1) if own else np.empty(0)
            worst_first = [own[k] for k in np.argsort(-means, kind="stable")[::-1]]
            better_way = {line.action: line for line in worst_first}
            ranked = dict.fromkeys(line.action for line in reversed(worst_first))
            rivals.append([better_way[action] for action in ranked][:RIVALS])
        return rivals

    def _others(self, trial: Trial) -> list[int]:
        """The legal moves that are no candidates; conversions only begin a move."""
        texts, tried = self._env.ruleset.actions.texts, set(trial.question.candidates.tolist())
        legal = np.flatnonzero(np.asarray(trial.state.legal_action_mask)).tolist()
        return [a for a in legal if a not in tried and not texts[a].startswith(CONVERSION)]

    def _summary(self, trial: Trial, rivals: Sequence[Line], results: Results) -> Plain:
        """The key "held" of a puzzle: how far the answer leads, and the nearest other move."""
        summary: Plain = {
            "by": self._stronger,
            "playouts": PLAYOUTS,
            "loss": loss_json(paired(trial.own[trial.best], trial.own[0]), 1),
            "ahead": int((trial.leads > 0).sum()),
        }
        if not rivals:
            return summary
        means = results.vp[:, :, trial.question.seat].mean(1)
        answer, best = trial.own[trial.best, :RIVAL_PLAYOUTS].mean(), int(np.argmax(means))
        rival = {
            "text": self._env.ruleset.actions.texts[rivals[best].action],
            "vp": round(float(means[best]), 1),
            "less": round(float(answer - means[best]), 1),
            "moves": len(self._others(trial)),
        }
        return summary | {"rival": rival}

    def _updated(self, puzzle: Plain, trial: Trial, summary: Plain) -> Plain:
        """A puzzle with the results and lines of the stronger agent."""
        by_action, candidates = trial.candidates_json(self._env), []
        for candidate in puzzle["candidates"]:
            results = by_action[candidate["action"]]
            line = results.pop("line")
            candidates.append(candidate | {"held": results, "line": line})
        return puzzle | {"held": summary, "candidates": candidates}


def trial_of(number: int, puzzle: Plain, state: State) -> Trial:
    """A trial of a puzzle's candidates, the choice that the answer beats first."""
    beaten = puzzle["policy"]["action"]
    actions = [candidate["action"] for candidate in puzzle["candidates"]]
    ordered = np.array([beaten, *(action for action in actions if action != beaten)], int)
    return Trial(number, state, Question(0, puzzle["player"], ordered, np.empty(0)))


def is_verified(trial: Trial, answer: int) -> bool:
    """Whether an answer leads each other candidate by CLEAR VP, and all in half of the games."""
    means = np.sort(trial.own.mean(1))
    beats = paired(trial.own[trial.best], trial.own[0]).low > 0
    is_clear = round(float(means[-1] - means[-2]), 1) >= CLEAR
    is_often_ahead = 2 * (trial.leads > 0).sum() >= len(trial.leads)
    return bool(trial.answer == answer and beats and is_clear and is_often_ahead)


def with_stronger_seat(base: Agent, other: Agent) -> Agent:
    """An agent that decides as `other` at one seat and as `base` at all others.

    Its parameters are those of both, and "seat" () int32.
    """

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        action = base.act(params["base"], state, mask, key if base.by_game else key[0])
        is_own = (state.current_player == params["seat"]) & ~(state.terminated | state.truncated)
        # At all other seats `other` gets one legal action, so that a search spends nothing there.
        single = jnp.arange(mask.shape[1]) == action[:, None]
        masked = jnp.where(is_own[:, None], mask, single)
        keys = key if other.by_game else key[0]
        stronger = other.act(params["other"], state, masked, keys)
        return jnp.where(is_own, stronger, action).astype(jnp.int32)

    return Agent("verifier", act, {"base": base.params, "other": other.params}, by_game=True)

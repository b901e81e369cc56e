"""Verify puzzles with a stronger agent.

A puzzle's answer may look best only because the agent that made the puzzle plays the other
candidates badly. `PuzzleVerifier` replays every candidate with a stronger agent (usually a search)
at the deciding seat, with and without the plan of the answer (`trials`), and keeps the puzzle only
if the answer still leads. It also replays the rivals, the other legal moves with the most VP for
the weaker agent: none may come within MIN_LEAD_OVER_RIVALS VP of the answer (`races`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, make_agent, sha256_of
from ..types import EnvState, JsonObject, Params
from .judge import Comparison, estimate_loss
from .playouts import Candidates
from .puzzles import MIN_LEAD_OVER_OTHERS, replay_positions, select_puzzles
from .races import MIN_LEAD_OVER_RIVALS, other_moves
from .review_report import loss_json
from .trials import CandidatePlayer, Trial

FIRST = 1 << 17  # number of the first playout: the random numbers made no puzzle
SAMPLES = range(FIRST, FIRST + 12)  # of each candidate
NUM_RIVALS = 8  # other legal moves that the stronger agent plays out
RIVAL_SAMPLES = range(FIRST, FIRST + 6)  # of each of them
SCREENING_SAMPLES = range(FIRST, FIRST + 8)  # of every other legal move by the weaker agent
CHUNK = 16  # puzzles of one seat that are verified together

Position = tuple[int, JsonObject, State]  # the number of a puzzle, the puzzle, its state


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
        self._player = CandidatePlayer(env, with_stronger_seat(base, other))

    def verify(self, collection: JsonObject) -> tuple[JsonObject, bool]:
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
        verified, done = dict[int, JsonObject](), 0

        def status() -> str:
            playouts = self._base.num_played + self._player.num_played
            return f"verified {done} of {count} puzzles, {playouts} playouts"

        try:
            with status_line(status):
                puzzles = list(replay_positions(collection))
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
        return select_puzzles(collection, sorted(verified), names), done == count

    def verify_seat(self, chunk: Sequence[Position]) -> dict[int, JsonObject]:
        """Verify puzzles of one seat; the puzzles that pass, by number.

        Raises:
            KeyboardInterrupt: not all playouts have ended.
        """
        agent, seat = self._player.runner.agent, chunk[0][1]["player"]
        params = agent.params | {"seat": jnp.int32(seat)}
        self._player.runner.agent = agent._replace(params=params)
        trials = [make_trial(n, puzzle, state) for n, (_, puzzle, state) in enumerate(chunk)]

        def is_still_leading(trial: Trial) -> bool:
            return is_verified(trial, chunk[trial.number][1]["answer"]["action"])

        trials = self._player.try_candidates(trials, SAMPLES, is_still_leading, with_plans=True)
        rivals = self._choose_rivals(trials)
        states = {trial.number: trial.state for trial in trials}
        rival_vp: dict[int, dict[int, float]] = {trial.number: {} for trial in trials}
        for own, end in zip(rivals, self._player.play(states, rivals), strict=True):
            means = end.vp[:, :, seat].mean(1).tolist()
            rival_vp[own.position] |= zip(own.actions, means, strict=True)
        verified = {}
        for trial in trials:
            number, puzzle, _ = chunk[trial.number]
            summary = self._held_summary(trial, rival_vp[trial.number])
            has_near_rival = "rival" in summary and summary["rival"]["less"] < MIN_LEAD_OVER_RIVALS
            if not has_near_rival:
                verified[number] = self._with_results(puzzle, trial, summary)
        return verified

    def _choose_rivals(self, trials: Sequence[Trial]) -> list[Candidates]:
        """The other legal moves with the most VP for the weaker agent.

        It tries each of them without and with the plan of the answer; the better one counts.
        """
        trials = [trial for trial in trials if self._other_moves(trial)]
        candidates, rivals = list[Candidates](), list[Candidates]()
        for trial in trials:
            plain = Candidates(trial.number, self._other_moves(trial), SCREENING_SAMPLES)
            candidates += [plain, plain._replace(plans=trial.plans(self._player.last_pass))]
        ends = self._base.play({trial.number: trial.state for trial in trials}, candidates)
        pairs = zip(candidates[1::2], ends[::2], ends[1::2], strict=True)
        for trial, (planned, *both) in zip(trials, pairs, strict=True):
            without, with_plan = (end.vp[:, :, trial.comparison.seat].mean(1) for end in both)
            for k in np.argsort(-np.maximum(without, with_plan), kind="stable")[:NUM_RIVALS]:
                plans = planned.plans if with_plan[k] > without[k] else ()
                rivals.append(Candidates(trial.number, [planned.actions[k]], RIVAL_SAMPLES, plans))
        return rivals

    def _other_moves(self, trial: Trial) -> list[int]:
        """The legal moves that are no candidates."""
        return other_moves(self._env, trial.state, trial.comparison.candidates.tolist())

    def _held_summary(self, trial: Trial, rival_vp: Mapping[int, float]) -> JsonObject:
        """The value of "held" of a puzzle: how far the answer leads, and the best rival."""
        summary: JsonObject = {
            "by": self._stronger,
            "playouts": len(SAMPLES),
            "loss": loss_json(estimate_loss(trial.seat_vp[trial.best_row], trial.seat_vp[0]), 1),
            "ahead": int((trial.lead_by_game > 0).sum()),
        }
        if not rival_vp:
            return summary
        action, vp = max(rival_vp.items(), key=lambda item: item[1])
        answer = float(trial.seat_vp[trial.best_row, : len(RIVAL_SAMPLES)].mean())
        rival = {
            "text": self._env.ruleset.actions.texts[action],
            "vp": round(vp, 1),
            "less": round(answer - vp, 1),
            "moves": len(self._other_moves(trial)),
        }
        return summary | {"rival": rival}

    def _with_results(self, puzzle: JsonObject, trial: Trial, summary: JsonObject) -> JsonObject:
        """A puzzle with the results and lines of the stronger agent."""
        by_action, candidates = trial.candidates_json(self._env), []
        for candidate in puzzle["candidates"]:
            results = by_action[candidate["action"]]
            line = results.pop("line")
            candidates.append(candidate | {"held": results, "line": line})
        return puzzle | {"held": summary, "candidates": candidates}


def make_trial(number: int, puzzle: JsonObject, state: State) -> Trial:
    """A trial of the candidates of a puzzle; the first is the choice that the answer beats."""
    beaten = puzzle["policy"]["action"]
    actions = [candidate["action"] for candidate in puzzle["candidates"]]
    ordered = np.array([beaten, *(action for action in actions if action != beaten)], int)
    return Trial(number, state, Comparison(0, puzzle["player"], ordered, np.empty(0)))


def is_verified(trial: Trial, answer: int) -> bool:
    """Whether the answer leads by MIN_LEAD_OVER_OTHERS VP, and leads in half of the games."""
    means = np.sort(trial.seat_vp.mean(1))
    beats = estimate_loss(trial.seat_vp[trial.best_row], trial.seat_vp[0]).low > 0
    is_clear = round(float(means[-1] - means[-2]), 1) >= MIN_LEAD_OVER_OTHERS
    is_often_ahead = 2 * (trial.lead_by_game > 0).sum() >= len(trial.lead_by_game)
    return bool(trial.answer == answer and beats and is_clear and is_often_ahead)


def with_stronger_seat(base: Agent, other: Agent) -> Agent:
    """An agent that decides as `other` at one seat and as `base` at all others.

    Its parameters are those of both, and "seat" () int32.
    """

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        action = base.act(params["base"], state, mask, key if base.by_game else key[0])
        is_own = (state.current_player == params["seat"]) & ~(state.terminated | state.truncated)
        # At all other seats `other` gets one legal action, so that a search costs nothing there.
        single = jnp.arange(mask.shape[1]) == action[:, None]
        masked = jnp.where(is_own[:, None], mask, single)
        keys = key if other.by_game else key[0]
        stronger = other.act(params["other"], state, masked, keys)
        return jnp.where(is_own, stronger, action).astype(jnp.int32)

    return Agent("verifier", act, {"base": base.params, "other": other.params}, by_game=True)

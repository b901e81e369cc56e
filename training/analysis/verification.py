"""Verify puzzles with a stronger agent.

A puzzle's answer may look best only because the agent that made the puzzle plays the other
candidates badly. `PuzzleVerifier` replays every candidate, with and without the plan of the answer
(`trials`), and a stronger agent (usually a search) makes the seat's decisions among the next
FOLLOW_UP. The puzzle is kept only if the answer still leads. The verifier also replays the rivals,
the other legal moves with the most VP for the weaker agent: none may come within
MIN_LEAD_OVER_RIVALS VP of the answer (`races`).
"""

from __future__ import annotations

from collections.abc import Mapping

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
SAMPLES = range(FIRST, FIRST + 24)  # of each candidate
NUM_RIVALS = 4  # other legal moves that the stronger agent plays out, as often
SCREENING_SAMPLES = range(FIRST, FIRST + 8)  # of every other legal move by the weaker agent
# Decisions of all players among which the stronger agent makes those of the seat: the rest of the
# turn and some two turns more. A search costs a hundred times as much as the weaker agent.
FOLLOW_UP = 16
MIN_SHARE_AHEAD = 0.75  # of the games


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
                for number, puzzle, state in replay_positions(collection):
                    if verified_puzzle := self.verify_puzzle(puzzle, state):
                        verified[number] = verified_puzzle
                    done += 1
        except KeyboardInterrupt:
            if not done:
                raise
        updated = [verified.get(n, puzzle) for n, puzzle in enumerate(collection["puzzles"])]
        collection = collection | {"puzzles": updated}
        names = {"held_by": [self._stronger]}
        return select_puzzles(collection, sorted(verified), names), done == count

    def verify_puzzle(self, puzzle: JsonObject, state: State) -> JsonObject | None:
        """A puzzle with the results of the stronger agent; None: the answer does not lead.

        Raises:
            KeyboardInterrupt: not all playouts have ended.
        """
        agent, seat = self._player.runner.agent, puzzle["player"]
        until = int(state.step_count) + FOLLOW_UP
        params = agent.params | {"seat": jnp.int32(seat), "until": jnp.int32(until)}
        self._player.runner.agent = agent._replace(params=params)

        def is_still_leading(trial: Trial) -> bool:
            return is_verified(trial, puzzle["answer"]["action"])

        trials = self._player.try_candidates(
            [make_trial(0, puzzle, state)], SAMPLES, is_still_leading, with_plans=True
        )
        if not trials:
            return None
        rivals, rival_vp = self._choose_rivals(trials[0]), dict[int, float]()
        for own, end in zip(rivals, self._player.play({0: state}, rivals), strict=True):
            rival_vp |= zip(own.actions, end.vp[:, :, seat].mean(1).tolist(), strict=True)
        summary = self._held_summary(trials[0], rival_vp)
        if "rival" in summary and summary["rival"]["less"] < MIN_LEAD_OVER_RIVALS:
            return None
        return self._with_results(puzzle, trials[0], summary)

    def _choose_rivals(self, trial: Trial) -> list[Candidates]:
        """The other legal moves with the most VP for the weaker agent.

        It tries each of them without and with the plan of the answer; the better one counts.
        """
        plain = Candidates(trial.number, self._other_moves(trial), SCREENING_SAMPLES)
        if not plain.actions:
            return []
        planned = plain._replace(plans=trial.plans(self._player.last_pass))
        ends = self._base.play({trial.number: trial.state}, [plain, planned])
        without, with_plan = (end.vp[:, :, trial.comparison.seat].mean(1) for end in ends)
        rivals = np.argsort(-np.maximum(without, with_plan), kind="stable")[:NUM_RIVALS]
        return [
            Candidates(
                trial.number, [plain.actions[k]], SAMPLES,
                planned.plans if with_plan[k] > without[k] else (),
            )
            for k in rivals
        ]  # fmt: skip

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
        answer = float(trial.seat_vp[trial.best_row].mean())
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
    """Whether the answer leads by MIN_LEAD_OVER_OTHERS VP, and leads in most games.

    Players who tried puzzles saw no reason for an answer that led in fewer games: its lead came
    from later moves of others (docs/lab/review.md).
    """
    means = np.sort(trial.seat_vp.mean(1))
    loss = estimate_loss(trial.seat_vp[trial.best_row], trial.seat_vp[0])
    is_clear = round(float(means[-1] - means[-2]), 1) >= MIN_LEAD_OVER_OTHERS
    beats = loss.low >= MIN_LEAD_OVER_OTHERS
    is_often_ahead = (trial.lead_by_game > 0).mean() >= MIN_SHARE_AHEAD
    return bool(trial.answer == answer and beats and is_clear and is_often_ahead)


def with_stronger_seat(base: Agent, other: Agent) -> Agent:
    """An agent that decides as `other` at one seat for some decisions, otherwise as `base`.

    Its parameters are those of both, "seat" () int32, and "until" () int32, the `step_count` from
    which `base` decides everywhere.
    """

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        action = base.act(params["base"], state, mask, key if base.by_game else key[0])
        is_own = (state.current_player == params["seat"]) & (state.step_count < params["until"])
        is_own &= ~(state.terminated | state.truncated)
        # At all other seats `other` gets one legal action, so that a search costs nothing there.
        single = jnp.arange(mask.shape[1]) == action[:, None]
        masked = jnp.where(is_own[:, None], mask, single)
        keys = key if other.by_game else key[0]
        stronger = other.act(params["other"], state, masked, keys)
        return jnp.where(is_own, stronger, action).astype(jnp.int32)

    return Agent("verifier", act, {"base": base.params, "other": other.params}, by_game=True)

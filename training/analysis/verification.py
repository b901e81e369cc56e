"""Verify puzzles with a stronger agent.

A puzzle's answer may look best only because the agent that made the puzzle plays the other moves
badly. `PuzzleVerifier` therefore replays every candidate, with and without the plan of the answer
(`trials`): with that agent, then with a stronger one (usually a search) that makes the seat's
decisions among the next FOLLOW_UP. The puzzle is kept only if the answer leads both times and one
event explains why (`puzzle_reasons`). Candidates without such a reason are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, make_agent, sha256_of
from ..types import EnvState, JsonObject, Params
from .judge import Comparison, estimate_loss
from .playout_journal import PlayoutJournal
from .playouts import Candidates
from .puzzle_choices import MIN_CHOICES
from .puzzle_reasons import (
    MIN_PART,
    MIN_SHARE,
    Reason,
    find_reasons,
    same_event,
    typical_game,
)
from .puzzles import MIN_LEAD_OVER_OTHERS, replay_positions, select_puzzles
from .review_report import loss_json
from .trials import CandidatePlayer, Trial

FIRST = 1 << 17  # number of the first playout: the random numbers made no puzzle
SAMPLES = range(FIRST, FIRST + 24)  # of each candidate
# Decisions of all players among which the stronger agent makes those of the seat: the rest of the
# turn and some two turns more. A search costs a hundred times as much as the weaker agent.
FOLLOW_UP = 16
MAX_EVENTS = 4  # of a puzzle, without which the answer is played out


class PuzzleVerifier:
    """Replays puzzles with a stronger agent at the deciding seat; compiled once."""

    def __init__(
        self, env: GaiaEnv, name: str, stronger: str, journal: PlayoutJournal | None = None
    ):
        """
        Args:
            name: of the agent that made the puzzles. stronger: of the agent at the deciding seat.
            journal: keeps the playouts.
        Raises:
            UserError: an unknown agent.
        """
        self._env, self._stronger = env, stronger
        base, other = make_agent(name, env), make_agent(stronger, env)
        agents = base, with_stronger_seat(base, other)
        self.players = [CandidatePlayer(env, without_actions(agent)) for agent in agents]
        for player in self.players:
            player.journal = journal

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
            playouts = sum(player.num_played for player in self.players)
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
        """A puzzle with the results of the stronger agent; None: refused.

        Raises:
            KeyboardInterrupt: not all playouts have ended.
        """
        trial, weaker = make_trial(puzzle, state), self.players[0]
        if not self._try(weaker, trial, puzzle):
            return None
        verified = self._try(self.players[1], trial, puzzle)
        return self._verified(puzzle, *verified) if verified else None

    def _try(
        self, player: CandidatePlayer, trial: Trial, puzzle: JsonObject
    ) -> tuple[Trial, dict[int, Reason], int] | None:
        """The playouts of a puzzle, why the answer is better than some candidates, and a game.

        The game shows all these reasons. None: refused.
        """
        accepts = partial(is_verified, answer=puzzle["answer"]["action"])
        start(player, trial.state, trial.comparison.seat)
        trials = player.try_candidates([trial], SAMPLES, accepts, with_plans=True)
        if not trials:
            return None
        trial, vp = trials[0], trials[0].seat_vp.mean(1)
        by_row = find_reasons(player.runner.env, trial)
        if not by_row or not by_row.get(0):
            return None
        reasons = self._choose_reasons(player, trial, by_row)
        main_rows = {0, max(by_row, key=lambda row: vp[row])}
        if not main_rows <= reasons.keys():
            return None
        game = typical_game(trial, reasons, main_rows)
        reasons = {row: reason for row, reason in reasons.items() if reason.holds[game]}
        is_short = len(reasons) + 1 < min(MIN_CHOICES, len(by_row) + 1)
        return None if is_short else (trial, reasons, game)

    def _choose_reasons(
        self, player: CandidatePlayer, trial: Trial, by_row: Mapping[int, Sequence[Reason]]
    ) -> dict[int, Reason]:
        """The first reason of each candidate without which the answer loses most of its lead."""
        lead_without, chosen = dict[tuple[int, int], float](), dict[int, Reason]()
        vp, actions = trial.seat_vp.mean(1), self._env.ruleset.actions.texts
        for row, reasons in by_row.items():
            for reason in reasons:
                key = reason.needs, reason.round
                if reason.needs < 0:
                    chosen[row] = reason
                    break
                if key not in lead_without:
                    if len(lead_without) >= MAX_EVENTS:
                        continue
                    banned = same_event(actions, reason.needs)
                    start(player, trial.state, trial.comparison.seat, banned, reason.round)
                    answer = Candidates(0, [trial.answer], SAMPLES)
                    (end,) = player.play({0: trial.state}, [answer])
                    lead_without[key] = float(end.vp[0, :, trial.comparison.seat].mean())
                lead = lead_without[key] - vp[row]
                if lead <= (1 - MIN_PART) * (vp[trial.best_row] - vp[row]):
                    about = reason.about | {"without": round(float(lead), 1)}
                    chosen[row] = reason._replace(about=about)
                    break
        return chosen

    def _verified(
        self, puzzle: JsonObject, trial: Trial, reasons: Mapping[int, Reason], game: int
    ) -> JsonObject:
        """A puzzle with the results, reasons and lines of the stronger agent."""
        texts = self._env.ruleset.actions.texts
        results, candidates = trial.candidates_json(self._env, game), list[JsonObject]()
        by_action = {candidate["action"]: candidate for candidate in puzzle["candidates"]}
        for row, action in enumerate(trial.comparison.candidates.tolist()):
            candidate = {"action": action, "text": texts[action]} | results[action]
            if "policy" in by_action.get(action, ()):
                candidate["policy"] = by_action[action]["policy"]
            if row in reasons:
                candidate["reason"] = reasons[row].json(texts, game)
            if row in reasons or row == trial.best_row:
                candidates.append(candidate)
        loss = estimate_loss(trial.seat_vp[trial.best_row], trial.seat_vp[0])
        verification = {
            "by": self._stronger, "playouts": len(SAMPLES), "loss": loss_json(loss, 1),
            "ahead": int(trial.games_ahead.min()),
        }  # fmt: skip
        candidates.sort(key=lambda candidate: -float(candidate["vp"]))
        return puzzle | {"held": verification, "candidates": candidates}


def make_trial(puzzle: JsonObject, state: State) -> Trial:
    """A trial of the candidates of a puzzle; the first is the choice that the answer beats."""
    beaten = puzzle["policy"]["action"]
    actions = [candidate["action"] for candidate in puzzle["candidates"]]
    ordered = np.array([beaten, *(action for action in actions if action != beaten)], int)
    return Trial(0, state, Comparison(0, puzzle["player"], ordered, np.empty(0)))


def is_verified(trial: Trial, answer: int) -> bool:
    """Whether the answer leads every other move by MIN_LEAD_OVER_OTHERS VP, and in most games.

    Players who tried puzzles saw no reason for an answer that led in fewer games: its lead came
    from later moves of others (docs/lab/review.md).
    """
    loss = estimate_loss(trial.seat_vp[trial.best_row], trial.seat_vp[0])
    is_clear = all(round(loss.mean, 1) >= MIN_LEAD_OVER_OTHERS for loss in trial.losses)
    is_often_ahead = (trial.games_ahead >= MIN_SHARE * trial.seat_vp.shape[1]).all()
    beats = loss.low >= MIN_LEAD_OVER_OTHERS
    return bool(trial.answer == answer and beats and is_clear and is_often_ahead)


def start(
    player: CandidatePlayer,
    state: State,
    seat: int,
    banned: Sequence[int] = (),
    last_round: int = -1,
) -> None:
    """Set the deciding seat of the next playouts, whose agent is one of `without_actions`.

    Args:
        banned: actions that the seat does not take until the end of `last_round`.
    """
    agent = player.runner.agent
    mask = np.zeros(len(state.legal_action_mask), bool)
    mask[list(banned)] = True
    params: JsonObject = {"seat": jnp.int32(seat), "banned": jnp.array(mask)}
    params["last_round"] = jnp.int32(last_round)
    inner = agent.params["agent"]
    if "other" in inner:
        until = jnp.int32(int(state.step_count) + FOLLOW_UP)
        params["agent"] = inner | {"seat": jnp.int32(seat), "until": until}
    player.runner.agent = agent._replace(params=agent.params | params)


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

    name = f"{base.name}, {FOLLOW_UP} decisions {other.name}"  # a search has its agent's params
    return Agent(name, act, {"base": base.params, "other": other.params}, by_game=True)


def without_actions(agent: Agent) -> Agent:
    """An agent that does not take some actions at one seat until the end of a round.

    Its parameters are those of "agent", the "seat" () int32, "banned" (A,) bool and "last_round"
    () int32. Where no other action is legal, all are allowed.
    """

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        is_own = state.current_player == params["seat"]
        is_own &= state.game.turn.round <= params["last_round"]
        allowed = mask & ~(is_own[:, None] & params["banned"])
        allowed = jnp.where(allowed.any(1, keepdims=True), allowed, mask)
        return agent.act(params["agent"], state, allowed, key)

    return agent._replace(act=act, params={"agent": agent.params})

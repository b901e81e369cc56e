"""A review of a recorded game: the loss of each main move, the better line, accuracy by seat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from gaia_jax.cli.command_line import UserError
from gaia_jax.state import Node

from ..agents import REGISTRY, Agent, make_agent
from ..agents.search import split_name
from ..system.batched import stacked
from .actions import is_main_action
from .judge import GRADES, Judge, JudgedMove, Loss
from .playouts import Playouts
from .recorded_game import Game

# The par of a seat is the VP that it should make (`compute_pars`); `docs/lab/review.md` derives the
# numbers.
ACCURACY_AT_PAR = 80.0  # accuracy of a seat that makes its par
HALVING_VP = 48.0  # VP below par that halve the accuracy
# VP above par that halve the distance to 100; with this value the curve is smooth at par.
HALVING_VP_ABOVE = HALVING_VP * (100 - ACCURACY_AT_PAR) / ACCURACY_AT_PAR
# Share of a seat's own expectation in its par; the rest is the mean of all seats.
EXPECTATION_SHARE = 0.5


class SeatReview(NamedTuple):
    """A seat of a reviewed game."""

    num_judged: int  # judged moves
    expected_vp: float  # at the end, if the agent plays all seats from the first judged position
    accuracy: float  # 0 to 100
    vp_lost: float  # the sum of its shrunk losses
    grades: dict[str, int]  # number of its moves by grade


class Review(NamedTuple):
    """The results of a review: M judged moves, P seats."""

    game: Game
    agent: str
    seed: int
    num_playouts: int  # of the played move and of its best alternative; the costliest have more
    num_requested: int  # moves that were to be judged; more than M after Ctrl-C
    moves: list[JudgedMove]  # M
    seats: list[SeatReview]  # P


def judged_positions(game: Game) -> list[int]:
    """Indices into `game.states` of the placements, boosters and main actions that are judged.

    A decision with one legal action is forced and not judged. Conversions count as actions: the
    only legal main action is judged if a conversion was legal too.
    """
    positions = []
    for index, action in enumerate(game.actions):
        state = game.states[index]
        node = int(state.game.turn.node)
        if action < 0:
            continue
        text = game.env.ruleset.actions.texts[action]
        is_judged = node in (Node.START, Node.BOOSTER) or is_main_action(node, text)
        if is_judged and int(np.sum(state.legal_action_mask)) > 1:
            positions.append(index)
    return positions


def check_policy(name: str | None, agent: Agent | None = None) -> None:
    """Raise an error for an agent without a policy.

    Args:
        name: of the agent. Built-in agents and searches are rejected by name. None is the adviser.
        agent: the loaded agent; without it any other name passes.
    Raises:
        UserError: the agent has no policy.
    """
    if name is None:
        return
    base, search = split_name(name)
    known_without_policy = base in REGISTRY or search is not None
    if known_without_policy or (agent is not None and agent.policy is None):
        raise UserError(f"--agent requires a policy, {name} has none; zoo/strong has one")


def review_game(
    game: Game,
    agent_name: str,
    num_playouts: int,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda ended, total: None,
    runner: Playouts | None = None,
) -> Review:
    """Review a game. After Ctrl-C the review has the moves that were judged before.

    Reviews share the compiled playouts of the compilation cache if their numbers of positions and
    of playouts round up to the same powers of two (`Playouts.play`).

    Args:
        agent_name: plays all seats in the playouts.
        num_playouts: of the played move and of its best alternative; the costliest moves have
            `REMEASURE_FACTOR` times as many.
        progress: called with the number of finished playouts and the total.
        runner: as of `Judge`, with the agent of this name.
    Raises:
        UserError: the agent is unknown or has no policy, or the game has no move to judge.
        KeyboardInterrupt: before any move was judged.
    """
    indices = judged_positions(game)
    if not indices:
        raise UserError("the record has no main move that is not forced")
    agent = runner.agent if runner else make_agent(agent_name, game.env)
    check_policy(agent_name, agent)
    states = stacked(jax.device_get(game.states[i]) for i in indices)
    decision_numbers, played = [i + 1 for i in indices], [game.actions[i] for i in indices]
    judge = Judge(game.env, agent, num_playouts, runner=runner)
    moves, expected_vp = judge.judge_game(states, decision_numbers, played, seed, progress)
    end = game.states[-1]
    # An unfinished game has no final VP: take what the agent expects after the last judged move.
    final_vp = np.asarray(end.game.players.vp if end.terminated else moves[-1].vp)
    count = game.env.num_players  # without the Automa, whose row is the last one
    losses = [[x.loss for x in moves if x.comparison.seat == p] for p in range(count)]
    seats = review_seats(losses, final_vp[:count], expected_vp[:count])
    return Review(game, agent_name, seed, num_playouts, len(indices), moves, seats)


def compute_pars(expected: np.ndarray) -> np.ndarray:
    """(P,) VP that each seat should make: halfway between its expectation and the mean of all.

    What the agent makes of a faction predicts little of what other players make of it
    (docs/lab/review.md), so the mean of all seats has a share.

    Args:
        expected: (P,) VP at the end if the agent plays all seats from the first judged position.
    """
    mean = np.mean(expected)
    return np.asarray(mean + EXPECTATION_SHARE * (expected - mean))


def compute_accuracy(par: float, final_vp: float) -> float:
    """The accuracy of a seat, 0 to 100.

    Nothing is random after the set-up. The distance of the final VP from the par therefore comes
    from moves alone: those of the seat and, in part, those of its opponents.

    Args:
        par: of the seat.
        final_vp: of the seat.
    """
    if final_vp < par:
        return float(ACCURACY_AT_PAR * 2 ** ((final_vp - par) / HALVING_VP))
    return float(100 - (100 - ACCURACY_AT_PAR) * 2 ** ((par - final_vp) / HALVING_VP_ABOVE))


def review_seats(
    losses: Sequence[Sequence[Loss]], final_vp: np.ndarray, expected: np.ndarray
) -> list[SeatReview]:
    """Review the P seats of a game.

    Args:
        losses: of the judged moves, by seat.
        final_vp: (P,) VP at the end.
        expected: (P,) VP that the agent expects at the first judged position.
    """
    pars = compute_pars(expected)
    return [
        SeatReview(
            len(seat_losses), float(expected[seat]),
            compute_accuracy(float(pars[seat]), float(final_vp[seat])),
            sum(loss.shrunk_mean for loss in seat_losses),
            {name: sum(loss.grade == name for loss in seat_losses) for name in GRADES},
        )
        for seat, seat_losses in enumerate(losses)
    ]  # fmt: skip

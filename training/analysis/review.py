"""A review of a recorded game: what each main move lost, the better line, accuracy by seat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from gaia_jax.cli.command_line import UserError
from gaia_jax.env import State
from gaia_jax.state import Node

from ..agents import REGISTRY, Agent, make_agent
from ..agents.search import split_name
from .actions import is_main_action
from .judge import GRADES, Judge, JudgedMove, Loss
from .recorded_game import Game

# `docs/lab/review.md` derives the numbers of the accuracy.
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
    num_playouts: int  # minimum, of the played move and of the best other one
    num_requested: int  # moves that were to be judged; more than M after Ctrl-C
    moves: list[JudgedMove]  # M
    seats: list[SeatReview]  # P


def judged_positions(game: Game) -> list[int]:
    """Indices into `game.states`: placements, boosters and main actions that are not forced.

    A decision is forced if no other action is legal; a conversion counts as another action.
    """
    positions = []
    for at, played in enumerate(game.actions):
        state = game.states[at]
        node = int(state.game.turn.node)
        if played < 0:
            continue
        text = game.env.ruleset.actions.texts[played]
        is_judged = node in (Node.START, Node.BOOSTER) or is_main_action(node, text)
        if is_judged and int(np.sum(state.legal_action_mask)) > 1:
            positions.append(at)
    return positions


def check_policy(name: str, agent: Agent | None = None) -> None:
    """Raise an error for an agent without a policy.

    Without `agent`, only built-in agents and searches are recognized.

    Raises:
        UserError: the agent has no policy.
    """
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
) -> Review:
    """Review a game. After Ctrl-C the review has the moves that were judged before.

    Reviews with the same rounded number of positions and playouts share compiled programs.

    Args:
        agent_name: plays all seats in the playouts.
        num_playouts: minimum, of the played move and of the best other one.
        progress: called with the number of finished playouts and the total.
    Raises:
        UserError: the agent is unknown or has no policy, or the game has no move to judge.
        KeyboardInterrupt: before any move was judged.
    """
    decisions = judged_positions(game)
    if not decisions:
        raise UserError("the record has no main move that is not forced")
    agent = make_agent(agent_name, game.env)
    check_policy(agent_name, agent)
    positions = (jax.device_get(game.states[at]) for at in decisions)
    states: State = jax.tree.map(lambda *x: np.stack(x), *positions)
    numbers, played = [at + 1 for at in decisions], [game.actions[at] for at in decisions]
    judge = Judge(game.env, agent, num_playouts)
    moves, expected_vp = judge.judge_game(states, numbers, played, seed, progress)
    end = game.states[-1]
    final_vp = np.asarray(end.game.players.vp if end.terminated else moves[-1].vp)
    losses = [[x.loss for x in moves if x.comparison.seat == p] for p in range(len(final_vp))]
    seats = review_seats(losses, final_vp, expected_vp)
    return Review(game, agent_name, seed, num_playouts, len(decisions), moves, seats)


def compute_pars(expected: np.ndarray) -> np.ndarray:
    """(P,) VP that each seat should make: halfway between its expectation and the mean of all.

    The mean takes part because a faction that suits the agent suits other players less.

    Args:
        expected: (P,) VP at the end if the agent plays all seats from the first judged position.
    """
    mean = np.mean(expected)
    return np.asarray(mean + EXPECTATION_SHARE * (expected - mean))


def compute_accuracy(par: float, final_vp: float) -> float:
    """The accuracy of a seat, 0 to 100.

    Only the set-up is random, so the distance from the par comes from the moves of all seats.

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

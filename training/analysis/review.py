"""A review of a recorded game: what each main move lost, the better line, accuracy by seat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import State
from gaia_jax.render.names import names, say
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Node

from ..agents import REGISTRY, Agent, make_agent
from ..agents.search import split_name
from .accuracy import Loss, SeatReview, seat_reviews
from .actions import is_main_action
from .candidate_outcomes import probabilities
from .judge import FULL_GAMES_FACTOR, Judge, JudgedMove, make_comparison
from .recorded_game import Game, follow

JsonObject = dict[str, Any]  # an object of JSON
is_own_report = outputs.json_with("record", "agent", "seats", "moves", "judged")
NUM_COSTLIEST = 5  # moves
CHANCE_DIGITS = 3


class Review(NamedTuple):
    """The results of a review: M judged moves, P seats."""

    game: Game
    agent: str
    seed: int
    playouts: int  # minimum, of the played move and of the best other one
    num_moves: int  # moves that were to be judged; more than M after Ctrl-C
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
    name: str,
    playouts: int,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda ended, total: None,
) -> Review:
    """Review a game. After Ctrl-C the review has the moves that were judged before.

    Reviews with the same rounded number of positions and playouts share compiled programs.

    Args:
        name: of the agent.
        playouts: minimum, of the played move and of the best other one.
        progress: called with the number of finished playouts and the total.
    Raises:
        UserError: the agent is unknown or has no policy, or the game has no move to judge.
        KeyboardInterrupt: before any move was judged.
    """
    decisions = judged_positions(game)
    if not decisions:
        raise UserError("the record has no main move that is not forced")
    agent = make_agent(name, game.env)
    check_policy(name, agent)
    positions = (jax.device_get(game.states[at]) for at in decisions)
    states: State = jax.tree.map(lambda *x: np.stack(x), *positions)
    policy, seats = probabilities(agent, states), np.asarray(states.current_player)
    comparisons = [
        make_comparison(at + 1, int(seats[i]), game.actions[at], policy[i])
        for i, at in enumerate(decisions)
    ]
    judge, first_playouts = Judge(game.env, agent, playouts), FULL_GAMES_FACTOR * playouts
    total = first_playouts + judge.count_playouts(comparisons)
    expected = judge.estimate_final_vp(states, comparisons, seed, lambda n: progress(n, total))
    judged = judge.judge(states, comparisons, seed, lambda n: progress(first_playouts + n, total))
    if not judged:
        raise KeyboardInterrupt
    end = game.states[-1]
    final_vp = np.asarray(end.game.players.vp if end.terminated else judged[-1].vp)
    losses = [[x.loss for x in judged if x.comparison.seat == p] for p in range(len(final_vp))]
    reviewed_seats = seat_reviews(losses, final_vp, expected)
    return Review(game, name, seed, playouts, len(comparisons), judged, reviewed_seats)


def build_report(review: Review) -> JsonObject:
    """A review as JSON values, with actions and factions in words."""
    game, rules, end = review.game, review.game.env.ruleset, review.game.states[-1]
    moves = [move_json(game, judged) for judged in review.moves]
    costliest = sorted(moves, key=lambda m: -m["loss"]["shrunk"])[:NUM_COSTLIEST]
    factions = [rules.ids["faction"][i] for i in np.asarray(end.game.setup.faction)]
    faction_names = names(rules)["faction"]
    seats = [
        {
            "player": player,
            "faction": factions[player],
            "name": faction_names[factions[player]],
            "vp": int(end.game.players.vp[player]),
            "judged": seat.num_judged,
            "expected_vp": round(seat.expected_vp, 1),
            "accuracy": round(seat.accuracy, 1),
            "lost": round(seat.vp_lost, 1),
            "grades": seat.grades,
        }
        for player, seat in enumerate(review.seats)
    ]
    return {
        "over": bool(end.terminated),
        "decisions": len(game.actions),
        "asked": review.num_moves,
        "judged": len(review.moves),
        "seats": seats,
        "costliest": [m["decision"] for m in costliest if m["loss"]["shrunk"] > 0],
        "moves": moves,
        "agent": review.agent,
        "seed": review.seed,
        "playouts": review.playouts,
    }


def move_json(game: Game, judged: JudgedMove) -> JsonObject:
    """A judged move as JSON values; `line` is the better move and the actions after it."""
    number, seat, candidates, policy = judged.comparison
    rules, state = game.env.ruleset, game.states[number - 1]
    loss = loss_json(judged.loss, 1) | {"shrunk": round(judged.loss.shrunk_mean, 1)}
    played = action_json(rules, int(candidates[0]), float(policy[0]))
    best = int(np.flatnonzero(candidates == judged.best)[0])
    line, before = [], state
    if judged.loss.mean > 0:
        for action, after in follow(game, number, judged.best, judged.line):
            line.append({"player": int(before.current_player)} | action_json(rules, action))
            before = after
    return {
        "decision": number,
        "round": int(state.game.turn.round),
        "player": seat,
        "faction": rules.ids["faction"][int(state.game.setup.faction[seat])],
        "played": played,
        "better": action_json(rules, judged.best, float(policy[best])),
        "loss": loss,
        "win_loss": loss_json(judged.win_loss, CHANCE_DIGITS),
        "grade": judged.loss.grade,
        "playouts": judged.playouts,
        "expected_vp": np.round(judged.vp, 1).tolist(),
        "chance_to_win": np.round(judged.win, CHANCE_DIGITS).tolist(),
        "line": line,
    }


def action_json(rules: Ruleset, action: int, policy: float | None = None) -> JsonObject:
    """An action as its text and in words, with its probability by the policy."""
    text = rules.actions.texts[action]
    probability = {} if policy is None else {"policy": round(policy, CHANCE_DIGITS)}
    return {"action": action, "text": text, "words": say(rules, text)} | probability


def loss_json(loss: Loss, digits: int) -> dict[str, float]:
    """A loss and its interval, rounded to `digits` decimals."""
    values = {"mean": loss.mean, "low": loss.low, "high": loss.high}
    return {name: round(value, digits) for name, value in values.items()}

"""A review of a recorded game: what each main move lost, the better line, accuracy by seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

import gaia_jax
from gaia_jax import replay
from gaia_jax.actions import to_text
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import GaiaEnv, State
from gaia_jax.render.names import names, say
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Node

from ..agents import REGISTRY, Agent, make_agent
from ..system import atomic_files
from .accuracy import GRADES, Loss, accuracy, par
from .actions import is_main
from .explain import Game, has_search
from .judge import BEGINNINGS, Judge, Judged, Question, question
from .playouts import whole_moves
from .position import probabilities

Plain = dict[str, Any]  # an object of JSON
OURS = atomic_files.json_with("record", "agent", "seats", "moves", "judged")  # a report's mark
SHOWN = 5  # costliest moves
LINE = 6  # moves of a line in the text
KEPT = 3  # digits of a chance


def main_moves(game: Game) -> list[int]:
    """The decisions that are judged, from 0: placements, boosters, main actions with a choice."""
    decisions = []
    for at, played in enumerate(game.actions):
        state = game.states[at]
        node = int(state.game.turn.node)
        if played < 0:
            continue
        text = to_text(game.env.ruleset, played)
        is_main_move = node in (Node.START, Node.BOOSTER) or is_main(node, text)
        if is_main_move and int(np.sum(state.legal_action_mask)) > 1:
            decisions.append(at)
    return decisions


def check_policy(name: str, agent: Agent | None = None) -> None:
    """Refuse an agent without a policy: by its name alone a built-in one or a search.

    Raises:
        UserError: it has none.
    """
    by_name = name in REGISTRY or has_search(name)
    if by_name or (agent is not None and agent.policy is None):
        raise UserError(f"--agent wants one with a policy, {name} has none: zoo/strong has")


class Reviewer:
    """Reviews games of one environment with one agent; compiled once for games of one size."""

    def __init__(self, env: GaiaEnv, name: str, playouts: int):
        """
        Raises:
            UserError: an unknown agent, or one without a policy.
        """
        self.env, self.name, self.playouts = env, name, playouts
        self._agent = make_agent(name, env)
        check_policy(name, self._agent)
        self._judge = Judge(env, self._agent, playouts)
        self._begun = BEGINNINGS * playouts  # that come before the judging

    def ask(self, game: Game) -> tuple[State, list[Question]]:
        """The positions that are judged, and the questions.

        Raises:
            UserError: the game has no such decision.
        """
        moves = main_moves(game)
        if not moves:
            raise UserError("the record has no main move with a choice")
        positions = (jax.device_get(game.states[at]) for at in moves)
        states: State = jax.tree.map(lambda *x: np.stack(x), *positions)
        chances = probabilities(self._agent, states)
        seats = np.asarray(states.current_player)
        return states, [
            question(at + 1, int(seats[i]), game.actions[at], chances[i])
            for i, at in enumerate(moves)
        ]

    def total(self, questions: Sequence[Question]) -> int:
        """How many playouts a review of them takes."""
        return self._begun + self._judge.total(questions)

    def review(
        self,
        game: Game,
        states: State,
        questions: Sequence[Question],
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> Plain:
        """The report; of what is known until then at Ctrl-C.

        Raises:
            KeyboardInterrupt: nothing is known yet.
        """
        expected = self._judge.expected(states, questions, seed, progress)
        judged = self._judge.judge(states, questions, seed, lambda n: progress(self._begun + n))
        if not judged:
            raise KeyboardInterrupt
        return report(game, judged, len(questions), expected) | {
            "agent": self.name, "seed": seed, "playouts": self.playouts,
        }  # fmt: skip


def report(game: Game, judged: Sequence[Judged], num_moves: int, expected: np.ndarray) -> Plain:
    """Everything that a review knows, plain values.

    Args:
        num_moves: how many decisions were to be judged.
        expected: (P,) VP that the agent expects at the beginning.
    """
    rules, end = game.env.ruleset, game.states[-1]
    ids = [rules.ids["faction"][i] for i in np.asarray(end.game.setup.faction)]
    factions = [{"id": id, "name": names(rules)["faction"][id]} for id in ids]
    moves = [move_json(game, judgement) for judgement in judged]
    costliest = sorted(moves, key=lambda m: -m["loss"]["shrunk"])[:SHOWN]
    seats = []
    over, aims = bool(end.terminated), par(expected)
    final_vp = end.game.players.vp if over else judged[-1].vp
    for seat, faction in enumerate(factions):
        own = [judgement.loss for judgement in judged if judgement.question.seat == seat]
        grades = {name: sum(x.grade == name for x in own) for name in GRADES}
        seats.append(
            {
                "player": seat,
                "faction": faction["id"],
                "name": faction["name"],
                "vp": int(end.game.players.vp[seat]),
                "judged": len(own),
                "expected_vp": round(float(expected[seat]), 1),
                "accuracy": round(accuracy(float(aims[seat]), float(final_vp[seat])), 1),
                "lost": round(sum(x.shrunk for x in own), 1),
                "grades": grades,
            }
        )
    return {
        "over": over,
        "decisions": len(game.actions),
        "asked": num_moves,
        "judged": len(judged),
        "seats": seats,
        "costliest": [m["decision"] for m in costliest if m["loss"]["shrunk"] > 0],
        "moves": moves,
    }


def move_json(game: Game, judgement: Judged) -> Plain:
    """A judged move, plain values."""
    number, seat = judgement.question.number, judgement.question.seat
    rules, state = game.env.ruleset, game.states[number - 1]
    policy = judgement.question.policy
    best = int(np.flatnonzero(judgement.question.candidates == judgement.best)[0])
    return {
        "decision": number,
        "round": int(state.game.turn.round),
        "player": seat,
        "faction": rules.ids["faction"][int(state.game.setup.faction[seat])],
        "played": action_json(rules, int(judgement.question.candidates[0]), float(policy[0])),
        "better": action_json(rules, judgement.best, float(policy[best])),
        "loss": loss_json(judgement.loss, 1) | {"shrunk": round(judgement.loss.shrunk, 1)},
        "win_loss": loss_json(judgement.win_loss, KEPT),
        "grade": judgement.loss.grade,
        "playouts": judgement.playouts,
        "expected_vp": np.round(judgement.vp, 1).tolist(),
        "chance_to_win": np.round(judgement.win, KEPT).tolist(),
        "line": [] if judgement.loss.mean <= 0 else line(game, judgement),
    }


def action_json(rules: Ruleset, action: int, policy: float | None = None) -> Plain:
    """An action as its text and in words, and how likely the policy finds it."""
    text = to_text(rules, action)
    probability = {} if policy is None else {"policy": round(policy, KEPT)}
    return {"action": action, "text": text, "words": say(rules, text)} | probability


def loss_json(loss: Loss, digits: int) -> dict[str, float]:
    """A loss and its interval, rounded to `digits` decimals."""
    values = {"mean": loss.mean, "low": loss.low, "high": loss.high}
    return {name: round(value, digits) for name, value in values.items()}


def line(game: Game, judgement: Judged) -> list[Plain]:
    """The better move and what follows it in the playout with the median VP, each with who."""
    rules, steps = game.env.ruleset, []
    before = game.states[judgement.question.number - 1]
    for action, after in follow(game, judgement.question.number, judgement.best, judgement.line):
        steps.append({"player": int(before.current_player)} | action_json(rules, action))
        before = after
    return steps


def follow(
    game: Game, number: int, first: int, actions: Sequence[int] | np.ndarray
) -> Iterator[tuple[int, State]]:
    """Replay a playout from the position before a decision: each action with the state after it.

    Args:
        number: of the decision, from 1.
        first: the first action; -1 among the others ends them.
    """
    moves = (first, *(int(x) for x in actions))
    return whole_moves(game.env, stepping(game.env), game.states[number - 1], moves)


def stepping(env: GaiaEnv) -> Callable[[State, int], State]:
    """The compiled step of an environment, the same one that has played its record."""
    return replay.compiled(gaia_jax.make(env.id, players=env.num_players))[1]


def text(about: Plain) -> str:
    """A report in lines: the seats, then the costliest moves."""
    lines = [
        summary(about),
        "",
        f"{'player':<22}{'VP':>5}{'expected':>10}{'accuracy':>10}{'VP lost':>9}"
        + "".join(f"{name:>12}" for name in GRADES),
    ]
    for seat in about["seats"]:
        expected = f"{seat['expected_vp']:10.0f}{seat['accuracy']:10.0f}"
        lines.append(
            f"{seat['player']} {seat['name']:<20}{seat['vp']:5}{expected}{seat['lost']:9.1f}"
            + "".join(f"{seat['grades'][name]:12}" for name in GRADES)
        )
    moves = {m["decision"]: m for m in about["moves"]}
    if about["costliest"]:
        lines += ["", "the costliest moves"]
    for number in about["costliest"]:
        lines += ["", *_move_text(moves[number], about["seats"])]
    return "\n".join(lines)


def summary(about: Plain) -> str:
    """What was judged, in a line."""
    judged_moves = f"{about['judged']} of {about['asked']}"
    return f"{judged_moves} main moves of {about['decisions']} decisions judged by {about['agent']}"


def when_text(move: Plain) -> str:
    """When a move was made."""
    return f"round {move['round']}" if move["round"] else "set-up"


def costs(move: Plain) -> str:
    """What a move lost, with its interval."""
    loss, win = move["loss"], move["win_loss"]
    return (
        f"{loss['mean']:.1f} VP ({loss['low']:.1f} to {loss['high']:.1f}),"
        f" {100 * win['mean']:.0f} % to win ({100 * win['low']:.0f} to {100 * win['high']:.0f})"
    )


def _move_text(move: Plain, seats: Sequence[Plain]) -> list[str]:
    name = seats[move["player"]]["name"]
    grade = f", {move['grade']}" if move["grade"] else ""
    then = []
    for step in move["line"][: LINE + 1]:
        player = "" if step["player"] == move["player"] else f"{seats[step['player']]['name']}: "
        then.append(player + step["words"])
    return [
        f"decision {move['decision']}, {when_text(move)}, {name}: {move['played']['words']}{grade}",
        f"  loses {costs(move)}, {move['playouts']} playouts",
        f"  better: {'; '.join(then)}",
    ]

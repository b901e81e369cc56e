"""Habits of a player over several reviewed games: the kinds of moves whose mistakes cost most.

A mistake is a judged move with a grade (`judge.Loss.grade`), and it costs its shrunk loss.
Intervals are over games: the moves of one game are one sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.render import Table
from gaia_jax.render.names import faction_name, sources

from ..stats.effects import Effect, intervals
from ..types import JsonObject
from .action_words import words_with_place
from .attribution import by_source
from .judge import JudgedMove
from .review import Review
from .review_report import loss_json, move_time

MIN_GAMES = 2  # for an interval over games
MAX_HABITS = 3
# The kinds of moves in words, by the verb of their actions.
KINDS = {
    "pick": "first structures", "booster": "boosters", "pass": "passing", "mine": "mines",
    "project": "Gaia projects", "upgrade": "upgrades", "advance": "research",
    "form_federation": "federations", "power": "power actions", "qic": "QIC actions",
    "special": "special actions", "ship": "ships",
}  # fmt: skip
SAME_KIND = {"explore": "ship", "artifact": "ship"}
is_own_report = outputs.json_with("player", "agent", "habits")  # by the keys of a report


class PlayerGame(NamedTuple):
    """A reviewed game of a player."""

    record: str  # its name
    review: Review
    seats: Sequence[int]  # that the player had; several count as the mean of them

    def kind_of(self, move: JudgedMove) -> str:
        """The kind of a judged move, of KINDS."""
        text: str = self.review.game.env.ruleset.actions.texts[int(move.comparison.candidates[0])]
        verb = text.partition(" ")[0]
        return SAME_KIND.get(verb, verb)

    def moves(self, kind: str) -> list[JudgedMove]:
        """The judged moves of a kind of the player."""
        own = (move for move in self.review.moves if move.comparison.seat in self.seats)
        return [move for move in own if self.kind_of(move) == kind]


class Habit(NamedTuple):
    """The mistakes of one kind of moves."""

    cost: Effect  # VP a game; its name is the kind
    num_moves: int
    mistakes: list[tuple[PlayerGame, JudgedMove]]  # the costliest first


def find_habits(games: Sequence[PlayerGame]) -> list[Habit]:
    """The kinds of moves with mistakes, the costliest kind first.

    Args:
        games: of one player, at least MIN_GAMES.
    """
    moves = {kind: [game.moves(kind) for game in games] for kind in KINDS}
    costs = {
        kind: np.array(
            [
                sum(move.loss.shrunk_mean for move in of_game if move.loss.grade) / len(game.seats)
                for game, of_game in zip(games, by_game, strict=True)
            ]
        )
        for kind, by_game in moves.items()
    }
    kinds = sorted((k for k in costs if costs[k].any()), key=lambda k: -costs[k].sum())
    mistakes = {
        kind: sorted(
            (
                (game, move)
                for game, of_game in zip(games, moves[kind], strict=True)
                for move in of_game
                if move.loss.grade
            ),
            key=lambda mistake: -mistake[1].loss.shrunk_mean,
        )
        for kind in kinds
    }
    means = np.array([costs[kind].mean() for kind in kinds])
    errors = np.array([costs[kind].std(ddof=1) / len(games) ** 0.5 for kind in kinds])
    effects = intervals(kinds, means, errors, len(games), [len(mistakes[k]) for k in kinds])
    return [
        # No mistake gains VP, so the interval begins at 0 or above.
        Habit(effect._replace(low=max(effect.low, 0.0)), sum(map(len, moves[kind])), mistakes[kind])
        for kind, effect in zip(kinds, effects, strict=True)
    ]


def build_report(player: str, games: Sequence[PlayerGame]) -> JsonObject:
    """The costliest habits as JSON values, each with an example.

    Args:
        games: of the player, at least MIN_GAMES; `agent` names the agents of all reviews.
    """
    review = games[0].review
    return {
        "player": player,
        "records": [game.record for game in games],
        "agent": ", ".join(dict.fromkeys(game.review.agent for game in games)),
        "playouts": review.num_playouts,
        "seed": review.seed,
        "habits": [_habit_json(habit) for habit in find_habits(games)[:MAX_HABITS]],
    }


def _habit_json(habit: Habit) -> JsonObject:
    cost = habit.cost
    rounded = [round(x, 1) for x in (cost.estimate, cost.low, cost.high)]
    return {
        "kind": cost.name,
        "vp_a_game": dict(zip(("mean", "low", "high"), rounded, strict=True)),
        "mistakes": len(habit.mistakes),
        "moves": habit.num_moves,
        "example": _example_json(*habit.mistakes[0]),
    }


def _example_json(game: PlayerGame, move: JudgedMove) -> JsonObject:
    """A mistake: where, both moves in words, the loss, and VP of the better move by source."""
    number, _, candidates, _ = move.comparison
    state, rules = game.review.game.states[number - 1], game.review.game.env.ruleset
    table, texts = Table(state, rules), rules.actions.texts
    played, better = (words_with_place(table, texts[a]) for a in (candidates[0], move.best))
    return {
        "record": game.record,
        "decision": number,
        "round": table.round,
        "faction": faction_name(table.faction(table.player)),
        "played": played,
        "better": better,
        "loss": loss_json(move.loss, 1),
        "by_source": by_source(rules, move.sources, sources(rules, table.final_missions)),
    }


def report_text(report: JsonObject) -> str:
    """The habits in sentences, one each."""
    count, player = len(report["records"]), report["player"]
    lines = [f"{player} in {count} games, judged by {report['agent']}; 95 % intervals over games"]
    lines += [
        f"{number}. {habit_sentence(habit)} {example_sentence(habit['example'])}"
        for number, habit in enumerate(report["habits"], 1)
    ]
    if len(report["habits"]) < MAX_HABITS:
        lines.append("No other kind of move had a mistake.")
    return "\n".join(lines)


def habit_sentence(habit: JsonObject) -> str:
    """What a kind of move costs."""
    cost, mistakes, moves = habit["vp_a_game"], habit["mistakes"], habit["moves"]
    kind = KINDS[habit["kind"]]
    return (
        f"{kind[0].upper()}{kind[1:]}: {cost['mean']} VP a game"
        f" ({cost['low']} to {cost['high']}), {mistakes} mistake{'s' * (mistakes != 1)}"
        f" in {moves} move{'s' * (moves != 1)}."
    )


def example_sentence(example: JsonObject) -> str:
    """The costliest mistake, and where the better move has more VP."""
    loss, vp = example["loss"], example["by_source"]
    gains = ", ".join(f"{name} {gain:+.1f}" for name, gain in vp.items() if gain > 0)
    return (
        f"Example: {example['record']}, decision {example['decision']}, {move_time(example)},"
        f" {example['faction']}: {example['played']} loses {loss['mean']} VP"
        f" ({loss['low']} to {loss['high']}) compared with {example['better']}"
        f"{f': {gains}' * bool(gains)}."
        f" gaia play --record {example['record']} --at {example['decision']}"
    )

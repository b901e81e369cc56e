"""Measure how a review judges players of known strength, and how exact its losses are.

    python -m tools.calibrate_review RECORDS --out judged.json --kinds random,greedy,zoo/strong
    python -m tools.calibrate_review RECORDS --out judged.json --plant
    python -m tools.calibrate_review RECORDS --out judged.json --check 32
    python -m tools.calibrate_review RECORDS --out judged.json --accuracy

Moves of every seat in a folder of records are judged as a review judges them, in batches of 64.
`--plant` replaces a move of each `zoo/strong` by the worst other main action, if playouts with
separate random numbers make that a mistake, and judges it with the playouts that a review spends on
the costliest eighth of the moves.
`--check` plays out both moves of judged decisions 256 times, planted ones included. `--accuracy`
plays each game 64 times from its first main move and compares the VP of its seats. The results are
written to `--out` after each batch; a later call continues them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gaia_jax.actions import to_text
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, whole
from training import zoo
from training.agents import make_agent
from training.analysis.judge import (
    FULL_GAMES_FACTOR,
    GRADES,
    REMEASURE_FACTOR,
    REMEASURE_ONE_IN,
    Judge,
    JudgedMove,
    Loss,
)
from training.analysis.playouts import Candidates
from training.analysis.recorded_game import read_game
from training.analysis.review import compute_accuracy, compute_pars
from training.games.stats import estimate, share
from training.system import batched, cli

from .recorded_moves import PLANTER, TRIES, Beginning, Move, beginnings, moves, other_actions, seats

BATCH_SIZE = 64  # moves of a batch: one size, one program
REQUEST_SIZE = 1 << 13  # playouts for which the program is compiled
FORMAT = "gaia_jax judged moves 3"
OUTPUT_CHECK = outputs.json_with(format=FORMAT)
GROUPS = ("moves", "planted", "checked", "beginnings")
OPENING_PLAYOUTS = FULL_GAMES_FACTOR * 16  # playouts from the first move of a game, as of a review
JUDGE = "zoo/strong"  # the agent that plays out
COARSE, FINE = 2, 32  # playouts of every other main action; of the worst of them
FULL = 256  # playouts of each of the two moves that `--check` compares
FRESH_SAMPLE = 1 << 20  # the number of a sample that no review draws


Position = TypeVar("Position", Move, Beginning)


class Bench:
    """Judges batches of moves; compiled once."""

    def __init__(self, folder: Path, remeasure_one_in: int = REMEASURE_ONE_IN):
        self.env = read_game(min(folder.glob("*.json"))).env
        self.agent = make_agent(JUDGE, self.env)
        self.judge = Judge(self.env, self.agent, 16, remeasure_one_in)

    def text(self, action: int) -> str:
        """An action as its text."""
        return to_text(self.env.ruleset, action)

    def judge_moves(self, batch: Sequence[Move], seed: int) -> list[dict[str, Any]]:
        """Rows of at most BATCH_SIZE moves."""
        states = stacked(batch)
        played = [move.played for move in padded(batch)]
        comparisons = self.judge.compare_with_likely(states, range(len(played)), played)
        judged_moves = self.judge.judge(states, comparisons, seed)
        if len(judged_moves) < len(comparisons):
            raise KeyboardInterrupt
        return [self.row(judged, move) for judged, move in zip(judged_moves, batch, strict=False)]

    def row(self, judged: JudgedMove, move: Move) -> dict[str, Any]:
        """The row of a judged move, as `--out` stores it."""
        return {
            "game": move.game, "kind": move.kind, "decision": move.number, "of": move.of,
            "vp": move.vp, "round": int(move.state.game.turn.round), "played": move.played,
            "text": self.text(move.played), "best": judged.best, "better": self.text(judged.best),
            "loss": list(judged.loss), "grade": judged.loss.grade, "playouts": judged.num_playouts,
            "policy": judged.comparison.probabilities.tolist(),
            "after": float(judged.vp[move.seat]),
        }  # fmt: skip

    def find_mistakes(self, batch: Sequence[Move], seed: int) -> list[Move]:
        """The moves whose worst other main action is a mistake, replaced by that action."""
        states, rules = stacked(batch), self.env.ruleset
        alternatives = [np.array(other_actions(rules, move.state, move.played)) for move in batch]
        coarse_vp = self.play_out(states, batch, alternatives, COARSE, seed)
        worst_actions = [
            int(actions[np.argmin(vp.mean(1))])
            for actions, vp in zip(alternatives, coarse_vp, strict=True)
        ]
        pairs = [
            np.array([action, move.played])
            for action, move in zip(worst_actions, batch, strict=True)
        ]
        fine_vp = self.play_out(states, batch, pairs, FINE, seed, FRESH_SAMPLE + COARSE)
        return [
            move._replace(played=action)
            for move, action, vp in zip(batch, worst_actions, fine_vp, strict=True)
            if (vp[1] - vp[0]).mean() >= GRADES["mistake"]
        ]

    def plant_mistakes(self, candidates: list[list[Move]], seed: int) -> list[dict[str, Any]]:
        """Rows of one replaced move of each seat that has a mistake among its moves.

        Args:
            candidates: for each of at most BATCH_SIZE seats, the moves to try in this order.
        """
        mistakes: list[Move] = []
        for attempt in range(TRIES):
            planted_seats = {(move.game, move.seat) for move in mistakes}
            open_moves = [
                seat_moves[attempt] for seat_moves in candidates if len(seat_moves) > attempt
            ]
            open_moves = [
                move for move in open_moves if (move.game, move.seat) not in planted_seats
            ]
            mistakes += self.find_mistakes(open_moves, seed) if open_moves else []
        return self.judge_moves(mistakes, seed) if mistakes else []

    def play_out(
        self,
        states: Any,
        batch: Sequence[Move],
        actions: Sequence[np.ndarray],
        n: int,
        seed: int,
        sample: int = FRESH_SAMPLE,
    ) -> list[np.ndarray]:
        """For each move (K, n) VP of the deciding seat after each of its K actions.

        Args:
            sample: the number of the first random sample.
        """
        samples = range(sample, sample + n)
        candidates = [Candidates(row, own, samples) for row, own in enumerate(actions)]
        ends = self.judge.runner.play_candidates(states, candidates, seed, capacity=REQUEST_SIZE)
        if not all(end.ended.all() for end in ends):
            raise KeyboardInterrupt
        by_move = zip(ends, batch, strict=True)
        return [end.vp[:, :, move.seat].astype(float) for end, move in by_move]

    def expect_vp(self, batch: Sequence[Beginning], seed: int) -> list[dict[str, Any]]:
        """The VP that the agent expects for the seats of games, and those that they reached."""
        samples = range(OPENING_PLAYOUTS)
        candidates = [Candidates(row, [-1], samples) for row in range(len(batch))]
        ends = self.judge.runner.play_candidates(
            stacked(batch), candidates, seed, capacity=BATCH_SIZE * OPENING_PLAYOUTS
        )
        if not all(end.ended.all() for end in ends):
            raise KeyboardInterrupt
        vp = [end.vp[0].mean(0) for end in ends]
        return [
            {
                "game": beginning.game, "decision": beginning.number,
                "kinds": list(beginning.kinds), "vp": beginning.vp, "expected": vp[i].tolist(),
            }
            for i, beginning in enumerate(batch)
        ]  # fmt: skip

    def check_rows(
        self, batch: Sequence[Move], rows: Sequence[dict[str, Any]], seed: int
    ) -> list[Any]:
        """The rows of judged moves with the loss by FULL playouts of both moves."""
        actions = [np.array([row["played"], row["best"]]) for row in rows]
        sample = FRESH_SAMPLE + COARSE + FINE  # after the samples that chose the planted moves
        vp_by_move = self.play_out(stacked(batch), batch, actions, FULL, seed, sample)
        return [
            row | {"full": float((vp[1] - vp[0]).mean()), "error": _error(vp[1] - vp[0])}
            for row, vp in zip(rows, vp_by_move, strict=True)
        ]


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


def padded(batch: Sequence[Position]) -> list[Position]:
    """BATCH_SIZE moves; the last one is repeated."""
    return [batch[min(i, len(batch) - 1)] for i in range(BATCH_SIZE)]


def stacked(batch: Sequence[Move] | Sequence[Beginning]) -> Any:
    """(BATCH_SIZE, ...) states of moves."""
    return batched.stacked(move.state for move in padded(batch))


def report(results: dict[str, Any]) -> str:
    """Losses and grades by kind; share of planted moves found; accuracy; reported, full losses."""
    rows, lines = results["moves"], []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        losses = [Loss(*row["loss"]) for row in own]
        shrunk = np.array([loss.shrunk_mean for loss in losses])
        seats = {row["game"]: row["of"] for row in own}
        vp_per_game = shrunk.mean() * np.mean(list(seats.values()))
        counts = {name: sum(row["grade"] == name for row in own) for name in GRADES}
        lines.append(
            f"{kind}: {len(own)} moves of {len(seats)} games, VP lost a move {estimate(shrunk)},"
            f" in a game {vp_per_game:.0f}, {counts}"
        )
    planted = [Loss(*row["loss"]) for row in results["planted"]]
    if planted:
        detected = share(np.array([loss.low > 0 for loss in planted], float))
        grave = share(np.array([loss.grade in ("blunder", "mistake") for loss in planted], float))
        lines.append(f"{len(planted)} planted: found {detected}, a mistake or worse {grave}")
    if len(results["checked"]) > 2:
        reported = np.array([row["loss"][0] for row in results["checked"]])
        full = np.array([row["full"] for row in results["checked"]])
        lines.append(
            f"{len(full)} checked: correlation {np.corrcoef(reported, full)[0, 1]:.2f},"
            f" reported less full {estimate(reported - full)}"
        )
    return "\n".join([*lines, *accuracies(results["beginnings"])])


def accuracies(games: Sequence[dict[str, Any]]) -> list[str]:
    """By kind of player: how far its VP are below par, and its accuracy."""
    lines = []
    for kind in dict.fromkeys(kind for game in games for kind in game["kinds"]):
        below_par, own = [], []
        for game in games:
            seats = zip(
                game["kinds"], compute_pars(np.array(game["expected"])), game["vp"], strict=False
            )
            pairs = [(aim, vp) for player, aim, vp in seats if player == kind]
            if pairs:
                below_par.append(np.mean([aim - vp for aim, vp in pairs]))
                own.append(np.mean([compute_accuracy(*pair) for pair in pairs]))
        lines.append(
            f"{kind}: {len(own)} games, below par {estimate(np.array(below_par))} VP,"
            f" accuracy {estimate(np.array(own))}, a game {np.min(own):.0f} to {np.max(own):.0f}"
        )
    return lines


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.calibrate_review", __doc__)
    add = parser.add_argument
    add("records", type=Path, help="a folder of records that name their players")
    add("--out", type=Path, required=True, help="results, JSON")
    add(
        "--kinds",
        default="random,greedy,zoo/strong",
        help="whose moves; people where none is named",
    )
    add("--moves", type=whole(1, 1000), default=1000, help="of each seat, at most")
    add("--plant", action="store_true", help=f"replace a move of each {PLANTER} by a mistake")
    add("--check", metavar="N", type=whole(1, 1000), help="play N judged decisions out")
    add("--accuracy", action="store_true", help="play whole games from their first move on")
    add("--batches", type=whole(0, 1000), default=1000, help="at most N batches")
    args = parser.parse_args()
    outputs.check_file("--out", args.out, OUTPUT_CHECK)
    judge = zoo.about(JUDGE)["sha256"]
    results = {"format": FORMAT, "judge": judge} | {name: [] for name in GROUPS}
    if args.out.exists():
        results |= json.loads(args.out.read_text("utf-8"))
    if args.batches and results["judge"] != judge:
        raise UserError(
            f"{args.out} is of another {JUDGE}, {results['judge'][:12]}, than {judge[:12]}"
        )
    if args.batches:
        measure(args, results)
    print(report(results))
    return 0


def measure(args: argparse.Namespace, results: dict[str, Any]) -> None:
    """Measure batch after batch what the results still lack."""
    bench = Bench(args.records, 1 if args.plant else REMEASURE_ONE_IN)
    if args.check:
        rng = np.random.default_rng(0)
        rows = [row for row in results["moves"] + results["planted"] if len(row["policy"]) > 1]
        chosen_rows = {
            (rows[i]["game"], rows[i]["decision"]): rows[i]
            for i in rng.permutation(len(rows))[: args.check]
        }
        kinds = list(dict.fromkeys(row["kind"] for row in chosen_rows.values()))
        candidates = (move for move in moves(args.records, kinds, 1000) if move.key in chosen_rows)
        name, work = (
            "checked",
            lambda m, seed: bench.check_rows(m, [chosen_rows[x.key] for x in m], seed),
        )
    elif args.accuracy:
        games = unmeasured(beginnings(args.records), results["beginnings"])
        fill(args, results, "beginnings", games, bench.expect_vp)
        return
    elif args.plant:
        done = keys(results["planted"])
        open_seats = (x for x in seats(args.records) if done.isdisjoint(move.key for move in x))
        fill(args, results, "planted", open_seats, bench.plant_mistakes)
        return
    else:
        candidates = moves(args.records, args.kinds.split(","), args.moves)
        name, work = "moves", bench.judge_moves
    fill(args, results, name, unmeasured(candidates, results[name]), work)


def keys(rows: Sequence[dict[str, Any]]) -> set[tuple[str, int]]:
    """The positions of rows, as (game, decision)."""
    return {(row["game"], row["decision"]) for row in rows}


def unmeasured(positions: Iterator[Position], rows: Sequence[dict[str, Any]]) -> Iterator[Position]:
    """The positions that have no row."""
    measured = keys(rows)
    return (position for position in positions if position.key not in measured)


Work = TypeVar("Work")


def fill(
    args: argparse.Namespace,
    results: dict[str, Any],
    name: str,
    inputs: Iterator[Work],
    work: Callable[[list[Work], int], list[Any]],
) -> None:
    """Work batch after batch; add the rows to a group of the results and write them."""
    size = BATCH_SIZE // (REMEASURE_FACTOR + 1) if args.check else BATCH_SIZE
    while args.batches and (batch := list(islice(inputs, size))):
        results[name] += work(batch, len(results[name]))
        outputs.write_json(args.out, results)
        print(report(results), flush=True)
        args.batches -= 1


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

"""How a review judges players of known strength, what it finds, how near its losses are.

    python -m tools.calibrate_review RECORDS --out judged.json --kinds random,greedy,zoo/strong
    python -m tools.calibrate_review RECORDS --out judged.json --plant
    python -m tools.calibrate_review RECORDS --out judged.json --check 32
    python -m tools.calibrate_review RECORDS --out judged.json --accuracy

Of each game in a folder of records, moves of each seat are judged as a review judges them, 64
together. `--plant` replaces a move of each `zoo/strong` by the worst other main action, where that
loses as much as a mistake by playouts on luck of their own, and judges it: with the playouts of the
costliest eighth, where a review of a whole game has it.
`--check` plays the two moves of judged decisions out 256 times, planted ones too. `--accuracy`
plays each game 64 times from its first move on, and compares the VP of its seats. What is measured
is kept in `--out` after each batch, and gone on with.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import jax
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
from training.analysis.playouts import Jobs, jobs_of
from training.analysis.recorded_game import read_game
from training.analysis.review import compute_accuracy, compute_pars
from training.games.stats import estimate, share
from training.system import cli

from .recorded_moves import PLANTER, TRIES, Beginning, Move, beginnings, moves, others, seats

TOGETHER = 64  # moves that are judged together: one size, one program
AT_ONCE = 2048  # playouts of a request
FORMAT = "gaia_jax judged moves 3"
OURS = outputs.json_with(format=FORMAT)
GROUPS = ("moves", "planted", "checked", "beginnings")
BEGUN = FULL_GAMES_FACTOR * 16  # playouts from the first move of a game, as of a review
JUDGE = "zoo/strong"  # who plays out
GLANCES, SURE = 2, 32  # playouts of each main action that is tried for the worst; of the worst
FULL = 256  # playouts of each of the two moves that `--check` compares
OTHER_LUCK = 1 << 20  # number of a sample that no review draws


Position = TypeVar("Position", Move, Beginning)


class Bench:
    """Judges batches of moves; compiled once."""

    def __init__(self, folder: Path, again: int = REMEASURE_ONE_IN):
        self.env = read_game(min(folder.glob("*.json"))).env
        self.agent = make_agent(JUDGE, self.env)
        self.judge = Judge(self.env, self.agent, 16, again)

    def text(self, action: int) -> str:
        """An action as its text."""
        return to_text(self.env.ruleset, action)

    def judged(self, some: Sequence[Move], seed: int) -> list[dict[str, Any]]:
        """Rows of at most TOGETHER moves."""
        states = stacked(some)
        played = [move.played for move in padded(some)]
        asked = self.judge.compare_with_likely(states, range(len(played)), played)
        found = self.judge.judge(states, asked, seed)
        if len(found) < len(asked):
            raise KeyboardInterrupt
        return [self.row(one, move) for one, move in zip(found, some, strict=False)]

    def row(self, one: JudgedMove, move: Move) -> dict[str, Any]:
        """What is kept of a judged move."""
        return {
            "game": move.game, "kind": move.kind, "decision": move.number, "of": move.of,
            "vp": move.vp, "round": int(move.state.game.turn.round), "played": move.played,
            "text": self.text(move.played), "best": one.best, "better": self.text(one.best),
            "loss": list(one.loss), "grade": one.loss.grade, "playouts": one.num_playouts,
            "policy": one.comparison.probabilities.tolist(), "after": float(one.vp[move.seat]),
        }  # fmt: skip

    def worst(self, some: Sequence[Move], seed: int) -> list[Move]:
        """Those whose worst other main action loses as much as a mistake, with that action."""
        states, rules = stacked(some), self.env.ruleset
        tried = [np.array(others(rules, move.state, move.played)) for move in some]
        glances = self.played_out(states, some, tried, GLANCES, seed)
        bad = [int(x[np.argmin(vp.mean(1))]) for x, vp in zip(tried, glances, strict=True)]
        pairs = [np.array([one, move.played]) for one, move in zip(bad, some, strict=True)]
        sure = self.played_out(states, some, pairs, SURE, seed, OTHER_LUCK + GLANCES)
        return [
            move._replace(played=one)
            for move, one, vp in zip(some, bad, sure, strict=True)
            if (vp[1] - vp[0]).mean() >= GRADES["mistake"]
        ]

    def planted(self, asked: list[list[Move]], seed: int) -> list[dict[str, Any]]:
        """Rows of one replaced move of each seat, where one is found.

        Args:
            asked: of at most TOGETHER seats the moves to look at, one after the other.
        """
        found: list[Move] = []
        for at in range(TRIES):
            known = {(move.game, move.seat) for move in found}
            open_ = [some[at] for some in asked if len(some) > at]
            open_ = [move for move in open_ if (move.game, move.seat) not in known]
            found += self.worst(open_, seed) if open_ else []
        return self.judged(found, seed) if found else []

    def played_out(
        self,
        states: Any,
        some: Sequence[Move],
        tried: Sequence[np.ndarray],
        n: int,
        seed: int,
        sample: int = OTHER_LUCK,
    ) -> list[np.ndarray]:
        """VP (K, n) of who decides after each of K actions, for each move.

        Args:
            sample: number of the first one.
        """
        jobs, vp = jobs_of(list(tried), n, sample), []
        for first in range(0, len(jobs.action), AT_ONCE):
            part = Jobs(*(x[first : first + AT_ONCE] for x in jobs))
            ends = self.judge.runner.play(states, part, seed, capacity=AT_ONCE)
            if not ends.ended.all():
                raise KeyboardInterrupt
            vp.append(ends.vp)
        each = np.split(np.concatenate(vp), np.cumsum([len(x) * n for x in tried])[:-1])
        return [
            part[:, move.seat].reshape(-1, n).astype(float)
            for part, move in zip(each, some, strict=True)
        ]

    def expected(self, some: Sequence[Beginning], seed: int) -> list[dict[str, Any]]:
        """VP that the agent expects for the seats of games, beside those that were made."""
        jobs = jobs_of([np.array([-1])] * len(some), BEGUN)
        ends = self.judge.runner.play(stacked(some), jobs, seed, capacity=TOGETHER * BEGUN)
        if not ends.ended.all():
            raise KeyboardInterrupt
        vp = ends.vp.reshape(len(some), BEGUN, -1).mean(1)
        return [
            {"game": one.game, "decision": one.number, "kinds": list(one.kinds), "vp": one.vp}
            | {"expected": vp[i].tolist()}
            for i, one in enumerate(some)
        ]

    def checked(self, some: Sequence[Move], rows: Sequence[dict[str, Any]], seed: int) -> list[Any]:
        """The rows of judged moves, and what FULL playouts of both moves say."""
        tried = [np.array([one["played"], one["best"]]) for one in rows]
        fresh = OTHER_LUCK + GLANCES + SURE  # luck that has chosen no planted move
        own = self.played_out(stacked(some), some, tried, FULL, seed, fresh)
        return [
            one | {"full": float((vp[1] - vp[0]).mean()), "error": _error(vp[1] - vp[0])}
            for one, vp in zip(rows, own, strict=True)
        ]


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


def padded(some: Sequence[Position]) -> list[Position]:
    """TOGETHER moves, the last one again and again."""
    return [some[min(i, len(some) - 1)] for i in range(TOGETHER)]


def stacked(some: Sequence[Move] | Sequence[Beginning]) -> Any:
    """(TOGETHER, ...) states of moves."""
    return jax.tree.map(lambda *x: np.stack(x), *(move.state for move in padded(some)))


def report(found: dict[str, Any]) -> str:
    """Losses, accuracy and grades by kind; planted moves found; reported against full losses."""
    rows, lines = found["moves"], []
    for kind in dict.fromkeys(one["kind"] for one in rows):
        own = [one for one in rows if one["kind"] == kind]
        losses = [Loss(*one["loss"]) for one in own]
        shrunk = np.array([loss.shrunk_mean for loss in losses])
        seats = {one["game"]: one["of"] for one in own}
        whole = shrunk.mean() * np.mean(list(seats.values()))
        counts = {name: sum(one["grade"] == name for one in own) for name in GRADES}
        lines.append(
            f"{kind}: {len(own)} moves of {len(seats)} games, VP lost a move {estimate(shrunk)},"
            f" in a game {whole:.0f}, {counts}"
        )
    planted = [Loss(*one["loss"]) for one in found["planted"]]
    if planted:
        known = share(np.array([loss.low > 0 for loss in planted], float))
        grave = share(np.array([loss.grade in ("blunder", "mistake") for loss in planted], float))
        lines.append(f"{len(planted)} planted: found {known}, a mistake or worse {grave}")
    if len(found["checked"]) > 2:
        reported = np.array([one["loss"][0] for one in found["checked"]])
        full = np.array([one["full"] for one in found["checked"]])
        lines.append(
            f"{len(full)} checked: correlation {np.corrcoef(reported, full)[0, 1]:.2f},"
            f" reported less full {estimate(reported - full)}"
        )
    return "\n".join([*lines, *accuracies(found["beginnings"])])


def accuracies(games: Sequence[dict[str, Any]]) -> list[str]:
    """By kind of player: how far its VP are from what was expected, and its accuracy."""
    lines = []
    for kind in dict.fromkeys(kind for game in games for kind in game["kinds"]):
        behind, own = [], []
        for game in games:
            seats = zip(
                game["kinds"], compute_pars(np.array(game["expected"])), game["vp"], strict=False
            )
            pairs = [(aim, vp) for who, aim, vp in seats if who == kind]
            if pairs:
                behind.append(np.mean([aim - vp for aim, vp in pairs]))
                own.append(np.mean([compute_accuracy(*pair) for pair in pairs]))
        lines.append(
            f"{kind}: {len(own)} games, behind par {estimate(np.array(behind))} VP,"
            f" accuracy {estimate(np.array(own))}, a game {np.min(own):.0f} to {np.max(own):.0f}"
        )
    return lines


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.calibrate_review", __doc__)
    add = parser.add_argument
    add("records", type=Path, help="a folder of records that name their players")
    add("--out", type=Path, required=True, help="what was measured, JSON")
    add(
        "--kinds",
        default="random,greedy,zoo/strong",
        help="whose moves; people where none is named",
    )
    add("--moves", type=whole(1, 1000), default=1000, help="of each seat, at most")
    add("--plant", action="store_true", help=f"replace a move of each {PLANTER} by a mistake")
    add("--check", metavar="N", type=whole(1, 1000), help="play N judged decisions out")
    add("--accuracy", action="store_true", help="play whole games from their first move on")
    add("--batches", type=whole(0, 1000), default=1000, help="at most so many")
    args = parser.parse_args()
    outputs.check_file("--out", args.out, OURS)
    judge = zoo.about(JUDGE)["sha256"]
    found = {"format": FORMAT, "judge": judge} | {name: [] for name in GROUPS}
    if args.out.exists():
        found |= json.loads(args.out.read_text("utf-8"))
    if args.batches and found["judge"] != judge:
        raise UserError(
            f"{args.out} is of another {JUDGE}, {found['judge'][:12]}, than {judge[:12]}"
        )
    if args.batches:
        measure(args, found)
    print(report(found))
    return 0


def measure(args: argparse.Namespace, found: dict[str, Any]) -> None:
    """Batch after batch, behind those that are done."""
    bench = Bench(args.records, 1 if args.plant else REMEASURE_ONE_IN)
    if args.check:
        rng = np.random.default_rng(0)
        some = [one for one in found["moves"] + found["planted"] if len(one["policy"]) > 1]
        asked = {
            (some[i]["game"], some[i]["decision"]): some[i]
            for i in rng.permutation(len(some))[: args.check]
        }
        kinds = list(dict.fromkeys(one["kind"] for one in asked.values()))
        every = (move for move in moves(args.records, kinds, 1000) if move.key in asked)
        name, work = "checked", lambda m, seed: bench.checked(m, [asked[x.key] for x in m], seed)
    elif args.accuracy:
        games = left(beginnings(args.records), found["beginnings"])
        fill(args, found, "beginnings", games, bench.expected)
        return
    elif args.plant:
        done = keys(found["planted"])
        unknown = (x for x in seats(args.records) if done.isdisjoint(move.key for move in x))
        fill(args, found, "planted", unknown, bench.planted)
        return
    else:
        every = moves(args.records, args.kinds.split(","), args.moves)
        name, work = "moves", bench.judged
    fill(args, found, name, left(every, found[name]), work)


def keys(rows: Sequence[dict[str, Any]]) -> set[tuple[str, int]]:
    """Of which positions they are."""
    return {(one["game"], one["decision"]) for one in rows}


def left(every: Iterator[Position], rows: Sequence[dict[str, Any]]) -> Iterator[Position]:
    """The positions that have no row."""
    known = keys(rows)
    return (one for one in every if one.key not in known)


Work = TypeVar("Work")


def fill(
    args: argparse.Namespace,
    found: dict[str, Any],
    name: str,
    every: Iterator[Work],
    work: Callable[[list[Work], int], list[Any]],
) -> None:
    """Do the work, batch after batch, and keep the rows in a group of what was found."""
    size = TOGETHER // (REMEASURE_FACTOR + 1) if args.check else TOGETHER
    while args.batches and (some := list(islice(every, size))):
        found[name] += work(some, len(found[name]))
        outputs.write_json(args.out, found)
        print(report(found), flush=True)
        args.batches -= 1


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

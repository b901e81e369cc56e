"""How a review judges players of known strength.

    python -m tools.calibrate_review RECORDS --out judged.json --kinds random,greedy,zoo/strong

Of each game in a folder of records, moves of each seat are drawn and judged as
`python -m training.review` judges all of them, 64 together; moves that do not fill a batch are left
out. What is judged is kept in `--out` after each batch, and gone on with.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gaia_jax import replay
from gaia_jax.actions import to_text
from training.agents import make_agent
from training.games.stats import estimate
from training.study import review
from training.study.accuracy import GRADES, Loss, accuracy
from training.study.explain import read_game
from training.study.judge import Judge, Judged, Question, question
from training.study.position import probabilities
from training.system import atomic_files, cli

TOGETHER = 64  # moves that are judged together: one size, one program
FORMAT = "gaia_jax judged moves 1"
OURS = atomic_files.json_with(format=FORMAT)


class Move(NamedTuple):
    """A move that was drawn."""

    game: str
    kind: str  # who played it
    number: int  # from 1
    state: Any
    played: int


def moves(folder: Path, kinds: Sequence[str], each: int) -> Iterator[Move]:
    """Moves of the seats of these kinds, so many of each seat; the same ones at every call."""
    for path in sorted(folder.glob("*.json")):
        players, game = replay.read(path).players, read_game(path)
        rng = np.random.default_rng(int.from_bytes(path.stem.encode()) % 2**64)
        asked = review.main_moves(game)
        for seat, kind in enumerate(players):
            own = [at for at in asked if int(game.states[at].current_player) == seat]
            if kind in kinds and own:
                for at in sorted(rng.permutation(own)[:each].tolist()):
                    state = jax.device_get(game.states[at])
                    yield Move(path.stem, kind, at + 1, state, game.actions[at])


def row(one: Judged, move: Move, text: str) -> dict[str, Any]:
    """What is kept of a judged move."""
    return {
        "game": move.game, "kind": move.kind, "decision": move.number, "text": text,
        "round": int(move.state.game.turn.round), "loss": list(one.loss), "grade": one.loss.grade,
        "candidates": len(one.question.candidates),
    }  # fmt: skip


def judged(judge: Judge, agent: Any, some: Sequence[Move], seed: int) -> list[Any]:
    """Rows of so many moves."""
    states = jax.tree.map(lambda *x: np.stack(x), *(move.state for move in some))
    chance, seats = probabilities(agent, states), np.asarray(states.current_player)
    asked: list[Question] = [
        question(i, int(seats[i]), move.played, chance[i]) for i, move in enumerate(some)
    ]
    found = judge.judge(states, asked, seed)
    if len(found) < len(some):
        raise KeyboardInterrupt
    rules = judge.players.env.ruleset
    return [
        row(one, move, to_text(rules, move.played)) for one, move in zip(found, some, strict=True)
    ]


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Mean loss, accuracy and grades by kind."""
    lines = []
    for kind in dict.fromkeys(one["kind"] for one in rows):
        own = [one for one in rows if one["kind"] == kind]
        losses = [Loss(*one["loss"]) for one in own]
        shrunk = estimate(np.array([loss.shrunk for loss in losses]))
        counts = {name: sum(one["grade"] == name for one in own) for name in GRADES}
        lines.append(
            f"{kind}: {len(own)} moves of {len({one['game'] for one in own})} games, VP lost a move"
            f" {shrunk}, accuracy {accuracy(losses):.1f}, {counts}"
        )
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.calibrate_review", __doc__)
    parser.add_argument("records", type=Path, help="a folder of records that name their players")
    parser.add_argument("--out", type=Path, required=True, help="what was judged, JSON")
    parser.add_argument("--kinds", default="random,greedy,zoo/strong", help="whose moves")
    parser.add_argument("--moves", type=cli.whole(1, 1000), default=1, help="of each seat")
    parser.add_argument("--batches", type=cli.whole(0, 1000), default=1000, help="at most so many")
    args = parser.parse_args()
    atomic_files.check_file("--out", args.out, OURS)
    done = json.loads(args.out.read_text("utf-8"))["moves"] if args.out.exists() else []
    if args.batches:
        measure(args, done)
    print(report(done))
    return 0


def measure(args: argparse.Namespace, done: list[dict[str, Any]]) -> None:
    """Judge batch after batch, behind those that are done."""
    known = {(one["game"], one["decision"]) for one in done}
    every = moves(args.records, args.kinds.split(","), args.moves)
    left = (move for move in every if (move.game, move.number) not in known)
    first = next(iter(sorted(args.records.glob("*.json"))))
    env = read_game(first).env
    agent = make_agent("zoo/strong", env)
    judge, some = Judge(env, agent, 16), []
    for move in left:
        some.append(move)
        if len(some) == TOGETHER:
            done += judged(judge, agent, some, len(done))
            atomic_files.write_json(args.out, {"format": FORMAT, "moves": done})
            print(report(done), flush=True)
            some, args.batches = [], args.batches - 1
            if not args.batches:
                return


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

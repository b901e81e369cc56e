"""How a review judges players of known strength, and whether it finds planted blunders.

    python -m tools.calibrate_review RECORDS --out judged.json --kinds random,greedy,zoo/strong
    python -m tools.calibrate_review RECORDS --out planted.json --kinds zoo/strong --plant

Of each game in a folder of records, moves of each seat are drawn and judged as
`python -m training.review` judges all of them. With `--plant` a move is replaced by the worst of
the legal main actions that the policy likes least, by a few playouts of each, and the review is to
find it. What is judged is kept in `--out`, some games at a time, and gone on with.
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
from gaia_jax.state import Node
from training.agents import make_agent
from training.games.stats import estimate, share
from training.study import review
from training.study.accuracy import GRADES, Loss, accuracy
from training.study.actions import is_main
from training.study.explain import read_game
from training.study.judge import Judge, Judged, Question, question
from training.study.playouts import Jobs, jobs_of
from training.study.position import probabilities
from training.system import atomic_files, cli

TOGETHER = 64  # moves that are judged together: one size, one program
WORST = 8  # main actions that the policy likes least, of which one is planted
TRIES = 4  # playouts of each
FRESH = 1 << 17  # number of the first sample of these: no luck of the review


class Move(NamedTuple):
    """A move that was drawn."""

    game: str
    kind: str  # who played it
    number: int  # from 1
    state: Any
    played: int


def moves(folder: Path, kinds: Sequence[str], each: int, planted: bool) -> Iterator[Move]:
    """Moves of the seats of these kinds, so many of each seat; the same ones at every call."""
    for path in sorted(folder.glob("*.json")):
        players, game = replay.read(path).players, read_game(path)
        rng = np.random.default_rng(int.from_bytes(path.stem.encode()) % 2**64)
        asked = review.main_moves(game)
        if planted:
            asked = [at for at in asked if game.states[at].game.turn.node == Node.TURN]
        for seat, kind in enumerate(players):
            own = [at for at in asked if int(game.states[at].current_player) == seat]
            if kind in kinds and own:
                for at in sorted(rng.permutation(own)[:each].tolist()):
                    state = jax.device_get(game.states[at])
                    yield Move(path.stem, kind, at + 1, state, game.actions[at])


def worst(judge: Judge, states: Any, chance: np.ndarray, seed: int) -> list[int]:
    """The action to plant in each position."""
    rules = judge.players.env.ruleset
    texts = rules.actions.texts
    tried = []
    for row, mask in enumerate(np.asarray(states.legal_action_mask)):
        main = [a for a in np.flatnonzero(mask) if is_main(int(Node.TURN), texts[a])]
        tried.append(np.array(sorted(main, key=lambda a, r=row: chance[r, a])[:WORST]))
    jobs: Jobs = jobs_of(tried, TRIES, FRESH)
    ends = judge.players.play(states, jobs, seed, capacity=TOGETHER * 2 * judge.playouts)
    seats = np.asarray(states.current_player)
    found, before = [], 0
    for row, actions in enumerate(tried):
        here = slice(before, before + len(actions) * TRIES)
        before = here.stop
        own = ends.vp[here, seats[row]].reshape(len(actions), TRIES).mean(1)
        found.append(int(actions[int(np.argmin(own))]))
    return found


def row(one: Judged, move: Move, text: str) -> dict[str, Any]:
    """What is kept of a judged move."""
    return {
        "game": move.game, "kind": move.kind, "decision": move.number, "text": text,
        "round": int(move.state.game.turn.round), "loss": list(one.loss), "grade": one.loss.grade,
        "candidates": len(one.question.candidates),
    }  # fmt: skip


def judged(judge: Judge, agent: Any, some: Sequence[Move], seed: int, plant: bool) -> list[Any]:
    """Rows of so many moves."""
    states = jax.tree.map(lambda *x: np.stack(x), *(move.state for move in some))
    chance, seats = probabilities(agent, states), np.asarray(states.current_player)
    played = worst(judge, states, chance, seed) if plant else [move.played for move in some]
    asked: list[Question] = [
        question(i, int(seats[i]), played[i], chance[i]) for i in range(len(some))
    ]
    found = judge.judge(states, asked, seed)
    if len(found) < len(some):
        raise KeyboardInterrupt
    rules = judge.players.env.ruleset
    return [
        row(one, move, to_text(rules, a)) for one, move, a in zip(found, some, played, strict=True)
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
        graver = np.array([one["grade"] in ("blunder", "mistake") for one in own], float)
        lines.append(f"  graded mistake or blunder: {share(graver)}")
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = cli.Parser("python -m tools.calibrate_review", __doc__)
    parser.add_argument("records", type=Path, help="a folder of records that name their players")
    parser.add_argument("--out", type=Path, required=True, help="what was judged, JSON")
    parser.add_argument("--kinds", default="random,greedy,zoo/strong", help="whose moves")
    parser.add_argument("--moves", type=cli.whole(1, 1000), default=1, help="of each seat")
    parser.add_argument("--batches", type=cli.whole(0, 1000), default=1000, help="at most so many")
    parser.add_argument("--plant", action="store_true", help="judge planted moves")
    args = parser.parse_args()
    done = json.loads(args.out.read_text("utf-8")) if args.out.exists() else []
    if args.batches:
        measure(args, done)
    print(report(done))
    return 0


def measure(args: argparse.Namespace, done: list[dict[str, Any]]) -> None:
    """Judge batch after batch, behind those that are done."""
    known = {(one["game"], one["decision"]) for one in done}
    every = moves(args.records, args.kinds.split(","), args.moves, args.plant)
    left = (move for move in every if (move.game, move.number) not in known)
    first = next(iter(sorted(args.records.glob("*.json"))))
    env = read_game(first).env
    agent = make_agent("zoo/strong", env)
    judge, some = Judge(env, agent, 16), []
    for move in left:
        some.append(move)
        if len(some) == TOGETHER:
            done += judged(judge, agent, some, len(done), args.plant)
            atomic_files.write_text(args.out, json.dumps(done, indent=1) + "\n")
            print(report(done), flush=True)
            some, args.batches = [], args.batches - 1
            if not args.batches:
                return


if __name__ == "__main__":
    cli.prepare()
    sys.exit(cli.run(main))

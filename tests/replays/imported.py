"""Recorded games through the importer: which become records that play, which changes it names.

    python -m tests.replays.imported FILE.jsonl.gz ... [--mutants N] [--seed 0]

Each game becomes a record, which is played again. A game that is refused is printed with its line.
Then one move is changed in N games, drawn at random: the importer must refuse each in one
line, which names a move at the change or after it. The exit code is 0 where it does.
"""

from __future__ import annotations

import argparse
import copy
import random
import re
import sys
from pathlib import Path

from gaia_jax import enable_compilation_cache, replay
from gaia_jax.importers import boardgamers
from gaia_jax.importers.boardgamers import LogError
from tests.replays.changes import Record, moves, rewrite
from tests.replays.play import read

WORDS = ("build", "up", "action", "pass", "tech", "federation", "booster", "special")
NAMED = re.compile(r", move (\d+)\b")


def imported(log: Record) -> str:
    """How a game was read: `refused`, `broken off`, `equal` or `lower` VP at its end; and more.

    Raises:
        replay.RecordError: the record does not play to its final VP.
    """
    try:
        result = boardgamers.to_record(log)
    except LogError as error:
        return f"refused: {error}"
    end = replay.play(result.record)
    assert bool(end.terminated) == bool(result.record.final_vp)
    if not result.record.final_vp:
        return "broken off"
    shortfalls = [
        recorded_vp - vp
        for recorded_vp, vp in zip(result.logged_vp, result.record.final_vp, strict=True)
    ]
    return f"lower: by {shortfalls}, {dict(result.inexpressible)}" if any(shortfalls) else "equal"


def changed(log: Record, rng: random.Random) -> tuple[int, Record]:
    """A game with one move changed, and the number of the move, from 1."""
    game = copy.deepcopy(log)
    number, at, words = rng.choice([move for word in WORDS for move in moves(game, word)])
    kind = rng.randrange(3)
    if kind == 0:
        rewrite(game, number, at, None)
    elif kind == 1:
        rewrite(game, number, at, [words[0], *["?" for _ in words[1:]], "?"])
    else:
        game["steps"].insert(number, copy.deepcopy(game["steps"][number]))
    return number + 1, game


def named(number: int, game: Record) -> str:
    """What is wrong with the message about a changed move; empty where it is right."""
    try:
        boardgamers.to_record(game)
    except LogError as error:
        at = NAMED.search(str(error))
        right = at is not None and int(at[1]) >= number and "\n" not in str(error)
        return "" if right else str(error)
    return "read as if it were whole"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.replays.imported", description="Read recorded games as records."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines, gzipped")
    parser.add_argument("--mutants", type=int, default=60, help="games with a changed move")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    enable_compilation_cache()
    logs, counts = read(args.files), dict[str, int]()
    complete: list[Record] = []
    for log in logs:
        outcome = imported(log)
        kind = outcome.partition(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
        if kind != "refused":
            complete.append(log)
        if kind in ("refused", "lower"):
            print(f"{log['id']}: {outcome}", flush=True)
    print(f"games {len(logs)}: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    rng, wrong = random.Random(args.seed), 0
    playable = [log for log in complete if any(moves(log, word) for word in WORDS)]
    for _ in range(args.mutants):
        number, game = changed(rng.choice(playable), rng)
        if outcome := named(number, game):
            wrong += 1
            print(f"{game['id']}, move {number} changed: {outcome}", flush=True)
    print(f"changed games {args.mutants}: {args.mutants - wrong} named with their move")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Puzzles of games that an agent plays: one move is clearly better than the policy's first choice.

    python -m training.puzzles --games 4 --out puzzles.json
    python -m training.puzzles --of puzzles.json --solve greedy,zoo/quick

A puzzle's answer has at least 5 VP more by playouts, and more than each other candidate, with
intervals above 0. Every game is kept when it is done; Ctrl-C keeps those before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .system import atomic_files, cli
from .system.cli import UserError

if TYPE_CHECKING:
    from gaia_jax import GaiaEnv

    from .study.explain import Game
    from .study.review import Plain


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 where Ctrl-C left games out."""
    args = _parse(argv)
    import gaia_jax

    from .study import puzzles, review
    from .system.devices import split_cpu
    from .system.environments import make_env

    review.check_policy(args.agent)  # before any work; again by `Maker`
    if args.out:
        atomic_files.check_file("--out", args.out, puzzles.OURS)
    split_cpu(0, 1 << 20)  # of so many games, so that every core is a device
    found, whole = puzzles.read(args.of) if args.of else {}, True
    rules = (found["ruleset"], puzzles.players_of(found)) if found else (args.env, args.players)
    env = make_env(gaia_jax, rules[0], "vp", rules[1])
    solvers = puzzles.solvers(args.solve.split(","), env) if args.solve else {}
    if not args.of:
        found, whole = _make(args, env)
    rates = {}
    for name, solver in solvers.items() if whole else ():
        with cli.telling(partial("asking {}".format, name)):
            rates[name] = puzzles.solved(found, solver)
    print(puzzles.text(found, rates))
    cli.wrote(args.out)
    return 0 if whole else 130


def _make(args: argparse.Namespace, env: GaiaEnv) -> tuple[Plain, bool]:
    """Puzzles of games, written after each; whether there are as many games as were wanted."""
    from .study import puzzles

    maker = puzzles.Maker(env, args.agent, args.playouts, args.from_round)
    made: list[tuple[Game, list[Plain]]] = []
    said, ended = "", 0

    def progress(now: int) -> None:
        nonlocal ended
        ended = now

    try:
        with cli.telling(lambda: f"{said}, {ended} playouts"):
            for number in range(args.first, args.first + args.games):
                count = sum(len(some) for _, some in made)
                said, ended = f"game {number}, {count} puzzles", 0
                game = puzzles.play(env, maker.agent, args.seed, number)
                some, whole = maker.of_game(game, number, progress)
                made.append((game, some))
                found = puzzles.as_json(env, args.agent, args.playouts, made)
                if args.out:
                    atomic_files.write_json(args.out, found)
                if not whole:
                    return found, False
    except KeyboardInterrupt:
        if not made:
            raise
    return found, len(made) == args.games


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.puzzles", __doc__)
    add = parser.add_argument
    add("--games", metavar="N", type=cli.whole(1, 10**5), default=4, help="how many are played")
    add("--agent", default="zoo/strong", help="who plays, at all seats; one with a policy")
    add("--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="of the set-ups")
    add("--first", type=cli.whole(0, 10**6), default=0, help="number of the first set-up")
    text = "of each candidate, when a puzzle is checked"
    add("--playouts", metavar="N", type=cli.whole(8, 10**4), default=64, help=text)
    text = "the first round with puzzles; later ones take less time"
    add("--from-round", metavar="N", type=cli.whole(1, 6), default=1, help=text)
    add("--of", metavar="FILE", type=Path, help="make none, take those of this file")
    add("--solve", metavar="A,B", help="say how many puzzles these agents solve")
    add("--out", metavar="FILE", type=Path, help="write the puzzles here, JSON")
    cli.add_rules_flags(parser)
    cli.add_cache_flag(parser)
    args = parser.parse_args(argv)
    if args.of and args.out:
        raise UserError("--out is of puzzles that are made, --of takes those of a file")
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))

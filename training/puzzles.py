"""Puzzles of games that an agent plays: one move is clearly better than the policy's first choice.

    python -m training.puzzles --games 16 --solved-by zoo/strong+search:128 --out puzzles.json
    python -m training.puzzles --of puzzles.json --unsolved-by greedy --out chosen.json
    python -m training.puzzles --of puzzles.json --again --agent runs/mine --out again.json
    python -m training.puzzles --of puzzles.json --held-by zoo/strong+search:64 --out held.json

A puzzle's answer has at least 5 VP more by playouts, and 3.5 more than each other candidate, with
intervals above 0; `--beats zoo/quick` makes easier ones. `--of` alone takes the project's own;
`--again` keeps what is a puzzle of `--agent` too, `--held-by` what holds where a stronger one is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .system import atomic_files, cli
from .system.cli import UserError

if TYPE_CHECKING:
    from gaia_jax import GaiaEnv

    from .analysis.review import Plain


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 where Ctrl-C left games out."""
    args = _parse(argv)
    import gaia_jax

    from .analysis import puzzle_held, puzzle_maker, puzzles, review
    from .system.devices import split_cpu
    from .system.environments import make_env

    review.check_policy(args.agent)  # before any work; again by the maker
    if args.out and not args.resume:
        atomic_files.check_file("--out", args.out, puzzles.OURS)
    split_cpu(0, 1 << 20)  # of so many games, so that every core is a device
    of = puzzles.SHIPPED if args.of == Path() else args.of
    collection, is_complete = puzzles.read(of) if of else {}, True
    rules = (
        (collection["ruleset"], puzzles.players_of(collection))
        if collection
        else (args.env, args.players)
    )
    env = make_env(gaia_jax, rules[0], "vp", rules[1])
    chosen = [*args.solved_by, *args.unsolved_by] if of else []
    solvers = puzzles.solvers([*chosen, *args.solve], env)
    agent = args.agent if args.again else collection.get("agent", "")
    holder = puzzle_held.Holder(env, agent, args.held_by) if args.held_by else None
    if args.again:
        with cli.status_line(lambda: "trying the puzzles again"):
            collection = puzzle_maker.Maker(env, args.agent, args.playouts).again(collection)
    elif not args.of:
        collection, is_complete = _make(args, env)
    if holder:
        collection, is_complete = holder.those_held(collection)
    rates, asked_solvers = {}, solvers if is_complete and collection["puzzles"] else {}
    with cli.status_line(lambda: "playing the games to their puzzles"):
        walked = list(puzzles.positions(collection)) if asked_solvers else []
    for name, solver in asked_solvers.items():
        with cli.status_line(partial("asking {}".format, name)):
            rates[name] = puzzles.solved(collection, solver, walked)
    if chosen and is_complete:
        collection, rates = puzzles.chosen(collection, rates, args.solved_by, args.unsolved_by)
    if args.of and args.out:
        atomic_files.write_text(args.out, puzzles.to_text(collection))
    print(puzzles.text(collection, rates))
    cli.wrote(args.out)
    return 0 if is_complete else 130


def _make(args: argparse.Namespace, env: GaiaEnv) -> tuple[Plain, bool]:
    """Puzzles of games, written again and again; whether there are as many games as wanted."""
    from .analysis import puzzle_maker, puzzles

    about, choose = (env, args.agent, args.playouts), (args.solved_by, args.unsolved_by)
    empty = puzzles.empty(*about, args.seed, args.first, args.from_round, *choose)
    collection = puzzles.beating(empty, args.beats)
    if args.resume and args.out.exists():
        collection = puzzles.begun(args.out, collection)
    maker = puzzle_maker.Maker(*about, args.from_round, *choose, args.beats)
    return maker.write(collection, args.first, args.games, args.out)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.puzzles", __doc__)
    add = parser.add_argument
    names: dict[str, Any] = {"metavar": "A,B", "type": partial(str.split, sep=","), "default": []}
    add("--games", metavar="N", type=cli.whole(1, 10**5), default=8, help="how many are played")
    add("--agent", default="zoo/strong", help="who plays, at all seats; one with a policy")
    add("--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="of the set-ups")
    add("--first", type=cli.whole(0, 10**6), default=0, help="number of the first set-up")
    add("--playouts", metavar="N", type=cli.whole(32, 10**4), default=64, help="of each candidate")
    add("--from-round", metavar="N", type=cli.whole(1, 6), default=1, help="later ones: less time")
    add("--of", metavar="FILE", type=Path, nargs="?", const=Path(), help="make none, take these")
    add("--again", action="store_true", help="of --of: keep what --agent finds a puzzle too")
    add("--solve", **names, help="say how many puzzles these agents solve")
    add("--solved-by", **names, help="keep what each of these agents solves")
    add("--unsolved-by", **names, help="leave out what one of these agents solves")
    add("--beats", metavar="A", default="", help="the answer beats A's choice, not --agent's own")
    add("--held-by", metavar="A", default="", help="of --of: keep what holds where A plays on")
    add("--out", metavar="FILE", type=Path, help="write the puzzles here, JSON")
    add("--resume", action="store_true", help="go on with the puzzles of --out")
    cli.add_rules_flags(parser)
    cli.add_cache_flag(parser)
    args = parser.parse_args(argv)
    chooses = args.solved_by or args.unsolved_by or args.held_by
    if (args.again or args.held_by) and not args.of:
        raise UserError("--again and --held-by are of a file: --of names it")
    if args.of and (args.resume or args.beats or (args.out and not chooses and not args.again)):
        raise UserError("--out and --beats are of making puzzles, --of takes those of a file")
    if args.resume and not args.out:
        raise UserError("--resume continues the file of --out")
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))

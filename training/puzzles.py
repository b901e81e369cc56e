"""Puzzles of games that an agent plays: one first move is best, solved exactly.

    python -m training.puzzles --games 2000 --at-most 60 --out puzzles.json
    python -m training.puzzles --solved-by zoo/strong+search:128 --out set.json --resume
    python -m training.puzzles --of puzzles.json --unsolved-by greedy --out chosen.json
    python -m training.puzzles --of --solve zoo/strong+search:128,greedy

All other players have passed. In the last round the answer leads to the most VP at the end of the
game, by 3 VP at least; in earlier rounds it alone leads to a federation, or to an advanced tile,
before the player passes. `--of` without a file takes the shipped puzzles.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import LARGEST_SEED, UserError, whole, wrote
from gaia_jax.cli.progress import status_line

from .system import cli


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 if Ctrl-C left games out."""
    args = _parse(argv)
    import gaia_jax

    from .analysis import puzzles, review
    from .analysis.puzzle_maker import PuzzleMaker
    from .system.environments import make_env

    review.check_policy(args.agent)  # before any work; the maker checks again
    if args.out:
        outputs.check_file("--out", args.out, puzzles.is_own_file)
    source = puzzles.SHIPPED if args.of == Path() else args.of
    collection, is_complete = puzzles.read(source) if source else {}, True
    ruleset = collection.get("ruleset", args.env)
    players = puzzles.num_players(collection) if collection else args.players
    env = make_env(gaia_jax, ruleset, "vp", players)
    criteria = puzzles.AnswerCriteria(args.solved_by, args.unsolved_by)
    selecting_agents = criteria.agents if source else []
    solvers = puzzles.make_solvers([*selecting_agents, *args.solve], env)
    if not source:
        settings = (args.agent, args.max_steps, args.seed, args.first, criteria)
        collection = puzzles.new_collection(env, *settings)
        collection |= {"at_most": args.at_most} if args.at_most else {}
        if args.resume and args.out.exists():
            collection = puzzles.read_to_resume(args.out, collection, args.players)
        maker = PuzzleMaker(env, args.agent, args.max_steps, criteria)
        collection, is_complete = maker.extend(
            collection, args.first + args.games, args.out, args.at_most or 0
        )
    solved_by_agent = {}
    if solvers and is_complete and collection["puzzles"]:
        with status_line(lambda: "replaying the games"):
            positions = list(puzzles.replay_positions(collection))
        for name, solver in solvers.items():
            with status_line(partial("asking {}".format, name)):
                solved_by_agent[name] = puzzles.find_solved(solver, env, positions)
    if selecting_agents and is_complete:
        collection, solved_by_agent = puzzles.select_solved(collection, solved_by_agent, criteria)
    if args.out and source:
        puzzles.write(args.out, collection)
    print(puzzles.summary(collection, solved_by_agent))
    if args.out and args.out.exists():
        wrote(args.out)
    return 0 if is_complete else 130


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.puzzles", __doc__, cache_flag=True)
    add = parser.add_argument
    names: dict[str, Any] = {"metavar": "A,B", "type": partial(str.split, sep=","), "default": []}
    add("--games", metavar="N", type=whole(1, 10**5), default=8, help="number of games")
    text = "stop at N puzzles, at most 70 %% of them of rounds 5 and 6"
    add("--at-most", metavar="N", type=whole(1, 10**4), help=text)
    add("--agent", default="zoo/strong", help="the agent at all seats; one with a policy")
    add("--seed", type=whole(0, LARGEST_SEED), default=0, help="seed of the set-ups")
    add("--first", type=whole(0, 10**6), default=0, help="number of the first set-up")
    text = "leave out positions that take more steps to solve"
    add("--max-steps", metavar="N", type=whole(1, 10**8), default=20_000, help=text)
    add("--of", metavar="FILE", type=Path, nargs="?", const=Path(), help="read puzzles from a file")
    add("--solve", **names, help="report how many puzzles these agents solve")
    add("--solved-by", **names, help="keep puzzles that each of these agents solves")
    add("--unsolved-by", **names, help="drop puzzles that one of these agents solves")
    add("--out", metavar="FILE", type=Path, help="write the puzzles here: .json or .json.gz")
    add("--resume", action="store_true", help="continue the puzzles of --out")
    cli.add_rules_flags(parser, solo=False)
    args = parser.parse_args(argv)
    if args.of and (args.resume or args.at_most):
        raise UserError("--resume and --at-most make new puzzles: leave out --of")
    if args.of and args.out:
        outputs.check_different({"--of": args.of, "--out": args.out})
    if args.of and args.out and not (args.solved_by or args.unsolved_by):
        raise UserError("--of goes with --out only for a selection: add --solved-by")
    if args.resume and not args.out:
        raise UserError("--resume continues the file of --out")
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))

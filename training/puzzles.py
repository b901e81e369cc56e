"""Puzzles of games that an agent plays: one move clearly leads the agent's first choice.

    python -m training.puzzles --games 16 --solved-by zoo/strong+search:128 --out puzzles.json
    python -m training.puzzles --held-by zoo/strong+search:256 --at-most 20 --out set.json --resume
    python -m training.puzzles --of puzzles.json --unsolved-by greedy --out chosen.json
    python -m training.puzzles --of puzzles.json --again --agent runs/mine --out again.json
    python -m training.puzzles --of puzzles.json --held-by zoo/strong+search:256 --out held.json
    python -m training.puzzles --of --fair --out fair.json

A puzzle's answer leads by 5 VP in playouts, and all other candidates by 3.5 VP, with intervals
above 0; `--beats zoo/quick` makes easier puzzles. `--of` without a file takes the shipped puzzles.
`--held-by` keeps those whose answer also leads by 3.5 VP, for the same event, if that agent makes
the next 16 decisions of the seat; `--fair` those that lead every legal move by 3 VP.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import LARGEST_SEED, UserError, whole, wrote
from gaia_jax.cli.progress import status_line

from .system import cli, jobs

if TYPE_CHECKING:
    from gaia_jax import GaiaEnv

    from .analysis.playout_journal import PlayoutJournal
    from .analysis.puzzles import AnswerCriteria
    from .types import JsonObject


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 if Ctrl-C left games or puzzles out."""
    args = _parse(argv)
    import gaia_jax

    from .analysis import puzzles, review
    from .analysis.playout_journal import PlayoutJournal
    from .system.devices import split_cpu
    from .system.environments import make_env

    review.check_policy(args.agent)  # before any work; the maker checks again
    journal = None
    if args.out:
        outputs.check_file("--out", args.out, puzzles.is_own_file)
        if args.held_by if args.of else args.on == jobs.LOCAL:  # others store shards
            journal = PlayoutJournal(args.out)
    if journal and not args.resume:
        journal.check_new()
    split_cpu(0, 1 << 20)  # enough games for every core to be a device
    source = puzzles.SHIPPED if args.of == Path() else args.of
    collection = puzzles.read(source) if source else {}
    ruleset = collection.get("ruleset", args.env)
    players = puzzles.num_players(collection) if collection else args.players
    env = make_env(gaia_jax, ruleset, "vp", players)
    criteria = puzzles.AnswerCriteria(args.solved_by, args.unsolved_by, args.beats, args.held_by)
    selecting_agents = criteria.agents if args.of else []
    solvers = puzzles.make_solvers([*selecting_agents, *args.solve], env)
    collection, is_complete = _collect(args, env, criteria, collection, journal)
    solved_by_agent = {}
    if solvers and is_complete and collection["puzzles"]:
        with status_line(lambda: "replaying the games"):
            positions = list(puzzles.replay_positions(collection))
        for name, solver in solvers.items():
            with status_line(partial("asking {}".format, name)):
                solved_by_agent[name] = puzzles.find_solved(solver, positions)
    if selecting_agents and is_complete:
        collection, solved_by_agent = puzzles.select_solved(collection, solved_by_agent, criteria)
    if args.out and args.of:
        puzzles.write(args.out, collection)
        if journal and is_complete:
            journal.clear()
    print(puzzles.summary(collection, solved_by_agent))
    wrote(args.out)
    return 0 if is_complete else 130


def _collect(
    args: argparse.Namespace,
    env: GaiaEnv,
    criteria: AnswerCriteria,
    collection: JsonObject,
    journal: PlayoutJournal | None,
) -> tuple[JsonObject, bool]:
    """The puzzles, made, or those of a file, tried again or verified; and whether all is done."""
    from .analysis import puzzles
    from .analysis.puzzle_blocks import MakerArgs, make_in_blocks
    from .analysis.puzzle_maker import PuzzleMaker
    from .analysis.verification import PuzzleVerifier

    maker_args, is_complete = (env, args.agent, args.playouts), True
    if args.again:
        with status_line(lambda: "trying the puzzles again"):
            collection = PuzzleMaker(*maker_args).retry(collection)
    elif not args.of and args.on != jobs.LOCAL:
        settings = (args.env, args.players, args.agent, args.playouts, criteria)
        block_args = MakerArgs(*settings, args.seed, args.from_round)
        collection = make_in_blocks(
            block_args, args.first, args.games, args.out, args.resume, args.on
        )
    elif not args.of:
        collection = puzzles.new_collection(
            *maker_args, args.seed, args.first, args.from_round, criteria
        )
        collection |= {"at_most": args.at_most} if args.at_most else {}
        if args.resume and args.out.exists():
            collection = puzzles.read_to_resume(args.out, collection)
        maker = PuzzleMaker(*maker_args, criteria)
        collection, is_complete = maker.extend(
            collection, args.first, args.games, args.out, args.at_most or 0
        )
    if args.held_by and args.of:
        verifier = PuzzleVerifier(env, collection["agent"], args.held_by, journal)
        collection, is_complete = verifier.verify(collection)
    if args.fair and is_complete:
        collection = _fair(args, env, collection)
    return collection, is_complete


def _fair(args: argparse.Namespace, env: GaiaEnv, collection: JsonObject) -> JsonObject:
    """The puzzles whose answer leads every legal move; prints the nearest rival of each puzzle."""
    from .agents import make_agent
    from .analysis import puzzles
    from .analysis.races import make_race, nearest_rivals
    from .analysis.trials import CandidatePlayer

    player = CandidatePlayer(env, make_agent(args.agent, env))
    races = [
        make_race(env, number, state, puzzle["player"], int(puzzle["answer"]["action"]))
        for number, puzzle, state in puzzles.replay_positions(collection)
    ]
    with status_line(lambda: f"{len(races)} puzzles, {player.num_played} playouts"):
        by_number = nearest_rivals(player, races, args.seed)
    rivals = [by_number[number] for number in range(len(races))]
    for number, (puzzle, rival) in enumerate(zip(collection["puzzles"], rivals, strict=True), 1):
        words = f"{puzzle['answer']['text']} leads {env.ruleset.actions.texts[rival.action]}"
        lead = f"{rival.lead:.1f} VP (standard error {rival.error:.1f})"
        moves = f"the nearest of {rival.num_moves} other moves"
        print(f"{number}: {words}, {moves}, by {lead}{'' if rival.is_fair else ', unfair'}")
    fair = [number for number, rival in enumerate(rivals) if rival.is_fair]
    return puzzles.select_puzzles(collection, fair, {"fair_by": [args.agent]})


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
    add("--playouts", metavar="N", type=whole(32, 10**4), default=64, help="of each candidate")
    text = "first round of puzzles; 0: start places too"
    add("--from-round", metavar="N", type=whole(0, 6), default=1, help=text)
    add("--of", metavar="FILE", type=Path, nargs="?", const=Path(), help="read puzzles from a file")
    add(
        "--again", action="store_true", help="of --of: keep puzzles that are puzzles of --agent too"
    )
    add("--solve", **names, help="report how many puzzles these agents solve")
    add("--solved-by", **names, help="keep puzzles that each of these agents solves")
    add("--unsolved-by", **names, help="drop puzzles that one of these agents solves")
    add("--beats", metavar="A", default="", help="the answer beats A's choice, not --agent's own")
    add("--held-by", metavar="A", default="", help="keep puzzles that A verifies")
    add("--fair", action="store_true", help="drop puzzles with another legal move near the answer")
    add("--out", metavar="FILE", type=Path, help="write the puzzles here: .json or .json.gz")
    add("--resume", action="store_true", help="continue the puzzles of --out")
    cli.add_rules_flags(parser, solo=False)
    jobs.add_flags(parser)
    args = parser.parse_args(argv)
    args.on = jobs.of_args(args)
    changes = args.solved_by or args.unsolved_by or args.held_by or args.again or args.fair
    if args.again and not args.of:
        raise UserError("--again needs --of")
    if args.of and args.held_by:  # Ctrl-C writes the puzzles verified so far
        outputs.check_different({"--of": args.of, "--out": args.out})
    if args.fair and args.out and not args.of:
        raise UserError("--fair drops puzzles of a file: name it with --of FILE")
    if args.of and (args.beats or (args.out and not changes)):
        raise UserError("--of does not go with --beats, or --out without a selection")
    if args.of and args.resume and not args.held_by:
        raise UserError("--of goes with --resume only to continue --held-by")
    if args.on != jobs.LOCAL and args.of:
        raise UserError("--on and --processes make new puzzles: leave out --of")
    if args.at_most and (args.of or args.on != jobs.LOCAL):
        raise UserError("--at-most makes new puzzles in this process: leave out --of and --on")
    if args.on.backend == "slurm" and not args.out:
        raise UserError("--on slurm stores its shards next to the puzzles: name --out")
    if args.resume and not args.out:
        raise UserError("--resume continues the file of --out")
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))

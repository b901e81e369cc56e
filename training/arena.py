"""Strength of agents at one table, on duplicate set-ups.

    python -m training.arena --agents random,greedy,runs/quick,runs/quick@start --games 512 \\
        --seed 0 --json arena.json --csv arena.csv

Every set-up is played once for each seat, the agents one seat further each time. The games of a
set-up are one sample; intervals are Student's 95 % over set-ups, and differences are paired within
a set-up. A single agent plays each set-up once, against each level of the Automa that `--automa`
names:

    python -m training.arena --agents zoo/solo --env base --players 1 --automa automa,ultoma

`training/agents/registry.py` lists the names of agents. A name may be repeated.

    python -m training.arena --agents runs/new,zoo/strong,zoo/strong,zoo/strong --games 4096 \\
        --until 0:2

`--until` ends the arena as soon as a sequential test accepts that the first agent is 0 VP ahead of
the others, or 2 VP (`training/games/sequential.py`); `--games` is the largest number of games. Two
agents that play alike in the first 64 games are an error.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, whole, wrote

from .system import cli, environments, jobs
from .system.environments import EnvModule

if TYPE_CHECKING:
    from .games.arena import ArenaArgs
    from .games.table import Games

ERROR_RATE = 0.05


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code, 130 after Ctrl-C."""
    args = _parse(argv)
    on = jobs.of_args(args)
    from .games import store
    from .games.report import format_levels

    store.check_outputs("--csv", args.csv, args)
    levels = cli.levels_of(args, "--csv", args.csv)
    results: dict[str, Any] = {}
    is_complete = True
    arena_args = _arena_args(args, environments.module(env_module).__name__)
    for level in levels:
        result, is_complete = _play(args, arena_args._replace(level=level), on)
        if result is not None:
            results[str(level)] = result
        if not is_complete:
            break
    if not results:
        print("interrupted before the first games were complete", file=sys.stderr)
        return 130
    if len(levels) > 1:
        print("\n" + format_levels(results))
    if args.json:
        report = {"levels": results} if len(levels) > 1 else results[str(levels[0])]
        outputs.write_json(args.json, report)
    wrote(args.csv if is_complete else None, args.json, args.record)
    if not is_complete:
        hint = "" if len(levels) > 1 else "; continue with --csv FILE --resume"
        print(f"interrupted{hint}", file=sys.stderr)
    return 0 if is_complete else 130


def _arena_args(args: argparse.Namespace, env_module: str) -> ArenaArgs:
    """The arguments of the arena, without the level of the Automa.

    Raises:
        UserError: options that do not go together, a run without a checkpoint.
    """
    from .games.arena import ArenaArgs

    if args.until is None and (args.alpha, args.beta) != (None, None):
        raise UserError("--alpha and --beta are error rates of the test of --until LOW:HIGH")
    if args.until and args.players == 1:
        raise UserError("--until compares agents that play together, a solo game has one")
    arena_args = ArenaArgs(
        env_module, args.env, args.players, ",".join(x.strip() for x in args.agents.split(",")),
        args.games, args.rotations, args.likeliest, args.record and str(args.record),
    ).fixed()  # fmt: skip
    if args.until and (args.rotations == 1 or len(set(arena_args.names.split(","))) == 1):
        raise UserError("--until compares two agents or more in all rotations of a set-up")
    return arena_args


def _play(
    args: argparse.Namespace, arena_args: ArenaArgs, on: jobs.On
) -> tuple[dict[str, Any] | None, bool]:
    """Play the games of a command and print their report.

    Returns:
        The report, None without any games; whether all games were played.
    """
    from .games import arena as games_arena
    from .games.report import arena_report, format_arena
    from .games.same_agents import check_games
    from .games.sequential import SequentialTest, format_test, leads
    from .games.store import LIKELIEST, names_of

    names = tuple(arena_args.names.split(","))
    low, high = args.until or (0.0, 0.0)
    alpha, beta = args.alpha or ERROR_RATE, args.beta or ERROR_RATE
    test = SequentialTest(low, high, alpha, beta) if args.until else None
    arena = arena_args.make()
    env = arena.env
    about = {
        "env": env.id,
        "version": str(env.version),
        "seed": args.seed,
        "agents": ",".join(games_arena.entry_names(env, names)) + LIKELIEST * args.likeliest,
    }

    def decided(played: Games) -> bool:
        check_games(played, names)
        return test is not None and bool(test.accepted(leads(played, names)))

    games, is_complete = games_arena.play_stored(
        arena_args, arena, about, args.csv, args.resume, on, decided
    )
    if games is None:
        return None, is_complete
    result = about | arena_report(games, names_of(about), env.ruleset.ids)
    text = format_arena(result)
    if test:
        result["sequential_test"] = test.report(leads(games, names))
        text = f"{format_test(result['sequential_test'], names[0])}\n{text}"
    print(text)
    return result, is_complete


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.arena", __doc__, cache_flag=True)
    parser.add_argument("--agents", required=True, help="one a seat, e.g. random,greedy,RUN,RUN@60")
    cli.add_games_flags(parser, 512, "rounded up to whole set-ups")
    text = "store a row for each seat of each game: CSV, or Parquet in FILE.parquet"
    cli.add_store_flags(parser, "--csv", "--save", text=text)
    cli.add_rules_flags(parser)
    cli.add_likeliest_flag(parser)
    cli.add_automa_flag(parser, several=True)
    jobs.add_flags(parser)
    parser.add_argument(
        "--rotations", type=whole(1, max(cli.PLAYERS)), default=None,
        help="games of a set-up (default: one for each seat); 1 where one agent has all seats",
    )  # fmt: skip
    parser.add_argument(
        "--until", metavar="LOW:HIGH", type=_hypotheses,
        help="end early by a sequential test of the first agent's lead in VP, such as 0:2",
    )  # fmt: skip
    for name, wrong in (("--alpha", "HIGH where LOW"), ("--beta", "LOW where HIGH")):
        text = f"rate of accepting {wrong} is true ({ERROR_RATE})"
        parser.add_argument(name, type=_error_rate, help=text)
    return parser.parse_args(argv)


def _hypotheses(text: str) -> tuple[float, float]:
    """An argparse type: `LOW:HIGH`, two numbers of VP, the first one smaller."""
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise argparse.ArgumentTypeError(f"wants LOW:HIGH, such as 0:2 VP, got {text!r}")
    return low, high


def _error_rate(text: str) -> float:
    """An argparse type: a rate of wrong decisions, above 0 and below 0.5."""
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 < rate < 0.5:
        raise argparse.ArgumentTypeError(f"wants a rate above 0 and below 0.5, got {text!r}")
    return rate


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION in the current folder
    sys.exit(cli.run(main))

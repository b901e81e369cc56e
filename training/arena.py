"""Strength of agents at one table, on duplicate set-ups.

    python -m training.arena --agents random,greedy,runs/quick,runs/quick@start --games 512 \\
        --seed 0 --json arena.json --csv arena.csv

Every set-up is played once for each seat, the agents one seat further each time: each of them
plays every seat, with its faction and its place in the turn order, once. The games of a set-up are
one sample; intervals are Student's 95 % over set-ups, and differences are paired within a set-up.
`training/agents/registry.py` lists the names of agents. A name may be repeated.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, whole, wrote

from .system import cli, environments
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line; returns the exit code, 130 after Ctrl-C."""
    args = _parse(argv)
    from .games import arena as games_arena
    from .games import store
    from .games.report import arena_report, format_arena
    from .games.store import LIKELIEST, names_of
    from .system import devices

    store.check_outputs("--csv", args.csv, args)
    together = args.rotations or args.players
    setups = min(math.ceil(args.games / together), games_arena.GAMES_AT_ONCE // together)
    devices.split_cpu(0, setups * together, together)
    env = environments.make_env(environments.module(env_module), args.env, "vp", args.players)
    if args.rotations not in (None, 1, env.num_players):
        raise UserError(f"--rotations must be 1 or {env.num_players}, not {args.rotations}")
    names = [name.strip() for name in args.agents.split(",")]
    options = (args.rotations or env.num_players, args.likeliest, args.record, args.first)
    arena = games_arena.of_names(env, names, args.games, *options)
    about = {
        "env": env.id,
        "version": str(env.version),
        "seed": args.seed,
        "agents": ",".join(names) + LIKELIEST * args.likeliest,
    }
    games, complete = arena.store(about, args.csv, args.resume), True
    try:
        arena.play(args.seed, games)
    except KeyboardInterrupt:
        complete = False
    except RuntimeError as error:  # of XLA: what an agent called back failed
        raise UserError(f"an agent failed while it played: {error}") from error
    finally:
        games.close()
    if games.games is None:
        print("interrupted before the first games were complete", file=sys.stderr)
        return 130
    result = about | arena_report(games.games, names_of(about), env.ruleset.ids)
    print(format_arena(result))
    if args.json:
        outputs.write_json(args.json, result)
    wrote(args.csv, args.json, args.record)
    if not complete:
        print("interrupted; continue with --csv FILE --resume", file=sys.stderr)
    return 0 if complete else 130


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.arena", __doc__, cache_flag=True)
    parser.add_argument("--agents", required=True, help="one a seat, e.g. random,greedy,RUN,RUN@60")
    cli.add_games_flags(parser, 512, "rounded up to whole set-ups")
    text = "store a row for each seat of each game: CSV, or Parquet in FILE.parquet"
    cli.add_store_flags(parser, "--csv", "--save", text=text)
    cli.add_rules_flags(parser)
    parser.add_argument(
        "--rotations", type=whole(1, max(cli.PLAYERS)), default=None,
        help="games of a set-up: one for each seat; 1 where one agent holds all seats",
    )  # fmt: skip
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION in the current folder
    sys.exit(cli.run(main))

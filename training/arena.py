"""Strength of agents at one table, on duplicate set-ups.

    python -m training.arena --agents random,greedy,runs/quick,runs/quick@start --games 512 \\
        --seed 0 --json arena.json --csv arena.csv

Every set-up is played once for each seat, the agents one seat further each time: each of them
plays every seat, with its faction and its place in the turn order, once. The games of a set-up are
one sample; intervals are Student's 95 % over set-ups, and differences are paired within a set-up.
`training/agents/registry.py` says how agents are named. A name may be repeated.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.xla.packed import PLAYERS
from training.agents import make_agent
from training.config import UserError
from training.evaluate import write_json
from training.games import records, table
from training.games.match import Match, rotated
from training.games.records import Recorder
from training.games.report import format_table, report
from training.games.store import GamesFile
from training.games.table import Played, Sheet
from training.learn.checkpoint import make_env
from training.system import atomic_files, cli, devices

GAMES_AT_ONCE = 128


class Arena:
    """The entries, an agent for each seat, and the games between them."""

    def __init__(
        self,
        env: Any,
        names: Sequence[str],
        games: int,
        rotations: int,
        likeliest: bool = False,
        record: Path | None = None,
        first: int = 0,
    ):
        """
        Args:
            names: of an agent for each seat; the same name is the same agent, yet an entry more.
            games: at least so many; rounded up to whole set-ups.
            rotations: games of a set-up, one for each seat, or 1.
            likeliest: checkpoints take the likeliest action instead of sampling.
            record: a folder that gets a record of each game.
            first: number of the first set-up.
        Raises:
            UserError: not as many names as seats, or one that is unknown.
        """
        players = env.num_players
        if len(names) != players:
            raise UserError(
                f"--agents wants {players} names, got {len(names)}; a name may be repeated"
            )
        for name in names:
            if not name.isprintable():
                raise UserError(f"--agents: {name!r} is no name: it cannot be printed")
        self.env, self.seating = env, rotated(players)[:rotations]
        self.names = [
            name if names[:i].count(name) == 0 else f"{name} #{names[:i].count(name) + 1}"
            for i, name in enumerate(names)
        ]
        different = list(dict.fromkeys(names))
        agents = [make_agent(name, env, likeliest) for name in different]
        sits = np.array([different.index(name) for name in names])[self.seating]
        self.setups, self.first = math.ceil(games / rotations), first
        rules = env.ruleset
        self._match = Match(
            env, agents, sits, range(first, first + self.setups), GAMES_AT_ONCE,
            table.describe(rules), table.counted_actions(rules),
            Recorder(record, env, different) if record else None,
        )  # fmt: skip
        self.at_once = self._match.at_once

    def play(self, seed: int, done: int, save: Any) -> bool:
        """Play the set-ups but for the first `done`, batch by batch.

        Args:
            save: `save(first, played)` is told of each batch and the number of its first set-up.
        Returns:
            False where Ctrl-C ended it; the batch under way is lost then.
        """
        rotations = len(self.seating)
        with cli.compiling("the games"):
            self._match.compile(seed)
        bar = cli.bar("game", self.setups * rotations, done * rotations)
        try:
            for before in range(done, self.setups, self.at_once):
                start = time.monotonic()

                def progress(ended: int, before: int = before) -> None:
                    bar.update(min(before * rotations + ended, self.setups * rotations) - bar.n)

                first = self.first + before
                results = self._match.play_batch(seed, first, progress=progress)
                seconds = time.monotonic() - start
                played = table.from_results(results, self.seating, seconds)
                save(first, Played(*(x[: self.setups - before] for x in played)))
        except KeyboardInterrupt:
            return False
        except RuntimeError as error:  # of XLA: what an agent called back failed
            raise UserError(f"an agent failed while it played: {error}") from error
        finally:
            bar.close()
        return True


def main(argv: Sequence[str] | None = None, env_module: Any = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        env_module: what `make`s environments; None is `gaia_jax`.
    Returns:
        The exit code; 130 after Ctrl-C.
    """
    args = _parse(argv)
    atomic_files.check_different({"--json": args.json, "--csv": args.csv, "--record": args.record})
    if args.json:
        atomic_files.check_file("--json", args.json, atomic_files.REPORT)
    if args.csv:
        atomic_files.check_games("--csv", args.csv, args.resume)
    if args.record:
        records.check(args.record, args.resume)
    if env_module is None:
        import gaia_jax as env_module
    together = args.rotations or args.players
    setups = min(math.ceil(args.games / together), GAMES_AT_ONCE // together)
    devices.split_cpu(0, setups * together, together)
    env = make_env(env_module, args.env, "vp", args.players)
    if args.rotations not in (None, 1, env.num_players):
        raise UserError(f"--rotations must be 1 or {env.num_players}, not {args.rotations}")
    rotations = args.rotations or env.num_players
    names = [name.strip() for name in args.agents.split(",")]
    arena = Arena(env, names, args.games, rotations, args.likeliest, args.record, args.first)
    about = {
        "env": env.id,
        "version": str(env.version),
        "seed": args.seed,
        "agents": ",".join(names) + (" likeliest" if args.likeliest else ""),
    }
    sheet = Sheet(about, arena.names, env.ruleset.ids, rotations, args.first)
    if not args.csv:
        return _play(arena, sheet, args, None)
    file = GamesFile(args.csv, sheet, arena.seating, args.resume)
    try:
        return _play(arena, sheet, args, file)
    finally:
        file.close()


def _play(arena: Arena, sheet: Sheet, args: argparse.Namespace, file: GamesFile | None) -> int:
    """Play what the file has not, and report on everything. The exit code."""
    parts = []
    if file is not None and file.played is not None:
        file.keep(_whole(len(file.played.vp), arena, args.csv))
        parts += [file.played] if file.played is not None else []

    def save(first: int, played: Played) -> None:
        if file is not None:
            with cli.finishing():
                file.add(first, played)
        parts.append(played)

    done = len(parts[0].vp) if parts else 0
    complete = arena.play(args.seed, done, save) if done < arena.setups else True
    if not parts:
        print("interrupted before the first games were complete", file=sys.stderr)
        return 130
    result = sheet.about | report(table.join(parts), arena.names, sheet.ids)
    print(format_table(result))
    if args.json:
        write_json(result, args.json)
    cli.wrote(args.csv, args.json, args.record)
    if not complete:
        print("interrupted; go on with --csv FILE --resume", file=sys.stderr)
    return 0 if complete else 130


def _whole(count: int, arena: Arena, path: Path) -> int:
    """How many of the set-ups of a CSV are in whole batches: a batch is played as one."""
    if count > arena.setups:
        raise UserError(f"{path} holds {count} set-ups, more than the {arena.setups} asked for")
    return count if count == arena.setups else count - count % arena.at_once


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.arena", __doc__)
    parser.add_argument("--agents", required=True, help="one a seat, e.g. random,greedy,RUN,RUN@60")
    parser.add_argument(
        "--games",
        type=cli.whole(1, cli.MOST_GAMES),
        default=512,
        help="rounded up to whole set-ups",
    )
    cli.add_first_flag(parser)
    parser.add_argument(
        "--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="which set-ups"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    parser.add_argument(
        "--csv", metavar="FILE", type=Path, help="write a row for each seat of each game here"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the games of --csv")
    parser.add_argument("--env", default="lost_fleet", help="the ruleset")
    parser.add_argument(
        "--players", type=int, choices=PLAYERS, default=4, help="2 and 3 for --env base alone"
    )
    parser.add_argument(
        "--likeliest", action="store_true", help="checkpoints take the likeliest action"
    )
    parser.add_argument(
        "--rotations", type=cli.whole(1, max(PLAYERS)), default=None,
        help="games of a set-up: one for each seat; 1 where one agent holds all seats",
    )  # fmt: skip
    records.add_flag(parser)
    cli.add_cache_flag(parser)
    args = parser.parse_args(argv)
    if args.resume and not args.csv:
        raise UserError("--resume wants the --csv to go on with")
    return args


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION of the folder one stands in
    sys.exit(cli.run(main))

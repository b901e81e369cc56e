"""Review a recorded game: the loss of each main move, the better line, accuracy by seat.

    python -m training.review GAME.json --html review.html
    python -m training.review GAME.json --agent runs/long --playouts 32 --json review.json
    python -m training.review games/*.json --player Anna

Playouts compare each placement, booster and main action with its most likely alternatives: the
agent plays all seats to the end of the game, with the same random numbers for each. After Ctrl-C
the report has the moves that were judged before.

For several records the report lists the kinds of moves that cost one player most over these games,
each with an example. Records without that player are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import (
    LARGEST_SEED,
    UserError,
    add_language_flag,
    check_language,
    whole,
    wrote,
)
from gaia_jax.cli.progress import status_line
from gaia_jax.language import in_language

from .system import cli

if TYPE_CHECKING:
    from .analysis.playouts import Playouts
    from .analysis.recorded_game import Game
    from .analysis.review import Review

# Passed to `split_cpu` as the number of games: large enough that only the cores limit the devices.
MANY_GAMES = 1 << 20


def main(argv: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 130 after Ctrl-C with moves left to judge."""
    args = _parse(argv)
    from .analysis import habits, review, review_report
    from .analysis.recorded_game import read_game
    from .stats.chart import new_figure
    from .system.devices import split_cpu

    review.check_policy(args.agent)  # before any work; `review_game` checks again
    one_game = len(args.records) == 1
    outputs.check_files(
        {
            "--json": (args.json, (review_report if one_game else habits).is_own_report),
            "--html": (args.html, review_report.is_own_page),
        }
    )
    seats = _seats(args)
    if args.html:
        new_figure(1, 1)  # raises an error without matplotlib
    split_cpu(0, MANY_GAMES)
    if seats:
        return _habits(args, seats)
    (record,) = args.records
    with status_line(lambda: f"playing {record}"):
        game = read_game(record)
    reviewed = _review(args, game)
    report = {"record": str(record)} | review_report.build_report(reviewed)
    print(review_report.report_text(report))
    if args.json:
        outputs.write_json(args.json, report)
    if args.html:
        with in_language(args.language):
            page = review_report.report_page(game, review_report.build_report(reviewed))
        outputs.write_text(args.html, page)
    wrote(args.json, args.html)
    return 0 if report["judged"] == report["asked"] else 130


def _review(args: argparse.Namespace, game: Game, runner: Playouts | None = None) -> Review:
    from .analysis import review
    from .analysis.default_agent import agent_or_adviser

    agent = agent_or_adviser(args.agent, game.env)
    with cli.bar("playout", 1) as bar:

        def progress(ended: int, total: int) -> None:
            bar.total = total
            bar.update(ended - bar.n)

        return review.review_game(game, agent, args.playouts, args.seed, progress, runner)


def _seats(args: argparse.Namespace) -> dict[Path, list[int]]:
    """The seats of `--player` in each record that has the name; {} for one record.

    Raises:
        UserError: the options do not fit the number of records, or the name is in too few of them.
    """
    from gaia_jax import replay

    from .analysis.habits import MIN_GAMES

    paths = list(dict.fromkeys(args.records))
    if len(args.records) == 1:
        if args.player is not None:
            raise UserError("--player requires several records")
        return {}
    if args.html:
        raise UserError(f"--html requires one record, got {len(args.records)}")
    try:
        players = {path: replay.read(path).players for path in paths}
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    counts = Counter(name for names in players.values() for name in set(names))
    by_count = sorted(counts.items(), key=lambda named: (-named[1], named[0]))
    named = ", ".join(f"{name} ({n})" for name, n in by_count) or "nobody"
    if args.player is None:
        raise UserError(f"several records require --player; they name {named}")
    if counts[args.player] < MIN_GAMES:
        number = f"got {counts[args.player]}; they name {named}"
        raise UserError(f"--player {args.player}: at least {MIN_GAMES} records required, {number}")
    return {
        path: [seat for seat, name in enumerate(names) if name == args.player]
        for path, names in players.items()
        if args.player in names
    }


def _habits(args: argparse.Namespace, seats: dict[Path, list[int]]) -> int:
    """Review several games for the habits of one player. Returns the exit code."""
    from .agents import make_agent
    from .analysis import habits
    from .analysis.default_agent import agent_or_adviser
    from .analysis.judge import LINE_LENGTH
    from .analysis.playouts import Playouts
    from .analysis.recorded_game import read_game

    games = list[habits.PlayerGame]()
    with status_line(lambda: f"playing {len(seats)} records"):
        played = {path: read_game(path) for path in seats}  # errors before any game is reviewed
    envs = {game.env.ruleset.name: game.env for game in played.values()}
    runners = {
        name: Playouts(env, make_agent(agent_or_adviser(args.agent, env), env), moves=LINE_LENGTH)
        for name, env in envs.items()
    }
    for path, game in played.items():
        try:
            reviewed = _review(args, game, runners[game.env.ruleset.name])
        except KeyboardInterrupt:
            break
        if len(reviewed.moves) < reviewed.num_requested:  # after Ctrl-C
            break
        games.append(habits.PlayerGame(str(path), reviewed, seats[path]))
    if len(games) < habits.MIN_GAMES:
        raise KeyboardInterrupt
    report = habits.build_report(args.player, games)
    print(habits.report_text(report))
    if args.json:
        outputs.write_json(args.json, report)
    wrote(args.json)
    return 0 if len(games) == len(seats) else 130


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.review", __doc__, cache_flag=True)
    add = parser.add_argument
    add("records", metavar="RECORD", type=Path, nargs="+", help="a game record, JSON")
    add("--player", metavar="NAME", help="with several records: whose mistakes to compare")
    text = "the agent at all seats, which must have a policy; by default a shipped one"
    add("--agent", help=text)
    add(
        "--playouts", metavar="N", type=whole(4, 10**4), default=16,
        help="playouts of the played move and of its best alternative; the costliest get more",
    )  # fmt: skip
    add("--seed", type=whole(0, LARGEST_SEED), default=0, help="seed of the playouts")
    add("--json", metavar="FILE", type=Path, help="write the whole report, with every move")
    add("--html", metavar="FILE", type=Path, help="write the review as a page")
    add_language_flag(parser)
    args = parser.parse_args(argv)
    check_language(args.language, args.html)
    return args


if __name__ == "__main__":
    sys.exit(cli.run(main))

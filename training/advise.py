"""Advise on a set-up: the expected VP of each faction with its map, tiles and missions.

    python -m training.advise --seed 7
    python -m training.advise --record GAME.json --games 128 --html advice.html

One agent plays all seats. Every game of a balanced design deals the factions differently; the rest
of the set-up stays the same. After Ctrl-C the report has the games that ended by then.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import (
    LARGEST_SEED,
    UserError,
    add_language_flag,
    check_language,
    read_text,
    whole,
    wrote,
)
from gaia_jax.language import in_language

from .analysis import ADVICE_GAMES
from .system import cli
from .system.environments import EnvModule, make_env

if TYPE_CHECKING:
    from gaia_jax.env import GaiaEnv
    from gaia_jax.state import Setup

    from .types import JsonObject


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line. Returns the exit code.

    Args:
        env_module: makes the environment; None is `gaia_jax`.
    """
    args = _parse(argv)
    from .analysis import advice, advice_report, report_texts
    from .analysis.default_agent import agent_or_adviser
    from .stats.chart import new_figure
    from .system import devices

    json, html = (args.json, advice_report.is_own_report), (args.html, advice_report.is_own_page)
    outputs.check_files({"--json": json, "--html": html})
    if args.html:
        new_figure(1, 1)  # raises an error without matplotlib
    devices.split_cpu(0, 18 * args.games // 4 // 64 * 64)  # as if for 18 factions and four seats
    env, setup = _load_setup(args, env_module)
    if max(args.hold, default=0) >= env.num_players or len(args.hold) >= env.num_players:
        seats = f"fewer than all of the seats 0 to {env.num_players - 1}"
        raise UserError(f"--hold must be {seats}, got {','.join(map(str, args.hold))}")
    agent = agent_or_adviser(args.agent, env)
    advisor = advice.Advisor.named(env, agent, args.likeliest)
    boards = advice.boards_of(env, setup, args.hold)
    factions = advice.design(boards, args.games)
    with cli.bar("game", len(factions)) as bar:
        played = advisor.play(setup, factions, progress=lambda ended: bar.update(ended - bar.n))

    def build_report() -> JsonObject:
        origin = args.setup or args.record or report_texts.phrase("origin-seed", n=args.seed or 0)
        about = {"agent": agent, "from": str(origin), "wanted": len(factions)}
        return advice_report.build_report(env, setup, played, boards, about)

    report = build_report()
    print(advice_report.report_text(report))
    if args.json:
        outputs.write_json(args.json, report)
    if args.html:
        with in_language(args.language):
            page = advice_report.report_page(build_report())
        outputs.write_text(args.html, page)
    wrote(args.json, args.html)
    return 0 if report["games"] == report["wanted"] else 130


def _load_setup(args: argparse.Namespace, env_module: EnvModule | None) -> tuple[GaiaEnv, Setup]:
    """The environment and the set-up.

    Raises:
        UserError: the file cannot be read, or has no valid set-up. One line.
    """
    import jax

    import gaia_jax
    from gaia_jax import replay
    from gaia_jax.setup.json_values import parse
    from gaia_jax.setup.setup_json import players_of, setup_from_json

    env_module = env_module or gaia_jax
    if not args.setup and not args.record:
        env = make_env(env_module, args.env, "vp", args.players, automa=args.automa or "")
        return env, env.draw_setup(jax.random.key(args.seed or 0))
    path = args.setup or args.record
    if args.automa:
        raise UserError(f"--automa {args.automa}: the set-up of {path} has its level")
    try:
        if args.record:
            record = replay.read(path)
            setup_json, ruleset = record.setup, record.ruleset
        else:
            setup_json, ruleset = parse(read_text(path, replay.LONGEST)), args.env
        if isinstance(setup_json, dict) and setup_json.get("format") == replay.FORMAT:
            raise UserError(f"{path} is a record; use --record {path}")
        env = make_env(env_module, ruleset, "vp", players_of(setup_json))
        read_setup = replay.laid if args.record else setup_from_json
        return env, read_setup(setup_json, env.ruleset)
    except ValueError as error:  # RecordError included
        message = str(error)
        raise UserError(message if str(path) in message else f"{path}: {message}") from error


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.advise", __doc__, cache_flag=True)
    source_group = parser.add_mutually_exclusive_group()
    source_group.add_argument(
        "--seed", type=whole(0, LARGEST_SEED), help="seed of the drawn set-up; by default 0"
    )
    source_group.add_argument("--setup", metavar="FILE", type=Path, help="a set-up file, JSON")
    source_group.add_argument(
        "--record", metavar="FILE", type=Path, help="use the set-up of this game record"
    )
    parser.add_argument("--agent", help="the agent at all seats; by default a shipped one")
    parser.add_argument(
        "--games", type=whole(1, 10**5), default=ADVICE_GAMES, help="least games of each faction"
    )
    parser.add_argument(
        "--hold", metavar="SEATS", type=_seats, default=[],
        help="seats that keep the factions of the set-up, such as 0,2",
    )  # fmt: skip
    cli.add_rules_flags(parser)
    cli.add_likeliest_flag(parser)
    cli.add_automa_flag(parser)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the report as a page")
    add_language_flag(parser)
    args = parser.parse_args(argv)
    check_language(args.language, args.html)
    return args


def _seats(text: str) -> list[int]:
    """Seat numbers, separated by commas."""
    if not all(part.isdecimal() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"must be seat numbers such as 0,2, got {text!r}")
    return sorted({int(part) for part in text.split(",")})


if __name__ == "__main__":
    sys.exit(cli.run(main))

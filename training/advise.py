"""Which faction suits a set-up: what each of them is worth on its map, tiles and missions.

    python -m training.advise --seed 7
    python -m training.advise --record GAME.json --games 128 --html advice.html

One agent plays all seats. The factions are dealt again for every game, in a balanced design; all
else stays as it is in the set-up. Ctrl-C shows what the games that have ended tell.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .analysis import ADVICE_GAMES, ADVISER
from .system import atomic_files, cli
from .system.environments import EnvModule


def main(argv: Sequence[str] | None = None, env_module: EnvModule | None = None) -> int:
    """The command line. Returns the exit code.

    Args:
        env_module: what `make`s environments; None is `gaia_jax`.
    """
    args = _parse(argv)
    from .analysis import advice, advice_page, given_setup
    from .system import devices

    atomic_files.check_different({"--json": args.json, "--html": args.html})
    if args.json:
        atomic_files.check_file("--json", args.json, advice_page.OURS)
    if args.html:
        atomic_files.check_file("--html", args.html, atomic_files.begins(advice_page.HEAD))
    devices.split_cpu(0, 18 * args.games // 4 // 64 * 64)  # as if for 18 factions and four seats
    env, setup, origin = given_setup.find(args, env_module)
    wrong = [seat for seat in args.hold if seat >= env.num_players]
    if wrong or len(set(args.hold)) >= env.num_players:
        seats = f"fewer than all of the seats 0 to {env.num_players - 1}"
        raise cli.UserError(f"--hold wants {seats}, got {','.join(map(str, args.hold))}")
    advisor = advice.Advisor.named(env, args.agent, args.likeliest)
    boards = advice.boards_of(env, setup, args.hold)
    about = {"agent": args.agent, "from": origin}
    with cli.bar("game", boards.games(args.games)) as bar:
        report = advice_page.advised(
            advisor, setup, boards, args.games, about, lambda ended: bar.update(ended - bar.n)
        )
    print(advice_page.text(report))
    if args.json:
        atomic_files.write_json(args.json, report)
    if args.html:
        atomic_files.write_text(args.html, advice_page.page(report))
    cli.wrote(args.json, args.html)
    return 0 if report["games"] == report["wanted"] else 130


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.advise", __doc__)
    source_group = parser.add_mutually_exclusive_group()
    source_group.add_argument(
        "--seed", type=cli.whole(0, cli.LARGEST_SEED), help="draw the set-up; 0 without any other"
    )
    source_group.add_argument("--setup", metavar="FILE", type=Path, help="the set-up, JSON")
    source_group.add_argument(
        "--record", metavar="FILE", type=Path, help="the set-up of a game record"
    )
    parser.add_argument("--agent", default=ADVISER, help="who plays, at all seats")
    parser.add_argument(
        "--games", type=cli.whole(1, 10**5), default=ADVICE_GAMES, help="of each faction, at least"
    )
    parser.add_argument(
        "--hold", metavar="SEATS", type=_seats, default=[],
        help="seats whose factions stay as the set-up has them, such as 0,2",
    )  # fmt: skip
    cli.add_rules_flags(parser)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write it as a page")
    cli.add_cache_flag(parser)
    return parser.parse_args(argv)


def _seats(text: str) -> list[int]:
    """Numbers of seats, with commas between them."""
    if not all(part.isdecimal() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"wants numbers of seats such as 0,2, got {text!r}")
    return sorted({int(part) for part in text.split(",")})


if __name__ == "__main__":
    sys.exit(cli.run(main))

"""Make an agent of the zoo from a run or from an npz.

    python -m training.ship strong --run runs/strong --set temperature=0.5 decisions=3000000
    python -m training.ship clone --params clone.npz --config configs/quick.yaml

`--set key=value` and `--results FILE` add keys to the JSON (`docs/reference/zoo.md`). In 256 games
of self-play, an agent that replaces another one must not have clearly fewer federations, advanced
tiles, research steps, ships or VP paid for leech than the other's card.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .system import cli


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    from .run import ship

    path, played = ship.ship(args)
    print(f"{path}: {path.with_suffix('.npz').stat().st_size:,} bytes, VP {played.vp.mean():.1f}")
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.ship", __doc__)
    parser.add_argument("name", help="name of the agent, without zoo/")
    parser.add_argument("--run", help="RUN or RUN@UPDATE")
    parser.add_argument("--params", help="an npz instead of a run")
    parser.add_argument("--config", help="the configuration of the npz")
    parser.add_argument("--results", type=Path, help="JSON to store under `results`")
    parser.add_argument("--set", nargs="*", default=[], metavar="key=value", help="more to keep")
    text = "replace an agent even if this one forms fewer federations, explores less ..."
    parser.add_argument("--below-floors", action="store_true", help=text)
    parser.add_argument("--env", default="lost_fleet", help="the ruleset of the agent")
    parser.add_argument(
        "--players", type=int, default=4, help="number of players; 1 plays against the Automa"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(cli.run(main))

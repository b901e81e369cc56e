"""Make an agent of the zoo from a run or from an npz.

    python -m training.ship strong --run runs/strong --set temperature=0.5 decisions=3000000
    python -m training.ship clone --params clone.npz --config configs/quick.yaml

`--set key=value` and `--results FILE` (JSON) say what else the JSON tells;
`docs/reference/zoo.md` shows it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.system import cli
from training.system.cli import UserError


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    args = _parse(argv)
    from training import config as configs
    from training import zoo
    from training.system import data_files

    zoo.check(args.name)
    import gaia_jax
    from training.learn.checkpoint import load_policy, make_env
    from training.zoo.make import make

    env = make_env(gaia_jax, args.env, "vp", args.players)
    more = _more(args.set)
    if args.run:
        _, _, params, updates, config = load_policy(args.run, env, None)
        more.setdefault("decisions", updates * config.ppo.num_envs * config.ppo.num_steps)
    elif args.params and args.config:
        params, config = zoo.parameters(args.params, env), configs.load(args.config)
    else:
        raise UserError("give --run, or --params and --config")
    if args.results:
        more["results"] = data_files.read_json(args.results, "the results")
    path, played = make(args.name, env, params, config, more)
    print(f"{path}: {path.with_suffix('.npz').stat().st_size:,} bytes, VP {played.vp.mean():.1f}")
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.ship", __doc__)
    parser.add_argument("name", help="of the agent, without zoo/")
    parser.add_argument("--run", help="a run folder")
    parser.add_argument("--params", help="an npz instead of a run")
    parser.add_argument("--config", help="the configuration of the npz")
    parser.add_argument("--results", type=Path, help="JSON to keep under `results`")
    parser.add_argument("--set", nargs="*", default=[], metavar="key=value", help="more to keep")
    parser.add_argument("--env", default="lost_fleet", help="the ruleset that it plays")
    parser.add_argument("--players", type=int, default=4, help="2 and 3 for --env base alone")
    return parser.parse_args(argv)


def _more(texts: Sequence[str]) -> dict[str, Any]:
    """What `--set` gives, read as YAML; a note is as it stands."""
    from training import config as configs

    more: dict[str, Any] = {}
    for text in texts:
        key, _, value = text.partition("=")
        try:
            more[key] = value if key == "note" else configs.parse_yaml(value)
        except ValueError as error:
            raise UserError(f"--set {key}: cannot read the value: {error}") from error
    return more


if __name__ == "__main__":
    raise SystemExit(cli.run(main))

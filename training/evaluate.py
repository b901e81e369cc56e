"""Strength of a checkpoint: its policy in one seat, an opponent in the others, duplicates.

    python -m training.evaluate RUN --games 400 --opponent random --json evaluation.json

Every set-up is played once for each seat that the policy may have: it plays all factions and
places in turn order of the set-up, and so do the others. The games of a set-up are one sample of
each statistic; the intervals are over set-ups.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training import zoo
from training.agents import check_agent, make_agent, policy_agent
from training.games import records
from training.games.match import (
    GAMES_AT_ONCE,
    Estimate,
    Match,
    Results,
    estimate,
    illegal_moves,
    one_against_the_rest,
    scores,
    share,
    told,
    wins,
)
from training.games.records import Recorder
from training.games.results_file import ResultsFile
from training.learn.checkpoint import load_policy, number_of, split_update
from training.system import atomic_files, cli, devices


class Evaluation:
    """A policy against an opponent in all other seats; compiled once, for any parameters."""

    def __init__(
        self,
        env: Any,
        network: Any,
        games: int,
        likeliest: bool = False,
        opponent: str = "random",
        temperature: float = 1.0,
        record: Path | None = None,
        first: int = 0,
    ):
        """
        Args:
            games: at least this many; a set-up is one for each seat.
            likeliest: the likeliest action instead of a sample.
            opponent: who holds the other seats, a name of `training.agents.make_agent`.
            temperature: of the policy's choices.
            record: a folder that gets a record of each game.
            first: number of the first set-up.
        """
        self.env, self.likeliest, self.opponent = env, likeliest, opponent
        self._seating = one_against_the_rest(env.num_players)
        policy = policy_agent(env, network, None, "policy", likeliest, temperature=temperature)
        self._other = make_agent(opponent, env)
        self.setups, self._compiled = max(1, math.ceil(games / env.num_players)), False
        self.recorder = Recorder(record, env, ("policy", opponent)) if record else None
        self._match = Match(
            env, [policy, self._other], self._seating, range(first, first + self.setups),
            recorder=self.recorder,
        )  # fmt: skip

    def run(self, params: Any, seed: int, quiet: bool = False, label: str = "") -> dict[str, Any]:
        """`play` and `report`."""
        return self.report(self.play(params, seed, quiet, label), seed)

    def play(
        self, params: Any, seed: int, quiet: bool = False, label: str = "", file: Any = None
    ) -> Results:
        """Play all games.

        Args:
            params: of the policy.
            seed: which set-ups.
            quiet: show no progress while it plays.
            label: at the head of the names of records, if any are written.
            file: a `results_file.ResultsFile` to go on with.
        """
        if self.recorder:
            self.recorder.prefix = label
        both, games = [params, self._other.params], self.setups * len(self._seating)
        if not self._compiled:
            with cli.compiling(f"the games against {self.opponent}"):
                self._match.compile(seed, both)
            self._compiled = True
        held = () if file is None else (file.played, file.save)
        done = 0 if file is None or file.played is None else file.played.decisions.size
        with cli.bar("game", games, done, not quiet) as bar:
            return self._match.play(seed, both, lambda ended: bar.update(ended - bar.n), *held)

    def report(self, results: Results, seed: int) -> dict[str, Any]:
        """Plain numbers; writes to JSON."""
        return self.about(seed) | summarize(results, self.env.ruleset.ids)

    def about(self, seed: int) -> dict[str, Any]:
        """What the games are games of, beside the policy."""
        return {
            **zoo.identity(self.env),
            "opponent": self.opponent,
            "seed": seed,
            "likeliest": self.likeliest,
        }


def summarize(results: Results, ids: dict[str, Sequence[str]]) -> dict[str, Any]:
    """Agent 0 of each game against the mean of the others.

    Args:
        results: S set-ups, R rotations; agent 0 in one seat of each game.
        ids: the names of `faction` and `vp_source`.
    Returns:
        Means over set-ups with their 95 % intervals, by agent, by source and by faction.
    """
    mine = results.agent == 0  # (S, R, P)

    def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(S, R, P) -> the policy's mean and the mean of the others, in each set-up (S,)."""
        x = x.astype(float)
        own = np.where(mine, x, 0).sum(axis=(1, 2)) / mine.sum(axis=(1, 2))
        return own, np.where(mine, 0, x).sum(axis=(1, 2)) / (~mine).sum(axis=(1, 2))

    illegal = np.zeros_like(results.vp) if results.illegal is None else results.illegal
    decided = np.zeros_like(results.vp) if results.decided is None else results.decided
    vp = scores(results.vp, illegal)
    own_vp, other_vp = split(vp)
    own_wins, other_wins = split(wins(results.vp, illegal))
    own_federations, other_federations = split(results.federations)
    sources = np.moveaxis(results.vp_source, -1, 0)
    by_source = {}
    for name, points in zip(ids["vp_source"], sources, strict=True):
        own, other = split(points)
        by_source[name] = {"policy": float(own.mean()), "opponent": float(other.mean())}
    by_faction = {}
    for index, name in enumerate(ids["faction"]):
        here = results.faction == index
        if (here & mine).any():
            by_faction[name] = {
                "games": int((here & mine).sum()),
                "policy": float(vp[here & mine].mean()),
                "opponent": float(vp[here & ~mine].mean()),
            }
    return {
        "setups": len(results.vp),
        "games": int(np.prod(results.vp.shape[:2])),
        "decisions_per_game": float(results.decisions.mean()),
        "vp": {"policy": _json(estimate(own_vp)), "opponent": _json(estimate(other_vp))},
        "win_share": {"policy": _json(share(own_wins)), "opponent": _json(share(other_wins))},
        "vp_difference": _json(estimate(own_vp - other_vp)),
        "federations": {
            "policy": _json(estimate(own_federations)),
            "opponent": _json(estimate(other_federations)),
        },
        "illegal_moves": {
            "policy": illegal_moves(illegal, decided, mine),
            "opponent": illegal_moves(illegal, decided, ~mine),
        },
        "vp_by_source": by_source,
        "vp_by_faction": by_faction,
    }


def _json(value: Estimate) -> dict[str, float | None]:
    return {key: x if math.isfinite(x) else None for key, x in value._asdict().items()}


def table(report: dict[str, Any], factions: bool = False) -> str:
    """The report as text."""

    def cell(value: dict[str, float | None]) -> str:
        if value["low"] is None:
            return f"{value['mean']:.2f}"
        return f"{value['mean']:.2f} ({value['low']:.2f} to {value['high']:.2f})"

    other = report["opponent"]
    count = report.get("players", 4) - 1
    others = f"{('one', 'two', 'three')[count - 1]} {other} seat{'s' * (count > 1)}"
    how = "likeliest action" if report["likeliest"] else "sampled"
    lines = [
        f"{report['games']} games on {report['setups']} set-ups of {report['env']} "
        f"{report['env_version']}, one policy seat ({how}) "
        f"against {others}; mean (95 % interval)",
        "",
        f"{'seat':<26}{'VP':>26}{'win share':>26}",
    ]
    for name, key in (("policy", "policy"), (other, "opponent")):
        vp, win = cell(report["vp"][key]), cell(report["win_share"][key])
        lines.append(f"{name[:24]:<26}{vp:>26}{win:>26}")
    lines += [f"{'difference':<26}{cell(report['vp_difference']):>26}", ""]
    federations = {key: value["mean"] for key, value in report["federations"].items()}
    lines += [*_rows("mean of a seat", {"federations formed": federations}, other), ""]
    lines += _rows("VP by source", report["vp_by_source"], other)
    for name, key in (("policy", "policy"), (other, "opponent")):
        moves = report["illegal_moves"][key]
        if moves["moves"]:
            lines += ["", f"{name}: {told(moves)}"]
    if factions:
        lines += ["", *_rows("VP by faction", report["vp_by_faction"], other)]
    return "\n".join(lines)


def _rows(title: str, rows: dict[str, dict[str, float]], other: str) -> list[str]:
    width = max(len(name) for name in (title, *rows)) + 2
    return [
        f"{title:<{width}}{'policy':>10}{other:>10}",
        *(f"{name:<{width}}{x['policy']:>10.2f}{x['opponent']:>10.2f}" for name, x in rows.items()),
    ]


def main(argv: Sequence[str] | None = None, env_module: Any = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        env_module: what `make`s environments; None is `gaia_jax`.
    Returns:
        The exit code.
    """
    args = _parse(argv)
    run, at = split_update(args.run)
    update = number_of(args.run, at)
    _check_outputs(args)
    if env_module is None:
        import gaia_jax as env_module
    setups = math.ceil(
        min(args.games, GAMES_AT_ONCE) / 4
    )  # as if for four: the run, read below, says
    devices.split_cpu(0, 4 * setups, 4)
    temperature = 1.0
    if run.startswith(zoo.PREFIX):
        if update is not None:
            raise cli.UserError(f"{args.run}: an agent of the zoo has no updates")
        says = zoo.about(run)
        env = zoo.environment(run, says, env_module)
        network, params = zoo.load(run, env)
        temperature = says.get("temperature", 1.0)
    else:
        env, network, params, update, _ = load_policy(run, None, env_module, update)
    check_agent(args.opponent, env)
    evaluation = Evaluation(
        env,
        network,
        args.games,
        args.likeliest,
        args.opponent,
        temperature,
        args.record,
        args.first,
    )
    policy = {"run": run, "update": update}
    file = None
    if args.save:
        about = policy | evaluation.about(args.seed)
        file = ResultsFile(args.save, about, args.first, evaluation.setups, args.resume)
    results = evaluation.play(params, args.seed, file=file)
    report = policy | evaluation.report(results, args.seed)
    print(table(report, args.factions))
    if args.json:
        write_json(report, args.json)
    cli.wrote(args.save, args.json, args.record)
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse before any work what could not be written."""
    atomic_files.check_different(
        {"--json": args.json, "--save": args.save, "--record": args.record}
    )
    if args.json:
        atomic_files.check_file("--json", args.json, atomic_files.REPORT)
    if args.resume and not args.save:
        raise cli.UserError("--resume wants the --save to go on with")
    if args.save:
        atomic_files.check_games("--save", args.save, args.resume)
    if args.record:
        records.check(args.record, args.resume)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.evaluate", __doc__)
    parser.add_argument(
        "run", metavar="RUN", help="a run folder, e.g. runs/quick; or RUN@UPDATE, zoo/NAME"
    )
    parser.add_argument(
        "--games", type=cli.whole(1, cli.MOST_GAMES), default=400,
        help="rounded up to whole set-ups, a game for each seat",
    )  # fmt: skip
    cli.add_first_flag(parser)
    parser.add_argument(
        "--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="which set-ups"
    )
    parser.add_argument("--opponent", default="random", help="who holds the other seats")
    parser.add_argument(
        "--likeliest", action="store_true", help="the likeliest action instead of sampling"
    )
    parser.add_argument("--factions", action="store_true", help="also print the table by faction")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the report here")
    parser.add_argument(
        "--save", metavar="FILE.npz", type=Path, help="keep the games, for `training.merge`"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the games of --save")
    records.add_flag(parser)
    cli.add_cache_flag(parser)
    return parser.parse_args(argv)


def write_json(report: dict[str, Any], path: Path) -> None:
    """Write a report, whole or not at all; a path that cannot be written is the user's error."""
    atomic_files.write_text(path, json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(cli.run(main))

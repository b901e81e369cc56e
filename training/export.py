"""Datasets of games: play them, derive their decisions, check them, put them together.

    python -m training.export --agents random,random,zoo/quick,greedy --games 20000 --out data
    python -m training.export --out data --decisions        # decisions.parquet beside games.parquet
    python -m training.export --out data --verify 1000      # plays rows again
    python -m training.export --out all --merge data more   # several ranges as one
    python -m training.export --out few --merge data --games 1000   # the first games of one

`--processes 2` plays on two cores; `--first N` plays another range of the deals of a seed, for
another machine. The same command again goes on where it was killed, to the same file.
`docs/study.md` says what is in it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.records import PLAYERS
from training import cli, outputs
from training.checkpoint import make_env
from training.config import UserError

MOST_GAMES = 10**9
GAMES = 1024  # where none are asked for


def main(argv: Sequence[str] | None = None, face: Any = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        face: what `make`s environments; None is `gaia_jax`.
    Returns:
        The exit code; 1 where `--verify` found a wrong row, 130 after Ctrl-C.
    """
    args = _parse(argv)
    if args.share:
        from training.data import sharing

        sharing.join_team(args.share[0])
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UserError('datasets need pyarrow: pip install "gaia_jax[data]"') from error
    from training.data import folder

    if face is None:
        import gaia_jax as face
    if args.merge:
        total = folder.merge(args.out, args.merge, args.games)
        print(f"{total} games in {args.out}")
        return 0
    if args.agents:
        code = _export(args, face)
        if code or args.share:
            return code
    with outputs.folder_lock(args.out):
        if args.decisions:
            _decisions(args, face)
        return _verify(args, face) if args.verify is not None else 0


def _export(args: argparse.Namespace, face: Any) -> int:
    """Play the games that are not there yet, and put them together."""
    from training.data import folder, shards, sharing
    from training.data.playing import Source
    from training.data.schema import slots

    env = make_env(face, args.env, "vp", args.players)
    names = [name.strip() for name in args.agents.split(",")]
    source = Source(env, names, args.batch, args.likeliest)
    rotations = len(source.seating)
    deals = -(-(args.games or GAMES) // rotations)
    if args.first % source.deals:
        raise UserError(f"--first must be a multiple of {source.deals}, the deals of a batch")
    part = source.about() | {"seed": args.seed, "first": args.first, "games": deals * rotations}
    if args.share:
        pieces = shards.Shards(args.out / folder.PIECES, alone=False)
        work = sharing.Work(source, part, pieces)
        missing = work.missing(args.share)
        if missing:
            with sharing.one_at_a_time(pieces.folder):
                source.compile()
        work.play(missing, lambda games: None)
        return 0
    cli.start_jax()
    if folder.begin(args.out, part):
        print(f"{args.out} is whole: {part['games']} games")
        return 0
    with outputs.folder_lock(args.out):
        work = sharing.Work(source, part, shards.Shards(args.out / folder.PIECES))
        code = _play(args, work)
        if code:
            return code
        total = shards.assemble(args.out / folder.GAMES, work.pieces.tables(len(work.sizes)))
        setup = _first_setup(args.out / folder.GAMES)
        about = {"slots": slots(setup), "vp_sources": list(env.ruleset.ids["vp_source"])}
        folder.finish(args.out, [part], about)
        work.pieces.remove()
    size = (args.out / folder.GAMES).stat().st_size
    print(f"{args.out / folder.GAMES}: {total} games, {size / total:.0f} bytes a game")
    return 0


def _play(args: argparse.Namespace, work: Any) -> int:
    """The pieces that are not there yet; an exit code that is not 0 where some still are not."""
    from training.data import sharing

    missing = work.missing()
    processes = min(args.processes, len(missing))
    if processes < 2 and missing:
        with cli.compiling("the games"):
            work.source.compile()
    bar = cli.bar("game", work.part["games"], work.part["games"] - work.games(missing))
    try:
        if processes < 2:
            work.play(missing, bar.update)
            return 0
        command = [sys.executable, "-m", "training.export", *args.argv, "--share"]
        return sharing.together(work, processes, command, bar.update)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    finally:
        bar.close()


def _first_setup(path: Path) -> Any:
    import json

    from training.data import shards

    _, table = next(shards.row_groups(path, ["setup"]))
    return json.loads(table["setup"][0].as_py())


def _env_of(about: dict[str, Any], face: Any) -> Any:
    """The environment of a dataset; a UserError where it is another version, or several."""
    kinds = sorted({(part["env"], part["version"], part["players"]) for part in about["parts"]})
    if len(kinds) > 1:
        raise UserError(f"games of several rules: {kinds}")
    id, version, players = kinds[0]
    env = make_env(face, id, "vp", players)
    if str(env.version) != version:
        raise UserError(f"the games are of version {version}, this is {env.version}")
    return env


def _decisions(args: argparse.Namespace, face: Any) -> None:
    """Derive `decisions.parquet`, a piece a row group of games."""
    from training.agents import make_agent
    from training.data import decisions, folder, shards
    from training.data.playing import fingerprint
    from training.data.replaying import Replayer

    about = _whole(args.out)
    if folder.DECISIONS in about["files"]:
        print(f"{args.out / folder.DECISIONS} is there")
        return
    env = _env_of(about, face)
    names = sorted({agent["name"] for part in about["parts"] for agent in part["agents"]})
    made = {} if args.no_policy else {name: make_agent(name, env) for name in names}
    agents = {name: agent for name, agent in made.items() if agent.policy is not None}
    for told in (agent for part in about["parts"] for agent in part["agents"]):
        if told["name"] in agents and fingerprint(agents[told["name"]]) != told["sha256"]:
            raise UserError(
                f"{told['name']} is not the agent that played: --no-policy leaves its columns empty"
            )
    replayer = Replayer(env, args.replay_batch, decisions.make_look(agents))
    # Pieces of another size or with other columns are others.
    kind = f"{folder.DECISION_PIECES}_{replayer.batch}{'_no_policy' if args.no_policy else ''}"
    pieces = shards.Shards(args.out / kind)
    with cli.compiling("the replay"):
        replayer.compile()
    bar = cli.bar("game", about["files"][folder.GAMES]["rows"])
    count = 0
    for first, table in shards.row_groups(args.out / folder.GAMES):
        for at in range(0, len(table), replayer.batch):
            if not pieces.has(count):
                rows = table.slice(at, replayer.batch).to_pylist()
                for piece in decisions.of_games(replayer, rows, first + at, agents):
                    pieces.write(count, piece)
            bar.update(min(replayer.batch, len(table) - at))
            count += 1
    bar.close()
    path = args.out / folder.DECISIONS
    total = shards.assemble(path, pieces.tables(count), decisions.ROW_GROUP)
    folder.finish(args.out, about["parts"], folder.of_files(args.out))
    for left in args.out.glob(f"{folder.DECISION_PIECES}_*"):
        shards.Shards(left).remove()
    print(f"{path}: {total} decisions")


def _verify(args: argparse.Namespace, face: Any) -> int:
    """Play rows again; name what is wrong."""
    from training.data import folder, shards
    from training.data.replaying import Replayer, name_of, wrong_rows

    about = _whole(args.out)
    env, path = _env_of(about, face), args.out / folder.GAMES
    told = about["files"][folder.GAMES]
    wrong = []
    if shards.digest(path) != told["sha256"]:
        wrong.append(f"{path} is not the file of {folder.ABOUT}: its sha256 differs")
    total = told["rows"]
    count = min(args.verify, total)
    chosen = np.sort(np.random.default_rng(args.verify_seed).choice(total, count, replace=False))
    replayer = Replayer(env, args.replay_batch)
    with cli.compiling("the replay"):
        replayer.compile()
    bar = cli.bar("game", count)
    for first, table in shards.row_groups(path):
        here = chosen[(chosen >= first) & (chosen < first + len(table))]
        for some in np.split(here, range(replayer.batch, len(here), replayer.batch)):
            rows = table.take(some - first).to_pylist()
            found = wrong_rows(replayer, rows)
            wrong += [f"{name_of(int(some[at]), rows[at])}: {said}" for at, said in found]
            bar.update(len(some))
    bar.close()
    for line in wrong:
        print(line)
    print(f"{count} of {total} games played again, {len(wrong)} differences")
    return 1 if wrong else 0


def _whole(out: Path) -> dict[str, Any]:
    from training.data import folder

    about = folder.read_about(out)
    if not about["files"]:
        raise UserError(f"{out} is not whole: run its command again")
    return about


def _share(text: str) -> tuple[int, int]:
    """I/N of `--share`: which of the processes this is."""
    at, of = text.split("/")
    return int(at), int(of)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.export", __doc__)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="the dataset")
    parser.add_argument("--agents", help="a name for each seat, as for the arena: play games")
    parser.add_argument(
        "--games", type=cli.whole(1, MOST_GAMES),
        help=f"rounded up to whole deals; {GAMES} if left out, with --merge all",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="which deals"
    )
    parser.add_argument(
        "--first", type=cli.whole(0, 2**31 - 1), default=0, help="the first deal of the seed"
    )
    parser.add_argument(
        "--batch", type=cli.whole(1, 2**20), default=4096,
        help="games of a piece of the work, a quarter of them under way at the same time",
    )  # fmt: skip
    parser.add_argument(
        "--processes", type=cli.whole(1, 1024), default=1,
        help="play in so many processes, each on a core of its own",
    )  # fmt: skip
    parser.add_argument("--share", type=_share, help=argparse.SUPPRESS)
    parser.add_argument("--env", default="lost_fleet", help="the ruleset")
    parser.add_argument(
        "--players", type=int, choices=PLAYERS, default=4, help="2 and 3 for --env base alone"
    )
    parser.add_argument(
        "--likeliest", action="store_true", help="checkpoints take the likeliest action"
    )
    parser.add_argument(
        "--decisions", action="store_true", help="derive decisions.parquet from the games"
    )
    parser.add_argument(
        "--no-policy", action="store_true",
        help="with --decisions: leave the columns of the agents' networks empty, which is faster",
    )  # fmt: skip
    parser.add_argument(
        "--verify", type=cli.whole(1, MOST_GAMES), metavar="N", help="play N rows again"
    )
    parser.add_argument(
        "--verify-seed", type=cli.whole(0, cli.LARGEST_SEED), default=0, help="which rows"
    )
    parser.add_argument(
        "--replay-batch", type=cli.whole(1, 2**16), default=256,
        help="games that are played again together",
    )  # fmt: skip
    parser.add_argument(
        "--merge", nargs="+", type=Path, metavar="DIR", help="datasets that become one"
    )
    cli.add_cache_flag(parser)
    args = parser.parse_args(argv)
    args.argv = list(sys.argv[1:] if argv is None else argv)
    if args.merge and (args.agents or args.decisions or args.verify):
        raise UserError("--merge goes alone")
    if not (args.agents or args.merge or args.decisions or args.verify):
        raise UserError("nothing to do: --agents, --decisions, --verify or --merge")
    if not args.agents and not args.merge and not args.out.is_dir():
        raise UserError(f"{args.out} is no folder")
    return args


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION of the folder one stands in
    sys.exit(cli.run(main))

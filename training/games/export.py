"""Play the games of a dataset, derive its decisions, verify and merge datasets."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from ..agents import make_agent
from ..system import cli
from ..system.environments import make_env
from ..types import EnvModule
from . import card, dataset, decisions, playing, shards
from .replay import Replayer, name_of, wrong_rows
from .schema import About, slots

GAMES = 1024  # default
REPLAYED = 256  # games of a replayed batch


def play(args: argparse.Namespace, env_module: EnvModule) -> int:
    """Play the missing games and assemble the dataset."""
    env = make_env(env_module, args.env, "vp", args.players)
    names = [name.strip() for name in args.agents.split(",")]
    source = playing.Source(env, names, args.batch, args.likeliest)
    rotations = len(source.seating)
    deals = -(-(args.games or GAMES) // rotations)
    if args.first % source.deals:
        raise UserError(f"--first must be a multiple of {source.deals}, the deals of a batch")
    part = source.about() | {"seed": args.seed, "first": args.first, "games": deals * rotations}
    if args.share:
        pieces = shards.Shards(args.out / dataset.PIECES, alone=False)
        work = playing.Work(source, part, pieces)
        missing = work.missing(args.share)
        if missing:
            with outputs.folder_lock(pieces.folder, wait=True):  # compiling takes most memory
                source.compile()
        work.play(missing, lambda games: None)
        return 0
    cli.start_jax()
    if dataset.begin(args.out, part, card.made_with()):
        print(f"{args.out} is whole: {part['games']} games")
        return 0
    with outputs.folder_lock(args.out):
        work = playing.Work(source, part, shards.Shards(args.out / dataset.PIECES))
        code = _pieces(args, work)
        if code:
            return code
        total = shards.assemble(args.out / dataset.GAMES, work.pieces.tables(len(work.sizes)))
        _, table = next(shards.row_groups(args.out / dataset.GAMES, ["setup"]))
        setup = json.loads(table["setup"][0].as_py())
        about = {"slots": slots(setup), "vp_sources": list(env.ruleset.ids["vp_source"])}
        about |= {"made_with": dataset.read_about(args.out)["made_with"]}
        about |= {"strength": card.strength(names, env)}
        dataset.finish(args.out, [part], about)
        work.pieces.remove()
    size = (args.out / dataset.GAMES).stat().st_size
    print(f"{args.out / dataset.GAMES}: {total} games, {size / total:.0f} bytes a game")
    return 0


def _pieces(args: argparse.Namespace, work: playing.Work) -> int:
    """Play the missing pieces. Returns the exit code, not 0 if pieces are still missing."""
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
        module = f"{(__package__ or '').partition('.')[0]}.export"
        command = [sys.executable, "-m", module, *args.argv, "--share"]
        return playing.together(work, processes, command, bar.update)
    except KeyboardInterrupt:
        print("interrupted; run the same command to continue", file=sys.stderr)
        return 130
    finally:
        bar.close()


def _open(out: Path, env_module: EnvModule) -> tuple[About, Any]:
    """`dataset.json` of a checked dataset, and its environment.

    Raises:
        UserError: the dataset is incomplete, damaged, or of several or other rules.
    """
    about = dataset.read_whole(out)
    kinds = sorted({(part["env"], part["version"], part["players"]) for part in about["parts"]})
    if len(kinds) > 1:
        raise UserError(f"games of several rules: {kinds}")
    id, version, players = kinds[0]
    env = dataset.env_of(out, env_module, id, players)
    if str(env.version) != version:
        raise UserError(f"{out}: the games are of version {version}, this is {env.version}")
    dataset.check_games(out, about, env)
    return about, env


def derive(
    out: Path, env_module: EnvModule, replay_batch: int = REPLAYED, policy: bool = True
) -> None:
    """Derive `decisions.parquet` in pieces of one replayed batch each.

    Args:
        policy: also fill the columns of the agents' networks.
    Raises:
        UserError: the dataset is incomplete or of other rules, or an agent has changed.
    """
    if dataset.DECISIONS in dataset.read_whole(out)["files"]:
        print(f"{out / dataset.DECISIONS} is there")
        return
    about, env = _open(out, env_module)
    dataset.check_bytes(out, about)
    played = dataset.agents(about)
    names = sorted({name for name, _ in played})
    agent_of = {name: make_agent(name, env) for name in names} if policy else {}
    agents = {name: agent for name, agent in agent_of.items() if agent.policy is not None}
    hashes = {name: playing.fingerprint(agent) for name, agent in agents.items()}
    for name, sha in played:
        if hashes.get(name, sha) != sha:
            raise UserError(
                f"{name} is not the agent that played: --no-policy leaves its columns empty"
            )
    replayer = Replayer(env, replay_batch, decisions.make_extras(agents))
    # Pieces of another size or with other columns have another folder.
    kind = f"{dataset.DECISION_PIECES}_{replayer.batch}{'' if policy else '_no_policy'}"
    pieces = shards.Shards(out / kind)
    with cli.compiling("the replay"):
        replayer.compile()
    bar = cli.bar("game", about["files"][dataset.GAMES]["rows"])
    count = 0
    for first, table in shards.row_groups(out / dataset.GAMES):
        for at in range(0, len(table), replayer.batch):
            if not pieces.has(count):
                rows = table.slice(at, replayer.batch).to_pylist()
                for piece in decisions.of_games(replayer, rows, first + at, agents):
                    pieces.write(count, piece)
            bar.update(min(replayer.batch, len(table) - at))
            count += 1
    bar.close()
    path = out / dataset.DECISIONS
    total = shards.assemble(path, pieces.tables(count), decisions.ROW_GROUP)
    dataset.finish(out, about["parts"], dataset.of_files(out))
    for left in out.glob(f"{dataset.DECISION_PIECES}_*"):
        shards.Shards(left).remove()
    print(f"{path}: {total} decisions")


def verify(args: argparse.Namespace, env_module: EnvModule) -> int:
    """Replay rows and print the differences."""
    (about, env), path = _open(args.out, env_module), args.out / dataset.GAMES
    wrong = [message] if (message := dataset.check_bytes(args.out, about)) else []
    total = about["files"][dataset.GAMES]["rows"]
    count = min(args.verify, total)
    chosen = np.sort(np.random.default_rng(args.verify_seed).choice(total, count, replace=False))
    replayer = Replayer(env, args.replay_batch)
    with cli.compiling("the replay"):
        replayer.compile()
    bar = cli.bar("game", count)
    for first, table in shards.row_groups(path):
        numbers = chosen[(chosen >= first) & (chosen < first + len(table))]
        for batch in np.split(numbers, range(replayer.batch, len(numbers), replayer.batch)):
            rows = table.take(batch - first).to_pylist()
            errors = wrong_rows(replayer, rows)
            wrong += [f"{name_of(int(batch[at]), rows[at])}: {message}" for at, message in errors]
            bar.update(len(batch))
    bar.close()
    for line in wrong:
        print(line)
    print(f"{count} of {total} games played again, {len(wrong)} differences")
    return 1 if wrong else 0


def merge(args: argparse.Namespace, env_module: EnvModule) -> None:
    """Merge datasets into one."""
    for part in args.merge:
        about = dataset.read_whole(part)
        for id, players in sorted({(x["env"], x["players"]) for x in about["parts"]}):
            dataset.check_games(part, about, dataset.env_of(part, env_module, id, players))
    total = dataset.merge(args.out, args.merge, args.games)
    print(f"{total} games in {args.out}")

"""Play the games of a dataset, derive its decisions, verify and merge datasets."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from ..agents import fingerprint, make_agent, with_updates
from ..system import cli, jobs
from ..types import EnvModule
from . import card, dataset, decisions, parquet_files, playing
from .replay import Replayer, name_of, wrong_rows
from .schema import About, slots

GAMES = 1024  # default
REPLAYED = 256  # games of a replayed batch


def play(args: argparse.Namespace, env_module: EnvModule, on: jobs.On) -> int:
    """Play the missing games and assemble the dataset."""
    names = with_updates([name.strip() for name in args.agents.split(",")])
    source_args = playing.SourceArgs(
        env_module.__name__, args.env, args.players, ",".join(names), args.batch, args.likeliest,
        args.automa,
    )  # fmt: skip
    source = playing.source_of(source_args)
    deals = -(-(args.games or GAMES) // len(source.seating))
    if args.first % source.deals:
        raise UserError(f"--first must be a multiple of {source.deals}, the set-ups of a batch")
    part = source.about() | {"seed": args.seed, "first": args.first}
    part["games"] = deals * len(source.seating)
    cli.start_jax()
    if dataset.begin(args.out, part, card.made_with()):
        print(f"{args.out} is whole: {part['games']} games")
        return 0
    with outputs.folder_lock(args.out):
        folder = args.out / dataset.PIECES
        folder.mkdir(exist_ok=True)
        pieces = playing.pieces(source_args, part, folder)
        if not _play_pieces(pieces, source, on):
            return 130
        path = args.out / dataset.GAMES
        total = parquet_files.assemble(path, parquet_files.read(piece.path for piece in pieces))
        _, table = next(parquet_files.row_groups(path, ["setup"]))
        setup = json.loads(table["setup"][0].as_py())
        about = {"slots": slots(setup), "vp_sources": list(source.env.ruleset.ids["vp_source"])}
        about |= {"made_with": dataset.read_about(args.out)["made_with"]}
        about |= {"strength": card.strength(names, source.env)}
        dataset.finish(args.out, [part], about)
        shutil.rmtree(folder)
    print(f"{path}: {total} games, {path.stat().st_size / total:.0f} bytes a game")
    return 0


def _play_pieces(pieces: list[jobs.Shard], source: playing.Source, on: jobs.On) -> bool:
    """Play the missing pieces; False after Ctrl-C."""
    sizes = [piece.args[-1] * len(source.seating) for piece in pieces]
    is_missing = [not piece.path.exists() for piece in pieces]
    if on.in_process and any(is_missing):
        with cli.compiling("the games"):
            source.compile()
    done = sum(size for size, missing in zip(sizes, is_missing, strict=True) if not missing)
    with cli.bar("game", sum(sizes), done) as bar:
        try:
            jobs.compute(playing.piece, pieces, on, lambda index: bar.update(sizes[index]))
        except KeyboardInterrupt:
            print("interrupted; run the same command to continue", file=sys.stderr)
            return False
    return True


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
    hashes = {name: fingerprint(agent) for name, agent in agents.items()}
    for name, sha in played:
        if hashes.get(name, sha) != sha:
            raise UserError(
                f"{name} is not the agent that played: --no-policy leaves its columns empty"
            )
    replayer = Replayer(env, replay_batch, decisions.make_extras(agents))
    # Pieces of another size or with other columns have another folder.
    kind = f"{dataset.DECISION_PIECES}_{replayer.batch}{'' if policy else '_no_policy'}"
    (out / kind).mkdir(exist_ok=True)
    with cli.compiling("the replay"):
        replayer.compile()
    bar = cli.bar("game", about["files"][dataset.GAMES]["rows"])
    paths = []
    for first, table in parquet_files.row_groups(out / dataset.GAMES):
        for at in range(0, len(table), replayer.batch):
            paths.append(out / kind / f"{first + at:09}.parquet")
            if not paths[-1].exists():
                rows = table.slice(at, replayer.batch).to_pylist()
                for piece in decisions.of_games(replayer, rows, first + at, agents):
                    outputs.write_bytes(paths[-1], parquet_files.to_bytes(piece))
            bar.update(min(replayer.batch, len(table) - at))
    bar.close()
    path = out / dataset.DECISIONS
    total = parquet_files.assemble(path, parquet_files.read(paths), decisions.ROW_GROUP)
    dataset.finish(out, about["parts"], dataset.of_files(out))
    for left in out.glob(f"{dataset.DECISION_PIECES}_*"):
        shutil.rmtree(left)
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
    for first, table in parquet_files.row_groups(path):
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

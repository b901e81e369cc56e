"""The file of played games, with a row for each seat of each game: Parquet, or CSV for reading.

An unfinished file is a folder of shards (`training.system.jobs`), which `--resume` continues.
`--first` plays a part of the games of a seed, `training.merge` joins Parquet files.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason

from ..system.cli import need_pyarrow
from ..system.data_files import check_order, check_same
from ..types import Ids
from . import records, table
from .stats import places, wins
from .table import BEHAVIOUR, Games, entries, rotated

PARQUET = ".parquet"
TEXTS = ("env", "version", "agents", "agent", "faction")
FRACTIONS = ("place", "win", "seconds")
LIKELIEST = " likeliest"  # suffix of the agents if checkpoints take the most probable action

IdsOf = Callable[[str, int], Ids]  # (id of a ruleset, players) -> names of `faction`, `vp_source`


class Head(NamedTuple):
    """The properties that all games of a file share."""

    about: dict[str, Any]  # identity of the games: agents, rules, seed
    first: int  # number of the first set-up
    rotations: int
    players: int = 4


def names_of(about: dict[str, Any]) -> list[str]:
    """The entries of an arena, by its `agents`."""
    return entries(about["agents"].removesuffix(LIKELIEST).split(","))


def to_columns(head: Head, games: Games, ids: Ids) -> dict[str, np.ndarray]:
    """Games as columns of S * R * P rows, in the order of set-up, rotation and seat."""
    about, shape = head.about, games.vp.shape
    setup, rotation, seat = np.indices(shape)
    agents = about.get("agents") or ",".join(["policy", *[about["opponent"]] * (shape[2] - 1)])
    values = {
        "env": about["env"],
        "version": about.get("version", about.get("env_version")),
        "seed": about["seed"],
        "agents": agents,
        "setup": head.first + setup,
        "rotation": rotation,
        "seat": seat,
        "order": games.order,
        "entry": games.entry,
        "agent": np.array(names_of({"agents": agents}), object)[games.entry],
        "faction": np.array(ids["faction"], object)[games.faction],
        "vp": games.vp,
        "place": places(games.vp, games.illegal),
        "win": np.round(wins(games.vp, games.illegal), 6),
        "decisions": games.decisions[..., None],
        "seconds": np.round(games.seconds[..., None], 6),
        "own_decisions": games.decided,
        "illegal_moves": games.illegal,
        **dict(zip(BEHAVIOUR, np.moveaxis(games.behaviour, -1, 0), strict=True)),
    }
    for name, vp in zip(ids["vp_source"], np.moveaxis(games.sources, -1, 0), strict=True):
        values[f"vp.{name}"] = vp
    kind_of = dict.fromkeys(TEXTS, object) | dict.fromkeys(FRACTIONS, np.float64)
    return {
        name: np.broadcast_to(np.asarray(x, kind_of.get(name, np.int64)), shape).ravel()
        for name, x in values.items()
    }


def _to_games(column: Callable[[str], np.ndarray], head: Head, ids: Ids) -> Games:
    """Columns as games; which entry has which seat follows from the head."""
    shape = (-1, head.rotations, head.players)

    def array(name: str, kind: type = int) -> np.ndarray:
        return np.asarray(column(name), kind).reshape(shape)

    vp, faction_index = array("vp"), {name: index for index, name in enumerate(ids["faction"])}
    return Games(
        np.broadcast_to(rotated(head.players)[: head.rotations], vp.shape), array("order"),
        np.array([faction_index[name] for name in column("faction")]).reshape(shape), vp,
        np.stack([array(f"vp.{name}") for name in ids["vp_source"]], -1),
        np.stack([array(name) for name in BEHAVIOUR], -1), array("decisions")[..., 0],
        array("seconds", float)[..., 0], array("own_decisions"), array("illegal_moves"),
    )  # fmt: skip


def encode(path: Path, head: Head, games: Games, ids: Ids) -> bytes:
    """The bytes of a file of this name: Parquet, or CSV for any other suffix."""
    columns = to_columns(head, games, ids)
    if path.suffix != PARQUET:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows(zip(*(x.tolist() for x in columns.values()), strict=True))
        return text.getvalue().encode("utf-8")
    import pyarrow as pa
    import pyarrow.parquet as pq

    out, metadata = io.BytesIO(), {"games": json.dumps(head._asdict())}
    pq.write_table(pa.table(columns, metadata=metadata), out, compression="zstd")
    return out.getvalue()


def read(path: Path, ids_of: IdsOf) -> tuple[Head, Games]:
    """The head and the games of a Parquet file.

    Raises:
        UserError: the file cannot be read or does not hold games.
    """
    import pyarrow as pa

    from .shards import read as read_all

    try:
        rows = pa.concat_tables(read_all([path]))
        head = Head(**json.loads(rows.schema.metadata[b"games"]))
        ids = ids_of(head.about["env"], head.players)
        games = _to_games(lambda name: rows[name].to_numpy(), head, ids)
        own = to_columns(head, games, ids)
        if rows.column_names != list(own):
            raise ValueError("it has other columns")
        for name, values in own.items():
            if not np.array_equal(rows[name].to_numpy(), values):
                raise ValueError(f"its {name} contradicts the other columns")
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise UserError(f"{path} does not hold games of agents: {reason(error)}") from error
    return head, games


def check_outputs(flag: str, path: Path | None, args: argparse.Namespace) -> None:
    """Reject outputs that cannot be written; `flag` names `path`, `args` has the other flags."""
    if args.resume and not path:
        raise UserError(f"--resume needs the {flag} that it continues")
    if args.record and (args.on.backend != "local" or args.processes):
        raise UserError("--record plays in this process: leave out --on and --processes")
    if args.on.backend == "slurm" and not path:
        raise UserError(f"--on slurm stores its shards next to the games: name {flag} FILE")
    outputs.check_different({"--json": args.json, flag: path, "--record": args.record})
    if path and path.suffix == PARQUET:
        need_pyarrow(f"{path} needs")
    outputs.check_files({"--json": (args.json, outputs.REPORT), flag: (path, outputs.nothing)})
    if args.record:
        records.check(args.record, args.resume)


def merge(paths: Sequence[Path], ids_of: IdsOf) -> tuple[Head, Games]:
    """The head and games of several files as one, without a missing or repeated set-up.

    Raises:
        UserError: they do not fit together.
    """
    parts = sorted(((path, *read(path, ids_of)) for path in paths), key=lambda x: x[1].first)
    first_path, head, _ = parts[0]
    following = head.first
    for path, own, games in parts:
        check_same(path, own.about, head.about)
        if own[2:] != head[2:]:
            raise UserError(f"{path} is of other games than {first_path}")
        check_order(path, own.first, following)
        following += games.setup_count
    return head, table.join([games for *_, games in parts])

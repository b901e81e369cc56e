"""The file of played games, with a row for each seat of each game: Parquet, or CSV for reading.

An unfinished file is a folder of shards (`training.system.jobs`), which `--resume` continues.
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from ..system.cli import need_pyarrow
from ..types import Ids
from . import records
from .stats import places, wins
from .table import BEHAVIOUR, Games, entries

PARQUET = ".parquet"
LIKELIEST = " likeliest"  # suffix of the agents if checkpoints take the most probable action


def names_of(about: dict[str, Any]) -> list[str]:
    """The entries of an arena, by its `agents`."""
    return entries(about["agents"].removesuffix(LIKELIEST).split(","))


def to_columns(about: dict[str, Any], games: Games, ids: Ids) -> dict[str, np.ndarray]:
    """Games as columns of S * R * P rows, in the order of set-up, rotation and seat.

    Args:
        about: what all of them share: `env`, `seed`, `agents` or `opponent`, the version.
    """
    shape = games.vp.shape
    setup, rotation, seat = np.indices(shape)
    agents = about.get("agents") or ",".join(["policy", *[about["opponent"]] * (shape[2] - 1)])
    values = {
        "env": about["env"],
        "version": about.get("version", about.get("env_version")),
        "seed": about["seed"],
        "agents": agents,
        "setup": setup,
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
        "seconds": np.round(games.seconds.astype(float)[..., None], 6),
        "own_decisions": games.decided,
        "illegal_moves": games.illegal,
        **dict(zip(BEHAVIOUR, np.moveaxis(games.behaviour, -1, 0), strict=True)),
    }
    for name, vp in zip(ids["vp_source"], np.moveaxis(games.sources, -1, 0), strict=True):
        values[f"vp.{name}"] = vp
    return {name: np.broadcast_to(x, shape).ravel() for name, x in values.items()}


def encode(path: Path, about: dict[str, Any], games: Games, ids: Ids) -> bytes:
    """The bytes of a file of this name, Parquet or CSV; arguments as of `to_columns`."""
    columns = to_columns(about, games, ids)
    if path.suffix == PARQUET:
        import pyarrow as pa

        from .parquet_files import to_bytes

        return to_bytes(pa.table(columns))
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(x.tolist() for x in columns.values()), strict=True))
    return text.getvalue().encode("utf-8")


def check_outputs(flag: str, path: Path | None, args: argparse.Namespace) -> None:
    """Reject outputs that cannot be written; `flag` names `path`, `args` has the other flags."""
    if args.resume and not path:
        raise UserError(f"--resume needs the {flag} that it continues")
    if args.record and (args.on != "local" or args.processes):
        raise UserError("--record plays in this process: leave out --on and --processes")
    if args.on == "slurm" and not path:
        raise UserError(f"--on slurm stores its shards next to the games: name {flag} FILE")
    outputs.check_different({"--json": args.json, flag: path, "--record": args.record})
    if path and path.suffix == PARQUET:
        need_pyarrow(f"{path} needs")
    outputs.check_files({"--json": (args.json, outputs.REPORT), flag: (path, outputs.nothing)})
    if args.record:
        records.check(args.record, args.resume)

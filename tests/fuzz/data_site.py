"""Good files of every kind that a command reads, a folder for each; cases damage a copy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import site
from tests.fuzz.runner import ROOT

GAMES = 16  # of the dataset
SEATS = 4


def make(folder: Path) -> None:
    """Fill a folder."""
    for name, fill in FOLDERS.items():
        (folder / name).mkdir()
        fill(folder / name)


def _dataset(out: Path) -> None:
    """The first games of the sample, invented decisions, figures of the sample."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from training.games import dataset, decisions

    sample, data = ROOT / "docs" / "sample", out / "data"
    data.mkdir()
    with pq.ParquetFile(sample / dataset.GAMES) as file:
        table = next(file.iter_batches(GAMES))
    pq.write_table(pa.Table.from_batches([table]), data / dataset.GAMES)
    about = dataset.read_about(sample)
    parts = [about["parts"][0] | {"games": GAMES}]
    extra = dataset.of_files(sample)
    dataset.finish(data, parts, extra)
    shutil.copytree(data, out / "decided")
    rows = [
        {f.name: _odd(f.type) for f in decisions.schema()} | {"game": game, "round": 1 + game % 6}
        for game in range(GAMES)
    ]
    table = pa.Table.from_pylist(rows, schema=decisions.schema())
    pq.write_table(table, out / "decided" / dataset.DECISIONS)
    dataset.finish(out / "decided", parts, extra)
    shutil.copyfile(ROOT / "docs" / "lab" / "before.json", out / "before.json")


def _odd(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return [0] * 6
    return "TURN" if pa.types.is_string(kind) else 0


def _labels(out: Path) -> None:
    """`training.labels` of invented games."""
    import gaia_jax
    from training.imitation import expert_data, experts
    from training.system.environments import identity

    env, steps, games = gaia_jax.make("lost_fleet"), 64, 8
    about = identity(env) | {"seed": 0, "games": games, "first": 0, "student": ""}
    (out / "labels").mkdir()
    (out / "labels" / expert_data.ABOUT).write_text(json.dumps(about))

    def zeros(kind: Any, *more: int) -> np.ndarray:
        return np.zeros((steps, games, *more), kind)

    for chunk in range(2):
        np.savez(
            out / "labels" / f"{chunk:04d}.npz", action=zeros(np.int16),
            actions=zeros(np.int16, experts.BEST), values=zeros(np.float16, experts.BEST),
            reward=zeros(np.float16, 4), done=zeros(bool), vp=zeros(np.int16, 4),
            player=zeros(np.int8),
        )  # fmt: skip
    np.savez(out / "labels" / expert_data.STATES, chunks=np.int32(2), **{"0000": np.zeros(8)})
    shutil.copyfile(ROOT / "configs" / "quick.yaml", out / "quick.yaml")
    _given(out / "given.npz")


def _given(path: Path) -> None:
    """Parameters, compressed: damage comes to light in another place than where they are not."""
    with np.load(ROOT / "training" / "zoo" / "quick.npz") as file:
        np.savez_compressed(path, **dict(file))


def _zoo(out: Path) -> None:
    """A zoo with one agent."""
    for end in ("json", "npz"):
        (out / "zoo").mkdir(exist_ok=True)
        shutil.copyfile(ROOT / "training" / "zoo" / f"quick.{end}", out / "zoo" / f"quick.{end}")
    _given(out / "given.npz")
    shutil.copyfile(ROOT / "configs" / "quick.yaml", out / "quick.yaml")


def _runs(out: Path) -> None:
    """A run folder as `training.compare` and a sweep read it, and the file of the sweep."""
    import yaml

    from training import config as configs

    interval = {"mean": 1.0, "low": 0.5, "high": 1.5}
    both = {"policy": interval, "opponents": interval}
    sweep = {"name": "s", "config": "tiny.yaml", "set": {"ppo": {"lr": 0.001}}, "seeds": [0],
             "variants": {"a": {"ppo": {"clip": 0.3}}},
             "grid": {"ppo.epochs": [1]}}  # fmt: skip
    (out / "tiny.yaml").write_text(yaml.safe_dump(site.TINY))
    (out / "sweep.yaml").write_text(yaml.safe_dump(sweep))
    run = out / "runs" / "s-a-epochs1-0"
    (run / "checkpoints" / "00000001").mkdir(parents=True)
    member = {"seed": 0, "name": run.name, "ppo.lr": 0.001, "ppo.clip": 0.3, "ppo.epochs": 1}
    config = configs.load(out / "tiny.yaml", [f"{k}={v}" for k, v in member.items()])
    (run / "config.yaml").write_text(configs.to_yaml(config))
    records = [
        {"update": k, "games/vp": 10.0 + k, "games/ended": 3.0, "time/decisions": 64.0 * k,
         "time/decisions_per_second": 100.0, "evaluation/random/vp": 20.0}
        for k in (1, 2)
    ]  # fmt: skip
    (run / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (run / "history.jsonl").write_text('{"event": "end", "update": 2, "how": "complete"}\n')
    report = {"opponent": "random", "vp": both, "vp_difference": interval, "win_share": both}
    (run / "evaluation.json").write_text(json.dumps(report))


def _stopped(out: Path) -> None:
    """The same with a run that was interrupted."""
    _runs(out)
    history = next(out.glob("runs/*/history.jsonl"))
    history.write_text('{"event": "start", "update": 0}\n')


def _plan(out: Path) -> None:
    """A report of `benchmarks.training --json`."""
    import yaml

    from training import config as configs

    (out / "tiny.yaml").write_text(yaml.safe_dump(site.TINY))
    config = configs.to_dict(configs.load(out / "tiny.yaml"))
    parts = {"environment": 1.0, "observation and inference": 1.0, "learning": 2.0}
    report = {"config": config, "parts_s": parts, "run": "tiny",
              "machine": {"devices": 1, "device": "cpu"}}  # fmt: skip
    (out / "measured.json").write_text(json.dumps(report))


def _record(out: Path) -> None:
    shutil.copyfile(ROOT / "docs" / "records" / "lost_fleet.json", out / "record.json")


FOLDERS: dict[str, Callable[[Path], None]] = {
    "dataset": _dataset, "labels": _labels, "zoo": _zoo, "runs": _runs, "stopped": _stopped,
    "plan": _plan, "record": _record, "arena": site.tables,
}  # fmt: skip

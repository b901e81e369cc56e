"""What a run writes down: `metrics.jsonl`, TensorBoard, Weights & Biases."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from training import config as configs
from training.config import Config, UserError


class Logs:
    """Writes the metrics of each update to `metrics.jsonl`, and elsewhere if asked for."""

    def __init__(self, run: Path, config: Config, first_update: int = 0):
        """
        Args:
            run: the run folder.
            config: its configuration; `train.tensorboard`, `train.wandb`.
            first_update: later records of an earlier, interrupted run are dropped.
        Raises:
            UserError: `train.wandb` without wandb.
        """
        path = run / "metrics.jsonl"
        _drop_after(path, first_update)
        self._file = path.open("a", encoding="utf-8")
        self._board = _tensorboard(run, first_update) if config.train.tensorboard else None
        self._wandb = _wandb(run, config) if config.train.wandb else None

    def write(self, update: int, metrics: dict[str, float]) -> None:
        """One record; values that are not finite are left out."""
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self._file.write(json.dumps({"update": update} | finite) + "\n")
        if self._board is not None:
            for name, value in finite.items():
                self._board.add_scalar(name, value, update)
        if self._wandb is not None:
            self._wandb.log(finite, step=update)

    def flush(self) -> None:
        """Make everything visible to who reads along."""
        self._file.flush()
        if self._board is not None:
            self._board.flush()

    def close(self) -> None:
        """Nothing is written after this."""
        self._file.close()
        if self._board is not None:
            self._board.close()
        if self._wandb is not None:
            self._wandb.finish()


def _drop_after(path: Path, update: int) -> None:
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if _update(line) <= update]
        path.write_text("".join(kept), encoding="utf-8")


def _update(line: str) -> float:
    """The update of a record; what was cut off in the middle comes after everything."""
    try:
        return json.loads(line)["update"]
    except ValueError:
        return math.inf


def _tensorboard(run: Path, first_update: int) -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        print("no TensorBoard logs: pip install 'gaia_jax[tensorboard]'", file=sys.stderr)
        return None
    purge = first_update + 1 if first_update else None
    return SummaryWriter(str(run / "tensorboard"), purge_step=purge)


def _wandb(run: Path, config: Config) -> Any:
    try:
        import wandb
    except ImportError as error:
        raise UserError("train.wandb needs wandb: pip install 'gaia_jax[wandb]'") from error
    return wandb.init(
        project="gaia_jax", name=run.name, dir=str(run), config=configs.to_dict(config)
    )

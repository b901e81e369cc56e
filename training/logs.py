"""What a run writes down: `metrics.jsonl` and TensorBoard."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any


class Logs:
    """Writes the metrics of each update to `metrics.jsonl` and, where installed, to TensorBoard."""

    def __init__(self, run: Path, tensorboard: bool, first_update: int = 0):
        """
        Args:
            run: the run folder.
            tensorboard: also write TensorBoard events (the extra `tensorboard`).
            first_update: later records of an earlier, interrupted run are dropped.
        """
        self._path = run / "metrics.jsonl"
        _drop_after(self._path, first_update)
        self._file = self._path.open("a", encoding="utf-8")
        self._board = _board(run / "tensorboard", first_update) if tensorboard else None

    def write(self, update: int, metrics: dict[str, float]) -> None:
        """One record; values that are not finite are left out."""
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self._file.write(json.dumps({"update": update} | finite) + "\n")
        if self._board is not None:
            for name, value in finite.items():
                self._board.add_scalar(name, value, update)

    def flush(self) -> None:
        self._file.flush()
        if self._board is not None:
            self._board.flush()

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def _drop_after(path: Path, update: int) -> None:
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["update"] <= update]
        path.write_text("".join(kept), encoding="utf-8")


def _board(folder: Path, first_update: int) -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        print("no TensorBoard logs: pip install 'gaia_jax[tensorboard]'", file=sys.stderr)
        return None
    return SummaryWriter(str(folder), purge_step=first_update + 1 if first_update else None)

"""Keep finished playouts on disk, so that a command that is stopped or killed repeats none."""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

from ..types import EnvState
from .playouts import Ends, Jobs

SUFFIX = ".playouts"  # of the folder next to the result of a command
MARK = "gaia_jax playouts"  # a file of the folder, so that no other folder is removed


class PlayoutJournal:
    """A folder of finished requests."""

    def __init__(self, out: Path):
        """
        Args:
            out: the result of the command.
        """
        self.folder = out.with_name(out.name + SUFFIX)

    def path(self, player: str, pool: EnvState, jobs: Jobs, seed: int) -> Path:
        """The file of a request.

        Args:
            player: what identifies the agent with its parameters, and the rules.
        """
        digest = hashlib.sha256(f"{player} {seed}".encode())
        used = np.unique(jobs.position)
        for array in (*jobs, *(np.asarray(x)[used] for x in jax.tree.leaves(pool))):
            digest.update(f"{array.shape} {array.dtype}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return self.folder / f"{digest.hexdigest()[:32]}.npz"

    def read(self, path: Path) -> Ends | None:
        """The results of a request; None if it was not stored."""
        if not path.exists():
            return None
        with np.load(path) as arrays:
            return Ends(*(arrays[name] for name in Ends._fields))

    def write(self, path: Path, ends: Sequence[np.ndarray]) -> None:
        """Store the results of a request."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / MARK).touch()
        data = io.BytesIO()
        arrays: Any = dict(zip(Ends._fields, ends, strict=True))
        np.savez_compressed(data, **arrays)
        outputs.write_bytes(path, data.getvalue())

    def check_new(self) -> None:
        """Raise a UserError if a command left playouts."""
        if self.folder.exists():
            raise UserError(f"{self.folder} exists: --resume continues it, or name another file")

    def clear(self) -> None:
        """Remove the folder."""
        if (self.folder / MARK).exists():
            shutil.rmtree(self.folder)

"""`python -m training.zoo.ship`: what `training.ship` was called, for one version."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from training.system import cli


def main(argv: Sequence[str] | None = None) -> int:
    """`training.ship.main`, by name: a room imports no door."""
    return int(importlib.import_module("training.ship").main(argv))


if __name__ == "__main__":
    raise SystemExit(cli.run(main))

"""`python -m training.zoo.ship`: what `training.ship` was called, for one version."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from ..system import cli


def main(argv: Sequence[str] | None = None) -> int:
    """`training.ship.main`, by name: a room imports no door."""
    return int(importlib.import_module("..ship", __package__).main(argv))


if __name__ == "__main__":
    raise SystemExit(cli.run(main))

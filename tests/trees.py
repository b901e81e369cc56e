"""Trees of arrays in tests: one row of a batch, and whether two hold the same."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def take_row(tree: Any, i: Any = 0) -> Any:
    """Row i of every array."""
    return jax.tree.map(lambda x: x[i], tree)


def same(a: Any, b: Any) -> bool:
    """Whether two trees hold the same numbers."""
    return all(map(np.array_equal, jax.tree.leaves(a), jax.tree.leaves(b)))

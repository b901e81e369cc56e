"""Trees of arrays in tests: one row of a batch, and whether two hold the same."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def take_row(tree: Any, i: Any = 0) -> Any:
    """Row i, or rows, of every array."""
    return jax.tree.map(lambda x: x[i], tree)


def same(a: Any, b: Any) -> bool:
    """Whether two trees hold the same numbers."""
    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.array_equal(x, y) for x, y in leaves)

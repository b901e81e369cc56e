"""Parameters as named arrays, the way an npz holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from training.types import Params


def flatten(params: Params) -> dict[str, Any]:
    """Parameters -> arrays by name."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    name = jax.tree_util.keystr
    return {name(path, simple=True, separator="/"): np.asarray(x) for path, x in leaves}


def unflatten(arrays: Mapping[str, ArrayLike]) -> Any:
    """Arrays by name -> parameters, nested dictionaries."""
    tree: dict[str, Any] = {}
    for name in arrays:
        node, parts = tree, name.split("/")
        for part in parts[:-1]:
            node = node.setdefault(part, {})
        node[parts[-1]] = jnp.asarray(arrays[name])
    return tree

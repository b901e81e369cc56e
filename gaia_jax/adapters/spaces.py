"""Observation and action spaces as in gymnax: `sample(key)` and `contains(x)`, also under jit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.adapters.layout import KINDS, arranged, bounds, choice
from gaia_jax.env import GaiaEnv


@dataclass(frozen=True)
class Discrete:
    """0 .. n - 1."""

    n: int
    dtype: Any = np.int32

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an element."""
        return ()

    def sample(self, key: Array) -> Array:
        """() int32, any of the n, legal or not."""
        return jax.random.randint(key, (), 0, self.n, self.dtype)

    def contains(self, x: Array) -> Array:
        """() bool."""
        return jnp.logical_and(x >= 0, x < self.n)


@dataclass(frozen=True, eq=False)
class Box:
    """Whole numbers between two arrays, both included."""

    low: np.ndarray
    high: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an element."""
        return self.low.shape

    @property
    def dtype(self) -> Any:
        """Of an element."""
        return self.low.dtype

    def sample(self, key: Array) -> Array:
        """An array of independent numbers; no position of a game looks like it."""
        low, high = self.low.astype(np.int32), self.high.astype(np.int32)
        return jax.random.randint(key, self.shape, low, high + 1).astype(self.dtype)

    def contains(self, x: Array) -> Array:
        """() bool."""
        return jnp.logical_and(x >= self.low, x <= self.high).all()


@dataclass(frozen=True, eq=False)
class Dict:
    """A space for each name."""

    spaces: dict[str, Any]

    def sample(self, key: Array) -> dict[str, Array]:
        """An element of each."""
        keys = jax.random.split(key, len(self.spaces))
        pairs = zip(keys, self.spaces.items(), strict=True)
        return {name: space.sample(k) for k, (name, space) in pairs}

    def contains(self, x: dict[str, Array]) -> Array:
        """() bool."""
        inside = [space.contains(x[name]) for name, space in self.spaces.items()]
        return jnp.stack(inside).all()


def action_space(env: GaiaEnv) -> Discrete:
    """The action index; which are legal is in `state.legal_action_mask`."""
    return Discrete(env.num_actions)


def observation_space(env: GaiaEnv, kind: str = "tree") -> Box | Dict:
    """What `env.observe` gives, with the range of every entry.

    Args:
        env: what `gaia_jax.make` made.
        kind: "tree", a space for each field of `Observation`; "vector" or "picture", one Box.
    Raises:
        ValueError: an unknown kind.
    """
    choice("kind", kind, KINDS)
    low, high = bounds(env.ruleset)
    if kind == "tree":
        return Dict({name: Box(x, getattr(high, name)) for name, x in vars(low).items()})
    ends = [np.asarray(arranged(kind, env.ruleset, x)) for x in (low, high)]
    return Box(*ends)

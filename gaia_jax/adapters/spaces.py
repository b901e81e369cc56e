"""Observation and action spaces as in gymnax: `sample(key)` and `contains(x)`, also under jit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.adapters.layout import KINDS, MASKED, SCALED, arranged, bounds, choice
from gaia_jax.cli.lazy import of_extra
from gaia_jax.env import GaiaEnv
from gaia_jax.observation.scaling import scaled_bounds


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
    """Numbers between two arrays, both included; whole ones where the arrays are of integers."""

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
        if self.dtype == np.float32:
            return jax.random.uniform(key, self.shape, self.dtype, self.low, self.high)
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
    """The space of `env.observe`, with the range of every entry.

    Args:
        env: what `gaia_jax.make` made.
        kind: "tree", a space for each field of `Observation`; "vector" or "picture", one Box of
            integers; "scaled" or "masked", one of float32.
    Raises:
        ValueError: an unknown kind.
    """
    choice("kind", kind, (*KINDS, SCALED, MASKED))
    low, high = bounds(env.ruleset)
    if kind in (SCALED, MASKED):
        scaled_low, scaled_high = scaled_bounds(low, high)
        bits = np.ones(env.num_actions if kind == MASKED else 0, np.float32)
        return Box(np.append(scaled_low, 0 * bits), np.append(scaled_high, bits))
    if kind == "tree":
        return Dict({name: Box(x, getattr(high, name)) for name, x in vars(low).items()})
    return Box(*(np.asarray(arranged(kind, env.ruleset, x)) for x in (low, high)))


def gymnasium_space(space: Box | Dict) -> Any:
    """The same space as Gymnasium's own class."""
    with of_extra("adapters"):
        from gymnasium import spaces

    if isinstance(space, Dict):
        return spaces.Dict({name: gymnasium_space(part) for name, part in space.spaces.items()})
    return spaces.Box(space.low, space.high, dtype=space.dtype.type)


def gymnax_space(space: Discrete | Box | Dict) -> Any:
    """The same space as gymnax's own class, whose wrappers ask for it; as it is without gymnax."""
    try:
        from gymnax.environments import spaces
    except ImportError:
        return space
    if isinstance(space, Dict):
        return spaces.Dict({name: gymnax_space(part) for name, part in space.spaces.items()})
    if isinstance(space, Discrete):
        return spaces.Discrete(space.n)
    return spaces.Box(jnp.asarray(space.low), jnp.asarray(space.high), space.shape, space.dtype)

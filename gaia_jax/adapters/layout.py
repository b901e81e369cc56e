"""An observation as one array: a vector, or the map as a picture."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

import gaia_jax
from gaia_jax.cli.arguments import shown
from gaia_jax.env import GaiaEnv
from gaia_jax.observation import DTYPES, Observation, features, leading_shapes
from gaia_jax.observation.scaling import scaled_vector
from gaia_jax.ruleset import Ruleset

KINDS = ("tree", "vector", "picture")
SCALED = "scaled"  # one more form, of the views for one agent
MASKED = "masked"  # "scaled", followed by the mask; only of views for one agent


def game_name(ruleset: Ruleset) -> str:
    """Such as "gaia_project-base", "gaia_project-base-2p" where two play."""
    return f"gaia_project-{ruleset.id}" + (f"-{ruleset.seats}p" if ruleset.seats != 4 else "")


def environment(env: GaiaEnv | str, reward: str | None, players: int | None) -> GaiaEnv:
    """The environment that an adapter is asked for.

    Args:
        env: an environment of `gaia_jax.make`, or the id of one.
        reward, players: as `gaia_jax.make` takes them, None for its defaults; where `env` is an
            environment, None or what it has.
    Raises:
        TypeError, ValueError: as of `gaia_jax.make`; `env` has something else.
    """
    both: dict[str, Any] = {"reward": reward, "players": players}
    arguments = {name: value for name, value in both.items() if value is not None}
    if not isinstance(env, GaiaEnv):
        return gaia_jax.make(env, **arguments)
    for name, value in arguments.items():
        has = {"reward": env.reward, "players": env.num_players}[name]
        if value != has:
            raise ValueError(f"{name} {shown(value)}, but the environment given has {has!r}")
    return env


def choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise a ValueError that names the choices if `value` is not among them."""
    if not isinstance(value, str | bool) or value not in choices:
        allowed = ", ".join(map(str, choices))
        raise ValueError(f"unknown {name} {shown(value)}; known are {allowed}")


def as_vector(observation: Observation) -> Array:
    """(n,) int16: cells, players and globals in a row; numpy of numpy arrays."""
    xp = _array_module(observation)
    out: Array = xp.concatenate([x.astype(np.int16).ravel() for x in _tables(observation)])
    return out


def as_picture(ruleset: Ruleset, observation: Observation) -> Array:
    """(H, W, Fc) int16: the map, a channel for each column of a cell; then all other numbers.

    Rows are r, columns q. Cells off the map are 0. The columns of players and globals fill columns
    to the right of the map, so that a network of convolutions sees all there is.

    Args:
        ruleset: of the game, static.
        observation: one; numpy arrays give a numpy array.
    """
    xp = _array_module(observation)
    place, extra = _places(ruleset)
    channels = observation.cells.shape[-1]
    cells = xp.concatenate([observation.cells, np.zeros((1, channels), np.int8)])
    board = cells.astype(np.int16)[place]
    rest = xp.concatenate([observation.players.ravel(), observation.globals])
    height = place.shape[0]
    rest = xp.pad(rest, (0, height * extra * channels - rest.shape[0]))
    out: Array = xp.concatenate([board, rest.reshape(height, extra, channels)], axis=1)
    return out


def arranged(kind: str, ruleset: Ruleset, observation: Observation) -> Any:
    """An observation in the shape that `kind`, one of KINDS or SCALED, asks for."""
    if kind == SCALED:
        return scaled_vector(observation)
    if kind == "vector":
        return as_vector(observation)
    return as_picture(ruleset, observation) if kind == "picture" else observation


def bounds(ruleset: Ruleset) -> tuple[Observation, Observation]:
    """The least and the greatest number of every entry of an observation, numpy."""
    return _bound(ruleset, "low"), _bound(ruleset, "high")


def _bound(ruleset: Ruleset, end: str) -> Any:
    spec, tables = features(ruleset), dict[str, Any]()
    for name, lead in leading_shapes(ruleset).items():
        ends = np.array([getattr(c, end) for c in getattr(spec, name)], DTYPES[name])
        tables[name] = np.broadcast_to(ends, (*lead, len(ends)))
    return Observation(**tables)


def _array_module(observation: Observation) -> Any:
    """numpy for numpy arrays, which needs no device; `jax.numpy` otherwise."""
    return np if isinstance(observation.cells, np.ndarray) else jnp


def _tables(observation: Observation) -> tuple[Array, Array, Array]:
    return observation.cells, observation.players, observation.globals


@functools.cache
def _places(ruleset: Ruleset) -> tuple[np.ndarray, int]:
    """(H, W) int, the cell of each place of the picture, C off the map; columns for the rest."""
    q, r = ruleset.geometry.cells.T
    q, r = q - q.min(), r - r.min()
    place = np.full((r.max() + 1, q.max() + 1), len(q))
    place[r, q] = np.arange(len(q))
    spec = features(ruleset)
    rest = ruleset.players * len(spec.players) + len(spec.globals)
    return place, -(-rest // (place.shape[0] * len(spec.cells)))

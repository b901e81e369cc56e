"""Warm starts: a new run starts with the parameters of a network of its size or smaller.

`fit` turns the parameters of a smaller network of pools into those of a larger one that plays the
same.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..config import Config
from ..networks import advantage_head
from ..networks.layers import at_temperature
from ..system.data_files import flatten, unflatten
from ..types import Params
from .learner_state import Runner


class WarmStart(NamedTuple):
    """The parameters that `run.warm_start` names."""

    name: str  # of a run with the update: RUN@UPDATE
    params: Params


def begin_with(runner: Runner, given: Params, config: Config) -> Runner:
    """A new run that starts with given parameters.

    Raises:
        UserError: they are of another network.
    """
    params = fit(given, config, runner.params)
    own_shapes, given_shapes = (jax.tree.map(jnp.shape, x) for x in (runner.params, params))
    if own_shapes != given_shapes:
        raise UserError("run.warm_start: those parameters are of another network")
    placed = jax.tree.map(lambda x, y: jax.device_put(x, y.sharding), params, runner.params)
    return runner._replace(params=placed, average=placed if config.recipe.ema_decay else ())


def fit(given: Params, config: Config, params: Params) -> Any:
    """The parameters to start with; an advantage head that the new network lacks is left out.

    Args:
        given: the parameters of `run.warm_start`.
        params: of the new network, as initialized.
    """
    if not config.network.advantage_head:
        given = advantage_head.without_head(given)
    return at_temperature(widen(given, params), config.run.warm_start_temperature)


# Kernels that may have more rows, the inputs of a token; new rows are the last ones.
EXTENDED = r"(cells|players)/dense/kernel"
# How arrays grow with `width` and `latents`: a pattern of their names, what their rows read, what
# their last axis is. "pair" is a player and the game; "joined", which a layer of pools reads, is
# the game, the players and the board.
GROWTH = (
    (r"(LayerNorm_[01]|layer_\d+/LayerNorm_2)/.*", "", "units"),
    (r"layer_\d+/LayerNorm_1/.*", "", "pair"),
    (r"layer_\d+/LayerNorm_0/.*", "", "joined"),
    (r"seat_place|(globals|players)/dense/.*", "", "units"),
    (r"(Linear_0|layer_\d+/Mlp_\d/Linear_\d)/dense/bias", "", "units"),
    (r"layer_\d+/latents/dense/.*", "", "latents"),
    (r"layer_\d+/Mlp_0/Linear_0/dense/kernel", "joined", "units"),
    (r"(Linear_0|layer_\d+/Mlp_1/Linear_0)/dense/kernel", "pair", "units"),
    (r"layer_\d+/Mlp_\d/Linear_1/dense/kernel", "units", "units"),
    (r"(pointer|space|others|kinds|layer_\d+/Linear_1)/dense/kernel|value/kernel", "units", ""),
)
SPREAD = 0.25  # copies of a row differ by this share of its weights: equal copies would stay equal


def widen(params: Params, wider: Params) -> Any:
    """Parameters for a network of pools with more inputs, units or layers, which plays the same.

    New inputs and layers have weights of 0. If `width` and `latents` grow by the same whole factor,
    every unit is copied, and the different weights of its copies add up to its own. Parameters of
    the same network are returned unchanged, and so are those of any other network.

    Args:
        params: of the smaller network.
        wider: of the larger one, as initialized.
    """
    small, large = flatten(params.get("params", {})), flatten(wider.get("params", {}))
    outputs = _layer_outputs(large)
    if not small.keys() <= large.keys():
        return params
    small = _copy_units(small, large)
    grown: dict[str, np.ndarray] = {}
    for name, target in large.items():
        if name in small:
            array = _append_rows(name, small[name], target)
            if array is None:
                return params
            grown[name] = array
        elif name.split("/")[0] in outputs.values():  # of a new layer, which adds nothing
            grown[name] = np.zeros_like(target) if name in outputs else target
        elif name.startswith(f"{advantage_head.LAYER}/"):  # a new head, which no action depends on
            grown[name] = target
        else:
            return params
    return {**params, "params": unflatten(grown)}


def _copy_units(
    small: dict[str, np.ndarray], large: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Repeat the units of `width` and of `latents` as often as `large` has them.

    Both by the same factor, so that a LayerNorm over joined tokens keeps its mean and spread.
    """
    inner, scores = "globals/dense/bias", "layer_0/latents/dense/bias"
    if inner not in small or scores not in small or "cell_place" in small:
        return small
    width, latents, cell = (len(small[x]) for x in (inner, scores, "cells/dense/bias"))
    factor, remainder = divmod(len(large[inner]), width)
    if remainder or factor < 2 or len(large[scores]) != factor * latents:
        return small
    units, seats = np.arange(width).repeat(factor), len(small["seat_place"])
    tokens = (width * np.arange(1 + seats)[:, None] + units).ravel()  # of the game and the players
    board = np.arange(latents * cell).reshape(latents, cell).repeat(factor, axis=0).ravel()
    copies = {
        "units": units,
        "pair": tokens[: 2 * len(units)],
        "joined": np.concatenate([tokens, width * (1 + seats) + board]),
        "latents": np.arange(latents).repeat(factor),
    }
    rng = np.random.default_rng(0)
    out = dict(small)
    for name, array in small.items():
        for pattern, rows, last in GROWTH:
            if re.fullmatch(pattern, name):
                out[name] = array[..., copies[last]] if last else array
                if rows:
                    out[name] = _split_rows(out[name], copies[rows], factor, rng)
    return out


def _split_rows(
    kernel: np.ndarray, rows: np.ndarray, factor: int, rng: np.random.Generator
) -> np.ndarray:
    """Each row `factor` times, with different weights that add up to those of the row."""
    shares = rng.normal(scale=SPREAD, size=(len(rows), kernel.shape[1]))
    sums = np.zeros(kernel.shape)
    np.add.at(sums, rows, shares)
    shares += (1 - sums[rows]) / factor
    copies: np.ndarray = kernel[rows] * shares
    return copies.astype(kernel.dtype)


def _append_rows(name: str, small: np.ndarray, large: np.ndarray) -> np.ndarray | None:
    """An array with rows of zeros for new inputs; None where the shapes do not allow it."""
    if small.shape == large.shape:
        return small
    is_extended = re.fullmatch(EXTENDED, name) and small.shape[1:] == large.shape[1:]
    if not is_extended or len(large) < len(small):
        return None
    return np.concatenate([small, 0 * large[len(small) :]])


def _layer_outputs(arrays: dict[str, np.ndarray]) -> dict[str, str]:
    """The last arrays of each layer of pools, which adds nothing if they are 0, with its layer."""
    last: dict[str, int] = {}
    for name in arrays:
        at = re.match(r"(layer_\d+)/Linear_(\d+)/", name)
        if at and f"{at[1]}/latents/dense/kernel" in arrays:
            last[at[1]] = max(last.get(at[1], 0), int(at[2]))
    ends = "|".join(rf"{layer}/(Mlp_\d+/Linear_1|Linear_{k})/.*" for layer, k in last.items())
    return {name: name.split("/")[0] for name in arrays if ends and re.fullmatch(ends, name)}

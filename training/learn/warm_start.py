"""Warm starts: a new run begins with the parameters of a network of its size or smaller.

Of a smaller network of pools, `fit` makes parameters that play as it does in the larger one.
"""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..config import Config
from ..networks.layers import at_temperature
from ..system.data_files import flatten, unflatten
from ..types import Params
from .learner_state import Runner


def begin_with(runner: Runner, given: Params, config: Config) -> Runner:
    """A new run that begins with given parameters.

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
    """The parameters to begin with.

    Args:
        given: the parameters of `run.warm_start`.
        params: of the new network, as initialized.
    """
    return at_temperature(widen(given, params), config.run.warm_start_temperature)


# What may be larger: the inputs of a token, which are the last rows of a kernel.
MORE_ROWS = r"(cells|players)/dense/kernel"
# How arrays grow with `width` and `latents`: their names, what their rows read, what their last
# axis is. "pair" is a player and the game, "joined" what a layer of pools reads: these, the board.
GROWS = (
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
UNEVEN = 0.25  # copies of a row differ by such a share of its weights: alike, they would stay alike


def widen(params: Params, wider: Params) -> Any:
    """Parameters for a network of pools that reads more columns, is wider or has more layers.

    It plays as the smaller one does, and learns from there. New columns and layers weigh nothing.
    A width a whole number of times as large holds copies of every unit, whose weights in what
    reads them differ and add up to those of the smaller network; `latents` has to grow alike.
    Parameters of the same network stay as they are, and so do those that differ in anything else.

    Args:
        params: of the smaller network.
        wider: of the larger one, as it begins.
    """
    small, large = flatten(params.get("params", {})), flatten(wider.get("params", {}))
    silent = _silent(large)
    if not small.keys() <= large.keys():
        return params
    small = _copied(small, large)
    out = {}
    for name, target_array in large.items():
        if name in small:
            grown = _larger(name, small[name], target_array)
        elif name in silent:
            grown = np.zeros_like(target_array)
        else:
            grown = target_array if _layer(name) in silent.values() else None
        if grown is None:
            return params
        out[name] = grown
    return {**params, "params": unflatten(out)}


def _copied(small: dict[str, np.ndarray], large: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Repeat the units of `width` and of `latents` as often as `large` has them.

    Both alike: so a LayerNorm over what is joined keeps its mean and its spread.
    """
    inner, scores = "globals/dense/bias", "layer_0/latents/dense/bias"
    if inner not in small or scores not in small or "cell_place" in small:
        return small
    width, latents, cell = (len(small[x]) for x in (inner, scores, "cells/dense/bias"))
    times, over = divmod(len(large[inner]), width)
    if over or times < 2 or len(large[scores]) != times * latents:
        return small
    units, seats = np.arange(width).repeat(times), len(small["seat_place"])
    tokens = (width * np.arange(1 + seats)[:, None] + units).ravel()  # of the game and the players
    board = np.arange(latents * cell).reshape(latents, cell).repeat(times, axis=0).ravel()
    copies = {
        "units": units,
        "pair": tokens[: 2 * len(units)],
        "joined": np.concatenate([tokens, width * (1 + seats) + board]),
        "latents": np.arange(latents).repeat(times),
    }
    rng = np.random.default_rng(0)
    out = dict(small)
    for name, array in small.items():
        for pattern, rows, last in GROWS:
            if re.fullmatch(pattern, name):
                out[name] = array[..., copies[last]] if last else array
                if rows:
                    out[name] = _shared_out(out[name], copies[rows], times, rng)
    return out


def _shared_out(
    kernel: np.ndarray, rows: np.ndarray, times: int, rng: np.random.Generator
) -> np.ndarray:
    """Each row `times` times, unevenly, with the sum that it had."""
    shares = rng.normal(scale=UNEVEN, size=(len(rows), kernel.shape[1]))
    spread = np.zeros(kernel.shape)
    np.add.at(spread, rows, shares)
    shares += (1 - spread[rows]) / times
    copies: np.ndarray = kernel[rows] * shares
    return copies.astype(kernel.dtype)


def _larger(name: str, small: np.ndarray, large: np.ndarray) -> np.ndarray | None:
    """An array with what the other network has more of; None where it may not have more."""
    if small.shape == large.shape:
        return small
    if not re.fullmatch(MORE_ROWS, name) or small.shape[1:] != large.shape[1:]:
        return None
    if len(large) < len(small):
        return None
    return np.concatenate([small, 0 * large[len(small) :]])  # new inputs weigh 0


def _silent(arrays: dict[str, np.ndarray]) -> dict[str, str]:
    """The arrays that are 0 in a layer of pools that adds nothing, and the layer of each."""
    last: dict[str, int] = {}
    for name in arrays:
        at = re.match(r"(layer_\d+)/Linear_(\d+)/", name)
        if at and f"{at[1]}/latents/dense/kernel" in arrays:
            last[at[1]] = max(last.get(at[1], 0), int(at[2]))
    ends = "|".join(rf"{layer}/(Mlp_\d+/Linear_1|Linear_{k})/.*" for layer, k in last.items())
    return {name: _layer(name) for name in arrays if ends and re.fullmatch(ends, name)}


def _layer(name: str) -> str:
    return name.split("/")[0]

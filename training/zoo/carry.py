"""Parameters for another ruleset: columns and actions of the same name keep their weights.

The network of planets has no weights of single cells, so all that differs between the rulesets are
the columns of an observation and the actions without a cell. What the other ruleset alone has gets
weights of 0: a column says nothing, an action is as likely as one with logit 0.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from gaia_jax.cli import UserError
from training.config import NetworkConfig
from training.surroundings import Surroundings


def carry(params: Any, network: NetworkConfig, source: Any, target: Any) -> Any:
    """The parameters of an agent of `source` for `target`.

    Args:
        params: nested dictionaries, as `training.zoo.unflatten` makes them.
        source, target: environments.
    Raises:
        UserError: the network is not one of planets, or has a head in two steps.
    """
    if network.kinds:
        raise UserError(
            f"a network with the kinds of actions of {source.id} cannot play {target.id}"
        )
    if not network.planets:
        raise UserError(
            f"a network with weights for each cell of {source.id} cannot play {target.id}"
        )
    out = {**params, "params": {**params["params"]}}
    rows, layers = columns(source, network), out["params"]
    for name, there in columns(target, network).items():
        dense = layers[name]["dense"]
        kernel = _pick(np.asarray(dense["kernel"]), rows[name], there)
        layers[name] = {"dense": {**dense, "kernel": jnp.asarray(kernel)}}
    dense, (ours, theirs) = layers["others"]["dense"], (_others(source), _others(target))
    kernel = _pick(np.asarray(dense["kernel"]).T, ours, theirs).T
    layers["others"] = {"dense": {"kernel": jnp.asarray(kernel)}}
    if "bias" in dense:
        bias = _pick(np.asarray(dense["bias"]), ours, theirs)
        layers["others"]["dense"]["bias"] = jnp.asarray(bias)
    return out


def look_around(params: Any, env: Any) -> Any:
    """The parameters of a network of planets for one with `around`: what it adds weighs nothing.

    Those of any other network, or that have the rows already, stay as they are.
    """
    layers = params.get("params", {})
    dense = layers.get("cells", {}).get("dense", {})
    rows = len(columns(env, NetworkConfig(planets=1))["cells"])
    wanted = len(columns(env, NetworkConfig(planets=1, around=True))["cells"])
    if "kernel" not in dense or len(dense["kernel"]) != rows:
        return params
    kernel = np.pad(np.asarray(dense["kernel"]), ((0, wanted - rows), (0, 0)))
    cells = {"dense": {**dense, "kernel": jnp.asarray(kernel)}}
    return {**params, "params": {**layers, "cells": cells}}


def columns(env: Any, network: NetworkConfig) -> dict[str, list[str]]:
    """The inputs of a network of planets by name: what it reads of cells, players, globals."""
    spec = env.observation_spec
    out = {name: [x.name for x in getattr(spec, name)] for name in ("cells", "players", "globals")}
    if network.around:
        out["cells"] += Surroundings.of(env).names()
    return out


def _others(env: Any) -> list[str]:
    """The actions without a cell."""
    space = env.ruleset.actions
    return list(space.texts[len(env.action_planes) * len(env.ruleset.geometry.neighbors) :])


def _pick(weights: np.ndarray, ours: list[str], theirs: list[str]) -> np.ndarray:
    """Rows by the names of the target; 0 where the source has none."""
    at = {name: i for i, name in enumerate(ours)}
    out = np.zeros((len(theirs), *weights.shape[1:]), weights.dtype)
    for i, name in enumerate(theirs):
        if name in at:
            out[i] = weights[at[name]]
    return out

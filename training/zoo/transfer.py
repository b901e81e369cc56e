"""Parameters for another ruleset: columns and actions of the same name keep their weights.

The network of planets has no weights of single cells, so all that differs between the rulesets are
the columns of an observation and the actions without a cell. What the other ruleset alone has gets
weights of 0: a column says nothing, an action is as likely as one with logit 0.
"""

from __future__ import annotations

import re
from typing import Any

import jax.numpy as jnp
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..config import NetworkConfig
from ..networks.neighbourhood import Neighbourhood
from ..networks.score_features import ScoreFeatures
from ..system.data_files import flatten, unflatten
from ..types import Environment, Params


def transfer(
    params: Params, network: NetworkConfig, source: Environment, target: Environment
) -> Any:
    """The parameters of an agent of `source` for `target`.

    Args:
        params: nested dictionaries, as `unflatten` makes them.
        source, target: environments.
    Raises:
        UserError: the network is not one of planets, or has a head in two steps.
    """
    if network.factored_head:
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


# What may be larger: the inputs of a token, which are the last rows of a kernel.
MORE_ROWS = r"(cells|players)/dense/kernel"


def widen(params: Params, wider: Params) -> Any:
    """Parameters for a network of pools that reads more columns or has more layers.

    What is new weighs nothing, so that it plays as the smaller one does; it learns from there.
    Parameters of the same network stay as they are, and so do those that differ in anything else.

    Args:
        params: of the smaller network.
        wider: of the larger one, as it begins.
    """
    ours, theirs = flatten(params.get("params", {})), flatten(wider.get("params", {}))
    silent = _silent(theirs)
    if not ours.keys() <= theirs.keys():
        return params
    out = {}
    for name, there in theirs.items():
        if name in ours:
            grown = _larger(name, ours[name], there)
        elif name in silent:
            grown = np.zeros_like(there)
        else:
            grown = there if _layer(name) in silent.values() else None
        if grown is None:
            return params
        out[name] = grown
    return {**params, "params": unflatten(out)}


def _larger(name: str, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray | None:
    """An array with what the other network has more of; None where it may not have more."""
    if ours.shape == theirs.shape:
        return ours
    if not re.fullmatch(MORE_ROWS, name) or ours.shape[1:] != theirs.shape[1:]:
        return None
    if len(theirs) < len(ours):
        return None
    return np.concatenate([ours, 0 * theirs[len(ours) :]])  # new inputs weigh 0


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


def columns(env: Environment, network: NetworkConfig) -> dict[str, list[str]]:
    """The inputs of a network of planets by name: what it reads of cells, players, globals."""
    spec = env.observation_spec
    out = {name: [x.name for x in getattr(spec, name)] for name in ("cells", "players", "globals")}
    if network.neighbourhood:
        out["cells"] += Neighbourhood.of(env).names()
    if network.score_features:
        out["players"] += ScoreFeatures.of(env).names()
    return out


def _others(env: Environment) -> list[str]:
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

"""Parameters for another ruleset: columns and actions of the same name keep their weights.

The network of planets has no weights of single cells, so rulesets differ only in the columns of an
observation and in the actions without a cell. Columns and actions of the other ruleset alone get
weights of 0: the column has no effect, the action has logit 0.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..config import NetworkConfig
from ..networks.neighbourhood import Neighbourhood
from ..networks.score_features import ScoreFeatures
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
    if network.factored_head or not network.planets:
        part = "the kinds of actions" if network.factored_head else "weights for each cell"
        raise UserError(f"a network with {part} of {source.id} cannot play {target.id}")
    out = {**params, "params": {**params["params"]}}
    rows, layers = columns(source, network), out["params"]
    for name, target_columns in columns(target, network).items():
        dense = layers[name]["dense"]
        kernel = _pick(np.asarray(dense["kernel"]), rows[name], target_columns)
        layers[name] = {"dense": {**dense, "kernel": jnp.asarray(kernel)}}
    layers["others"] = {
        "dense": {
            name: jnp.asarray(_pick(np.asarray(x).T, _others(source), _others(target)).T)
            for name, x in layers["others"]["dense"].items()
        }
    }
    return out


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


def _pick(weights: np.ndarray, source_names: list[str], target_names: list[str]) -> np.ndarray:
    """Rows by the names of the target; 0 where the source has none."""
    at = {name: i for i, name in enumerate(source_names)}
    out = np.zeros((len(target_names), *weights.shape[1:]), weights.dtype)
    for i, name in enumerate(target_names):
        if name in at:
            out[i] = weights[at[name]]
    return out

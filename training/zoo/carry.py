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
    rows, layers = _columns(source), out["params"]
    for name, there in _columns(target).items():
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


def _columns(env: Any) -> dict[str, list[str]]:
    spec = env.observation_spec
    return {name: [x.name for x in getattr(spec, name)] for name in ("cells", "players", "globals")}


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

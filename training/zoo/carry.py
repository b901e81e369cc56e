"""Parameters for another ruleset: columns and actions of the same name keep their weights.

The network of planets has no weights of single cells, so all that differs between the rulesets are
the columns of an observation and the actions without a cell. What the other ruleset alone has gets
weights of 0: a column says nothing, an action is as likely as one with logit 0.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.cli import UserError
from training.config import NetworkConfig
from training.standings import Standings
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


def grow(params: Any, wider: Any) -> Any:
    """Parameters for a network that has more: columns, a favourite, hidden features, layers.

    What is new weighs nothing, so that it plays as the smaller one does; it learns from there.
    Parameters of the same network stay as they are, and so do those that no network grows into.

    Args:
        params: of the smaller network.
        wider: of the larger one, as it begins.
    """
    ours, theirs = params.get("params", {}), dict(wider.get("params", {}))
    if not ours.keys() <= theirs.keys():
        return params
    for name, there in theirs.items():
        if name in ours and _parts(ours[name]) == _parts(there):
            theirs[name] = jax.tree.map(_more, ours[name], there)
        elif name == "favourites":
            theirs[name] = jnp.zeros_like(there)
        elif name.startswith("layer_"):
            theirs[name] = _silent(there)
        else:
            return params
    return {**params, "params": theirs}


def _parts(layer: Any) -> list[str]:
    """The names of the arrays of a layer."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(layer)
    return [jax.tree_util.keystr(path) for path, _ in leaves]


def _more(ours: Any, theirs: Any) -> Any:
    """A kernel (F, D) or bias (D,) with what `theirs` has more: rows of 0 for inputs, which are the
    last, and columns as they begin, whose features the next kernel weighs with 0.

    Anything else as it is.
    """
    if ours.ndim != theirs.ndim or any(np.subtract(theirs.shape, ours.shape) < 0):
        return ours
    if ours.ndim == 2 and ours.shape != theirs.shape:
        ours = jnp.pad(jnp.asarray(ours), ((0, theirs.shape[0] - ours.shape[0]), (0, 0)))
    if ours.shape == theirs.shape:
        return ours
    return jnp.concatenate([jnp.asarray(ours), theirs[..., ours.shape[-1] :]], axis=-1)


def _silent(layer: Any) -> Any:
    """A layer of pools that adds nothing to its tokens: its last products are 0."""
    last = max(name for name in layer if name.startswith("Linear_"))
    out = {**layer, last: jax.tree.map(jnp.zeros_like, layer[last])}
    for name in layer:
        if name.startswith("Mlp_"):
            end = jax.tree.map(jnp.zeros_like, layer[name]["Linear_1"])
            out[name] = {**layer[name], "Linear_1": end}
    return out


def columns(env: Any, network: NetworkConfig) -> dict[str, list[str]]:
    """The inputs of a network of planets by name: what it reads of cells, players, globals."""
    spec = env.observation_spec
    out = {name: [x.name for x in getattr(spec, name)] for name in ("cells", "players", "globals")}
    if network.around:
        out["cells"] += Surroundings.of(env).names()
    if network.standings:
        out["players"] += Standings.of(env).names()
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

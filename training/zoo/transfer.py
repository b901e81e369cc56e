"""Parameters for another ruleset: columns and actions of the same name keep their weights.

The network of planets has no weights of single cells, so rulesets differ only in the columns of an
observation and in the actions without a cell. Columns and actions of the other ruleset alone get
weights of 0: the column has no effect, the action has logit 0. With fewer players the last
seats are left out.
"""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..config import NetworkConfig
from ..networks.neighbourhood import Neighbourhood
from ..networks.planets import make_layout
from ..networks.score_features import ScoreFeatures
from ..system.data_files import flatten, unflatten
from ..types import Environment, Params


def transfer(
    params: Params, network: NetworkConfig, source: Environment, target: Environment
) -> Any:
    """The parameters of an agent of `source` for `target`.

    Args:
        params: nested dictionaries, as `unflatten` makes them.
        source, target: environments; the target has at most as many players at the table.
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
    by_output = {"others": _others, "space": _space}
    for layer, names in by_output.items():
        layers[layer] = {
            "dense": {
                name: jnp.asarray(_pick(np.asarray(x).T, names(source), names(target)).T)
                for name, x in layers[layer]["dense"].items()
            }
        }
    return {**out, "params": _first_seats(layers, network.width, rows_of(source), rows_of(target))}


def rows_of(env: Environment) -> int:
    """The players at the table: those that decide, and the Automa of a solo game."""
    return int(getattr(env.ruleset, "players", env.num_players))


# What a layer reads side by side: the game, the players, the board.
JOINED = r"layer_\d+/(LayerNorm_0/(bias|scale)|Mlp_0/Linear_0/dense/kernel)"


def _first_seats(layers: Params, width: int, before: int, after: int) -> Any:
    """The layers without the tokens of all players but the first `after` of `before`."""
    arrays = {name: np.asarray(x) for name, x in flatten(layers).items()}
    for name, array in arrays.items():
        if name == "seat_place":
            arrays[name] = array[:after]
        elif re.fullmatch(JOINED, name):
            arrays[name] = np.delete(array, slice(width * (1 + after), width * (1 + before)), 0)
    return jax.tree.map(jnp.asarray, unflatten(arrays))


def columns(env: Environment, network: NetworkConfig) -> dict[str, list[str]]:
    """The inputs of a network of planets by name: columns of cells, players, globals."""
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


def _space(env: Environment) -> list[str]:
    """The inputs of the logits of empty space: a constant and columns of the cell."""
    layout = make_layout(env)
    return ["constant", *(env.observation_spec.cells[i].name for i in layout.space)]


def _pick(weights: np.ndarray, source_names: list[str], target_names: list[str]) -> np.ndarray:
    """Rows by the names of the target; 0 where the source has none."""
    at = {name: i for i, name in enumerate(source_names)}
    out = np.zeros((len(target_names), *weights.shape[1:]), weights.dtype)
    for i, name in enumerate(target_names):
        if name in at:
            out[i] = weights[at[name]]
    return out

"""The network of a configuration, and new parameters of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.command_line import UserError

from ..config import NetworkConfig
from ..types import Environment, PolicyNetwork
from .factored_head import kind_sizes
from .layers import Network
from .mlp import FlatNetwork
from .planets import PlanetNetwork, choice_kinds, make_layout


def make_network(env: Environment, config: NetworkConfig) -> Any:
    """The network for an environment: its number of actions, its planes of cells, its board.

    Raises:
        UserError: `config.neighbourhood` or `config.score_features` for an environment without the
            pieces of the board game.
    """
    kinds = kind_sizes(env) if config.factored_head else ()
    if config.mixing == "flat":
        return FlatNetwork(config, env.num_actions, kinds)
    if config.planets:
        layout = make_layout(env)
        inputs = {"neighbourhood": layout.neighbourhood, "score_features": layout.score_features}
        for name, is_present in inputs.items():
            if getattr(config, name) and is_present is None:
                raise UserError(f"network.{name}: {env.id} has no pieces of the board game")
        return PlanetNetwork(config, layout, choice_kinds(layout, kinds, config.planets))
    neighbors = np.asarray(env.ruleset.geometry.neighbors)
    table = tuple(map(tuple, neighbors.tolist()))
    return Network(config, env.num_actions, len(env.action_planes), table, kinds)


def init_params(env: Environment, network: PolicyNetwork, key: Array) -> Any:
    """New parameters: they depend on the key and on the shapes of an observation alone."""

    def look(key: Array) -> Any:
        state = env.init(key)
        return env.observe(state, state.current_player), state.legal_action_mask

    shapes = jax.eval_shape(look, jax.random.key(0))
    batch = jax.tree.map(lambda x: jnp.zeros((1, *x.shape), x.dtype), shapes)
    return network.init(key, *batch)

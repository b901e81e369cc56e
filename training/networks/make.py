"""The network of a configuration, and new parameters of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..config import NetworkConfig
from ..types import Environment, PolicyNetwork
from .factored_head import kind_sizes
from .layers import Network
from .mlp import FlatNetwork
from .planets import make_planet_network


def make_network(env: Environment, config: NetworkConfig) -> Any:
    """The network for an environment: its number of actions, its planes of cells, its board.

    Raises:
        UserError: `config.neighbourhood` or `config.score_features` for an environment without the
            pieces of the board game.
    """
    kinds = kind_sizes(env) if config.factored_head else ()
    if config.mixing == "flat":
        return FlatNetwork(config, env.num_actions, env.num_players, kinds)
    if config.planets:
        return make_planet_network(env, config, kinds)
    neighbors = np.asarray(env.ruleset.geometry.neighbors)
    table = tuple(map(tuple, neighbors.tolist()))
    planes, seats = len(env.action_planes), env.num_players
    return Network(config, env.num_actions, planes, table, seats, kinds)


def init_params(env: Environment, network: PolicyNetwork, key: Array) -> Any:
    """New parameters: they depend on the key and on the shapes of an observation alone."""
    shapes = observation_shapes(env)
    batch = jax.tree.map(lambda x: jnp.zeros((1, *x.shape), x.dtype), shapes)
    return network.init(key, *batch)


def observation_shapes(env: Environment) -> tuple[Any, Any]:
    """The shapes of one observation and of its mask."""

    def observe_start(key: Array) -> tuple[Any, Any]:
        state = env.init(key)
        return env.observe(state, state.current_player), state.legal_action_mask

    key = jax.eval_shape(lambda: jax.random.key(0))
    shapes: tuple[Any, Any] = jax.eval_shape(observe_start, key)
    return shapes

"""Games that begin at different times, so that an update sees every part of the game.

Games that begin together stay together for many games: each update would learn from one
part of the game alone, and forget another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..config import Config
from ..networks import sampling
from ..system.batched import batched
from ..system.devices import GAMES
from ..types import AutoEnvironment, AutoState, Params, PolicyNetwork

STREAM = 0xA9A27  # folded into the key, so that it differs from those of the updates


def make_stagger(
    auto: AutoEnvironment, network: PolicyNetwork, config: Config, mesh: Mesh
) -> Callable[[Any, Array, Any], Any]:
    """(params, key, states (N,)) -> states: game g of N is advanced by g / N of the decisions.

    The games are played by sampling from the network; compiled at the first call.

    Args:
        auto: the environment with auto-reset.
    """
    games, decisions = config.ppo.num_envs, config.recipe.staggered_starts
    local = games // mesh.size
    play = batched(auto)

    def stagger(params: Params, key: Array, state: AutoState) -> Any:
        game = jax.lax.axis_index(GAMES) * local + jnp.arange(local)
        own = jax.random.fold_in(key, STREAM)
        ahead = game * decisions // games

        def step(state: AutoState, clock: Array) -> tuple[Any, None]:
            keys = jax.vmap(jax.random.fold_in, (None, 0))(jax.random.fold_in(own, clock), game)
            keys = jax.vmap(jax.random.split)(keys)
            observation = play.observe(state, state.current_player)
            uniform, mask = jax.vmap(jax.random.uniform)(keys[:, 0]), state.legal_action_mask
            action = sampling.sample_action(network, params, observation, mask, uniform)
            after = play.step(state, action, keys[:, 1])

            def on(new: Array, old: Array) -> Array:
                plays = (clock < ahead).reshape(-1, *[1] * (new.ndim - 1))
                return jnp.where(plays, new, old)

            return jax.tree.map(on, after, state), None

        return jax.lax.scan(step, state, jnp.arange(decisions))[0]

    specs = (P(), P(), P(GAMES))
    mapped: Callable[[Any, Array, Any], Any] = jax.jit(
        jax.shard_map(stagger, mesh=mesh, in_specs=specs, out_specs=P(GAMES), check_vma=False),
        out_shardings=NamedSharding(mesh, P(GAMES)),
    )
    return mapped

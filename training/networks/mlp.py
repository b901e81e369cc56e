"""The network without tokens: one multilayer perceptron over the whole observation as a vector.

It does not know about cells: it learns each of them separately.
"""

from __future__ import annotations

import flax.linen as nn
import jax.numpy as jnp
from jax import Array

from gaia_jax.observation.scaling import soft_sign, symlog
from gaia_jax.xla.jax_config import own_jax_config

from ..config import NetworkConfig
from ..types import Observation
from .factored_head import ILLEGAL_LOGIT, in_two_steps
from .layers import FullInputMixin, Linear, Mlp


class FlatNetwork(FullInputMixin, nn.Module):
    """Observation and mask -> logits of every action and the value of every seat."""

    config: NetworkConfig
    num_actions: int
    seats: int  # P, that decide
    kinds: tuple[int, ...] = ()  # sizes of the kinds of actions; (): one softmax over all

    @nn.compact
    @own_jax_config
    def __call__(self, observation: Observation, mask: Array) -> tuple[Array, Array]:
        """Arguments and results are those of `Network`."""
        c, dtype = self.config, jnp.dtype(self.config.dtype)
        cells = soft_sign(observation.cells, dtype)
        players = symlog(observation.players, dtype)
        parts = [cells.reshape(*cells.shape[:-2], -1), players.reshape(*players.shape[:-2], -1)]
        vector = jnp.concatenate([*parts, symlog(observation.globals, dtype)], axis=-1)
        x = Linear(c.width, dtype, name="vector")(vector)
        for index in range(c.layers):
            x += Mlp(c.width, 2 * c.width, dtype, name=f"layer_{index}")(
                nn.LayerNorm(dtype=dtype)(x)
            )
        x = nn.relu(nn.LayerNorm(dtype=dtype)(x))
        small = nn.initializers.normal(0.002)
        logits = Linear(self.num_actions, dtype, kernel_init=small, name="others")(x)
        logits = jnp.where(mask, logits.astype(jnp.float32), ILLEGAL_LOGIT)
        if self.kinds:
            kinds = Linear(len(self.kinds), dtype, kernel_init=small, name="kinds")(x)
            logits = in_two_steps(logits, mask, kinds.astype(jnp.float32), self.kinds)
        hidden = nn.relu(Linear(c.width, dtype)(x)).astype(jnp.float32)
        return logits, nn.Dense(self.seats, kernel_init=small, name="value")(hidden)

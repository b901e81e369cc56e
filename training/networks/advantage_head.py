"""The advantage head: the change of every seat's value by each action, A(s, a).

It is the pointer head of the policy again, with an output for each seat. Networks keep its output
in the collection `COLLECTION`, which only the learner reads: playing does not compute it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike

from ..config import NetworkConfig
from ..types import NetworkInput, Params, PolicyNetwork
from .layers import Linear

COLLECTION, NAME = "advantages", "by_action"
LAYER = "advantage"  # of the head in the parameters of a network


def removed(config: NetworkConfig, params: Params) -> tuple[NetworkConfig, Any]:
    """A network and its parameters without the head: it plays the same."""
    if not config.advantage_head:
        return config, params
    return dataclasses.replace(config, advantage_head=False), without_head(params)


def without_head(params: Params) -> Any:
    """The parameters of a network without those of the head, if there are any."""
    others = {name: x for name, x in params["params"].items() if name != LAYER}
    return {**params, "params": others}


class AdvantageHead(nn.Module):
    """Pointers to tokens, to empty space, and the other actions, for each of P seats."""

    seats: int
    planes: int
    dtype: DTypeLike

    @nn.compact
    def __call__(
        self, context: Array, cells: Array, space: Array | None, num_actions: int
    ) -> Array:
        """(B, P, W) float32 in the order of the network's rows and of its index of actions.

        Args:
            context: (B, D). cells: (B, K, Dc), the tokens that actions point at.
            space: (B, C, Fs), features of empty space; None if all actions on cells have a token.
            num_actions: W.
        """
        small, batch = nn.initializers.normal(0.002), len(context)

        def linear(features: int, name: str) -> Array:
            layer = Linear(self.seats * features, self.dtype, kernel_init=small, name=name)
            return layer(context).reshape(batch, self.seats, features)

        query = linear(self.planes * cells.shape[-1], "queries")
        query = query.reshape(batch, self.seats * self.planes, cells.shape[-1])
        pointed = jnp.einsum("bpd,bcd->bpc", query, cells)
        parts = [pointed.reshape(batch, self.seats, -1)]
        if space is not None:
            aim = linear(space.shape[-1] + 1, "aims")
            parts.append(jnp.einsum("bpf,bcf->bpc", aim[..., 1:], space) + aim[..., :1])
        rest = num_actions - sum(part.shape[-1] for part in parts)
        return jnp.concatenate([*parts, linear(rest, "rest")], axis=-1).astype(jnp.float32)


def record(module: nn.Module, by_action: Array) -> None:
    """Record the output of a head for `outputs`; not among the parameters of `init`."""
    if not module.is_initializing():
        module.sow(COLLECTION, NAME, by_action)


def outputs(
    network: PolicyNetwork, params: Params, inputs: NetworkInput
) -> tuple[Array, Array, Array]:
    """Logits (B, W), values (B, P), and the output of the advantage head (B, P, W)."""
    out: Any = network.apply(
        params,
        inputs,
        method="logits_and_values",
        mutable=[COLLECTION],  # type: ignore[call-arg]
    )
    (logits, values), recorded = out
    return logits, values, recorded[COLLECTION][NAME][0]


def of_action(by_action: Array, logits: Array, action: Array) -> Array:
    """(B, P), the head's advantages of actions: A(s, a) - sum over a of pi(a) A(s, a).

    Args:
        by_action: (B, P, W). logits: (B, W), of the policy; no gradient passes through it.
        action: (B,), in the network's index.
    """
    policy = jax.lax.stop_gradient(jax.nn.softmax(logits))
    mean: Array = jnp.einsum("bpw,bw->bp", by_action, policy)
    chosen = jnp.take_along_axis(by_action, action[:, None, None], axis=-1)[..., 0]
    return chosen - mean

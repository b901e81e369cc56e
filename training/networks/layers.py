"""The policy and value network: tokens for hexes, players and the game, a pointer to actions.

B is any number of leading axes, C the number of cells, Dc and D the widths of a cell token and of
the other tokens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike

from gaia_jax.observation.scaling import soft_sign, symlog
from gaia_jax.xla.jax_config import own_jax_config

from ..config import NetworkConfig
from ..types import Observation, Params
from .factored_head import ILLEGAL_LOGIT, in_two_steps


def neighbor_sum(x: Array, neighbors: tuple[tuple[int, ...], ...] | np.ndarray) -> Array:
    """Sum over the neighbours of each cell.

    The sum is its own transpose, because to be neighbours is mutual: the gradient is the same six
    gathers. The scatter that XLA would derive makes an update of the quick network a tenth slower.

    Args:
        x: (B, C, Dc).
        neighbors: (C, 6) indices of cells, mutual; any index outside 0..C-1 means none.
    Returns:
        (B, C, Dc).
    """
    cells = x.shape[-2]
    table = np.asarray(neighbors)
    table = np.where((table >= 0) & (table < cells), table, cells)

    @jax.custom_vjp
    def total(x: Array) -> Array:
        padded = jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, 1), (0, 0)])
        out = jnp.zeros_like(x)
        for side in table.T:  # one gather of all six takes 2.5 times as long, or more
            out += jnp.take(padded, side, axis=-2)
        return out

    total.defvjp(lambda x: (total(x), None), lambda _, gradient: (total(gradient),))
    return total(x)


class Linear(nn.Module):
    """`nn.Dense` on rows: the leading axes become one.

    With three axes XLA copies a transposed operand for the gradient of the weights: on a CPU an
    update of the quick network takes a sixth longer.
    """

    features: int
    dtype: DTypeLike
    use_bias: bool = True
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x: Array) -> Array:
        rows = nn.Dense(
            self.features,
            self.use_bias,
            dtype=self.dtype,
            kernel_init=self.kernel_init,
            name="dense",
        )(x.reshape(-1, x.shape[-1]))
        return rows.reshape(*x.shape[:-1], self.features)


class Mlp(nn.Module):
    """Two layers that end at the width of the tokens they are added to."""

    width: int
    hidden: int
    dtype: DTypeLike

    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = nn.relu(Linear(self.hidden, self.dtype)(x))
        return Linear(self.width, self.dtype)(x)


class PoolLayer(nn.Module):
    """Cells see their neighbours and the global token, which sees pooled views of the board.

    Linear in the number of cells, and no normalisation of cell tokens: that is what a CPU pays for.
    """

    config: NetworkConfig
    neighbors: tuple[tuple[int, ...], ...]  # (C, 6), hashable as Flax wants its fields

    @nn.compact
    def __call__(self, cells: Array, players: Array, context: Array) -> tuple[Array, Array, Array]:
        c, dtype = self.config, jnp.dtype(self.config.dtype)
        scores = Linear(c.latents, dtype, name="latents")(cells)  # (B, C, L)
        pooled = jnp.einsum("...cl,...cd->...ld", jax.nn.softmax(scores, axis=-2), cells)
        board = pooled.reshape(*pooled.shape[:-2], -1)
        everyone = players.reshape(*players.shape[:-2], -1)
        joined = jnp.concatenate([context, everyone, board], axis=-1)
        context += Mlp(c.width, c.width, dtype)(nn.LayerNorm(dtype=dtype)(joined))

        seen = jnp.broadcast_to(context[..., None, :], players.shape)
        joined = jnp.concatenate([players, seen], axis=-1)
        players += Mlp(c.width, c.width, dtype)(nn.LayerNorm(dtype=dtype)(joined))

        hidden = Linear(c.cell_width, dtype)(cells)
        if c.neighbors:
            around = neighbor_sum(cells, self.neighbors)
            hidden += Linear(c.cell_width, dtype, use_bias=False)(around)
        normalized = nn.LayerNorm(dtype=dtype)(context)
        hidden += Linear(c.cell_width, dtype, use_bias=False)(normalized)[..., None, :]
        cells += Linear(c.cell_width, dtype)(nn.relu(hidden))
        return cells, players, context


class AttentionLayer(nn.Module):
    """A transformer layer over all tokens; the neighbours of a cell come to it directly."""

    config: NetworkConfig
    neighbors: tuple[tuple[int, ...], ...]  # (C, 6), hashable as Flax wants its fields

    @nn.compact
    def __call__(self, cells: Array, players: Array, context: Array) -> tuple[Array, Array, Array]:
        c, dtype = self.config, jnp.dtype(self.config.dtype)
        if c.neighbors:
            around = neighbor_sum(nn.LayerNorm(dtype=dtype)(cells), self.neighbors)
            cells += Linear(c.width, dtype, use_bias=False)(around)
        tokens = jnp.concatenate([cells, players, context[..., None, :]], axis=-2)
        x = nn.LayerNorm(dtype=dtype)(tokens)
        query, key, value = (
            nn.DenseGeneral((c.heads, c.width // c.heads), dtype=dtype, name=name)(x)
            for name in ("query", "key", "value")
        )
        seen = jax.nn.dot_product_attention(query, key, value)
        tokens += nn.DenseGeneral(c.width, axis=(-2, -1), dtype=dtype, name="out")(seen)
        tokens += Mlp(c.width, 4 * c.width, dtype)(nn.LayerNorm(dtype=dtype)(tokens))
        count = cells.shape[-2]
        return tokens[..., :count, :], tokens[..., count:-1, :], tokens[..., -1, :]


class FullInput(NamedTuple):
    """The inputs of `Network` at a decision: the whole observation."""

    observation: Observation
    mask: Array  # (B, A) bool


class FullInputMixin:
    """Methods of a network that stores whole observations and uses the environment's actions."""

    def encode(self, observation: Observation, mask: Array) -> FullInput:
        """The part of an observation to store for learning."""
        return FullInput(observation, mask)

    def logits_and_values(self, seen: FullInput) -> tuple[Array, Array]:
        """Logits in the network's own index of actions, here the environment's, and values."""
        network: Any = self
        out: tuple[Array, Array] = network(seen.observation, seen.mask)
        return out

    def to_action(self, seen: FullInput, choice: Array) -> Array:
        """(B,) choices in the network's index -> (B,) actions of the environment."""
        return choice

    def to_network_action(self, seen: FullInput, action: Array) -> Array:
        """The other way; (B, ...)."""
        return action


class Network(FullInputMixin, nn.Module):
    """Observation and mask -> logits of every action and the value of every seat.

    The first `planes * C` actions point at cells, plane by plane, and get their logits from the
    cell tokens; the others get theirs from the global token.
    """

    config: NetworkConfig
    num_actions: int
    planes: int
    neighbors: tuple[tuple[int, ...], ...]  # (C, 6), hashable as Flax wants its fields
    seats: int  # P, the first rows of `players`: those that decide
    kinds: tuple[int, ...] = ()  # sizes of the kinds of actions; (): one softmax over all

    @nn.compact
    @own_jax_config
    def __call__(self, observation: Observation, mask: Array) -> tuple[Array, Array]:
        """
        Args:
            observation: `cells` (B, C, Fc), `players` (B, P, Fp), `globals` (B, Fg).
            mask: (B, A) bool.
        Returns:
            logits (B, A) float32, illegal actions at ILLEGAL_LOGIT; values (B, P) float32 in the
            order of the player rows.
        """
        c, dtype = self.config, jnp.dtype(self.config.dtype)
        cells, players, context = self._tokens(observation)
        for index in range(c.layers):
            kind = {"pool": PoolLayer, "attention": AttentionLayer}[c.mixing]
            layer = kind(c, self.neighbors, name=f"layer_{index}")
            cells, players, context = layer(cells, players, context)
        context = nn.LayerNorm(dtype=dtype)(context)
        players = nn.LayerNorm(dtype=dtype)(players)

        small = nn.initializers.normal(0.002)
        query = Linear(self.planes * c.cell_width, dtype, kernel_init=small, name="pointer")(
            context
        )
        query = query.reshape(*query.shape[:-1], self.planes, c.cell_width)
        pointed = jnp.einsum("...pd,...cd->...pc", query, cells)
        pointed = pointed.reshape(*pointed.shape[:-2], -1)
        rest = self.num_actions - pointed.shape[-1]
        others = Linear(rest, dtype, kernel_init=small, name="others")(context)
        logits = jnp.concatenate([pointed, others], axis=-1).astype(jnp.float32)
        if self.kinds:
            kinds = Linear(len(self.kinds), dtype, kernel_init=small, name="kinds")(context)
            logits = in_two_steps(logits, mask, kinds.astype(jnp.float32), self.kinds)

        seen = jnp.broadcast_to(context[..., None, :], players.shape)
        hidden = Linear(c.width, dtype)(jnp.concatenate([players, seen], axis=-1))
        values = nn.Dense(1, kernel_init=small, name="value")(nn.relu(hidden).astype(jnp.float32))
        return jnp.where(mask, logits, ILLEGAL_LOGIT), values[..., : self.seats, 0]

    def _tokens(self, observation: Observation) -> tuple[Array, Array, Array]:
        """(B, C, Dc), (B, P, D), (B, D)."""
        c, dtype = self.config, jnp.dtype(self.config.dtype)
        cells = Linear(c.cell_width, dtype, name="cells")(soft_sign(observation.cells, dtype))
        players = Linear(c.width, dtype, name="players")(symlog(observation.players, dtype))
        context = Linear(c.width, dtype, name="globals")(symlog(observation.globals, dtype))
        place = nn.initializers.normal(0.02)
        cell_place = self.param("cell_place", place, (cells.shape[-2], c.cell_width))
        seat_place = self.param("seat_place", place, (players.shape[-2], c.width))
        return (
            nn.relu(cells + cell_place.astype(dtype)),
            players + seat_place.astype(dtype),
            context,
        )


HEADS = ("pointer", "space", "others", "kinds")  # the layers that logits come from


def at_temperature(params: Params, temperature: float) -> Any:
    """The parameters whose logits are those of `params` divided by a temperature.

    Args:
        params: of one of our networks; a part that is no head stays.
    """

    def scaled(path: tuple[object, ...], x: Array) -> Any:
        names = {getattr(key, "key", None) for key in path}
        return x / temperature if names & set(HEADS) else x

    return jax.tree_util.tree_map_with_path(scaled, params)

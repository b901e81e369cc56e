"""The network with tokens for planets and ships only, and its own index of actions.

Of the 224 cells of a board some 80 hold a planet or a ship; the others are empty space, where only
the Lost Planet and space stations matter. A token for each planet instead of each cell makes a
decision three times as cheap, and a rollout takes half of the memory.

B is the number of decisions, C of cells, K of tokens, A of actions, W = 4 K + C + (A - 4 C) of
choices: the action planes on tokens, one plane on all cells for empty space, the rest.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import flax.linen as nn
import jax.numpy as jnp
from jax import Array

from gaia_jax.cli.command_line import UserError
from gaia_jax.observation.scaling import soft_sign, symlog
from gaia_jax.xla.jax_config import own_jax_config

from ..config import NetworkConfig
from ..types import Environment, Observation
from .advantage_head import LAYER, AdvantageHead, record
from .factored_head import ILLEGAL_LOGIT, in_two_steps
from .layers import Linear, PoolLayer
from .neighbourhood import Neighbourhood
from .score_features import ScoreFeatures

SPACE_PLANE = "pick"  # the only plane whose actions lie in empty space too


class PlanetInput(NamedTuple):
    """The inputs of the network at a decision. Leading axis B."""

    cells: Array  # (B, K, Fc) int8, the tokens; all 0 where there are fewer
    space: Array  # (B, C, Fs) int8, a few columns of every cell
    players: Array  # (B, P, Fp)
    globals: Array  # (B, Fg)
    mask: Array  # (B, W) bool
    cell: Array  # (B, K) int16, the cell of each token; C where there is none


class Layout(NamedTuple):
    """Numbers of an environment that the network depends on; hashable."""

    num_actions: int
    planes: tuple[str, ...]
    cells: int
    seats: int  # P, the first rows of `players`: those that decide
    planet: tuple[int, ...]  # columns of a cell with its planet type
    space: tuple[int, ...]  # columns of `PlanetInput.space`
    # For `network.neighbourhood`, of an environment with the pieces of the board game; else None.
    neighbourhood: Neighbourhood | None = None
    score_features: ScoreFeatures | None = None  # for `network.score_features`, the same


def make_layout(env: Environment) -> Layout:
    """The layout of an environment."""
    names = [feature.name for feature in env.observation_spec.cells]

    def columns(*blocks: str) -> tuple[int, ...]:
        return tuple(i for i, name in enumerate(names) if name.split(".")[0] in blocks)

    cells = len(env.ruleset.geometry.neighbors)
    planet, space = columns("planet", "ship"), columns("near", "distance")
    pieces = "piece.MINE" in names
    neighbourhood = Neighbourhood.of(env) if pieces else None
    score_features = ScoreFeatures.of(env) if pieces else None
    planes, seats = tuple(env.action_planes), env.num_players
    return Layout(
        env.num_actions, planes, cells, seats, planet, space, neighbourhood, score_features
    )


def make_planet_network(
    env: Environment, config: NetworkConfig, kinds: tuple[int, ...]
) -> PlanetNetwork:
    """The network of planets for an environment.

    Args:
        kinds: sizes of the kinds of actions; () without a factored head.
    Raises:
        UserError: fewer tokens than a map has planets, or `config.neighbourhood` or
            `config.score_features` for an environment without the pieces of the board game.
    """
    layout = make_layout(env)
    inputs = {"neighbourhood": layout.neighbourhood, "score_features": layout.score_features}
    for name, value in inputs.items():
        if getattr(config, name) and value is None:
            raise UserError(f"network.{name}: {env.id} has no pieces of the board game")
    if layout.neighbourhood and config.planets < (largest := max_tokens(env)):
        raise UserError(
            f"network.planets: {env.id} for {env.num_players} has up to {largest} planets and"
            f" ships, got {config.planets}"
        )
    return PlanetNetwork(config, layout, choice_kinds(layout, kinds, config.planets))


def max_tokens(env: Environment) -> int:
    """The most planets and ships that a map of the board game can have, with the Lost Planet."""
    board, parts = env.ruleset.geometry, env.ruleset.map

    def largest_sum(tiles: Iterable[Sequence[str]], count: int) -> int:
        sizes = (sum(content != "Empty" for content in tile) for tile in tiles)
        return sum(heapq.nlargest(count, sizes))

    sectors = largest_sum((tile.contents() for tile in parts.sector_tiles), board.num_main_sectors)
    deep = largest_sum((tile.contents for tile in parts.deep_tiles), board.num_deep_sectors)
    interface = largest_sum([parts.interface_tiles], 1)
    return sectors + deep + interface + len(env.ruleset.ids["ship"]) + 1


def choice_kinds(at: Layout, kinds: tuple[int, ...], tokens: int) -> tuple[int, ...]:
    """`kind_sizes` of actions -> those of choices: `pick` has its tokens and the empty space."""
    if not kinds:
        return ()
    planes = [tokens] * len(at.planes)
    assert at.planes.index(SPACE_PLANE) == len(planes) - 1  # so space follows the tokens
    planes[-1] += at.cells
    return (*planes, *kinds[len(planes) :])


class PlanetNetwork(nn.Module):
    """A pointer to planets, a pointer to space, logits of the other actions, a value a seat."""

    config: NetworkConfig
    layout: Layout
    kinds: tuple[int, ...] = ()  # sizes of the kinds of choices; (): one softmax over all

    @own_jax_config
    def encode(self, observation: Observation, mask: Array) -> PlanetInput:
        """The part of an observation to store: `cells` (B, C, Fc), ...; mask (B, A)."""
        at, tokens = self.layout, self.config.planets
        planes = len(at.planes)
        planet = (observation.cells[..., jnp.array(at.planet)] != 0).any(-1)  # (B, C)
        slot = self._slots(planet)
        number = jnp.broadcast_to(jnp.arange(at.cells, dtype=jnp.int16), planet.shape)
        rows = jnp.arange(planet.shape[0])[:, None]
        cell = jnp.full((planet.shape[0], tokens + 1), at.cells, jnp.int16)
        cell = cell.at[rows, slot].set(number)[:, :tokens]
        index = jnp.minimum(cell, at.cells - 1).astype(jnp.int32)
        is_token = cell < at.cells
        cells = observation.cells
        if self.config.neighbourhood:
            assert at.neighbourhood is not None
            cells = jnp.concatenate([cells, at.neighbourhood.counts(cells)], axis=-1)
        cells = jnp.where(is_token[..., None], cells[rows, index], 0)
        on_cells = mask[:, : planes * at.cells].reshape(-1, planes, at.cells)
        pointed = jnp.take_along_axis(on_cells, index[:, None], axis=2) & is_token[:, None]
        space = on_cells[:, at.planes.index(SPACE_PLANE)] & (slot == tokens)
        others = mask[:, planes * at.cells :]
        players = observation.players
        if self.config.score_features:
            assert at.score_features is not None
            features = at.score_features.features(observation.cells, players, observation.globals)
            players = jnp.concatenate([players, features.astype(players.dtype)], axis=-1)
        choices = jnp.concatenate([pointed.reshape(len(mask), -1), space, others], axis=1)
        return PlanetInput(
            cells,
            observation.cells[..., jnp.array(at.space)],
            players,
            observation.globals,
            choices,
            cell,
        )

    @own_jax_config
    def to_action(self, seen: PlanetInput, choice: Array) -> Array:
        """(B,) choices -> (B,) int32 actions of the environment."""
        at, tokens = self.layout, self.config.planets
        planes = len(at.planes)
        first_space, first_other = planes * tokens, planes * tokens + at.cells
        token = jnp.take_along_axis(seen.cell, (choice % tokens)[:, None], axis=1)[:, 0]
        pointed = choice // tokens * at.cells + token
        space = at.planes.index(SPACE_PLANE) * at.cells + choice - first_space
        others = planes * at.cells + choice - first_other
        other = jnp.where(choice < first_other, space, others)
        return jnp.where(choice < first_space, pointed, other).astype(jnp.int32)

    @own_jax_config
    def to_network_action(self, seen: PlanetInput, action: Array) -> Array:
        """(B, ...) actions of the environment -> (B, ...) int32 choices."""
        at, tokens = self.layout, self.config.planets
        planes = len(at.planes)
        cell = seen.cell.reshape(len(seen.cell), *[1] * (action.ndim - 1), tokens)
        matches = cell == (action % at.cells)[..., None]
        pointed = action // at.cells * tokens + jnp.argmax(matches, axis=-1)
        space = planes * tokens + action % at.cells
        other = planes * tokens + at.cells + action - planes * at.cells
        on_cell = jnp.where(matches.any(-1), pointed, space)
        return jnp.where(action < planes * at.cells, on_cell, other).astype(jnp.int32)

    @nn.compact
    @own_jax_config
    def logits_and_values(self, seen: PlanetInput) -> tuple[Array, Array]:
        """Logits (B, W) float32, those not legal at ILLEGAL_LOGIT; values (B, P) float32."""
        c, dtype = self.config, jnp.dtype(self.config.dtype)
        planes = len(self.layout.planes)
        cells = nn.relu(Linear(c.cell_width, dtype, name="cells")(soft_sign(seen.cells, dtype)))
        players = Linear(c.width, dtype, name="players")(symlog(seen.players, dtype))
        context = Linear(c.width, dtype, name="globals")(symlog(seen.globals, dtype))
        place = nn.initializers.normal(0.02)
        players += self.param("seat_place", place, (players.shape[-2], c.width)).astype(dtype)
        small = nn.initializers.normal(0.002)
        for index in range(c.layers):
            layer = PoolLayer(c, (), name=f"layer_{index}")
            cells, players, context = layer(cells, players, context)
        context, rows = nn.LayerNorm(dtype=dtype)(context), nn.LayerNorm(dtype=dtype)(players)
        context_rows = jnp.broadcast_to(context[..., None, :], rows.shape)
        hidden = Linear(c.width, dtype)(jnp.concatenate([rows, context_rows], axis=-1))
        values = nn.Dense(1, kernel_init=small, name="value")(nn.relu(hidden).astype(jnp.float32))

        width = planes * c.cell_width
        query = Linear(width, dtype, kernel_init=small, name="pointer")(context)
        query = query.reshape(-1, planes, c.cell_width)
        pointed = jnp.einsum("bpd,bcd->bpc", query, cells).reshape(len(query), -1)
        features = len(self.layout.space) + 1
        aim = Linear(features, dtype, kernel_init=small, name="space")(context)
        space = jnp.einsum("bf,bcf->bc", aim[:, 1:], soft_sign(seen.space, dtype)) + aim[:, :1]
        rest = seen.mask.shape[-1] - pointed.shape[-1] - space.shape[-1]
        others = Linear(rest, dtype, kernel_init=small, name="others")(context)
        logits = jnp.concatenate([pointed, space, others], axis=-1).astype(jnp.float32)
        if c.advantage_head:
            head = AdvantageHead(self.layout.seats, planes, dtype, name=LAYER)
            seen_space = soft_sign(seen.space, dtype)
            record(self, head(context, cells, seen_space, seen.mask.shape[-1]))
        if self.kinds:
            kinds = Linear(len(self.kinds), dtype, kernel_init=small, name="kinds")(context)
            logits = in_two_steps(logits, seen.mask, kinds.astype(jnp.float32), self.kinds)
        values = values[..., : self.layout.seats, 0]
        return jnp.where(seen.mask, logits, ILLEGAL_LOGIT), values

    @own_jax_config
    def __call__(self, observation: Observation, mask: Array) -> tuple[Array, Array]:
        """Observation and mask (B, A) -> logits (B, A), values (B, P), as `Network` gives them."""
        at, tokens = self.layout, self.config.planets
        planes = len(at.planes)
        seen = self.encode(observation, mask)
        logits, values = self.logits_and_values(seen)
        slot = self._slots((observation.cells[..., jnp.array(at.planet)] != 0).any(-1))
        pointed = logits[:, : planes * tokens].reshape(-1, planes, tokens)
        none = jnp.full((*pointed.shape[:-1], 1), ILLEGAL_LOGIT)
        pointed = jnp.concatenate([pointed, none], axis=-1)
        on_cells = jnp.take_along_axis(pointed, slot[:, None], axis=-1)  # (B, planes, C)
        space = logits[:, planes * tokens : planes * tokens + at.cells]
        pick = at.planes.index(SPACE_PLANE)
        on_cells = on_cells.at[:, pick].set(jnp.where(slot == tokens, space, on_cells[:, pick]))
        others = logits[:, planes * tokens + at.cells :]
        out = jnp.concatenate([on_cells.reshape(len(logits), -1), others], axis=-1)
        return jnp.where(mask, out, ILLEGAL_LOGIT), values

    def _slots(self, planet: Array) -> Array:
        """(B, C) bool -> (B, C) int32, the token of each cell; K where it has none."""
        tokens = self.config.planets
        slot = jnp.cumsum(planet, axis=-1, dtype=jnp.int32) - 1
        return jnp.where(planet & (slot < tokens), slot, tokens)

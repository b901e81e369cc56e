"""Exploring starts: in training some seats begin with more than the set-up gives.

A policy that never has more ore or a level of navigation does not learn to use them. So randomly
chosen seats, the rich ones, get gifts: some of each resource, power in bowl III, a level or two of
some tracks. The network reads them as it reads any position.
Only training games are dealt like this, and the rules do not know of gifts: Bal T'aks may have
navigation before their planetary institute (BAL-01), Gleens QIC before their academy (GLE-01).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax import GaiaEnv
from gaia_jax.cli.command_line import UserError
from gaia_jax.state import GameState, Setup

from ..types import Environment, EnvState

STREAM = 0x51C4E  # folded into the set-up's key
# A gift is floor(u * u * (most + 1)) with u drawn from [0, 1): 0 to the most, mostly little.
RESOURCES = (15, 6, 6, 2)  # credits, ore, knowledge, QIC
POWER = 4  # ordinary tokens in bowl III
# Each is at level 2 or above with a chance of TWO_LEVELS, at 1 or above with AT_LEAST_ONE; what
# reaching a level pays is not paid.
TRACKS = ("terraforming", "navigation", "economy", "science")
TWO_LEVELS, AT_LEAST_ONE = 0.15, 0.35


@dataclasses.dataclass(frozen=True, repr=False)
class ExploringStartsEnv(GaiaEnv):
    """`GaiaEnv` in which a share `part` of the seats begins richer."""

    part: float = 0.0

    def deal(self, setup: Setup) -> GameState:
        """The game that a set-up deals, with the gifts of the rich seats."""
        game = super().deal(setup)
        players, names = game.players, self.ruleset.ids["track"]
        rich = is_rich(setup, self.num_players, self.part)
        # The Automa of a solo game follows the seats and gets nothing.
        rich = jnp.pad(rich, (0, game.num_players - self.num_players))[:, None]
        count = len(RESOURCES) + 1 + len(TRACKS)
        lot = jax.random.uniform(_key(setup, 1), (self.num_players, count))
        maximum = jnp.array([*RESOURCES, POWER])
        gift = (
            jnp.floor(lot[:, : len(maximum)] ** 2 * (maximum + 1)).astype(players.resources.dtype)
            * rich
        )
        chance = lot[:, len(maximum) :]
        level = rich * (
            (chance < TWO_LEVELS) + (chance < AT_LEAST_ONE).astype(players.tracks.dtype)
        )
        at = jnp.array([list(names).index(name) for name in TRACKS])
        return game.replace(
            players=players.replace(
                resources=players.resources + gift[:, : len(RESOURCES)],
                power=players.power.at[:, 2].add(gift[:, -1].astype(players.power.dtype)),
                tracks=players.tracks.at[:, at].max(level),
            )
        )


def with_exploring_starts(env: Environment, part: float) -> Any:
    """The environment to learn in: `env` itself where `part` of the seats is 0.

    Raises:
        UserError: `env` is not the board game.
    """
    if not part:
        return env
    if type(env) is not GaiaEnv:
        raise UserError(f"recipe.exploring_starts needs an environment of gaia_jax.make, got {env}")
    fields = {field.name: getattr(env, field.name) for field in dataclasses.fields(env)}
    return ExploringStartsEnv(**fields, part=part)


def is_rich(setup: Setup, players: int, part: float) -> Array:
    """(P,) bool, the rich seats.

    Args:
        setup: `Setup` of one game.
    """
    return jax.random.uniform(_key(setup, 0), (players,)) < part


def counts(before: EnvState, done: Array, final_vp: Array, part: float) -> dict[str, Array]:
    """The sums for `report` over one decision of N games; (2,) float32, not rich and rich.

    Args:
        before: the states before the decision. done: (N,) bool, the game ended with it.
        final_vp: (N, P), of games that did. part: of the seats that are rich.
    """
    rich = jax.vmap(lambda setup: is_rich(setup, final_vp.shape[-1], part))(before.game.setup)
    seats = done[:, None, None] * jax.nn.one_hot(rich.astype(jnp.int32), 2)  # (N, P, 2)
    return {
        "exploring_vp": (seats * final_vp[..., None]).sum((0, 1)),
        "exploring_seats": seats.sum((0, 1)),
    }


def report(summed: dict[str, Any]) -> dict[str, float]:
    """Mean VP of both kinds of seats for the log; removes the keys of `counts` from `summed`."""
    vp, seats = summed.pop("exploring_vp"), summed.pop("exploring_seats")
    names = ("exploring/vp_without", "exploring/vp_with_gifts")
    return {name: float(vp[i] / seats[i]) for i, name in enumerate(names) if seats[i]}


def _key(setup: Setup, number: int) -> Array:
    return jax.random.fold_in(jax.random.fold_in(key_of(setup), STREAM), number)


def key_of(setup: Setup) -> Array:
    """A key of `jax.random` that depends on the set-up alone: the same at every decision.

    Args:
        setup: `Setup` of one game.
    """
    drawn = jnp.concatenate([jnp.ravel(x).astype(jnp.uint32) for x in jax.tree.leaves(setup)])
    odd = 2 * np.arange(len(drawn), dtype=np.uint32) + 1
    return jax.random.fold_in(jax.random.key(0), (drawn * odd * odd * odd).sum(dtype=jnp.uint32))

"""Weights of the scripted player's value, in VP; `docs/lab/greedy.md` logs their tuning.

R is the number of rounds left after the current one: 5 in round 1, 0 in round 6. Gains of each
round fall with R; certain gains (VP, research at the end) do not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import SimpleNamespace

import jax.numpy as jnp
from jax import Array

from gaia_jax.components.common import EVENTS

# How often an event happens in a round, for tiles that score it; any other EVENT_A_ROUND times.
EVENTS_A_ROUND = {
    "new_type": 0.6,
    "terraform_step": 1.0,
    "gaia_mine": 0.5,
    "mine": 1.4,
    "new_sector": 0.8,
    "federation_token": 0.6,
    "trading_station": 0.8,
    "research_step": 1.8,
    "pi_academy": 0.4,
    "qic_action": 0.5,
    "new_main_sector": 0.5,
    "guest_mine": 0.3,
    "research_lab": 0.6,
}
EVENT_A_ROUND = 0.5
# Power of structures at distance 0, 1, ... counts so much towards one federation: the farther, the
# more satellites. A matrix over all pairs of cells is made of it once, so it is no field of the
# weights.
NEAR = (1.0, 1.0, 0.9, 0.7, 0.4, 0.2)


@dataclasses.dataclass(frozen=True)
class Weights:
    """The numbers of the player. Tuples follow the order of the ruleset's ids."""

    # Prices of what `Gain` lists: vp, credits, ore, knowledge, qic, tokens, tokens_iii, charge,
    # gaiaformers. Early: with five rounds left, ore builds what pays for the rest of the game.
    # Late: three of credits, ore and knowledge are one VP (FIN-11), all else nothing by itself.
    early: tuple[float, ...] = (1.0, 0.45, 1.4, 1.6, 2.6, 1.0, 1.8, 0.4, 3.0)
    late: tuple[float, ...] = (1.0, 0.33, 0.34, 0.40, 0.50, 0.05, 0.25, 0.1, 0.0)
    fade: float = 0.7  # prices fall from early to late as (R / 5) ** fade
    crowd: float = 0.25  # a full store (the cap) is worth so much less than its price times stock

    # Research: VP of the end are certain; lower levels lead there, and tracks serve by the round.
    step: tuple[float, ...] = (0.0, 6.0, 13.0, 11.0, 7.0, 3.0)  # by level, times R / 5
    terraforming: float = 0.35  # an ore less for each step, a round
    navigation: float = 0.35  # a cell more of range, a round
    gaiaformer: float = 0.5  # a gaiaformer owned, a round
    gaiaformer_out: float = 2.0  # besides: one on the map will be a mine without terraforming

    # Federations: a token is 12 VP or as good (SET-22).
    federation: float = 7.0  # unfederated power close together, as a share of the requirement
    spread: float = 2.5  # unfederated power anywhere, as a share of the requirement
    green: float = 3.0  # a green token opens an advanced tile or a level 5

    # Final missions: 6 VP for each player with a lower count, smoothed by the lead in pieces.
    rank: float = 0.5  # pieces of lead that make a rank likely, times (R + 1)
    # Final missions count in different units: a satellite is less than a sector. In the order of
    # `lost_fleet`.
    unit: tuple[float, ...] = (1.5, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0)

    # Structures beyond income and power, with five rounds left: what they lead to. A trading
    # station costs more than it earns, yet without one there is no lab and no institute.
    structure: tuple[float, ...] = (0.0, 2.0, 7.0, 10.0, 12.0, 11.0, 10.0)
    expand: float = 3.0  # square root of the planets in reach, with five rounds left
    institute: float = 0.7  # the power of a planetary institute, a round
    shuttle: tuple[float, ...] = (6.0, 6.0, 6.0, 6.0)  # a ship's actions, with five rounds left
    shuttle_base: float = 1.0  # its tile and token besides
    unused: float = 0.5  # a special action still to be taken this round: less than its gain
    faction_special: float = 1.5  # the faction's special action, a round
    events: tuple[float, ...] = tuple(EVENTS_A_ROUND.get(event, EVENT_A_ROUND) for event in EVENTS)

    # Passing: the best booster is worth nothing by itself, since one is taken anyway.
    pass_margin: float = 0.1
    growth: float = 1.15  # counts that a booster scores on the next pass, against now
    booster_special: float = 2.5  # RB6, RB11, RB13
    tinkering: tuple[float, ...] = (2.0, 2.5, 2.5, 4.0, 5.0, 4.0)  # the tiles of the Tinkeroids
    detour: float = 0.05  # a conversion has to gain so much


def as_params(weights: Weights) -> dict[str, Array]:
    """The weights as a pytree of float32 arrays by name."""
    fields = dataclasses.asdict(weights)
    return {name: jnp.asarray(value, jnp.float32) for name, value in fields.items()}


def view(params: Mapping[str, Array]) -> SimpleNamespace:
    """`w.early` instead of `params["early"]`."""
    return SimpleNamespace(**params)

"""The columns of the game as a whole. Readers give () or (columns,)."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.research import TRACKS
from gaia_jax.observation.view import Block, Ids, View, fixed, ids, one_hot
from gaia_jax.rules.passing import open_boosters
from gaia_jax.rules.player import bit_vector
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import NO_TARGET
from gaia_jax.state import NODES, Phase

PHASES = tuple(phase.name for phase in Phase)
# The slots of basic tiles that lie under no track are alike.
FREE_SLOT = "free"


def _numbered(count: int, kind: str) -> Ids:
    return lambda ruleset: tuple(f"{i + 1}.{id}" for i in range(count) for id in ruleset.ids[kind])


def _pairs(first: str, second: str) -> Ids:
    return lambda ruleset: tuple(
        f"{a}.{b}" for a in ruleset.ids[first] for b in ruleset.ids[second]
    )


def _modes(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(op.id for op in ruleset.operations if op.target != NO_TARGET)


def _free_mines(ruleset: Ruleset) -> tuple[str, ...]:
    opened = sorted({op.free_mine for op in ruleset.operations if op.free_mine})
    return tuple(ruleset.operations[i].id for i in opened)


def _operation(field: str, names: Ids) -> Callable[[View], Array]:
    def read(view: View) -> Array:
        rows = [view.ruleset.operation_index[id] for id in names(view.ruleset)]
        chosen: Array = getattr(view.game.turn, field)
        return chosen == np.array(rows, np.int16)

    return read


PENDING = ("token", "retrigger", "tile", "lost_planet", "qic_action", "building")


def _pending(view: View) -> Array:
    return jnp.stack([getattr(view.game.turn, name) for name in PENDING])


def _step_asked(view: View) -> Array:
    step = view.game.turn.pending_step
    return jnp.concatenate([(step == 1)[None], one_hot(step - 2, len(TRACKS))])


def _turn_bits(field: str, kind: str) -> Callable[[View], Array]:
    return lambda view: bit_vector(getattr(view.game.turn, field), len(view.ruleset.ids[kind]))


def _qic_used(view: View) -> Array:
    used = bit_vector(view.game.turn.ship_used, len(view.ruleset.shared_actions))
    return used[len(view.ruleset.ship_actions) :]


def _basic_slots(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(
        f"{tile.id}.{slot}" for tile in ruleset.basic_tiles for slot in (*TRACKS, FREE_SLOT)
    )


def _where_basic(view: View) -> Array:
    slots = one_hot(view.game.setup.basic_slot, len(view.ruleset.basic_tiles)).T  # (tiles, slots)
    free = slots[:, len(TRACKS) :].any(-1)
    return jnp.concatenate([slots[:, : len(TRACKS)], free[:, None]], -1).ravel()


def _where_advanced(view: View) -> Array:
    slots = len(view.ruleset.ids["advanced_slot"])
    is_left = bit_vector(view.game.turn.advanced_left, slots) == 1
    kinds = one_hot(view.game.setup.advanced, len(view.ruleset.advanced_tiles))
    return (kinds & is_left[:, None]).ravel()


def _ship_tiles(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(
        f"{ship}.{tile.id}" for ship in ruleset.ship_tile_ships for tile in ruleset.ship_tiles
    )


def _where_ship_tiles(view: View) -> Array:
    ships = len(view.ruleset.ship_tile_ships)
    return one_hot(view.game.setup.ship_tile[:ships], len(view.ruleset.ship_tiles)).ravel()


def _ship_tokens(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(f"{ship}.{token.id}" for ship in ruleset.ships for token in ruleset.ship_tokens)


def _where_ship_tokens(view: View) -> Array:
    ships = len(view.ruleset.ships)
    is_left = bit_vector(view.game.turn.ship_tokens, ships) == 1
    kinds = one_hot(view.game.setup.ship_token[:ships], len(view.ruleset.ship_tokens))
    return (kinds & is_left[:, None]).ravel()


def _base_tokens(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(token.id for token in ruleset.base_tokens)


def _track_token(view: View) -> Array:
    return (
        one_hot(view.game.setup.tf5_token, len(view.ruleset.base_tokens))
        & view.game.turn.track_token
    )


def _artifact_places(ruleset: Ruleset) -> tuple[str, ...]:
    places = ruleset.artifacts_in_play
    return tuple(f"{i + 1}.{id}" for i in range(places) for id in ruleset.ids["artifact"])


def _where_artifacts(view: View) -> Array:
    places = view.ruleset.artifacts_in_play
    is_left = bit_vector(view.game.turn.artifacts_left, places) == 1
    kinds = one_hot(view.game.setup.artifacts[:places], len(view.ruleset.artifacts))
    return (kinds & is_left[:, None]).ravel()


def _round_tile(view: View) -> Array:
    kind = view.game.setup.round_tiles[view.game.turn.round_index]
    return one_hot(kind, len(view.ruleset.round_tiles)) & (view.game.turn.round > 0)


def _final(view: View) -> Array:
    return one_hot(view.game.setup.final_missions, len(view.ruleset.final_missions)).any(0)


GLOBALS = (
    Block("round", 0, 1, "0 is the set-up", fixed(*map(str, range(costs.ROUNDS + 1))),
          lambda v: one_hot(v.game.turn.round, costs.ROUNDS + 1)),
    Block("phase", 0, 1, "of the round", fixed(*PHASES),
          lambda v: one_hot(v.game.turn.phase, len(PHASES))),
    Block("node", 0, 1, "the open decision, docs/reference/actions.md", fixed(*NODES),
          lambda v: one_hot(v.game.turn.node, len(NODES))),
    Block("mode", 0, 1, "the action that waits for its target", _modes,
          _operation("pending_op", _modes)),
    Block("free_mine", 0, 1, "the free mine to build", _free_mines,
          _operation("free_mine", _free_mines)),
    Block("cover", 0, 1, "slot of the advanced tile that waits for the tile to cover",
          ids("advanced_slot"),
          lambda v: one_hot(v.game.turn.cover, len(v.ruleset.ids["advanced_slot"]))),
    Block("step", 0, 1, "a research step to choose: any track, or whether to enter level 5 of one",
          fixed("any", *TRACKS), _step_asked),
    Block("pending", 0, 1, "decisions that are still to come this turn", fixed(*PENDING),
          _pending),
    Block("acted", 0, 1, "the main action of this turn is done", None,
          lambda v: v.game.turn.main_action_done),
    Block("free_actions", 0, 64, "taken this turn", None, lambda v: v.game.turn.free_actions),
    Block("brainstone_reversed", 0, 1, "the brainstone takes the other place in payments this turn",
          None, lambda v: v.game.turn.brainstone_reversed),
    Block("points", 0, 100, "Gaia-phase tokens the Terrans can still convert", None,
          lambda v: v.game.turn.terrans_points),
    Block("power_used", 0, 1, "power actions used this round", ids("power_action"),
          _turn_bits("power_used", "power_action")),
    Block("ship_used", 0, 1, "ship actions used this round", ids("ship_action"),
          _turn_bits("ship_used", "ship_action")),
    Block("qic_used", 0, 1, "QIC actions of the board used this round", ids("qic_action"),
          _qic_used),
    Block("basic", 0, 1, "the track of each basic tile", _basic_slots, _where_basic),
    Block("advanced_slot", 0, 1, "the advanced tile that is still in each slot",
          _pairs("advanced_slot", "advanced"), _where_advanced),
    Block("extra_condition", 0, 1, "who may take the extra advanced tile",
          lambda r: r.extra_conditions,
          lambda v: one_hot(v.game.setup.extra_condition, len(v.ruleset.extra_conditions))),
    Block("ship_tile", 0, 1, "the tech tile on each ship", _ship_tiles, _where_ship_tiles),
    Block("track_token", 0, 1, "the federation token that is still on terraforming 5",
          _base_tokens, _track_token),
    Block("token_supply", 0, 3, "federation tokens left", _base_tokens,
          lambda v: v.game.turn.token_supply),
    Block("ship_token", 0, 1, "the federation token that is still on each ship", _ship_tokens,
          _where_ship_tokens),
    Block("artifact", 0, 1, "the artifact that is still on each place", _artifact_places,
          _where_artifacts),
    Block("open_booster", 0, 1, "available boosters", ids("booster"),
          lambda v: open_boosters(v.ruleset, v.game)),
    Block("round_tile", 0, 1, "the round mission of this round", ids("round_tile"), _round_tile),
    Block("round_tiles", 0, 1, "the round missions of all rounds",
          _numbered(costs.ROUNDS, "round_tile"),
          lambda v: one_hot(v.game.setup.round_tiles, len(v.ruleset.round_tiles)).ravel()),
    Block("final_mission", 0, 1, "the final missions", ids("final_mission"), _final),
    Block("economy_side", 0, 1, "the side of the economy track", None,
          lambda v: v.game.setup.economy_side),
)  # fmt: skip

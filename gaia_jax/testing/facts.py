"""Facts of a game that need no rules, to check observations, seats and set-ups."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.common import RESOURCES
from gaia_jax.components.planets import PLANETS
from gaia_jax.components.research import TRACKS
from gaia_jax.env import GaiaEnv
from gaia_jax.observation import Observation, ObservationSpec
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import NODES, GameState

_SEATS = ("own", "second", "third", "fourth")


def facts(ruleset: Ruleset, game: GameState, seats: Array) -> dict[str, dict[str, Array]]:
    """Some columns of an observation, by table and name, made straight from the game.

    Args:
        ruleset: of the game, static.
        game: one game.
        seats: (P,) int32, the players in the order of the observation's rows.
    Returns:
        (C,), (P,) and () arrays: `cells`, `players`, `globals`.
    """
    board, players, turn = game.board, game.players, game.turn
    cells = {f"planet.{name}": board.planet == i for i, name in enumerate(PLANETS) if i}
    names = _SEATS[: game.num_players]
    cells |= {f"owner.{name}": board.piece_owner == seats[i] for i, name in enumerate(names)}
    rows = {
        "vp": players.vp,
        "order": jnp.argmax(turn.order == jnp.arange(game.num_players)[:, None], axis=-1),
        "passed": turn.passed,
        "decides": jnp.arange(game.num_players) == turn.player,
        "active": jnp.arange(game.num_players) == turn.active,
    }
    rows |= {name: players.resources[:, i] for i, name in enumerate(RESOURCES)}
    rows |= {f"power.{name}": players.power[:, i] for i, name in enumerate(("I", "II", "III"))}
    rows |= {f"track.{name}": players.tracks[:, i] for i, name in enumerate(TRACKS)}
    rows |= {
        f"faction.{name}": game.setup.faction == i for i, name in enumerate(ruleset.ids["faction"])
    }
    flags = {f"round.{i}": turn.round == i for i in range(costs.ROUNDS + 1)}
    flags |= {f"node.{name}": turn.node == i for i, name in enumerate(NODES)}
    return {
        "cells": cells,
        "players": {name: value[seats] for name, value in rows.items()},
        "globals": flags,
    }


def check_seats(observed: np.ndarray, order: np.ndarray, done: int) -> None:
    """`seats`, (G, P, P) int32: each player first, then the others by turn order, (G, P).

    In a solo game the order has the Automa as well, which has no seat.
    """
    for game, turn_order in enumerate(order.tolist()):
        for player in range(observed.shape[1]):
            first = turn_order.index(player)
            right = (turn_order[first:] + turn_order[:first])[: observed.shape[1]]
            seats = observed[game, player].tolist()
            assert seats == right, (
                f"game {game}, decision {done}: seats of player {player} are {seats}, turn order"
                f" {turn_order} makes them {right}"
            )


def check_observation(
    spec: ObservationSpec,
    observation: Observation,
    right: dict[str, dict[str, np.ndarray]],
    done: int,
) -> None:
    """Shapes, dtypes, ranges and `facts` of the observations of all seats, leaves (G, P, ...)."""
    dtypes = {"cells": np.int8, "players": np.int16, "globals": np.int16}
    for table, dtype in dtypes.items():
        columns, values = getattr(spec, table), np.asarray(getattr(observation, table))
        assert values.dtype == dtype, f"observation.{table} is {values.dtype}"
        assert values.shape[-1] == len(columns), (
            f"observation.{table} has {values.shape[-1]} columns, {len(columns)} are named"
        )
        low, high = np.array([c.low for c in columns]), np.array([c.high for c in columns])
        bad = (values < low) | (values > high)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            column = columns[at[-1]]
            raise AssertionError(
                f"game {at[0]}, decision {done}: observation.{table} column {column.name} is"
                f" {values[at]}, not in {column.low}..{column.high}"
            )
        place = {column.name: i for i, column in enumerate(columns)}
        for name, expected in right[table].items():
            seen = values[..., place[name]]
            wrong = np.argwhere(seen != expected)
            if len(wrong):
                game, player, *row = wrong[0].tolist()
                raise AssertionError(
                    f"game {game}, decision {done}: player {player} observes {table} column {name}"
                    f" {'row ' + str(row[0]) + ' ' if row else ''}as {seen[tuple(wrong[0])]}, the"
                    f" game has {int(expected[tuple(wrong[0])])}"
                )


def _setup_fields(setups: Any) -> dict[str, np.ndarray]:
    """The arrays of a batch of set-ups by name, those of the Automa too."""
    fields = {name: value for name, value in vars(setups).items() if name != "automa"}
    parts = {} if setups.automa is None else vars(setups.automa)
    return fields | {f"automa.{name}": value for name, value in parts.items()}


def check_setups(env: GaiaEnv, keys: Array, dealt: Any) -> None:
    """The keys' set-ups are those of the games dealt, and vary in whatever the ruleset draws.

    Args:
        env: where.
        keys: (N,) keys, enough that no field is the same for all by chance.
        dealt: Setup of the games that `init` made of the first G keys.
    """
    drawn = jax.device_get(jax.jit(jax.vmap(env.draw_setup))(keys))
    r = env.ruleset
    choices = {
        "extra_condition": len(r.extra_conditions),
        "tf5_token": len(r.base_tokens),
        "economy_side": len(r.economy_income),
    }
    drawn_fields, dealt_fields = _setup_fields(drawn), _setup_fields(dealt)
    if r.automa:  # the human is first, and the environment has one level (AUT-01)
        choices |= {"turn_order": 1, "automa.level": 1}
    for name, values in drawn_fields.items():
        games = dealt_fields[name]
        differ = [i for i, game in enumerate(games) if not np.array_equal(game, values[i])]
        assert not differ, (
            f"game {differ[0]}: init(key) and init_from(draw_setup(key)) differ in setup.{name}"
        )
        varies = choices.get(name, 2) > 1 and values.size > 0
        assert not varies or (values != values[0]).any(), (
            f"{len(values)} keys deal the same setup.{name}: {values[0].tolist()}"
        )

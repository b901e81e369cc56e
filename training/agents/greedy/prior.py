"""Cheap guesses: which actions are worth a simulation, and how a sub-decision will be made."""

from __future__ import annotations

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.state import GameState

from .value import Position, attraction, real

# Guesses for the actions without a cell. Only their order at one node matters, and that all of
# them come before cells on the shortlist.
_VERBS = {
    "form_federation": 95.0, "commit": 95.0, "advance": 80.0, "artifact": 70.0, "power": 65.0,
    "ship": 64.0, "qic": 64.0, "special": 75.0, "explore": 60.0, "booster": 90.0, "pass": 90.0,
    "end_turn": 90.0, "leech": 50.0, "skip": 1.0, "free": 40.0, "income": 50.0,
    "tinkering": 50.0, "tile": 50.0, "advanced": 62.0, "token": 50.0, "piece": 50.0,
}  # fmt: skip
_ITEMS = {
    "tile BT5_INC_C1_K1": 7, "tile BT2_INC_O1_CH1": 7, "tile BT4_INC_C4": 6, "tile BT9_7VP": 7,
    "tile BT1_ACT_CHARGE4": 5, "tile BT3_O1_Q1": 5, "tile BT7_TYPES_K": 6, "tile BT8_PIAC_4": 2,
    "tile BT6_GAIA_3VP": 2, "tile LF-ORE1-KN3": 6, "tile LF-TF2-FREE-MINE": 6,
    "tile LF-NAV+1": 3, "token FT_12VP": 6, "token FT_8VP_QIC": 9, "token FT_7VP_6C": 7,
    "token FT_7VP_2O": 7, "token FT_6VP_2K": 8, "token FT_8VP_2PT": 6, "piece PI": 5,
    "piece AC_A": 6, "piece AC_B": 5, "piece RL": 7,
}  # fmt: skip
# A tile that has paid already is the one to cover: these come first.
_COVER = ("BT9_7VP", "BT7_TYPES_K", "BT3_O1_Q1", "LF-ORE1-KN3", "LF-TF2-FREE-MINE")


def fixed(t: SimpleNamespace) -> np.ndarray:
    """(A,) float32, the guess for each action without a look at the game; cells by plane."""
    space = t.rules.actions
    out = np.zeros(space.num_actions, np.float32)
    planes = {"mine": 10.0, "project": 14.0, "upgrade": 25.0, "pick": 0.0}
    for plane, guess in planes.items():
        out[space.first[plane] : space.first[plane] + t.cells] = guess
    for verb, arguments in space.ids.items():
        for i, argument in enumerate(arguments):
            extra = _ITEMS.get(f"{verb} {argument}", 0)
            out[space.first[verb] + i] = _VERBS[verb] + extra
    return out


def guess(
    t: SimpleNamespace, w: SimpleNamespace, base: Array | np.ndarray, game: GameState, player: Array
) -> Array:
    """(A,) float32, larger is better; comparable at one node.

    Args:
        base: (A,) `fixed`.
        player: () int32, the deciding player.
    """
    at = Position(t, w, game, player)
    board, space = game.board, t.rules.actions
    reach = real(board.distance_to_own[player])
    near = -0.02 * jnp.minimum(reach, 20.0)
    place = attraction(at) + near
    aimed = game.turn.pending_op >= 0
    steps = real(game.steps[player])[board.planet.astype(jnp.int32)]
    # A mode with free steps pays most where steps are needed.
    pick = place + jnp.where(aimed, 0.25 * jnp.clip(steps, 0, 3), 0)
    piece = real(board.piece)
    cells = jnp.concatenate([5 * place, 5 * near, piece, 5 * pick])
    levels = game.players.tracks[player].astype(jnp.int32)
    ahead = jnp.minimum(levels + 1, 5)
    step = real(t.end_vp)[ahead] - real(t.end_vp)[levels] + w.step[ahead] - w.step[levels]
    step += jnp.array([0.3, 0.2, 0.5, 0.4, 1.0, 1.2])
    others = jnp.zeros(t.actions - 4 * t.cells)
    first = space.first["advance"] - 4 * t.cells
    others = others.at[first : first + len(levels)].add(step)
    return jnp.asarray(base) + jnp.concatenate([cells, others])


def cover_guess(t: SimpleNamespace) -> np.ndarray:
    """(A,) float32, added to the guess if a tile is to be covered."""
    out = np.zeros(t.actions, np.float32)
    cover_names = [name for name in _COVER if name in t.rules.ids["tile"]]
    for i, name in enumerate(cover_names):
        out[t.rules.actions.index("tile", name)] = 20.0 - i
    return out

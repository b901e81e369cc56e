"""Whether the two agents of an experiment differ at all.

An option that does not arrive, or a checkpoint under two names, gives an arena whose difference is
zero for the wrong reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from gaia_jax.cli.command_line import UserError

from ..agents import Agent
from ..types import Environment
from .table import Games

COMPARED_GAMES = 64


def check_programs(env: Environment, agents: Sequence[Agent]) -> None:
    """Reject two agents of different names that are one program with the same parameters.

    Programs that call back into Python are not compared: their texts name functions by address.

    Raises:
        UserError: the agents are two, and they are the same.
    """
    pair = list({agent.name: agent for agent in agents}.values())
    if len(pair) != 2 or not _equal(pair[0].params, pair[1].params):
        return
    first, second = (_program(env, agent) for agent in pair)
    if " at 0x" not in first[0] and first[0] == second[0] and _equal(first[1], second[1]):
        raise UserError(
            f"--agents: {pair[0].name!r} and {pair[1].name!r} never differ: "
            "they are the same program with the same parameters"
        )


def check_games(games: Games, names: Sequence[str]) -> None:
    """Reject two agents whose first `COMPARED_GAMES` games are the same in every rotation.

    Raises:
        UserError: the agents played alike in all of these games.
    """
    setups, rotations = games.vp.shape[:2]
    compared = math.ceil(COMPARED_GAMES / rotations)
    if len(set(names)) != 2 or rotations == 1 or setups < compared:
        return
    columns = (games.vp, games.sources, games.decisions)
    if all((x[:compared] == x[:compared, :1]).all() for x in columns):
        first, second = dict.fromkeys(names)
        raise UserError(
            f"--agents: {first!r} and {second!r} never differ: "
            f"the first {compared * rotations} games are the same in every seating"
        )


def _program(env: Environment, agent: Agent) -> tuple[str, list[jax.Array]]:
    """The program of an agent for two games, and the arrays in it."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    state = jax.eval_shape(lambda key: jax.vmap(env.init)(jax.random.split(key, 2)), key)
    key = jax.eval_shape(lambda key: jax.random.split(key, 2), key) if agent.by_game else key
    program = jax.make_jaxpr(agent.act)(agent.params, state, state.legal_action_mask, key)
    return str(program.jaxpr), program.consts


def _equal(first: object, second: object) -> bool:
    """Whether two trees of arrays are the same."""
    forms: list[Any] = [jax.tree.structure(tree) for tree in (first, second)]
    if forms[0] != forms[1]:
        return False
    pairs = zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)

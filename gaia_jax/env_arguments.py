"""Checks of what users pass to an environment: options, states, set-ups.

They look at types, shapes and known values while JAX traces; they add nothing to compiled
programs.
"""

from __future__ import annotations

import jax
import numpy as np

from gaia_jax.cli import arguments
from gaia_jax.cli.arguments import shown
from gaia_jax.cli.command_line import nearest
from gaia_jax.env_state import State
from gaia_jax.rewards import REWARDS
from gaia_jax.ruleset import Ruleset
from gaia_jax.setup.setup_json import setup_from_json, setup_to_dict
from gaia_jax.state import Setup

# What an attribute of another library's environments is called in this one.
EQUIVALENTS = {
    "reset": "env.init(key) starts a game",
    "observation_space": "gaia_jax.adapters.spaces has one; shapes: env.observation_shape",
    "action_space": "gaia_jax.adapters.spaces has one; its size: env.num_actions",
    "num_agents": "env.num_players",
    "default_params": "gaia_jax.make takes all options",
    "render": "gaia_jax.render.svg(state) or gaia_jax.render.text(state)",
}


def check_options(ruleset: object, reward: object, max_steps: object, short_turns: object) -> None:
    """Check the options that every environment has.

    Args:
        ruleset: must be a `Ruleset`.
        reward: must be in `gaia_jax.REWARDS`.
        max_steps: must be a whole number from 1 to 2**31 - 1.
        short_turns: must be True or False.
    Raises:
        TypeError, ValueError: one of them is something else; the message names the choices.
    """
    if not isinstance(ruleset, Ruleset):
        raise TypeError(f"ruleset must be a Ruleset, not {shown(ruleset)}")
    if not isinstance(reward, str) or reward not in REWARDS:
        names = ", ".join(REWARDS) + nearest(reward, REWARDS)
        raise ValueError(f"unknown reward {shown(reward)}; known are {names}")
    arguments.whole_number("max_steps", max_steps, 1, np.iinfo(np.int32).max)
    if not isinstance(short_turns, bool):
        raise TypeError(f"short_turns must be True or False, not {shown(short_turns)}")


def check_state(state: object, ruleset: Ruleset) -> None:
    """Check that `state` is one state of `ruleset`, by its class and shapes alone.

    Args:
        state: what a user passed.
        ruleset: of the environment.
    Raises:
        TypeError: `state` is no `gaia_jax.State`.
        ValueError: it is of another ruleset, for another number of players, or a batch of states.
    """
    if not isinstance(state, State):
        raise TypeError(f"state must be a State, not {shown(state)}")
    if state.ruleset != ruleset.id:
        raise ValueError(f"state is of {state.ruleset!r}, this environment is {ruleset.id!r}")
    players = state.game.num_seats
    if players != ruleset.seats:
        raise ValueError(f"state is of {players} players, this environment is for {ruleset.seats}")
    batch = arguments.shape(state.step_count)
    if batch:
        raise ValueError(f"state must be one, not a batch of {batch}; use jax.vmap")


def check_setup(setup: Setup, expected: Setup, ruleset: Ruleset) -> None:
    """Check that `setup` is one set-up of `ruleset`.

    Args:
        setup: what a user passed.
        expected: the shapes of a set-up of `ruleset`, as `jax.eval_shape` gives them.
        ruleset: of the environment.
    Raises:
        TypeError: `setup` is no `Setup`, or an array in it is not of integers.
        ValueError: an array has another shape; or its numbers, where they are known (outside `jit`
            and `vmap`), break a rule of set-ups.
    """
    arguments.integers_like("setup", setup, expected)
    if all(map(arguments.known, jax.tree.leaves(setup))):
        setup_from_json(setup_to_dict(setup, ruleset), ruleset)

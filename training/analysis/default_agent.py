"""The shipped agent that advises on a game if no other is named."""

from __future__ import annotations

from functools import cache

from gaia_jax.cli.command_line import UserError

from ..agents.registry import plays
from ..types import Environment
from . import ADVISER, ADVISERS


@cache
def adviser_for(ruleset: str, players: int) -> str:
    """The shipped agent that advises on such games; "" if there is none."""
    return next((name for name in ADVISERS if not plays(name).refusal(ruleset, players)), "")


def refusal(ruleset: str, players: int) -> str:
    """The reason why there is no advice on such games; "" if there is."""
    if adviser_for(ruleset, players):
        return ""
    return f"{ADVISER} {plays(ADVISER).refusal(ruleset, players)}"


def agent_or_adviser(name: str | None, env: Environment) -> str:
    """The named agent; without a name the adviser.

    Raises:
        UserError: no name, and no adviser plays such games.
    """
    if name is None and (reason := refusal(env.id, env.num_players)):
        raise UserError(f"{reason}: name another --agent")
    return name or adviser_for(env.id, env.num_players)

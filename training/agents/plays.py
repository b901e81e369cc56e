"""Which games an agent can be sat down to."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gaia_jax import RULESETS
from gaia_jax.cli.command_line import UserError

from .. import config as configs
from .. import zoo
from . import saved
from .registry import REGISTRY, split_run
from .search import split_name


class Plays(NamedTuple):
    """What an agent can be sat down to."""

    ruleset: str | None = None  # None: any
    players: int | None = None  # None: any number

    def refusal(self, ruleset: str, players: int) -> str:
        """Why it cannot play a game; "" where it can."""
        if self.players not in (None, players):
            return f"plays games of {self.players}, not of {players}"
        return "" if self.ruleset in (None, ruleset) else f"plays {self.ruleset}, not {ruleset}"


def plays(name: str) -> Plays:
    """What an agent can be sat down to, as far as its files say it without being opened whole."""
    try:
        base, _ = split_name(name)
        if base.startswith(zoo.PREFIX):
            # Never carried over to another number of players.
            about = zoo.about(base)
            anywhere = all(zoo.carried(about["env"], id) for id in RULESETS)
            return Plays(None if anywhere else about["env"], int(about.get("players", 4)))
        if saved.is_saved(base):
            about = saved.about(base)
            return Plays(about["env"], about["players"])
        config = Path(split_run(base)[0]) / configs.OF_A_RUN
        if base in REGISTRY or ":" in base or not config.is_file():
            return Plays()
        env = configs.load(config, []).env
        return Plays(env.id, env.players)
    except (UserError, ValueError, TypeError):  # its compiling will say what is wrong
        return Plays()

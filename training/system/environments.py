"""Make environments by id, and store and compare their identity."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gaia_jax.cli.command_line import UserError

from ..types import Environment
from ..types import EnvModule as EnvModule  # what the command lines take

if TYPE_CHECKING:
    from jax import Array


def module(given: EnvModule | None) -> EnvModule:
    """What makes environments: what is given, or `gaia_jax`."""
    if given is None:
        import gaia_jax

        return gaia_jax
    return given


def make_env(
    env_module: EnvModule, id: str, reward: str, players: int = 4, short_turns: bool = False
) -> Any:
    """`env_module.make`; unknown arguments raise a UserError.

    Args:
        id, reward, players, short_turns: as of `gaia_jax.make`; the group `env` of a configuration.
    """
    options: dict[str, Any] = {"players": players} if players != 4 else {}  # of four: no number
    options |= {"short_turns": True} if short_turns else {}
    try:
        return env_module.make(id, reward=reward, **options)
    except ValueError as error:
        raise UserError(str(error)) from error


def has_short_turns(env: Environment) -> bool:
    """Whether its turns end with the main action; environments of one's own may not say."""
    return bool(getattr(env, "short_turns", False))


def can_be_short(env: Environment) -> bool:
    """Whether its turns can end with the main action; environments of one's own may not."""
    if not dataclasses.is_dataclass(env):
        return False
    return any(field.init and field.name == "short_turns" for field in dataclasses.fields(env))


def with_short_turns(env: Environment, short: bool) -> Any:
    """The same environment with or without short turns."""
    if has_short_turns(env) == short:
        return env
    return dataclasses.replace(env, short_turns=short)  # type: ignore[type-var]


def policy_mask(env: Environment, mask: Array) -> Array:
    """(B, A) what a policy of `env` is asked about, of what is legal in the whole game.

    One of short turns takes `end_turn` where it may; at the end of a game all is legal.
    """
    if not has_short_turns(env):
        return mask
    import jax.numpy as jnp  # not before a command has said its --help

    end = env.ruleset.actions.first["end_turn"]
    return jnp.where(mask[:, end, None], jnp.arange(mask.shape[1]) == end, mask)


def identity(env: Environment) -> dict[str, Any]:
    """The keys by which agents, checkpoints and games store their environment."""
    return {"env": env.id, "env_version": str(env.version), "players": env.num_players}


def another_environment(about: Mapping[str, Any], env: Environment) -> str:
    """What to say of what was kept with `identity` of another environment; "" of this one.

    Args:
        about: with the keys of `identity`; without `players` it is of four.
    """
    stored, own = (
        (x["env"], x["env_version"], x.get("players", 4)) for x in (about, identity(env))
    )
    if stored == own:
        return ""
    num_fields = 3 if stored[2] != own[2] else 2

    def words(identity: tuple[str, str, int]) -> str:
        id, version, players = identity
        return " ".join((id, version, f"with {players} players")[:num_fields])

    return f"was trained on {words(stored)}, this is {words(own)}"

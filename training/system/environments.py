"""Make environments by id, and store and compare their identity."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from gaia_jax.cli.command_line import UserError

from ..types import Environment
from ..types import EnvModule as EnvModule  # what the command lines take

if TYPE_CHECKING:
    from jax import Array


def module(given: EnvModule | str | None) -> EnvModule:
    """The module that makes environments, also by its name; by default `gaia_jax`."""
    if given is None or isinstance(given, str):
        return cast(EnvModule, importlib.import_module(given or "gaia_jax"))
    return given


def make_env(
    env_module: EnvModule,
    id: str,
    reward: str,
    players: int = 4,
    short_turns: bool = False,
    automa: str = "",
) -> Any:
    """`env_module.make` with arguments of `gaia_jax.make`; unknown ones raise a UserError."""
    options: dict[str, Any] = {"players": players} if players != 4 else {}  # of four: no number
    options |= {"short_turns": True} if short_turns else {}
    options |= {"automa": automa} if automa else {}
    try:
        return env_module.make(id, reward=reward, **options)
    except ValueError as error:
        raise UserError(str(error)) from error


def is_solo(env: Environment) -> bool:
    """Whether the Automa has the last seat, which no player can take."""
    return getattr(env.ruleset, "automa", None) is not None


def level_of(env: Any) -> str:
    """The level of the Automa in a solo game; "any": each game draws one."""
    from gaia_jax.components.automa import DEFAULT_LEVEL

    return str(env.automa or DEFAULT_LEVEL)


def with_level(env: Environment, level: str | None) -> Any:
    """The same environment with another level of the Automa; None: unchanged.

    Raises:
        UserError: an unknown level, or a game without the Automa.
    """
    if level is None:
        return env
    if not is_solo(env):
        raise UserError(f"--automa {level}: {env.id} for {env.num_players} has no Automa")
    try:
        return dataclasses.replace(env, automa=level)  # type: ignore[type-var]
    except ValueError as error:
        raise UserError(str(error)) from error


def has_short_turns(env: Environment) -> bool:
    """Whether turns end with the main action; other environments may lack the attribute."""
    return bool(getattr(env, "short_turns", False))


def can_be_short(env: Environment) -> bool:
    """Whether turns can end with the main action; those of other environments may not."""
    if not dataclasses.is_dataclass(env):
        return False
    return any(field.init and field.name == "short_turns" for field in dataclasses.fields(env))


def with_short_turns(env: Environment, short: bool) -> Any:
    """The same environment with or without short turns; unchanged if they cannot be short."""
    if has_short_turns(env) == short or not can_be_short(env):
        return env
    return dataclasses.replace(env, short_turns=short)  # type: ignore[type-var]


def policy_mask(env: Environment, mask: Array) -> Array:
    """(B, A) the choices of a policy of `env` among the legal actions of the whole game.

    With short turns that is `end_turn` alone if it is legal; after a game's end all is legal.
    """
    if not has_short_turns(env):
        return mask
    import jax.numpy as jnp  # not for --help

    end = env.ruleset.actions.first["end_turn"]
    return jnp.where(mask[:, end, None], jnp.arange(mask.shape[1]) == end, mask)


def identity(env: Environment) -> dict[str, Any]:
    """The environment as agents, checkpoints and games store it."""
    return {"env": env.id, "env_version": str(env.version), "players": env.num_players}


def another_environment(about: Mapping[str, Any], env: Environment) -> str:
    """The difference of the stored `identity` from that of `env`, in words; "" if there is none.

    Args:
        about: with the keys of `identity`; `players` is 4 by default.
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

"""`PgxEnv`: the game as a `pgx.core.Env`, for what is written for pgx's environments."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import gaia_jax
from gaia_jax.adapters.layout import KINDS, arranged, choice, environment, game_name
from gaia_jax.adapters.spaces import observation_space
from gaia_jax.auto import auto_state
from gaia_jax.cli.lazy import of_extra
from gaia_jax.env import GaiaEnv
from gaia_jax.state import GameState
from gaia_jax.xla.serialization import register_export

with of_extra("adapters"):
    import pgx.core
    from pgx._src.struct import dataclass, field

OBSERVATIONS = (*KINDS, "none")


@dataclass
class PgxState(pgx.core.State):
    """A state with pgx's fields. The game itself is `_game`."""

    current_player: Array  # () int32
    observation: Any  # in the form of `PgxEnv.observation`, for `current_player`
    rewards: Array  # (num_players,) float32
    terminated: Array  # () bool
    truncated: Array  # () bool
    legal_action_mask: Array  # (A,) bool
    _step_count: Array  # () int32
    _player: Array  # () int32, the seat that decides; `current_player` but where it is all alone
    _game: GameState
    _env_id: str = field(pytree_node=False)
    _ruleset: str = field(pytree_node=False)

    @property
    def env_id(self) -> Any:
        """The value of `PgxEnv.id`."""
        return self._env_id

    def to_svg(self, *, color_theme: Any = None, scale: Any = None) -> str:
        """The table as an SVG; of a batch the first game. pgx's themes do not apply."""
        from gaia_jax.render import svg

        first = self
        while np.ndim(first.terminated):
            first = jax.tree.map(lambda x: x[0], first)
        return svg(_inside(first))

    def save_svg(self, filename: Any, *, color_theme: Any = None, scale: Any = None) -> None:
        """Write `to_svg` to a file."""
        with open(filename, "w", encoding="utf-8") as file:
            file.write(self.to_svg())


# pgx has registered it with flax.
_ARRAYS = [x.name for x in dataclasses.fields(PgxState) if x.metadata.get("pytree_node", True)]
_STATIC = [x.name for x in dataclasses.fields(PgxState) if x.name not in _ARRAYS]
register_export(
    PgxState,
    lambda aux, children: PgxState(
        **dict(zip((*_ARRAYS, *_STATIC), (*children, *aux), strict=True))
    ),
)


class PgxEnv(pgx.core.Env):
    """A `pgx.core.Env` over `gaia_jax`.

    Its rules, masks and rewards are those of the environment inside: an illegal action costs the
    player 1 and no player gains by it (pgx's own pay the others), and `init` and `step` are under
    `vmap` what `gaia_jax` makes of them, without pgx's selects of whole states.

    Attributes:
        env: the environment inside.
        observation: what a state holds for its decider: "tree", an `Observation`; "vector", (n,)
            int16; "picture", (H, W, Fc) int16 for networks of convolutions; "none", (0,) int16.
        solo: one agent for all seats: `num_players` is 1, and a decision is paid what the seat
            that took it is paid. With the reward "vp" that is the change of its VP.
    """

    def __init__(
        self,
        env: GaiaEnv | str = "lost_fleet",
        reward: str | None = None,
        observation: str = "picture",
        solo: bool = False,
        players: int | None = None,
    ):
        """
        Args:
            env: an environment of `gaia_jax.make`, or the id of one.
            reward, players: of the environment, where `env` is an id; None is "margin" and 4.
            observation, solo: see the attributes.
        Raises:
            ValueError, TypeError: an unknown id, reward, number of players or observation; the
                message names the choices.
        """
        super().__init__()
        choice("observation", observation, OBSERVATIONS)
        choice("solo", solo, (False, True))
        self.env = environment(env, reward, players)
        self.observation, self.solo = observation, bool(solo)
        self._auto = gaia_jax.auto_reset(self.env)
        _tell_api_test(self.id)

    @property
    def id(self) -> Any:
        """Such as "gaia_project-lost_fleet"."""
        return game_name(self.env.ruleset)

    @property
    def version(self) -> str:
        """That of the environment inside."""
        return self.env.version

    @property
    def num_players(self) -> int:
        """S, or 1 where one agent decides for all."""
        return 1 if self.solo else self.env.num_players

    @property
    def num_actions(self) -> int:
        """The size of the action index."""
        return self.env.num_actions

    @property
    def observation_shape(self) -> Any:
        """The shape of the observation; of a tree, the shape of each field by name."""
        if self.observation == "none":
            return (0,)
        space: Any = observation_space(self.env, self.observation)
        if self.observation == "tree":
            return {name: part.shape for name, part in space.spaces.items()}
        return space.shape

    def step(self, state: Any, action: Array, key: Array | None = None) -> Any:
        """The state after `action`; the key is not used, since nothing in a game is random."""
        after = self._step(state, action, key)
        return after.replace(observation=self.observe(after))

    def auto_step(self, state: Any, action: Array, key: Array) -> Any:
        """`step`, and a new game where it ended: what `pgx.experimental.auto_reset` is, cheaper.

        That one deals a new game to every row at every step; this one to those that need it, as
        `gaia_jax.auto_reset` does.
        """
        after = self._auto.step(auto_state(_inside(state)), action, key)
        out = self._outside(after, state._player)
        return out.replace(observation=self.observe(out))

    def _init(self, key: Array) -> Any:
        return self._outside(self.env.init(key), None)

    def _step(self, state: Any, action: Array, key: Array | None) -> Any:
        return self._outside(self.env.step(_inside(state), action), state._player)

    def _observe(self, state: Any, player_id: Array) -> Any:
        if self.observation == "none":
            return jnp.zeros(0, jnp.int16)
        player = state._player if self.solo else player_id
        return arranged(
            self.observation, self.env.ruleset, self.env.observe(_inside(state), player)
        )

    def _outside(self, state: gaia_jax.State, decider: Array | None) -> Any:
        rewards = state.rewards
        if self.solo:
            paid = jnp.zeros((), jnp.float32) if decider is None else rewards[decider]
            rewards = paid[None]
        player = jnp.zeros((), jnp.int32) if self.solo else state.current_player
        return PgxState(
            current_player=player,
            observation=jnp.zeros(0, jnp.int16),
            rewards=rewards,
            terminated=state.terminated,
            truncated=state.truncated,
            legal_action_mask=state.legal_action_mask,
            _step_count=state.step_count,
            _player=state.current_player,
            _game=state.game,
            _env_id=self.id,
            _ruleset=state.ruleset,
        )


def _inside(state: Any) -> gaia_jax.State:
    """The state of `gaia_jax` in a `PgxState`, without its rewards."""
    return gaia_jax.State(
        game=state._game,
        current_player=state._player,
        legal_action_mask=state.legal_action_mask,
        rewards=jnp.zeros((*state._step_count.shape, state._game.num_seats), jnp.float32),
        terminated=state.terminated,
        truncated=state.truncated,
        step_count=state._step_count,
        ruleset=state._ruleset,
    )


def _tell_api_test(id: str) -> None:
    """`pgx.api_test` refuses states whose id is not in the list of pgx's own games: add ours."""
    with contextlib.suppress(ImportError, AttributeError):
        module: Any = importlib.import_module("pgx._src.api_test")
        env_ids = get_args(module.EnvId)
        if id not in env_ids:
            module.EnvId = Literal[(*env_ids, id)]

"""Gymnasium environments of one seat: `GaiaVectorEnv` of N games, `GaiaGymEnv` of one.

Both play `gaia_jax.single_agent` with numpy arrays on the outside. Opponents play inside the
compiled program; the solo game has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import jax
import numpy as np

from gaia_jax.adapters.layout import SCALED, choice
from gaia_jax.adapters.opponents import RANDOM, Opponent
from gaia_jax.adapters.single_agent import SingleAgent, single_agent
from gaia_jax.adapters.spaces import gymnasium_space, observation_space
from gaia_jax.cli import arguments
from gaia_jax.cli.lazy import of_extra
from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv

with of_extra("adapters"):
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space

MAX_GAMES = 2**20


class _Games:
    """N games of a view, their keys and compiled programs."""

    def __init__(self, view: SingleAgent, games: int):
        self.view, self.games = view, games
        self.state: Any = None  # until `reset`
        self.key: Any = None

    def reset(self, seed: int) -> tuple[Any, dict[str, np.ndarray]]:
        """New games: observations and infos. The first call compiles, and reports it on stderr."""
        with status_line(lambda: "gaia_jax compiles the games", enabled=self.state is None):
            self.key = jax.random.key(seed)
            self.state = self._ended(self._keys())
            observation, *_, info = self.step(np.zeros(self.games, np.int32))
        return observation, info

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        """The result of `gymnasium.vector.VectorEnv.step`."""
        if self.state is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        seen, self.state, outcome, info = self._step(self._keys(), self.state, actions)
        seen, outcome, info = jax.device_get((seen, outcome, info))
        seen = vars(seen) if self.view.observation == "tree" else seen
        return seen, outcome.reward, outcome.terminated, outcome.truncated, info

    def _keys(self) -> Any:
        self.key, key = jax.random.split(self.key)
        return jax.random.split(key, self.games)

    @cached_property
    def _ended(self) -> Callable[..., Any]:
        """States that count as ended: the first `step` deals games, so that one program plays."""
        return jax.jit(jax.vmap(self.view.ended_state))

    @cached_property
    def _step(self) -> Callable[..., Any]:
        view = self.view

        def step(key: Any, state: Any, action: Any) -> Any:
            state, outcome = view.advance(key, state, action, stop_at_end=True)
            return view.observe(state), state, outcome, view.info_of(state, outcome)

        return jax.jit(jax.vmap(step))


class GaiaVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """N games in one compiled program. The mode of auto-reset is NEXT_STEP.

    `infos["action_mask"]`, (N, A) int8, has the legal actions, all 1 at the end of a game. The
    other entries of `infos` are those of `SingleAgent.info_of`, an array (N, ...) for each: results
    such as `vp`, `won` and `episode_return` where a game has just ended, otherwise 0.
    """

    metadata: dict[str, Any] = {
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        env: GaiaEnv | str = "lost_fleet",
        opponents: Opponent | Sequence[Opponent] = RANDOM,
        seat: int | str = RANDOM,
        observation: str = SCALED,
        illegal: str = "end",
    ):
        """
        Args:
            num_envs: N, the number of games.
            env, opponents, seat, observation, illegal: as of `gaia_jax.single_agent`.
        """
        self.view = single_agent(env, opponents, seat, observation=observation, illegal=illegal)
        self.num_envs = arguments.whole_number("num_envs", num_envs, 1, MAX_GAMES)
        self.single_observation_space, self.single_action_space = _spaces(self.view)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games = _Games(self.view, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """New games in all rows; the same seed gives the same games."""
        super().reset(seed=seed)
        observation, info = self._games.reset(_draw_seed(self.np_random))
        return observation, _with_numpy_mask(info)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One decision in each game; where the last one ended a game, a new game begins."""
        actions = np.asarray(actions, np.int32)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions must be ({self.num_envs},), not of shape {actions.shape}")
        *out, info = self._games.step(actions)
        observation, reward, terminated, truncated = out
        return observation, reward, terminated, truncated, _with_numpy_mask(info)


class GaiaGymEnv(gymnasium.Env[Any, Any]):
    """One game: the solo game, or one seat against opponents.

    `info["action_mask"]`, (A,) int8, has the legal actions; `action_masks()` gives it as bools, as
    SB3-contrib's MaskablePPO asks for it.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "svg"]}

    def __init__(
        self,
        env: GaiaEnv | str = "lost_fleet",
        opponents: Opponent | Sequence[Opponent] = RANDOM,
        seat: int | str = RANDOM,
        observation: str = SCALED,
        illegal: str = "end",
        render_mode: str | None = None,
    ):
        """
        Args:
            env, opponents, seat, observation, illegal: as of `gaia_jax.single_agent`.
            render_mode: None, "ansi" (text) or "svg".
        """
        if render_mode is not None:
            choice("render_mode", render_mode, self.metadata["render_modes"])
        self.view = single_agent(env, opponents, seat, observation=observation, illegal=illegal)
        self.render_mode = render_mode
        self.observation_space, self.action_space = _spaces(self.view)
        self._games = _Games(self.view, 1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """A new game; the same seed gives the same game."""
        super().reset(seed=seed)
        observation, info = self._games.reset(_draw_seed(self.np_random))
        return _first(observation), _with_numpy_mask(_first(info))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The decision, and those of the others until one's next turn or the end of the game."""
        *out, info = self._games.step(np.asarray(action, np.int32)[None])
        observation, reward, terminated, truncated = _first(tuple(out))
        info = _with_numpy_mask(_first(info))
        return observation, float(reward), bool(terminated), bool(truncated), info

    def action_masks(self) -> np.ndarray:
        """(A,) bool, the legal actions.

        Raises:
            gymnasium.error.ResetNeeded: there is no game before `reset`.
        """
        self._check_reset("action_masks")
        return np.asarray(self._games.state.env_state.legal_action_mask[0])

    def render(self) -> Any:
        """The table as text or as an SVG."""
        if self.render_mode is None:
            return None
        self._check_reset("render")
        from gaia_jax import render

        state = jax.tree.map(lambda x: x[0], self._games.state.env_state)
        return render.svg(state) if self.render_mode == "svg" else render.text(state)

    def _check_reset(self, method: str) -> None:
        if self._games.state is None:
            raise gymnasium.error.ResetNeeded(f"call reset() before {method}()")


def _spaces(view: SingleAgent) -> tuple[Any, Any]:
    """The spaces of one game."""
    space = observation_space(view.env, view.observation)
    return gymnasium_space(space), gymnasium.spaces.Discrete(view.num_actions)


def _draw_seed(generator: np.random.Generator) -> int:
    return int(generator.integers(2**31))


def _first(tree: Any) -> Any:
    return jax.tree.map(lambda x: x[0], tree)


def _with_numpy_mask(info: dict[str, Any]) -> dict[str, Any]:
    """The mask as int8, as Gymnasium's `Discrete.sample(mask)` wants it."""
    return info | {"action_mask": info["action_mask"].astype(np.int8)}

"""`aec_env`: the game as a PettingZoo AECEnv, one decision after another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import jax
import numpy as np

from gaia_jax import replay
from gaia_jax.adapters.layout import KINDS, arranged, choice, environment
from gaia_jax.adapters.spaces import gymnasium_space, observation_space
from gaia_jax.cli import arguments
from gaia_jax.cli.lazy import of_extra
from gaia_jax.env import GaiaEnv

with of_extra("adapters"):
    import gymnasium.spaces
    import pettingzoo
    from pettingzoo.utils.env_logger import EnvLogger

# Attributes that `reset` sets; PettingZoo's wrapper raises the same AttributeError before it.
_SET_BY_RESET = (
    "agents", "agent_selection", "infos", "num_agents", "rewards", "terminations", "truncations",
)  # fmt: skip
# Compiled functions, which are made at the first use and are not pickled.
_COMPILED = ("_init", "_step", "_observe")


def aec_env(
    env: GaiaEnv | str = "lost_fleet",
    reward: str | None = None,
    observation: str = "vector",
    render_mode: str | None = None,
    players: int | None = None,
) -> GaiaAEC:
    """The game as a PettingZoo environment.

    Args:
        env: an environment of `gaia_jax.make`, or the id of one.
        reward, players: of the environment, where `env` is an id; None is "margin" and 4.
        observation: "vector", "picture" or "tree"; it comes with an action mask.
        render_mode: None, "ansi" (text) or "svg".
    Raises:
        ValueError: something unknown among these; the message names the choices.
    """
    choice("observation", observation, KINDS)
    if render_mode is not None:
        choice("render_mode", render_mode, GaiaAEC.metadata["render_modes"])
    return GaiaAEC(environment(env, reward, players), observation, render_mode)


class GaiaAEC(pettingzoo.AECEnv):
    """One game, host side: each decision is one call of the compiled step. `aec_env` makes one.

    The constructor uses no device, so a process may fork after it. An environment can be pickled
    and copied at any time; the copy compiles its functions again.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "gaia_project_v0",
        "render_modes": ["ansi", "svg"],
        "is_parallelizable": False,
    }

    def __init__(self, env: GaiaEnv, observation: str, render_mode: str | None):
        super().__init__()
        self.env, self.kind, self.render_mode = env, observation, render_mode
        self.possible_agents = [f"player_{i}" for i in range(env.num_players)]
        self.observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self.action_spaces: dict[str, Any] = {
            agent: gymnasium.spaces.Discrete(env.num_actions) for agent in self.possible_agents
        }
        # Set-ups of games that are reset without a seed.
        self._draws = np.random.default_rng()
        self._state: Any = None  # until `reset`

    def __getattr__(self, name: str) -> Any:
        """Attributes that `reset` sets are missing before it."""
        if name in _SET_BY_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """The attributes, arrays as numpy, without compiled functions."""
        fields = {name: value for name, value in vars(self).items() if name not in _COMPILED}
        return fields | {"_state": jax.device_get(self._state)}

    @cached_property
    def _init(self) -> Callable[..., Any]:
        return jax.jit(self.env.init)

    @cached_property
    def _step(self) -> Callable[..., Any]:
        return replay.compiled(self.env)[1]

    @cached_property
    def _observe(self) -> Callable[..., Any]:
        kind, env = self.kind, self.env
        return jax.jit(
            lambda state, player: arranged(kind, env.ruleset, env.observe(state, player))
        )

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """`observation` and `action_mask`, (A,) int8."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete[Any]:
        """The action index."""
        space: gymnasium.spaces.Discrete[Any] = self.action_spaces[agent]
        return space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game; the same seed, and the resets after it, give the same games."""
        if seed is not None:
            self._draws = np.random.default_rng(seed)
        key = jax.random.key(int(self._draws.integers(2**31)))
        self._state = self._init(key)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Any] = {agent: {} for agent in self.agents}
        self.agent_selection = self._decider()

    def observe(self, agent: str) -> dict[str, Any]:
        """The game as `agent` sees it, and what it may do now; nothing where others decide."""
        choice("agent", agent, self.possible_agents)
        if self._state is None:
            EnvLogger.error_observe_before_reset()
        player = self.possible_agents.index(agent)
        seen = jax.device_get(self._observe(self._state, np.int32(player)))
        mask = np.zeros(self.env.num_actions, np.int8)
        if agent == self._decider():
            mask[:] = self._state.legal_action_mask
        if self.kind == "tree":
            seen = {name: np.asarray(value) for name, value in vars(seen).items()}
        return {"observation": seen, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Carry out the decision of `agent_selection`; an illegal one ends the game with -1.

        Raises:
            AssertionError: before `reset`.
            TypeError, ValueError: `action` is not an integer scalar; of an agent whose game is
                over, not None.
        """
        if self._state is None:
            EnvLogger.error_step_before_reset()
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = arguments.scalar("action", action)
        self._cumulative_rewards[agent] = 0.0
        self._state = self._step(self._state, number)
        paid = np.asarray(self._state.rewards).tolist()
        self.rewards = dict(zip(self.possible_agents, paid, strict=True))
        if self._state.terminated:
            self.terminations = dict.fromkeys(self.agents, True)
        if self._state.truncated:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self._decider()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The table as text or as an SVG."""
        if self._state is None:
            EnvLogger.error_render_before_reset()
        if self.render_mode is None:
            return None
        from gaia_jax import render

        draw = render.svg if self.render_mode == "svg" else render.text
        return draw(self._state)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The agents as they decide; `step` once for each."""
        if self._state is None:
            EnvLogger.error_agent_iter_before_reset()
        return super().agent_iter(max_iter)

    def close(self) -> None:
        """Nothing is held."""

    def _decider(self) -> str:
        return self.possible_agents[int(self._state.current_player)]

    def _space(self) -> gymnasium.spaces.Dict:
        observation = gymnasium_space(observation_space(self.env, self.kind))
        mask = gymnasium.spaces.Box(0, 1, (self.env.num_actions,), np.int8)
        return gymnasium.spaces.Dict({"observation": observation, "action_mask": mask})

"""`GaiaMARL`: the game as a JaxMARL `MultiAgentEnv`."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import gaia_jax
from gaia_jax.adapters.layout import KINDS, SCALED, arranged, choice, environment, game_name
from gaia_jax.adapters.spaces import observation_space
from gaia_jax.auto import AutoState
from gaia_jax.cli.lazy import of_extra
from gaia_jax.env import GaiaEnv, State

with of_extra("adapters"):
    from jaxmarl.environments.multi_agent_env import MultiAgentEnv
    from jaxmarl.environments.spaces import Box, Discrete


class GaiaMARL(MultiAgentEnv):
    """An agent for each seat. One decides at a time; the others wait, action `num_actions - 1`.

    `step` starts a new game where one ended, as the environments of JaxMARL do, at the price of
    `gaia_jax.auto_reset`.

    Attributes:
        env: the environment inside.
        observation: "vector", (n,) float32; "picture", (H, W, Fc) float32; "scaled", (n,) float32
            with the scaling of the networks.
        world_state: whether observations have an entry "world_state", (num_agents, n) float32, for
            the critic of MAPPO. A seat sees the whole game, so its row is its own observation.
    """

    def __init__(
        self,
        env: GaiaEnv | str = "lost_fleet",
        reward: str | None = None,
        observation: str = "vector",
        players: int | None = None,
        world_state: bool = False,
    ):
        """
        Args:
            env: an environment of `gaia_jax.make`, or the id of one.
            reward, players: of the environment, where `env` is an id; None is "margin" and 4.
            observation, world_state: see the attributes.
        Raises:
            ValueError: something unknown among these; the message names the choices.
        """
        choice("observation", observation, [kind for kind in (*KINDS, SCALED) if kind != "tree"])
        choice("world_state", world_state, (False, True))
        self.env = environment(env, reward, players)
        super().__init__(num_agents=self.env.num_players)
        self.observation, self.world_state = observation, bool(world_state)
        self.num_actions = self.env.num_actions + 1
        space: Any = observation_space(self.env, observation)
        low, high = float(space.low.min()), float(space.high.max())
        box = Box(low, high, space.shape, jnp.float32)
        self._size = int(np.prod(space.shape))
        self.observation_spaces = dict.fromkeys(self.agents, box)
        self.action_spaces = dict.fromkeys(self.agents, Discrete(self.num_actions))
        self._auto = gaia_jax.auto_reset(self.env)

    @property
    def name(self) -> str:
        """Such as "gaia_project-lost_fleet"."""
        return game_name(self.env.ruleset)

    @property
    def agent_classes(self) -> dict[str, list[str]]:
        """One class: the agents differ by faction, which the observation contains."""
        return {"player": list(self.agents)}

    def world_state_size(self) -> int:
        """The length of a row of "world_state", which MAPPO's scripts ask for."""
        return self._size

    @partial(jax.jit, static_argnums=(0,))
    def reset(self, key: Array) -> tuple[dict[str, Array], AutoState]:
        """A new game and what each agent sees of it."""
        state = self._auto.init(key)
        return self.get_obs(state), state

    @partial(jax.jit, static_argnums=(0,))
    def step(
        self,
        key: Array,
        state: AutoState,
        actions: dict[str, Array],
        reset_state: AutoState | None = None,
    ) -> tuple[dict[str, Array], AutoState, dict[str, Array], dict[str, Array], dict[str, Any]]:
        """One decision; where it ended the game, `state` is the first of a new one.

        Args:
            key: of the new game's set-up.
            state: one state.
            actions: () int32 by agent; only the decider's counts.
            reset_state: the state after the end of a game; default: a new game.
        Returns:
            observations, state, rewards, dones; `info`: the result of a game that has ended, an
            array (num_agents,) each, 0 otherwise: `vp`, `vp_margin` (own VP minus the mean of the
            others), `won` and `illegal` (an illegal action ended it).
        Raises:
            ValueError: an agent has no action; TypeError: an action is not an integer.
        """
        after = self._auto.step(state, self._action(state, actions), key)
        rewards, dones = self._paid(after)
        info = self._info(after.final_vp, after.illegal, dones["__all__"])
        if reset_state is not None:
            after = jax.tree.map(
                lambda new, old: jnp.where(dones["__all__"], new, old), reset_state, after
            )
        return self.get_obs(after), after, rewards, dones, info

    def step_env(
        self, key: Array, state: Any, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], Any, dict[str, Array], dict[str, Array], dict[str, Any]]:
        """`step` without a new game where it ended; the key is not used."""
        action = self._action(state, actions)
        after = self.env.step(state, action)
        rewards, dones = self._paid(after)
        over = dones["__all__"]
        vp = jnp.where(over, after.game.players.vp, 0)
        info = self._info(vp, ~self.env.is_legal(state, action), over)
        return self.get_obs(after), after, rewards, dones, info

    def get_obs(self, state: Any) -> dict[str, Array]:
        """Observations by agent; with `world_state`, its rows under that name."""
        seen = {
            agent: arranged(self.observation, self.env.ruleset, self.env.observe(state, player))
            for player, agent in enumerate(self.agents)
        }
        seen = {agent: value.astype(jnp.float32) for agent, value in seen.items()}
        if self.world_state:
            seen["world_state"] = jnp.stack([seen[agent].ravel() for agent in self.agents])
        return seen

    @partial(jax.jit, static_argnums=(0,))
    def get_avail_actions(self, state: State) -> dict[str, Array]:
        """(A + 1,) bool by agent: the decider's legal actions; the others can only wait."""
        wait = jnp.arange(self.num_actions) == self.num_actions - 1
        legal = jnp.append(state.legal_action_mask, False)
        return {
            agent: jnp.where(state.current_player == player, legal, wait)
            for player, agent in enumerate(self.agents)
        }

    def get_legal_moves(self, state: State) -> dict[str, Array]:
        """`get_avail_actions` by the name that the baselines of Hanabi use."""
        legal: dict[str, Array] = self.get_avail_actions(state)
        return legal

    def _action(self, state: State, actions: dict[str, Array]) -> Array:
        if missing := [agent for agent in self.agents if agent not in actions]:
            names = ", ".join(self.agents)
            raise ValueError(f"actions must have {names}; missing: {', '.join(missing)}")
        stacked = jnp.stack([jnp.asarray(actions[agent]) for agent in self.agents])
        if not jnp.issubdtype(stacked.dtype, jnp.integer):
            raise TypeError(f"actions must be integers, not {stacked.dtype}")
        return stacked.astype(jnp.int32)[state.current_player]

    def _info(self, final_vp: Array, illegal: Array, done: Array) -> dict[str, Array]:
        vp = final_vp.astype(jnp.float32)
        margin = vp - (vp.sum() - vp) / (len(vp) - 1)
        results = {"vp": vp, "vp_margin": margin, "won": done & (vp == vp.max())}
        results["illegal"] = jnp.broadcast_to(done & illegal, vp.shape)
        return {name: value[: self.num_agents] for name, value in results.items()}

    def _paid(self, state: State) -> tuple[dict[str, Array], dict[str, Array]]:
        rewards = {agent: state.rewards[player] for player, agent in enumerate(self.agents)}
        over = state.terminated | state.truncated
        return rewards, dict.fromkeys([*self.agents, "__all__"], over)

"""`single_agent`: one seat of the game as a single-agent environment, with gymnax's interface.

    view = gaia_jax.single_agent(gaia_jax.make("base", reward="vp"), opponents="random")
    obs, state = view.reset(key)
    obs, state, reward, done, info = view.step(key, state, action)

The opponents play inside the same compiled program. Under `vmap` the games of a batch need
different numbers of opponents' decisions until the learner's turn: rows that wait are played in
blocks, so a batch pays for the decisions that are made, not for its longest row times its size.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from gaia_jax.adapters.layout import (
    KINDS,
    MASKED,
    SCALED,
    arranged,
    choice,
    environment,
    game_name,
)
from gaia_jax.adapters.opponents import RANDOM, Opponent, distinct_opponents, opponent_actions
from gaia_jax.adapters.single_agent_state import (
    Outcome,
    Params,
    SingleAgentState,
    no_outcome,
    result_of,
)
from gaia_jax.adapters.spaces import Discrete, gymnax_space, observation_space
from gaia_jax.auto import deal_where
from gaia_jax.cli import arguments
from gaia_jax.cli.arguments import shown
from gaia_jax.env import GaiaEnv
from gaia_jax.observation.scaling import scaled_vector
from gaia_jax.sampling import sample_legal
from gaia_jax.xla.batch_aware import all_rows
from gaia_jax.xla.compact_vmap import Queue, chunk_rows
from gaia_jax.xla.jax_config import own_jax_config

OBSERVATIONS = (SCALED, MASKED, *KINDS)
ILLEGAL_ACTIONS = ("end", "random")
# By this decision of a game every seat has had one, so that no game ends without the learner's.
FIRST_DECISIONS = 32
# Rows of a block on a CPU: a quarter of the batch within these bounds. A block costs 0.45 ms and
# 9.4 us a row, and a few rows wait for ten more decisions than the others.
CPU_BLOCKS = (16, 64)
# Blocks of a batch on an accelerator.
ACCELERATOR_BLOCKS = 4


class _Row(NamedTuple):
    """A game on its way to the learner's next decision."""

    state: SingleAgentState
    outcome: Outcome
    decisions: Array  # () int32, made since the call began


@dataclasses.dataclass(frozen=True, eq=False)
class SingleAgent:
    """See `single_agent`, which makes one. Compared by identity; it holds the opponents' arrays."""

    env: GaiaEnv
    opponents: tuple[Opponent, ...]  # of the seats after the learner's, in the order of seats
    seat: int | str
    observation: str
    illegal: str

    @property
    def name(self) -> str:
        """Such as "gaia_project-lost_fleet"."""
        return game_name(self.env.ruleset)

    @property
    def num_actions(self) -> int:
        """A, the size of the action index."""
        return self.env.num_actions

    @property
    def default_params(self) -> Params:
        """The parameters of the different opponents, which `reset` and `step` take as `params`."""
        opponents = distinct_opponents(self.opponents)
        return Params(tuple(getattr(opponent, "params", ()) for opponent in opponents))

    def action_space(self, params: Any = None) -> Any:
        """A `Discrete`, gymnax's where it is installed."""
        return gymnax_space(Discrete(self.num_actions))

    def observation_space(self, params: Any = None) -> Any:
        """A `Box` for each array of an observation, gymnax's where it is installed."""
        return gymnax_space(observation_space(self.env, self.observation))

    @partial(jax.jit, static_argnums=0)
    @own_jax_config
    def reset(self, key: Array, params: Any = None) -> tuple[Any, SingleAgentState]:
        """A new game at the learner's first decision.

        Args:
            key: one key of `jax.random`.
            params: of the opponents, None for `default_params`.
        Returns:
            observation, state.
        """
        arguments.one_key("key", key)
        play_key, deal_key = jax.random.split(key)
        state = self._deal_state(deal_key)
        params = self.default_params if params is None else params
        state, _ = all_rows(partial(self._play, False, False))(
            params, play_key, state, jnp.int32(0)
        )
        return self.observe(state), state

    @partial(jax.jit, static_argnums=0)
    @own_jax_config
    def step(
        self, key: Array, state: SingleAgentState, action: Array | int, params: Any = None
    ) -> tuple[Any, SingleAgentState, Array, Array, dict[str, Array]]:
        """The learner's decision and those of the others until it decides again.

        Where the game ends, a new one begins: observation, state and mask are its first ones,
        reward, `done` and the other entries of `info` are of the game that ended.

        Args:
            key: one key of `jax.random`: of the opponents' draws and of the new game.
            state: one state; for a batch, `jax.vmap(view.step, (0, 0, 0, None))`.
            action: () int32, legal in the learner's `info["action_mask"]`.
            params: of the opponents, None for `default_params`.
        Returns:
            observation, state, reward () float32, done () bool, info (`info_of`).
        """
        state, outcome = self.advance(key, state, action, params)
        done = outcome.terminated | outcome.truncated
        return self.observe(state), state, outcome.reward, done, self.info_of(state, outcome)

    @own_jax_config
    def advance(
        self,
        key: Array,
        state: SingleAgentState,
        action: Array | int,
        params: Any = None,
        *,
        stop_at_end: bool = False,
    ) -> tuple[SingleAgentState, Outcome]:
        """`step` without an observation.

        Args:
            key, state, action, params: as of `step`.
            stop_at_end: a game that ends is returned as it ended; the next call ignores the action
                and starts a new game. Otherwise it starts at once.
        """
        arguments.one_key("key", key)
        if not isinstance(state, SingleAgentState):
            raise TypeError(f"state must be a SingleAgentState of reset, not {shown(state)}")
        action = arguments.scalar("action", action)
        params = self.default_params if params is None else params
        play = all_rows(partial(self._play, True, stop_at_end))
        advanced: tuple[SingleAgentState, Outcome] = play(params, key, state, action)
        return advanced

    @own_jax_config
    def ended_state(self, key: Array) -> SingleAgentState:
        """A state in which `advance(..., stop_at_end=True)` starts a new game."""
        # Without a mask, which the new game gets: it would take as long to compile as the rest.
        first = self.env.first_state(self.env.deal(self.env.draw_setup(key)))
        return SingleAgentState(
            env_state=first.replace(terminated=jnp.ones((), bool)),
            seat=self._draw_seat(key),
            episode_return=jnp.zeros((), jnp.float32),
            episode_length=jnp.zeros((), jnp.int32),
        )

    def observe(self, state: SingleAgentState) -> Any:
        """The learner's observation of one state, in the form `observation`."""
        seen = self.env.observe(state.env_state, state.seat)
        if self.observation == MASKED:
            mask = self.action_mask(state).astype(jnp.float32)
            return jnp.concatenate([scaled_vector(seen), mask])
        return arranged(self.observation, self.env.ruleset, seen)

    def action_mask(self, state: SingleAgentState) -> Array:
        """(A,) bool, the legal actions of the learner; all True where the game is over."""
        return state.env_state.legal_action_mask

    def info_of(self, state: SingleAgentState, outcome: Outcome) -> dict[str, Array]:
        """`action_mask`, `seat` and every entry of `Outcome` but the reward, by name."""
        entries = {
            field.name: getattr(outcome, field.name) for field in dataclasses.fields(outcome)
        }
        del entries["reward"]
        return {"action_mask": self.action_mask(state), "seat": state.seat, **entries}

    def _deal_state(self, key: Array) -> SingleAgentState:
        """A game before its first decision, which any player makes."""
        deal_key, seat_key = jax.random.split(key)
        return SingleAgentState(
            env_state=self.env.init(deal_key),
            seat=self._draw_seat(seat_key),
            episode_return=jnp.zeros((), jnp.float32),
            episode_length=jnp.zeros((), jnp.int32),
        )

    def _draw_seat(self, key: Array) -> Array:
        if self.seat != RANDOM:
            return jnp.asarray(self.seat, jnp.int32)
        seat: Array = jax.random.randint(key, (), 0, self.env.num_players, jnp.int32)
        return seat

    def _play(
        self,
        decides: bool,
        stop_at_end: bool,
        params: Any,
        keys: Array,
        states: Any,
        actions: Array,
    ) -> tuple[SingleAgentState, Outcome]:
        """B games to the learner's next decision.

        Args:
            decides: whether the games begin with the learners' `actions`, (B,) int32.
            stop_at_end: as of `advance`.
            params: of the opponents.
            keys: (B,) keys; states: (B, ...).
        """
        games = len(actions)
        rows = _Row(states, no_outcome(games), jnp.zeros(games, jnp.int32))
        if self.env.num_players == 1 and not decides:
            return rows.state, rows.outcome
        if self.env.num_players == 1:
            rows = self._decide(stop_at_end, True, params, rows, actions, keys)
            return rows.state, rows.outcome
        min_block, max_block = CPU_BLOCKS
        cpu_block = min(max(games // 4, min_block), max_block)
        block = chunk_rows(games, cpu_block, ACCELERATOR_BLOCKS)
        # The learners' decisions take the first turns of the loop, so that one copy of the rules is
        # compiled for them and for the opponents'.
        own_turns = -(-games // block) if decides else 0
        numbers = jnp.arange(block, dtype=jnp.int32)

        def waiting(rows: _Row) -> Array:
            state = rows.state.env_state
            over = state.terminated | state.truncated
            return (state.current_player != rows.state.seat) & ~over

        def unfinished(carry: tuple[Array, _Row]) -> Array:
            turn, rows = carry
            return (turn < own_turns) | waiting(rows).any()

        def next_block(carry: tuple[Array, _Row]) -> tuple[Array, _Row]:
            turn, rows = carry
            is_own, queue = turn < own_turns, Queue.of(waiting(rows))
            queued = queue.kth(jnp.minimum(numbers, jnp.maximum(queue.length - 1, 0)))
            ids = jnp.where(is_own, turn * block + numbers, queued)
            is_live = jnp.where(is_own, ids < games, numbers < queue.length)
            ids = jnp.minimum(ids, games - 1)
            picked, chosen, key = jax.tree.map(lambda x: x[ids], (rows, actions, keys))
            decided = self._decide(stop_at_end, is_own, params, picked, chosen, key)
            target = jnp.where(is_live, ids, games)
            rows = jax.tree.map(
                lambda old, new: old.at[target].set(new, mode="drop"), rows, decided
            )
            return turn + 1, rows

        _, rows = lax.while_loop(unfinished, next_block, (jnp.int32(0), rows))
        return rows.state, rows.outcome

    def _decide(
        self, stop_at_end: bool, is_own: Any, params: Any, rows: Any, actions: Array, keys: Array
    ) -> Any:
        """One decision in each row, all the learners' or all opponents'."""
        draw_keys = jax.vmap(jax.random.fold_in)(keys, rows.decisions)
        uniforms = jax.vmap(jax.random.uniform)(draw_keys)
        game = rows.state.env_state
        if self.illegal == "random":
            mask = game.legal_action_mask
            index = jnp.clip(actions, 0, self.num_actions - 1)[:, None]
            legal = jnp.take_along_axis(mask, index, axis=1)[:, 0] & (actions == index[:, 0])
            actions = jnp.where(legal, actions, jax.vmap(sample_legal)(mask, uniforms))
        if self.opponents:
            others = partial(opponent_actions, self.opponents, params, game)
            actions = lax.cond(is_own, lambda: actions, lambda: others(rows.state.seat, uniforms))
        decide = partial(self._decide_row, stop_at_end, is_own)
        return jax.vmap(decide)(rows, actions, draw_keys)

    def _decide_row(
        self, stop_at_end: bool, is_own: Any, row: _Row, action: Array, key: Array
    ) -> _Row:
        """The row after one decision, and in a new game where the old one has ended."""
        env, state = self.env, row.state
        was_over = state.env_state.terminated | state.env_state.truncated
        after = env.decide(state.env_state, action)
        is_over = after.terminated | after.truncated
        paid, ended = after.rewards[state.seat], is_over & ~was_over
        total = state.episode_return + paid
        length = state.episode_length + (is_own & ~was_over)
        is_legal = env.is_legal(state.env_state, action)
        outcome = result_of(state.seat, after, total, length)
        outcome = jax.tree.map(lambda new, old: jnp.where(ended, new, old), outcome, row.outcome)
        outcome = outcome.replace(
            reward=row.outcome.reward + paid,
            illegal=row.outcome.illegal | (is_own & ~was_over & ~is_legal),
        )
        deals = was_over if stop_at_end else is_over
        deal_key, seat_key = jax.random.split(key)
        dealt = deal_where(env, deals, deal_key, after).replace(
            rewards=jnp.where(deals, 0.0, after.rewards),
            terminated=after.terminated & ~deals,
            truncated=after.truncated & ~deals,
            step_count=jnp.where(deals, 0, after.step_count),
        )
        state = SingleAgentState(
            env_state=env.with_mask(dealt),
            seat=jnp.where(deals, self._draw_seat(seat_key), state.seat),
            episode_return=jnp.where(deals, 0.0, total),
            episode_length=jnp.where(deals, 0, length),
        )
        return _Row(state, outcome, row.decisions + 1)


def single_agent(
    env: GaiaEnv | str = "lost_fleet",
    opponents: Opponent | Sequence[Opponent] = RANDOM,
    seat: int | str = RANDOM,
    *,
    observation: str = SCALED,
    illegal: str = "end",
) -> SingleAgent:
    """One seat of the game as a single-agent environment; the other seats play in the same program.

    Args:
        env: what `gaia_jax.make` made, or the id of a variant. The solo game has no opponents.
        opponents: who plays all other seats, or one for each, in the order of seats after the
            learner's: "random"; a function of one `State` that gives logits (A,), or a tuple that
            begins with them; an object with `params` and `apply(params, state)`, which is what
            `gaia_training.make_baseline_model("zoo/quick", env)` gives.
        seat: the learner's, 0 .. S-1, or "random": drawn for each game.
        observation: "scaled", (n,) float32 (`gaia_jax.observation.scaling`); "masked", (n + A,)
            float32, the same and then the mask as 0 and 1, for trainers that pass networks nothing
            but an observation; "vector", (n,) int16; "picture", (H, W, Fc) int16; "tree", an
            `Observation`.
        illegal: what an illegal action does: "end" ends the game with a reward of -1; "random"
            plays a legal one at random instead, for trainers that know no masks.
    Raises:
        TypeError, ValueError: a wrong argument; the message names the choices.
    """
    env = environment(env, None, None)
    choice("observation", observation, OBSERVATIONS)
    choice("illegal", illegal, ILLEGAL_ACTIONS)
    if seat != RANDOM:
        seat = arguments.whole_number("seat", seat, 0, env.num_players - 1)
    if env.max_steps < FIRST_DECISIONS and env.num_players > 1:
        raise ValueError(
            f"max_steps of the environment must be at least {FIRST_DECISIONS}, so that the learner "
            f"decides in every game, not {env.max_steps}"
        )
    others = env.num_players - 1
    lineup: tuple[Any, ...] = (opponents,) * others
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        lineup = tuple(opponents)
    if len(lineup) != others:
        raise ValueError(
            f"opponents must be one, or {others} for {others} seats, not {len(lineup)}"
        )
    for opponent in lineup:
        if opponent != RANDOM and not callable(opponent) and not hasattr(opponent, "apply"):
            raise TypeError(
                f"an opponent must be {RANDOM!r}, a function of a state that gives logits, or have "
                f"params and apply, not {shown(opponent)}; gaia_training.make_baseline_model(name, "
                "env) makes one of an agent's name"
            )
    return SingleAgent(env, lineup, seat, observation, illegal)


__all__ = ["Outcome", "Params", "SingleAgent", "SingleAgentState", "single_agent"]

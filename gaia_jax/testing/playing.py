"""Random games in one compiled loop, which notes what it cannot assert while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax import actions
from gaia_jax.components import costs, research
from gaia_jax.components.common import RESOURCES
from gaia_jax.env import GaiaEnv, State
from gaia_jax.sampling import sample_legal
from gaia_jax.state import GameState, Node

# A forced action with this value means a random legal action.
SAMPLE = np.iinfo(np.int32).min
# More than any play reaches; the observation has the same limit.
_MOST_VP = 999
_MOST_TOKENS = 100

# What is noted of each decision, what matters most first. `{}` is the action concerned.
WRONG = (
    "legal_action_mask is empty",
    "legal_action_mask offers {}, which the rules forbid",
    "legal_action_mask lacks {}, which the rules allow",
    "current_player is no player",
    "terminated and truncated are both True",
    "rewards were paid before the end",
    "step_count is not the number of decisions",
    "a legal action ended the episode as an illegal one: {}",
    "legal_action_mask of an ended game is not all True",
    f"VP are not in 0..{_MOST_VP}",
    "VP are not the sum of vp_source",
    "resources are negative or above their caps",
    f"power tokens are not in 0..{_MOST_TOKENS}",
    f"a research track is not in 0..{research.MAX_LEVEL}",
)
# These are about the state before the decision.
_BEFORE = np.array(["the rules" in text for text in WRONG])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tally:
    """Faults of G games, counted inside a loop over decisions, which cannot assert."""

    decisions: Array  # (G,) int32, decisions of the games before their ends
    rewards: Array  # (G, S) float32, summed
    wrong: Array  # (G, WRONG) int32, the decision after which each of WRONG was first seen; -1
    action: Array  # (G, WRONG) int32, the action that it concerns

    @classmethod
    def start(cls, games: int, players: int) -> Tally:
        """Nothing played, nothing wrong."""
        none = jnp.full((games, len(WRONG)), -1, jnp.int32)
        return cls(jnp.zeros(games, jnp.int32), jnp.zeros((games, players)), none, none)


def make_play(
    env: GaiaEnv, legal_mask: Callable[[GameState], Array]
) -> Callable[..., tuple[State, Tally]]:
    """`play(state, tally, key, forced, n)`: n decisions in each game, compiled once.

    `forced` (G,) int32 are the actions to take; SAMPLE takes a random legal one.

    Args:
        env: where.
        legal_mask: the rules' own answer for a game, (A,) bool.
    """

    def decide(state: State, decisions: Array, forced: Array, uniform: Array) -> Any:
        mask, right = state.legal_action_mask, legal_mask(state.game)
        action = jnp.where(forced == SAMPLE, sample_legal(mask, uniform), forced)
        before = state.terminated | state.truncated
        after = env.step(state, action)
        decisions += (~before).astype(jnp.int32)
        over = after.terminated | after.truncated
        paid = (after.rewards != 0).any() & (env.reward != "vp")
        extra, lacking = mask & ~right, right & ~mask
        wrong = [
            ~after.legal_action_mask.any(),
            extra.any() & ~before,
            lacking.any() & ~before,
            (after.current_player < 0) | (after.current_player >= env.num_players),
            after.terminated & after.truncated,
            paid & ~over,
            after.step_count != decisions,
            (forced == SAMPLE) & after.terminated & (after.game.turn.node != Node.ENDED),
            over & ~after.legal_action_mask.all(),
            *(bad & ~before for bad in _out_of_range(after.game)),
        ]
        others = [action] * (len(WRONG) - 3)
        concerns = [action, jnp.argmax(extra), jnp.argmax(lacking), *others]
        return after, decisions, jnp.stack(wrong), jnp.stack(concerns)

    def play(state: State, tally: Tally, key: Array, forced: Array, n: Array) -> Any:
        def body(i: Array, carry: tuple[State, Tally]) -> tuple[State, Tally]:
            state, tally = carry
            uniform = jax.random.uniform(jax.random.fold_in(key, i), forced.shape)
            state, decisions, wrong, action = jax.vmap(decide)(
                state, tally.decisions, forced, uniform
            )
            first = wrong & (tally.wrong < 0)
            steps_before = decisions[:, None] - _BEFORE
            noted = jnp.where(first, steps_before, tally.wrong)
            concerned = jnp.where(first, action, tally.action)
            return state, Tally(decisions, tally.rewards + state.rewards, noted, concerned)

        return jax.lax.fori_loop(0, n, body, (state, tally))

    return jax.jit(play)


def check_tally(env: GaiaEnv, tally: Tally) -> None:
    """Raise the first fault that was noted, with the game and the decision."""
    wrong = np.asarray(tally.wrong)
    if (wrong < 0).all():
        return
    first_wrong = np.where(wrong < 0, np.iinfo(np.int32).max, wrong)
    game, check = np.unravel_index(np.argmin(first_wrong), first_wrong.shape)
    text = repr(actions.to_text(env.ruleset, int(tally.action[game, check])))
    location = f"game {game}, after decision {wrong[game, check]}"
    raise AssertionError(f"{location}: {WRONG[check].format(text)}")


def _out_of_range(game: GameState) -> list[Array]:
    """() bool each, what the last entries of WRONG say of the players."""
    players = game.players
    caps = np.array([costs.CAPS.get(name, _MOST_TOKENS) for name in RESOURCES])
    tokens = jnp.concatenate([players.power, players.gaia_power[:, None]], -1)
    return [
        ((players.vp < 0) | (players.vp > _MOST_VP)).any(),
        (players.vp != players.vp_source.sum(-1)).any(),
        ((players.resources < 0) | (players.resources > caps)).any(),
        ((tokens < 0) | (tokens > _MOST_TOKENS)).any(),
        ((players.tracks < 0) | (players.tracks > research.MAX_LEVEL)).any(),
    ]

"""Conformance: `gaia_jax.testing.check(env)` plays random games and asserts what `env` promises."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax import actions
from gaia_jax.auto import AutoReset
from gaia_jax.cli.arguments import shown, whole_number
from gaia_jax.env import GaiaEnv, State
from gaia_jax.rewards import ILLEGAL, VP_SCALE, reward_at_end
from gaia_jax.rules.legal import legal_mask as rules_mask
from gaia_jax.sampling import sample_legal
from gaia_jax.state import GameState
from gaia_jax.testing.facts import check_observation, check_seats, check_setups, facts
from gaia_jax.testing.playing import SAMPLE, Tally, check_tally, make_play
from gaia_jax.xla.jax_config import own_jax_config

# Decisions between two looks at the games from outside.
CHUNK = 64
# Keys that set-ups are drawn from: one of two sides is the same for all of 32 once in 2^31.
SETUPS = 32


class Played(NamedTuple):
    """The games that `check` played: G games to their ends."""

    vp: np.ndarray  # (G, P) int16, final VP
    decisions: np.ndarray  # (G,) int32
    rewards: np.ndarray  # (G, S) float64, summed over the game


@own_jax_config
def check(
    env: GaiaEnv,
    games: int = 16,
    seed: int = 0,
    legal_mask: Callable[[GameState], Array] | None = None,
) -> Played:
    """Play `games` random games to their ends and assert what `env` promises.

    At every decision: the mask is the rules' own answer for the game, the players' numbers are in
    their ranges, VP are the sum of their sources, nothing is paid before the end. At every 64th:
    observations and seats tell of this game and this player; an illegal action ends the episode
    and changes nothing; a batch plays as its games do one at a time. And: shapes and dtypes; keys
    deal different set-ups; ends within `env.max_steps`; ended games that nothing changes; rewards.

    Args:
        env: what `gaia_jax.make` made.
        games: G, how many games; more find more.
        seed: of the set-ups and of the play.
        legal_mask: what masks are held against, GameState -> (A,) bool, for an environment with
            rules of its own; None is the mask of the game's rules.
    Returns:
        The games' ends.
    Raises:
        AssertionError: the promise that is broken, with the game and the decision.
        TypeError, ValueError: an argument is wrong.
    """
    if isinstance(env, AutoReset) or not hasattr(env, "draw_setup"):
        raise TypeError(f"env must be what gaia_jax.make makes, not {shown(env)}")
    whole_number("games", games, 1, 2**31)
    whole_number("seed", seed, 0, 2**32 - 1)
    _check_description(env)
    key = jax.random.key(seed)
    keys = jax.random.split(jax.random.fold_in(key, 0), max(games, SETUPS))
    state = jax.jit(jax.vmap(env.init))(keys[:games])
    start = jax.device_get(state)
    _check_shapes(env, start, games)
    _check_start(env, start)
    check_setups(env, keys, start.game.setup)
    _check_init_from(env, keys[0], start)
    mask = legal_mask or functools.partial(rules_mask, env.ruleset)
    state, tally = _check_play(env, mask, state, key, np.random.default_rng(seed))
    played = Played(
        np.asarray(state.game.players.vp),
        np.asarray(state.step_count),
        np.asarray(tally.rewards, np.float64),
    )
    _check_rewards(env, start, played)
    return played


def _check_play(
    env: GaiaEnv,
    legal_mask: Callable[[GameState], Array],
    state: State,
    key: Array,
    rng: np.random.Generator,
) -> tuple[Any, Tally]:
    """Play to the ends and look in between; the ends and what was counted on the way."""
    games = len(state.step_count)
    play = make_play(env, legal_mask)
    step, look = jax.jit(env.step), _make_look(env)
    sample = np.full(games, SAMPLE, np.int32)
    tally = Tally.start(games, env.num_players)
    done = 0
    while not (over := _over(jax.device_get(state))).all():
        assert done < env.max_steps, (
            f"game {_first(~over)} is neither terminated nor truncated after {done} decisions"
        )
        _check_looks(env, look, state, done)
        _check_illegal(env, play, state, tally, rng, done)
        _check_one_at_a_time(env, play, step, state, tally, rng, done)
        key, draw = jax.random.split(key)
        count = min(CHUNK, env.max_steps - done)
        state, tally = play(state, tally, draw, sample, count)
        check_tally(env, jax.device_get(tally))
        done += count

    end = jax.device_get(state)
    _check_shapes(env, end, games)
    _check_ends(env, end)
    _check_looks(env, look, state, done)
    _check_frozen(play, state, tally, rng, env.num_actions)
    return end, tally


def _make_look(env: GaiaEnv) -> Callable[[State], Any]:
    """`look(state)`: observation, seats and `facts` of all games and players, compiled."""

    def observe_one(state: State, player: Array) -> Any:
        seats = env.seats(state, player)
        first = jnp.argmax(state.game.turn.order == player)
        players = state.game.num_players
        order = state.game.turn.order[(first + jnp.arange(players)) % players]
        right = facts(env.ruleset, state.game, order.astype(jnp.int32))
        return env.observe(state, player), seats, right

    players = jnp.arange(env.num_players)
    return jax.jit(jax.vmap(lambda state: jax.vmap(observe_one, (None, 0))(state, players)))


def _check_looks(env: GaiaEnv, look: Callable[[State], object], state: State, done: int) -> None:
    observation, seats, right = jax.device_get(look(state))
    check_seats(seats, np.asarray(state.game.turn.order), done)
    check_observation(env.observation_spec, observation, right, done)


def _over(state: State) -> np.ndarray:
    return np.asarray(state.terminated | state.truncated)


def _first(bad: np.ndarray | Array) -> int:
    """The first game of which `bad` is True; bad may have further axes."""
    return int(np.argmax(bad.reshape(len(bad), -1).any(-1)))


def _different(a: object, b: object) -> list[str]:
    """The names of the fields that differ."""
    if all(map(np.array_equal, jax.tree.leaves(a), jax.tree.leaves(b))):
        return []
    pairs = zip(_fields(a), _fields(b), strict=True)
    return [name for (name, x), (_, y) in pairs if not np.array_equal(x, y)]


def _fields(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The name and the value of every field; packed records are unpacked."""
    if not dataclasses.is_dataclass(tree):
        yield ".".join(path), tree
        return
    packed = getattr(type(tree), "fields", None)
    for name in packed or [field.name for field in dataclasses.fields(tree)]:
        yield from _fields(getattr(tree, name), (*path, name))


def _row(tree: Any, game: int) -> Any:
    return jax.tree.map(lambda x: x[game], tree)


def _check_description(env: GaiaEnv) -> None:
    """The environment's own description."""
    assert isinstance(env.id, str) and env.id, f"id is {env.id!r}, not a name"
    assert isinstance(env.version, str) and env.version, f"version is {env.version!r}"
    hash(env)
    cells = env.ruleset.geometry.num_cells
    assert len(env.action_planes) * cells <= env.num_actions, "the planes do not fit the index"
    for action in range(env.num_actions):
        text = actions.to_text(env.ruleset, action)
        back = actions.from_text(env.ruleset, text)
        assert back == action, f"action {action} reads {text!r}, which is action {back}"


def _check_shapes(env: GaiaEnv, state: State, games: int) -> None:
    """The contract's fields: their shapes after the batch axis, their dtypes."""
    expected = {
        "current_player": ((), np.int32),
        "legal_action_mask": ((env.num_actions,), np.bool_),
        "rewards": ((env.num_players,), np.float32),
        "terminated": ((), np.bool_),
        "truncated": ((), np.bool_),
        "step_count": ((), np.int32),
    }
    for name, (shape, dtype) in expected.items():
        value = getattr(state, name)
        assert value.shape == (games, *shape), f"{name} is of shape {value.shape[1:]}, not {shape}"
        assert value.dtype == dtype, f"{name} is {value.dtype}, not {np.dtype(dtype)}"


def _check_start(env: GaiaEnv, state: State) -> None:
    over = _over(state)
    assert not over.any(), f"game {_first(over)} is over before its first decision"
    empty = ~state.legal_action_mask.any(-1)
    assert not empty.any(), f"game {_first(empty)} starts with an empty legal_action_mask"
    paid = state.rewards != 0
    assert not paid.any(), f"game {_first(paid)} starts with rewards {state.rewards[_first(paid)]}"
    assert not state.step_count.any(), "a new game has a step_count above 0"
    player = state.current_player
    bad = (player < 0) | (player >= env.num_players)
    assert not bad.any(), f"game {_first(bad)} starts with current_player {player[_first(bad)]}"


def _check_init_from(env: GaiaEnv, key: Array, start: State) -> None:
    repeated = jax.device_get(jax.jit(lambda key: env.init_from(env.draw_setup(key)))(key))
    differ = _different(_row(start, 0), repeated)
    assert not differ, f"init(key) and init_from(draw_setup(key)) differ in {', '.join(differ)}"


def _check_illegal(
    env: GaiaEnv, play: Any, state: State, tally: Tally, rng: np.random.Generator, done: int
) -> None:
    """An illegal or unknown index ends the episode and leaves the game as it was (RL-02)."""
    before = jax.device_get(state)
    games = len(before.terminated)
    forced = np.array([-1, env.num_actions, np.iinfo(np.int32).max], np.int32)
    forced = rng.choice(forced, games)
    for game in range(games):
        illegal = np.flatnonzero(~before.legal_action_mask[game])
        if game % 4 and len(illegal):
            forced[game] = rng.choice(illegal)
    after = jax.device_get(play(state, tally, jax.random.key(0), forced, 1)[0])
    for game in np.flatnonzero(~_over(before)).tolist():
        location = f"game {game}, decision {done}, illegal action {forced[game]}"
        old, new = _row(before, game), _row(after, game)
        assert new.terminated and not new.truncated, f"{location}: the episode continues"
        differ = _different(old.game, new.game)
        assert not differ, f"{location}: it changed {', '.join(differ)}"
        assert new.current_player == old.current_player, f"{location}: current_player changed"
        right = np.where(np.arange(env.num_players) == old.current_player, ILLEGAL, 0)
        assert np.array_equal(new.rewards, right), f"{location}: rewards {new.rewards}"
        assert new.legal_action_mask.all(), f"{location}: legal_action_mask is not all True"


def _check_one_at_a_time(
    env: GaiaEnv,
    play: Any,
    step: Any,
    state: State,
    tally: Tally,
    rng: np.random.Generator,
    done: int,
) -> None:
    """One game of the batch, stepped alone, is as the batch steps it."""
    before = jax.device_get(state)
    uniform = rng.random(len(before.terminated)).astype(np.float32)
    sampled = jax.vmap(sample_legal)(state.legal_action_mask, jnp.asarray(uniform))
    forced = np.array(sampled)
    together = jax.device_get(play(state, tally, jax.random.key(0), forced, 1)[0])
    game = int(rng.integers(len(forced)))
    alone = jax.device_get(step(_row(state, game), forced[game]))
    differ = _different(alone, _row(together, game))
    text = actions.to_text(env.ruleset, int(forced[game]))
    assert not differ, (
        f"game {game}, decision {done}, {text!r}: step and vmapped step differ in"
        f" {', '.join(differ)}"
    )


def _check_ends(env: GaiaEnv, end: State) -> None:
    """Every game has ended within `env.max_steps`, and is truncated only there."""
    late = end.step_count > env.max_steps
    assert not late.any(), f"game {_first(late)} took {end.step_count[_first(late)]} decisions"
    by_guard = end.truncated & (end.step_count < env.max_steps)
    assert not by_guard.any(), f"game {_first(by_guard)} was truncated before max_steps"


def _check_frozen(
    play: Any, state: State, tally: Tally, rng: np.random.Generator, num_actions: int
) -> None:
    """Nothing that is done to an ended game changes it (A7)."""
    before = jax.device_get(state)
    games = len(before.terminated)
    forced = rng.integers(-1, num_actions + 1, games).astype(np.int32)
    after = jax.device_get(play(state, tally, jax.random.key(0), forced, 1)[0])
    for game in range(games):
        old = dataclasses.replace(_row(before, game), rewards=np.zeros_like(before.rewards[game]))
        differ = _different(old, _row(after, game))
        assert not differ, (
            f"game {game}: action {forced[game]} after the end changed {', '.join(differ)}"
        )


def _check_rewards(env: GaiaEnv, start: State, played: Played) -> None:
    """The sum of the rewards of a game, by A3, to float32 precision."""
    if env.reward == "vp":
        right = (played.vp - start.game.players.vp.astype(np.float64)) / VP_SCALE
        right = right[:, : env.num_players]
    else:

        def pay(vp: Array) -> Array:
            return reward_at_end(env.reward, vp)

        right = np.asarray(jax.vmap(pay)(jnp.asarray(played.vp)), np.float64)
        total = right.sum(-1) - (1 if env.reward == "win" else 0)
        assert np.abs(total).max() < 1e-5, f"the rewards of a game sum to {total}"
        right = right[:, : env.num_players]
    bad = np.abs(played.rewards - right) > 1e-4
    if bad.any():
        game = _first(bad)
        raise AssertionError(
            f"game {game}, final VP {played.vp[game]}: rewards sum to {played.rewards[game]}, not"
            f" {right[game]}"
        )

"""What all tests share: the compilation cache, the environment, its compiled functions.

Compiling dominates these tests, so each function is compiled once a session (and once for all
sessions: the cache in `.cache/jax` outlives them). Prefer the fixtures below to a `jax.jit` of
your own.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Before jax is imported; subprocesses inherit it. What is set already stays.
_CACHE = Path(__file__).resolve().parent.parent / ".cache" / "jax"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # parallel test processes would fight over a GPU


@pytest.fixture(scope="session")
def env() -> Any:
    """The full game, 4 players."""
    import gaia_jax

    return gaia_jax.make("lost_fleet")


@pytest.fixture(scope="session")
def init(env: Any) -> Callable[..., Any]:
    """`init(key)`: one new game, compiled."""
    import jax

    return jax.jit(env.init)


@pytest.fixture(scope="session")
def step(env: Any) -> Callable[..., Any]:
    """`step(state, action)`: one decision in one game, compiled."""
    import jax

    return jax.jit(env.step)


@pytest.fixture(scope="session")
def init_games(env: Any) -> Callable[..., Any]:
    """`init_games(keys)`: a batch of new games [B], compiled."""
    import jax

    return jax.jit(jax.vmap(env.init))


@pytest.fixture(scope="session")
def step_games(env: Any) -> Callable[..., Any]:
    """`step_games(states, actions)`: one decision in each game of a batch [B], compiled."""
    import jax

    return jax.jit(jax.vmap(env.step))


@pytest.fixture(scope="session")
def play_randomly(env: Any) -> Callable[..., Any]:
    """`play_randomly(states, key, n)`: n random legal decisions in each game of a batch [B].

    Games that end stay as they ended. `n` is traced: one compilation for each batch size.
    """
    import jax

    from benchmarks.sampling import sample_legal

    def play(states: Any, key: jax.Array, n: int) -> Any:
        batch = states.legal_action_mask.shape[0]

        def decide(i: jax.Array, states: Any) -> Any:
            uniform = jax.random.uniform(jax.random.fold_in(key, i), (batch,))
            actions = jax.vmap(sample_legal)(states.legal_action_mask, uniform)
            return jax.vmap(env.step)(states, actions)

        return jax.lax.fori_loop(0, n, decide, states)

    return jax.jit(play)

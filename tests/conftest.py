"""What all tests share: the compilation cache, the environment, its compiled functions, some games.

Compiling dominates these tests, so each function is compiled once a session (and once for all
sessions: the cache in the user's cache folder outlives them; GAIA_JAX_NO_CACHE=1 turns it off).
Prefer the fixtures below to a `jax.jit` of your own, with GAMES games: another batch size is
another compilation.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests import xla_flags

# Before jax is imported; subprocesses inherit it. What is set already stays.
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # parallel test processes would fight over a GPU
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1")
os.environ.setdefault("XLA_FLAGS", xla_flags.QUICK)

from gaia_jax import enable_compilation_cache

_CACHE = enable_compilation_cache()
if _CACHE:
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_CACHE))


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that needs a browser: `make test-browser` runs them."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


# B, the batch that the fixtures are compiled for.
GAMES = 16
# More decisions than a random game takes.
ENOUGH = 1024


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
    """`step(state, action)`: one decision in one game, compiled; the one that replays use."""
    from gaia_jax.replay import compiled

    return compiled(env)[1]


@pytest.fixture(scope="session")
def init_games(env: Any) -> Callable[..., Any]:
    """`init_games(keys)`: new games [GAMES], compiled."""
    import jax

    return jax.jit(jax.vmap(env.init))


@pytest.fixture(scope="session")
def step_games(env: Any) -> Callable[..., Any]:
    """`step_games(states, actions)`: one decision in each of GAMES games, compiled, traced once."""
    import chex
    import jax

    return jax.jit(jax.vmap(chex.assert_max_traces(env.step, n=1)))


@pytest.fixture(scope="session")
def play_randomly(step_games: Callable[..., Any]) -> Callable[..., Any]:
    """`play_randomly(states, key, n)`: up to n random legal decisions in each of GAMES games.

    Games that end stay as they ended. The steps are those of `step_games`: a loop that holds the
    rules would be a second compilation of them.
    """
    import jax

    from gaia_jax.testing import sample_legal

    @jax.jit
    def draw(mask: jax.Array, key: jax.Array, i: int) -> jax.Array:
        uniform = jax.random.uniform(jax.random.fold_in(key, i), (GAMES,))
        return jax.vmap(sample_legal)(mask, uniform)

    def play(states: Any, key: jax.Array, n: int) -> Any:
        for i in range(n):
            if (states.terminated | states.truncated).all():
                break
            states = step_games(states, draw(states.legal_action_mask, key, i))
        return states

    return play


@pytest.fixture(scope="session")
def new_games(init_games: Callable[..., Any]) -> Any:
    """GAMES games before their first decision."""
    import jax

    return init_games(jax.random.split(jax.random.key(0), GAMES))


@pytest.fixture(scope="session")
def games_under_way(new_games: Any, play_randomly: Callable[..., Any]) -> Any:
    """GAMES games in the middle, at different decisions."""
    import jax

    return play_randomly(new_games, jax.random.key(1), 110)


@pytest.fixture(scope="session")
def ended_games(games_under_way: Any, play_randomly: Callable[..., Any]) -> Any:
    """The same games at their ends."""
    import jax

    return play_randomly(games_under_way, jax.random.key(2), ENOUGH)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, one for all pages: Playwright runs one loop a process."""
    from tests import browser as chromium

    with chromium.opened() as instance:
        yield instance

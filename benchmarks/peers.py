"""The measured environments with one interface: one game in, one game out."""

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from gaia_jax.testing import sample_legal

State = Any  # a PyTree with `legal_action_mask`, `terminated` and `truncated`


class Unavailable(Exception):
    """The environment is not installed, or not there yet; the message is for the user."""


@dataclasses.dataclass(frozen=True)
class Contender:
    """An environment as the benchmark sees it. Every function acts on one game.

    `step` is the bare step; `play` is the step that starts a new game where one ended. `observe`
    is None where the environment keeps the observation in its state and makes it in every step.
    """

    name: str
    version: str
    num_actions: int
    reset: Callable[[jax.Array], State]
    step: Callable[[State, jax.Array, jax.Array], State]
    play: Callable[[State, jax.Array, jax.Array], State]
    observe: Callable[[State], Any] | None = None
    note: str = ""

    def init(self, key: jax.Array, batch: int) -> State:
        """`batch` new games, the batch axis first on every leaf."""
        return jax.vmap(self.reset)(jax.random.split(key, batch))

    def rollout(
        self, state: State, key: jax.Array, n: int, observe: bool = False
    ) -> tuple[State, jax.Array, jax.Array, Any]:
        """Random legal play for `n` decisions in each game of the batch.

        Args:
            state: the games, leaves [B, ...].
            key: random key.
            n: decisions for each game.
            observe: also make the observation of the player to move after every decision.
        Returns:
            The games, the next key, the number of games that ended, and the last
            observation (None without `observe`). It travels in the carry so that XLA makes all of
            them.
        """
        batch = state.legal_action_mask.shape[0]
        look = jax.vmap(self.observe) if observe and self.observe else lambda _: None

        def decide(carry: tuple[State, jax.Array, jax.Array, Any], _: None) -> tuple[Any, None]:
            state, key, ended, _ = carry
            with jax.named_scope("keys"):
                key, draw, deal = jax.random.split(key, 3)
                uniform, deals = jax.random.uniform(draw, (batch,)), jax.random.split(deal, batch)
            with jax.named_scope("sample"):
                action = jax.vmap(sample_legal)(state.legal_action_mask, uniform)
            state = jax.vmap(self.play)(state, action, deals)
            ended += jnp.sum(state.terminated | state.truncated, dtype=jnp.int32)
            return (state, key, ended, look(state)), None

        start = (state, key, jnp.int32(0), look(state))
        return jax.lax.scan(decide, start, length=n)[0]


def own(ruleset: str = "lost_fleet") -> Contender:
    """This project's environment."""
    try:
        gaia_jax = importlib.import_module("gaia_jax")
        env = gaia_jax.make(ruleset)
        auto = gaia_jax.auto_reset(env)
    except (ImportError, AttributeError, NotImplementedError) as error:
        raise Unavailable(f"gaia_jax has no environment to measure: {error}") from error
    return Contender(
        name=ruleset,
        version=str(env.version),
        num_actions=env.num_actions,
        reset=auto.init,
        step=lambda state, action, key: env.step(state, action),
        play=auto.step,
        observe=lambda state: env.observe(state, state.current_player),
    )


def _pgx(name: str, bare: bool) -> Contender:
    pgx = _peer("pgx")
    auto_reset = importlib.import_module("pgx.experimental").auto_reset
    env = pgx.make(name)
    play = auto_reset(env.step, env.init)

    def without_observation(state: State) -> State:
        # What no later step reads, XLA does not compute: pgx' rules alone.
        return state.replace(observation=jnp.zeros((), jnp.bool_)) if bare else state

    return Contender(
        name=f"{name}:bare" if bare else name,
        version=f"pgx {pgx.__version__}",
        num_actions=env.num_actions,
        reset=lambda key: without_observation(env.init(key)),
        step=lambda state, action, key: without_observation(env.step(state, action, key)),
        play=lambda state, action, key: without_observation(play(state, action, key)),
        note="no observation" if bare else "observation in every step",
    )


def _mahjax() -> Contender:
    mahjax = _peer("mahjax")
    auto_reset = importlib.import_module("mahjax.wrappers.auto_reset_wrapper").auto_reset
    env = mahjax.make("red_mahjong", round_mode="single", observe_type="dict")
    return Contender(
        name="mahjax",
        version=f"mahjax {mahjax.__version__}, red, single round",
        num_actions=env.num_actions,
        reset=env.init,
        step=env.step,
        play=auto_reset(env.step, env.init),
        observe=env.observe,
    )


def _peer(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Unavailable(f"{module} is not installed: pip install '.[bench]' ({error})") from error


PGX = ("chess", "go_19x19", "backgammon")
PEERS = (*PGX, *(f"{name}:bare" for name in PGX), "mahjax")


def peer(name: str) -> Contender:
    """The peer `name`, one of PEERS. `:bare` leaves out the observation that pgx always makes."""
    if name == "mahjax":
        return _mahjax()
    if name in PEERS:
        game, _, bare = name.partition(":")
        return _pgx(game, bare=bool(bare))
    raise Unavailable(f"unknown peer {name!r}; known: {', '.join(PEERS)}")

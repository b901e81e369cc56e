"""Protocols of the trainer: environments, their states and networks.

The trainer accepts `gaia_jax`, a subclass of yours and the toy game of the tests alike.
B is any batch, A the number of actions, P of players, C of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    from jax import Array

# An object of JSON.
JsonObject: TypeAlias = dict[str, Any]
# Arrays by name, those of a network nested by layer.
Params: TypeAlias = Mapping[str, Any]
# The names of a ruleset by kind: `faction`, `vp_source`, ...
Ids: TypeAlias = Mapping[str, Sequence[str]]


class EnvState(Protocol):
    """One game, or under `vmap` a batch of them with leading axes."""

    @property
    def game(self) -> Any:
        """The state of the rules, with `players` and `setup`."""

    @property
    def current_player(self) -> Array:
        """() int32, the deciding player."""

    @property
    def legal_action_mask(self) -> Array:
        """(A,) bool."""

    @property
    def rewards(self) -> Array:
        """(P,) float32, of the last decision."""

    @property
    def terminated(self) -> Array:
        """() bool, the game has ended."""

    @property
    def truncated(self) -> Array:
        """() bool, a guard has ended it."""

    @property
    def step_count(self) -> Array:
        """() int32, decisions taken in this game."""

    def replace(self, **changes: Array) -> Self:
        """A copy with the named fields changed."""


class AutoState(EnvState, Protocol):
    """A state that may be the first of a new game; then it also holds the result of the last."""

    @property
    def final_vp(self) -> Array:
        """(P,) int16, VP of the game that ended with the last decision."""

    @property
    def final_source(self) -> Array:
        """(P, S) int16, the same by source."""


class Observation(Protocol):
    """The game as one player sees it."""

    @property
    def cells(self) -> Array:
        """(C, Fc) int8."""

    @property
    def players(self) -> Array:
        """(P, Fp) int16, own seat first."""

    @property
    def globals(self) -> Array:
        """(Fg,) int16."""


class Environment(Protocol):
    """A game; an ended one stays as it is."""

    def __hash__(self) -> int:
        """Compiled programs are cached by environment."""

    @property
    def id(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def reward(self) -> str: ...

    @property
    def num_players(self) -> int: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def action_planes(self) -> tuple[str, ...]:
        """The index starts with a plane of C cells for each of these verbs."""

    @property
    def ruleset(self) -> Any: ...

    @property
    def observation_spec(self) -> Any:
        """Names of the columns of `cells`, `players` and `globals`."""

    @property
    def init(self) -> Callable[[Array], Any]:
        """(key) -> the first state of a game."""

    @property
    def observe(self) -> Callable[..., Any]:
        """(state, player) -> Observation."""

    @property
    def seats(self) -> Callable[..., Array]:
        """(state, player) -> (P,) int32, which player each row of the observation is."""

    @property
    def step(self) -> Callable[..., Any]:
        """(state, action () int32) -> state."""


class SetupEnvironment(Environment, Protocol):
    """A game that can begin with a given set-up."""

    @property
    def draw_setup(self) -> Callable[[Array], Any]:
        """(key) -> a set-up."""

    @property
    def init_from(self) -> Callable[[Any], Any]:
        """(set-up) -> the first state of a game."""


class AutoEnvironment(Environment, Protocol):
    """A game that restarts when it has ended."""

    @property
    def env(self) -> Environment:
        """The same without auto-reset."""

    @property
    def step(self) -> Callable[..., Any]:
        """(state, action () int32, key) -> AutoState."""


class EnvModule(Protocol):
    """A module that makes environments: `gaia_jax`."""

    __name__: str  # workers import it

    @property
    def make(self) -> Callable[..., Any]:
        """(id, reward=..., players=...) -> Environment."""

    @property
    def auto_reset(self) -> Callable[[Any], Any]:
        """(Environment) -> AutoEnvironment."""


class NetworkInput(Protocol):
    """The inputs of a network for B decisions, stored for learning; a pytree."""

    @property
    def mask(self) -> Array:
        """(B, W) bool, the legal actions in the network's own index of W actions."""


class PolicyNetwork(Protocol):
    """Policy and values. The network may have an index of actions of its own."""

    def init(self, rngs: Array, observation: Observation, mask: Array) -> Any:
        """Parameters to begin with."""

    def apply(self, variables: Params, /, *inputs: Any, method: str | None = None) -> Any:
        """(observation, mask) -> logits (B, A) in the environment's index, values (B, P).

        With method "logits_and_values": (input) -> logits (B, W) in its own index, values (B, P).
        """

    def encode(self, observation: Observation, mask: Array) -> Any:
        """A `NetworkInput` of B positions."""

    def to_action(self, inputs: Any, action: Array) -> Array:
        """(B,) actions in its own index -> (B,) in the environment's."""

    def to_network_action(self, inputs: Any, action: Array) -> Array:
        """(B, ...) actions of the environment -> (B, ...) in its own index."""


class Apply(Protocol):
    """The function of your own network for `save_agent`, such as `apply` of a Flax module."""

    def __call__(self, params: Params, observation: Observation, /) -> tuple[Array, Array]:
        """One `Observation` -> logits (A,), values (P,), the own seat first.

        Logits of illegal actions are ignored. A value is the expected future reward of a seat, in
        the rewards of the environment times `reward_scale`.
        """

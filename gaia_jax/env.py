"""The environment: the rules of the game with the interface that a learner needs.

Properties of every node are implemented here once: the deciding player, the legal mask, rewards and
the end of an episode. The rules do not know them.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax import observation
from gaia_jax.cli import arguments
from gaia_jax.env_arguments import EQUIVALENTS, check_options, check_setup, check_state
from gaia_jax.env_state import State, StateT
from gaia_jax.observation import Observation
from gaia_jax.rewards import ILLEGAL, reward_at_end, reward_by_vp
from gaia_jax.rules.automa import cards
from gaia_jax.rules.legal import legal_mask
from gaia_jax.rules.setup import new_game
from gaia_jax.rules.step import step as rules_step
from gaia_jax.ruleset import Ruleset, ruleset_of
from gaia_jax.ruleset.action_space import PLANES
from gaia_jax.setup.automa_draw import AutomaChoice, automa_choice
from gaia_jax.setup.draw import draw_setup
from gaia_jax.state import GameState, Node, Setup
from gaia_jax.xla.batch_aware import batched_together, traced_once
from gaia_jax.xla.jax_config import own_jax_config
from gaia_jax.xla.struct import ComparedByAttributes

# No legal play comes near this many decisions (RL-04).
MAX_STEPS = 8192


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class GaiaEnv(ComparedByAttributes):
    """A variant of the game as an environment. `gaia_jax.make` makes one.

    It holds no arrays: it is hashable, equal by class and attributes, may be closed over or be a
    static argument, and its methods work under `jit`, `vmap` and `scan`.
    """

    ruleset: Ruleset
    reward: str = "margin"
    max_steps: int = MAX_STEPS
    short_turns: bool = False
    automa: str | None = None  # the level of a solo game; "any": drawn; None: the default
    automa_faction: str | None = None  # the Automa's faction that is drawn; None: any

    def __post_init__(self) -> None:
        check_options(self.ruleset, self.reward, self.max_steps, self.short_turns)
        automa_choice(self.ruleset, self.automa, self.automa_faction)

    def __repr__(self) -> str:
        parts = [f"{self.ruleset.name} {self.version}", f"reward {self.reward}"]
        for field in dataclasses.fields(self)[2:]:
            name, value = field.name.replace("_", " "), getattr(self, field.name)
            if value != field.default:
                parts.append(name if value is True else f"{name} {value}")
        return f"<{type(self).__name__} {', '.join(parts)}>"

    if not TYPE_CHECKING:  # a type checker would take any name

        def __getattr__(self, name: str) -> NoReturn:
            hint = f"; {EQUIVALENTS[name]}" if name in EQUIVALENTS else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @property
    def id(self) -> str:
        """The id of this variant for `make`."""
        return self.ruleset.id

    @property
    def version(self) -> str:
        """The ruleset's; raised when, and only when, the same actions lead to something else."""
        return self.ruleset.version

    @property
    def num_players(self) -> int:
        """S, the players who decide: 1 in a solo game, whose states have P = 2 rows of players."""
        return self.ruleset.seats

    @property
    def num_actions(self) -> int:
        """A, the size of the action index (docs/reference/actions.md)."""
        return self.ruleset.actions.num_actions

    @property
    def action_planes(self) -> tuple[str, ...]:
        """The index starts with a plane of C cells for each of these verbs, in this order."""
        return PLANES

    @own_jax_config
    def draw_setup(self, key: Array, small: bool = False) -> Setup:
        """A random set-up: all the chance that there is in a game (GEN-03).

        Args:
            key: one key of `jax.random`.
            small: of `base` for three: without the sector tiles 9 and 10 (PLA-04).
        Raises:
            TypeError, ValueError: `key` is something else, or a batch of keys; `small` where no
                tile may be left out.
        """
        arguments.one_key("key", key)
        arguments.not_varying(key)
        if small and not self.ruleset.map.spare_tiles:
            raise ValueError(f"{self.ruleset.name} has no small map; base for 3 players has one")
        automa = automa_choice(self.ruleset, self.automa, self.automa_faction)
        return traced_once(partial(_draw_setup, self.ruleset, small, automa))(key)

    @own_jax_config
    def init(self, key: Array) -> State:
        """A new game with a set-up drawn from `key`; afterwards nothing is random.

        Args:
            key: one key of `jax.random`.
        Raises:
            TypeError, ValueError: `key` is something else, or a batch of keys.
        """
        return self.init_from(self.draw_setup(key))

    @own_jax_config
    def init_from(self, setup: Setup) -> State:
        """A new game with a given set-up.

        Args:
            setup: as `draw_setup` or `gaia_jax.setup_from_json` give it.
        Raises:
            TypeError, ValueError: `setup` is something else, or has arrays of other shapes; or,
                outside `jit` and `vmap`, where its numbers can be looked at, breaks a rule of
                set-ups.
        """
        expected = jax.eval_shape(lambda: self.draw_setup(jax.random.key(0)))
        check_setup(setup, expected, self.ruleset)
        first: State = batched_together(self.first_state(self.deal(setup)))
        return self.with_mask(first)

    @arguments.hints(key="nothing is random after init; gaia_jax.auto_reset(env).step takes one")
    @own_jax_config
    def step(self, state: State, action: Array | int) -> State:
        """The state after `current_player` has decided.

        An illegal action ends the episode with a reward of -1 for the player; the game stays as it
        was (RL-02). When the episode has ended, any action leaves the state as it is, with rewards
        0.

        Args:
            state: one state; for a batch, `jax.vmap(env.step)`.
            action: () int32, an index that is True in `state.legal_action_mask`.
        Raises:
            TypeError, ValueError: `action` is not an integer scalar; `state` is no state, a batch
                of them, or of another ruleset.
        """
        return self.with_mask(self.decide(state, action))

    @property
    def observation_spec(self) -> observation.ObservationSpec:
        """Name and range of every column of an observation (docs/reference/observation.md)."""
        return observation.features(self.ruleset)

    @property
    def observation_shape(self) -> dict[str, tuple[int, ...]]:
        """The shape of each table of an observation: `cells`, `players`, `globals`."""
        spec, shapes = self.observation_spec, observation.leading_shapes(self.ruleset)
        return {name: (*lead, len(getattr(spec, name))) for name, lead in shapes.items()}

    @own_jax_config
    def observe(self, state: State, player: Array | int) -> Observation:
        """The game as `player` sees it, own seat first; all but the Automa's cards (GEN-05, RL-05).

        Args:
            state: one state; for a batch, `jax.vmap(env.observe)`.
            player: () int32, 0 .. S-1.
        Returns:
            Tables of the shapes in `observation_shape`: cells (C, F) int8, players (P, F) and
            globals (F,) int16, each with its own number F of columns; in a solo game the table of
            players has a second row, the Automa's.
        Raises:
            TypeError, ValueError: `state` is no state, a batch of them, or of another ruleset;
                `player` is not an integer scalar, or, where it is known, out of range.
        """
        check_state(state, self.ruleset)
        player = arguments.scalar("player", player, self.num_players)
        arguments.not_varying(state, player)
        return observation.observe(self.ruleset, state.game, player)

    @own_jax_config
    def seats(self, state: State, player: Array | int) -> Array:
        """(S,) int32, the players in the order of `observe`'s rows: `player`, then by turn order.

        Args:
            state: one state.
            player: () int32, 0 .. S-1.
        Raises:
            TypeError, ValueError: as `observe`.
        """
        check_state(state, self.ruleset)
        player = arguments.scalar("player", player, self.num_players)
        return observation.seats(state.game, player)[: self.num_players]

    @own_jax_config
    def redraw_hidden(self, state: StateT, key: Array) -> StateT:
        """The state with what its player cannot see drawn again, for searches and playouts.

        In a solo game these are the cards of the Automa that have not been turned (AUT-08). All
        that agrees with what was seen is as likely as in the game. Other games hide nothing.

        Args:
            state: one state; a subclass such as `AutoState` stays one.
            key: one key of `jax.random`.
        Raises:
            TypeError, ValueError: `state` is no state, a batch of them, or of another ruleset;
                `key` is something else, or a batch of keys.
        """
        check_state(state, self.ruleset)
        arguments.one_key("key", key)
        redraw = traced_once(partial(cards.redraw_hidden, self.ruleset))
        return state.replace(game=redraw(state.game, key))

    @own_jax_config
    def deal(self, setup: Setup) -> GameState:
        """The game that a set-up deals, as the rules see it.

        Args:
            setup: one set-up of this ruleset; its rules are checked by `init_from` alone.
        """
        arguments.not_varying(setup)
        return traced_once(partial(new_game, self.ruleset))(setup)

    @own_jax_config
    def first_state(self, game: GameState) -> State:
        """The first state of a game of `deal`; its mask is all False until `with_mask` makes it."""
        return State(
            game=game,
            current_player=game.turn.player.astype(jnp.int32),
            legal_action_mask=jnp.zeros(self.num_actions, bool),
            rewards=jnp.zeros(self.num_players, jnp.float32),
            terminated=jnp.zeros((), bool),
            truncated=jnp.zeros((), bool),
            step_count=jnp.zeros((), jnp.int32),
            ruleset=self.id,
        )

    @own_jax_config
    @jax.named_scope("decide")
    def decide(self, state: StateT, action: Array | int) -> StateT:
        """`step` without the mask, which `with_mask` makes for this state or for its replacement.

        Args:
            state: one state.
            action: () int32.
        Returns:
            The state after the decision; its `legal_action_mask` is that of `state`.
        Raises:
            TypeError, ValueError: as `step`; `legal_action_mask` is of another shape.
        """
        check_state(state, self.ruleset)
        action = arguments.scalar("action", action)
        arguments.not_varying(state, action)
        mask, expected_shape = arguments.shape(state.legal_action_mask), (self.num_actions,)
        if mask != expected_shape:
            raise ValueError(f"legal_action_mask must be of shape {expected_shape}, not {mask}")
        before, player = state.game, state.current_player
        over = state.terminated | state.truncated
        action, legal = self._legal(state, action)
        active, illegal = legal & ~over, ~legal & ~over

        game = self._play(before, action, active)
        count = state.step_count + (~over).astype(jnp.int32)
        finished = active & (game.turn.node == Node.ENDED)
        truncated = active & ~finished & (count >= self.max_steps)
        if self.reward == "vp":
            paid = reward_by_vp(before.players.vp, game.players.vp)
        else:
            final = reward_at_end(self.reward, game.players.vp)
            paid = jnp.where(finished | truncated, final, 0.0)
        paid = paid[: self.num_players]
        penalty = jnp.where(jnp.arange(self.num_players) == player, ILLEGAL, 0.0)
        return state.replace(
            game=game,
            current_player=jnp.where(
                active & ~truncated, game.turn.player.astype(jnp.int32), player
            ),
            rewards=jnp.where(active, paid, jnp.where(illegal, penalty, 0.0)).astype(jnp.float32),
            terminated=state.terminated | finished | illegal,
            truncated=state.truncated | truncated,
            step_count=count,
        )

    @own_jax_config
    def is_legal(self, state: State, action: Array | int) -> Array:
        """() bool, whether `action`, () int32, is legal; False outside 0 .. A-1.

        True for every action after the end of the game, as the mask is (A7).

        Args:
            state: one state, with the mask of its game.
        Raises:
            TypeError, ValueError: as `step`.
        """
        check_state(state, self.ruleset)
        return self._legal(state, arguments.scalar("action", action))[1]

    def _legal(self, state: State, action: Array) -> tuple[Array, Array]:
        """The action, 0 for an unknown index; and whether it is legal, () bool."""
        is_action = (action >= 0) & (action < self.num_actions)
        action = jnp.where(is_action, action, 0)
        return action, is_action & state.legal_action_mask[action]

    @own_jax_config
    @jax.named_scope("legal_mask")
    def with_mask(self, state: StateT) -> StateT:
        """The state with the mask of its game; all True where the episode has ended (A7)."""
        over = state.terminated | state.truncated
        return state.replace(legal_action_mask=self.legal_mask(state.game) | over)

    @own_jax_config
    def legal_mask(self, game: GameState) -> Array:
        """(A,) bool, what the rules allow `game.turn.player`; changes nothing."""
        arguments.not_varying(game)
        return traced_once(partial(legal_mask, self.ruleset))(game)

    def _play(self, game: GameState, action: Array, active: Array) -> GameState:
        """The game after a legal action; unchanged where `active`, () bool, is False."""
        if not self.short_turns:
            return traced_once(partial(rules_step, self.ruleset))(game, action, active)
        return traced_once(partial(_short_step, self.ruleset))(game, action, active)


@arguments.hints(num_players="the argument is players, such as players=2")
def make(
    id: str = "lost_fleet",
    reward: str = "margin",
    max_steps: int = MAX_STEPS,
    players: int = 4,
    short_turns: bool = False,
    automa: str | None = None,
    automa_faction: str | None = None,
) -> GaiaEnv:
    """An environment.

    Args:
        id: the variant, a key of `gaia_jax.RULESETS`.
        reward: who gets what (A3): "margin", at the end own VP minus the mean of the others,
            divided by 100; "rank", at the end evenly from +1 to -1 by place (of four +1, +1/3,
            -1/3, -1), ties averaged; "win", at the end 1 shared among the winners; "vp", at each
            decision the change of own VP, divided by 100.
        max_steps: a game of that many decisions is truncated (RL-04); at least 1.
        players: 4 for "lost_fleet", else 1 to 4. One plays against the Automa: rewards are (1,),
            states have two rows of players, the second is the Automa's.
        short_turns: a turn ends with its main action, so free actions come before it alone
            (ROU-03 allows them after it too). Each such game is one of the whole game with
            `end_turn` put in.
        automa: for one player, the level of the Automa: "automalein", "automa", "automachtig",
            "ultoma" or "alptrauma"; "any" draws one for each game; None is "automachtig".
        automa_faction: for one player, the Automa's faction; None draws it.
    Raises:
        ValueError: an unknown id, reward, level or faction, `max_steps` below 1, a number of
            players that the variant is not for, or an option of the Automa for more than one
            player; the message names the choices.
        TypeError: `max_steps` is no whole number, `short_turns` no bool.
    """
    ruleset = ruleset_of(id, players)
    return GaiaEnv(ruleset, reward, max_steps, short_turns, automa, automa_faction)


def _draw_setup(ruleset: Ruleset, small: bool, automa: AutomaChoice, key: Array) -> Setup:
    return draw_setup(key, ruleset, small, automa)


def _short_step(ruleset: Ruleset, game: GameState, action: Array, active: Array) -> GameState:
    return rules_step(ruleset, game, action, active, short_turns=True)


__all__ = ["MAX_STEPS", "GaiaEnv", "State", "make"]

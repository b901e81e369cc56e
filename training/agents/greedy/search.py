"""Look one action ahead: play every candidate once, guess its sub-decisions, value its end.

Candidates of all games of a batch share a fixed number of slots. Each turn of the loop plays one
decision in every slot; a slot whose decision is settled notes its value and takes the next
candidate. So a batch costs the decisions that it simulates, not the longest of its rows.

B is the number of games, K of candidates of each, L of slots, A the size of the action index.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.ruleset.action_space import ActionSpace
from gaia_jax.state import GameState, Node
from gaia_jax.xla.slots import take

from ...system.batched import stepping
from ...types import Environment, EnvState, Params
from . import prior, value
from .tables import make_tables
from .weights import view

SHORTLIST = 40  # K, candidates of one decision at most
SLOTS = 256  # L, at most
DEPTH = 12  # decisions of one candidate at most
REPEATS = 2  # how often a conversion is repeated until it enables something
WORST = -1e9

# Conversions that only the last round's leftovers are for.
WASTEFUL = ("K_to_C", "O_to_C", "O_to_token", "P1_to_C", "brainstone")

# Verbs that are followed by decisions of the same player, most often.
LONG = ("form_federation", "free", "upgrade", "power", "ship", "special", "artifact")

# Nodes in the middle of an action: the candidate continues.
OPEN_NODES = (
    Node.TARGET, Node.PIECE, Node.FEDERATION, Node.TOKEN, Node.RETRIGGER, Node.TILE, Node.COVER,
    Node.FREE_MINE, Node.STEP, Node.LOST_PLANET,
)  # fmt: skip


class Shortlist(NamedTuple):
    """The candidates of a batch of decisions."""

    states: Any  # (B,) before the decision
    mask: Array  # (B, A)
    actions: Array  # (B, K) int32
    simulate: Array  # (B, K) bool
    still: Array  # (B, K) float32, the value where nothing is simulated
    items: Array  # (B * K,) int32, the candidates to simulate, first those that count
    total: Array  # () int32, how many count


class Slots(NamedTuple):
    """Candidates under way."""

    following: Array  # () int32, the first of `Shortlist.items` that no slot has taken
    live: Array  # (L,) bool
    item: Array  # (L,) int32, the candidate, row * K + column
    state: Any  # (L,)
    action: Array  # (L,) int32, to be played next
    depth: Array  # (L,) int32, decisions of the candidate played
    out: Array  # (B * K,) float32, the values found


class GreedySearch:
    """The scripted player for an environment. Everything is pure and works under `jit`."""

    def __init__(self, env: Environment, slots: int = SLOTS):
        """`slots`: how many candidates are under way at once, at most."""
        self.env, self.slots = env, slots
        self._t = t = make_tables(env)
        self._base, self._covering = prior.fixed(t), prior.cover_guess(t)
        space = t.rules.actions
        self._free = _verb_mask(space, "free")
        self._wasteful = np.zeros(space.num_actions, bool)
        for name in WASTEFUL:
            self._wasteful[space.index("free", name)] = True
        self._long = _verb_mask(space, *LONG)
        # Valued without a simulation: they end the turn, and what follows is not theirs.
        self._standing = _verb_mask(space, "booster", "pass", "end_turn")
        self._boosters = np.full(space.num_actions, -1, np.int32)
        count = len(space.ids["booster"])
        self._boosters[space.first["booster"] + np.arange(count)] = np.arange(count)
        # Traced once for the decisions and for the slots.
        self._guess_once, self._worth_once = jax.jit(self._guess), jax.jit(self.worth)

    def choose(self, params: Params, states: EnvState, mask: Array) -> Array:
        """(B,) int32, legal actions of the states' current players; mask (B, A)."""
        return self.finish(*self._play(params, states, mask))

    def evaluate(self, params: Params, states: EnvState, mask: Array) -> tuple[Array, Array]:
        """The candidates of each decision and their values.

        Returns:
            actions (B, K) int32; values (B, K) float32 in VP, WORST where there is no candidate.
        """
        shortlist, slots = self._play(params, states, mask)
        return shortlist.actions, self._candidate_values(shortlist, slots)

    def worth(self, params: Params, game: GameState, player: Array) -> Array:
        """() float32, the VP of one position for `player`, up to a constant of the game."""
        return value.value(self._t, view(params), game, player)

    def _play(self, params: Params, states: EnvState, mask: Array) -> tuple[Shortlist, Slots]:
        """All candidates, played out."""
        shortlist = self.prepare(params, states, mask)

        def turn(slots: Slots) -> Slots:
            state = stepping(self.env)(slots.state, slots.action)
            return self.settle(params, shortlist, slots, state)

        return shortlist, jax.lax.while_loop(lambda x: x.live.any(), turn, self.start(shortlist))

    def prepare(self, params: Params, states: EnvState, mask: Array) -> Shortlist:
        """The shortlists, and the value of not moving."""
        player = states.current_player
        guesses = jax.vmap(self._guess_once, (None, 0, 0))(params, states.game, player)
        width = min(SHORTLIST, mask.shape[1])
        scores, actions = jax.lax.top_k(jnp.where(mask, guesses, WORST), width)
        legal = scores > WORST
        turn = states.game.turn
        undecided = (mask.sum(-1) > 1) & ~(states.terminated | states.truncated)
        # After the main action nothing is converted: the next turn can do it as well.
        undecided &= turn.node != Node.AFTER
        simulate = legal & ~jnp.asarray(self._standing)[actions] & undecided[:, None]
        early = turn.round < self._t.rounds
        simulate &= ~(jnp.asarray(self._wasteful)[actions] & early[:, None])

        idle_value, adds = jax.vmap(self._idle_value, (None, 0, 0))(params, states.game, player)
        offered = jnp.asarray(self._boosters)[actions]  # (B, K)
        add = jnp.take_along_axis(adds, jnp.maximum(offered, 0), axis=1)
        best = jnp.max(jnp.where(legal & (offered >= 0), add, WORST), axis=1, keepdims=True)
        still = (idle_value + params["pass_margin"])[:, None] + jnp.where(
            offered >= 0, add - best, 0
        )

        flat = simulate.reshape(-1)
        number = jnp.arange(flat.shape[0], dtype=jnp.int32)
        # Long candidates come first, so that the slots end together.
        long = flat & jnp.asarray(self._long)[actions].reshape(-1)
        short = flat & ~long
        line = jnp.where(long, jnp.cumsum(long), long.sum() + jnp.cumsum(short)) - 1
        place = jnp.where(flat, line.astype(jnp.int32), flat.shape[0])
        items = jnp.zeros_like(number).at[place].set(number, mode="drop")
        never = jnp.asarray(self._free)[actions] & ~simulate
        still = jnp.where(legal & ~never, still, WORST)
        return Shortlist(states, mask, actions, simulate, still, items, flat.sum(dtype=jnp.int32))

    def start(self, shortlist: Shortlist) -> Slots:
        """The first candidates."""
        rows = shortlist.mask.shape[0]
        size = self.width(rows)
        first = jax.tree.map(
            lambda x: jnp.broadcast_to(x[:1], (size, *x.shape[1:])), shortlist.states
        )
        zeros = jnp.zeros(size, jnp.int32)
        out = jnp.full(shortlist.items.shape, WORST, jnp.float32)
        return _refill(shortlist, Slots(jnp.int32(0), zeros > 0, zeros, first, zeros, zeros, out))

    def width(self, rows: int) -> int:
        """L for a batch of `rows` games."""
        return min(self.slots, max(rows * 4, 8))

    def settle(self, params: Params, shortlist: Shortlist, slots: Slots, state: EnvState) -> Slots:
        """After every slot has been played to `state`: continue it, or start the next candidate."""
        row = slots.item // shortlist.actions.shape[1]
        first_action = shortlist.actions.reshape(-1)[slots.item]
        player = shortlist.states.current_player[row]
        guesses = jax.vmap(self._guess_once, (None, 0, 0))(params, state.game, player)
        depth = slots.depth + 1
        continues, action = jax.vmap(self._follow)(
            state, player, shortlist.mask[row], slots.action, first_action, depth, guesses
        )
        worth = jax.vmap(self._worth_once, (None, 0, 0))(params, state.game, player)
        worth -= params["detour"] * jnp.asarray(self._free)[first_action]
        done = jnp.where(slots.live & ~continues, slots.item, slots.out.shape[0])
        return _refill(
            shortlist,
            Slots(
                slots.following,
                slots.live & continues,
                slots.item,
                state,
                action,
                depth,
                slots.out.at[done].set(worth, mode="drop"),
            ),
        )

    def finish(self, shortlist: Shortlist, slots: Slots) -> Array:
        """(B,) int32, the best candidate of each row; the first on the shortlist among equals."""
        best = jnp.argmax(self._candidate_values(shortlist, slots), axis=1)
        return jnp.take_along_axis(shortlist.actions, best[:, None], axis=1)[:, 0].astype(jnp.int32)

    def _candidate_values(self, shortlist: Shortlist, slots: Slots) -> Array:
        """(B, K) float32, the value of each candidate."""
        return jnp.where(
            shortlist.simulate, slots.out.reshape(shortlist.actions.shape), shortlist.still
        )

    def _guess(self, params: Params, game: GameState, player: Array) -> Array:
        out = prior.guess(self._t, view(params), self._base, game, player)
        return out + jnp.where(game.turn.node == Node.COVER, self._covering, 0)

    def _idle_value(self, params: Params, game: GameState, player: Array) -> tuple[Array, Array]:
        """The value of the current position, and the value that each booster adds."""
        adds = value.booster_value(self._t, view(params), game, player)
        return self._worth_once(params, game, player), adds

    def _follow(
        self, state: EnvState, player: Array, before: Array, last: Array, first_action: Array,
        depth: Array,
        guess: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Whether a candidate continues, and with which sub-decision or newly possible action."""
        node, mask = state.game.turn.node, state.legal_action_mask
        over = state.terminated | state.truncated
        mine = (state.current_player == player) & ~over & (depth < DEPTH)
        inside = mine & jnp.stack([node == x for x in OPEN_NODES]).any()
        free = jnp.asarray(self._free)
        converted = mine & (node == Node.TURN) & free[last]
        new = mask & ~before & ~free
        enabled = converted & new.any()
        converts_again = converted & ~new.any() & mask[first_action] & (depth <= REPEATS)
        options = jnp.where(enabled, new, mask)
        then = jnp.argmax(jnp.where(options, guess, WORST)).astype(jnp.int32)
        return inside | enabled | converts_again, jnp.where(converts_again, first_action, then)


def _refill(shortlist: Shortlist, slots: Slots) -> Slots:
    """Free slots take the next candidates."""
    next_items = take(~slots.live, slots.following, shortlist.total)
    item = shortlist.items[next_items.job]
    row = item // shortlist.actions.shape[1]
    return Slots(
        next_items.following,
        slots.live | next_items.takes,
        next_items.put(slots.item, item),
        next_items.put(slots.state, jax.tree.map(lambda x: x[row], shortlist.states)),
        next_items.put(slots.action, shortlist.actions.reshape(-1)[item]),
        next_items.put(slots.depth, 0),
        slots.out,
    )


def _verb_mask(space: ActionSpace, *verbs: str) -> np.ndarray:
    """(A,) bool, the actions of these verbs."""
    out = np.zeros(space.num_actions, bool)
    for verb in verbs:
        size = len(space.ids[verb]) if verb in space.ids else space.geometry.num_cells
        out[space.first[verb] : space.first[verb] + size] = True
    return out

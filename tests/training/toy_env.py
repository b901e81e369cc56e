"""A tiny game with the face of `gaia_jax`, so that the trainer is tested without the rules.

Seven hexes show what a mine on them is worth; four players decide in an irregular order drawn at
the start. `mine` pays its value, `project` half of it, `upgrade` and `pick` nothing, `give` pays
the next seat. So a policy that reads the cells earns far more than a random one.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

RING = [(0, 0), (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]
CELLS = sorted(RING)
C, OTHERS, LONGEST, SOURCES = len(CELLS), 5, 14, 3
GIVE = 4 * C
NEIGHBORS = np.array(
    [
        [CELLS.index((q + a, r + b)) if (q + a, r + b) in CELLS else -1 for a, b in RING[1:]]
        for q, r in CELLS
    ]
)


@flax.struct.dataclass
class Players:
    vp: Array  # (4,) int16
    vp_source: Array  # (4, SOURCES) int16
    formed: Array  # (4,) int8, how often the seat took `pick`


@flax.struct.dataclass
class Setup:
    faction: Array  # (4,) int8
    turn_order: Array  # (4,) int8
    artifacts: Array  # (0,) int8: as in the base game, which has none


@flax.struct.dataclass
class Game:
    players: Players
    setup: Setup
    clock: Array  # () int16
    length: Array  # () int16
    decider: Array  # (LONGEST + 1,) int8
    worth: Array  # (LONGEST + 1, C) int8, 0..9
    legal: Array  # (LONGEST + 1, A) bool


@flax.struct.dataclass
class State:
    current_player: Array
    legal_action_mask: Array
    rewards: Array
    terminated: Array
    truncated: Array
    game: Game

    @property
    def step_count(self) -> Array:
        return self.game.clock.astype(jnp.int32)


@flax.struct.dataclass
class Observation:
    cells: Array  # (C, 2) int8
    players: Array  # (4, 2) int16
    globals: Array  # (2,) int16


class ToyEnv:
    num_players = 4
    num_actions = 4 * C + OTHERS
    action_planes = ("mine", "project", "upgrade", "pick")
    ruleset = SimpleNamespace(
        geometry=SimpleNamespace(neighbors=NEIGHBORS),
        ids={"faction": tuple("ABCDEF"), "vp_source": ("mine", "project", "gift")},
    )

    def __init__(self, env_id: str, reward: str, version: str = "1.0"):
        self.id, self.reward, self.version = env_id, reward, version

    def init(self, key: Array) -> State:
        # One draw for everything: each call of jax.random compiles a hash of its own.
        rows, width = LONGEST + 1, self.num_actions
        bits = jax.random.bits(key, (rows, width + C + 1), jnp.uint16).astype(jnp.int32)
        spin = bits[0, 0]
        game = Game(
            players=Players(
                jnp.full(4, 10, jnp.int16),
                jnp.zeros((4, SOURCES), jnp.int16),
                jnp.zeros(4, jnp.int8),
            ),
            setup=Setup(
                faction=((spin // 16 + jnp.arange(4)) % 6).astype(jnp.int8),
                turn_order=((spin // 4 + jnp.where(spin & 1, 1, 3) * jnp.arange(4)) % 4).astype(
                    jnp.int8
                ),
                artifacts=jnp.zeros(0, jnp.int8),
            ),
            clock=jnp.int16(0),
            length=(8 + bits[1, 0] % (rows - 8)).astype(jnp.int16),
            decider=(bits[:, -1] % 4).astype(jnp.int8),
            worth=(bits[:, width:-1] % 10).astype(jnp.int8),
            legal=(bits[:, :width] % 128 < 64).at[:, GIVE].set(True),
        )
        nothing = jnp.zeros(4)
        return State(
            game.decider[0].astype(jnp.int32), game.legal[0], nothing, jnp.bool_(False),
            jnp.bool_(False), game,
        )  # fmt: skip

    def step(self, state: State, action: Array) -> State:
        game, player = state.game, state.current_player
        over = state.terminated | state.truncated
        legal = state.legal_action_mask[action]
        plane, cell = action // C, action % C
        worth = game.worth[game.clock, cell].astype(jnp.int16)
        gain = jnp.where(plane == 0, worth, jnp.where(plane == 1, worth // 2, 0))
        gift = jnp.where(action == GIVE, 1, 0)
        points = jnp.zeros((4, SOURCES), jnp.int16)
        points = points.at[player, jnp.minimum(plane, 1)].add(gain)
        points = points.at[(player + 1) % 4, 2].add(gift.astype(jnp.int16))
        points = jnp.where(over | ~legal, 0, points)
        picks = (jnp.arange(4) == player) & (plane == 3) & ~over & legal
        clock = game.clock + jnp.where(over, 0, 1).astype(jnp.int16)
        game = game.replace(
            players=Players(
                game.players.vp + points.sum(1, dtype=jnp.int16),
                game.players.vp_source + points,
                game.players.formed + picks,
            ),
            clock=clock,
        )
        ended = over | ~legal | (clock >= game.length)
        penalty = jnp.where(~over & ~legal, -1.0, 0.0) * (jnp.arange(4) == player)
        return state.replace(  # an `AutoState` stays one, as in the game itself
            current_player=jnp.where(ended, player, game.decider[clock]).astype(jnp.int32),
            legal_action_mask=game.legal[clock] | ended,
            rewards=points.sum(1) / 100 + penalty,
            terminated=ended,
            truncated=jnp.bool_(False),
            game=game,
        )

    def observe(self, state: State, player: Array) -> Observation:
        game = state.game
        seats = self.seats(state, player)
        own = seats == player
        legal = state.legal_action_mask[:C]
        return Observation(
            jnp.stack([game.worth[game.clock], legal.astype(jnp.int8)], axis=-1),
            jnp.stack([game.players.vp[seats], own.astype(jnp.int16)], axis=-1),
            jnp.stack([game.clock, game.length]),
        )

    def seats(self, state: State, player: Array) -> Array:
        order = state.game.setup.turn_order
        first = jnp.argmax(order == player)
        return order[(first + jnp.arange(4)) % 4].astype(jnp.int32)


@flax.struct.dataclass
class AutoState(State):
    final_vp: Array  # (4,) int16, of the game that ended
    final_source: Array  # (4, SOURCES) int16


class Auto:
    """A new game where one ended; `rewards`, `terminated`, `final_vp` tell of the old one."""

    def __init__(self, env: ToyEnv):
        self.env = env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def init(self, key: Array) -> AutoState:
        none = jnp.zeros((4, SOURCES), jnp.int16)
        return _auto(self.env.init(key), jnp.zeros(4, jnp.int16), none)

    def step(self, state: AutoState, action: Array, key: Array) -> AutoState:
        # The marks of the previous game do not stop the new one.
        state = state.replace(terminated=jnp.bool_(False), truncated=jnp.bool_(False))
        after = self.env.step(state, action)
        ended = after.terminated | after.truncated
        new = _auto(self.env.init(key), state.final_vp, state.final_source)
        report = new.replace(
            rewards=after.rewards, terminated=after.terminated, truncated=after.truncated
        )
        out = jax.tree.map(lambda a, b: jnp.where(ended, a, b), report, after)
        players = after.game.players
        vp, source = (jnp.where(ended, x, 0) for x in (players.vp, players.vp_source))
        return _auto(out, vp.astype(jnp.int16), source.astype(jnp.int16))


def _auto(state: State, final_vp: Array, final_source: Array) -> AutoState:
    fields = {name: getattr(state, name) for name in State.__dataclass_fields__}
    return AutoState(final_vp=final_vp, final_source=final_source, **fields)


def make(env_id: str, reward: str = "vp") -> ToyEnv:
    if env_id not in ("toy", "toy_two"):
        raise ValueError(f"unknown environment {env_id!r}; the known ones are toy, toy_two")
    return ToyEnv(env_id, reward)


def auto_reset(env: ToyEnv) -> Auto:
    return Auto(env)

"""A ruleset with its compiled functions for one game at a time; results are on the host."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from gaia_jax import actions, replay
from gaia_jax.env import State
from gaia_jax.render import Effects, Table, effects, say, say_at
from gaia_jax.render.automa_turns import automa_turns, compile_turns
from gaia_jax.render.automa_words import turn_json
from gaia_jax.render.table import Counts, count
from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.state import Setup
from gaia_jax.xla.fast_compile import jit_fast_compile
from gaia_jax.xla.stored_programs import env_jit

from ..system.batched import in_batches
from .background import Compilation
from .compile_process import PRICES, RULES

BATCH = 16  # actions of a position per call; the last call is padded


class Rules:
    """One environment and its compiled functions."""

    def __init__(self, id: str, players: int = 4):
        self.env = gaia_jax.make(id, players=players)
        self.init_from, self.step = replay.compiled(self.env)
        self._draws = {self.env.automa: env_jit(self.env, "draw_setup")}  # by level
        self._deal_lock = threading.Lock()
        self._results_of = jit_fast_compile(partial(_take_actions, self.env))
        game = (id, str(players))
        text = "the rules are being compiled and stored for later starts, usually within 30 seconds"
        self._moves = Compilation(text, (*game, RULES))
        self._prices = Compilation("prices and effects are being compiled", (*game, PRICES))

    @property
    def ready(self) -> bool:
        """Whether actions can be taken without waiting."""
        return self._moves.is_ready

    @property
    def has_failed(self) -> bool:
        """Whether the latest attempt to compile `after` failed."""
        return bool(self._moves.error)

    @property
    def prices_ready(self) -> bool:
        """Whether the effects of untaken actions can be computed."""
        return self._prices.is_ready

    def prepare(self) -> None:
        """Compile `after`. A game can be dealt and shown before."""
        self._moves.make(self._take_one)

    def prepare_prices(self) -> None:
        """Compile the computation of the effects of untaken actions."""
        self._prices.make(lambda: self.effects_of_all(self.start(self.draw(0))))

    def _take_one(self) -> None:
        state = self.start(self.draw(0))  # on the host: one on a device is another program
        self.after(state, int(state.legal_action_mask.argmax()))
        if self.solo:
            compile_turns(self.env.ruleset, state)

    def progress(self) -> list[tuple[str, float | None]]:
        """Lines of progress and their seconds, of what is being compiled.

        Actions wait for the rules, which may wait for other programs; then there are no seconds.
        Errors come last; the next `AllRules.compile` tries again.
        """
        programs = (self._moves, self._prices)
        lines = [line for program in programs for line in program.progress()]
        if not (lines or self.ready or self._moves.error):
            lines = [(self._moves.text, None)]
        errors = [program.error for program in programs if program.error]
        return [*lines, *((f"compiling failed: {error}", None) for error in errors)]

    def effects_of_all(self, state: State) -> dict[int, Effects]:
        """Costs and gains of each legal action, by taking them all on copies of the state.

        Args:
            state: one state on the host, of a running game.
        Returns:
            By action. Compiles at the first call unless `prepare_prices` has.
        """
        before = self.table(state)
        return {
            action: effects(before, table) for action, table in self.tables_after(state).items()
        }

    def tables_after(self, state: State) -> dict[int, Table]:
        """The table after each legal action of a state on the host; compiles as prices do."""
        legal = np.asarray(state.legal_action_mask).nonzero()[0].tolist()
        return dict(zip(legal, self.some_tables_after(state, legal), strict=True))

    def own_table_after(self, state: State, action: int) -> Table:
        """The table after one legal action, before any turns of the Automa."""
        if self.solo:
            return self.tables_after(state)[action]
        return self.table(self.after(state, action))

    def some_tables_after(self, state: State, actions: list[int]) -> list[Table]:
        """The table after each of the actions."""
        out: list[Table] = []
        for batch in in_batches(np.array(actions, np.int32), BATCH):
            results = jax.device_get(self._results_of(state, batch))
            for i in range(min(BATCH, len(actions) - len(out))):
                after, counted = jax.tree.map(lambda x, i=i: x[i], results)
                out.append(Table(after, self.env.ruleset, counted))
        return out

    @property
    def solo(self) -> bool:
        """Whether the Automa is the opponent."""
        return self.env.ruleset.automa is not None

    def draw(self, seed: int, level: str | None = None) -> Setup:
        """The set-up of a seed. The first call compiles for a second or two.

        Args:
            level: of the Automa, one of the ruleset's levels; None takes the default.
        """
        with self._deal_lock:
            if level not in self._draws:
                env = dataclasses.replace(self.env, automa=level)
                self._draws[level] = env_jit(env, "draw_setup")
            setup: Setup = self._draws[level](jax.random.key(seed))
            return setup

    def automa_turns(self, before: State, after: State) -> list[dict[str, Any]]:
        """The Automa's turns between two states, card by card; [] in other games."""
        ruleset = self.env.ruleset
        return [turn_json(turn, ruleset) for turn in automa_turns(before, after, ruleset)]

    def start(self, setup: Setup) -> State:
        """The first state, on the host. The first call compiles for seconds."""
        with self._deal_lock:
            state: State = jax.device_get(self.init_from(setup))
            return state

    def read_setup(self, data: Mapping[str, object]) -> Setup:
        """The set-up that JSON describes; ValueError if it is broken."""
        return setup_from_json(data, self.env.ruleset)

    def after(self, state: State, action: int) -> State:
        """The next state, on the host."""
        next_state: State = jax.device_get(self.step(state, action))
        return next_state

    def legal(self, state: State) -> list[str]:
        """The texts of the legal actions; none at the end of a game."""
        if state.terminated or state.truncated:
            return []
        texts = self.env.ruleset.actions.texts
        return [texts[i] for i in state.legal_action_mask.nonzero()[0]]

    def index(self, text: str) -> int:
        """The index of an action text; ValueError if it is unknown."""
        return actions.from_text(self.env.ruleset, text)

    def text(self, action: int) -> str:
        """The text of an action."""
        action_text: str = self.env.ruleset.actions.texts[action]
        return action_text

    def action_words(self, text: str, table: Table | None = None) -> str:
        """An action in words; given the table before it, also the piece at its place."""
        return say_at(table, text) if table else say(self.env.ruleset, text)

    def table(self, state: State) -> Table:
        """The state, read."""
        return Table(state, self.env.ruleset)


def _take_actions(env: gaia_jax.GaiaEnv, state: State, actions: jax.Array) -> tuple[State, Counts]:
    """[BATCH] states after the actions, without masks, and the result of `render.table.count`.

    In a solo game before the Automa's turns, whose cards are hidden from the human.

    Args:
        state: one; actions: (BATCH,) int32.
    """
    own, state = _without_automa(env, state)
    copies = jax.tree.map(lambda x: jnp.broadcast_to(x, (BATCH, *jnp.shape(x))), state)
    after = env_jit(own, "decide", batched=True)(copies, actions)
    return after, jax.vmap(partial(count, env.ruleset))(after.game)


def _without_automa(env: gaia_jax.GaiaEnv, state: State) -> tuple[gaia_jax.GaiaEnv, State]:
    """A solo game as one of two players, where the Automa's turns are decisions; others as is."""
    if not env.ruleset.automa:
        return env, state
    own = gaia_jax.GaiaEnv(dataclasses.replace(env.ruleset, automa=None))
    setup = state.game.setup.replace(automa=None)
    game = state.game.replace(automa=None, setup=setup)
    return own, state.replace(game=game, rewards=jnp.zeros(own.num_players, jnp.float32))

"""Many games of the engine in one batch; each is a script that yields its next action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.importers import position
from gaia_jax.importers.position import Script
from gaia_jax.replay import laid
from gaia_jax.rules import seat as seats
from gaia_jax.rules import upgrade
from gaia_jax.state import NODES
from tests.referee.engine import compiled


class Table:
    """`batch` games stepped together, their states on the host."""

    def __init__(self, ruleset: str, batch: int, players: int = 4) -> None:
        self.env, self._start, self.step = compiled(ruleset, players)
        self.batch, self.players = batch, players
        self._with_mask = jax.jit(jax.vmap(self.env.with_mask))
        space = self.env.ruleset.actions
        self.texts, self.index = space.texts, space.by_text
        self.pieces = jax.jit(self._pieces)
        self.states: Any = None

    def _pieces(self, game: Any, cell: Any) -> Any:
        rules, player = self.env.ruleset, game.turn.player.astype(jnp.int32)
        return upgrade.pieces_for(seats.Seat.of(rules, game, player), cell)

    def read(self, setup: dict[str, Any]) -> Any:
        """A set-up; also one of the maps that people laid, where equal types may touch (A23)."""
        return laid(setup, self.env.ruleset)

    def play(
        self,
        setups: list[Any],
        scripts: Callable[[int], Script],
        maps: dict[int, dict[tuple[int, int], str]] | None = None,
    ) -> None:
        """Play one script for each set-up to its end.

        Args:
            setups: what `read` gave; scripts: gives the script of a lane; it reads and writes
                `row(lane)`; maps: by lane, the contents of the cells where they differ from
                the tiles of the set-up.
        """
        read = setups + [setups[0]] * (self.batch - len(setups))
        states = self._start(jax.tree.map(lambda *x: jnp.stack(x), *read))
        self.states = jax.tree.map(np.array, states)
        if maps:
            for lane, planets in maps.items():
                self._lay(lane, planets)
            self.states = jax.tree.map(np.array, self._with_mask(self.states))
        running = {lane: scripts(lane) for lane in range(len(setups))}
        while running:
            actions = np.zeros(self.batch, np.int32)
            for lane, script in list(running.items()):
                try:
                    actions[lane] = next(script)
                except StopIteration:
                    del running[lane]
            if running:
                self.states = jax.tree.map(np.array, self.step(self.states, actions))

    def _lay(self, lane: int, planets: dict[tuple[int, int], str]) -> None:
        """Put these planets on the board of one game, before its first decision."""
        names = self.env.ruleset.ids["planet"]
        for place, (q, r) in enumerate(self.env.ruleset.geometry.cells.tolist()):
            self.states.game.board.planet[lane, place] = names.index(planets[q, r])

    def row(self, lane: int) -> Any:
        """The state of one game, a copy."""
        return jax.tree.map(lambda leaf: leaf[lane].copy(), self.states)

    def set_row(self, lane: int, state: Any) -> None:
        """Replace the state of one game."""

        def write(leaf: np.ndarray, value: np.ndarray) -> None:
            leaf[lane] = value

        jax.tree.map(write, self.states, state)


class Position(position.Position):
    """One game of a table: what a script asks of it."""

    def __init__(self, table: Table, lane: int) -> None:
        self.table, self.lane = table, lane
        self.rules = table.env.ruleset
        self.written = False  # the state was changed by hand since the last decision

    @property
    def state(self) -> Any:
        return self.table.row(self.lane)

    def set_state(self, state: Any) -> None:
        """Replace the state; its legal actions are those of the one before until the next step."""
        self.written = True
        self.table.set_row(self.lane, state)

    @property
    def node(self) -> str:
        return NODES[int(self.table.states.game.turn.node[self.lane])]

    @property
    def player(self) -> int:
        return int(self.table.states.current_player[self.lane])

    @property
    def over(self) -> bool:
        return bool(self.table.states.terminated[self.lane])

    @property
    def mask(self) -> np.ndarray:
        return np.asarray(self.table.states.legal_action_mask[self.lane])

    def pieces(self, text: str) -> list[str]:
        """What an `upgrade` of the decider may place there."""
        cell = int(self.rules.actions.cell[self.table.index[text]])
        allowed = np.asarray(self.table.pieces(self.state.game, cell))
        return [self.rules.ids["structure"][i] for i in np.flatnonzero(allowed)]

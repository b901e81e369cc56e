"""A ruleset ready to play: compiled steps of one game at a time, results on the host."""

from __future__ import annotations

import threading
from typing import Any

import jax

import gaia_jax
from gaia_jax import actions, replay
from gaia_jax.render import Table, names, picture, say
from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.xla.program_cache import jit


class Rules:
    """One environment and its compiled functions. Made at its first use."""

    def __init__(self, id: str, players: int = 4):
        self.env = gaia_jax.make(id, players=players)
        self.init_from, self.step = replay.compiled(self.env)
        self._draw = jit(self.env.draw_setup)
        self._lock = threading.Lock()
        self.ready = False

    def prepare(self) -> None:
        """Compile all there is; the first game would otherwise wait for it."""
        with self._lock:
            if not self.ready:
                state = self.init_from(self.draw(0))
                self.step(state, int(state.legal_action_mask.argmax()))
                self.ready = True

    def draw(self, seed: int) -> Any:
        """The set-up of a seed."""
        return self._draw(jax.random.key(seed))

    def start(self, setup: Any) -> Any:
        """The first state, on the host."""
        self.prepare()
        return jax.device_get(self.init_from(setup))

    def read_setup(self, data: Any) -> Any:
        """The set-up that JSON describes; ValueError if it is broken."""
        return setup_from_json(data, self.env.ruleset)

    def after(self, state: Any, action: int) -> Any:
        """The next state, on the host."""
        return jax.device_get(self.step(state, action))

    def legal(self, state: Any) -> list[str]:
        """The texts of the legal actions; none at the end of a game."""
        if state.terminated or state.truncated:
            return []
        texts = self.env.ruleset.actions.texts
        return [texts[i] for i in state.legal_action_mask.nonzero()[0]]

    def index(self, text: str) -> int:
        """The index of an action text; ValueError if it is unknown."""
        return actions.from_text(self.env.ruleset, text)

    def say(self, text: str) -> str:
        """An action in words."""
        return say(self.env.ruleset, text)

    def table(self, state: Any) -> Table:
        """The state, read."""
        return Table(state, self.env.ruleset)


__all__ = ["Rules", "Table", "names", "picture"]

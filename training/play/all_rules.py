"""The rules of all games of a server."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gaia_jax.ruleset import RULESETS

from .compiled_rules import Rules
from .game import Refused


class AllRules:
    """The rules of every ruleset and number of players, each made and compiled once."""

    def __init__(self, on_change: Callable[[], object]):
        """`on_change`: called after each compiled program, from any thread."""
        self._rules = {(id, 4): Rules(id) for id in RULESETS}
        self._compiled: set[str] = set()
        self._lock, self._on_change = threading.Lock(), on_change

    def get(self, id: object, players: int) -> Rules:
        """The rules for a number of players.

        Raises:
            Refused: an unknown ruleset, or a number that it does not play.
        """
        if not isinstance(id, str) or id not in RULESETS:
            raise Refused(f"unknown ruleset {id!r}; known are {', '.join(RULESETS)}")
        with self._lock:
            if (id, players) not in self._rules:
                try:
                    self._rules[id, players] = Rules(id, players)
                except ValueError as error:
                    raise Refused(str(error)) from error
            return self._rules[id, players]

    def compile(self, rules: Rules) -> None:
        """Compile `step`, then the prices of actions, once, in a thread."""
        with self._lock:
            if rules.env.ruleset.name in self._compiled:
                return
            self._compiled.add(rules.env.ruleset.name)

        def run() -> None:
            try:
                rules.prepare()
                self._on_change()
                rules.prepare_prices()
            finally:
                self._on_change()

        threading.Thread(target=run, name="compile rules", daemon=True).start()

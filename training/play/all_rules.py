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
        # What is left to compile of the rules that were asked for, the latest last.
        self._steps: dict[Rules, list[Callable[[], None]]] = {}
        self._failed: list[tuple[Rules, Callable[[], None]]] = []  # until they are asked for again
        self._is_compiling = False
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
        """Compile `step`, then the prices of actions, in a thread; the latest rules first.

        A player who chooses a game at the start form passes through others. What failed is tried
        again.
        """
        with self._lock:
            steps = self._steps.pop(rules, [rules.prepare_prices, rules.prepare])
            failed_steps = [step for owner, step in reversed(self._failed) if owner is rules]
            self._failed = [failed for failed in self._failed if failed[0] is not rules]
            self._steps[rules] = steps + failed_steps
            if not self._is_compiling:
                self._start()

    def compile_first(self, rules: Rules) -> None:
        """Compile the rules of a new server, unless a page has asked for a game before."""
        if not self._steps:
            self.compile(rules)

    def _start(self) -> None:
        """Compile the next step, if any is left, in a thread."""
        open_steps = ((r, steps.pop()) for r, steps in reversed(self._steps.items()) if steps)
        step = next(open_steps, None)
        self._is_compiling = step is not None
        if step:
            threading.Thread(
                target=self._take, args=step, name="compile rules", daemon=True
            ).start()

    def _take(self, rules: Rules, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception:
            with self._lock:
                self._failed.append((rules, step))
            raise
        finally:
            with self._lock:
                self._start()
            self._on_change()

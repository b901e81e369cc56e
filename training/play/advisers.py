"""The agents that give hints, reviews and advice, each with one program of playouts for all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..agents import make_agent
from ..analysis import default_agent
from ..analysis.playouts import Playouts, shared_playouts
from .background import Compilation
from .compile_process import PLAYOUTS
from .compiled_rules import Rules

COMPILING_PLAYOUTS = "getting ready to play games out, once"


class Adviser:
    """The playouts of one agent for one ruleset and number of players."""

    def __init__(self, rules: Rules, name: str):
        self.rules, self.name = rules, name
        self.agent = make_agent(name, rules.env)
        self.busy = threading.Lock()  # a cancelled hint ends first
        self._num_users, self._count_lock = 0, threading.Lock()
        self.runner: Playouts = shared_playouts(rules.env, self.agent)
        task = (rules.env.id, str(rules.env.num_players), PLAYOUTS, name)
        self._compilation = Compilation(COMPILING_PLAYOUTS, task, self._release)

    def prepare(self, report: Callable[[str], object]) -> None:
        """Compile the playouts at the first call.

        Args:
            report: called with a line of progress before.
        """
        if not self._compilation.is_ready:
            report(COMPILING_PLAYOUTS)
            state = self.rules.start(self.rules.draw(0))
            self._compilation.make(lambda: self.runner.prepare(state))

    @contextmanager
    def in_use(self, report: Callable[[str], object]) -> Iterator[None]:
        """Compile the playouts, `prepare`, and keep them loaded in the body."""
        self._count_users(1)
        try:
            self.prepare(report)
            yield
        finally:
            self._count_users(-1)

    def _count_users(self, change: int) -> None:
        with self._count_lock:
            self._num_users += change

    def _release(self) -> bool:
        with self._count_lock:
            if is_idle := not self._num_users:
                self.runner.release()
            return is_idle


class Advisers:
    """The advisers, each made at its first use."""

    def __init__(self) -> None:
        self._advisers: dict[str, Adviser] = {}  # by name of the ruleset
        self._lock = threading.Lock()

    def get(self, rules: Rules) -> Adviser:
        """The adviser of a ruleset that has one, `refusal`."""
        with self._lock:
            key = rules.env.ruleset.name
            if key not in self._advisers:
                self._advisers[key] = Adviser(rules, adviser_name(rules))
            return self._advisers[key]


def adviser_name(rules: Rules) -> str:
    """The shipped agent that advises on games with these rules; "" if there is none."""
    return default_agent.adviser_for(rules.env.id, rules.env.num_players)


def refusal(rules: Rules) -> str:
    """The reason why there is no advice on such games; "" if there is."""
    return default_agent.refusal(rules.env.id, rules.env.num_players)

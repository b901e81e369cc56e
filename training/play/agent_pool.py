"""The agents that may take a seat, each compiled in the background for one game at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.cli.command_line import UserError
from gaia_jax.ruleset import VARIANTS

from .. import zoo
from ..agents import Agent, make_agent
from ..agents.base import Policy
from ..agents.levels import LEVELS, Level
from ..agents.plays import plays
from ..agents.registry import REGISTRY
from ..agents.search import SUFFIX
from ..analysis.explain import Explainer
from ..system import compile_times
from . import catalogue
from .compiled_rules import Rules

SIMULATIONS = 32  # of the search that is offered on top of each trained agent


# What is compiled of an agent, each at its first use: its decisions, its policy and values, and the
# table of a search.
SEAT, POLICY, SEARCH = "seat", "policy", "search"
CALLED = {SEAT: "{}", POLICY: "the analysis by {}", SEARCH: "the search of {}"}


@dataclass
class Ready:
    """A part of an agent on its way to the table."""

    name: str
    part: str = SEAT
    status: str = "waiting"  # waiting, compiling, ready, failed
    message: str = ""
    seconds: float = 0.0
    began: float = 0.0
    before: str = ""  # how long it took before
    act: Callable[[Any, int], int] | None = None
    policy: Callable[[Any], tuple[np.ndarray, np.ndarray]] | None = None  # None: no policy to show
    explainer: Explainer | None = None

    def progress(self) -> tuple[str, float | None]:
        """A line of progress, and the seconds elapsed while the part is running."""
        called = CALLED[self.part].format(self.name)
        if self.status == "compiling":
            return f"{called} is being compiled{self.before}", time.monotonic() - self.began
        if self.status == "ready":
            return f"{called} is ready ({self.seconds:.0f} s)", None
        if self.status == "failed":
            return f"{called}: {self.message}", None
        return f"{called} waits to be compiled", None

    def said(self) -> str:
        """The line of progress with its seconds."""
        line, seconds = self.progress()
        return line if seconds is None else f"{line}, {seconds:.0f} s"

    @property
    def under_way(self) -> bool:
        """Whether it will be ready, or has failed, by waiting."""
        return self.status in ("waiting", "compiling")


class AgentPool:
    """Agents by name and ruleset. Only names that the command line or the folders offer."""

    def __init__(self, names: Sequence[str] = (), runs: Path = Path("runs")):
        """
        Args:
            names: more agents than the built-in ones and those found in `runs`.
            runs: where checkpoints of trainings lie.
        """
        learnt = [name for name in (*zoo.names(), *_runs(runs)) if name not in names]
        searching = [f"{name}{SUFFIX}{SIMULATIONS}" for name in learnt]
        levels = [level.agent for level in LEVELS]
        self.names = list(dict.fromkeys((*levels, *REGISTRY, *learnt, *searching, *names)))
        self._plays = {name: plays(name) for name in self.names}
        self._levels = {name: _level(name) for name in self.names}
        self._ready: dict[tuple[str, str, str], Ready] = {}
        self._queue: list[tuple[Rules, Ready]] = []
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="compile", daemon=True)
        self._thread.start()
        self.on_change: Callable[[], None] = lambda: None

    def get(self, name: str, rules: Rules, part: str = SEAT) -> Ready:
        """A part of the agent, sent to be compiled at its first mention."""
        key = (name, rules.env.ruleset.name, part)
        with self._wake:
            if key not in self._ready:
                self._ready[key] = Ready(name, part)
                self._queue.append((rules, self._ready[key]))
                self._wake.notify()
            return self._ready[key]

    def hurry(self, names: Sequence[str], rules: Rules) -> None:
        """These are compiled before all others that wait."""
        agents = [self.get(name, rules) for name in dict.fromkeys(names)]
        with self._wake:
            self._queue.sort(key=lambda entry: entry[1] not in agents)

    def refusal(self, name: str, ruleset: str, players: int) -> str:
        """Why an agent cannot sit at such a table; "" where it can."""
        why = self._plays[name].refusal(ruleset, players)
        return f"{name} {why}" if why else ""

    def fitting(self, ruleset: str, players: int) -> list[str]:
        """The agents that can sit at such a table."""
        return [name for name in self.names if not self.refusal(name, ruleset, players)]

    def _games(self, name: str) -> dict[str, list[int]]:
        """By ruleset the numbers of players that an agent plays with."""
        games_by_ruleset: dict[str, list[int]] = {}
        for id, players in sorted(VARIANTS):
            if not self.refusal(name, id, players):
                games_by_ruleset.setdefault(id, []).append(players)
        return games_by_ruleset

    def known(self, ruleset: str) -> list[dict[str, Any]]:
        """All agents with their progress for one ruleset, and what games they play."""
        agents = {name: self._ready.get((name, ruleset, SEAT)) for name in self.names}
        return [
            {
                "name": name,
                "level": self._levels[name].name,
                "vp": self._levels[name].vp,
                "about": self._levels[name].about,
                "plays": self._games(name),
                "status": ready.status if ready else "",
                "said": ready.said() if ready else "",
            }
            for name, ready in agents.items()
        ]

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._queue:
                    self._wake.wait()
                rules, ready = self._queue.pop(0)
            name = f"{CALLED[ready.part].format(ready.name)} for {rules.env.ruleset.name}"
            ready.before = compile_times.longest_note(name)
            ready.began, ready.status = time.monotonic(), "compiling"
            self.on_change()
            try:
                _compile(ready, rules)
                ready.status = "ready"
                compile_times.note(name, time.monotonic() - ready.began)
            except Exception as error:  # an agent's own code may raise anything
                text = str(error).splitlines() or [""]
                plain = isinstance(error, UserError)
                ready.message = text[0] if plain else f"{type(error).__name__}: {text[0]}"
                ready.status = "failed"
            ready.seconds = time.monotonic() - ready.began
            self.on_change()


def _level(name: str) -> Level:
    try:
        return catalogue.level(name)
    except UserError:  # its compiling will say what is wrong
        return Level("", name, "")


def _runs(folder: Path) -> list[str]:
    """The trainings in a folder that have a checkpoint."""
    if not folder.is_dir():
        return []
    run_folders = (path for path in sorted(folder.iterdir()) if (path / "checkpoints").is_dir())
    return [path.as_posix() for path in run_folders]


def _compile(ready: Ready, rules: Rules) -> None:
    """Compile a part of an agent for one game at a time."""
    start = rules.start(rules.draw(0))
    if ready.part == SEARCH:
        explainer = Explainer(rules.env, ready.name, 1)
        explainer.search(jax.tree.map(lambda x: np.asarray(x)[None], start))
        ready.explainer = explainer
        return
    agent = make_agent(ready.name, rules.env)
    if ready.part == SEAT:
        ready.act = _decisions(agent)
        ready.act(start, 0)
    elif agent.policy is not None:
        ready.policy = _policy(agent, agent.policy)
        ready.policy(start)


def _decisions(agent: Agent) -> Callable[[Any, int], int]:
    """How it decides: a state and a seed -> an action."""

    def decide(params: Any, state: Any, key: Any) -> Any:
        batch = jax.tree.map(lambda x: x[None], state)
        return agent.act(params, batch, batch.legal_action_mask, key)[0]

    compiled = jax.jit(decide)
    return lambda state, seed: int(compiled(agent.params, state, jax.random.key(seed)))


def _policy(agent: Agent, policy: Policy) -> Callable[[Any], tuple[np.ndarray, np.ndarray]]:
    """What it sees: a state -> (A,) chances of the actions, (P,) VP still to come by player.

    The chances are the policy's own, at temperature 1, whatever the agent plays at.
    """

    def evaluate(params: Any, state: Any) -> Any:
        batch = jax.tree.map(lambda x: x[None], state)
        logits, values = policy.evaluate(params, batch)
        chances = jax.nn.softmax(jnp.where(batch.legal_action_mask, logits, -jnp.inf))
        return chances[0], values[0] / policy.vp

    compiled = jax.jit(evaluate)
    return lambda state: jax.device_get(compiled(agent.params, state))

"""The agents that may take a seat, each compiled in the background for one game at a time."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
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
from ..agents.levels import LEVELS, Level, level_in
from ..agents.registry import REGISTRY, plays
from ..agents.search import SUFFIX
from ..analysis.search_report import Explainer
from ..run.folder import RUNS
from ..system.batched import one_row
from . import catalogue
from .background import Compilation, compiler, error_text
from .compiled_rules import Rules
from .game import HUMAN, Refused
from .languages import server_text, translated

SIMULATIONS = 32  # of the search that is offered on top of each trained agent
IDLE_S = 5.0  # seconds after which a program may be released


# Programs of an agent, each compiled at its first use: decisions, policy and values, a search.
SEAT, POLICY, SEARCH = "seat", "policy", "search"
LABELS = {SEAT: "{}", POLICY: "the analysis by {}", SEARCH: "the search of {}"}


@dataclass
class AgentProgram:
    """A program of an agent, and its compilation."""

    name: str
    part: str = SEAT
    status: str = "waiting"  # waiting, compiling, ready, failed
    message: str = ""
    compilation: Compilation | None = None
    used_at: float = 0.0  # when somebody asked for it
    act: Callable[[Any, int], int] | None = None
    policy: Callable[[Any], tuple[np.ndarray, np.ndarray]] | None = None  # None: no policy to show
    explainer: Explainer | None = None

    def progress(self) -> tuple[str, float | None]:
        """A line of progress, and the elapsed seconds while it is being compiled."""
        if self.compilation and (compiling := self.compilation.progress()):
            return compiling[0]
        label = LABELS[self.part].format(self.name)
        if self.status == "ready":
            elapsed_s = self.compilation.elapsed_s if self.compilation else 0.0
            return f"{label} is ready ({elapsed_s:.0f} s)", None
        if self.status == "failed":
            return f"{label}: {self.message}", None
        return f"{label} waits to be compiled", None

    def status_line(self) -> str:
        """The line of progress with its seconds."""
        line, seconds = self.progress()
        text = translated(line)
        return text if seconds is None else server_text("in-seconds", text=text, n=round(seconds))

    @property
    def under_way(self) -> bool:
        """Whether it is not compiled yet."""
        return self.status in ("waiting", "compiling")


class AgentPool:
    """Agents by name and ruleset: built-in, shipped, named on the command line, or trained."""

    def __init__(self, names: Sequence[str] = ()):
        """
        Args:
            names: further agents.
        """
        learnt = [name for name in (*zoo.names(), *_runs(RUNS)) if name not in names]
        searching = [f"{name}{SUFFIX}{SIMULATIONS}" for name in learnt]
        levels = [level.agent for level in LEVELS]
        self.names = list(dict.fromkeys((*levels, *REGISTRY, *learnt, *searching, *names)))
        self._plays = {name: plays(name) for name in self.names}
        self._levels = {name: _level(name) for name in self.names}
        self._programs: dict[tuple[str, str, str], AgentProgram] = {}
        self._queue: list[tuple[Rules, AgentProgram]] = []
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="compile", daemon=True)
        self._thread.start()
        self.on_change: Callable[[], None] = lambda: None
        # The agents at unfinished tables, each with the name of its ruleset.
        self.seated: Callable[[], set[tuple[str, str]]] = set

    def get(self, name: str, rules: Rules, part: str = SEAT) -> AgentProgram:
        """A program of the agent, queued for compilation at its first use."""
        key = (name, rules.env.ruleset.name, part)
        with self._wake:
            if key not in self._programs:
                self._programs[key] = AgentProgram(name, part)
                self._queue.append((rules, self._programs[key]))
                self._wake.notify()
            self._programs[key].used_at = time.monotonic()
            return self._programs[key]

    def forget_failed(self, names: Sequence[str], rules: Rules) -> None:
        """Let the next `get` compile those of these agents again whose compilation failed."""
        with self._wake:
            for name in names:
                key = (name, rules.env.ruleset.name, SEAT)
                if key in self._programs and self._programs[key].status == "failed":
                    del self._programs[key]

    def _release(self, key: tuple[str, str, str]) -> bool:
        """Forget a program that has no seat at a table and was not used lately."""
        is_seated = key[2] == SEAT and key[:2] in self.seated()
        with self._wake:
            program = self._programs.get(key)
            if program and (is_seated or time.monotonic() - program.used_at < IDLE_S):
                return False
            self._programs.pop(key, None)
        return True

    def hurry(self, names: Sequence[str], rules: Rules) -> None:
        """Compile these before all others in the queue."""
        agents = [self.get(name, rules) for name in dict.fromkeys(names)]
        with self._wake:
            self._queue.sort(key=lambda entry: entry[1] not in agents)

    def refusal(self, name: str, ruleset: str, players: int) -> str:
        """Why an agent cannot sit at such a table; "" where it can."""
        reason = self._plays[name].refusal(ruleset, players)
        return f"{name} {reason}" if reason else ""

    def occupant(self, name: object, rules: Rules | None = None) -> str:
        """The name of a player: HUMAN, or an agent that plays such games.

        Raises:
            Refused: it is neither.
        """
        if name != HUMAN and name not in self.names:
            raise Refused(f"unknown player {name!r}; known are {', '.join((HUMAN, *self.names))}")
        if rules and name != HUMAN:
            reason = self.refusal(str(name), rules.env.id, rules.env.num_players)
            if reason:
                raise Refused(reason)
        return str(name)

    def fitting(self, ruleset: str, players: int) -> list[str]:
        """The agents that can sit at such a table."""
        return [name for name in self.names if not self.refusal(name, ruleset, players)]

    def _games(self, name: str) -> dict[str, list[int]]:
        """The numbers of players that an agent plays with, by ruleset; from two on."""
        games_by_ruleset: dict[str, list[int]] = {}
        for id, players in sorted(VARIANTS):
            if players > 1 and not self.refusal(name, id, players):
                games_by_ruleset.setdefault(id, []).append(players)
        return games_by_ruleset

    def describe(self) -> list[dict[str, Any]]:
        """All agents: their level by ruleset, its VP, a description, the games that they play."""
        return [
            {
                "name": name,
                "level_names": {
                    ruleset: server_text(f"level-{ruleset_level}")
                    for ruleset in catalogue.RULESETS_SHOWN
                    if (ruleset_level := level_in(name, ruleset))
                },
                "vp": level.vp,
                "about": _about(level),
                "plays": self._games(name),
            }
            for name, level in self._levels.items()
        ]

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._queue:
                    self._wake.wait()
                rules = self._queue[0][0]
            if not rules.has_failed:  # `AllRules.compile` tries again
                with suppress(Exception):  # `Rules.progress` reports it
                    rules.prepare()  # the first move of a person needs no agent
            with compiler:  # until here `hurry` may put another program first
                with self._wake:
                    if self._queue[0][0] is not rules:
                        continue
                    rules, program = self._queue.pop(0)
                self._compile(rules, program)
            self.on_change()

    def _compile(self, rules: Rules, program: AgentProgram) -> None:
        label = LABELS[program.part].format(program.name)
        task = (rules.env.id, str(rules.env.num_players), program.part, program.name)
        release = partial(self._release, (program.name, rules.env.ruleset.name, program.part))
        text = f"{label} is being compiled"
        compilation = program.compilation = Compilation(text, task, release)
        program.status = "compiling"
        self.on_change()
        try:
            compilation.make(partial(compile_program, program, rules))
            program.status = "ready"
        except Exception as error:  # an agent's own code may raise anything
            program.message, program.status = error_text(error), "failed"


def _about(level: Level) -> str:
    """The sentences about a level, in the language in use."""
    return " ".join(translated(sentence) for sentence in re.split(r"(?<=\.) ", level.about))


def _level(name: str) -> Level:
    try:
        return catalogue.level(name)
    except UserError:  # its compilation reports the error
        return Level("", name, "")


def _runs(folder: Path) -> list[str]:
    """The trainings in a folder that have a checkpoint."""
    if not folder.is_dir():
        return []
    run_folders = (path for path in sorted(folder.iterdir()) if (path / "checkpoints").is_dir())
    return [path.as_posix() for path in run_folders]


def compile_program(program: AgentProgram, rules: Rules) -> None:
    """Compile a part of an agent for one game at a time."""
    start = rules.start(rules.draw(0))
    if program.part == SEARCH:
        explainer = Explainer(rules.env, program.name, 1)
        explainer.search(one_row(start))
        program.explainer = explainer
        return
    agent = make_agent(program.name, rules.env)
    if program.part == SEAT:
        program.act = _decisions(agent)
        program.act(start, 0)
    elif agent.policy is not None:
        program.policy = _policy(agent, agent.policy)
        program.policy(start)


def _decisions(agent: Agent) -> Callable[[Any, int], int]:
    """A state and a seed -> its action."""

    def decide(params: Any, state: Any, key: Any) -> Any:
        batch = jax.tree.map(lambda x: x[None], state)
        return agent.act(params, batch, batch.legal_action_mask, key)[0]

    compiled = jax.jit(decide)
    return lambda state, seed: int(compiled(agent.params, state, jax.random.key(seed)))


def _policy(agent: Agent, policy: Policy) -> Callable[[Any], tuple[np.ndarray, np.ndarray]]:
    """A state -> (A,) probabilities of the actions, (P,) expected further VP of each player.

    The probabilities are at temperature 1, at any temperature of the agent.
    """

    def evaluate(params: Any, state: Any) -> Any:
        batch = jax.tree.map(lambda x: x[None], state)
        logits, values = policy.evaluate(params, batch)
        chances = jax.nn.softmax(jnp.where(batch.legal_action_mask, logits, -jnp.inf))
        return chances[0], values[0] / policy.vp

    compiled = jax.jit(evaluate)
    return lambda state: jax.device_get(compiled(agent.params, state))

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

from gaia_jax.cli import UserError
from training import zoo
from training.agents import make_agent
from training.agents.registry import REGISTRY
from training.agents.search import SUFFIX, split_name
from training.explain import Explainer
from training.play.rules import Rules

SIMULATIONS = 32  # of the search that is offered on top of each trained agent


@dataclass
class Ready:
    """An agent on its way to the table."""

    name: str
    status: str = "waiting"  # waiting, compiling, ready, failed
    message: str = ""
    seconds: float = 0.0
    began: float = 0.0
    act: Callable[[Any, int], int] | None = None
    look: Callable[[Any], tuple[np.ndarray, np.ndarray]] | None = None
    explainer: Explainer | None = None  # of an agent with a search

    def said(self) -> str:
        """A progress line."""
        if self.status == "compiling":
            return f"{self.name} is being compiled, {time.monotonic() - self.began:.0f} s"
        if self.status == "ready":
            return f"{self.name} is ready ({self.seconds:.0f} s)"
        if self.status == "failed":
            return f"{self.name}: {self.message}"
        return f"{self.name} waits to be compiled"


class Bench:
    """Agents by name and ruleset. Only names that the command line or the folders offer."""

    def __init__(self, names: Sequence[str] = (), runs: Path = Path("runs")):
        """
        Args:
            names: more agents than the built-in ones and those found in `runs`.
            runs: where checkpoints of trainings lie.
        """
        learnt = [name for name in (*zoo.names(), *_runs(runs)) if name not in names]
        searching = [f"{name}{SUFFIX}{SIMULATIONS}" for name in learnt]
        self.names = list(dict.fromkeys((*REGISTRY, *learnt, *searching, *names)))
        self._ready: dict[tuple[str, str], Ready] = {}
        self._queue: list[tuple[Rules, Ready]] = []
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="compile", daemon=True)
        self._thread.start()
        self.on_change: Callable[[], None] = lambda: None

    def get(self, name: str, rules: Rules) -> Ready:
        """The agent, sent to be compiled at its first mention."""
        key = (name, rules.env.ruleset.name)
        with self._wake:
            if key not in self._ready:
                self._ready[key] = Ready(name)
                self._queue.append((rules, self._ready[key]))
                self._wake.notify()
            return self._ready[key]

    def known(self, ruleset: str) -> list[dict[str, str]]:
        """All agents with their progress, for one ruleset."""
        found = {name: self._ready.get((name, ruleset)) for name in self.names}
        return [
            {
                "name": name,
                "status": ready.status if ready else "",
                "said": ready.said() if ready else "",
            }
            for name, ready in found.items()
        ]

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._queue:
                    self._wake.wait()
                rules, ready = self._queue.pop(0)
            ready.began, ready.status = time.monotonic(), "compiling"
            self.on_change()
            try:
                rules.prepare()
                _compile(ready, rules)
                ready.status = "ready"
            except Exception as error:  # an agent's own code may raise anything
                text = str(error).splitlines() or [""]
                plain = isinstance(error, UserError)
                ready.message = text[0] if plain else f"{type(error).__name__}: {text[0]}"
                ready.status = "failed"
            ready.seconds = time.monotonic() - ready.began
            self.on_change()


def _runs(folder: Path) -> list[str]:
    """The trainings in a folder that have a checkpoint."""
    if not folder.is_dir():
        return []
    found = (path for path in sorted(folder.iterdir()) if (path / "checkpoints").is_dir())
    return [path.as_posix() for path in found]


def _compile(ready: Ready, rules: Rules) -> None:
    """Compile an agent for a batch of one, and its network's look at a position if it has one."""
    env = rules.env
    agent = make_agent(ready.name, env)

    def decide(params: Any, state: Any, key: Any) -> Any:
        batch = jax.tree.map(lambda x: x[None], state)
        return agent.act(params, batch, batch.legal_action_mask, key)[0]

    compiled = jax.jit(decide)

    def act(state: Any, seed: int) -> int:
        return int(compiled(agent.params, state, jax.random.key(seed)))

    act(rules.start(rules.draw(0)), 0)
    ready.act = act
    base, spec = split_name(ready.name)
    if spec is not None:
        ready.explainer = Explainer(env, ready.name, 1)
        agent = make_agent(base, env)
    policy = agent.policy
    if policy is None:
        return

    def look(params: Any, state: Any) -> Any:
        batch = jax.tree.map(lambda x: x[None], state)
        logits, values = policy.evaluate(params, batch)
        chances = jax.nn.softmax(jnp.where(batch.legal_action_mask, logits, -jnp.inf))
        return chances[0], values[0] / policy.vp

    seen = jax.jit(look)
    ready.look = lambda state: jax.device_get(seen(agent.params, state))
    ready.look(rules.start(rules.draw(0)))

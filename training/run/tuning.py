"""Search for values of keys: runs are scored by games against a fixed agent.

Optuna proposes the values, or a population does (`population.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gaia_jax.cli.command_line import UserError

from ..agents import with_updates
from ..games.arena import make_opponent
from ..system import environments, jobs
from ..types import EnvModule
from . import sweep
from .population import Population
from .sweep_file import POPULATION, Range, Space, Sweep, TuneConfig


def tune(file: Sweep, search: TuneConfig, env_module: EnvModule, on: jobs.On) -> int:
    """Train and score all trials, `at_once` after each proposal; returns the exit code.

    Proposals depend on the seed and the scores alone, so that the same command continues with the
    trials that are missing. A failed trial therefore ends the search.

    Raises:
        UserError: Optuna is not installed, the opponent is unknown, a proposed value is wrong.
    """
    sampler = Population if search.method == POPULATION else _Tpe
    study: Population | _Tpe = sampler(search.space, file.base.seed)
    score = _opponent(file, search, env_module), search.games
    results: list[dict[str, Any]] = []
    for first in range(0, search.trials, search.at_once):
        proposed = study.propose(min(search.at_once, search.trials - first))
        trials = [file.trial(first + n, values) for n, values in enumerate(proposed)]
        code, scores = sweep.train_all(file.name, trials, env_module, on, score)
        if code == 130:
            return code
        values_by_run = {run.name: values for run, values in zip(trials, proposed, strict=True)}
        results += [result | {"values": values_by_run[result["run"]]} for result in scores]
        if len(scores) < len(trials):
            break
        study.tell(results[first:])
    for result in sorted(results, key=lambda x: float(x["vp_difference"])):
        values = result["values"].items()
        shown = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in values)
        print(f"{result['run']}  {result['vp_difference']:+.1f} VP  {', '.join(shown)}")
    if len(results) < search.trials:
        print("a trial failed: the same command continues the search with it", file=sys.stderr)
    return 0 if len(results) == search.trials else 1


def _opponent(file: Sweep, search: TuneConfig, env_module: EnvModule) -> str:
    """The name of the opponent, of a run with its update; a UserError if there is none."""
    import jax

    jax.config.update("jax_platforms", "cpu")  # accelerators belong to the trials
    env = environments.make_env(env_module, **asdict(file.base.env))
    try:
        (opponent,) = with_updates([search.opponent])
        make_opponent(opponent, env)
    except UserError as error:
        raise UserError(f"tune.opponent: {error}") from error
    return opponent


class _Tpe:
    """Optuna's default sampler."""

    def __init__(self, space: Space, seed: int):
        """Raises UserError without Optuna."""
        try:
            import optuna
        except ImportError as error:
            raise UserError('tune needs Optuna: pip install "gaia_jax[tune]"') from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=seed)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._space, self._trials = space, list[Any]()

    def propose(self, count: int) -> list[dict[str, Any]]:
        """The values by key of some trials."""
        self._trials = [self._study.ask() for _ in range(count)]
        space = self._space.items()
        return [{key: _suggest(trial, key, x) for key, x in space} for trial in self._trials]

    def tell(self, results: Sequence[dict[str, Any]]) -> None:
        """Take the results of the trials that were proposed last."""
        for trial, result in zip(self._trials, results, strict=True):
            self._study.tell(trial, result["vp_difference"])


def _suggest(trial: Any, key: str, values: list[Any] | Range) -> Any:
    """A value of the space."""
    if isinstance(values, list):
        return trial.suggest_categorical(key, values)
    suggest = trial.suggest_int if values.is_whole else trial.suggest_float
    return suggest(key, values.low, values.high, log=values.log)

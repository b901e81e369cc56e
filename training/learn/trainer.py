"""One run: its inputs, compiled chunk, folder and present state."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax.sharding import Mesh

from gaia_jax.cli.command_line import finishing
from gaia_jax.xla.fast_compile import jit_fast_compile

from ..config import Config
from ..networks.make import make_network
from ..system import devices
from ..system.environments import make_env
from ..system.process_group import ProcessGroup, alone
from ..types import AutoEnvironment, Environment, EnvModule, PolicyNetwork
from . import exploring_starts, ppo
from .checkpoint import Checkpoints
from .learner_state import Hyper, Runner, make_init, sharding
from .metrics import Diagnostics
from .staggered_starts import make_stagger
from .warm_start import WarmStart, begin_with


class Inputs(NamedTuple):
    """The objects that a configuration names, made and loaded once."""

    config: Config
    env: Environment
    auto: AutoEnvironment  # the same with auto-reset and exploring starts, to train in
    network: PolicyNetwork
    warm_start: WarmStart | None = None  # of a new run

    @classmethod
    def of(cls, config: Config, env_module: EnvModule) -> Inputs:
        """Without the warm start.

        Args:
            env_module: makes environments (`make`, `auto_reset`): the module `gaia_jax`.
        Raises:
            UserError: no such environment or network.
        """
        env = make_env(env_module, **asdict(config.env))
        richer = exploring_starts.with_exploring_starts(env, config.recipe.exploring_starts)
        return cls(config, env, env_module.auto_reset(richer), make_network(env, config.network))


class Trainer:
    """One run: its inputs, compiled chunk, folder and present state."""

    def __init__(
        self,
        inputs: Inputs,
        run: Path,
        update: int | None = None,
        group: ProcessGroup | None = None,
    ):
        """
        Args:
            run: the run folder; nothing is written there before `save`.
            update: of the checkpoint to resume from; None is a new run.
            group: the processes that train; None is this one alone.
        """
        config, self.env, auto, self.network, start = inputs
        self.config, self.run = config, run
        self.warm_start = start.name if start else ""  # with which the run began
        self.chunks = 0  # that this start has done
        self.spent = 0.0  # seconds of `run.max_minutes` that earlier starts have used
        self.group = group or alone()
        self.diagnostics = Diagnostics(self.env)
        mesh = devices.make_mesh(config.ppo.num_envs, config.ppo.game_blocks)
        init = make_init(auto, self.network, config, mesh)
        init = jit_fast_compile(init, out_shardings=sharding(mesh))
        self._chunk: Any = ppo.make_chunk(auto, self.network, config, mesh)
        self._checkpoints: Checkpoints | None = None
        if update is None:
            self.runner = self._first_state(init(), start, auto, mesh)
        else:
            self.runner = self._restore(init, update)
        self.update = update or 0  # updates done

    def _restore(self, init: Any, update: int) -> Runner:
        """The state of a checkpoint, in the form of `init` and on the devices of this machine."""
        self.checkpoints.check_env(update, self.env)
        self.warm_start = self.checkpoints.about(update)[0]["warm_start"]
        runner = self.checkpoints.restore(update, init.eval_shape())
        # A run may be made longer: its length is one of these numbers.
        hyper = jax.tree.map(
            lambda old, new: jax.device_put(new, old.sharding), runner.hyper, Hyper.of(self.config)
        )
        return runner._replace(hyper=hyper)

    def _first_state(
        self, runner: Runner, start: WarmStart | None, auto: AutoEnvironment, mesh: Mesh
    ) -> Runner:
        """Apply the warm start and the staggered starts to a new run."""
        config = self.config
        if start is not None:
            runner = begin_with(runner, start.params, config)
        if config.recipe.staggered_starts:
            stagger = make_stagger(auto, self.network, config, mesh)
            key = jax.random.wrap_key_data(runner.key)
            runner = runner._replace(env_state=stagger(runner.params, key, runner.env_state))
        return runner

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints of the run folder, readable and writable; creates a missing folder."""
        if self._checkpoints is None:
            max_to_keep = self.config.run.keep_checkpoints
            self._checkpoints = Checkpoints(self.run, max_to_keep, create=True)
        return self._checkpoints

    def compile(self) -> None:
        """Compile the chunk; otherwise the first `advance` does."""
        self._chunk = self._chunk.lower(self.runner).compile()

    def advance(self) -> list[dict[str, float]]:
        """One chunk; the metrics of its updates. The state changes only when it is complete."""
        runner, metrics = self._chunk(self.runner)
        while not all(x.is_ready() for x in jax.tree.leaves(metrics)):
            time.sleep(0.005)  # keeps signals responsive, unlike block_until_ready
        self.runner = jax.block_until_ready(runner)
        self.chunks += 1
        self.update += self.config.run.updates_per_chunk
        metrics = jax.device_get(metrics)
        count = self.config.run.updates_per_chunk
        behaviour = metrics.pop("behaviour")
        records = [{name: float(x[i]) for name, x in metrics.items()} for i in range(count)]
        # Few games end in an update: their statistics are reported for the whole chunk.
        games = sum(record["games/ended"] for record in records)
        summed = jax.tree.map(lambda x: x.sum(0), behaviour)
        if self.config.recipe.exploring_starts:
            records[-1] |= exploring_starts.report(summed)
        records[-1] |= self.diagnostics.report(summed, games)
        return records

    @property
    def policy(self) -> Any:
        """The parameters to play with: averaged, where the run keeps an average."""
        return self.runner.average if self.config.recipe.ema_decay else self.runner.params

    def save(self) -> None:
        """Write a checkpoint unless that of this update exists."""
        with finishing():
            self.checkpoints.save(self.runner, self.env, self.config, self.warm_start)

"""Train an agent by self-play.

python -m training.train --config configs/quick.yaml ppo.lr=3e-4 name=mine
python -m training.train --resume runs/mine train.updates=400
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from tqdm import tqdm

from training import cli, ppo
from training import config as configs
from training.checkpoint import Checkpoints, make_env
from training.config import Config, UserError
from training.evaluate import Evaluation, table, write_json
from training.logs import Logs
from training.network import make_network


class Interrupt:
    """Notes the first Ctrl-C (or SIGTERM), so that the running chunk ends and is saved.

    The second one raises KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Interrupt:
        self._old = {
            number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print(
            "\nstopping after this chunk, with a checkpoint; again to stop at once", file=sys.stderr
        )


class Trainer:
    """One run: its environment, network, compiled chunk, folder and present state."""

    def __init__(self, config: Config, face: Any, run: Path, resume: bool):
        """
        Args:
            config: the resolved configuration.
            face: what makes environments (`make`, `auto_reset`): the module `gaia_jax`.
            run: the run folder.
            resume: go on from its latest checkpoint.
        """
        self.config, self.run = config, run
        self.env = make_env(face, config.env.id, config.env.reward)
        auto = face.auto_reset(self.env)
        self.network = make_network(self.env, config.network)
        mesh = ppo.make_mesh(config.ppo.num_envs)
        init = ppo.make_init(auto, self.network, config)
        init = jax.jit(init, out_shardings=ppo.sharding(mesh))
        self._chunk: Any = ppo.make_chunk(auto, self.network, config, mesh)
        self.checkpoints = Checkpoints(run, keep=config.train.keep_checkpoints, create=not resume)
        if resume:
            step = self.checkpoints.latest()
            self.checkpoints.check_env(step, self.env)
            # The form of a run, with the shardings of this machine.
            self.runner = self.checkpoints.restore(step, init.eval_shape())
        else:
            self.runner = init()

    @property
    def update(self) -> int:
        """Updates done."""
        return int(self.runner.update)

    def compile(self) -> None:
        """Compile the chunk; `advance` does it where this was not called."""
        self._chunk = self._chunk.lower(self.runner).compile()

    def advance(self) -> list[dict[str, float]]:
        """One chunk; the metrics of its updates. The state changes only when it is complete."""
        runner, metrics = jax.block_until_ready(self._chunk(self.runner))
        self.runner = runner
        metrics = jax.device_get(metrics)
        count = self.config.train.updates_per_chunk
        return [{name: float(x[i]) for name, x in metrics.items()} for i in range(count)]

    def save(self) -> None:
        self.checkpoints.save(self.runner, self.env, self.config)


def train(trainer: Trainer) -> bool:
    """Chunks until the run is complete, out of time or interrupted, with logs and checkpoints.

    Returns:
        True where it was interrupted.
    """
    config, began = trainer.config, time.monotonic()
    logs = Logs(trainer.run, config, trainer.update)
    evaluations = []
    if config.eval.chunks:
        evaluations = evaluations_of(trainer, config.eval.chunk_games)
    with Interrupt() as interrupt:
        try:
            with cli.compiling("the training step"):
                trainer.compile()
            progress = tqdm(total=config.train.updates, initial=trainer.update, unit="update")
            chunks, longest = 0, 0.0
            while trainer.update < config.train.updates and not interrupt.asked:
                start = time.monotonic()
                records = trainer.advance()
                seconds = time.monotonic() - start
                _report(trainer, records, seconds, logs, progress)
                chunks += 1
                if evaluations and chunks % config.eval.chunks == 0:
                    for evaluation in evaluations:
                        logs.write(trainer.update, _evaluate(trainer, evaluation))
                if chunks % config.train.checkpoint_chunks == 0:
                    trainer.save()
                logs.flush()
                longest = max(longest, time.monotonic() - start)
                spent = time.monotonic() - began
                limit = config.train.max_minutes * 60
                if limit and spent + longest > limit:
                    print("\nout of time: train.max_minutes", file=sys.stderr)
                    break
            progress.close()
        finally:
            trainer.save()
            logs.close()
    return interrupt.asked


def _report(
    trainer: Trainer, records: list[dict[str, float]], seconds: float, logs: Logs, progress: tqdm
) -> None:
    """Log the updates of a chunk and show their means."""
    ppo_config = trainer.config.ppo
    decisions = ppo_config.num_envs * ppo_config.num_steps
    speed = decisions * len(records) / seconds
    first = trainer.update - len(records) + 1
    for update, record in enumerate(records, first):
        seats = 4 * record["games/ended"]
        record["games/vp"] = record.pop("games/vp_sum") / seats if seats else math.nan
        record["games/reward"] = record.pop("games/reward_sum") / seats if seats else math.nan
        record["time/decisions_per_second"] = speed
        record["time/decisions"] = float(update * decisions)
        record["policy/learning_rate"] = ppo.learning_rate(trainer.config, update)
        logs.write(update, record)

    def mean(name: str) -> float:
        values = [r[name] for r in records if math.isfinite(r[name])]
        return float(np.mean(values)) if values else math.nan

    progress.set_postfix_str(
        f"{speed:,.0f} decisions/s, VP {mean('games/vp'):.1f}, policy {mean('loss/policy'):+.4f}, "
        f"value {mean('loss/value'):.4f}, entropy {mean('policy/entropy'):.3f}",
        refresh=False,
    )
    progress.update(len(records))


def evaluations_of(trainer: Trainer, games: int) -> list[Evaluation]:
    """One evaluation for each of `eval.opponents`; each compiles once."""
    names = [name.strip() for name in trainer.config.eval.opponents.split(",")]
    greedy = trainer.config.eval.greedy
    return [Evaluation(trainer.env, trainer.network, games, greedy, name) for name in names]


def _evaluate(trainer: Trainer, evaluation: Evaluation) -> dict[str, float]:
    """The same set-ups each time, so that the curve is of the policy alone."""
    report = evaluation.run(on_one_device(trainer.runner.params), trainer.config.eval.seed)
    head = f"evaluation/{evaluation.opponent}"
    return {
        f"{head}/vp": report["vp"]["policy"]["mean"],
        f"{head}/vp_difference": report["vp_difference"]["mean"],
        f"{head}/win_share": report["win_share"]["policy"]["mean"],
    }


def on_one_device(params: Any) -> Any:
    """Parameters as an evaluation wants them: on one device, and not on all at once."""
    return jax.device_put(params, jax.devices()[0])


def resolve(config_path: str | None, resume: str | None, overrides: list[str]) -> Config:
    """The configuration of a run: of the file, or of the run to resume, with overrides.

    Raises:
        UserError: neither is given, or a resumed run would change what it depends on.
    """
    if resume is None:
        if config_path is None:
            raise UserError("give --config FILE, or --resume RUN")
        return configs.load(config_path, overrides)
    checkpoints = Checkpoints(resume)
    _, old = checkpoints.about(checkpoints.latest())
    new = configs.load(config_path, overrides) if config_path else configs.override(old, overrides)
    changed = configs.differences(old, new)
    if changed:
        raise UserError(f"a resumed run cannot change {'; '.join(changed)}")
    return new


def free_folder(name: str, runs: Path = Path("runs")) -> Path:
    """runs/NAME, or the first of runs/NAME-2, -3, ... that does not exist."""
    folder, number = runs / name, 1
    while folder.exists():
        number += 1
        folder = runs / f"{name}-{number}"
    return folder


def main(argv: Sequence[str] | None = None, face: Any = None) -> int:
    """The command line.

    Args:
        argv: arguments; None is those of the process.
        face: what makes environments; None is `gaia_jax`.
    Returns:
        The exit code; 130 after Ctrl-C.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.train", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--config", help="a YAML file, e.g. configs/quick.yaml")
    parser.add_argument("--resume", metavar="RUN", help="go on with this run folder, exactly")
    cli.add_cache_flag(parser)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="e.g. ppo.lr=3e-4")
    args = parser.parse_intermixed_args(argv)
    config = resolve(args.config, args.resume, args.overrides)
    ppo.split_cpu(config.train.cpu_devices, config.ppo.num_envs)
    if face is None:
        import gaia_jax as face
    run = Path(args.resume) if args.resume else free_folder(config.name)
    trainer = Trainer(config, face, run, resume=args.resume is not None)
    configs.save(config, run / "config.yaml")
    print(
        f"run {run}: {trainer.env.id} {trainer.env.version}, {jax.device_count()} device(s)",
        file=sys.stderr,
    )
    if train(trainer):
        print(f"checkpoint at update {trainer.update}; go on with --resume {run}", file=sys.stderr)
        return 130
    if config.eval.games:
        params = on_one_device(trainer.runner.params)
        for number, evaluation in enumerate(evaluations_of(trainer, config.eval.games)):
            report = evaluation.run(params, config.eval.seed)
            report = {"run": str(run), "update": trainer.update} | report
            name = "evaluation.json" if number == 0 else f"evaluation-{number + 1}.json"
            write_json(report, run / name)
            print(table(report))
    return 0


if __name__ == "__main__":
    sys.exit(cli.run(main))

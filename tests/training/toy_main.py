"""The trainer's command lines on the toy game: `python toy_main.py train ...`.

MOMENT names when a process kills itself, where DIES is 1: while it is compiling, playing, updating,
writing, evaluating. All processes of a training are given the same moment: the compiled program of
`playing` and `updating` is another one, and has to be the same at all.
"""

import itertools
import os
import signal
import sys
import threading
import time

import jax
import toy_env

import training.evaluate as evaluate
import training.train as train
from training import sweep
from training.games import engine
from training.learn import ppo
from training.learn.checkpoint import FOLDER, Checkpoints
from training.learn.trainer import Trainer
from training.networks import sampling
from training.system import cli

DIES = os.environ.get("DIES") == "1"


def die() -> None:
    """Without a last word."""
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner, name, do) -> None:
    """`do(arguments)` before each call of a function."""
    original = getattr(owner, name)

    def wrapped(*arguments, **named):
        do(*arguments)
        return original(*arguments, **named)

    setattr(owner, name, wrapped)


def in_program(call: int):
    """A hook that a compiled program calls; the process dies at this call."""
    calls = itertools.count(1)

    def hook() -> None:
        if DIES and next(calls) == call:
            die()

    return lambda *_: jax.debug.callback(hook)


def on_compiling() -> None:
    if DIES:
        before(Trainer, "compile", lambda *_: threading.Timer(0.2, die).start())


def on_playing() -> None:
    """In the third update: 32 decisions on each of two devices are an update."""
    before(sampling, "sample", in_program(2 * 64 + 30))


def on_updating() -> None:
    """In the third update: two epochs of four minibatches on each of two devices."""
    built = ppo.make_optimizer

    def make_optimizer():
        optimizer, hook = built(), in_program(2 * 16 + 5)

        def update(*arguments):
            hook()
            return optimizer.update(*arguments)

        return optimizer._replace(update=update)

    ppo.make_optimizer = make_optimizer


def on_writing() -> None:
    """As soon as the folder of the second checkpoint is begun."""
    saves = itertools.count(1)

    def watch(folder) -> None:
        wandb_id = set(folder.iterdir())
        while set(folder.iterdir()) <= wandb_id:
            time.sleep(0.0005)
        die()

    def on_save(checkpoints, *_) -> None:
        if next(saves) == 2:
            threading.Thread(target=watch, args=(checkpoints.run / FOLDER,), daemon=True).start()
            time.sleep(0.1)

    if DIES:
        before(Checkpoints, "save", on_save)


def on_evaluating() -> None:
    if DIES:
        before(engine.Match, "play_batch", lambda *_: die())


if __name__ == "__main__":
    moment = os.environ.get("MOMENT")
    if moment:
        globals()[f"on_{moment}"]()
    main = {"train": train.main, "evaluate": evaluate.main, "sweep": sweep.main}[sys.argv[1]]
    sys.exit(cli.run(lambda: main(sys.argv[2:], toy_env)))

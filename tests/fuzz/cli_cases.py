"""Wrong command lines: what is typed, and what the one line of the error has to name.

A case is (command, arguments, what the message holds). All are refused with exit code 2.
"""

from __future__ import annotations

import os
import resource
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import NamedTuple

import scipy.stats  # noqa: F401  imported once, before the fork
import tensorboardX  # noqa: F401

import training.arena as arena
import training.evaluate as evaluate
import training.train as train
from gaia_jax import replay
from gaia_jax.xla.compilation_cache import NO_CACHE, disable_compilation_cache
from tests.training import toy_env
from training.system import cli


class Case(NamedTuple):
    """One wrong command line."""

    command: str  # train, resume, evaluate, arena, replay; with "full" before it on a full disk
    args: tuple[str, ...]
    message: str  # a part of the message


def command(name: str, args: list[str]) -> int:
    """Run a command line as `python -m` does. The trainer and `evaluate` play the toy game."""
    if name.startswith("full "):  # a disk that takes nothing more
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))  # enough for the message
        os.environ[NO_CACHE] = "1"  # the limit would cut off what is written there
        disable_compilation_cache()
        name = name.removeprefix("full ")
    sys.path.insert(0, "")
    if name == "replay":
        return cli.run(lambda: replay.main(args))
    if name == "arena":
        return cli.run(lambda: arena.main(args))
    main = evaluate.main if name == "evaluate" else train.main
    return cli.run(lambda: main(args, toy_env))


LONG, WIDE = "x" * 300, "x" * 5000
DIGITS, BRACKETS = "9" * 400, "[" * 3000
FOUR = "random,random,random,random"


def _overrides() -> Iterator[tuple[str, str]]:
    """(`key=value`, what the message holds)."""
    numbers = [
        "seed", "network.layers", "network.width", "network.cell_width", "network.latents",
        "network.heads", "ppo.num_envs", "ppo.num_steps", "ppo.epochs", "ppo.minibatches",
        "run.updates", "run.updates_per_chunk",
        "run.checkpoint_chunks", "run.keep_checkpoints", "run.cpu_devices", "eval.games",
        "eval.chunks", "eval.chunk_games", "eval.seed",
    ]  # fmt: skip
    fractions = [
        "ppo.lr", "ppo.lr_end", "ppo.gae_lambda", "ppo.clip", "ppo.value_coef",
        "ppo.entropy_coef", "ppo.max_grad_norm", "ppo.reward_scale", "run.max_minutes",
    ]  # fmt: skip
    for place, key in enumerate(numbers):
        for value in ("1e30", "-1", "1.5", DIGITS):
            yield f"{key}={value}", key
        odd = (".inf", ".nan", "many", "[1]", "{a: 1}", "2020-01-01", "true", "0x" + "f" * 5000)
        yield f"{key}={odd[place % len(odd)]}", key
    for place, key in enumerate(fractions):
        for value in (".inf", ".nan", "-1"):
            yield f"{key}={value}", key
        odd = ("1e400", "fast", "[]", "2020-13-45", "false", DIGITS, "null", "!!float x")
        yield f"{key}={odd[place % len(odd)]}", key
    for key in ("ppo.normalize_advantage", "network.neighbors"):
        yield f"{key}=1", key
        yield f"{key}=maybe", key


# What `command_lines.txt` calls by a name.
NAMES = {
    "NUL": "\0", "NEWLINE": "\n", "ESCAPE": "\x1b", "LONG": LONG, "WIDE": WIDE, "DIGITS": DIGITS,
    "BRACKETS": BRACKETS, "FIGURES": "9" * 5000, "DEEP": "a." * 2000,
    "CROWD": ",".join(["random"] * 500),
}  # fmt: skip


def _read() -> Iterator[Case]:
    """The cases of `command_lines.txt`.

    A line in brackets is a command and its first arguments. Each line below is a message and the
    rest of the command lines that cause it; `-` is none. No space follows a `,` or `=` in brackets.
    """
    start = ""
    for line in Path(__file__).with_name("command_lines.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            start = line[1:-1] + ("" if line[-2] in ",=" else " ")
            continue
        message, ends = line.split(" <- ")
        for end in ends.split(" | "):
            words = shlex.split(start if end == "-" else start + end)
            first = 2 if words[0] == "full" else 1
            args = tuple(Template(word).substitute(NAMES) for word in words[first:])
            yield Case(" ".join(words[:first]), args, message)


CASES = [*(Case("train", ("--config", "tiny.yaml", *x), y) for *x, y in _overrides()), *_read()]

"""Functions that `test_jobs.py` has computed by other processes."""

import os
import signal
import time
from pathlib import Path

from gaia_jax.cli.command_line import UserError


def square(number):
    return str(number**2).encode()


def representation(*args):
    return repr(args).encode()


def square_after_a_kill(folder, number):
    """The first worker that computes 3 dies."""
    mark = Path(folder) / "killed"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def always_killed(number):
    os.kill(os.getpid(), signal.SIGKILL)


def refused(number):
    if number == 2:
        raise UserError("2 is not allowed")
    time.sleep(600)


def sleep(number):
    """Leaves the number of its process; only shard 0 ends."""
    Path(f"process{number}").write_text(str(os.getpid()))
    if number:
        time.sleep(600)
    return b""


def cores_and_gpu(number):
    """What the worker was given, after another worker has started."""
    Path(f"started{number}").touch()
    until = time.monotonic() + 20
    while not Path(f"started{number ^ 1}").exists() and time.monotonic() < until:
        time.sleep(0.02)
    return f"{os.environ['NPROC']}/{os.environ.get('CUDA_VISIBLE_DEVICES', '')}".encode()


def process_id(number):
    return str(os.getpid()).encode()


def make_run(tree, group, env_name, score):
    """The folder of a finished run; of variant b only once there is a file `mended`."""
    from training import config as configs

    config = configs.from_dict(tree)
    if "-b-" in config.name and not Path("mended").exists():
        raise UserError("no space left")
    run = Path("runs", config.name)
    run.mkdir()
    (run / "config.yaml").write_text(configs.to_yaml(config))
    (run / "history.jsonl").write_text('{"event": "end", "update": 40, "how": "complete"}\n')
    with open("made", "a") as made:
        made.write(config.name + "\n")
    return b"{}"

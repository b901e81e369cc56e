"""Runs each case in a process of its own, forked from one that has imported everything once.

    with Runner(["training.train", "tests.fuzz.cli_cases"]) as runner:
        result = runner.run("tests.fuzz.cli_cases:command", ["train"], folder)

The process that is forked has imported JAX but touched no device, so it has no threads to lose. A
test process may have some, so this one is started in addition to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60.0  # seconds that a case may take
LONGEST = 300  # characters of a message

Snapshot = dict[str, str]


class Result(NamedTuple):
    """The outcome of a case."""

    code: int  # exit code; minus the number of the signal that ended it
    out: str
    err: str
    changes: list[str]  # of the folder: `new x`, `changed x`, `lost x`
    seconds: float
    timed_out: bool


def assert_refused(result: Result) -> None:
    """One line that begins with `error: `, exit code 2, and the disk as it was."""
    assert not result.timed_out
    assert result.code == 2, result.err
    assert result.out == ""
    assert result.err.startswith("error: ") and result.err.endswith("\n"), result.err
    assert result.err.count("\n") == 1 and len(result.err) <= LONGEST, result.err
    assert result.err[:-1].isprintable()
    assert result.changes == []


class Runner:
    """A process that has imported some modules, and forks itself for each case."""

    def __init__(self, modules: Sequence[str], env: Mapping[str, str] | None = None):
        """
        Args:
            modules: imported once, before the first case. They must not use a device.
            env: environment variables in addition to those of this process.
        """
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "JAX_PLATFORMS": "cpu"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.runner", *modules],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env=os.environ | own | dict(env or {}),
        )  # fmt: skip

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(TIMEOUT)

    def run(
        self,
        target: str,
        args: Sequence[Any],
        folder: Path,
        env: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT,
    ) -> Result:
        """Call a function in a new process.

        Args:
            target: `MODULE:FUNCTION`. What it returns or passes to `sys.exit` is the exit code;
                what it raises is a traceback and the exit code 1, as in a process of its own.
            args: its arguments; JSON.
            folder: where it runs, and what is compared before and after.
            env: environment variables.
            timeout: seconds after which it is killed.
        """
        assert self._process.stdin and self._process.stdout
        with tempfile.TemporaryDirectory() as caught:
            out, err = Path(caught) / "out", Path(caught) / "err"
            order = {
                "target": target, "args": list(args), "folder": str(folder), "out": str(out),
                "err": str(err), "env": dict(env or {}), "timeout": timeout,
            }  # fmt: skip
            before = snapshot(folder)
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
            if not answer:
                raise RuntimeError(f"the process that forks has ended: {self._process.wait()}")
            output, errors = (x.read_text(encoding="utf-8", errors="replace") for x in (out, err))
            changes = differences(before, snapshot(folder))
        end = json.loads(answer)
        return Result(end["code"], output, errors, changes, end["seconds"], end["timed_out"])


def snapshot(folder: Path) -> Snapshot:
    """Every path below a folder, with its kind, mode and what is in it."""
    contents = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            # Another process may write here too, and take away what was just listed.
            with contextlib.suppress(FileNotFoundError):
                contents[str(path.relative_to(folder))] = _describe(path)
    return contents


def _describe(path: Path) -> str:
    """Its kind, mode and what is in it."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        content = os.readlink(path)
    elif stat.S_ISREG(mode):
        content = _digest(path)
    else:
        content = ""
    return f"{stat.filemode(mode)} {content}"


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    """What is new, changed or lost, a line each."""
    out = [f"lost {path}" for path in before.keys() - after.keys()]
    out += [f"new {path}" for path in after.keys() - before.keys()]
    out += [
        f"changed {path}" for path in before.keys() & after.keys() if before[path] != after[path]
    ]
    return sorted(out)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except PermissionError:
        return "unreadable"


def _serve(modules: Sequence[str]) -> None:
    """Fork for each line of stdin."""
    for name in modules:
        importlib.import_module(name)
    # JAX warns of forks, for the sake of threads: none runs before a device is used.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
    for line in sys.stdin:
        order = json.loads(line)
        start = time.monotonic()
        pid = os.fork()
        if pid == 0:
            _child(order)
        code, timed_out = _wait(pid, start, order["timeout"])
        end = {"code": code, "seconds": time.monotonic() - start, "timed_out": timed_out}
        print(json.dumps(end), flush=True)


def _wait(pid: int, start: float, timeout: float) -> tuple[int, bool]:
    """(exit code, whether it was killed for its time)."""
    ended = os.pidfd_open(pid)
    try:
        if select.select([ended], [], [], max(start + timeout - time.monotonic(), 0))[0]:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), False
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return -signal.SIGKILL, True
    finally:
        os.close(ended)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # whatever it started


def _child(order: dict[str, Any]) -> None:
    """Run one case in a process that is its own, and end it."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    os.chdir(order["folder"])
    os.environ.update(order["env"])
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, path in ((1, order["out"]), (2, order["err"])):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        os.dup2(file, number)
        os.close(file)
    code: Any = 1
    try:
        module, _, function = order["target"].partition(":")
        code = getattr(importlib.import_module(module), function)(*order["args"])
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    _serve(sys.argv[1:])

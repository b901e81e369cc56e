"""Shared parts of command lines: an error is one line on stderr and exit code 2.

Ctrl-C ends a command with exit code 130; a second one ends it immediately.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import math
import operator
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from gaia_jax.cli.interrupts import open_what_is_closed
from gaia_jax.language import ENGLISH, LANGUAGES

LONGEST = 280  # characters of a message
GRACE = 1.0  # seconds that a command has to end by itself after the second Ctrl-C
LARGEST_SEED = 2**32 - 1  # `jax.random.key` takes 32 bits: 2**32 would be seed 0 again
# The start of JAX's message that JAX_PLATFORMS names no device of this machine.
NO_BACKEND = "Unable to initialize backend"

SUPPORTED = os.name == "posix"  # commands lock, replace and sync files as POSIX has it

_finishing = threading.Lock()


class UserError(Exception):
    """An error of the user: the command line prints it as one line and exits with code 2."""


def check_system() -> None:
    """Raise a UserError on a system without POSIX file locks, such as Windows."""
    if not SUPPORTED:
        raise UserError(f"commands and training need Linux or macOS, got {sys.platform}")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are a UserError and whose help shows the defaults."""

    def __init__(self, prog: str, description: str | None):
        super().__init__(
            prog=prog,
            description=(description or "").split("\n")[0],
            formatter_class=_Help,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; {self.prog} --help says more")


class _Help(argparse.HelpFormatter):
    """Shows defaults."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        default = action.default
        is_unset = default is False or default in (None, "", [], argparse.SUPPRESS)  # 0 is not
        shows_default = action.option_strings and not is_unset
        return f"{action.help} (default: %(default)s)" if shows_default else action.help


def whole(low: int, high: int) -> Callable[[str], int]:
    """An argparse type: an integer from `low` to `high`."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"wants a whole number {low} to {high}, got {text!r}")
        return value

    return number


def number(low: float, high: float) -> Callable[[str], float]:
    """An argparse type: a number from `low` to `high`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"wants a number {low:g} to {high:g}, got {text!r}")
        return value

    return parse


def add_language_flag(parser: argparse.ArgumentParser, flags: str = "--html") -> None:
    """`--language`, that of the outputs of `flags`."""
    parser.add_argument(
        "--language", metavar="LANGUAGE", choices=tuple(LANGUAGES), default=ENGLISH,
        help=f"of {flags}: {', '.join(LANGUAGES)} (default: %(default)s)",
    )  # fmt: skip


def check_language(language: str, *texts: object, flags: str = "--html") -> None:
    """Refuse `--language` if no output of `flags` was requested."""
    if language != ENGLISH and not any(texts):
        raise UserError(f"--language {language} needs {flags}")


def check_whole(name: str, value: object, low: int, high: int) -> int:
    """An integer argument of a function, checked like `whole`; True and 1.0 raise a UserError."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise UserError(
            f"{name} must be a whole number {low} to {high}, got {one_line(repr(value))}"
        )
    return number


def one_line(message: object) -> str:
    """A message as one printable line; a long one loses its middle."""
    text = " ".join(str(message).split())
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    if len(text) > LONGEST:
        half = (LONGEST - 5) // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return text


def shorten(text: str, limit: int) -> str:
    """A text of at most `limit` characters; a long one loses its end."""
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def run(main: Callable[[], int], mistakes: tuple[type[Exception], ...] = ()) -> int:
    """Run a command line.

    UserError, OSError and too little memory end with one line and exit code 2.

    Args:
        main: returns the exit code.
        mistakes: further exceptions of this kind.
    """
    expected_errors: tuple[type[Exception], ...] = (UserError, *mistakes)
    open_what_is_closed()
    with _second_interrupt():
        try:
            check_system()
            code = main()
            sys.stdout.flush()
            return code
        except expected_errors as error:
            return _refuse(error)
        except BrokenPipeError:  # the reader of a pipe has gone
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 1
        except OSError as error:
            return _refuse(reason(error, with_name=True))
        except MemoryError:
            return _refuse("there is not enough memory")
        except RuntimeError as error:
            if NO_BACKEND in str(error):
                return _refuse(error)
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            return _refuse(f"there is not enough memory: {error}")
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            if threading.current_thread() is threading.main_thread():
                # Ending a process takes a while; another Ctrl-C stops it.
                signal.signal(signal.SIGINT, lambda *_: os._exit(130))
            return 130


def leave(code: int) -> NoReturn:
    """End the process immediately, although threads may be compiling.

    At the end of an interpreter a thread inside XLA aborts the process (SIGABRT).
    """
    _finishing.acquire(timeout=60)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


def nearest(word: object, choices: Iterable[str]) -> str:
    """The end of a message about an unknown word: "; did you mean 'arena'?", or ""."""
    near = difflib.get_close_matches(str(word)[:LONGEST], list(choices), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def reason(error: BaseException, with_name: bool = False) -> str:
    """Why something failed, in a few words, on request with the name of the file."""
    if isinstance(error, OSError) and error.strerror:
        named = with_name and error.filename is not None
        return f"{os.fsdecode(error.filename)}: {error.strerror}" if named else error.strerror
    return one_line(error) or type(error).__name__


def read_text(path: str | Path, longest: int, kind: str = "") -> str:
    """`read_bytes` of a text, without a byte order mark."""
    try:
        return read_bytes(path, longest, kind).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {f'{kind} {path}'.strip()}: not a text file") from error


def read_bytes(path: str | Path, longest: int | None, kind: str = "") -> bytes:
    """The contents of a file.

    Args:
        longest: bytes, at most; None: any number.
        kind: of the file, for the message, such as "the record".
    Raises:
        UserError: it is no file, too long or cannot be read.
    """
    read = f"cannot read {f'{kind} {path}'.strip()}"
    try:
        if Path(path).exists() and not Path(path).is_file():
            raise UserError(f"{read}: it is no file")
        with Path(path).open("rb") as file:
            data = file.read(-1 if longest is None else longest + 1)
    except (OSError, ValueError) as error:
        raise UserError(f"{read}: {reason(error)}") from error
    if longest is not None and len(data) > longest:
        raise UserError(f"{read}: it is longer than {longest:,} bytes")
    return data


class DuplicateKeyError(ValueError):
    """A mapping has a key twice; readers of JSON and YAML would silently take the last value."""


def unique_keys(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The dictionary of some pairs, as `json.loads(object_pairs_hook=...)` takes it.

    Raises:
        DuplicateKeyError: a key appears twice.
    """
    values: dict[Any, Any] = {}
    for key, value in pairs:
        if key in values:
            raise DuplicateKeyError(f"key {shorten(repr(key), 80)} appears twice")
        values[key] = value
    return values


def wrote(*paths: object) -> None:
    """Report written files or folders on stderr; None entries are skipped."""
    for path in paths:
        if path is not None:
            print(f"wrote {path}", file=sys.stderr)


def _refuse(message: object) -> int:
    print(f"error: {one_line(message)}", file=sys.stderr)
    return 2


@contextlib.contextmanager
def finishing() -> Iterator[None]:
    """Write a file in the body: a second Ctrl-C waits for its end, a third does not."""
    with _finishing:
        yield


@contextlib.contextmanager
def _second_interrupt() -> Iterator[None]:
    """Let the second Ctrl-C (or SIGTERM with a handler) end the process, even while it compiles.

    Python runs handlers between two instructions, and compiling is one instruction. So a thread
    reads the numbers of signals from a socket.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    own_end, other_end = socket.socketpair()
    other_end.setblocking(False)
    before = signal.set_wakeup_fd(other_end.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_count, args=(own_end,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        other_end.close()


def _count(signals: socket.socket) -> None:
    """Read the numbers of signals until the other end is closed."""
    count = 0
    with signals:
        while received := signals.recv(64):
            count += sum(number in (signal.SIGINT, signal.SIGTERM) for number in received)
            if count == 2:
                threading.Thread(target=_end, daemon=True).start()
            elif count > 2:
                os._exit(130)


def _end() -> None:
    time.sleep(GRACE)
    _finishing.acquire(timeout=60)
    with contextlib.suppress(Exception):
        print("interrupted", file=sys.stderr, flush=True)
    os._exit(130)

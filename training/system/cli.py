"""Shared parts of the trainer's commands: compilation cache, progress, common flags.

JAX is imported at the first use, so that `--help` prints immediately. `gaia_jax.cli.command_line`
has the parts that `gaia_jax.replay` shares.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gaia_jax.cli import command_line
from gaia_jax.cli.command_line import LARGEST_SEED, UserError, whole
from gaia_jax.cli.progress import LINE_SECONDS, next_wait, status_line

if TYPE_CHECKING:
    from tqdm import tqdm

PLAYERS = (2, 3, 4)  # `gaia_jax.xla.packed.PLAYERS`, which brings JAX along
MOST_GAMES = 10**7  # of one command
HIT, MISS = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"


class Parser(command_line.Parser):
    """An argument parser whose usage line shows how the command was called."""

    def __init__(self, prog: str, description: str | None, cache_flag: bool = False):
        """
        Args:
            prog: `python -m training.NAME`; replaced when called as `gaia NAME`.
            cache_flag: add `--no-cache`, for a command that compiles.
        """
        called = sys.argv[0] if sys.argv else ""
        super().__init__(called if called.startswith("gaia ") else prog, description)
        if cache_flag:
            add_cache_flag(self)


def run(main: Callable[[], int]) -> int:
    """`gaia_jax.cli.command_line.run` with the cache and JAX's switches as this code needs them."""
    prepare()
    return command_line.run(main)


def prepare() -> None:
    """Set JAX's switches and enable the compilation cache, except for `--help`."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        return
    from gaia_jax.xla.compilation_cache import enable_compilation_cache
    from gaia_jax.xla.jax_config import for_this_process

    for_this_process()
    enable_compilation_cache()


class _Lines:
    """Progress without a terminal: each state is a line."""

    def write(self, text: str) -> None:
        if text.strip():
            sys.stderr.write(text.strip("\r\n ") + "\n")

    def flush(self) -> None:
        sys.stderr.flush()


@cache
def _bar_class() -> Any:
    from tqdm import tqdm

    class _Bar(tqdm):  # type: ignore[type-arg]  # not generic at run time
        """Refreshes the elapsed time also when `update` reports no progress."""

        def update(self, n: float | None = 1) -> bool | None:
            is_shown = super().update(n)
            if self.disable:  # a disabled bar has no timer
                return is_shown
            if not is_shown and time.time() - self.last_print_t >= self.mininterval:
                self.last_print_t = time.time()
                self.refresh()
                is_shown = True
            if is_shown and not sys.stderr.isatty():
                self.mininterval = next_wait(self.mininterval)
            return is_shown

    return _Bar


def bar(unit: str, total: int, done: int = 0, shown: bool = True) -> tqdm[Any]:
    """Progress on stderr: a bar on a terminal, elsewhere lines like those of `status_line`."""
    live = sys.stderr.isatty()
    progress_bar: tqdm[Any] = _bar_class()(
        total=total, initial=done, unit=unit, file=sys.stderr if live else _Lines(),
        mininterval=0.1 if live else LINE_SECONDS, maxinterval=LINE_SECONDS, miniters=1,
        disable=not shown,
    )  # fmt: skip
    return progress_bar


class _NoCache(argparse.Action):
    def __call__(self, *args: Any, **kwargs: Any) -> None:
        from gaia_jax.xla.compilation_cache import disable_compilation_cache

        disable_compilation_cache()


def add_cache_flag(parser: argparse.ArgumentParser) -> None:
    """`--no-cache`: compile everything and store nothing."""
    text = "compile without reading or writing the cache"
    parser.add_argument("--no-cache", action=_NoCache, nargs=0, help=text)


def add_games_flags(parser: argparse.ArgumentParser, games: int, rounded: str) -> None:
    """`--games`, `--seed`."""
    add = parser.add_argument
    add("--games", type=whole(1, MOST_GAMES), default=games, help=rounded)
    add("--seed", type=whole(0, LARGEST_SEED), default=0, help="seed of the set-ups")


def add_store_flags(
    parser: argparse.ArgumentParser, *flags: str, metavar: str = "FILE", text: str
) -> None:
    """`--json`, the flags of the stored games, `--resume` and `--record`."""
    add = parser.add_argument
    add("--json", metavar="FILE", type=Path, help="write the report here")
    add(*flags, metavar=metavar, type=Path, help=text)
    add("--resume", action="store_true", help=f"continue the games of {flags[0]}")
    add_record_flag(parser)


def add_record_flag(parser: argparse.ArgumentParser) -> None:
    """`--record DIR`."""
    parser.add_argument(
        "--record", metavar="DIR", type=Path, help="write a record of each game into this folder"
    )


def add_rules_flags(parser: argparse.ArgumentParser, solo: bool = True) -> None:
    """`--env`, `--players`; without `solo` at least two players."""
    add = parser.add_argument
    add("--env", default="lost_fleet", help="the ruleset")
    text = "fewer than 4 only for base and lost_fleet_published"
    add("--players", type=int, choices=(1, *PLAYERS) if solo else PLAYERS, default=4, help=text)


def add_likeliest_flag(parser: argparse.ArgumentParser) -> None:
    """`--likeliest`."""
    text = "play the most probable action instead of sampling"
    parser.add_argument("--likeliest", action="store_true", help=text)


def add_automa_flag(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """`--automa LEVEL`, or several levels."""
    levels = "levels of the Automa, separated by commas" if several else "the level of the Automa"
    parser.add_argument(
        "--automa", metavar="LEVELS" if several else "LEVEL",
        help=f"with one player: {levels}; any: each game draws one (default: automachtig)",
    )  # fmt: skip


def levels_of(args: argparse.Namespace, flag: str, store: Path | None) -> list[str | None]:
    """The levels of `--automa`; [None] without it.

    Raises:
        UserError: several, and `flag`, the file `store`, or `--record` would hold their games.
    """
    levels = [level.strip() for level in args.automa.split(",")] if args.automa else [None]
    if len(levels) > 1 and (store or args.record):
        raise UserError(f"{flag} and --record hold the games of one level, not of {args.automa}")
    return levels


def need_pyarrow(subject: str) -> None:
    """Raise a UserError "SUBJECT pyarrow: ..." if pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise UserError(f'{subject} pyarrow: pip install "gaia_jax[data]"')


def start_jax() -> None:
    """Initialize the devices, so that an unavailable JAX_PLATFORMS fails before any work.

    Call it after `devices.split_cpu`, which has no effect once JAX has started.
    """
    import jax

    jax.devices()


@contextmanager
def compiling(task: str) -> Iterator[None]:
    """Report on stderr that `task` is being compiled, and finally the seconds."""
    start_jax()
    start_time, events = time.monotonic(), _events()
    before = events.copy()

    def text() -> str:
        seconds = time.monotonic() - start_time
        return f"compiling {task}" + (f", {seconds:.0f} s" if seconds >= 1 else "")

    with status_line(text, at_once=True):
        yield
    hits, misses = events[HIT] - before[HIT], events[MISS] - before[MISS]
    note = " (from the cache)" if hits and not misses else ""
    print(f"compiled in {time.monotonic() - start_time:.0f} s{note}", file=sys.stderr)


@cache
def _events() -> Counter[str]:
    """The numbers of programs that JAX read from its cache and compiled."""
    import jax.monitoring

    events: Counter[str] = Counter()

    def count(event: str, **_: Any) -> None:
        events[event] += 1

    jax.monitoring.register_event_listener(count)
    return events

"""The table in the browser.

    python -m training.play --port 8420 --agents runs/quick,zoo/strong --record game.json

Serves this machine alone unless `--host` says otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gaia_jax.cli import command_line, outputs
from gaia_jax.cli.command_line import UserError

from ..system.cli import Parser, prepare, start_jax

if TYPE_CHECKING:
    import uvicorn

    from .game_server import GameServer
    from .landing import Front

FIRST_RULESET = "lost_fleet"
HEAD_START = 3.0  # seconds of the first page; one that deals a game compiles by itself


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C. The exit code."""
    options = _parse(argv)
    try:
        import uvicorn

        from .landing import Front, Served
        from .request_guard import LOOPBACK
    except ImportError as error:
        raise UserError("the table needs the extra `play`: pip install '.[play]'") from error
    hosts = tuple(dict.fromkeys((*LOOPBACK, options.host, *options.allow_host)))
    front = Front(hosts)
    loading = Loading(options, front, lambda: server.should_exit)
    if _names_something(options):
        loading.run()  # errors are reported before anything is served
    listener = _listen(options.host, options.port)
    port = listener.getsockname()[1]
    print(
        f"The table is at http://{_displayed_host(options.host)}:{port}/ (Ctrl-C ends it)",
        flush=True,
    )
    config = uvicorn.Config(
        front, log_level="warning", server_header=False,
        timeout_keep_alive=10, timeout_graceful_shutdown=1, limit_concurrency=200,
    )  # fmt: skip
    server = Served(config, lambda: loading.keep())
    logging.getLogger("uvicorn.error").addFilter(_not_cancelled)
    loading.begin(server)
    server.run(sockets=[listener])
    if loading.error:
        raise loading.error
    return 0


def _names_something(options: argparse.Namespace) -> bool:
    """Whether the command names what only a loaded game can check."""
    named = options.record or options.agents or options.env != FIRST_RULESET
    return bool(named or os.environ.get("JAX_PLATFORMS"))


class Loading:
    """Import and prepare the games while the first page, which needs none of them, is served."""

    def __init__(self, options: argparse.Namespace, front: Front, ending: Callable[[], bool]):
        """
        Args:
            options: of the command line.
            front: what is given the games.
            ending: whether the server is about to end.
        """
        self.options, self.front, self.ending = options, front, ending
        self.error: BaseException | None = None
        self.keep: Callable[[], list[str]] = list  # nothing to save before the games are there

    def begin(self, server: uvicorn.Server) -> None:
        """In a thread, where it has not been done; what goes wrong ends the server."""
        if self.front.games is not None:
            return

        def load() -> None:
            try:
                self.run()
            except BaseException as error:
                self.error, server.should_exit = error, True

        threading.Thread(target=load, name="loading", daemon=True).start()

    def run(self) -> None:
        """Make the games.

        Raises:
            UserError: what the command names is not there, or is broken.
        """
        prepare()
        from gaia_jax.ruleset import RULESETS

        from .agent_pool import AgentPool
        from .app import make_app
        from .game_server import GameServer

        options = self.options
        if options.env not in RULESETS:
            ruleset_names = ", ".join(RULESETS)
            raise UserError(f"unknown ruleset {options.env!r}; known are {ruleset_names}")
        start_jax()
        names = [name.strip() for name in options.agents.split(",") if name.strip()]
        games = GameServer(AgentPool(names), options.saves)
        record = _take(options.record, options.saves, games) if options.record else None
        self.front.games = make_app(games, record, self.ending)
        self.keep = games.keep
        _compile_later(games, options.env)


def _compile_later(games: GameServer, ruleset: str) -> None:
    """Compile a ruleset once the first page had time to be shown: both want the same threads."""
    timer = threading.Timer(HEAD_START, games.compile, [games.rules[ruleset]])
    timer.daemon = True
    timer.start()


def _not_cancelled(record: logging.LogRecord) -> bool:
    """Who ends the server while a request is under way need not be shown where it was."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def _displayed_host(host: str) -> str:
    return "localhost" if host in ("127.0.0.1", "0.0.0.0", "::") else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # who calls from now on waits for the server and is not turned away
    except OSError as error:
        hint = "; --port names another" if port else ""
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror}{hint}") from error
    return listener


def _take(path: Path, saves: Path, games: GameServer) -> str:
    """Copy a record to the saved ones under a free name. Returns that name."""
    from gaia_jax import replay

    from .saves import check

    try:
        check(replay.read(path), games.rules_for)
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    except ValueError as error:  # Refused among them
        raise UserError(f"{path}: {error}") from error
    saves.mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    # Only such names may be asked for, see `game_server`.
    stem = re.sub(r"[^A-Za-z0-9 _.-]", "_", path.stem)[:50]
    stem = stem if stem[0].isalnum() else f"record {stem}"
    for name in (stem, *(f"{stem} {number}" for number in range(2, 1000))):
        target = saves / f"{name}.json"
        if not target.exists():
            outputs.write_bytes(target, data)
        if target.read_bytes() == data:
            return name
    raise UserError(f"{saves} holds too many records of the name {path.stem}")


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("python -m training.play", __doc__)
    parser.add_argument(
        "--port", type=command_line.whole(0, 65535), default=8420, help="0 takes any that is free"
    )
    parser.add_argument("--host", default="127.0.0.1", help="who else may call: an address")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="a further name by which this machine is called",
    )  # fmt: skip
    parser.add_argument("--agents", default="", help="more agents by name, comma between")
    parser.add_argument("--record", type=Path, metavar="FILE", help="open this record")
    parser.add_argument(
        "--saves", type=Path, default=Path("runs/play"), help="where records are saved"
    )
    parser.add_argument("--env", default=FIRST_RULESET, help="what is compiled first")
    options = parser.parse_args(argv)
    outputs.check_inside("--saves", options.saves, parents=True)
    return options


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION agents in the current folder
    command_line.leave(command_line.run(main))  # agents are compiled in the background

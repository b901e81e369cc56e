"""The table in the browser.

    python -m training.play --port 8420 --agents runs/quick,zoo/strong --record game.json

Serves only this machine unless you give `--lan`, another `--host`, or `--allow-host`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
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

    from .access import Access
    from .game_server import GameServer
    from .landing import Landing

FIRST_RULESET = "lost_fleet"
HEAD_START = 10.0  # seconds in which a page may ask for another game than the first one


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C. Returns the exit code."""
    options = _parse(argv)
    try:
        import uvicorn

        if options.lan:
            import segno  # noqa: F401

        from .access import Access
        from .landing import Landing
        from .request_guard import LOOPBACK
    except ImportError as error:
        raise UserError("the table needs the extra `play`: pip install '.[play]'") from error
    if options.lan:
        options.host = _lan_address()
    hosts = tuple(dict.fromkeys((*LOOPBACK, options.host, *options.allow_host)))
    landing = Landing(hosts)
    access = Access(options.saves / "tables" if _needs_key(options, LOOPBACK) else None)
    loading = Loading(options, landing, access, lambda: server.should_exit)
    if _must_load_first(options):
        loading.run()  # errors are reported before anything is served
    listener = _listen(options.host, options.port)
    address = f"http://{_displayed_host(options.host)}:{listener.getsockname()[1]}/"
    address += f"#key={access.key}" if access.key else ""
    print(f"The table is at {address} (Ctrl-C ends it)", flush=True)
    if options.lan:
        print("Everybody who opens this address takes part.", flush=True)
        _print_qr_code(address)
    config = uvicorn.Config(
        landing, log_level="warning", server_header=False,
        timeout_keep_alive=10, timeout_graceful_shutdown=1, limit_concurrency=200,
    )  # fmt: skip
    server = uvicorn.Server(config)
    logging.getLogger("uvicorn.error").addFilter(_not_cancelled)
    loading.begin(server)
    server.run(sockets=[listener])
    if loading.error:
        raise loading.error
    return 0


def _needs_key(options: argparse.Namespace, loopback: Sequence[str]) -> bool:
    """Whether others may reach the server: at an address that is not `loopback`, or by a name."""
    return options.host not in loopback or bool(options.allow_host)


def _must_load_first(options: argparse.Namespace) -> bool:
    """Whether options must be checked before serving, which only loaded games can do."""
    has_names = options.record or options.agents or options.env != FIRST_RULESET
    return bool(has_names or os.environ.get("JAX_PLATFORMS"))


class Loading:
    """Import and prepare the games while the first page is served."""

    def __init__(
        self,
        options: argparse.Namespace,
        landing: Landing,
        access: Access,
        ending: Callable[[], bool],
    ):
        """
        Args:
            options: of the command line.
            landing: receives the games.
            access: the rules of access to the server.
            ending: whether the server is about to end.
        """
        self.options, self.landing, self.access, self.ending = options, landing, access, ending
        self.error: BaseException | None = None

    def begin(self, server: uvicorn.Server) -> None:
        """Load in a thread unless the games are loaded; an error ends the server."""
        if self.landing.games is not None:
            return

        def load() -> None:
            try:
                self.run()
            except BaseException as error:
                self.error, server.should_exit = error, True

        threading.Thread(target=load, name="loading", daemon=True).start()

    def run(self) -> None:
        """Load the games.

        Raises:
            UserError: an agent, record or ruleset of the command is unknown or invalid.
        """
        prepare()
        from gaia_jax.ruleset import RULESETS

        from . import compile_process
        from .agent_pool import AgentPool
        from .app import FirstRecord, make_app
        from .game_server import GameServer

        options = self.options
        if options.env not in RULESETS:
            ruleset_names = ", ".join(RULESETS)
            raise UserError(f"unknown ruleset {options.env!r}; known are {ruleset_names}")
        start_jax()
        compile_process.is_server = True
        names = [name.strip() for name in options.agents.split(",") if name.strip()]
        games = GameServer(AgentPool(names), options.saves, shared=bool(self.access.key))
        first = None
        if options.record:
            at = None if options.at is None else options.at - 1
            first = FirstRecord(_import_record(options, games), at)
        self.landing.games = make_app(games, first, self.ending, self.access)
        _compile_later(games, options.env)


def _compile_later(games: GameServer, ruleset: str) -> None:
    """Compile a ruleset after `HEAD_START`, unless a page has chosen a game by then."""
    timer = threading.Timer(HEAD_START, games.rules.compile_first, [games.rules.get(ruleset, 4)])
    timer.daemon = True
    timer.start()


def _not_cancelled(record: logging.LogRecord) -> bool:
    """Hide the traceback of requests that the end of the server cancels."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def _lan_address() -> str:
    """The address of this machine in the local network; UserError if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation; nothing is sent
            return str(probe.getsockname()[0])
        except OSError as error:
            raise UserError("this machine is in no network; use --host ADDRESS") from error


def _print_qr_code(address: str) -> None:
    import segno

    segno.make(address).terminal(compact=True)


def _displayed_host(host: str) -> str:
    if host in ("127.0.0.1", "0.0.0.0", "::"):
        return "localhost"
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)  # from now on requests wait for the server
    except OSError as error:
        hint = "; choose another --port" if port else ""
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror}{hint}") from error
    return listener


def _import_record(options: argparse.Namespace, games: GameServer) -> str:
    """Copy the record into the folder of saved records. Returns its name there."""
    from gaia_jax import replay

    from .saves import check, is_name

    path, saves = options.record, options.saves
    try:
        record = replay.read(path)
        rules, _ = check(record, games.rules.get)
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    except ValueError as error:  # Refused among them
        raise UserError(f"{path}: {error}") from error
    if options.at is not None and not 1 <= options.at <= len(record.actions):
        raise UserError(f"--at must be 1 to {len(record.actions)}, got {options.at}")
    games.rules.compile(rules)
    saves.mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    stem = "".join(c if is_name(f"a{c}") else "_" for c in path.stem)[:50]
    stem = stem if is_name(stem) else f"record {stem.encode('ascii', 'replace').decode()}"
    for name in (stem, *(f"{stem} {number}" for number in range(2, 1000))):
        target = saves / f"{name}.json"
        if not target.exists():
            outputs.write_bytes(target, data)
        if target.read_bytes() == data:
            return name
    raise UserError(f"{saves} has too many records with the name {path.stem}")


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser("python -m training.play", __doc__)
    parser.add_argument(
        "--port", type=command_line.whole(0, 65535), default=8420, help="port; 0 for any free one"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--lan", action="store_true",
        help="listen in the local network, and print the address and a QR code for the others",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME",
        help="another host name of the server; requests then need the key of the printed address",
    )  # fmt: skip
    parser.add_argument("--agents", default="", help="more agents to offer, separated by commas")
    parser.add_argument("--record", type=Path, metavar="FILE", help="open this record")
    parser.add_argument("--at", type=int, metavar="N", help="open it before its decision N, from 1")
    parser.add_argument(
        "--saves", type=Path, default=Path("runs/play"), help="folder for saved records"
    )
    parser.add_argument("--env", default=FIRST_RULESET, help="the ruleset to compile first")
    options = parser.parse_args(argv)
    if options.at is not None and not options.record:
        raise UserError("--at requires --record")
    outputs.check_inside("--saves", options.saves)
    return options


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION agents in the current folder
    command_line.leave(command_line.run(main))  # agents are compiled in the background

"""The table in the browser.

    python -m training.play --port 8420 --agents runs/quick,zoo/strong --record game.json

Serves this machine alone unless `--host` says otherwise.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from gaia_jax import cli
from gaia_jax.cli import UserError
from gaia_jax.compilation_cache import enable_compilation_cache

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C. The exit code."""
    options = _parse(argv)
    try:
        import uvicorn
    except ImportError as error:
        raise UserError("the table needs the extra `play`: pip install '.[play]'") from error
    from training.play.app import make_app
    from training.play.bench import Bench
    from training.play.room import Room

    names = [name.strip() for name in options.agents.split(",") if name.strip()]
    room = Room(Bench(names), options.saves)
    record = _take(options.record, options.saves) if options.record else None
    listener = _listen(options.host, options.port)
    port = listener.getsockname()[1]
    hosts = tuple(dict.fromkeys((*LOOPBACK, options.host, *options.allow_host)))
    print(f"The table stands at http://{_shown(options.host)}:{port}/ (Ctrl-C ends it)", flush=True)
    threading.Thread(target=room.rules[options.env].prepare, daemon=True).start()
    config = uvicorn.Config(
        make_app(room, hosts, record), log_level="warning", server_header=False,
        timeout_keep_alive=10, timeout_graceful_shutdown=1, limit_concurrency=200,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])
    return 0


def _shown(host: str) -> str:
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


def _take(path: Path, saves: Path) -> str:
    """Put a record among the saved ones, where the page finds it; its name."""
    from gaia_jax import replay

    try:
        replay.read(path)
    except replay.RecordError as error:
        raise UserError(str(error)) from error
    saves.mkdir(parents=True, exist_ok=True)
    target = saves / f"{path.stem}.json"
    if not target.exists() or not target.samefile(path):
        shutil.copyfile(path, target)
    return path.stem


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.play", __doc__)
    parser.add_argument(
        "--port", type=cli.whole(0, 65535), default=8420, help="0 takes any that is free"
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
    parser.add_argument("--env", default="lost_fleet", help="what is compiled first")
    options = parser.parse_args(argv)
    from gaia_jax.ruleset import RULESETS

    if options.env not in RULESETS:
        known = ", ".join(RULESETS)
        raise UserError(f"unknown ruleset {options.env!r}; known are {known}")
    return options


if __name__ == "__main__":
    sys.path.insert(0, "")  # MODULE:FUNCTION of the folder one stands in
    enable_compilation_cache()
    sys.exit(cli.run(main))

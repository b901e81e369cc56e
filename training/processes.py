"""Several processes that train one agent: who takes part, and what ends all of them.

    python -m training.train --config FILE train.coordinator=HOST:PORT train.processes=2 \\
        train.process_id=0      # and 1 in the other terminal

Before JAX starts, every process calls at `train.coordinator`, where process 0 listens: who is
missing, comes twice, runs other code, asks for another configuration or sees another run folder is
found there, within a time limit, in one line. JAX's own service then listens one port further.

The connections stay open. What is not part of the compiled program goes over them (`Team.all`), and
where one breaks, because a process was killed or a machine is gone, all others end with one line: a
collective operation with a member missing would wait for it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import jax

from training.config import Config, UserError

WAIT = 120.0  # seconds until everybody has called, unless TIMEOUT says otherwise
TIMEOUT = "GAIA_JAX_PROCESS_TIMEOUT"
HEARTBEAT = 20  # seconds until a machine that does not answer counts as gone
GRACE = 3.0  # seconds until an error counts as one of this process
LOST = 1  # exit code where another process was lost
# Set by the launchers that jax.distributed.initialize understands, with the number of processes.
CLUSTERS = {"SLURM_PROCID": "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE"}


class Place(NamedTuple):
    """Which process this is."""

    coordinator: str  # host:port of process 0; "": as the launcher says
    size: int
    id: int

    @property
    def alone(self) -> bool:
        """Whether it is the only one."""
        return self.size == 1


def place_of(config: Config, environment: Mapping[str, str] = os.environ) -> Place:
    """The process that the configuration or the launcher names.

    Raises:
        UserError: the three settings do not fit one another.
    """
    train = config.train
    if train.coordinator:
        host, colon, port = train.coordinator.rpartition(":")
        if not (host and colon and port.isdigit() and 0 < int(port) < 65535):
            raise UserError(f"train.coordinator must be HOST:PORT, got {train.coordinator!r}")
        if train.processes < 1:
            raise UserError("train.coordinator wants train.processes and train.process_id")
        if train.process_id >= train.processes:
            raise UserError(
                f"train.process_id must be below train.processes, "
                f"got {train.process_id} of {train.processes}"
            )
        return Place(train.coordinator, train.processes, train.process_id)
    if train.processes > 1:
        raise UserError("train.processes wants train.coordinator, HOST:PORT of process 0")
    for name, size in CLUSTERS.items():
        if name in environment and int(environment.get(size, "1")) > 1:
            return Place("", int(environment[size]), int(environment[name]))
    return Place("", 1, 0)


class _Line:
    """A connection to another process: one JSON value a line."""

    def __init__(self, connection: socket.socket):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 5), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self._connection, self._lock = connection, threading.Lock()
        self._file = connection.makefile("r", encoding="utf-8")

    def send(self, value: Any) -> None:
        """Send; that the other end is gone is noticed where it is read."""
        data = json.dumps(value).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            self._connection.sendall(data)

    def receive(self) -> Any:
        """The next value; an EOFError where the other end is gone."""
        try:
            line = self._file.readline()
        except (OSError, ValueError) as error:
            raise EOFError from error
        if not line.endswith("\n"):
            raise EOFError
        return json.loads(line)

    def limit(self, seconds: float | None) -> None:
        """How long `receive` waits."""
        self._connection.settimeout(seconds)

    def close(self) -> None:
        """Hang up; whoever waits at either end gets an EOFError."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()


class Team:
    """The processes of one training; of one process, nobody else.

    Every process calls the same methods in the same order.
    """

    def __init__(self, place: Place, lines: dict[int, _Line]):
        """
        Args:
            lines: at process 0 to all others, elsewhere to process 0.
        """
        self.place, self._lines = place, lines
        self._inbox: dict[int, queue.Queue[Any]] = {other: queue.Queue() for other in lines}
        self._ending = False
        self.hint = ""  # what to do when a process is lost
        for other, line in lines.items():
            line.limit(None)
            threading.Thread(target=self._listen, args=(other, line), daemon=True).start()

    @property
    def leads(self) -> bool:
        """Whether this is process 0, which writes, prints and evaluates."""
        return self.place.id == 0

    @property
    def alone(self) -> bool:
        """Whether there is no other process."""
        return self.place.alone

    def all(self, value: Any) -> list[Any]:
        """What every process passes (plain JSON values), by number; waits until all have."""
        if self.alone:
            return [value]
        if not self.leads:
            self._lines[0].send({"value": value})
            values: list[Any] = self._inbox[0].get()
            return values
        values = [value, *(self._inbox[other].get() for other in range(1, self.place.size))]
        for line in self._lines.values():
            line.send({"value": values})
        return values

    def first(self, value: Any) -> Any:
        """What process 0 passes."""
        return self.all(value)[0]

    def __enter__(self) -> Team:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon(kind)

    def abandon(self, kind: type[BaseException]) -> None:
        """This process ends with an error: hang up, so that the others end too."""
        if self.alone:
            return
        if not issubclass(kind, UserError | KeyboardInterrupt):
            time.sleep(GRACE)  # where another is gone, that is the reason, and `_end` says it
        self._ending = True
        for line in self._lines.values():
            line.close()
        code = 2 if issubclass(kind, UserError) else 130 if kind is KeyboardInterrupt else 1
        # JAX would wait for the others at the end of the interpreter.
        atexit.register(_exit_at_once, code)

    def close(self) -> None:
        """Everybody is done: wait for all, then part without alarm."""
        if self.alone or self._ending:
            return
        self.all(None)
        self._ending = True
        for line in self._lines.values():
            line.send({"bye": True})
        jax.distributed.shutdown()

    def _listen(self, other: int, line: _Line) -> None:
        try:
            while True:
                message = line.receive()
                if "bye" in message:
                    return
                if "lost" in message:
                    self._end(message["lost"])
                self._inbox[other].put(message["value"])
        except EOFError:
            self._end(other)

    def _end(self, other: int) -> None:
        """Another process is gone: one line, and out, whatever the main thread is doing."""
        if self._ending:
            return
        for line in self._lines.values():
            line.send({"lost": other})
        text = f"error: process {other} of {self.place.size} is gone; stopping{self.hint}\n"
        with contextlib.suppress(OSError):
            os.write(sys.stderr.fileno() if sys.stderr else 2, text.encode())
        os._exit(LOST)


def alone() -> Team:
    """The team of a training in one process."""
    return Team(Place("", 1, 0), {})


def versions() -> dict[str, str]:
    """What must be the same wherever one program is compiled in parts."""
    packages = ("jax", "jaxlib", "numpy", "orbax-checkpoint")
    return {name: metadata.version(name) for name in packages}


def check_same(team: Team, values: Mapping[str, Any]) -> None:
    """Refuse values that are not the same at all processes.

    Raises:
        UserError: the first that differs; at all processes.
    """
    everybody = team.all({name: str(value) for name, value in values.items()})
    for number, theirs in enumerate(everybody):
        _compare(number, theirs, everybody[0])


def join(place: Place, card: dict[str, str]) -> Team:
    """Meet the other processes and start JAX's distributed runtime. Before the first JAX call.

    Args:
        card: what must be the same at all processes, by name.
    Raises:
        UserError: somebody is missing or there twice, a card differs, a port is taken.
    """
    if place.alone:
        return alone()
    seconds = float(os.environ.get(TIMEOUT, WAIT))
    # So that Ctrl-C and SIGTERM come to Python: the team itself agrees on where to stop.
    jax.config.update("jax_enable_preemption_service", False)
    if not place.coordinator:
        jax.distributed.initialize(
            initialization_timeout=int(seconds), heartbeat_timeout_seconds=HEARTBEAT
        )
        place = place._replace(coordinator=_published_address())
    lines = _listen(place, card, seconds) if place.id == 0 else _call(place, card, seconds)
    team = Team(place, lines)
    if not jax.distributed.is_initialized():
        host, _, port = place.coordinator.rpartition(":")
        with contextlib.ExitStack() as held:
            if team.leads:
                held.enter_context(_free(int(port) + 1))
        team.all(None)
        jax.distributed.initialize(
            f"{host}:{int(port) + 1}", place.size, place.id,
            cluster_detection_method="deactivate", initialization_timeout=int(seconds),
            heartbeat_timeout_seconds=HEARTBEAT,
        )  # fmt: skip
    return team


def _exit_at_once(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


@contextlib.contextmanager
def _free(port: int) -> Iterator[socket.socket]:
    """A socket that listens there; a UserError where another program does."""
    try:
        server = socket.create_server(("", port), backlog=128)
    except OSError as error:
        raise UserError(
            f"process 0 cannot listen at port {port}: {error.strerror}; "
            "another program, or another process with train.process_id=0"
        ) from error
    with server:
        yield server


def _listen(place: Place, card: dict[str, str], seconds: float) -> dict[int, _Line]:
    """Process 0 waits for the others; what is wrong is told to all who have called."""
    lines: dict[int, _Line] = {}
    strangers: list[_Line] = []
    until = time.monotonic() + seconds
    with _free(int(place.coordinator.rpartition(":")[2])) as server:
        try:
            while len(lines) < place.size - 1:
                server.settimeout(max(until - time.monotonic(), 0.01))
                try:
                    line = _Line(server.accept()[0])
                except TimeoutError as error:
                    missing = sorted(set(range(1, place.size)) - lines.keys())
                    raise UserError(
                        f"after {seconds:.0f} s there is no process {_names(missing)} "
                        f"of {place.size}"
                    ) from error
                strangers.append(line)
                line.limit(5)
                try:
                    caller = line.receive()
                    number, theirs = int(caller["process"]), dict(caller["card"])
                except (EOFError, ValueError, KeyError, TypeError):
                    line.close()  # no process of ours
                    continue
                _check(place, number, theirs, card, lines)
                lines[number] = line
        except UserError as error:
            for line in strangers:
                line.send({"error": str(error)})
                line.close()
            raise
    for line in lines.values():
        line.send({"welcome": place.size})
    return lines


def _check(
    place: Place, number: int, theirs: dict[str, str], ours: dict[str, str], known: dict[int, _Line]
) -> None:
    """Whether a caller is one of us."""
    if number == 0 or number in known:
        raise UserError(f"two processes have train.process_id={number}")
    if number >= place.size:
        raise UserError(f"process {number} has called, and there are {place.size}")
    _compare(number, theirs, ours)


def _compare(number: int, theirs: dict[str, str], ours: dict[str, str]) -> None:
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            raise UserError(
                f"processes 0 and {number} differ in {name}: "
                f"{ours.get(name)!r} and {theirs.get(name)!r}"
            )


def _call(place: Place, card: dict[str, str], seconds: float) -> dict[int, _Line]:
    """Another process calls at process 0, until it answers."""
    host, _, port = place.coordinator.rpartition(":")
    until = time.monotonic() + seconds
    while True:
        try:
            connection = socket.create_connection((host.strip("[]"), int(port)), timeout=5)
            break
        except OSError as error:
            if time.monotonic() > until:
                raise UserError(
                    f"after {seconds:.0f} s no process 0 answers at {place.coordinator}: {error}"
                ) from error
            time.sleep(0.2)
    line = _Line(connection)
    line.limit(max(until - time.monotonic(), 1) + 5)
    line.send({"process": place.id, "card": card})
    try:
        answer = line.receive()
    except (EOFError, ValueError) as error:
        raise UserError(f"process 0 at {place.coordinator} has hung up") from error
    if "welcome" not in answer:
        raise UserError(str(answer.get("error", "process 0 does not know this process")))
    return {0: line}


def _published_address() -> str:
    """Where process 0 listens, told to all by JAX, which the launcher has connected."""
    import numpy as np
    from jax.experimental import multihost_utils

    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    text = f"{socket.gethostname()}:{port}".encode()[:255].ljust(256)
    told = multihost_utils.broadcast_one_to_all(np.frombuffer(text, np.uint8))
    return bytes(np.asarray(told)).decode().strip()


def check_folder(team: Team, folder: Path) -> None:
    """Whether all processes see the same folder; it must exist at process 0.

    Raises:
        UserError: somebody does not; at all processes.
    """
    name = f".seen-by-all-{os.getpid()}" if team.leads else ""
    if team.leads and not team.alone:
        (folder / name).touch()
    name = team.first(name)
    until = time.monotonic() + 5  # a network file system may be late
    while not team.alone and not (folder / name).exists() and time.monotonic() < until:
        time.sleep(0.1)
    seen = team.all(team.alone or (folder / name).exists())
    if team.leads and not team.alone:
        (folder / name).unlink(missing_ok=True)
    blind = [number for number, sees in enumerate(seen) if not sees]
    if blind:
        raise UserError(
            f"process {_names(blind)} does not see the folder {folder} of process 0: "
            "several processes want a shared one"
        )


def _names(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))

"""The connected processes of one training exchange values and end together.

Values outside the compiled program are sent over the connections (`ProcessGroup.all`). If one
breaks, all other processes end with one line: a collective operation would wait forever.
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
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax

from gaia_jax.cli.command_line import UserError, leave

GRACE = 3.0  # seconds until an error counts as one of this process
LOST = 1  # exit code where another process was lost


class Place(NamedTuple):
    """The place of this process among all."""

    coordinator: str  # host:port of process 0; "": the launcher's
    size: int
    id: int

    @property
    def alone(self) -> bool:
        """Whether it is the only one."""
        return self.size == 1


class Channel:
    """A connection to another process: one JSON value per line."""

    def __init__(self, connection: socket.socket):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 5), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        self._connection, self._lock = connection, threading.Lock()
        self._file = connection.makefile("r", encoding="utf-8")

    def send(self, value: object) -> None:
        """Send; a lost connection raises an error in `receive` alone."""
        data = json.dumps(value).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            self._connection.sendall(data)

    def receive(self, seconds: float | None = None) -> Any:
        """The next value; an EOFError if the other end is lost, or silent for `seconds`."""
        self._connection.settimeout(seconds)
        try:
            line = self._file.readline()
        except (OSError, ValueError) as error:
            raise EOFError from error
        if not line.endswith("\n"):
            raise EOFError
        return json.loads(line)

    def close(self) -> None:
        """Close the connection; a receiver at either end gets an EOFError."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()


class Agreed(UserError):
    """An error that all processes have detected; each reports it and exits cleanly."""


class ProcessGroup:
    """The processes of one training; the group may have a single member.

    Every process calls the same methods in the same order.
    """

    def __init__(self, place: Place, channels: dict[int, Channel]):
        """
        Args:
            channels: at process 0 to all others, elsewhere to process 0.
        """
        self.place, self._channels = place, channels
        self._inbox: dict[int, queue.Queue[Any]] = {other: queue.Queue() for other in channels}
        self._ending = False
        self.hint = ""  # what to do when a process is lost
        for other, channel in channels.items():
            threading.Thread(target=self._listen, args=(other, channel), daemon=True).start()

    @property
    def is_main(self) -> bool:
        """Whether this is process 0, which writes files and prints."""
        return self.place.id == 0

    @property
    def alone(self) -> bool:
        """Whether there is no other process."""
        return self.place.alone

    def all(self, value: object) -> list[Any]:
        """The values (JSON) that all processes pass, by number; waits for all of them."""
        if self.alone:
            return [value]
        if not self.is_main:
            self._channels[0].send({"value": value})
            values: list[Any] = self._inbox[0].get()
            return values
        values = [value, *(self._inbox[other].get() for other in range(1, self.place.size))]
        for channel in self._channels.values():
            channel.send({"value": values})
        return values

    def first(self, value: object) -> Any:
        """The value that process 0 passes."""
        return self.all(value)[0]

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, Agreed):
            self.close()
        else:
            self.abandon(kind)

    def abandon(self, kind: type[BaseException]) -> None:
        """End this process with an error: disconnect, so that the others end too."""
        if self.alone:
            return
        if not issubclass(kind, UserError | KeyboardInterrupt):
            time.sleep(GRACE)  # if another process is lost, `_end` reports that as the reason
        self._ending = True
        for channel in self._channels.values():
            channel.close()
        code = 2 if issubclass(kind, UserError) else 130 if kind is KeyboardInterrupt else 1
        # At the end of the interpreter JAX would wait for the others.
        atexit.register(leave, code)

    def close(self) -> None:
        """Wait until all processes are done, then disconnect without an error."""
        if self.alone or self._ending:
            return
        self.all(None)
        self._ending = True
        for channel in self._channels.values():
            channel.send({"bye": True})
        jax.distributed.shutdown()

    def _listen(self, other: int, channel: Channel) -> None:
        try:
            while True:
                message = channel.receive()
                if "bye" in message:
                    return
                if "lost" in message:
                    self._end(message["lost"])
                    return
                self._inbox[other].put(message["value"])
        except EOFError:
            self._end(other)

    def _end(self, other: int) -> None:
        """Another process is lost: print one line and exit, also while the main thread works."""
        if self._ending:
            return
        for channel in self._channels.values():
            channel.send({"lost": other})
        text = f"error: process {other} of {self.place.size} is gone; stopping{self.hint}\n"
        with contextlib.suppress(OSError):
            os.write(sys.stderr.fileno() if sys.stderr else 2, text.encode())
        os._exit(LOST)


def alone() -> ProcessGroup:
    """The group of a training in one process."""
    return ProcessGroup(Place("", 1, 0), {})


def check_same(group: ProcessGroup, values: Mapping[str, object]) -> None:
    """Raise `Agreed` at all processes for the first value that differs between them."""
    everybody = group.all({name: str(value) for name, value in values.items()})
    try:
        for number, fingerprint in enumerate(everybody):
            compare(number, fingerprint, everybody[0])
    except UserError as error:
        raise Agreed(str(error)) from error


def check_folder(group: ProcessGroup, folder: Path) -> None:
    """Raise `Agreed` at all processes unless all see the folder of process 0."""
    if group.alone:
        return
    file = folder / group.first(f".seen-by-all-{os.getpid()}")
    if group.is_main:
        file.touch()
    until = time.monotonic() + 5  # a network file system may be late
    while not file.exists() and time.monotonic() < until:
        time.sleep(0.1)
    seen = group.all(file.exists())
    if group.is_main:
        file.unlink(missing_ok=True)
    blind = [number for number, sees in enumerate(seen) if not sees]
    if blind:
        processes = ", ".join(map(str, blind))
        raise Agreed(
            f"process {processes} does not see the folder {folder} of process 0: "
            "several processes want a shared one"
        )


def check_shared(group: ProcessGroup, folder: Path) -> None:
    """`check_folder` of a folder that may be missing; it is created for the check alone."""
    creates_folder = group.is_main and not group.alone and not folder.exists()
    if creates_folder:
        folder.mkdir()
    try:
        check_folder(group, folder)
    finally:
        if creates_folder:
            folder.rmdir()


def compare(number: int, other: dict[str, str], own: dict[str, str]) -> None:
    """Raise a UserError if the fingerprint of process `number` differs from that of process 0."""
    for name in sorted(own.keys() | other.keys()):
        if own.get(name) != other.get(name):
            raise UserError(
                f"processes 0 and {number} differ in {name}: "
                f"{own.get(name)!r} and {other.get(name)!r}"
            )

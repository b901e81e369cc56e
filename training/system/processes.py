"""Connect several processes that train one agent.

    python -m training.train --config FILE hosts.coordinator=HOST:PORT hosts.processes=2 \\
        hosts.process_id=0      # and 1 in the other terminal

Before JAX starts, every process connects to `hosts.coordinator`, where process 0 listens. Missing
or duplicate processes, other code, another configuration or another run folder are reported in one
line within a time limit. JAX's own service listens at the next port. The connections stay open
(`training.system.process_group`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Protocol

import jax

from gaia_jax.cli.command_line import UserError

from .process_group import Channel, Place, ProcessGroup, alone, compare

WAIT = 120.0  # seconds until all processes have connected; TIMEOUT overrides it
TIMEOUT = "GAIA_JAX_PROCESS_TIMEOUT"
HEARTBEAT = 20  # seconds until a machine that does not answer is lost
# Set by the launchers that jax.distributed.initialize understands, with the number of processes.
CLUSTERS = {"SLURM_PROCID": "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE"}


class Hosts(Protocol):
    """The group `hosts` of a configuration, `config.keys.HostsConfig`."""

    @property
    def coordinator(self) -> str: ...
    @property
    def processes(self) -> int: ...
    @property
    def process_id(self) -> int: ...


def place_of(hosts: Hosts, environment: Mapping[str, str] = os.environ) -> Place:
    """The process that the configuration or the launcher names; a UserError for bad settings."""
    if hosts.coordinator:
        host, colon, port = hosts.coordinator.rpartition(":")
        if not (host and colon and port.isdigit() and 0 < int(port) < 65535):
            raise UserError(f"hosts.coordinator must be HOST:PORT, got {hosts.coordinator!r}")
        if hosts.processes < 1:
            raise UserError("hosts.coordinator wants hosts.processes and hosts.process_id")
        if hosts.process_id >= hosts.processes:
            raise UserError(
                f"hosts.process_id must be below hosts.processes, "
                f"got {hosts.process_id} of {hosts.processes}"
            )
        return Place(hosts.coordinator, hosts.processes, hosts.process_id)
    if hosts.processes > 1:
        raise UserError("hosts.processes wants hosts.coordinator, HOST:PORT of process 0")
    for name, size in CLUSTERS.items():
        if name in environment and int(environment.get(size, "1")) > 1:
            return Place("", int(environment[size]), int(environment[name]))
    return Place("", 1, 0)


def versions() -> dict[str, str]:
    """Versions that must be equal in all processes."""
    packages = ("jax", "jaxlib", "numpy", "orbax-checkpoint")
    return {name: metadata.version(name) for name in packages} | {"the code": _code()}


def _code() -> str:
    """A digest of this project's source files."""
    import gaia_jax

    digest = hashlib.sha256()
    for folder in (Path(str(gaia_jax.__file__)).parent, Path(__file__).parents[1]):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def join(place: Place, fingerprint: dict[str, str]) -> ProcessGroup:
    """Connect to the other processes and start JAX's distributed runtime, before any JAX call.

    Args:
        fingerprint: values by name that must be the same in all processes.
    Raises:
        UserError: a process is missing or duplicated, a fingerprint differs, a port is taken.
    """
    if place.alone:
        return alone()
    seconds = float(os.environ.get(TIMEOUT, WAIT))
    # Ctrl-C and SIGTERM must reach Python: the group agrees where to stop.
    jax.config.update("jax_enable_preemption_service", False)
    if not place.coordinator:
        jax.distributed.initialize(
            initialization_timeout=int(seconds), heartbeat_timeout_seconds=HEARTBEAT
        )
        place = place._replace(coordinator=_published_address())
    channels = (
        _listen(place, fingerprint, seconds)
        if place.id == 0
        else _call(place, fingerprint, seconds)
    )
    group = ProcessGroup(place, channels)
    if not jax.distributed.is_initialized():
        host, _, port = place.coordinator.rpartition(":")
        with contextlib.ExitStack() as stack:
            if group.is_main:
                stack.enter_context(_free(int(port) + 1))
        group.all(None)
        jax.distributed.initialize(
            f"{host}:{int(port) + 1}", place.size, place.id,
            cluster_detection_method="deactivate", initialization_timeout=int(seconds),
            heartbeat_timeout_seconds=HEARTBEAT,
        )  # fmt: skip
    return group


@contextlib.contextmanager
def _free(port: int) -> Iterator[socket.socket]:
    """A socket that listens at the port; a UserError if another program uses it."""
    try:
        server = socket.create_server(("", port), backlog=128)
    except OSError as error:
        raise UserError(
            f"process 0 cannot listen at port {port}: {error.strerror}; "
            "another program, or another process with hosts.process_id=0"
        ) from error
    with server:
        yield server


def _listen(place: Place, fingerprint: dict[str, str], seconds: float) -> dict[int, Channel]:
    """Process 0 waits for the others and sends errors to all that have connected."""
    channels: dict[int, Channel] = {}
    strangers: list[Channel] = []
    until = time.monotonic() + seconds
    with _free(int(place.coordinator.rpartition(":")[2])) as server:
        try:
            while len(channels) < place.size - 1:
                server.settimeout(max(until - time.monotonic(), 0.01))
                try:
                    channel = Channel(server.accept()[0])
                except TimeoutError as error:
                    missing = [str(n) for n in range(1, place.size) if n not in channels]
                    raise UserError(
                        f"after {seconds:.0f} s there is no process {', '.join(missing)} "
                        f"of {place.size}"
                    ) from error
                strangers.append(channel)
                try:
                    caller = channel.receive(5)
                    number, other = int(caller["process"]), dict(caller["fingerprint"])
                except (EOFError, ValueError, KeyError, TypeError):
                    channel.close()  # not a process of this training
                    continue
                _check(place, number, other, fingerprint, channels)
                channels[number] = channel
        except UserError as error:
            for channel in strangers:
                channel.send({"error": str(error)})
                channel.close()
            raise
    for channel in channels.values():
        channel.send({"welcome": place.size})
    return channels


def _check(
    place: Place,
    number: int,
    other: dict[str, str],
    own: dict[str, str],
    channels: dict[int, Channel],
) -> None:
    """Raise a UserError for a caller that does not belong to this training."""
    if number == 0 or number in channels:
        raise UserError(f"two processes have hosts.process_id={number}")
    if number >= place.size:
        raise UserError(f"process {number} has called, and there are {place.size}")
    compare(number, other, own)


def _call(place: Place, fingerprint: dict[str, str], seconds: float) -> dict[int, Channel]:
    """Connect to process 0, retrying until it answers."""
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
    channel = Channel(connection)
    channel.send({"process": place.id, "fingerprint": fingerprint})
    try:
        answer = channel.receive(max(until - time.monotonic(), 1) + 5)
    except (EOFError, ValueError) as error:
        raise UserError(
            f"what listens at {place.coordinator} is no process 0, or it has hung up"
        ) from error
    if not isinstance(answer, dict):
        raise UserError(f"what listens at {place.coordinator} is no process 0")
    if "welcome" not in answer:
        raise UserError(str(answer.get("error", "process 0 does not know this process")))
    return {0: channel}


def _published_address() -> str:
    """The address of process 0, broadcast by JAX, which the launcher has connected."""
    import numpy as np
    from jax.experimental import multihost_utils

    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    text = f"{socket.gethostname()}:{port}".encode()[:255].ljust(256)
    received = multihost_utils.broadcast_one_to_all(np.frombuffer(text, np.uint8))
    return bytes(np.asarray(received)).decode().strip()

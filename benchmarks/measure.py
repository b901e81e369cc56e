"""Timing, instruction counts and bytes: what a number in a benchmark's table means."""

import argparse
import dataclasses
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from benchmarks import hlo
from benchmarks.peers import Contender, State

ROWS = "rows"  # the mesh axis, where a batch is split over devices


def split_cpu(devices: int) -> None:
    """Split the CPU into `devices` devices, each with a share of every batch.

    Call it before any array is made.

    On one device both cores share each kernel; with a device a core each plays its own games.
    """
    if devices > 1:
        jax.config.update("jax_num_cpu_devices", devices)


def compile_afresh() -> None:
    """Turn the persistent compilation cache off, so that a compile time is one."""
    jax.config.update("jax_enable_compilation_cache", False)


def tree_bytes(tree: Any) -> int:
    """Bytes of a PyTree of arrays or of `ShapeDtypeStruct`."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A function compiled for given shapes, with what that took."""

    call: Callable[..., Any]
    trace_s: float  # tracing and lowering, in Python
    compile_s: float  # XLA
    instructions: int  # of the optimized module
    temp_bytes: int | None  # scratch memory while it runs, if the backend reports it

    def cost(self) -> dict[str, Any]:
        return {
            "trace_s": round(self.trace_s, 3),
            "compile_s": round(self.compile_s, 3),
            "seconds": round(self.trace_s + self.compile_s, 3),
            "instructions": self.instructions,
            "temp_bytes": self.temp_bytes,
        }


def command_parser(name: str, doc: str | None, *report_keys: str) -> argparse.ArgumentParser:
    """The parser of `python -m benchmarks.NAME`, with `--json FILE` if a report has keys."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=doc)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    if report_keys:
        parser.add_argument("--json", type=report_file(*report_keys), help="write the report here")
    return parser


def report_file(*keys: str) -> Callable[[str], Path]:
    """The type of `--json FILE`: refused while the command line is read, before any work.

    Args:
        keys: that every report of the benchmark has; a file without them is not written over.
    """

    def checked(text: str) -> Path:
        from gaia_jax.cli import outputs  # a revision that is measured may lack it
        from gaia_jax.cli.command_line import UserError

        try:
            outputs.check_file("--json", Path(text), outputs.json_with(*keys), parents=True)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            raise SystemExit(2) from error
        return Path(text)

    return checked


def write_report(path: Path | None, report: dict[str, Any], report_path: bool = True) -> None:
    """Write a report as JSON, into a folder that is made, and say so; no path, no report."""
    if path is None:
        return
    from gaia_jax.cli import command_line, outputs  # a revision that is measured may lack them

    path.parent.mkdir(parents=True, exist_ok=True)
    outputs.write_text(path, json.dumps(report, indent=1) + "\n")
    if report_path:
        command_line.wrote(path)


def compiled(function: Callable[..., Any], *args: Any, donate: tuple[int, ...] = ()) -> Compiled:
    """Compile `function` for the shapes of `args` (arrays or `ShapeDtypeStruct`)."""
    start = time.perf_counter()
    lowered = jax.jit(function, donate_argnums=donate).lower(*args)
    traced = time.perf_counter()
    executable = lowered.compile()
    done = time.perf_counter()
    memory = executable.memory_analysis()
    return Compiled(
        call=executable,
        trace_s=traced - start,
        compile_s=done - traced,
        instructions=hlo.count_instructions(executable.as_text() or ""),
        temp_bytes=getattr(memory, "temp_size_in_bytes", None),
    )


def step_cost(contender: Contender, batch: int) -> dict[str, Any]:
    """Compile `jit(vmap(step))`, the bare step without a reset, and say what it took."""
    key = jax.random.key(0)
    state = jax.eval_shape(lambda key: contender.init(key, batch), key)
    action = jax.ShapeDtypeStruct((batch,), jnp.int32)
    keys = jax.eval_shape(lambda key: jax.random.split(key, batch), key)
    return compiled(jax.vmap(contender.step), state, action, keys).cost()


class Runner:
    """Random legal play of one environment at one batch size, played on from round to round.

    Games that start together stay in phase: all set up, pass and end at the same time, and the
    time of a round would depend on its phase. So after the burn-in each row continues
    from its own moment, drawn from the first `burn_in` decisions.
    """

    def __init__(
        self, contender: Contender, batch: int, steps: int, observe: bool, burn_in: int, seed: int
    ):
        self.contender, self.batch, self.steps = contender, batch, steps
        init_key, self._key, spread = jax.random.split(jax.random.key(seed), 3)
        mesh = jax.make_mesh((jax.device_count(),), (ROWS,), axis_types=(AxisType.Auto,))
        split = NamedSharding(mesh, P(ROWS))
        init = jax.jit(contender.init, static_argnums=1, out_shardings=split)
        self._state = init(init_key, batch)
        self.state_bytes = tree_bytes(self._state) // batch

        def play(state: State, key: jax.Array) -> tuple[State, jax.Array, jax.Array, Any]:
            return contender.rollout(state, key, steps, observe)

        def share(state: State, key: jax.Array) -> tuple[State, jax.Array, jax.Array, Any]:
            """What one device plays."""
            own = jax.random.fold_in(key, jax.lax.axis_index(ROWS))
            state, _, ended, seen = play(state, own)
            return state, jax.random.fold_in(key, mesh.size), jax.lax.psum(ended, ROWS), seen

        specs = {"in_specs": (P(ROWS), P()), "out_specs": (P(ROWS), P(), P(), P(ROWS))}
        shares = jax.shard_map(share, mesh=mesh, check_vma=False, **specs)
        sharded = mesh.size > 1
        self.rollout = compiled(shares if sharded else play, self._state, self._key, donate=(0,))
        self.decisions = self.ended = 0
        self._burn_in(burn_in, spread)
        self.seconds_a_chunk = self.chunks(1)

    def chunks(self, calls: int) -> float:
        """Time `calls` rollout calls, in seconds."""
        start = time.perf_counter()
        ended = []
        for _ in range(calls):
            self._state, self._key, count, _ = self.rollout.call(self._state, self._key)
            ended.append(count)
        jax.block_until_ready(self._state)
        seconds = time.perf_counter() - start
        self.decisions += calls * self.steps * self.batch
        self.ended += sum(int(count) for count in ended)
        return seconds

    def _burn_in(self, decisions: int, key: jax.Array) -> None:
        chunks = max(1, decisions // self.steps)
        moment = jax.random.randint(key, (self.batch,), 0, chunks + 1)

        def select(later: jax.Array, spread: State, state: State) -> State:
            def choose(old: jax.Array, new: jax.Array) -> jax.Array:
                return jnp.where(later.reshape(-1, *[1] * (new.ndim - 1)), new, old)

            return jax.tree.map(choose, spread, state)

        select = jax.jit(select, donate_argnums=1)
        spread = jax.tree.map(jnp.copy, self._state)
        for chunk in range(chunks):
            self.chunks(1)
            spread = select(moment > chunk, spread, self._state)
        self._state = spread

    def calls_for(self, seconds: float) -> int:
        """Rollout calls that take about `seconds`, at least one."""
        return max(1, round(seconds / self.seconds_a_chunk))

    def round(self, calls: int) -> float:
        """Play one round; decisions a second."""
        return calls * self.steps * self.batch / self.chunks(calls)


def take_turns(runs: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """The results of each run, one a round; another run begins in each round."""
    results: list[list[float]] = [[] for _ in runs]
    for turn in range(rounds):
        for k in range(len(runs)):
            i = (k + turn) % len(runs)
            results[i].append(runs[i]())
    return results


def time_programs(
    programs: Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]], rounds: int
) -> dict[str, list[float]]:
    """Seconds of each program in each round; they take turns, after one call unmeasured.

    Args:
        programs: compiled functions, each with its arguments.
    """

    def run(program: Callable[..., Any], args: tuple[Any, ...]) -> float:
        start = time.perf_counter()
        jax.block_until_ready(program(*args))
        return time.perf_counter() - start

    turns = take_turns([partial(run, *pair) for pair in programs.values()], rounds + 1)
    return {name: times[1:] for name, times in zip(programs, turns, strict=True)}


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and greatest, as the tables print them."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def spread_text(values: dict[str, float], digits: int) -> str:
    """A `spread` with `digits` decimals."""
    median, least, greatest = (f"{values[key]:,.{digits}f}" for key in ("median", "min", "max"))
    return f"{median} ({least} to {greatest})"


def machine() -> dict[str, Any]:
    """Where and with what the numbers were made."""
    device = jax.devices()[0]
    return {
        "backend": jax.default_backend(),
        "device": device.device_kind,
        "devices": jax.device_count(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "revision": revision(Path(__file__).resolve().parent.parent),
    }


def machine_line(machine: dict[str, Any]) -> str:
    """The head of a table: JAX, the devices and the cores of `machine`."""
    devices = f"{machine['device']} x {machine['devices']}"
    return f"jax {machine['jax']}, {devices}, {machine['cpus']} CPU cores"


def revision(root: Path) -> str:
    """The git revision of `root`, with a + where the working tree differs; empty outside git."""
    describe = ["git", "describe", "--always", "--dirty=+"]
    try:
        done = subprocess.run(describe, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()

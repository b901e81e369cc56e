"""How long `init` and `step` take to compile, and which lines of code their programs come from.

    python -m benchmarks.compile_time --lines 30
    python -m benchmarks.compile_time --option xla_backend_optimization_level=1

Traces, lowers and compiles `jit(vmap(init))` and `jit(vmap(step))` in this process without any
cache, and books each fusion of the optimized modules to the source line that its metadata names.
Times depend on what else runs: the load is printed with them, and the CPU seconds of XLA's threads.
"""

from __future__ import annotations

import collections
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import gaia_jax
from benchmarks import hlo, measure
from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError

PROGRAMS = ("init", "step")
_FRAME = re.compile(r"stack_frame_id=(\d+)")


def _modules(text: str) -> Path:
    """The type of `--hlo`: a folder whose files of these names are modules."""
    is_module_file = outputs.begins("HloModule ")
    try:
        for name in PROGRAMS:
            outputs.check_inside("--hlo", Path(text), f"{name}.hlo", is_module_file)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from error
    return Path(text)


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = measure.command_parser("compile_time", __doc__, "load", "jax", "batch")
    parser.add_argument("--env", default="lost_fleet")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--only", choices=PROGRAMS, help="one of the two programs")
    parser.add_argument("--lines", type=int, default=0, help="source lines with most of these")
    parser.add_argument("--option", action="append", default=[], help="compiler option NAME=VALUE")
    parser.add_argument("--hlo", type=_modules, help="write the optimized modules into that folder")
    args = parser.parse_args(argv)
    measure.compile_afresh()
    options = dict(option.split("=", 1) for option in args.option)
    report = {"load": os.getloadavg(), "jax": jax.__version__, "batch": args.batch}
    for name in PROGRAMS if args.only is None else (args.only,):
        report[name], text = cost(args.env, name, args.batch, options)
        print(name, " ".join(f"{key} {value}" for key, value in report[name].items()))
        for line, counts in by_line(text).most_common(args.lines):
            print(f"{counts:6} {line}")
        if args.hlo:
            args.hlo.mkdir(parents=True, exist_ok=True)
            (args.hlo / f"{name}.hlo").write_text(text)
    print("load before", *(f"{x:.2f}" for x in report["load"]))
    measure.write_report(args.json, report)
    return 0


def cost(
    env_id: str, name: str, batch: int, options: dict[str, Any] | None = None
) -> tuple[dict[str, Any], str]:
    """Seconds of tracing, lowering and compiling one of PROGRAMS, its size, and its text."""
    env = gaia_jax.make(env_id)
    keys = jax.eval_shape(lambda key: jax.random.split(key, batch), jax.random.key(0))
    if name == "init":
        function, args = jax.vmap(env.init), (keys,)
    else:
        states = jax.eval_shape(jax.vmap(env.init), keys)
        function, args = jax.vmap(env.step), (states, jax.ShapeDtypeStruct((batch,), jnp.int32))
        jax.clear_caches()  # what was traced for the shapes of a state counts for `step` too
    start = time.perf_counter()
    traced = jax.jit(function).trace(*args)
    middle = time.perf_counter()
    lowered = traced.lower()
    end = time.perf_counter()
    before = time.process_time()
    executable = lowered.compile(compiler_options=options or None)
    done, after = time.perf_counter(), time.process_time()
    text = executable.as_text() or ""
    return {
        "trace_s": round(middle - start, 2),
        "lower_s": round(end - middle, 2),
        "compile_s": round(done - end, 2),
        "seconds": round(done - start, 2),
        "compile_cpu_s": round(after - before, 2),
        "instructions": hlo.count_instructions(text),
        "fusions_reductions_scatters": sum(by_line(text).values()),
    }, text


def by_line(text: str) -> collections.Counter[str]:
    """Fusions, reductions and scatters of a module by the source line of their metadata."""
    places = _places(text)
    counts: collections.Counter[str] = collections.Counter()
    for instruction in hlo.read(text).instructions:
        if instruction.kind in ("fusion", "reduce", "scatter"):
            frame = _FRAME.search(instruction.rest)
            counts[places.get(int(frame[1]), "?") if frame else "none"] += 1
    return counts


def _places(text: str) -> dict[int, str]:
    """`file:line` of each stack frame in the tables at the head of a module's text."""
    names = dict(re.findall(r'^(\d+) "(.*)"$', text, re.MULTILINE))
    locations = {
        a: (file, line)
        for a, file, line in re.findall(
            r"^(\d+) \{file_name_id=(\d+) function_name_id=\d+ line=(\d+)", text, re.MULTILINE
        )
    }
    files = _table(text, "FileNames") or names
    out = {}
    for a, location in re.findall(r"^(\d+) \{file_location_id=(\d+)", text, re.MULTILINE):
        file, line = locations.get(location, ("", "0"))
        out[int(a)] = f"{Path(files.get(file, '?')).name}:{line}"
    return out


def _table(text: str, title: str) -> dict[str, str]:
    """A table of names at the head of a module's text."""
    match = re.search(rf"^{title}\n((?:\d+ .*\n)+)", text, re.MULTILINE)
    return dict(re.findall(r'^(\d+) "(.*)"$', match[1], re.MULTILINE)) if match else {}


if __name__ == "__main__":
    sys.exit(main())

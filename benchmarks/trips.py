"""How often the loops of a decision go round: named when a program is traced, counted in games.

    python -m benchmarks.trips --batch 4096 --json benchmarks/trips.json

XLA estimates a loop by one trip. Under `named` each loop bears the name of the function that asks
for it, which the compiled text keeps. With counts each trip calls back, so that games played on a
CPU say how many there are. The chunks of `compact_vmap` are those of an accelerator in both.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax

from benchmarks import measure, peers

RECORDED = Path(__file__).resolve().parent / "trips.json"
MARK = "loop_"  # before the name of a loop in a scope
CHUNKS = "in_chunks.body"  # asks for the loop over chunks of `compact_vmap`
Raw = collections.Counter[tuple[str, ...]]


@contextlib.contextmanager
def named(platform: str, counts: Raw | None = None) -> Iterator[None]:
    """Loops bear names; a program is traced as for `platform`, "tpu" or "gpu".

    Args:
        counts: where each trip of a program that is traced here is counted; None is nowhere.
    """
    loop, fori, backend = jax.lax.while_loop, jax.lax.fori_loop, jax.default_backend

    def while_loop(cond: Any, body: Any, init: Any) -> Any:
        caller = _caller(body)

        def counted(carry: Any) -> Any:
            _count(counts, caller)
            return body(carry)

        with jax.named_scope(MARK + caller[0]):
            return loop(cond, counted, init)

    def fori_loop(lower: Any, upper: Any, body: Any, init: Any, **options: Any) -> Any:
        caller = _caller(body)

        def counted(i: Any, carry: Any) -> Any:
            _count(counts, caller)
            return body(i, carry)

        with jax.named_scope(MARK + caller[0]):
            return fori(lower, upper, counted, init, **options)

    changed: Any = jax
    try:
        jax.lax.while_loop, jax.lax.fori_loop = while_loop, fori_loop
        changed.default_backend = lambda: platform
        yield
    finally:
        jax.lax.while_loop, jax.lax.fori_loop = loop, fori
        changed.default_backend = backend


def _caller(body: Any) -> tuple[str, ...]:
    """The name of a loop and the functions that it stands in, innermost first."""
    frame: Any = sys._getframe(2)
    names = [f"{frame.f_code.co_name}.{body.__name__}".strip("_"), frame.f_code.co_name]
    if names[0] == CHUNKS:
        kernel = dict(_closure(frame.f_locals["run_chunk"]))["kernel"]
        kernel = getattr(kernel, "__wrapped__", kernel)
        return names[0], getattr(kernel, "func", kernel).__name__.strip("_")
    while frame.f_back is not None:
        frame = frame.f_back
        names.append(frame.f_code.co_name)
    return tuple(names)


def _closure(function: Any) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
        yield name, cell.cell_contents


def _count(counts: Raw | None, caller: tuple[str, ...]) -> None:
    if counts is None:
        return

    def once() -> None:
        counts[caller] += 1

    jax.debug.callback(once)


def by_key(counts: Raw) -> dict[str, int]:
    """Trips by the keys of `key_of`: of chunks by the kernel, others by kernel and name."""
    kernels = {caller[1] for caller in counts if caller[0] == CHUNKS}
    out: dict[str, int] = collections.Counter()
    for caller, trips in counts.items():
        if caller[0] == CHUNKS:
            out[caller[1]] += trips
            continue
        # The function that asks may be a kernel by itself, or be called by one.
        around = [x.strip("_") for x in (*caller[2:], caller[1])]
        kernel = next((x for x in around if x in kernels), "")
        out[f"{kernel}/{caller[0]}"] += trips
    return dict(out)


def key_of(scope: str) -> str:
    """The key of a loop whose instruction bears `scope`; "" if it has no name.

    `.../answer/loop_in_chunks.body/while` is "answer", and a loop `loop_connect.sweep` in it is
    "answer/connect.sweep".
    """
    parts = [re.sub(r"^\w+\((.*)\)$", r"\1", x) for x in scope.split("/")]
    marks = [i for i, part in enumerate(parts) if part.startswith(MARK)]
    if not marks:
        return ""
    chunks = [i for i in marks if parts[i] == MARK + CHUNKS and i]
    kernel = parts[chunks[-1] - 1].strip("_") if chunks else ""
    return kernel if marks[-1] in chunks else f"{kernel}/{parts[marks[-1]].removeprefix(MARK)}"


def count(platform: str, batch: int, skip: int, decisions: int) -> dict[str, Any]:
    """Trips a decision of the batch in random play with auto-reset.

    Args:
        platform: "tpu" or "gpu", whose chunks and blocks are taken.
        batch: games side by side, begun together; skip: decisions before the counting; decisions:
            of each game that are counted.
    Returns:
        By key the mean and the most over the decisions, and what they are of.
    """
    jax.clear_caches()  # kernels are traced once, for one platform
    contender, counts = peers.own(), Raw()

    def one(state: Any, key: jax.Array) -> Any:
        return contender.rollout(state, key, 1)[:2]

    init = jax.jit(contender.init, static_argnums=1)
    state, key = init(jax.random.key(0), batch), jax.random.key(1)
    with named(platform, counts):
        play = jax.jit(one, donate_argnums=0).lower(state, key).compile()
    seen: list[dict[str, int]] = []
    for number in range(skip + decisions):
        state, key = play(state, key)
        jax.block_until_ready(state)
        jax.effects_barrier()
        if number >= skip:
            seen.append(by_key(counts))
        counts.clear()
    keys = sorted({key for row in seen for key in row})
    columns = {key: [row.get(key, 0) for row in seen] for key in keys}
    loops = {k: {"mean": sum(x) / len(x), "most": max(x)} for k, x in columns.items()}
    return {"batch": batch, "skip": skip, "decisions": decisions, "loops": loops}


def recorded(platform: str) -> dict[str, Any]:
    """The counts that stand beside this module: mean and most trips a decision of each loop."""
    report: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    loops: dict[str, Any] = report.get(platform, report)["loops"]
    return loops


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trips", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--skip", type=int, default=64, help="decisions before the counting")
    parser.add_argument("--decisions", type=int, default=192)
    measure.add_report_flag(parser, "tpu", "gpu")
    args = parser.parse_args(argv)
    report = {}
    for platform in ("tpu", "gpu"):
        report[platform] = count(platform, args.batch, args.skip, args.decisions)
        for key, row in report[platform]["loops"].items():
            print(f"{platform} {key:<32}{row['mean']:>10.2f}{row['most']:>8}")
    measure.write_report(args.json, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())

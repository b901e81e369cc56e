"""The numbers that must not creep up: instructions of the compiled step, bytes of a game.

python -m benchmarks.budget            # measure and compare with what is recorded
python -m benchmarks.budget --record   # write it down, after a change that is worth it
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax

from benchmarks import measure, peers

RECORDED = Path(__file__).resolve().parent / "recorded.json"
BATCH = 64


def read() -> dict[str, Any]:
    """What is recorded: `jax` and `backend` it was measured with, `batch`, and the numbers."""
    return json.loads(RECORDED.read_text())


def state_bytes() -> int:
    """Bytes of one game with its mask."""
    contender = peers.own()
    state = jax.eval_shape(lambda key: contender.init(key, 1), jax.random.key(0))
    return measure.tree_bytes(state)


def step_instructions(batch: int = BATCH) -> int:
    """Instructions of the optimized module of `jit(vmap(step))`, mask included, no reset."""
    return measure.step_cost(peers.own(), batch)["instructions"]


def main(argv: list[str] | None = None) -> int:
    parser = measure.command_parser("budget", __doc__)
    parser.add_argument("--record", action="store_true", help="write the numbers down")
    args = parser.parse_args(argv)
    before = read()
    numbers = {
        "jax": jax.__version__,
        "backend": jax.default_backend(),
        "batch": BATCH,
        "step_instructions": step_instructions(),
        "state_bytes": state_bytes(),
    }
    for name, value in numbers.items():
        print(f"{name:<20}{before[name]!s:>10} recorded{value!s:>10} now")
    if args.record:
        RECORDED.write_text(json.dumps(before | numbers, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

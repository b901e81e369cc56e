"""The budget of programs compiled for accelerators that need not be present.

    python -m benchmarks.offline            # compile every program of PROGRAMS and compare
    python -m benchmarks.offline v5e step   # one of them, as JSON

Compiled, not run: kernels, loops that XLA makes of a gather or scatter, 64-bit numbers, memory.
`benchmarks/recorded.json` holds the numbers last accepted. XLA's compilers for TPUs and NVIDIA
cards are the packages `jax[tpu]` and `jax[cuda12]`, in environments of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import hlo
from benchmarks.targets import TARGETS, NoCompiler, Target, before_jax, device

ROOT = Path(__file__).resolve().parent.parent
BATCH = 4096  # games of `step`
# One update of PPO, small enough to compile in minutes.
TRAIN = ["run.updates_per_chunk=1", "ppo.num_envs=256", "ppo.num_steps=16"]
PROGRAMS = [(target, program) for target in ("v5e", "h100") for program in ("step", "train")]
# Compared with what is recorded; versions of libtpu differ in memory.
GROWTH = {"kernels": 1.25, "held_bytes": 2.0}


def analyse(target: Target, program: str) -> dict[str, Any]:
    """Kernels, serial loops, 64-bit numbers and bytes of a program on a target.

    Raises:
        NoCompiler: the compiler of the target is not installed.
    """
    lower = {"step": _lower_step, "train": _lower_train}[program]
    with mock.patch("jax.default_backend", lambda: target.platform):
        compiled = lower(device(target)).compile()
    memory = compiled.memory_analysis()
    module = hlo.read(compiled.as_text())
    sizes = {
        name: getattr(memory, f"{name}_size_in_bytes")
        for name in ("temp", "argument", "output", "alias")
    }
    held_bytes = sizes["temp"] + sizes["argument"] + sizes["output"] - sizes["alias"]
    return {
        "kernels": kernels(module),
        "serial_loops": module.made_loops,
        "wide": sorted(
            {
                line.scope
                for line in module.instructions
                if is_wide(line) and not (target.platform == "gpu" and _is_random(line.scope))
            }
        ),
        "host_callbacks": sum(
            line.kind == "custom-call" and "callback" in line.rest for line in module.instructions
        ),
        "held_bytes": held_bytes,
        "fits": held_bytes < target.memory,
    }


def faults(numbers: dict[str, Any], recorded: dict[str, Any] | None) -> list[str]:
    """What exceeds the budget, a line each.

    Args:
        recorded: kernels and held_bytes last accepted; None: the program has no record.
    """
    lines = [f"a loop over the rows: {scope}" for scope in numbers["serial_loops"]]
    lines += [f"64-bit numbers: {scope}" for scope in numbers["wide"]]
    if numbers["host_callbacks"]:
        lines.append(f"{numbers['host_callbacks']} calls of the host")
    if not numbers["fits"]:
        lines.append(f"{numbers['held_bytes']:,} bytes do not fit")
    for name, growth in GROWTH.items() if recorded else ():
        limit = recorded[name] * growth
        if numbers[name] > limit:
            lines.append(f"{name}: {numbers[name]:,}, at most {limit:,.0f}")
    return lines


def kernels(module: hlo.Module) -> int:
    """Instructions that are launched: loop bodies once, of a branch the longest side."""

    def count(name: str) -> int:
        total = 0
        for line in module.computations.get(name, []):
            if line.kind == "conditional":
                total += max((count(branch) for branch in line.branches), default=0)
            elif line.kind in ("while", "call"):
                total += sum(count(called) for called in line.calls("body", "to_apply"))
            else:
                total += line.kind not in hlo.FREE
        return total

    return count(module.entry)


def is_wide(line: hlo.Instruction) -> bool:
    """Whether an instruction of the program (not of the compiler) has a 64-bit result."""
    return any(kind in line.shape for kind in ("s64[", "u64[", "f64[")) and bool(line.scope)


def _is_random(scope: str) -> bool:
    """Whether random numbers are drawn here: a GPU counts them in 64 bits."""
    return any(name in scope for name in ("threefry", "iota_2x32", "_uniform", "_draw", "_shuffle"))


def recorded(target: str, program: str) -> dict[str, Any] | None:
    """The numbers last accepted."""
    record = json.loads((ROOT / "benchmarks" / "recorded.json").read_text(encoding="utf-8"))
    return record["accelerators"].get(f"{target} {program}")


def _lower_step(device: Any) -> Any:
    """`jit(vmap(step))` of BATCH games, mask included."""
    import jax
    import jax.numpy as jnp

    from benchmarks import peers

    contender = peers.own()
    key = jax.eval_shape(lambda: jax.random.PRNGKey(0))
    keys = jax.ShapeDtypeStruct((BATCH, *key.shape), key.dtype)
    states = jax.eval_shape(lambda key: contender.init(key, BATCH), key)
    actions = jax.ShapeDtypeStruct((BATCH,), jnp.int32)
    sharding = jax.sharding.SingleDeviceSharding(device)
    placed = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), (states, actions, keys)
    )
    return jax.jit(jax.vmap(contender.step), donate_argnums=0).lower(*placed)


def _lower_train(device: Any) -> Any:
    """One update of PPO: rollout and learning."""
    import jax
    import numpy as np

    import gaia_jax
    from training import config as configs
    from training.learn import ppo
    from training.learn.learner_state import make_init, sharding
    from training.networks.make import make_network
    from training.system.devices import GAMES

    config = configs.load(ROOT / "configs" / "strong.yaml", TRAIN)
    env = gaia_jax.auto_reset(gaia_jax.make(config.env.id, config.env.reward))
    network = make_network(env, config.network)
    mesh = jax.sharding.Mesh(np.array([device]), (GAMES,))
    runner = jax.eval_shape(make_init(env, network, config, None))
    parts = [
        jax.tree.map(lambda x, to=to: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=to), part)
        for part, to in zip(runner, sharding(mesh), strict=True)
    ]
    return ppo.make_chunk(env, network, config, mesh).lower(type(runner)(*parts))


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.offline", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("target", nargs="?", choices=("v5e", "h100"), help="one target as JSON")
    parser.add_argument("program", nargs="?", choices=("step", "train"), default="step")
    args = parser.parse_args(argv)
    pairs = [(args.target, args.program)] if args.target else PROGRAMS
    before_jax()
    code = 0
    for target, program in pairs:
        try:
            numbers = analyse(TARGETS[target], program)
        except NoCompiler as error:
            print(f"error: {error}", file=sys.stderr)
            code = 1
            continue
        lines = faults(numbers, recorded(target, program))
        code = 1 if lines and not args.target else code
        print(
            json.dumps(numbers)
            if args.target
            else f"{target} {program}: {numbers['kernels']:,} kernels"
        )
        for line in lines:
            print(f"{target} {program}: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

"""Programs of this project compiled for accelerators that are not there, and what XLA made of them.

    python -m benchmarks.offline --target v5e --program step        in an environment with '.[tpu]'
    python -m benchmarks.offline --target h100 --program train --config configs/strong.yaml

Compiled for, not run on: kernels, estimated cycles, bytes, loops with the trips counted in games on
a CPU, branches, copies and memory, by part of a decision, and three estimates of the time. What was
compiled is kept under .cache/offline/ until the sources change.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import graphs
from benchmarks.targets import TARGETS, NoCompiler, Target, before_jax, devices

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("init", "step", "observe", "play", "search", "train")
PLAY_STEPS = 16  # decisions of a run of `play`
LAUNCHES = ROOT / ".cache" / "offline" / f"launches-{os.getpid()}"  # written by XLA for a card


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What is to be compiled."""

    target: str
    program: str
    batch: int = 4096
    devices: int = 1
    config: str = "configs/strong.yaml"
    overrides: tuple[str, ...] = ()
    agent: str = "zoo/strong+search:32"
    environment: str = "lost_fleet"
    graphs: bool = False


def analyse(wanted: Wanted, hlo: Path | None = None) -> dict[str, Any]:
    """Counts, estimates and memory of one program on one target.

    Args:
        hlo: where the optimized module is written, too.
    Raises:
        NoCompiler: see `targets.devices`.
    """
    import jax

    from benchmarks import estimate, measure

    target = TARGETS[wanted.target]
    text, facts = _compiled(wanted, target)
    if hlo and text:
        hlo.write_text(text, encoding="utf-8")
    report = dataclasses.asdict(wanted) | {"jax": jax.__version__}
    report |= {"revision": measure.revision(ROOT)} | facts
    if text:
        share = wanted.batch // wanted.devices if wanted.program == "train" else wanted.batch
        games, buffered = facts.get("share", share), set(facts.pop("buffered", ()))
        report |= estimate.estimate(text, target, games, facts["decisions"], buffered)
        report.pop("buffered", None)
    return report


def _compiled(wanted: Wanted, target: Target) -> tuple[str, dict[str, Any]]:
    """The text of the module and what XLA says of its memory, from the cache where it is there."""
    file = ROOT / ".cache" / "offline" / f"{wanted.target}-{wanted.program}-{_digest(wanted)}"
    facts_file, text_file = file.with_suffix(".json"), file.with_suffix(".hlo.gz")
    if facts_file.exists():
        return gzip.decompress(text_file.read_bytes()).decode(), json.loads(facts_file.read_text())
    text, facts = _compile(wanted, target)
    file.parent.mkdir(parents=True, exist_ok=True)
    text_file.write_bytes(gzip.compress(text.encode(), 6))
    facts_file.write_text(json.dumps(facts))
    return text, facts


def _digest(wanted: Wanted) -> str:
    """Of everything that the compiled program depends on."""
    import jax

    found = hashlib.sha256(repr((wanted, jax.__version__)).encode())
    folders = ["gaia_jax"] + (["training"] if wanted.program in ("train", "search") else [])
    files = [p for folder in folders for p in sorted((ROOT / folder).rglob("*.py"))]
    for path in [*files, *(ROOT / "benchmarks" / x for x in ("offline.py", "trips.py"))]:
        found.update(path.read_bytes())
    if wanted.program == "train":
        found.update((ROOT / wanted.config).read_bytes())
    return found.hexdigest()[:16]


def _compile(wanted: Wanted, target: Target) -> tuple[str, dict[str, Any]]:
    """Trace as for the target's platform, and compile for its description."""
    from benchmarks import trips

    where = devices(target, wanted.devices)
    begin = time.perf_counter()
    with trips.named(target.platform):
        lowered, facts = LOWER.get(wanted.program, _lower_game)(wanted, where)
    traced = time.perf_counter()
    try:
        compiled = lowered.compile()
    except Exception as error:  # XLA says so, for example, where memory does not suffice
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return "", facts | {"failed": _line(str(error))}
    memory = compiled.memory_analysis()
    sizes = {
        f"{name}_bytes": getattr(memory, f"{name}_size_in_bytes")
        for name in ("temp", "argument", "output", "alias", "generated_code")
    }
    held = sizes["temp_bytes"] + sizes["argument_bytes"] + sizes["output_bytes"]
    seconds = {"trace_s": traced - begin, "compile_s": time.perf_counter() - traced}
    buffered = graphs.buffered(LAUNCHES) if target.platform == "gpu" else []
    return compiled.as_text(), facts | sizes | seconds | {
        "buffered": buffered,
        "held_bytes": held - sizes["alias_bytes"],
        "fits": held - sizes["alias_bytes"] < target.memory,
    }


def _line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((x for x in lines if "hbm" in x.lower() or "memory" in x.lower()), lines[0])[:200]


def _on(where: list[Any], tree: Any) -> Any:
    """Shapes of a pytree, on the first of the devices."""
    import jax

    first = jax.sharding.SingleDeviceSharding(where[0])
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=first), tree)


def _lower_game(wanted: Wanted, where: list[Any]) -> tuple[Any, dict[str, Any]]:
    """init, step, observe, play: of this environment or of a peer."""
    import jax
    import jax.numpy as jnp

    from benchmarks import peers

    own = wanted.environment == "lost_fleet"
    contender = peers.own() if own else peers.peer(wanted.environment)
    key, batch = jax.eval_shape(lambda: jax.random.PRNGKey(0)), wanted.batch
    many = jax.ShapeDtypeStruct((batch, *key.shape), key.dtype)
    state = jax.eval_shape(lambda key: contender.init(key, batch), key)
    action = jax.ShapeDtypeStruct((batch,), jnp.int32)
    if wanted.program == "init":
        return jax.jit(jax.vmap(contender.reset)).lower(_on(where, many)), {"decisions": 1}
    if wanted.program == "observe":
        observe = jax.jit(jax.vmap(contender.observe))
        return observe.lower(_on(where, state)), {"decisions": 1}
    if wanted.program == "step":
        step = jax.jit(jax.vmap(contender.step), donate_argnums=0)
        return step.lower(*_on(where, (state, action, many))), {"decisions": 1}

    def play(state: Any, key: jax.Array) -> Any:
        return contender.rollout(state, key, PLAY_STEPS)[:3]

    ready = jax.jit(play, donate_argnums=0)
    return ready.lower(*_on(where, (state, key))), {"decisions": PLAY_STEPS}


def _lower_search(wanted: Wanted, where: list[Any]) -> tuple[Any, dict[str, Any]]:
    """A decision by search of an agent of the zoo or a run."""
    import jax

    import gaia_jax
    from training.agents import make_agent
    from training.agents.search import make_search, split_name

    env = gaia_jax.make("lost_fleet", reward="vp")
    name, spec = split_name(wanted.agent)
    agent = make_agent(name, env)
    search, _ = make_search(env, agent.policy, spec)
    key = jax.random.PRNGKey(0)
    state = jax.eval_shape(jax.vmap(env.init), jax.random.split(key, wanted.batch))
    params = jax.tree.map(jax.numpy.asarray, agent.params)
    lowered = jax.jit(search).lower(*_on(where, (params, state, key)))
    return lowered, {"decisions": 1}


def _lower_train(wanted: Wanted, where: list[Any]) -> tuple[Any, dict[str, Any]]:
    """One update of PPO: rollout and learning, the games split over the devices."""
    import jax
    import numpy as np

    import gaia_jax
    from training import config as configs
    from training.learn import ppo
    from training.learn.learner_state import make_init, sharding
    from training.networks.make import make_network
    from training.system.devices import GAMES

    extra = ["run.updates_per_chunk=1", *wanted.overrides]
    config = configs.load(ROOT / wanted.config, extra)
    env = gaia_jax.auto_reset(gaia_jax.make(config.env.id, config.env.reward))
    network = make_network(env, config.network)
    mesh = jax.sharding.Mesh(np.array(where), (GAMES,))
    runner = jax.eval_shape(make_init(env, network, config, None))

    def placed(tree: Any, where: Any) -> Any:
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=where), tree)

    parts = zip(runner, sharding(mesh), strict=True)
    runner = type(runner)(*[placed(part, spec) for part, spec in parts])
    lowered = ppo.make_chunk(env, network, config, mesh).lower(runner)
    share = config.ppo.num_envs // mesh.size
    facts = {"decisions": config.ppo.num_steps, "share": share, "games": config.ppo.num_envs}
    return lowered, facts


LOWER: dict[str, Callable[[Wanted, list[Any]], tuple[Any, dict[str, Any]]]] = {
    "search": _lower_search,
    "train": _lower_train,
}


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    head = f"Compiled for {report['target']}, not run on it: {report['program']}"
    lines = [f"{head}, batch {report['batch']:,}, jax {report['jax']}, {report['revision']}"]
    if "failed" in report:
        return "\n".join([*lines, report["failed"]])
    each, whole = report["seconds"], report["totals"]
    for name, speed in report["decisions_per_second"].items():
        lines.append(f"{name:<8}{1e3 * each[name]:>12.2f} ms{speed:>16,.0f} decisions/s")
    lines.append(
        f"memory {report['held_bytes'] / 1e6:,.0f} MB, temporary {report['temp_bytes'] / 1e6:,.0f},"
        f" code {report['generated_code_bytes'] / 1e6:,.0f};"
        f" compiled in {report['compile_s']:.0f} s"
    )
    lines.append(
        f"{'part':<16}{'kernels':>8}{'runs':>9}{'cycles':>13}{'MB':>9}{'copies':>7}{'loops':>6}"
        f"{'branches':>9}{'host':>7}{'share':>7}"
    )
    rows = sorted(report["parts"].items(), key=lambda item: -item[1].get("seconds", 0))
    for part, row in [*rows, ("all", whole)]:
        lines.append(
            f"{part:<16}{row.get('kernels', 0):>8.0f}{row.get('runs', 0):>9,.0f}"
            f"{row.get('cycles', 0):>13,.0f}{row.get('bytes', 0) / 1e6:>9,.1f}"
            f"{row.get('copies', 0):>7.0f}{row.get('loops', 0):>6.0f}"
            f"{row.get('conditionals', 0):>9.0f}{row.get('host', 0):>7,.0f}"
            f"{row.get('seconds', 0) / whole['seconds'] if whole['seconds'] else 0:>7.0%}"
        )
    for loop in sorted(report["loops"], key=lambda x: -x["runs"] * x["cycles"]):
        lines.append(f"loop {loop['loop']:<40}{loop['runs']:>12,.1f} x {loop['cycles']:>12,}")
    for name in ("unknown_trips", "made_loops", "wide"):
        lines += [f"{name.replace('_', ' ')}: {'; '.join(report[name])}"] if report[name] else []
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    args = _arguments(argv)
    # JAX reads it when it is first used.
    loops = f" {graphs.LOOPS}" if args.graphs else ""
    before_jax(TARGETS[args.target], f"{graphs.WRITE}{LAUNCHES}{loops}")
    fields = {field.name for field in dataclasses.fields(Wanted)}
    given = {k: v for k, v in vars(args).items() if k in fields}
    wanted = Wanted(**given | {"overrides": tuple(args.overrides)})
    try:
        report = analyse(wanted, args.hlo)
    except NoCompiler as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(LAUNCHES, ignore_errors=True)
    print(json.dumps(report) if args.json else table(report))
    return 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.offline", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--target", choices=tuple(TARGETS), required=True)
    parser.add_argument("--program", choices=PROGRAMS, required=True)
    parser.add_argument("--batch", type=int, default=Wanted.batch)
    parser.add_argument("--devices", type=int, default=1, help="of `train`")
    parser.add_argument("--config", default=Wanted.config, help="of `train`")
    parser.add_argument("--agent", default=Wanted.agent, help="of `search`")
    parser.add_argument("--environment", default=Wanted.environment, help="or a peer, as chess")
    parser.add_argument(
        "--graphs", action="store_true", help="loops and branches in command buffers, on a card"
    )
    parser.add_argument("--hlo", type=Path, help="write the optimized module here")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("overrides", nargs="*", help="key=value of the configuration")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

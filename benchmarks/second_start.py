"""What a start costs until the first decision, with empty caches and with full ones.

    python -m benchmarks.second_start [--only script,arena,trainer,table] [--programs off,on]

Each start is a process of its own that stops itself where its first decision would be taken: a
script that opts into the cache, the arena with `zoo/strong`, the trainer of `configs/quick.yaml`,
and the table, where `zoo/strong` takes its first decision. The trainer's first decision is one of
its staggered games; the start continues to the first update, without playing them.
`--programs off` keeps compiled programs alone, as before there were traced ones on disk; both are
measured in caches of their own, one after the other. CPU seconds of all threads measure the work,
whatever else the machine does; wall seconds are printed with them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = """
import time, jax, gaia_jax
gaia_jax.enable_compilation_cache()
env = gaia_jax.make()
states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 64))
actions = jax.numpy.argmax(states.legal_action_mask, axis=-1)
jax.block_until_ready(jax.jit(jax.vmap(env.step))(states, actions))
print("CPU", time.process_time())
"""
COMMAND = """
import os, sys, time
from training import {module}
from {home} import {owner}
from training.system import cli
usual = {owner}.compile
def stop(self, *args):
    usual(self, *args)
    print("CPU", time.process_time(), flush=True)
    os._exit(0)
{owner}.compile = stop
sys.exit(cli.run(lambda: {module}.main({args})))
"""
ARENA = COMMAND.format(
    module="arena",
    home="training.games.engine",
    owner="Match",
    args=["--agents", "zoo/strong,random,random,random", "--games", "64"],
)
# `recipe.staggered_starts` plays before the first update: its games are not counted.
WITHOUT_STAGGER = """
import time
from training.learn import trainer
made = trainer.make_stagger
def make_stagger(*args):
    program = made(*args)
    def begin(params, key, states):
        program.lower(params, key, states).compile()
        print("FIRST", time.process_time(), flush=True)
        return states
    return begin
trainer.make_stagger = make_stagger
"""
TRAINER = WITHOUT_STAGGER + COMMAND.format(
    module="train",
    home="training.learn.trainer",
    owner="Trainer",
    args=["--config", "configs/quick.yaml", "name=measured"],
)
# As the table starts: the rules, and the agent in a thread of its own.
TABLE = """
import time
from training.system import cli
cli.prepare()
from training.play.agent_pool import AgentPool
from training.play.compiled_rules import Rules
rules = Rules("lost_fleet")
ready = AgentPool().get("zoo/strong", rules)
rules.prepare()
while ready.under_way:
    time.sleep(0.01)
state = rules.start(rules.draw(1))
ready.act(state, 0)
print("CPU", time.process_time())
"""
STARTS = {"script": SCRIPT, "arena": ARENA, "trainer": TRAINER, "table": TABLE}
WITHOUT = """
from gaia_jax.xla import stored_programs
stored_programs.enabled_folder = lambda: None
"""


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second_start", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", default=",".join(STARTS), help="of " + ",".join(STARTS))
    parser.add_argument("--programs", default="off,on", help="off, on or both, in this order")
    parser.add_argument("--cache", type=Path, help="keep programs there, not in an empty folder")
    args = parser.parse_args(argv)
    for name in args.only.split(","):
        for programs in args.programs.split(","):
            with tempfile.TemporaryDirectory() as empty:
                folder = (args.cache or Path(empty)) / programs
                program = WITHOUT * (programs == "off") + STARTS[name]
                for start in ("first", "second"):
                    cpu, wall, update = measure(program, folder)
                    line = f"{name:8} programs {programs:3} {start:7}"
                    line += f" CPU {cpu:6.1f} s  wall {wall:6.1f} s"
                    if update:
                        line += f"  to the first update {update:6.1f} CPU s"
                    print(line, flush=True)
    return 0


def measure(program: str, cache: Path) -> tuple[float, float, float | None]:
    """Time a process that uses the compilation cache `cache`.

    Returns:
        CPU seconds to the first decision; wall seconds of all; CPU seconds to the first update,
        if the process runs one.
    """
    env = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    wall = time.perf_counter() - start
    lines = (line.split() for line in run.stdout.splitlines())
    times = {words[0]: float(words[1]) for words in lines if words and words[0] in ("FIRST", "CPU")}
    if "CPU" not in times:
        raise RuntimeError(f"the start did not come to its first decision:\n{run.stderr[-2000:]}")
    if "FIRST" in times:
        return times["FIRST"], wall, times["CPU"]
    return times["CPU"], wall, None


if __name__ == "__main__":
    sys.exit(main())

"""Install the project into clean virtual environments and try what each install promises.

    python -m tools.try_installs                          # core, every extra alone, wheel, sdist
    python -m tools.try_installs core train --python python3.13
    python -m tools.try_installs core dev --oldest        # the oldest that pyproject.toml allows

Needs uv and a network. Each environment is in a temporary folder and is removed after its trial.
An extra is installed alone; `core` plays a random rollout with jax and numpy only; `train` trains
on a toy game and evaluates; `sdist` runs the tests that compile nothing from the unpacked tree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# jax, numpy and their dependencies; `pip install .` may install nothing else.
OF_JAX = {"gaia-jax", "jax", "jaxlib", "numpy", "ml-dtypes", "opt-einsum", "scipy"}

ROLLOUT = """
import importlib.metadata, re, sys
names = [d.metadata["Name"] for d in importlib.metadata.distributions()]
there = {re.sub("[-_.]+", "-", name).lower() for name in names}
assert there <= ALLOWED, there - ALLOWED
import jax, gaia_jax
assert "site-packages" in gaia_jax.__file__, gaia_jax.__file__
env = gaia_jax.make("lost_fleet")
state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 4))
step = jax.jit(jax.vmap(env.step))
for i in range(20):
    uniform = jax.random.uniform(jax.random.key(i), (4,))
    state = step(state, jax.vmap(gaia_jax.testing.sample_legal)(state.legal_action_mask, uniform))
assert state.step_count.tolist() == [20] * 4 and not state.terminated.any()
print("rollout", jax.__version__, importlib.metadata.version("numpy"), sys.version.split()[0])
"""
# The clone has the trainer as `training`; the wheel, as `gaia_training`.
TRAINER = "import training.train, training.evaluate, training.arena, training.explain"
TRAINS = f"""
import contextlib, os, pathlib, sys, tempfile
sys.path[:0] = [os.getcwd(), os.path.abspath("tests/training")]
import toy_env
{TRAINER}
os.chdir(tempfile.mkdtemp())
pathlib.Path("toy.yaml").write_text(TOY)
with contextlib.redirect_stdout(None):
    code = training.train.main(["--config", "toy.yaml"], toy_env)
print("trained", len(pathlib.Path("runs/toy/metrics.jsonl").read_text().splitlines()), "updates")
sys.exit(code)
"""
TOY = """
name: toy
env: {id: toy}
network: {layers: 1, cell_width: 8, width: 16, latents: 2}
ppo: {num_envs: 16, num_steps: 16, minibatches: 4}
run: {updates: 4, updates_per_chunk: 2}
eval: {games: 16, opponents: random}
"""
TRIALS = {
    "core": ROLLOUT.replace("ALLOWED", repr(OF_JAX)),
    "train": TRAINS.replace("TOY", repr(TOY)),
    "plots": "import matplotlib.figure",
    "play": f"{TRAINER}; import training.play.app, training.play.game_server",
    "wandb": f"{TRAINER}; import wandb, training.run.logs",
    "ray": f"{TRAINER}; import ray, training.system.jobs",
    "tune": f"{TRAINER}; import optuna, training.run.tuning",
    "adapters": "from gaia_jax.adapters import jaxmarl, pettingzoo, pgx, spaces; pgx.PgxEnv()",
    "bench": "from benchmarks import peers, throughput; peers.peer('mahjax'); peers.peer('chess')",
    "docs": "import mkdocs.commands.build, material, mkdocstrings_handlers.python",
    "notebooks": f"{TRAINER}; import matplotlib, nbclient, pandas, pyarrow",
    "dev": f"{TRAINER}; import chex, hypothesis, mctx, nbclient, pettingzoo, pgx, pytest",
}  # fmt: skip
OF_THE_CLONE = {"train", "play", "wandb", "ray", "tune", "bench", "notebooks", "dev"}


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """The output of a command; a RuntimeError with its end where it fails."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    completed = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if completed.returncode:
        raise RuntimeError(
            "\n".join((completed.stdout + completed.stderr).strip().splitlines()[-15:])
        )
    return completed.stdout.strip()


def install(folder: Path, requirements: list[str], python: str, oldest: bool) -> Path:
    """A new environment with `requirements` (a path, with extras) in it; its interpreter."""
    run("uv", "venv", "--quiet", "--python", python, folder)
    inside = folder / "bin" / "python"
    resolution = ["--resolution", "lowest-direct"] if oldest else []
    run("uv", "pip", "install", "--quiet", "--python", inside, *resolution, *requirements)
    return inside


def build(out: Path, python: str) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    run("uv", "build", "--quiet", "--python", python, "--out-dir", out)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def try_extra(name: str, folder: Path, python: str, oldest: bool) -> str:
    """`pip install .[name]` in an environment of its own, and its trial."""
    requirement = str(ROOT) if name == "core" else f"{ROOT}[{name}]"
    inside = install(folder / "venv", [requirement], python, oldest)
    trial = TRIALS.get(name, "import gaia_jax")
    return run(inside, "-c", trial, cwd=ROOT if name in OF_THE_CLONE else folder)


def try_wheel(folder: Path, python: str, oldest: bool) -> str:
    """The wheel alone plays a rollout and has its command."""
    wheel, _ = build(folder / "dist", python)
    # uv picks the oldest versions only of packages on its command line, not of a wheel's needs.
    needs = project()["dependencies"] if oldest else []
    inside = install(folder / "venv", [str(wheel), *needs], python, oldest)
    run(inside.parent / "gaia-jax-replay", "--help", cwd=folder)
    return run(inside, "-c", TRIALS["core"], cwd=folder)


def try_sdist(folder: Path, python: str, oldest: bool) -> str:
    """The unpacked sdist, installed with `[dev]`, runs its own tests that compile nothing."""
    _, sdist = build(folder / "dist", python)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    tree = folder / sdist.name.removesuffix(".tar.gz")
    inside = install(folder / "venv", [f"{tree}[dev]"], python, oldest)
    tests = ["-m", "no_compile and not slow"]  # those of `make test-fast`
    return run(inside, "-m", "pytest", "-q", *tests, cwd=tree).splitlines()[-1]


def main(argv: list[str] | None = None) -> int:
    """The command line; 1 where something does not hold."""
    names = ["core", *project()["optional-dependencies"], "wheel", "sdist"]
    parser = argparse.ArgumentParser(prog="python -m tools.try_installs", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", nargs="*", help=f"of {', '.join(names)} (default: all)")
    parser.add_argument("--python", default=sys.executable, help="default: %(default)s")
    parser.add_argument("--oldest", action="store_true", help="the floors of pyproject.toml")
    args = parser.parse_args(argv)
    if unknown := set(args.what) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    failed = 0
    for name in args.what or names:
        with tempfile.TemporaryDirectory() as folder:
            trial = {"wheel": try_wheel, "sdist": try_sdist}.get(name)
            try:
                if trial:
                    output = trial(Path(folder), args.python, args.oldest)
                else:
                    output = try_extra(name, Path(folder), args.python, args.oldest)
                print(f"{name}: ok {output}", flush=True)
            except RuntimeError as error:
                failed += 1
                print(f"{name}: FAILED\n{error}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

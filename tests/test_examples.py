"""Every example runs: on rules of three lines, so that none compiles the game."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.stub_env import StubEnv

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_has_a_test():
    here = Path(__file__).read_text("utf-8")
    assert not [p.stem for p in EXAMPLES.glob("*.py") if f"def test_{p.stem}(" not in here]


def test_random_rollout(monkeypatch, capsys):
    example = load("random_rollout")
    monkeypatch.setattr(example, "env", StubEnv())
    example.main(games=3, decisions=12)
    assert "3 of 3 games ended" in capsys.readouterr().out
    code = (EXAMPLES / "random_rollout.py").read_text("utf-8").split('"""', 2)[2]
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 24


def test_edit_setup(monkeypatch, capsys):
    example = load("edit_setup")
    monkeypatch.setattr(example, "env", StubEnv(many_setups=True))
    state = example.main()
    said = capsys.readouterr().out
    assert "factions: TERRANS, XENOS, TAKLONS, HIVES" in said
    assert "refused: factions: 'XENOS' and 'GLEENS' are two sides of one board" in said
    assert state.game.setup.turn_order.tolist() == [3, 0, 1, 2]


def test_ppo(capsys):
    tiny = {"games": 4, "decisions": 12, "updates": 2, "epochs": 1, "minibatches": 2}
    _, told = load("ppo").main(StubEnv(reward="vp"), **tiny)
    assert all(np.isfinite(values).all() for values in told.values())
    assert told["ended"].tolist() == [4, 4]  # after 9 and 18 decisions
    assert (told["vp"] > 10).all()
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert len((EXAMPLES / "ppo.py").read_text("utf-8").splitlines()) <= 210


def test_many_devices():
    code = (
        "import jax; jax.config.update('jax_num_cpu_devices', 8)\n"
        "import many_devices; from tests.stub_env import StubEnv\n"
        "states, ended = many_devices.main(StubEnv(), games=16, decisions=20)\n"
        "assert ended == 32, ended\n"
    )
    root = str(EXAMPLES.parent)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(EXAMPLES)!r}, {root!r}]\n{code}"],
        capture_output=True, text=True, cwd=root, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "16 games on 8 devices, 32 ended" in done.stdout

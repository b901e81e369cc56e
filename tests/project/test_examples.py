"""Every example runs: on rules of three lines, so that none compiles the game."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import training
from tests.stub_env import StubEnv

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_rollout(monkeypatch, capsys):
    example = load("random_rollout")
    monkeypatch.setattr(example, "env", StubEnv())
    example.main(games=3, decisions=12)
    assert "3 of 3 games ended" in capsys.readouterr().out


def test_edit_setup(monkeypatch, capsys):
    example = load("edit_setup")
    monkeypatch.setattr(example, "env", StubEnv(many_setups=True))
    state = example.main()
    output = capsys.readouterr().out
    assert "factions: TERRANS, XENOS, TAKLONS, HIVES" in output
    assert "refused: factions: 'XENOS' and 'GLEENS' are two sides of one board" in output
    assert state.game.setup.turn_order.tolist() == [3, 0, 1, 2]


@pytest.mark.slow
def test_ppo(capsys, tmp_path):
    tiny = {"games": 4, "decisions": 12, "updates": 2, "epochs": 1, "minibatches": 2}
    env, file = StubEnv(reward="vp"), str(tmp_path / "ppo.npz")
    _, history = load("ppo").main(env, file, **tiny)
    assert all(np.isfinite(values).all() for values in history.values())
    assert history["ended"].tolist() == [4, 4]  # after 9 and 18 decisions
    assert (history["vp"] > 10).all()
    assert capsys.readouterr().out.splitlines()[2:] == [f"wrote {file}"]
    report = training.arena([file, "random", "random", "random"], games=4, env=env)
    assert file in report["agents"] and report["games"] == 4


@pytest.mark.slow
def test_ppo_against_strong(capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    tiny = {"games": 4, "decisions": 12, "updates": 2, "epochs": 1, "minibatches": 2}
    env = StubEnv(reward="vp")
    _, (ended, vp) = load("ppo_against_strong").main(
        env, training.make_baseline_model("random", env), **tiny
    )
    assert ended.tolist() == [4, 4] and (vp > 10).all()
    first, second = capsys.readouterr().out.splitlines()
    assert re.match(r" +1 +4 games +\d+\.\d VP  #+$", first)


@pytest.mark.slow
def test_ppo_gymnasium(capsys):
    pytest.importorskip("gymnasium", reason="gymnasium comes with the extra `adapters`")
    tiny = {"games": 8, "steps": 12, "minibatches": 2}
    params, history = load("ppo_gymnasium").main(StubEnv(reward="vp"), 1 / 60, **tiny)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(params))
    # Of 12 steps of a game of two or three own decisions, two to four deal the next game.
    assert len(history) > 1 and 8 * 12 * 0.6 < history[0][0] < 8 * 12
    assert all(vp > 10 and 0 <= won <= 1 for _, _, vp, _, won in history)
    assert re.search(
        r"decisions +\d+\.\d VP  +[+-]\d+\.\d lead +\d+% won  #+$", capsys.readouterr().out, re.M
    )


@pytest.mark.slow
def test_offline(capsys, monkeypatch, tmp_path):
    from tests import recorded_games

    monkeypatch.syspath_prepend(str(EXAMPLES))
    env = StubEnv(reward="vp")
    games = [recorded_games.record(env, jax.random.key(seed), False) for seed in range(3)]
    recorded_games.write(tmp_path / "games.parquet", [row for row, _ in games])
    files = {name: str(tmp_path / f"{name}.npz") for name in ("clone", "awr")}
    load("offline").main(tmp_path, env, files, batches=20, batch=8, games=4)
    lines = capsys.readouterr().out.splitlines()
    likelihoods = [[float(x) for x in re.findall(r"-\d+\.\d+", line)] for line in lines[:10]]
    assert all(last > first + 0.1 for first, last in zip(*likelihoods[::9], strict=True))
    assert likelihoods[-1][0] != likelihoods[-1][1]
    assert re.match(r".*clone.npz +\d+\.\d VP", lines[10]) and "awr.npz" in lines[11]


def test_compare_agents(capsys):
    load("compare_agents").main(StubEnv(reward="vp"), agent="random", games=8)
    first, *rows = capsys.readouterr().out.splitlines()
    assert re.match(r"random is -?\d+\.\d VP \(.*\) ahead of random", first)
    assert [row.split()[0] for row in rows] == ["random", "random", "random", "random"]


@pytest.mark.slow
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


def test_arena_agent(monkeypatch):
    """It is taken as an agent, and takes a mine before an upgrade before anything else."""
    import jax

    from training.agents import make_agent

    monkeypatch.syspath_prepend(str(EXAMPLES))
    env = StubEnv()
    agent = make_agent("arena_agent:builder", env)
    cells = env.ruleset.geometry.num_cells
    mask = np.zeros((3, env.num_actions), bool)
    mask[:, -4:] = True
    mask[1:, 2 * cells + 5] = True
    mask[2:, 9] = True
    states = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), 3))
    action = agent.act(agent.params, states, mask, jax.random.key(1))
    assert int(action[0]) >= env.num_actions - 4
    assert action[1:].tolist() == [2 * cells + 5, 9]


def test_mctx_turn(capsys):
    pytest.importorskip("mctx", reason="mctx comes with [dev]")
    state = load("mctx_turn").main(StubEnv(reward="vp"), games=2, simulations=4, decisions=2)
    assert state.step_count.tolist() == [2, 2]
    assert capsys.readouterr().out.count("in the first game") == 2

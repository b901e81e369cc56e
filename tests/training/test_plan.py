"""The plan of a configuration, and the refusal of one that does not fit."""

import argparse
import json

import jax
import pytest
import toy_env
from commands import run_command
from started import ROOT

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training import plan
from training.run import plan as run_plan
from training.system import cli


@pytest.fixture(scope="module")
def shapes(config):
    return run_plan.shapes_of(config, toy_env)


def command(capsys, *args):
    return run_command(capsys, plan.main, toy_env, *args)


def test_bytes_are_those_of_the_arrays(shapes):
    env = toy_env.make("toy")
    state = toy_env.auto_reset(env).init(jax.random.key(0))
    assert shapes.game == sum(x.nbytes for x in jax.tree.leaves(state))
    seen = env.observe(state, state.current_player)
    num_bytes = sum(x.nbytes for x in jax.tree.leaves(seen)) + state.legal_action_mask.nbytes
    assert shapes.seen == num_bytes
    assert shapes.params % 4 == 0 and shapes.flops > shapes.params / 4


def test_more_devices_and_fewer_games_take_less(config, shapes):
    one_device = run_plan.plan_of(config, shapes, 1)
    two = run_plan.plan_of(config, shapes, 2)
    assert one_device.rollout == 2 * two.rollout and one_device.network == two.network
    assert one_device.rollout == 32 * 32 * (shapes.seen + run_plan.kept_of_a_decision(4))
    with pytest.raises(UserError, match="a multiple of the 3 devices"):
        run_plan.plan_of(config, shapes, 3)


def test_what_does_not_fit_is_refused_with_what_does(tiny_file, config, shapes, capsys):
    code, out, err = command(capsys, tiny_file, "--memory", "1GB")
    assert code == 0, err
    assert "sum" in out
    total = run_plan.plan_of(config, shapes, 1).total
    code, _, err = command(capsys, tiny_file, "--memory", f"{total - 1}")
    assert code == 2 and err.count("\n") == 1
    assert "what would fit: ppo.num_envs=16" in err
    other = configs.override(config, ["ppo.num_envs=16"])
    assert run_plan.plan_of(other, shapes, 1).total < total
    code, _, err = command(capsys, tiny_file, "--memory", "10B")
    assert code == 2 and "nothing smaller" in err


def test_time_comes_from_a_report_of_that_device(tiny_file, config, shapes, tmp_path, capsys):
    report = {
        "machine": {"devices": 2, "device": "cpu"},
        "run": "tiny", "config": configs.to_dict(config),
        "parts_s": {"environment": 1.0, "observation and inference": 2.0, "learning": 4.0},
    }  # fmt: skip
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(report))
    pace = run_plan.read_pace(path, toy_env)
    assert pace.seconds(config, shapes, 2) == pytest.approx(7.0)
    assert pace.seconds(config, shapes, 1) == pytest.approx(14.0)
    code, out, err = command(capsys, tiny_file, "--devices", "2", "--measured", path)
    assert code == 0, err
    assert "146 decisions/s, an update in 7.00 s, 40 updates in 0.1 hours" in out
    path.write_text("{}")
    code, _, err = command(capsys, tiny_file, "--measured", path)
    assert code == 2 and "no report of benchmarks.training" in err


@pytest.mark.parametrize(
    "text, size", [("80GB", 80e9), ("16GiB", 2**34), ("1.5 MB", 1.5e6), ("7", 7), ("2tb", 2e12)]
)
def test_sizes(text, size):
    assert plan.size_of(text) == size


def test_a_size_that_is_none_is_named():
    with pytest.raises(argparse.ArgumentTypeError, match="such as 80GB or 16GiB, got '80 GBs'"):
        plan.size_of("80 GBs")


@pytest.mark.slow
def test_the_plan_is_near_what_xla_says(capsys):
    """`configs/quick.yaml` on one device."""
    import gaia_jax

    path = str(ROOT / "configs" / "quick.yaml")
    args = [path, "--xla", "run.updates_per_chunk=1", "run.updates=10"]
    assert cli.run(lambda: plan.main(args, gaia_jax)) == 0
    output = capsys.readouterr().out
    off = int(output.split("the plan is ")[1].split("%")[0])
    assert abs(off) <= 15, output

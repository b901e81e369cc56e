"""The benchmark of training: its parts are those of one update."""

import math
import statistics

import pytest
import toy_env

from benchmarks import training


@pytest.mark.slow
def test_the_parts_of_an_update_add_up_to_it(config, monkeypatch):
    monkeypatch.setattr(training, "gaia_jax", toy_env)
    report = training.measure_training(config, rounds=2, decisions=64)
    assert list(report["seconds"]) == ["environment", "rollout", "update"]
    assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in report["seconds"].values())
    update = statistics.median(report["seconds"]["update"])
    assert math.isclose(sum(report["parts_s"].values()), update)
    assert math.isclose(sum(report["parts_share"].values()), 1)
    assert report["parts_s"]["environment"] == statistics.median(report["seconds"]["environment"])
    assert math.isclose(
        report["decisions_per_second"], config.ppo.num_envs * config.ppo.num_steps / update
    )
    assert list(report["vp"]) == ["mine", "project", "gift"] and sum(report["vp"].values()) > 0


@pytest.mark.slow
def test_a_baseline_is_timed_beside_the_rollout_of_the_trainers_network(config, monkeypatch):
    monkeypatch.setattr(training, "gaia_jax", toy_env)
    report = training.measure_baseline(config, "random", rounds=2)
    assert list(report["seconds"]) == ["rollout", "baseline"]
    rounds = zip(report["seconds"]["rollout"], report["seconds"]["baseline"], strict=True)
    ratios = [rollout / baseline for rollout, baseline in rounds]
    assert len(ratios) == 2 and report["ratio"]["min"] == min(ratios)
    faster = report["decisions_per_second"]["baseline"]["max"]
    decisions = config.ppo.num_envs * config.ppo.num_steps
    assert math.isclose(faster, decisions / min(report["seconds"]["baseline"]))


def test_an_unknown_baseline_is_one_clear_line(capsys):
    assert training.main(["--baseline", "zoo/stong"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("benchmarks.training: ") and "zoo/strong" in error
    assert error.count("\n") == 1


def test_a_missing_configuration_is_one_clear_line(capsys):
    assert training.main(["--config", "configs/no_such.yaml"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("benchmarks.training: ") and "no_such.yaml" in error
    assert error.count("\n") == 1

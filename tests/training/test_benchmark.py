"""The benchmark of training: its parts are those of one update."""

import math
import statistics

import pytest
import toy_env

from benchmarks import training


@pytest.mark.slow
def test_the_parts_of_an_update_add_up_to_it(config, monkeypatch):
    monkeypatch.setattr(training, "gaia_jax", toy_env)
    report = training.measure_training(config, rounds=2)
    assert list(report["seconds"]) == ["environment", "rollout", "update"]
    assert all(len(rounds) == 2 and min(rounds) > 0 for rounds in report["seconds"].values())
    update = statistics.median(report["seconds"]["update"])
    assert math.isclose(sum(report["parts_s"].values()), update)
    assert math.isclose(sum(report["parts_share"].values()), 1)
    assert report["parts_s"]["environment"] == statistics.median(report["seconds"]["environment"])
    assert math.isclose(
        report["decisions_per_second"], config.ppo.num_envs * config.ppo.num_steps / update
    )


def test_a_missing_configuration_is_one_clear_line(capsys):
    assert training.main(["--config", "configs/no_such.yaml"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("benchmarks.training: ") and "no_such.yaml" in error
    assert error.count("\n") == 1

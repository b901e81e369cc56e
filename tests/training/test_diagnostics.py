"""The metrics of a policy's behaviour."""

import math

import numpy as np
import toy_env

import gaia_jax
from training.learn.metrics import Diagnostics, verb_ranges


def test_the_verbs_cover_every_action_once():
    rules = gaia_jax.make("lost_fleet").ruleset
    ranges = verb_ranges(rules)
    covered = np.zeros(rules.actions.num_actions, int)
    for first, last in ranges.values():
        covered[first:last] += 1
    assert (covered == 1).all()
    assert "leech DECLINE" in ranges and "explore" in ranges


def test_without_an_ended_game_nothing_is_said():
    report = Diagnostics(toy_env.make("toy")).report({"sources": np.zeros(3)}, 0)
    assert all(math.isnan(x) for x in report.values())

"""Sampling takes legal actions only, with the probabilities of the policy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from training.networks import sampling

ACTIONS = 1023
sample, sample_uniform = jax.jit(sampling.sample), jax.jit(sampling.sample_uniform)


@pytest.mark.parametrize("density", [0.001, 0.05, 1.0])
def test_only_legal_actions_are_drawn_also_at_the_ends_of_the_unit_interval(density):
    keys = jax.random.split(jax.random.key(0), 3)
    rows = 512
    mask = jax.random.bernoulli(keys[0], density, (rows, ACTIONS))
    mask = mask.at[jnp.arange(rows), jax.random.randint(keys[1], (rows,), 0, ACTIONS)].set(True)
    logits = 20 * jax.random.normal(keys[2], (rows, ACTIONS))
    below_one = np.nextafter(np.float32(1), np.float32(0))
    for uniform in (0.0, 0.5, below_one, 1.0):
        u = jnp.full(rows, uniform, jnp.float32)
        for action in (sample(logits, mask, u), sample_uniform(mask, u)):
            assert bool(mask[jnp.arange(rows), action].all())
    assert bool(mask[jnp.arange(rows), sampling.most_probable(logits, mask)].all())


def test_frequencies_follow_the_policy():
    logits = jnp.array([0.0, 1.0, 5.0, -1.0, 2.0])
    mask = jnp.array([True, True, False, True, True])
    n = 40_000
    u = jax.random.uniform(jax.random.key(0), (n,))
    drawn = jax.vmap(lambda u: sampling.sample(logits, mask, u))(u)
    share = np.bincount(np.asarray(drawn), minlength=5) / n
    expected = np.asarray(jnp.where(mask, jnp.exp(logits), 0))
    assert np.allclose(share, expected / expected.sum(), atol=0.01)
    flat = jax.vmap(lambda u: sampling.sample_uniform(mask, u))(u)
    assert np.allclose(np.bincount(np.asarray(flat), minlength=5) / n, mask / 4, atol=0.01)


def test_log_prob_and_entropy_of_a_masked_policy():
    logits = jnp.array([1.0, -1e9, 1.0, 1.0, 1.0])
    log_prob, entropy = sampling.log_prob_and_entropy(logits, jnp.int32(3))
    assert np.isclose(log_prob, -np.log(4))
    assert np.isclose(entropy, np.log(4))


def test_a_uniform_draw_is_the_kth_legal_action():
    keys = jax.random.split(jax.random.key(1), 2)
    mask = jax.random.bernoulli(keys[0], 0.05, (256, ACTIONS)).at[:, 7].set(True)
    uniform = jax.random.uniform(keys[1], (256,))
    drawn = map(np.asarray, (mask, uniform, sample_uniform(mask, uniform)))
    for row, u, action in zip(*drawn, strict=True):
        legal = np.flatnonzero(row)
        assert action == legal[int(u * np.float32(len(legal)))]

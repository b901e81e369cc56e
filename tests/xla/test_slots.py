"""Slots and their queue: every job is taken once, in order, by slots that are free."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.xla.slots import take

TAKE = jax.jit(take)


def bools(text):
    """`1.1` is a free slot, one that is not, a free one."""
    return jnp.array([x == "1" for x in text])


@pytest.mark.parametrize(
    ("free", "following", "total", "jobs", "after"),
    [
        ("1111", 0, 9, {0: 0, 1: 1, 2: 2, 3: 3}, 4),
        ("1.1.", 4, 9, {0: 4, 2: 5}, 6),
        ("....", 4, 9, {}, 4),
        ("1111", 7, 9, {0: 7, 1: 8}, 9),
        (".1.1", 8, 9, {1: 8}, 9),
        ("1111", 9, 9, {}, 9),
        ("11", 0, 1, {0: 0}, 1),
        ("11", 0, 0, {}, 0),
        ("1", 0, 1, {0: 0}, 1),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_free_slots_take_the_next_jobs_in_their_order(free, following, total, jobs, after, traced):
    fill = (TAKE if traced else take)(bools(free), following, total)
    assert {int(slot): int(fill.job[slot]) for slot in np.flatnonzero(fill.takes)} == jobs
    assert fill.following == after and fill.following.shape == ()
    # What takes nothing may look up a job all the same.
    assert (fill.job >= 0).all() and (fill.job < max(total, 1)).all()
    assert (fill.takes.dtype, fill.job.dtype, fill.following.dtype) == (bool, "int32", "int32")


def test_what_belongs_to_a_job_is_put_into_the_slots_that_take_one():
    fill = take(bools("1.11"), 3, 5)  # slots 0 and 2 take jobs 3 and 4, for slot 3 none is left
    rows = {"a": jnp.arange(5, dtype=jnp.int8), "b": jnp.arange(30.0).reshape(5, 2, 3)}
    old = {"a": jnp.full(4, -1, jnp.int8), "b": jnp.full((4, 2, 3), -1.0)}
    new = fill.put(old, jax.tree.map(lambda x: x[fill.job], rows))
    assert new["a"].tolist() == [3, -1, 4, -1] and new["a"].dtype == jnp.int8
    np.testing.assert_array_equal(new["b"][jnp.array([0, 2])], rows["b"][3:])
    assert (new["b"][jnp.array([1, 3])] == -1).all()
    assert fill.put(jnp.array([7, 8, 9, 6]), 0).tolist() == [0, 8, 0, 6]
    keys = jax.random.split(jax.random.key(0), 4)  # slots may hold keys
    other = jax.random.split(jax.random.key(1), 4)
    expected = jnp.where(jnp.array([1, 0, 1, 0], bool)[:, None], *map(_data, (other, keys)))
    assert jnp.array_equal(_data(fill.put(keys, other)), expected)


def _data(keys):
    return jax.random.key_data(keys)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_queue_whatever_becomes_free(seed):
    """Against a list from which each free slot takes the first."""
    random = np.random.default_rng(seed)
    slots, total = random.integers(1, 12), random.integers(0, 40)
    left, holds, following = list(range(total)), np.full(slots, -1), 0
    slot_jobs = jnp.full(slots, -1)
    for share in random.random(30):
        free = random.random(slots) < share
        for slot in np.flatnonzero(free):
            if left:
                holds[slot] = left.pop(0)
        fill = TAKE(jnp.asarray(free), following, int(total))
        slot_jobs, following = fill.put(slot_jobs, fill.job), fill.following
        np.testing.assert_array_equal(slot_jobs, holds)
        assert following == total - len(left)


@pytest.mark.parametrize("seed", range(5))
def test_a_loop_over_slots_does_each_job_once_in_the_least_steps(seed):
    """Jobs of different lengths: the loop takes the steps of a list schedule, and no more."""
    random = np.random.default_rng(seed)
    total, slots = 23, 4
    length = jnp.asarray(random.integers(1, 9, total), jnp.int32)

    def start(fill, job, steps):
        return fill.put(job, fill.job), fill.put(steps, length[fill.job])

    def step(carry):
        live, job, steps, following, done, count = carry
        steps = steps - live
        ended = live & (steps == 0)
        done = done.at[jnp.where(ended, job, total)].add(1, mode="drop")
        fill = take(ended, following, total)
        job, steps = start(fill, job, steps)
        return (live & ~ended) | fill.takes, job, steps, fill.following, done, count + 1

    @jax.jit
    def run():
        fill = take(jnp.ones(slots, bool), 0, total)
        job, steps = start(fill, jnp.zeros(slots, jnp.int32), jnp.zeros(slots, jnp.int32))
        done = jnp.zeros(total, jnp.int32)
        carry = fill.takes, job, steps, fill.following, done, jnp.int32(0)
        return jax.lax.while_loop(lambda carry: carry[0].any(), step, carry)

    *_, following, done, count = run()
    assert following == total and (done == 1).all()
    ends = np.zeros(slots, int)  # the next job goes to the slot that is free first
    for job in length:
        ends[ends.argmin()] += int(job)
    assert count == ends.max()

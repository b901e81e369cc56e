"""Playouts: each is played to its end on its own draws, whatever else is in the batch."""

import jax
import numpy as np
import pytest

import gaia_jax
from tests.training import toy_env
from training.agents import random_agent
from training.analysis.playouts import Candidates, Playouts, jobs_of

ENV = toy_env.make("toy", reward="vp")
SAMPLES = 5


@pytest.fixture(scope="module")
def positions():
    return jax.device_get(jax.vmap(ENV.init)(jax.random.split(jax.random.key(3), 3)))


@pytest.fixture(scope="module")
def jobs(positions):
    legal = [np.flatnonzero(mask)[:2] for mask in positions.legal_action_mask]
    return jobs_of([Candidates(row, own, range(SAMPLES)) for row, own in enumerate(legal)])


@pytest.fixture(scope="module")
def played(positions, jobs):
    return Playouts(ENV, random_agent(ENV), moves=20, slots=4).play(positions, jobs, seed=1)


def test_jobs_are_each_candidate_of_each_position_with_the_same_luck(jobs):
    assert len(jobs.action) == 3 * 2 * SAMPLES
    assert jobs.sample.reshape(6, SAMPLES).tolist() == [list(range(SAMPLES))] * 6
    assert (np.diff(jobs.position) >= 0).all()
    assert jobs_of([Candidates(0, [7], range(4, 6))]).sample.tolist() == [4, 5]


def test_results_are_those_of_each_action_of_each_position(positions, played):
    """However many actions a position has; the last one has none."""
    playouts = Playouts(ENV, random_agent(ENV), moves=20, slots=4)
    legal = [np.flatnonzero(mask)[:2] for mask in positions.legal_action_mask]
    candidates = [
        Candidates(2, legal[2][1:], range(1, 4)),
        Candidates(0, legal[0], range(SAMPLES)),
        Candidates(1, [], range(SAMPLES)),
    ]
    one, two, none = playouts.play_candidates(positions, candidates, seed=1)
    vp = played.vp.reshape(3, 2, SAMPLES, -1)
    assert np.array_equal(one.vp, vp[2, 1:, 1:4]) and np.array_equal(two.vp, vp[0])
    assert none.vp.shape == (0, SAMPLES, 4)


def test_a_playout_is_its_first_action_and_its_moves(positions, jobs, played):
    """Played again one by one: the same end."""
    step = jax.jit(ENV.step)
    assert played.ended.all()
    for j in range(len(jobs.action)):
        state = jax.tree.map(lambda x, j=j: x[jobs.position[j]], positions)
        for action in [jobs.action[j], *played.moves[j][played.moves[j] >= 0]]:
            assert state.legal_action_mask[action] and not state.terminated
            state = step(state, np.int32(action))
        assert state.terminated and np.array_equal(state.game.players.vp, played.vp[j])


def test_neither_slots_nor_the_jobs_beside_it_matter(positions, jobs, played):
    reference = Playouts(ENV, random_agent(ENV), moves=20, slots=64).play(positions, jobs, seed=1)
    for actual, expected in zip(reference, played, strict=True):
        np.testing.assert_array_equal(actual, expected)
    wide = Playouts(ENV, random_agent(ENV), moves=20, slots=64)
    roomy = wide.play(positions, jobs, seed=1, capacity=100)
    np.testing.assert_array_equal(roomy.vp, played.vp)
    rows = np.arange(3, len(jobs.action), 4)
    narrow = Playouts(ENV, random_agent(ENV), moves=20, slots=4)
    ends = narrow.play(positions, type(jobs)(*(x[rows] for x in jobs)), seed=1)
    np.testing.assert_array_equal(ends.vp, played.vp[rows])
    other = narrow.play(positions, type(jobs)(*(x[rows] for x in jobs)), seed=2)
    assert not np.array_equal(other.moves, played.moves[rows])


def test_what_has_ended_is_kept_at_ctrl_c(positions, jobs, played):
    def interrupt(ended):
        if ended:
            raise KeyboardInterrupt

    ends = Playouts(ENV, random_agent(ENV), moves=20, slots=4).play(positions, jobs, 1, interrupt)
    assert 0 < ends.ended.sum() < len(jobs.action)
    np.testing.assert_array_equal(ends.vp[ends.ended], played.vp[ends.ended])


def test_the_agent_makes_the_first_action_where_none_is_named(positions):
    jobs = jobs_of([Candidates(row, [-1], range(SAMPLES)) for row in range(3)])
    noted = Playouts(ENV, random_agent(ENV), 20, 4, note=lambda state: state.game.clock)
    ends = noted.play(positions, jobs, seed=1)
    assert ends.ended.all() and len({tuple(row) for row in ends.moves}) > SAMPLES
    counts = (ends.moves >= 0).sum(1)
    for moves, notes, count in zip(ends.moves, ends.notes, counts, strict=True):
        assert notes[:count].tolist() == list(range(1, count + 1)), "the first is not kept"
        assert (moves[count:] == -1).all() and (notes[count:] == -1).all()


def test_vp_by_source_are_kept(played):
    np.testing.assert_array_equal(played.sources.sum(-1) + 10, played.vp)
    assert played.notes.shape == (len(played.vp), 0)


def test_turns_are_short_where_the_environment_has_them():
    agent = random_agent(ENV)
    assert Playouts(gaia_jax.make(), agent).env == gaia_jax.make(short_turns=True)
    assert Playouts(ENV, agent).env is ENV


def test_nothing_to_play_is_an_error(positions, jobs):
    with pytest.raises(ValueError, match="nothing to play"):
        Playouts(ENV, random_agent(ENV)).play(positions, type(jobs)(*(x[:0] for x in jobs)))

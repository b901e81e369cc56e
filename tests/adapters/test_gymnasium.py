"""The Gymnasium environments of one seat, on the stub game."""

import warnings

import numpy as np
import pytest

from tests.stub_env import StubEnv

pytest.importorskip("gymnasium", reason="gymnasium comes with the extra `adapters`")

ENV = StubEnv(reward="vp", length=10)


@pytest.fixture(scope="module")
def single():
    from gaia_jax.adapters.gymnasium import GaiaGymEnv

    return GaiaGymEnv(ENV, seat=1)


@pytest.fixture(scope="module")
def vector():
    from gaia_jax.adapters.gymnasium import GaiaVectorEnv

    return GaiaVectorEnv(3, ENV)


def test_the_checker_of_gymnasium_passes(single):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*spec.*")
        warnings.filterwarnings("ignore", message=".*render.*")
        check_env(single)


def test_one_game_to_its_end(single):
    _, info = single.reset(seed=4)
    total, length, terminated = 0.0, 0, False
    while not terminated:
        assert (single.action_masks() == info["action_mask"]).all() and info["seat"] == 1
        action = single.action_space.sample(info["action_mask"])
        obs, reward, terminated, truncated, info = single.step(action)
        assert single.observation_space.contains(obs) and not truncated
        total, length = total + reward, length + 1
    assert info["episode_length"] == length
    assert info["vp"] == 10 + round(100 * total) and not info["illegal"]
    _, reward, terminated, _, info = (single.reset(seed=4), single.step(-1))[1]
    assert (reward, terminated, bool(info["illegal"])) == (-1.0, True, True)


def test_a_new_game_begins_with_the_next_step(vector):
    obs, infos = vector.reset(seed=1)
    repeated, _ = vector.reset(seed=1)
    assert vector.observation_space.contains(obs) and (obs == repeated).all()
    assert infos["action_mask"].shape == (3, ENV.num_actions)
    was_over = np.zeros(3, bool)
    for _ in range(8):
        actions = infos["action_mask"].argmax(1)
        _, rewards, terminated, truncated, infos = vector.step(actions)
        assert not terminated[was_over].any() and not rewards[was_over].any()
        assert (infos["episode_length"][~terminated] == 0).all() and not truncated.any()
        assert infos["action_mask"][terminated].all()
        was_over = terminated
    with pytest.raises(ValueError, match=r"actions must be \(3,\), not of shape \(2,\)"):
        vector.step(np.zeros(2, int))


def test_what_needs_a_reset_or_a_number_of_games_says_so():
    from gymnasium.error import ResetNeeded

    from gaia_jax.adapters.gymnasium import GaiaGymEnv, GaiaVectorEnv

    env = GaiaGymEnv(ENV, render_mode="ansi")
    for call in (lambda: env.step(0), env.action_masks, env.render):
        with pytest.raises(ResetNeeded, match="call reset"):
            call()
    with pytest.raises(ResetNeeded, match="call reset"):
        GaiaVectorEnv(2, ENV).step(np.zeros(2, int))
    with pytest.raises(ValueError, match="num_envs"):
        GaiaVectorEnv(0, ENV)


@pytest.mark.slow  # compiles the solo game
def test_the_solo_game_passes_the_checker_and_ends():
    from gymnasium.utils.env_checker import check_env

    import gaia_jax
    from gaia_jax.adapters.gymnasium import GaiaGymEnv

    env = GaiaGymEnv(gaia_jax.make("base", reward="vp", players=1), illegal="random")
    check_env(env, skip_render_check=True)
    _, info = env.reset(seed=3)
    total, length, terminated = 0.0, 0, False
    while not terminated:
        action = env.action_space.sample(info["action_mask"])
        _, reward, terminated, truncated, info = env.step(action)
        total, length = total + reward, length + 1
        assert not truncated and not info["illegal"]
    assert info["episode_length"] == length
    assert info["vp"] == 10 + round(100 * total)

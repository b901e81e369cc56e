"""Exploring starts: which seats begin with more in training, with what, and that no others do."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env

import gaia_jax
from gaia_jax.cli.command_line import UserError
from gaia_jax.state import Players
from training.config import Config, from_dict, override
from training.learn import exploring_starts

GAMES = 256


@pytest.fixture(scope="module")
def env():
    return gaia_jax.make("lost_fleet", reward="vp")


@pytest.fixture(scope="module")
def dealt(env):
    """Set-ups, their games as the rules deal them, and the same with a part of the seats rich."""
    rich = exploring_starts.with_exploring_starts(env, 0.4)

    @jax.jit
    @jax.vmap
    def deal(key):
        setup = env.draw_setup(key)
        return setup, env.deal(setup), rich.deal(setup), exploring_starts.is_rich(setup, 4, 0.4)

    return jax.device_get(deal(jax.random.split(jax.random.key(0), GAMES)))


def test_only_rich_seats_get_gifts_and_only_these(dealt):
    _, plain, given, rich = dealt
    assert abs(rich.mean() - 0.4) < 0.05 and np.ptp(rich.mean(0)) < 0.15
    changed = {"resources", "power", "tracks"}
    for name in Players.fields:
        before, after = (np.asarray(getattr(x.players, name)) for x in (plain, given))
        np.testing.assert_array_equal(after[~rich], before[~rich], err_msg=name)
        if name not in changed:
            np.testing.assert_array_equal(after, before, err_msg=name)
    rest = (x.replace(players=None) for x in (plain, given))
    jax.tree.map(np.testing.assert_array_equal, *rest)


def test_gifts_are_as_large_as_said_and_within_the_caps(dealt, env):
    _, plain, given, rich = dealt
    extra = {
        name: getattr(given.players, name)[rich].astype(int) - getattr(plain.players, name)[rich]
        for name in ("resources", "power", "tracks")
    }
    maximum = np.array([*exploring_starts.RESOURCES, exploring_starts.POWER])
    gifts = np.concatenate([extra["resources"], extra["power"][:, 2:]], axis=1)
    assert (gifts >= 0).all() and (gifts.max(0) == maximum).all()
    # Of the square of a number drawn from [0, 1): P(gift > k) = 1 - sqrt((k + 1) / (most + 1)).
    expected = [sum(1 - np.sqrt((k + 1) / (m + 1)) for k in range(m)) for m in maximum]
    error = gifts.std(0) / np.sqrt(len(gifts))
    assert (np.abs(gifts.mean(0) - expected) < 4 * error).all()
    assert not extra["power"][:, :2].any()
    assert (given.players.resources <= [30, 15, 15, 100]).all()  # GEN-07
    tracks = env.ruleset.ids["track"]
    gets = np.array([name in exploring_starts.TRACKS for name in tracks])
    assert not extra["tracks"][:, ~gets].any()
    level = given.players.tracks[rich][:, gets]
    first = plain.players.tracks[rich][:, gets]
    assert (level == np.maximum(first, level)).all() and level.max() == 2
    at = level[first == 0]
    assert abs((at == 2).mean() - exploring_starts.TWO_LEVELS) < 0.03
    assert (
        abs((at == 1).mean() - (exploring_starts.AT_LEAST_ONE - exploring_starts.TWO_LEVELS)) < 0.03
    )


def test_gifts_of_two_kinds_are_drawn_apart(dealt):
    _, plain, given, rich = dealt
    extra = given.players.resources[rich].astype(float) - plain.players.resources[rich]
    assert np.abs(np.corrcoef(extra.T) - np.eye(4)).max() < 0.2


def test_the_log_tells_both_kinds_of_seats_apart(dealt):
    setup, *_, rich = dealt
    states = type("States", (), {"game": type("Game", (), {"setup": setup})})
    done, vp = np.arange(GAMES) % 3 == 0, np.where(rich, 130, 100) + np.arange(GAMES)[:, None] % 7
    summed = dict(exploring_starts.counts(states, jnp.asarray(done), jnp.asarray(vp), 0.4))
    summed = jax.device_get(summed) | {"other": 1}
    report = exploring_starts.report(summed)
    assert report["exploring/vp_without"] == pytest.approx(vp[done][~rich[done]].mean())
    assert report["exploring/vp_with_gifts"] == pytest.approx(vp[done][rich[done]].mean())
    assert list(summed) == ["other"]
    empty = {"exploring_vp": np.array([5.0, 0.0]), "exploring_seats": np.array([1.0, 0.0])}
    assert exploring_starts.report(empty) == {"exploring/vp_without": 5.0}


def test_without_a_part_and_elsewhere(env):
    assert exploring_starts.with_exploring_starts(env, 0.0) is env
    rich = exploring_starts.with_exploring_starts(env, 0.5)
    assert isinstance(rich, gaia_jax.GaiaEnv) and rich != env and rich.reward == env.reward
    assert hash(rich) != hash(
        exploring_starts.with_exploring_starts(env, 0.4)
    ) and rich != exploring_starts.with_exploring_starts(env, 0.4)
    with pytest.raises(UserError, match="needs an environment of gaia_jax.make"):
        exploring_starts.with_exploring_starts(toy_env.make("toy"), 0.5)
    for wrong in ("-0.1", "1.5", "nan"):
        with pytest.raises(UserError, match=r"recipe\.exploring_starts must be"):
            override(Config(), [f"recipe.exploring_starts={wrong}"])


@pytest.mark.parametrize(("name", "players"), [("lost_fleet", 4), ("base", 2), ("base", 3)])
def test_a_rich_game_has_the_form_of_a_plain_one(name, players):
    env = gaia_jax.make(name, players=players)
    key = jax.random.key(0)
    plain, rich = (
        jax.eval_shape(lambda key, x=x: x.deal(x.draw_setup(key)), key)
        for x in (env, exploring_starts.with_exploring_starts(env, 0.5))
    )
    chex.assert_trees_all_equal_shapes_and_dtypes(plain, rich)


@pytest.mark.slow
def test_a_run_learns_in_rich_games_and_is_evaluated_in_plain_ones(tmp_path):
    from training.learn.trainer import Inputs, Trainer

    config = from_dict({"network": {"layers": 1, "cell_width": 8, "width": 8, "planets": 88}})
    small = ["network.neighbors=false", "ppo.num_envs=8", "ppo.num_steps=400", "ppo.epochs=1"]
    config = override(config, [*small, "recipe.exploring_starts=0.5", "run.updates_per_chunk=1"])
    trainer = Trainer(Inputs.of(config, gaia_jax), tmp_path / "rich")
    assert type(trainer.env) is gaia_jax.GaiaEnv  # what evaluations are made of
    initial = jax.device_get(trainer.runner.env_state.game)
    plain = jax.device_get(jax.jit(jax.vmap(trainer.env.deal))(initial.setup))
    differ = (initial.players.resources != plain.players.resources).any(-1)
    assert 0.2 < differ.mean() < 0.8
    record = trainer.advance()[-1]
    assert record["games/ended"] > 3
    assert record["exploring/vp_with_gifts"] > record["exploring/vp_without"]
    later = jax.device_get(trainer.runner.env_state.game)  # dealt since, where games ended
    assert (later.setup.faction != initial.setup.faction).any()

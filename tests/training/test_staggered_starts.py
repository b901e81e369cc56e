"""Staggered starts: the position of each game, on the toy game."""

import jax
import numpy as np
import toy_env

from training import config as configs
from training.system.batched import batched


def test_games_stand_as_far_apart_as_asked(config, make_trainer):
    """Eight decisions are less than the shortest game, so none has ended."""
    config = configs.override(config, ["recipe.staggered_starts=8"])
    clock = np.asarray(make_trainer("staggered", config=config).runner.env_state.game.clock)
    games = config.ppo.num_envs
    assert clock.tolist() == [game * 8 // games for game in range(games)]
    assert toy_env.LONGEST > clock.max() > 0


def test_a_second_program_finds_the_environment_traced():
    """The staggering program and the training step share the traced environment."""
    auto, traced = toy_env.auto_reset(toy_env.make("toy")), []
    step = auto.step
    auto.step = lambda *args: traced.append(1) or step(*args)
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))
    states = jax.eval_shape(jax.vmap(auto.init), keys)
    actions = jax.ShapeDtypeStruct((3,), np.int32)
    for program in (lambda *x: batched(auto).step(*x), lambda *x: (batched(auto).step(*x), 0)):
        jax.jit(program).trace(states, actions, keys)
    assert traced == [1]

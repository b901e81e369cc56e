"""Games that begin apart: where each of them stands, on the toy game."""

import numpy as np
import toy_env

from training import config as configs


def test_games_stand_as_far_apart_as_asked(config, make_trainer):
    """Eight decisions are less than the shortest game, so none has ended."""
    config = configs.override(config, ["ppo.spread=8"])
    clock = np.asarray(make_trainer("apart", config=config).runner.env_state.game.clock)
    games = config.ppo.num_envs
    assert clock.tolist() == [game * 8 // games for game in range(games)]
    assert toy_env.LONGEST > clock.max() > 0

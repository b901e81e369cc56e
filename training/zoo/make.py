"""A shipped agent is made: its parameters, its JSON, and the games that it must play again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from training import config as configs
from training import zoo
from training.config import Config
from training.networks.make import make_network
from training.types import Environment, Params
from training.zoo.games import Recorded, make_player, record


def make(
    name: str, env: Environment, params: Params, config: Config, more: Mapping[str, object]
) -> tuple[Path, Recorded]:
    """Write `NAME.npz`, `NAME.json` and `NAME.games.npz`.

    Args:
        name: plain, without `zoo/`; `zoo.check` says whether it may be written.
        env: what it plays.
        params: the network's parameters.
        config: what it was trained with; its network.
        more: what else the JSON tells.
    Returns:
        The path of the JSON, and the games that it played.
    """
    says = zoo.describe(env, config.network, training=configs.to_dict(config), **more)
    path = zoo.save(name, params, says)
    played = record(make_player(env, make_network(env, config.network)), params)
    zoo.write_npz(path.with_suffix(".games.npz"), np.savez_compressed, played._asdict())
    return path, played

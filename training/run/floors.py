"""Floors on the behaviour of an agent that replaces a shipped one.

An agent that wins without federations, research or ships has learnt a weakness of its opponents,
not the game, and later agents learn from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gaia_jax.cli.command_line import UserError

from .. import zoo
from ..agents import policy_agent
from ..config import Config
from ..games.arena import Arena
from ..games.report import behaviour
from ..networks.make import make_network
from ..system import environments
from ..types import Environment, Params

SHARE = 0.95  # of the replaced agent's mean
SETUPS, SEED = 256, 9501  # the seed of the cards' self-play
# Means of a seat in self-play: `games.report.behaviour` and, where it has another name, the card.
FLOORS = {
    "federations": "federations",
    "advanced_tiles": "advanced_tiles",
    "research_steps": "levels_of_research",
    "ships": "ships",
    "leech_vp_paid": "",
}


def check(
    name: str,
    env: Environment,
    params: Params,
    config: Config,
    keys: Mapping[str, Any],
) -> None:
    """Compare an agent with the floors of the one that it replaces.

    A new name has no floors, nor has an agent whose card has no self-play (those of solo games).

    Args:
        name: of the agent, without `zoo/`.
        env: the environment to play.
        keys: further keys of its JSON. With `results` no games are played.
    Raises:
        UserError: a mean of the agent is below `SHARE` of the replaced agent's.
    """
    if zoo.PREFIX + name not in zoo.names():
        return
    replaced = zoo.about(name)
    floors = of_card(replaced.get("results", {}))
    if not floors or environments.another_environment(replaced, env):
        return
    means = of_card(keys.get("results", {})) or _measure(env, params, config, keys)
    if short := below(means, floors):
        raise UserError(
            f"zoo/{name}: below the agent that it replaces: {', '.join(short)}; "
            "--below-floors ships it all the same"
        )


def of_card(results: Mapping[str, Any]) -> dict[str, float]:
    """The means of an agent's card by name; {} if the card has no self-play."""
    play = results.get("self_play", {})
    counts, sources = play.get("behaviour", {}), play.get("vp_by_source", {})
    means = {name: counts[key] for name, key in FLOORS.items() if key in counts}
    return means | ({"leech_vp_paid": -sources["LEECH"]} if "LEECH" in sources else {})


def below(means: Mapping[str, float], replaced: Mapping[str, float]) -> list[str]:
    """A text for each mean below its floor."""
    return [
        f"{name} {means[name]:.2f}, the floor is {SHARE * value:.2f}"
        for name, value in replaced.items()
        if name in means and means[name] < SHARE * value
    ]


def _measure(
    env: Environment, params: Params, config: Config, keys: Mapping[str, Any]
) -> dict[str, float]:
    """The means of an agent in self-play, one game of each set-up."""
    plays = environments.with_short_turns(env, config.env.short_turns)
    network = make_network(env, config.network)
    temperature = float(keys.get("temperature") or 1)
    agent = policy_agent(plays, network, params, "policy", temperature=temperature)
    whole = environments.with_short_turns(env, False)
    seats, task = [agent] * env.num_players, "the games of the floors"
    games = Arena(whole, seats, SETUPS, rotations=1, task=task).play(SEED)
    means = behaviour(games, games.entry < env.num_players, env.ruleset.ids)
    return {name: float(means[name] or 0) for name in FLOORS}

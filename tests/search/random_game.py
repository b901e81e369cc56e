"""Random finite games for any number of players: tables of I games, each a tree of M nodes.

A game has irregular movers (one may decide several times in a row), illegal actions, early ends,
payments on the way, and a "network" of random logits and values. The tables are the parameters;
an embedding is the number of the game and of its node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from training.search import RecurrentFnOutput, RootFnOutput


class Games(NamedTuple):
    """I games of M nodes."""

    mover: Any  # (I, M) int32
    legal: Any  # (I, M, A) bool
    over: Any  # (I, M) bool
    reward: Any  # (I, M, P) float32, of the action that leads to the node
    logits: Any  # (I, M, A) float32
    value: Any  # (I, M, P) float32, 0 at an end


def draw(seed: int, games: int, players: int, actions: int, depth: int) -> Games:
    """Random games; payments are multiples of 1/2048, so that no sum is ever rounded."""
    rng = np.random.default_rng(seed)
    level = np.repeat(np.arange(depth + 1), [actions**d for d in range(depth + 1)])
    shape = (games, len(level))
    over = (level == depth) | ((rng.random(shape) < 0.1) & (level > 0))
    legal = rng.random((*shape, actions)) < 0.7
    legal[..., 0] |= ~legal.any(-1)
    # No ties: two ends of a game differ by more than what is paid on the way, for everyone.
    paid = np.stack([rng.permuted(np.tile(np.arange(shape[1]), (games, 1)), axis=1)
                     for _ in range(players)], axis=-1)  # fmt: skip
    reward = np.where(over[..., None], 32 * paid, paid % 7) / 2048
    reward[:, 0] = 0
    value = np.where(over[..., None], 0, rng.normal(size=(*shape, players)))
    return Games(
        rng.integers(0, players, shape).astype(np.int32),
        legal,
        over,
        reward.astype(np.float32),
        rng.normal(size=(*shape, actions)).astype(np.float32),
        value.astype(np.float32),
    )


def zero_sum(games: Games) -> Games:
    """The games for two players, with what the first is paid taken from the second."""

    def opposed(x: Any) -> Any:
        return np.stack([x[..., 0], -x[..., 0]], axis=-1)

    return games._replace(reward=opposed(games.reward), value=opposed(games.value))


def root(games: Games) -> RootFnOutput:
    count = games.mover.shape[0]
    embedding = {"game": jnp.arange(count), "node": jnp.zeros(count, jnp.int32)}
    current = (slice(None), 0)
    return RootFnOutput(
        jnp.asarray(games.logits)[current],
        jnp.asarray(games.value)[current],
        jnp.asarray(games.mover)[current],
        jnp.asarray(games.legal)[current],
        embedding,
    )


def recurrent(games: Games, key: Any, action: Any, embedding: Any) -> Any:
    """The recurrent function; the parameters are the games. An ended game stays as it is."""
    games = Games(*(jnp.asarray(x) for x in games))
    game, node = embedding["game"], embedding["node"]
    has_ended = games.over[game, node]
    actions = games.legal.shape[-1]
    after = jnp.where(has_ended, node, node * actions + 1 + action)
    current = (game, after)
    over = games.over[current]
    return RecurrentFnOutput(
        reward=jnp.where(has_ended[:, None], 0, games.reward[current]),
        discount=jnp.where(over, 0.0, 1.0),
        prior_logits=games.logits[current],
        value=games.value[current],
        to_play=games.mover[current],
        legal_actions=games.legal[current] | over[:, None],
        terminal=over,
    ), {"game": game, "node": after}


def solution(games: Games, game: int, node: int = 0, utility: Any = None) -> tuple[Any, int]:
    """max^n by looking at everything: what each player gets from a node on, and the best action.

    Args:
        utility: values (P,), mover, root -> float; None: the mover's own value.
    """
    if games.over[game, node]:
        return np.zeros(games.reward.shape[-1]), -1
    actions = games.legal.shape[-1]
    mover, root = int(games.mover[game, node]), int(games.mover[game, 0])
    best, chosen = None, -1
    for action in np.flatnonzero(games.legal[game, node]):
        after = node * actions + 1 + int(action)
        values = games.reward[game, after] + solution(games, game, after, utility)[0]
        worth = values[mover] if utility is None else utility(values, mover, root)
        if best is None or worth > best[0]:
            best, chosen = (worth, values), int(action)
    return best[1], chosen

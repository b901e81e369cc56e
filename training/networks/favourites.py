"""Favourites: an action of one verb that a seat insists on wherever it would take another of it.

A policy that always puts its research into the same two tracks never learns what a game with the
others is like, and a single step off it leads nowhere that it knows how to play on from. So while
learning seats draw a favourite by lot, one of the verb's actions or none; the network reads which,
and plays towards it. A seat without a lot, and every seat at play, has at each decision the
favourite whose value is the largest there, which takes a pass of the layers for each of them.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from training.config import Config, PPOConfig, UserError
from training.networks.factored_head import ILLEGAL_LOGIT


def actions_of(env: Any, verb: str) -> tuple[int, ...]:
    """The K actions that may be a favourite, those of a verb without a cell; () for no verb.

    They are numbered 1..K; 0 is no favourite.

    Raises:
        UserError: the environment has no such verb, or none with several such actions.
    """
    if not verb:
        return ()
    ids = env.ruleset.actions.ids if hasattr(env.ruleset, "actions") else {}
    several = [name for name in ids if len(ids[name]) > 1]
    if verb not in several:
        choices = ", ".join(several) or "none"
        raise UserError(
            f"network.favourites wants a verb with several actions and no cell, got {verb!r};"
            f" there are: {choices}"
        )
    return tuple(env.ruleset.actions.index(verb, argument) for argument in ids[verb])


def check(config: Config) -> None:
    """Refuse what does not go together with favourites, before any work.

    Raises:
        UserError: `ppo.favourites` without a network that reads them, or recipes in which another
            than the seat that decides would have to know its favourite.
    """
    ppo = config.ppo
    if not config.network.favourites:
        if ppo.favourites != PPOConfig().favourites:
            raise UserError("ppo.favourites needs network.favourites")
        return
    for name in ("search", "pool", "explore", "explore_verbs"):
        if getattr(ppo, name):
            raise UserError(f"ppo.{name} does not go together with network.favourites")


def insist(logits: Array, mask: Array, choices: tuple[int, ...], favourite: Array) -> Array:
    """Logits with all of the verb put on the favourite, where it is legal.

    The probability of each of the verb's choices goes to the favourite: how likely the verb is
    stays as it was, so that the policy learns when to take it and what to do before.

    Args:
        logits: (B, W) float32. mask: (B, W) bool.
        choices: K numbers in the network's index, one after the other.
        favourite: (B,) int, 0..K.
    Returns:
        (B, W) float32.
    """
    first, count = choices[0], len(choices)
    part = slice(first, first + count)
    chosen = favourite[:, None] == 1 + jnp.arange(count)  # (B, K); nowhere without a favourite
    holds = (chosen & mask[:, part]).any(-1, keepdims=True)
    legal = jnp.where(mask[:, part], logits[:, part], ILLEGAL_LOGIT)
    together = jax.nn.logsumexp(legal, axis=-1, keepdims=True)
    insisted = jnp.where(chosen, together, ILLEGAL_LOGIT)
    within = jnp.where(holds, insisted, logits[:, part])
    return jnp.concatenate([logits[:, :first], within, logits[:, first + count :]], axis=-1)


def by_lot(setup: Any, player: Array, count: int, part: float) -> tuple[Array, Array]:
    """The favourite of a player in a game, 0..K alike, and whether it is by lot; (), ().

    Args:
        setup: `Setup` of one game.
        player: () int.
        count: K.
        part: of the seats that draw lots; the others choose.
    """
    lot = lot_of(setup, player)
    number = jnp.floor(lot / max(part, 1e-6) * (count + 1)).astype(jnp.int8)
    return jnp.minimum(number, count), lot < part


def counts(
    before: Any, favourite: Array, done: Array, final_vp: Array, count: int, part: float
) -> dict[str, Array]:
    """What `report` tells of, summed over one decision of N games; each (K + 2,) float32.

    Args:
        before: the states before the decision. favourite: (N,), of the seat that decides.
        done: (N,) bool, the game ended with it. final_vp: (N, P), of games that did.
        count: K. part: see `by_lot`.
    """
    players = jnp.arange(final_vp.shape[-1])
    draw = jax.vmap(lambda setup: jax.vmap(lambda x: by_lot(setup, x, count, part))(players))
    number, drawn = draw(before.game.setup)  # (N, P)
    group = jax.nn.one_hot(jnp.where(drawn, number, count + 1), count + 2)
    ended = done[:, None, None] * group
    own = jnp.take_along_axis(drawn, before.current_player[:, None], axis=-1)
    return {
        "favourite_vp": (ended * final_vp[..., None]).sum((0, 1)),
        "favourite_seats": ended.sum((0, 1)),
        "favourite_chosen": (jax.nn.one_hot(favourite, count + 2) * ~own).sum(0),
    }


def report(summed: dict[str, Any], names: list[str]) -> dict[str, float]:
    """Numbers for the log; takes what `counts` gave out of `summed`.

    Mean VP of the seats with each favourite by lot and of those that choose, and the part of the
    choosing seats' decisions with each.

    Args:
        summed: (K + 2,) each, over games and decisions.
        names: of the K favourites.
    """
    vp, seats, chosen = (summed.pop(f"favourite_{x}") for x in ("vp", "seats", "chosen"))
    out = {}
    for i, name in enumerate(["none", *names, "chosen"]):
        if seats[i]:
            out[f"favourites/{name}, VP"] = float(vp[i] / seats[i])
        if name != "chosen" and chosen.sum():
            out[f"favourites/{name}, taken"] = float(chosen[i] / chosen.sum())
    return out


def lot_of(setup: Any, player: Array) -> Array:
    """() float32 in [0, 1), the same for a player at every decision of a game.

    Drawn from the set-up, because a state has no random numbers: nothing is random after it.

    Args:
        setup: `Setup` of one game.
        player: () int, whose lot it is.
    """
    return jax.random.uniform(jax.random.fold_in(key_of(setup), player))


def key_of(setup: Any) -> Array:
    """A key of `jax.random` that depends on the set-up alone: the same at every decision.

    Args:
        setup: `Setup` of one game.
    """
    drawn = jnp.concatenate([jnp.ravel(x).astype(jnp.uint32) for x in jax.tree.leaves(setup)])
    odd = 2 * np.arange(len(drawn), dtype=np.uint32) + 1
    return jax.random.fold_in(jax.random.key(0), (drawn * odd * odd * odd).sum(dtype=jnp.uint32))

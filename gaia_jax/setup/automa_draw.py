"""Drawing for the Automa: its faction, all six decks, the cards of the set-up (AUT-04 to AUT-09).

The deck of a round depends on no decision, so a set-up has all of them. What a person at the table
has not seen of it can be drawn again, as likely as it was: `redraw`.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.cli.arguments import shown
from gaia_jax.cli.command_line import nearest
from gaia_jax.components import automa, costs
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AutomaDraws

# How words are drawn, whatever the key is a key of; its keys have two words.
_IMPL, _KEY_WORDS = "threefry2x32", 2
_NOWHERE = 99  # the place of a card that comes into no deck, the round of one that is not seen


DRAWN = "any"  # instead of a level: each set-up draws one


class AutomaChoice(NamedTuple):
    """Properties of the Automa that are not drawn."""

    level: int = 0  # index of `automa.levels`; -1: drawn, each as likely
    faction: int = -1  # index of ids["faction"]; -1: drawn


ANY = AutomaChoice([level.id for level in automa.LEVELS].index(automa.DEFAULT_LEVEL))


def automa_choice(ruleset: Ruleset, level: str | None, faction: str | None) -> AutomaChoice:
    """The level, by default the middle one, and the faction of the Automa.

    Raises:
        ValueError: an unknown id, or any for a ruleset without an Automa.
    """
    parts = ruleset.automa
    if parts is None:
        if level is not None or faction is not None:
            raise ValueError(f"the Automa plays against one player, not in {ruleset.name}")
        return AutomaChoice()
    levels, factions = [x.id for x in parts.levels], [x.id for x in parts.factions]
    options = (("automa", level, [*levels, DRAWN]), ("automa_faction", faction, factions))
    for name, value, choices in options:
        if value is not None and value not in choices:
            names = ", ".join(choices) + nearest(value, choices)
            raise ValueError(f"unknown {name} {shown(value)}; known are {names}")
    return AutomaChoice(
        -1 if level == DRAWN else levels.index(level or automa.DEFAULT_LEVEL),
        ruleset.ids["faction"].index(faction) if faction else -1,
    )


class Seen(NamedTuple):
    """The cards of a game that have been turned."""

    cards: Array  # (6,) int32, by round, how many from the top of its deck
    start_cards: Array  # () int32, starting mines placed
    booster_card: Array  # () bool, the first booster is taken


def nothing_seen() -> Seen:
    """Of a game that has not begun."""
    none = jnp.zeros((), jnp.int32)
    return Seen(jnp.zeros(costs.ROUNDS, jnp.int32), none, jnp.zeros((), bool))


def faction_pair(ruleset: Ruleset, boards: Array, human: Array, automa_faction: int) -> Array:
    """(2,) int8, the factions of the human and of the Automa, of different boards (AUT-04).

    Args:
        boards: (boards,) int, all in random order; human: (2,) int8, a side of the first two.
        automa_faction: static, index of ids["faction"]; -1: that of the next board with one.
    """
    plays = ruleset.automa_table.plays
    ids = ruleset.ids["faction"]
    sides = [[ids.index(side) for side in board] for board in ruleset.faction_boards]
    own_side = [next((side for side in pair if plays[side]), -1) for pair in sides]
    if automa_faction < 0:
        others = jnp.array(own_side, jnp.int8)[boards[1:]]
        return jnp.stack([human[0], others[jnp.argmax(others >= 0)]])
    automa_board = next(i for i, pair in enumerate(sides) if automa_faction in pair)
    chosen = jnp.where(boards[0] == automa_board, human[1], human[0])
    return jnp.stack([chosen, jnp.int8(automa_faction)])


def threefry(key: Array) -> Array:
    """`key` as a key of threefry, JAX's default, which has the words of half a key of `rbg`.

    Under `vmap` the bits of `rbg` come from the first key of the batch alone: a batch would draw
    maps again for ever, once the first game has its own.
    """
    words = jax.random.key_data(key)[:_KEY_WORDS]
    half: Array = jax.random.wrap_key_data(words, impl=_IMPL)
    return half


def draw_automa(ruleset: Ruleset, level: int, key: Array) -> AutomaDraws:
    """The decks and cards of a new game.

    Args:
        level: static, index of `automa.levels`, -1: drawn; key: one key of threefry.
    """
    rounds, number = costs.ROUNDS, jnp.int8(level)
    if level < 0:
        number = jax.random.randint(jax.random.fold_in(key, 1), (), 0, len(automa.LEVELS), jnp.int8)
    draws = AutomaDraws(
        level=number,
        deck=jnp.zeros((rounds, automa.LARGEST_DECK), jnp.int8),
        start_cards=jnp.zeros(automa.START_MINES, jnp.int8),
        booster_card=jnp.zeros((), jnp.int8),
        explored_ship=_draw_ship(ruleset, key),
    )
    return redraw(ruleset, draws, nothing_seen(), key)


def _draw_ship(ruleset: Ruleset, key: Array) -> Array:
    """(1,) int8, the ship whose tile starts on its action side; empty without ships (AUT-42)."""
    ships = ruleset.automa_table.tile_ships
    if not len(ships):
        return jnp.zeros(0, jnp.int8)
    place = jax.random.randint(jax.random.fold_in(key, 0), (1,), 0, len(ships))
    return jnp.asarray(ships)[place]


def redraw(ruleset: Ruleset, draws: AutomaDraws, seen: Seen, key: Array) -> AutomaDraws:
    """The draws with their hidden part drawn again, given what has been seen of them.

    Every continuation that agrees with the cards seen is as likely as in a new game.
    """
    num_cards = len(ruleset.automa_table.cards.numbers)
    keys = jax.random.split(key, 3)
    members = _members(ruleset, draws, seen, keys[0])
    words = jax.random.bits(keys[1], (costs.ROUNDS, num_cards), jnp.uint32)
    deck = jax.vmap(_shuffled)(members, draws.deck, seen.cards, words)
    turned = jax.random.randint(keys[2], (automa.START_MINES + 1,), 1, num_cards).astype(jnp.int8)
    is_seen = jnp.arange(automa.START_MINES) < seen.start_cards
    return draws.replace(
        deck=deck,
        start_cards=jnp.where(is_seen, draws.start_cards, turned[:-1]),
        booster_card=jnp.where(seen.booster_card, draws.booster_card, turned[-1]),
    )


def _shuffled(member: Array, deck: Array, seen: Array, words: Array) -> Array:
    """(14,) int8, the cards of a round in drawing order; those seen keep their places.

    Args:
        member: (18,) bool by card; deck: (14,) int8, with the `seen` cards first.
        words: (18,) uint32, random.
    """
    cards, places = jnp.arange(len(member)), jnp.arange(len(deck))
    is_there = (deck == cards[:, None]) & (places < seen)
    on_top = jnp.where(is_there, places, 0).sum(-1)
    rest = len(deck) + (words >> 2).astype(jnp.int32)
    order = jnp.where(is_there.any(-1), on_top, rest)
    order = jnp.argsort(jnp.where(member, order, jnp.iinfo(jnp.int32).max))[: len(deck)]
    return jnp.where(places < member.sum(), order, 0).astype(jnp.int8)


def _members(ruleset: Ruleset, draws: AutomaDraws, seen: Seen, key: Array) -> Array:
    """(6, 18) bool, the cards in the deck of each round: the level's, and one more a round.

    A card seen in round r was added by then. The added cards with the earliest bounds choose their
    round first, each evenly among those left; so all orders that agree are equally likely.
    """
    fixed = jnp.asarray(ruleset.automa_table.fixed)[draws.level.astype(jnp.int32)]
    num_cards, rounds = len(fixed), costs.ROUNDS
    cards, number = jnp.arange(num_cards), jnp.arange(rounds)
    places = jnp.arange(automa.LARGEST_DECK)
    turned = (draws.deck == cards[:, None, None]) & (places < seen.cards[:, None])
    is_added = ~fixed & (cards > 0)
    # By card: the last round that may have added it.
    bound = jnp.where(turned.any(-1), number, _NOWHERE).min(-1)
    is_bound = is_added & (bound < rounds)
    words = jax.random.bits(key, (num_cards + rounds,), jnp.uint32)
    earliest = jnp.argsort(jnp.where(is_bound, bound, _NOWHERE))
    added_in = jnp.full(num_cards, _NOWHERE)
    free = jnp.ones(rounds, bool)
    for k in range(rounds):
        card = earliest[k]
        options = free & (number <= bound[card]) & is_bound[card]
        nth = (words[k] % jnp.maximum(options.sum(), 1).astype(jnp.uint32)).astype(jnp.int32)
        chosen = options & (jnp.cumsum(options) - 1 == nth)
        added_in = jnp.where((cards == card) & chosen.any(), jnp.argmax(chosen), added_in)
        free &= ~chosen
    # The rounds that are left take other cards in random order.
    others = is_added & ~is_bound
    order = jnp.where(others, (words[rounds:] >> 1).astype(jnp.int32), jnp.iinfo(jnp.int32).max)
    rank = jnp.argsort(jnp.argsort(order))
    left = jnp.argsort(~free)  # the free rounds first, in their order
    joins = others & (rank < free.sum())
    added_in = jnp.where(joins, left[jnp.minimum(rank, rounds - 1)], added_in)
    return fixed | (added_in <= number[:, None])

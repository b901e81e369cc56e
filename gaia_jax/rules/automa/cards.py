"""The cards of the Automa's turn, and those that the human has seen (AUT-12, AUT-13)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.components import automa, costs
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.automa_table import CardNumbers, FactionNumbers, LevelNumbers
from gaia_jax.setup.automa_draw import Seen, redraw, threefry
from gaia_jax.state import AUTOMA, MINE, GameState, Phase
from gaia_jax.xla.packed import pick


class TurnCards(NamedTuple):
    """What the Automa's next turn is made of."""

    support: CardNumbers
    action: CardNumbers
    passes: Array  # () bool


def card(ruleset: Ruleset, number: Array) -> CardNumbers:
    """The numbers of a card, () int; 0 is none."""
    table = ruleset.automa_table.cards
    return table.row(pick(jnp.asarray(table.numbers).astype(jnp.int32), number.astype(jnp.int32)))


def faction(ruleset: Ruleset, game: GameState) -> FactionNumbers:
    """The numbers of the Automa's faction."""
    table = ruleset.automa_table.factions
    index = game.setup.faction[AUTOMA].astype(jnp.int32)
    return table.row(pick(jnp.asarray(table.numbers).astype(jnp.int32), index))


def level(ruleset: Ruleset, game: GameState) -> LevelNumbers:
    """The numbers of the game's level."""
    assert game.setup.automa is not None
    table = ruleset.automa_table.levels
    index = game.setup.automa.level.astype(jnp.int32)
    return table.row(pick(jnp.asarray(table.numbers).astype(jnp.int32), index))


def turn_cards(ruleset: Ruleset, game: GameState) -> TurnCards:
    """The cards of the Automa's next turn: the last action card supports (AUT-12, AUT-13).

    It passes where no card is left, or where a red one is among the last three of the deck.
    """
    assert game.setup.automa is not None and game.automa is not None
    deck = pick(game.setup.automa.deck, game.turn.round_index)
    turns = game.automa.turns.astype(jnp.int32)
    drawn = jnp.minimum(turns + 1, automa.LARGEST_DECK - 1)
    size, action = (deck > 0).sum(), card(ruleset, deck[drawn])
    passes = (turns + 1 >= size) | (action.red > 0) & (turns + 1 >= size - automa.BOTTOM_CARDS)
    support = card(ruleset, deck[jnp.minimum(turns, automa.LARGEST_DECK - 1)])
    return TurnCards(support, action, passes)


def _turned_at_pass(ruleset: Ruleset, deck: Array) -> Array:
    """() int32, cards of a whole round's deck, (14,) int8, that are turned until the pass."""
    red = jnp.asarray(ruleset.automa_table.cards.numbers)[:, CardNumbers._fields.index("red")]
    number, size = jnp.arange(len(deck)), (deck > 0).sum()
    ends = (red[deck.astype(jnp.int32)] > 0) & (number >= size - automa.BOTTOM_CARDS)
    ends = (ends | (number >= size)) & (number > 0)
    return jnp.where(ends.any(), jnp.minimum(jnp.argmax(ends) + 1, size), size)


def turned(ruleset: Ruleset, game: GameState) -> Array:
    """(6,) int32, by round, the cards that have been turned from the top of its deck."""
    assert game.setup.automa is not None and game.automa is not None
    decks, turns = game.setup.automa.deck, game.automa.turns.astype(jnp.int32)
    rounds, current = jnp.arange(costs.ROUNDS) + 1, game.turn.round.astype(jnp.int32)
    earlier = jax.vmap(lambda deck: _turned_at_pass(ruleset, deck))(decks)
    this_round = jnp.where(turns > 0, jnp.minimum(turns + 1, (decks > 0).sum(-1)), 0)
    return jnp.where(rounds < current, earlier, jnp.where(rounds == current, this_round, 0))


def seen(ruleset: Ruleset, game: GameState) -> Seen:
    """What the human has seen of all cards."""
    mines = game.players.built[AUTOMA, MINE].astype(jnp.int32)
    setting_up = game.turn.phase == Phase.SETUP
    start_cards = jnp.where(setting_up, mines, automa.START_MINES)
    return Seen(turned(ruleset, game), start_cards, game.players.booster[AUTOMA] >= 0)


def redraw_hidden(ruleset: Ruleset, game: GameState, key: Array) -> GameState:
    """The game with the cards that the human has not seen drawn again; any other game as it is."""
    draws = game.setup.automa
    if draws is None:
        return game
    drawn = redraw(ruleset, draws, seen(ruleset, game), threefry(key))
    return game.replace(setup=game.setup.replace(automa=drawn))

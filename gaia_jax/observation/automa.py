"""The columns of the game as a whole that only a game against the Automa has.

They show what a person at the table sees: cards that have been turned, and which cards are surely
in the deck, but not its order.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from gaia_jax.observation.view import Block, Ids, View, ids, one_hot
from gaia_jax.rules.automa import cards
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import AutomaDraws
from gaia_jax.xla.packed import pick


def _draws(view: View) -> AutomaDraws:
    assert view.game.setup.automa is not None
    return view.game.setup.automa


def _levels(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(level.id for level in ruleset.automa.levels) if ruleset.automa else ()


def _numbers(ruleset: Ruleset) -> tuple[str, ...]:
    return tuple(str(card.number) for card in ruleset.automa.cards) if ruleset.automa else ()


def _turned(view: View) -> Array:
    """(6, cards) bool, the cards turned in each round."""
    deck, places = _draws(view).deck, jnp.arange(_draws(view).deck.shape[-1])
    is_turned = places < cards.turned(view.ruleset, view.game)[:, None]
    numbers = jnp.arange(1, len(_numbers(view.ruleset)) + 1)
    return ((deck[..., None] == numbers) & is_turned[..., None]).any(1)


def _sure_cards(view: View) -> Array:
    fixed = jnp.asarray(view.ruleset.automa_table.fixed)[_draws(view).level.astype(jnp.int32)]
    return fixed[1:] | _turned(view).any(0)


def _support(view: View) -> Array:
    number = view.game.turn.round_index
    num_turned = pick(cards.turned(view.ruleset, view.game), number)
    card = pick(_draws(view).deck, number)[jnp.maximum(num_turned - 1, 0)]
    return one_hot(jnp.where(num_turned > 0, card - 1, -1), len(_numbers(view.ruleset)))


def _left(view: View) -> Array:
    number = view.game.turn.round_index
    size = (pick(_draws(view).deck, number) > 0).sum()
    return size - pick(cards.turned(view.ruleset, view.game), number)


def _row_places(ruleset: Ruleset) -> tuple[str, ...]:
    places = range(1, ruleset.boosters_in_play + 1)
    return tuple(f"{place}.{booster}" for place in places for booster in ruleset.ids["booster"])


def _row(view: View) -> Array:
    assert view.game.automa is not None
    return one_hot(view.game.automa.booster_row, len(view.ruleset.boosters)).ravel()


def _mission(place: int, name: str) -> Block:
    missions: Ids = ids("final_mission")
    return Block(
        f"{name}_mission", 0, 1, f"the final mission on the {name} place", missions,
        lambda v: one_hot(v.game.setup.final_missions[place], len(v.ruleset.final_missions)),
    )  # fmt: skip


AUTOMA = (
    Block("automa_level", 0, 1, "the level of the Automa", _levels,
          lambda v: one_hot(_draws(v).level, len(_levels(v.ruleset)))),
    Block("automa_known", 0, 1, "decision cards that are surely in its deck", _numbers,
          _sure_cards),
    Block("automa_turned", 0, 1, "decision cards turned in this round", _numbers,
          lambda v: pick(_turned(v), v.game.turn.round_index)),
    Block("automa_support", 0, 1, "the card turned last, which supports its next turn", _numbers,
          _support),
    Block("automa_left", 0, 14, "decision cards of this round still to turn", None, _left),
    Block("booster_row", 0, 1, "the available boosters from left to right", _row_places, _row),
    _mission(0, "upper"),
    _mission(1, "lower"),
)  # fmt: skip

"""Where an agent ranks what people played, counted on positions made by hand."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tools import people_moves
from tools.people_moves import Choice


class Position(NamedTuple):
    """What the tool asks of a state, and the logits that the agent then gives."""

    legal_action_mask: Any
    logits: Any


def choice(kind: str, action: int, legal: str, logits: list[float]) -> Choice:
    mask = np.array([flag == "1" for flag in legal])
    return Choice(kind, action, Position(mask, np.array(logits, np.float32)))


SOME = [
    choice(
        "mine", 0, "1110", [3, 2, 1, 9]
    ),  # the most probable legal one; illegal ones do not count
    choice("mine", 2, "1111", [3, 2, 1, 9]),  # the last of four
    choice("leech", 1, "0110", [9, 1, 2, 9]),  # the second of two
]


def agent() -> Any:
    def evaluate(params: Any, states: Position) -> tuple[Any, Any]:
        return jnp.asarray(states.logits), None

    return SimpleNamespace(name="a", params=(), policy=SimpleNamespace(evaluate=evaluate))


def test_a_move_is_ranked_among_the_legal_ones() -> None:
    assert people_moves.ranks(agent(), SOME).tolist() == [0, 3, 1]


def test_shares_by_kind_beside_chance() -> None:
    total, mine, leech = people_moves.table(SOME, np.array([0, 3, 1]))
    assert total.startswith("all") and "top 1 0.33  top 3 0.67" in total
    assert mine.startswith("mine") and "top 1 0.50  top 3 0.50  chance 0.29" in mine
    assert leech.startswith("leech") and "top 1 0.00  top 3 1.00  chance 0.50" in leech

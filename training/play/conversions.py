"""Before the last pass: VP of the remaining resources, and what conversions would add (FIN-11).

The engine scores and converts, on copies of the state; no rule stands here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import Array

from gaia_jax.components.costs import RESOURCES_PER_VP, ROUNDS
from gaia_jax.env import State
from gaia_jax.render import Table, effects
from gaia_jax.rules.scoring import final_score
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState

from .compiled_rules import Rules

PASS = "pass"
MOST_STEPS = 120  # of the engine, for one position
Found = tuple[list[str], State]  # conversions and the state after them


def left_over(rules: Rules, state: State) -> dict[str, Any]:
    """What is left at the last pass, and conversions that make more of it.

    Returns:
        {} where there is no last pass to make. Else `said`, what passing leaves, in words; where
        conversions would score more also `actions`, these and the pass; `words`; `effects`; `more`,
        the VP that they add.
    """
    table = rules.table(state)
    if table.round != ROUNDS or table.node != "TURN" or PASS not in rules.legal(state):
        return {}
    now = _scored(rules, state)
    options = [(now, list[str](), state)]
    options += [(_scored(rules, after), texts, after) for texts, after in _converted(rules, state)]
    then, texts, after = max(options, key=lambda option: (option[0], -len(option[1])))
    counted = _counted(table)
    result: dict[str, Any] = {
        "said": f"{counted} credits, ore and knowledge left: {now} VP at the end, "
        f"1 for {RESOURCES_PER_VP}"
    }
    if then > now:
        done = rules.table(rules.after(after, rules.index(PASS)))
        words = f"pass, before it {_in_words(rules, texts)}"
        gain_text = f"{then - now} VP more at the end than passing now"
        result |= {"actions": [*texts, PASS], "words": words, "more": gain_text}
        result["effects"] = effects(table, done).brief(words)
    return result


def _in_words(rules: Rules, texts: list[str]) -> str:
    """Conversions: each kind once, and how often."""
    counts = Counter(rules.say(text) for text in texts)
    return "; ".join(f"{phrase} (\u00d7{n})" if n > 1 else phrase for phrase, n in counts.items())


def _counted(table: Table) -> int:
    """What scores at the end, of the decider."""
    seat = table.seat(table.player)
    return seat.credits + seat.ore + seat.knowledge


def _remaining_stock(table: Table) -> tuple[int, ...]:
    """What may still be converted: QIC, and power by how far it is."""
    seat = table.seat(table.player)
    return seat.qic, seat.power[1] + 2 * seat.power[2], seat.power[2]


def _converted(rules: Rules, state: State) -> Iterator[Found]:
    """Ever more conversions for what scores: the one that brings most, then that keeps most."""
    texts, steps = list[str](), 0
    while steps < MOST_STEPS:
        options = [(option, rules.table(option[1])) for option in _next(rules, state)]
        steps += len(options)
        current = _counted(rules.table(state))
        better = [(option, table) for option, table in options if _counted(table) > current]
        if not better:
            return
        (gained, state), _ = max(
            better, key=lambda pair: (_counted(pair[1]), _remaining_stock(pair[1]))
        )
        texts = [*texts, *gained]
        yield texts, state


def _next(rules: Rules, state: State) -> list[Found]:
    """Each conversion; where none brings more of what scores, two in a row."""
    first = [([text], rules.after(state, rules.index(text))) for text in _free(rules, state)]
    current_table = rules.table(state)
    tables = [rules.table(after) for _, after in first]
    if any(_counted(table) > _counted(current_table) for table in tables):
        return first
    return [
        ([*texts, text], rules.after(after, rules.index(text)))
        for (texts, after), table in zip(first, tables, strict=True)
        if _counted(table) == _counted(current_table)
        and _remaining_stock(table) != _remaining_stock(current_table)
        for text in _free(rules, after)
    ]


def _free(rules: Rules, state: State) -> list[str]:
    return [text for text in rules.legal(state) if text.startswith("free ")]


@cache
def _resources(ruleset: Ruleset) -> Any:
    """A compiled game -> (P,) VP that its resources would score, were it over (FIN-11)."""
    at = ruleset.ids["vp_source"].index("RESOURCES")

    def resources(game: GameState) -> Array:
        return final_score(ruleset, game).vp_source[:, at]

    return jax.jit(resources)


def _scored(rules: Rules, state: State) -> int:
    """VP that the decider's resources would score."""
    resources = np.asarray(_resources(rules.env.ruleset)(state.game))
    return int(resources[int(state.current_player)])

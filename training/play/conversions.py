"""Conversions: repeated ones, actions that they make legal, and VP of remaining resources (FIN-11).

The engine plays and scores them on copies of the state; this module contains no rules.
"""

from __future__ import annotations

from collections import Counter, deque
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

from ..analysis.actions import is_conversion
from .compiled_rules import Rules
from .languages import server_text

PASS = "pass"
MAX_STEPS = 120  # of the engine, for one position
MAX_POSITIONS = 64  # examined after conversions
MAX_CONVERSIONS = 4  # in a row
Line = tuple[list[str], State]  # conversions and the state after them


def left_over(rules: Rules, state: State) -> dict[str, Any]:
    """The VP of the resources left at the last pass, and conversions that score more.

    Returns:
        {} unless the last pass is legal. `text`, the remaining resources in words; if conversions
        score more also `actions`, the conversions and the pass; `words`; `effects`; `more`, the VP
        that they add.
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
        "text": server_text("resources-left", n=counted, vp=now, per=RESOURCES_PER_VP)
    }
    if then > now:
        done = rules.own_table_after(after, rules.index(PASS))
        words = server_text("pass-after", moves=_list_conversions(rules, texts))
        gain_text = server_text("more-than-passing", n=then - now)
        result |= {"actions": [*texts, PASS], "words": words, "more": gain_text}
        result["effects"] = effects(table, done).brief(words)
    return result


def _list_conversions(rules: Rules, texts: list[str]) -> str:
    """Conversions in words, each kind once with its number."""
    counts = Counter(rules.action_words(text) for text in texts)
    return "; ".join(f"{phrase} (\u00d7{n})" if n > 1 else phrase for phrase, n in counts.items())


def _counted(table: Table) -> int:
    """The decider's resources that score at the end."""
    seat = table.seat(table.player)
    return seat.credits + seat.ore + seat.knowledge


def _remaining_stock(table: Table) -> tuple[int, ...]:
    """Resources that can still be converted: QIC, weighted power, power in bowl III."""
    seat = table.seat(table.player)
    return seat.qic, seat.power[1] + 2 * seat.power[2], seat.power[2]


def _converted(rules: Rules, state: State) -> Iterator[Line]:
    """Greedy lines of conversions: each adds most to the score, and then keeps most to convert."""
    texts, steps = list[str](), 0
    while steps < MAX_STEPS:
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


def _next(rules: Rules, state: State) -> list[Line]:
    """Each conversion; pairs of conversions if no single one adds to the score."""
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
    return [text for text in rules.legal(state) if is_conversion(text)]


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


def repeats(rules: Rules, state: State) -> dict[str, list[dict[str, Any]]]:
    """Conversions that can be made several times in a row.

    Returns:
        By the text of a conversion: `actions` and `effects` of two of them, of three, and so on.
    """
    if rules.table(state).node not in ("TURN", "AFTER"):
        return {}
    before, effects_by_action = rules.table(state), {}
    for text in (text for text in rules.legal(state) if is_conversion(text)):
        position, several = state, []
        for times in range(1, MAX_CONVERSIONS + 1):
            if text not in rules.legal(position):
                break
            position = rules.after(position, rules.index(text))
            summary = effects(before, rules.table(position)).brief()
            several.append({"actions": [text] * times, "effects": summary})
        if several[1:]:
            effects_by_action[text] = several[1:]
    return effects_by_action


def reached(rules: Rules, state: State) -> list[dict[str, Any]]:
    """Actions that become legal after conversions, those with the fewest conversions first.

    Returns:
        For each `text` and `words` of the action, and `first`, the conversions before it.
    """
    if rules.table(state).node != "TURN":
        return []
    direct = set(rules.legal(state))
    paths: dict[str, list[str]] = {}
    me = int(state.current_player)
    seen, open_ = {stock_of(state, me)}, deque([(state, list[str]())])
    while open_:
        position, path = open_.popleft()
        for text in rules.legal(position):
            if not is_conversion(text):
                if text not in direct:
                    paths.setdefault(text, path)
            elif len(path) < MAX_CONVERSIONS and len(seen) < MAX_POSITIONS:
                after = rules.after(position, rules.index(text))
                if stock_of(after, me) not in seen:
                    seen.add(stock_of(after, me))
                    open_.append((after, [*path, text]))
    table = rules.table(state)

    def to_words(text: str) -> str:
        return rules.action_words(text, table)

    return [
        {
            "text": text,
            "words": to_words(text),
            "first": path,
            "first_words": [to_words(x) for x in path],
        }
        for text, path in sorted(paths.items(), key=lambda item: (len(item[1]), item[0]))
    ]


def stock_of(state: State, player: int) -> bytes:
    """The resources and pieces of a player, equal after the same conversions in any order."""
    players, turn = state.game.players, np.asarray(state.game.turn.brainstone_reversed)
    stock = players.small[player], players.large[player], turn
    return b"".join(np.asarray(x).tobytes() for x in stock)

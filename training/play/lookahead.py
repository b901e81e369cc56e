"""Look a few decisions ahead: moves of two decisions, and federations.

The engine plays them on copies of the state; this module contains no rules.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import Array

from gaia_jax.components.common import RESOURCES
from gaia_jax.env import State
from gaia_jax.render import Table, effects
from gaia_jax.render.names import STRUCTURES, TRACK_NAMES
from gaia_jax.render.texts import phrase
from gaia_jax.rules.federation import power_values
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState

from ..analysis.action_words import words_with_place
from .compiled_rules import Rules
from .conversions import left_over, reached, repeats
from .languages import page_texts, server_text

FORM, COMMIT = "form_federation", "commit"
# Second decisions of a move; federations have their own list.
TWO_STEPS = ("TARGET", "PIECE")
MAX_FEDERATIONS = 24
MAX_STEPS = 160  # of the engine, for the federations of a position


def federations(rules: Rules, state: State) -> list[dict[str, Any]]:
    """The legal federations without surplus groups (A10), those with the fewest satellites first.

    Returns:
        For each `actions`, all decisions from `form_federation` on; `pieces` in words; the `cells`
        of the pieces and of the new `satellites`; `power`; `effects`.
    """
    if FORM not in rules.legal(state):
        return []
    options = [_federation(rules, state, *outcome) for outcome in _federation_paths(rules, state)]
    options.sort(
        key=lambda outcome: (len(outcome["satellites"]), outcome["power"], outcome["actions"])
    )
    return options


def _federation_paths(rules: Rules, state: State) -> Iterator[tuple[list[str], State]]:
    """Each federation once: its decisions, with ascending picks, and the state after them."""
    opened, steps, count = rules.after(state, rules.index(FORM)), 1, 0
    open_ = deque([([FORM], -1, opened)])
    while open_ and steps < MAX_STEPS and count < MAX_FEDERATIONS:
        texts, last, position = open_.popleft()
        legal = rules.legal(position)
        if rules.table(position).node != "FEDERATION":
            count += 1
            yield texts, position
        elif COMMIT in legal:
            steps += 1
            open_.append(([*texts, COMMIT], last, rules.after(position, rules.index(COMMIT))))
        else:
            for text in legal:
                action = rules.index(text)
                if action > last and steps < MAX_STEPS:
                    steps += 1
                    open_.append(([*texts, text], action, rules.after(position, action)))


def _federation(rules: Rules, before: State, texts: list[str], after: State) -> dict[str, Any]:
    player = int(before.current_player)
    old, new = before.game.board, after.game.board
    cells = np.asarray(new.federated[player] & ~old.federated[player])
    satellites = np.asarray(new.satellite[player] & ~old.satellite[player])
    power = np.asarray(_power(rules.env.ruleset)(before.game))
    names = [f"{q},{r}" for q, r in rules.env.ruleset.geometry.cells.tolist()]
    pieces = cells & (power > 0)
    table = rules.table(before)
    kinds = Counter(_piece(table, player, int(c)) for c in np.flatnonzero(pieces))
    return {
        "actions": texts,
        "pieces": ", ".join(server_text("pieces", n=n, kind=kind) for kind, n in kinds.items()),
        "cells": [names[c] for c in np.flatnonzero(pieces)],
        "satellites": [names[c] for c in np.flatnonzero(satellites)],
        "power": int(power[pieces].sum()),
        "effects": effects(table, rules.table(after)).brief(),
    }


def _piece(table: Table, player: int, cell: int) -> str:
    """The piece of a player on a cell, in words."""
    cells = table.map
    if cells.guest[cell] == player:
        return phrase("guest-mine")
    if cells.owner[cell] != player:
        return phrase("space-station")
    return STRUCTURES[table.ids["structure"][cells.structure[cell]]]


@cache
def _power(ruleset: Ruleset) -> Any:
    """A compiled game -> (C,) power of the decider's cells in a federation."""

    def power(game: GameState) -> Array:
        return power_values(Seat.of_decider(ruleset, game))

    return jax.jit(power)


def two_step_moves(rules: Rules, state: State) -> list[dict[str, Any]]:
    """Moves of two decisions: an action and its target, an upgrade and its piece.

    Returns:
        For each `actions` and their `words`; `cell`, or ""; `effects`. [] until
        `rules.prices_ready`. Without moves that cost more than one action with the same result.
    """
    if rules.table(state).node != "TURN" or not rules.prices_ready:
        return []
    before, options = rules.table(state), []
    tables = rules.tables_after(state)
    done = {rules.text(a): table for a, table in tables.items() if table.node not in TWO_STEPS}
    for first, half in tables.items():
        if half.node not in TWO_STEPS:
            continue
        for second, after in rules.tables_after(rules.after(state, first)).items():
            texts = [rules.text(first), rules.text(second)]
            same = done.get(f"mine {texts[1].partition(' ')[2]}")
            if same is None or not is_dominated(before, after, same):
                options.append(_two_step_move(rules, texts, before, after))
    return options


def is_dominated(before: Table, dear: Table, cheap: Table) -> bool:
    """Whether a move leaves the decider the same as `cheap`, but with fewer resources or power."""
    player = before.player
    price, two = (effects(before, after).fields(player) for after in (dear, cheap))
    stock = {*RESOURCES, *(f"power.{bowl}" for bowl in range(3))}

    def rest(fields: dict[str, int]) -> dict[str, int]:
        return {k: v for k, v in fields.items() if k not in stock and not k.startswith("used.")}

    if rest(price) != rest(two):
        return False
    mine, other = (_resources_and_power(table, player) for table in (dear, cheap))
    return mine != other and all(a <= b for a, b in zip(mine, other, strict=True))


def _resources_and_power(table: Table, player: int) -> tuple[int, ...]:
    """Resources, and power in bowl III, in bowls II and III, and in all."""
    seat = table.seat(player)
    *_, second, third = power = seat.power
    return (*(getattr(seat, name) for name in RESOURCES), third, third + second, sum(power))


def _two_step_move(rules: Rules, texts: list[str], before: Table, after: Table) -> dict[str, Any]:
    place = next((text.split()[1] for text in texts[::-1] if "," in text), "")
    words = joined(words_with_place(before, text) for text in texts)
    summary = effects(before, after).brief(words)
    return {"actions": texts, "words": words, "cell": place, "effects": summary}


def joined(words: Iterable[str]) -> str:
    """The decisions of one move in a line, each in words."""
    texts = page_texts()
    return "; ".join(words).replace(f"; {texts['choose']}", f"; {texts['at']}")


def tracks(rules: Rules, state: State) -> dict[str, list[dict[str, Any]]]:
    """Tech tiles whose research step allows several tracks, as complete moves.

    Returns:
        By the text of the tile: `actions`, the tile and its step; `name` of the track; `effects`.
        {} until `rules.prices_ready`.
    """
    before, effects_by_track = rules.table(state), {}
    if before.node != "TILE" or not rules.prices_ready:
        return {}
    for tile, half in rules.tables_after(state).items():
        if half.node == "STEP" and half.player == before.player:
            steps = rules.tables_after(rules.after(state, tile)).items()
            effects_by_track[rules.text(tile)] = [
                _step(rules, [rules.text(tile), rules.text(step)], before, after)
                for step, after in steps
                if rules.text(step) != "skip"
            ]
    return effects_by_track


def _step(rules: Rules, texts: list[str], before: Table, after: Table) -> dict[str, Any]:
    name = TRACK_NAMES[texts[1].partition(" ")[2]]
    words = rules.action_words(texts[0], before)
    return {"actions": texts, "name": name, "effects": effects(before, after).brief(words)}


# The parts of a lookahead, which a page requests separately: the quick one first.
PARTS: dict[str, dict[str, Callable[[Rules, State], Any]]] = {
    "moves": {
        "two_step_moves": two_step_moves,
        "federations": federations,
        "tracks": tracks,
        "left": left_over,
    },
    "conversions": {"reached": reached, "repeats": repeats},
}

"""What lies a few decisions further: whole moves and federations, what conversions make possible.

The engine plays it all on copies of the state; no rule stands here.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from functools import cache
from typing import Any

import jax
import numpy as np
from jax import Array

from gaia_jax.env import State
from gaia_jax.render import Table, effects
from gaia_jax.render.names import PLANETS, STRUCTURES
from gaia_jax.rules.federation import power_values
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import GameState

from .rules import Rules

NOTHING: dict[str, Any] = {"ways": [], "federations": [], "reached": [], "repeats": {}}
FORM, COMMIT = "form_federation", "commit"
# Nodes within a move of two decisions; a federation has a list of its own.
TWO_STEPS = ("TARGET", "PIECE")
MOST_FEDERATIONS = 24
MOST_STEPS = 160  # of the engine, for the federations of a position
MOST_POSITIONS = 64  # looked at behind conversions
MOST_CONVERSIONS = 4  # in a row


def federations(rules: Rules, state: State) -> list[dict[str, Any]]:
    """The federations that may be formed: no picked group could be left out (A10).

    Where surplus groups are allowed, those that are complete without them.

    Returns:
        For each `actions`, all decisions from `form_federation` on; `pieces` in words; `cells` and
        `satellites`, where they and the new satellites lie; `power`; `effects`. Fewest satellites
        first.
    """
    if FORM not in rules.legal(state):
        return []
    found = [_federation(rules, state, *one) for one in _built(rules, state)]
    found.sort(key=lambda one: (len(one["satellites"]), one["power"], one["actions"]))
    return found


def _built(rules: Rules, state: State) -> Iterator[tuple[list[str], State]]:
    """Each federation once: its decisions and the state behind them. Picks come in order."""
    opened, steps, found = rules.after(state, rules.index(FORM)), 1, 0
    open_ = deque([([FORM], -1, opened)])
    while open_ and steps < MOST_STEPS and found < MOST_FEDERATIONS:
        texts, last, here = open_.popleft()
        legal = rules.legal(here)
        if rules.table(here).node != "FEDERATION":
            found += 1
            yield texts, here
        elif COMMIT in legal:
            steps += 1
            open_.append(([*texts, COMMIT], last, rules.after(here, rules.index(COMMIT))))
        else:
            for text in legal:
                action = rules.index(text)
                if action > last and steps < MOST_STEPS:
                    steps += 1
                    open_.append(([*texts, text], action, rules.after(here, action)))


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
        "pieces": ", ".join(f"{n} {kind}" for kind, n in kinds.items()),
        "cells": [names[c] for c in np.flatnonzero(pieces)],
        "satellites": [names[c] for c in np.flatnonzero(satellites)],
        "power": int(power[pieces].sum()),
        "effects": effects(table, rules.table(after)).brief(),
    }


def _piece(table: Table, player: int, cell: int) -> str:
    """What a player has on a cell, in words."""
    there = table.map
    if there.guest[cell] == player:
        return "guest mine"
    if there.owner[cell] != player:
        return "space station"
    return STRUCTURES[table.ids["structure"][there.structure[cell]]]


@cache
def _power(ruleset: Ruleset) -> Any:
    """A compiled game -> (C,) power of the decider's cells in a federation."""

    def power(game: GameState) -> Array:
        return power_values(Seat.of_decider(ruleset, game))

    return jax.jit(power)


def ways(rules: Rules, state: State) -> list[dict[str, Any]]:
    """The moves that take two decisions, as wholes: an action and its target, an upgrade's piece.

    Returns:
        For each `actions` and their `words`; `cell`, its place, "" for none; `effects`.
        None until `rules.prices_ready`.
    """
    if rules.table(state).node != "TURN" or not rules.prices_ready:
        return []
    before, found = rules.table(state), []
    for first, half in rules.tables_after(state).items():
        if half.node in TWO_STEPS:
            after = rules.tables_after(rules.after(state, first))
            texts = rules.text(first)
            found += [_way(rules, [texts, rules.text(a)], before, t) for a, t in after.items()]
    return found


def _way(rules: Rules, texts: list[str], before: Table, after: Table) -> dict[str, Any]:
    place = next((text.split()[1] for text in texts[::-1] if "," in text), "")
    words = "; ".join(in_words(rules, before, text) for text in texts).replace("; choose", "; at")
    found = effects(before, after).brief(words)
    return {"actions": texts, "words": words, "cell": place, "effects": found}


def in_words(rules: Rules, table: Table, text: str) -> str:
    """An action, with what lies on its cell."""
    cell = int(rules.env.ruleset.actions.cell[rules.index(text)])
    if cell < 0:
        return rules.say(text)
    kind = table.ids["structure"][table.map.structure[cell]]
    lies = PLANETS[table.ids["planet"][table.map.planet[cell]]]
    lies = lies if kind == "NONE" else f"{STRUCTURES[kind]}, {lies}"
    return f"{rules.say(text)}: {lies}"


def repeats(rules: Rules, state: State) -> dict[str, list[dict[str, Any]]]:
    """Conversions that can be made several times in a row.

    Returns:
        By the text of one: `actions` and `effects` of two of them, of three, and so on.
    """
    if rules.table(state).node not in ("TURN", "AFTER"):
        return {}
    before, found = rules.table(state), {}
    for text in (text for text in rules.legal(state) if text.startswith("free ")):
        here, several = state, []
        for times in range(1, MOST_CONVERSIONS + 1):
            if text not in rules.legal(here):
                break
            here = rules.after(here, rules.index(text))
            said = effects(before, rules.table(here)).brief()
            several.append({"actions": [text] * times, "effects": said})
        if several[1:]:
            found[text] = several[1:]
    return found


def reached(rules: Rules, state: State) -> list[dict[str, Any]]:
    """What is not legal now, but would be after conversions; the fewest ones first.

    Returns:
        For each `text` and `words` of the action, and `first`, the conversions that lead to it.
    """
    if rules.table(state).node != "TURN":
        return []
    known = set(rules.legal(state))
    found: dict[str, list[str]] = {}
    seen, open_ = {_resources(state)}, deque([(state, list[str]())])
    while open_:
        here, path = open_.popleft()
        for text in rules.legal(here):
            if not text.startswith("free "):
                if text not in known:
                    found.setdefault(text, path)
            elif len(path) < MOST_CONVERSIONS and len(seen) < MOST_POSITIONS:
                after = rules.after(here, rules.index(text))
                if _resources(after) not in seen:
                    seen.add(_resources(after))
                    open_.append((after, [*path, text]))
    say = rules.say
    return [
        {"text": text, "words": say(text), "first": path, "first_words": [say(x) for x in path]}
        for text, path in sorted(found.items(), key=lambda item: (len(item[1]), item[0]))
    ]


def _resources(state: State) -> bytes:
    """What the decider holds: two orders of the same conversions come to the same."""
    players, me = state.game.players, int(state.current_player)
    turn = np.asarray(state.game.turn.brainstone_reversed)
    return b"".join(np.asarray(x).tobytes() for x in (players.small[me], players.large[me], turn))

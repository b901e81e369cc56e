"""The arrays of played games, which the engine produces, a store keeps and a report reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..learn.metrics import behaviour_of
from .federations import federation_power

ROUNDS = 6
FEDERATIONS_BY_ROUND = tuple(f"federations_round_{n}" for n in range(1, ROUNDS + 1))
BEHAVIOUR = (
    "federations", "advanced_tiles", "research_steps", "ships", "artifacts", "leech_taken",
    "leech_declined", "credits_left", "ore_left", "knowledge_left", "qic_left", "tokens_left",
    "satellites", "surplus_power", "unfederated_power", *FEDERATIONS_BY_ROUND,
)  # fmt: skip
# Counts of each seat during a game: W of them.
COUNTED = ("leech_taken", "leech_declined", *FEDERATIONS_BY_ROUND, "decided", "illegal")


class Games(NamedTuple):
    """Finished games: S set-ups in R rotations of P seats, with K sources of VP."""

    entry: np.ndarray  # (S, R, P) which of the entries sat there
    order: np.ndarray  # (S, R, P) place in the turn order of round 1, from 1
    faction: np.ndarray  # (S, R, P) index in ids["faction"]
    vp: np.ndarray  # (S, R, P)
    sources: np.ndarray  # (S, R, P, K) VP by source
    behaviour: np.ndarray  # (S, R, P, len(BEHAVIOUR)); see BEHAVIOUR
    decisions: np.ndarray  # (S, R) of all players
    seconds: np.ndarray  # (S, R) of playing; the games of a batch share theirs
    decided: np.ndarray  # (S, R, P) decisions of the seat
    illegal: np.ndarray  # (S, R, P) its illegal moves; one forfeits the game
    # Only if requested; not stored in tables.
    setups: Any = None  # Setup, leading axes S, R
    actions: np.ndarray | None = None  # (S, R, LONGEST) int16

    @property
    def federations(self) -> np.ndarray:
        """(S, R, P) formed federations, without tokens of tracks and factions."""
        return self.behaviour[..., 0]

    def slice(self, first: int, count: int | None = None) -> Games:
        """`count` set-ups from number `first` on."""
        stop = None if count is None else first + count
        return Games(*jax.tree.map(lambda x: x[first:stop], tuple(self)))

    def rows(self) -> dict[str, np.ndarray]:
        """The stored arrays by name."""
        return {name: getattr(self, name) for name in ROWS}


ROWS = Games._fields[:10]


def join(parts: Sequence[Games]) -> Games:
    """The set-ups of all parts, in order."""
    return Games(*jax.tree.map(lambda *x: np.concatenate(x), *map(tuple, parts)))


def make_notes(rules: Any) -> Callable[[Any, Array], dict[str, Array]]:
    """(games (B,) that have ended, counts (B, P, W)) -> columns of `Games` by name, leading B."""
    read, power = behaviour_of(rules), federation_power(rules)

    def notes(game: Any, counts: Array) -> dict[str, Array]:
        ends = read(game) | power(game)
        ends |= {name: counts[..., i] for i, name in enumerate(COUNTED)}
        none = jnp.zeros(counts.shape[:-1], jnp.int32)
        return {
            "order": ends["order"],
            "faction": game.setup.faction.astype(jnp.int32),
            "vp": game.players.vp,
            "sources": game.players.vp_source,
            "behaviour": jnp.stack([ends.get(name, none) for name in BEHAVIOUR], axis=-1),
            "decided": ends["decided"],
            "illegal": ends["illegal"],
        }

    return notes


def leech_actions(rules: Any, actions: int) -> np.ndarray:
    """(2, A) bool, the actions that take a leech offer and those that decline one."""
    out = np.zeros((2, actions), bool)
    for choice in rules.actions.ids["leech"] if hasattr(rules, "actions") else ():
        out[int(choice == "DECLINE"), rules.actions.index("leech", choice)] = True
    return out


def federations_by_round(rules: Any, before: Any, after: Any, player: Array) -> Array:
    """(ROUNDS, B) bool, whether a decision of `player` (B,) formed a federation in that round.

    Args:
        before, after: games (B,) around the decision.
    """
    if not hasattr(rules, "actions"):
        return jnp.zeros((ROUNDS, len(player)), bool)
    grown = after.players.formed > before.players.formed  # (B, P)
    formed = jnp.take_along_axis(grown, player[:, None], axis=1)[:, 0]
    in_round: Array = before.turn.round == jnp.arange(1, ROUNDS + 1)[:, None]
    return formed & in_round


# Seatings: a set-up is played once in every rotation of the table.


def rotated(players: int = 4) -> np.ndarray:
    """(P, P): entry i in seat i, then each one seat further; every entry sits in every seat."""
    seats = np.arange(players, dtype=np.int32)
    return (seats - seats[:, None]) % players


def entries(names: Sequence[str]) -> list[str]:
    """Names of the entries in tables: a repeated name is followed by a number."""
    before = [list(names[:i]).count(name) for i, name in enumerate(names)]
    return [f"{name} #{n + 1}" if n else name for name, n in zip(names, before, strict=True)]

"""The strength of factions on a set-up: games of one agent at all seats in a balanced design.

Map, tiles, boosters and missions stay the same; only the factions of the seats change. Every
faction plays the same number of games at each seat, never against the other side of its board
(SET-11).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax import replay
from gaia_jax.env import GaiaEnv
from gaia_jax.setup.draw_tables import draw_tables
from gaia_jax.state import Node, Setup

from ..agents import Agent, make_agent
from ..games.stats import wins
from ..stats.effects import Effect, dummies, regression
from ..system.batched import stacked
from ..system.devices import LEAST_GAMES
from ..types import Environment, EnvState
from .actions import action_kind, decision_note, is_main_action, read_notes
from .playouts import OPENING_MOVES, Ends, Jobs, Playouts

OPENING_LENGTH = 4  # main actions
SLOTS = 64  # most games at a time on each device
NONE = -1  # no plan, booster or action


class PlayedGames(NamedTuple):
    """N games on one set-up, P seats that decide, K sources of VP."""

    faction: np.ndarray  # (N, P) index in ids["faction"]
    vp: np.ndarray  # (N, P)
    wins: np.ndarray  # (N, P) shares of the win: 1, or an equal part in a tie
    sources: np.ndarray  # (N, P, K)
    booster: np.ndarray  # (N, P) the first one, index in ids["booster"]; -1 if unknown
    opening: np.ndarray  # (N, P, OPENING_LENGTH) first main actions, index in `kinds`; -1 for none
    kinds: list[str]


class Boards(NamedTuple):
    """The boards that can be drawn: F factions, two on a board."""

    sides: np.ndarray  # (B, 2) factions of each board
    fixed: Mapping[int, int]  # the faction of each seat that keeps the faction of the set-up
    players: int

    @property
    def free_boards(self) -> np.ndarray:
        """(b, 2) the boards that can be drawn for the other seats."""
        is_taken = np.isin(self.sides, list(self.fixed.values())).any(1)
        return np.asarray(self.sides[~is_taken])

    @property
    def free_seats(self) -> list[int]:
        """The seats that are not fixed."""
        return [seat for seat in range(self.players) if seat not in self.fixed]

    def num_games(self, games_per_faction: int) -> int:
        """Number of games, in whole blocks, for at least `games_per_faction`."""
        return -(-games_per_faction // len(self.free_seats)) * self.free_boards.size

    def faction_row(self, faction: int, count: int) -> np.ndarray:
        """(2 count + P,) a faction's `indicator_columns`, averaged over opponents and seats."""
        own, others, seats = np.zeros(count), np.zeros(count), np.zeros(self.players)
        own[faction] = 1
        others[list(self.fixed.values())] = 1
        left = self.free_boards[~(self.free_boards == faction).any(1)]
        others[faction] = 0
        drawn = len(self.free_seats) - (faction in self.free_boards)
        others[left] += drawn / max(left.size, 1)
        at = [s for s, own in self.fixed.items() if own == faction]
        seats[at or self.free_seats] = 1 / len(at or self.free_seats)
        return np.concatenate([own, others, seats])


def boards_of(env: Environment, setup: Setup, hold: Sequence[int] = ()) -> Boards:
    """The boards of a ruleset; some seats keep their factions of the set-up.

    The Automa keeps its faction, and nobody plays the other side of its board (AUT-04).

    Args:
        hold: the seats that keep their factions.
    """
    factions = np.asarray(setup.faction)
    fixed = {seat: int(factions[seat]) for seat in hold}
    sides = np.asarray(draw_tables(env.ruleset).board_factions, int)
    of_automa = np.isin(sides, factions[env.num_players :]).any(1)
    return Boards(sides[~of_automa], fixed, env.num_players)


def design(boards: Boards, games_per_faction: int, seed: int = 0) -> np.ndarray:
    """(N, P) factions of N games; each faction plays in at least `games_per_faction` of them.

    In a block of 2 b games, b boards, each faction plays once at every free seat. The boards of a
    game are drawn as by the set-up; a block rotates them, so that no board meets itself.
    """
    rng, free, seats = np.random.default_rng(seed), boards.free_boards, boards.free_seats
    count = len(free)
    blocks = []
    for _ in range(boards.num_games(games_per_faction) // (2 * count)):
        order, offsets = rng.permutation(count), rng.permutation(count)[: len(seats)]
        board = order[(np.arange(count)[:, None] + offsets) % count]
        side = rng.integers(2, size=(len(seats), count))[np.arange(len(seats)), board]
        block = np.empty((2 * count, boards.players), int)
        block[:, list(boards.fixed)] = list(boards.fixed.values())
        block[:, seats] = np.concatenate([free[board, side], free[board, 1 - side]])
        blocks.append(rng.permutation(block))
    return np.concatenate(blocks)


def positions(env: GaiaEnv, setup: Setup, factions: np.ndarray) -> EnvState:
    """The games (N, ...) before their first decision, numpy."""
    start = replay.compiled(env)[0]
    of_setup = np.asarray(setup.faction)
    automa = of_setup[env.num_players :]
    dealt = [
        setup.replace(faction=jnp.asarray([*row, *automa], of_setup.dtype)) for row in factions
    ]
    games: EnvState = stacked(jax.device_get(start(dealt_setup)) for dealt_setup in dealt)
    return games


class Advisor:
    """Plays games on a set-up with one agent; compiles once for each number of games."""

    def __init__(self, env: GaiaEnv, agent: Agent, runner: Playouts | None = None):
        """
        Args:
            runner: plays all games (`playouts.shared_playouts`); by default playouts of
                the advice's own.
        """
        self.env, self.agent, self._shared = env, agent, runner
        self._runners: dict[int, Playouts] = {}

    @classmethod
    def named(cls, env: GaiaEnv, agent: str, likeliest: bool = False) -> Self:
        """Make an adviser by the name of its agent."""
        return cls(env, make_agent(agent, env, likeliest))

    def play(
        self,
        setup: Setup,
        factions: np.ndarray,
        seed: int = 0,
        progress: Callable[[int], object] = lambda ended: None,
    ) -> PlayedGames:
        """Play games with these factions (N, P); after Ctrl-C those that have ended.

        Args:
            progress: called repeatedly with the number of finished games.
        """
        count = len(factions)
        states = positions(self.env, setup, factions)
        ends = self._runner_for(count).play(
            states, Jobs(np.arange(count), np.full(count, NONE), np.zeros(count, int)), seed,
            progress,
        )  # fmt: skip
        return read_games(self.env, ends, factions)

    def _runner_for(self, games: int) -> Playouts:
        """Playouts with a number of slots that divides the games into equal waves."""
        if self._shared:
            return self._shared
        devices = min(jax.device_count(), max(games // LEAST_GAMES, 1))
        share = -(-games // devices)
        slots = -(-share // -(-share // SLOTS))
        if slots not in self._runners:
            self._runners[slots] = Playouts(
                self.env, self.agent, OPENING_MOVES, slots, decision_note
            )
        return self._runners[slots]


def read_games(env: Environment, ends: Ends, factions: np.ndarray) -> PlayedGames:
    """The results of the games that have ended."""
    texts = env.ruleset.actions.texts
    boosters = {f"booster {name}": i for i, name in enumerate(env.ruleset.ids["booster"])}
    finished = np.flatnonzero(ends.ended)
    booster = np.full(factions[finished].shape, NONE)
    opening = np.full((*booster.shape, OPENING_LENGTH), NONE)
    kinds: dict[str, int] = {}
    for row, (moves, notes) in enumerate(
        zip(ends.moves[finished], ends.notes[finished], strict=True)
    ):
        num_moves = int((moves >= 0).sum())
        words = [texts[move] for move in moves[:num_moves]]
        decided = read_notes(notes[:num_moves])
        node = decided.node
        count, upgraded = [0] * factions.shape[1], set()
        for at, seat in enumerate(decided.player.tolist()):
            if node[at] == Node.BOOSTER and booster[row, seat] == NONE:
                booster[row, seat] = boosters.get(words[at], NONE)
            if not is_main_action(node[at], words[at]) or count[seat] == OPENING_LENGTH:
                continue
            kind, is_repeat = action_kind(words[at]), words[at] in upgraded
            if kind == "upgrade":  # called by its piece
                upgraded.add(words[at])
                is_followed_by_choice = at + 1 < num_moves and node[at + 1] == Node.PIECE
                kind = words[at + 1] if is_followed_by_choice else kind if is_repeat else "piece TS"
            opening[row, seat, count[seat]] = kinds.setdefault(kind, len(kinds))
            count[seat] += 1
    vp, sources, seats = ends.vp[finished], ends.sources[finished], slice(env.num_players)
    return PlayedGames(
        factions[finished], vp[:, seats].astype(int), wins(vp)[:, seats],
        sources[:, seats].astype(int), booster, opening,
        list(kinds),
    )  # fmt: skip


def indicator_columns(faction: np.ndarray, count: int) -> np.ndarray:
    """(N P, 2 F + P) indicators: the own faction, the opponents' factions, the seat."""
    games, players = faction.shape
    own = dummies(faction.ravel(), count)
    any_player = own.reshape(games, players, count).sum(1)
    seats = dummies(np.tile(np.arange(players), games), players)
    return np.concatenate([own, np.repeat(any_player, players, 0) - own, seats], axis=1)


@dataclasses.dataclass(frozen=True)
class Advice:
    """Estimates for each faction that was played, in the same order."""

    factions: list[int]
    games: list[int]  # of each
    vp: list[Effect]  # against drawn opponents
    above_mean: list[Effect]  # VP above the mean of all: the fair bid
    wins: list[Effect]
    seats: list[Effect]  # VP above the mean seat, if there are several
    boosters: list[Effect]  # VP above the mean, of the first booster: a comparison


def advise(played: PlayedGames, boards: Boards, ids: Mapping[str, Sequence[str]]) -> Advice:
    """Estimates from the games, which are the samples of every interval."""
    count, players = len(ids["faction"]), boards.players
    games_per_faction = np.bincount(played.faction.ravel(), minlength=count)
    factions = [f for f in range(count) if games_per_faction[f]]
    names = [ids["faction"][f] for f in factions]
    games = [int(games_per_faction[f]) for f in factions]
    x = indicator_columns(played.faction, count)
    clusters = np.repeat(np.arange(len(played.vp)), players)
    rows = np.stack([boards.faction_row(f, count) for f in factions])
    drawn = [i for i, f in enumerate(factions) if f in boards.free_boards] or list(
        range(len(factions))
    )
    seat_names = [str(seat) for seat in range(players)] if players > 1 else []
    seats = np.zeros((len(seat_names), x.shape[1]))
    seats[:, -players:] = (np.eye(players) - 1 / players)[: len(seat_names)]

    def estimate(
        y: np.ndarray, contrasts: np.ndarray, names: Sequence[str], sizes: Sequence[int]
    ) -> list[Effect]:
        return regression(y.ravel(), x, clusters, names, sizes, contrasts)

    return Advice(
        factions,
        games,
        estimate(played.vp, rows, names, games),
        estimate(played.vp, rows - rows[drawn].mean(0), names, games),
        estimate(played.wins, rows, names, games),
        estimate(played.vp, seats, seat_names, [len(played.vp)] * len(seat_names)),
        _boosters(played, x, clusters, ids["booster"]),
    )


def _boosters(
    played: PlayedGames, x: np.ndarray, clusters: np.ndarray, ids: Sequence[str]
) -> list[Effect]:
    """VP by the first booster, at the same faction, opponents and seat."""
    own = played.booster.ravel()
    has_booster = own >= 0
    seen = np.bincount(own[has_booster], minlength=len(ids))
    booster_ids: list[int] = np.flatnonzero(seen).tolist()
    if not booster_ids:
        return []
    full = np.concatenate([dummies(own, len(ids))[:, booster_ids], x], axis=1)[has_booster]
    contrasts = np.zeros((len(booster_ids), full.shape[1]))
    contrasts[:, : len(booster_ids)] = np.eye(len(booster_ids)) - 1 / len(booster_ids)
    names, sizes = [ids[b] for b in booster_ids], seen[booster_ids].tolist()
    return regression(
        played.vp.ravel()[has_booster], full, clusters[has_booster], names, sizes, contrasts
    )


def opening(played: PlayedGames, faction: int) -> list[tuple[str, float]]:
    """The most frequent first, second, ... main action of a faction, each with its share."""
    own = played.opening[played.faction == faction]
    openings = []
    for step in range(own.shape[1]):
        seen = np.bincount(own[own[:, step] >= 0, step], minlength=1)
        if seen.sum():
            openings.append((played.kinds[int(seen.argmax())], float(seen.max() / len(own))))
    return openings


def first_boosters(
    played: PlayedGames, faction: int, ids: Sequence[str]
) -> list[tuple[str, float]]:
    """The first boosters of a faction and their shares, the commonest first."""
    own = played.booster[played.faction == faction]
    seen = np.bincount(own[own >= 0], minlength=len(ids))
    order = np.argsort(-seen, kind="stable")
    return [(ids[b], float(seen[b] / len(own))) for b in order if seen[b]]


def sources(
    played: PlayedGames, faction: int, ids: Sequence[str]
) -> list[tuple[str, float, float]]:
    """VP by source and the difference from the mean of all factions, largest difference first."""
    is_faction = played.faction == faction
    mean = played.sources[is_faction].mean(0)
    by_source = np.stack(
        [played.sources[played.faction == f].mean(0) for f in np.unique(played.faction)]
    )
    above = mean - by_source.mean(0)
    order = np.argsort(-above, kind="stable")
    return [(ids[k], float(mean[k]), float(above[k])) for k in order]

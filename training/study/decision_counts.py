"""Actions of each seat in each game, counted from `decisions.parquet`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gaia_jax.cli.command_line import UserError
from gaia_jax.components.costs import ROUNDS
from gaia_jax.components.research import TRACKS

from ..analysis.actions import action_kind, is_conversion
from ..games import dataset, parquet_files

DECLINE = "leech DECLINE"
OPENING_LENGTH = 3  # main actions of an opening
NUM_COSTS = 5  # costs of a power offer: 0, 1, 2, 3, and 4 or more VP
COLUMNS = ["game", "number", "round", "node", "seat", "text", "leech", "tracks", "vp"]


@dataclass(frozen=True)
class DecisionCounts:
    """G games of P seats."""

    counts: np.ndarray  # (G, P, K) int16, number of actions of each kind
    kinds: list[str]  # K, for example "advanced FED-5VP", "leech CHARGE", "upgrade"
    opening: np.ndarray  # (G, P, 3) int16, indices into `kinds` of the first main actions; or -1
    passing_order: np.ndarray  # (G, P, 6) int8, by round: 1 passed first, 2 second, ...; 0 did not
    main_actions: np.ndarray  # (G, P, 6) int16, number before passing, by round
    offers: np.ndarray  # (G, P, NUM_COSTS, 2) int16, power offers by cost: declined, taken
    levels: np.ndarray  # (G, P, 6) int8, research levels before the last decision
    vp_by_round: np.ndarray  # (G, P, 6) int16, VP before the last decision of each round

    def counts_by_prefix(self, *prefixes: str) -> tuple[np.ndarray, list[str]]:
        """The counts (G, P, L) of kinds that start with one of the prefixes, and their names."""
        indices = [i for i, name in enumerate(self.kinds) if name.startswith(prefixes)]
        return self.counts[..., indices], [self.kinds[i] for i in indices]

    def counts_by_name(self, names: Sequence[str]) -> np.ndarray:
        """(G, P, L), the counts of kinds by their full names; 0 for kinds that do not occur."""
        zeros = np.zeros(self.counts.shape[:2], self.counts.dtype)
        by_name = {name: self.counts[..., i] for i, name in enumerate(self.kinds)}
        return np.stack([by_name.get(name, zeros) for name in names], axis=-1)


def load(path: str | Path, games: int, players: int) -> DecisionCounts:
    """Count the decisions of a dataset.

    Args:
        path: the folder of the dataset.
        games: G, the number of games to count, from the first; players: P.
    """
    counter = _Counter(games, players)
    pending: pa.Table | None = None
    for _, rows in parquet_files.row_groups(Path(path) / dataset.DECISIONS, COLUMNS):
        rows = rows.filter(pc.less(rows["game"], games))
        if not len(rows):
            break
        for name, maximum in (("seat", players - 1), ("round", ROUNDS)):
            if pc.max(rows[name]).as_py() > maximum or pc.min(rows[name]).as_py() < 0:
                raise UserError(f"{path}: {name} of a decision is not 0 to {maximum}")
        joined = rows if pending is None else pa.concat_tables([pending, rows])
        # Keep the last row for the next group: if it is an upgrade, the row after it may name the
        # piece.
        counter.add(joined, len(joined) - 1)
        pending = joined.slice(len(joined) - 1)
    if pending is not None:
        counter.add(pending, 1)
    return counter.result()


class _Counter:
    """Fills the arrays of `DecisionCounts`, one row group at a time."""

    def __init__(self, games: int, players: int):
        seats = (games, players)
        self.kinds: dict[str, int] = {}  # index of a kind
        self.counts = np.zeros((*seats, 0), np.int16)
        self.opening = np.full((*seats, OPENING_LENGTH), -1, np.int16)
        self.opening_length = np.zeros(seats, int)
        self.passing_order = np.zeros((*seats, ROUNDS), np.int8)
        self.main_actions = np.zeros((*seats, ROUNDS), np.int16)
        self.offers = np.zeros((*seats, NUM_COSTS, 2), np.int16)
        self.levels = np.zeros((*seats, len(TRACKS)), np.int8)
        self.vp_by_round = np.zeros((*seats, ROUNDS), np.int16)

    def add(self, table: pa.Table, num_rows: int) -> None:
        """Count the first `num_rows` rows; the row after them names the piece of an upgrade."""
        columns = {name: table[name].combine_chunks() for name in COLUMNS}
        texts = columns["text"].dictionary_encode()
        labels = [action_kind(text) for text in texts.dictionary.to_pylist()]
        indices = np.array([self.kinds.setdefault(x, len(self.kinds)) for x in labels])
        kind = indices[texts.indices.to_numpy()]
        num_new_kinds = len(self.kinds) - self.counts.shape[-1]
        self.counts = np.pad(self.counts, ((0, 0), (0, 0), (0, num_new_kinds)))
        game = columns["game"].to_numpy()[:num_rows]
        seat = columns["seat"].to_numpy()[:num_rows].astype(int)
        # -1 in the set-up, which has no TURN decisions.
        round_index = columns["round"].to_numpy()[:num_rows].astype(int) - 1
        np.add.at(self.counts, (game, seat, kind[:num_rows]), 1)
        self._count_offers(columns["leech"].to_numpy()[:num_rows].astype(int), game, seat, kind)
        tracks = columns["tracks"].slice(0, num_rows).flatten().to_numpy().reshape(num_rows, -1)
        np.maximum.at(self.levels, (game, seat), tracks[:, : len(TRACKS)])
        vp, in_round = columns["vp"].to_numpy()[:num_rows], round_index >= 0
        self.vp_by_round[game[in_round], seat[in_round], round_index[in_round]] = vp[in_round]
        names = np.array(list(self.kinds))
        node = columns["node"].to_numpy(zero_copy_only=False)
        is_main = (node == "TURN") & ~np.array([is_conversion(name) for name in names])[kind]
        is_pass = (np.char.startswith(names, "booster ") | (names == "pass"))[kind]
        is_before_piece = np.append((node == "PIECE")[1:], False)
        move_kind = np.where(is_before_piece, np.append(kind[1:], 0), kind)
        for row in np.flatnonzero(is_main[:num_rows]):
            self._count_main_action(
                (game[row], seat[row]), round_index[row], move_kind[row], is_pass[row]
            )

    def _count_offers(
        self, power: np.ndarray, game: np.ndarray, seat: np.ndarray, kind: np.ndarray
    ) -> None:
        offered = np.flatnonzero(power > 0)
        is_taken = (kind[offered] != self.kinds.get(DECLINE, -1)).astype(int)
        cost = np.minimum(power[offered] - 1, NUM_COSTS - 1)
        np.add.at(self.offers, (game[offered], seat[offered], cost, is_taken), 1)

    def _count_main_action(
        self, game_seat: tuple[int, int], round_index: int, kind: int, is_pass: bool
    ) -> None:
        if self.opening_length[game_seat] < OPENING_LENGTH:
            self.opening[(*game_seat, self.opening_length[game_seat])] = kind
            self.opening_length[game_seat] += 1
        if is_pass:
            num_passed = self.passing_order[game_seat[0], :, round_index].max()
            self.passing_order[(*game_seat, round_index)] = num_passed + 1
        else:
            self.main_actions[(*game_seat, round_index)] += 1

    def result(self) -> DecisionCounts:
        """The counts so far."""
        return DecisionCounts(
            self.counts, list(self.kinds), self.opening, self.passing_order, self.main_actions,
            self.offers, self.levels, self.vp_by_round,
        )  # fmt: skip

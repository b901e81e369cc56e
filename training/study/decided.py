"""What each seat did in each game, counted from `decisions.parquet`."""

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

from ..analysis.actions import kind_of
from ..games import dataset, shards

DECLINE = "leech DECLINE"
OPENING = 3
COSTS = 5  # of an offer of power: 0 to 3 VP, 4 or more
COLUMNS = ["game", "number", "round", "node", "seat", "text", "leech", "tracks", "vp"]


@dataclass(frozen=True)
class Decided:
    """G games of P seats."""

    counts: np.ndarray  # (G, P, K) int16, how often each kind of action
    kinds: list[str]  # K, for example "advanced FED-5VP", "leech CHARGE", "upgrade"
    opening: np.ndarray  # (G, P, 3) index in `kinds` of the first main actions; -1 for none
    passed: np.ndarray  # (G, P, 6) place in the order of passing by round, from 1; 0 for none
    turns: np.ndarray  # (G, P, 6) int16, main actions before passing, by round
    offers: np.ndarray  # (G, P, COSTS, 2) int16, offers of power by cost: declined, taken
    levels: np.ndarray  # (G, P, 6) int8, levels of research before the last decision
    vp_after: np.ndarray  # (G, P, 6) int16, VP before the last decision of each round

    def of(self, *starts: str) -> tuple[np.ndarray, list[str]]:
        """The counts of the kinds that begin so, and their names."""
        at = [i for i, name in enumerate(self.kinds) if name.startswith(starts)]
        return self.counts[..., at], [self.kinds[i] for i in at]

    def at(self, names: Sequence[str]) -> np.ndarray:
        """(G, P, L), the counts of kinds by their whole names; 0 for what nobody did."""
        none = np.zeros(self.counts.shape[:2], self.counts.dtype)
        known = {name: self.counts[..., i] for i, name in enumerate(self.kinds)}
        return np.stack([known.get(name, none) for name in names], axis=-1)


def load(path: str | Path, games: int, players: int) -> Decided:
    """What `decisions.parquet` of a dataset tells.

    Args:
        games: G, of the first games; players: P.
    """
    counter = _Counter(games, players)
    held: pa.Table | None = None
    for _, table in shards.row_groups(Path(path) / dataset.DECISIONS, COLUMNS):
        table = table.filter(pc.less(table["game"], games))
        if not len(table):
            break
        for name, most in (("seat", players - 1), ("round", ROUNDS)):
            if pc.max(table[name]).as_py() > most or pc.min(table[name]).as_py() < 0:
                raise UserError(f"{path}: {name} of a decision is not 0 to {most}")
        joined = table if held is None else pa.concat_tables([held, table])
        # The last row waits: the next one says which piece its upgrade was.
        counter.add(joined, len(joined) - 1)
        held = joined.slice(len(joined) - 1)
    if held is not None:
        counter.add(held, 1)
    return counter.result()


class _Counter:
    """Counts decisions as they are read."""

    def __init__(self, games: int, players: int):
        self.kinds: dict[str, int] = {}
        self.counts = np.zeros((games, players, 0), np.int16)
        self.opening = np.full((games, players, OPENING), -1, np.int16)
        self.begun = np.zeros((games, players), int)
        self.passed = np.zeros((games, players, ROUNDS), np.int8)
        self.turns = np.zeros((games, players, ROUNDS), np.int16)
        self.offers = np.zeros((games, players, COSTS, 2), np.int16)
        self.levels = np.zeros((games, players, len(TRACKS)), np.int8)
        self.vp_after = np.zeros((games, players, ROUNDS), np.int16)

    def add(self, table: pa.Table, own: int) -> None:
        """Count the first `own` rows; a row behind them is only looked at."""
        columns = {name: table[name].combine_chunks() for name in COLUMNS}
        texts = columns["text"].dictionary_encode()
        labels = [kind_of(text) for text in texts.dictionary.to_pylist()]
        codes = np.array([self.kinds.setdefault(x, len(self.kinds)) for x in labels])
        code = codes[texts.indices.to_numpy()]
        game, seat = columns["game"].to_numpy()[:own], columns["seat"].to_numpy()[:own].astype(int)
        node = columns["node"].to_numpy(zero_copy_only=False)
        rounds = columns["round"].to_numpy()[:own].astype(int) - 1
        if len(self.kinds) > self.counts.shape[-1]:
            wide = ((0, 0), (0, 0), (0, len(self.kinds) - self.counts.shape[-1]))
            self.counts = np.pad(self.counts, wide)
        np.add.at(self.counts, (game, seat, code[:own]), 1)
        names = np.array(list(self.kinds))
        self._note(columns, own, game, seat, rounds[:own])
        power = columns["leech"].to_numpy()[:own].astype(int)
        asked = np.flatnonzero(power > 0)
        took = (names[code[:own]] != DECLINE).astype(int)
        cost = np.minimum(power - 1, COSTS - 1)
        np.add.at(self.offers, (game[asked], seat[asked], cost[asked], took[asked]), 1)
        main = (node == "TURN") & ~np.char.startswith(names, "free ")[code]
        out = (np.char.startswith(names, "booster ") | (names == "pass"))[code]
        # An upgrade whose piece was asked is called by its piece.
        piece = np.append((node == "PIECE")[1:], False)
        told = np.where(piece, np.append(code[1:], 0), code)
        here = np.flatnonzero(main[:own])
        for g, s, r, c, last in zip(
            game[here], seat[here], rounds[here], told[here], out[here], strict=True
        ):
            self._main_action(g, s, r, c, last)

    def _note(
        self, columns: dict[str, pa.Array], own: int, game: np.ndarray, seat: np.ndarray,
        rounds: np.ndarray,
    ) -> None:  # fmt: skip
        """Tracks and VP: of rows of one seat and round the last one stays."""
        tracks = columns["tracks"].slice(0, own).flatten().to_numpy().reshape(own, -1)
        np.maximum.at(self.levels, (game, seat), tracks[:, : len(TRACKS)])
        vp, in_round = columns["vp"].to_numpy()[:own], rounds >= 0
        self.vp_after[game[in_round], seat[in_round], rounds[in_round]] = vp[in_round]

    def _main_action(self, game: int, seat: int, round_: int, kind: int, last: bool) -> None:
        if self.begun[game, seat] < OPENING:
            self.opening[game, seat, self.begun[game, seat]] = kind
            self.begun[game, seat] += 1
        if last:
            self.passed[game, seat, round_] = self.passed[game, :, round_].max() + 1
        else:
            self.turns[game, seat, round_] += 1

    def result(self) -> Decided:
        """What was counted."""
        return Decided(
            self.counts, list(self.kinds), self.opening, self.passed, self.turns, self.offers,
            self.levels, self.vp_after,
        )  # fmt: skip

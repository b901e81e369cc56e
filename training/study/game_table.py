"""A dataset in memory as numpy arrays, seat by seat."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gaia_jax.cli.command_line import UserError

from ..games import dataset, parquet_files, schema

# Sources of VP that count as one: the order of a game's two final missions has no meaning.
JOINED = {"FINAL_1": "FINAL", "FINAL_2": "FINAL"}


@dataclass(frozen=True)
class GameTable:
    """G games of P seats. Names are stored as indices into `names`."""

    deal: np.ndarray  # (G,) number of the set-up: games of one deal are one sample
    vp: np.ndarray  # (G, P)
    place: np.ndarray  # (G, P) from 1; ties share the mean of their places
    win: np.ndarray  # (G, P) share of the win
    sources: np.ndarray  # (G, P, K) VP by source; both final missions are one, `FINAL`
    faction: np.ndarray  # (G, P)
    order: np.ndarray  # (G, P) place in the turn order of round 1, from 1
    agent: np.ndarray  # (G, P)
    setup: dict[str, np.ndarray]  # key -> (G,) or (G, L) of texts or numbers
    names: dict[str, list[str]]  # "faction", "agent", "source" -> names by index

    @property
    def players(self) -> int:
        """P."""
        return int(self.vp.shape[1])

    def faction_index(self, name: str) -> int:
        """Index of a faction.

        Raises:
            ValueError: the dataset has no such faction; the message lists those it has.
        """
        names = self.names["faction"]
        if name not in names:
            raise ValueError(f"unknown faction {name!r}; the dataset has {', '.join(names)}")
        return names.index(name)

    @property
    def margin(self) -> np.ndarray:
        """(G, P) VP of a seat minus the mean VP of the other seats of its game."""
        others = (self.vp.sum(-1, keepdims=True) - self.vp) / (self.players - 1)
        ahead: np.ndarray = self.vp - others
        return ahead


def load(path: str | Path, games: int | None = None) -> GameTable:
    """Load the games of a dataset.

    Args:
        path: its folder.
        games: the number of games to load, from the first; None is all.
    """
    folder = Path(path)
    about = dataset.read_about(folder)
    with parquet_files.open_file(folder / dataset.GAMES) as file:
        columns = [name for name in file.schema_arrow.names if name not in ("actions", "setup")]
    parts, num_left = [], games
    for _, part in parquet_files.row_groups(folder / dataset.GAMES, columns):
        parts.append(part if num_left is None else part.slice(0, num_left))
        num_left = None if num_left is None else num_left - len(parts[-1])
        if num_left == 0:
            break
    table = pa.concat_tables(parts).combine_chunks()
    players = schema.seats(columns)
    source_of = [JOINED.get(name, name) for name in about["vp_sources"]]
    names: dict[str, list[str]] = {"source": list(dict.fromkeys(source_of))}

    def stack_seats(name: str) -> np.ndarray:
        return np.stack([_array(table[f"{name}_{s}"]) for s in range(players)], axis=-1)

    def read_list(name: str) -> np.ndarray:
        column = table[name]
        if not (pc.list_value_length(column).to_numpy() == players).all():
            raise UserError(f"{folder / dataset.GAMES}: {name} has not {players} values in a row")
        return _array(column)

    def encode(name: str) -> np.ndarray:
        values, codes = np.unique(stack_seats(name), return_inverse=True)
        names[name] = [str(value) for value in values]
        return codes.reshape(-1, players)

    def sum_source(name: str) -> np.ndarray:
        parts = zip(about["vp_sources"], source_of, strict=True)
        total: np.ndarray = np.sum([read_list(f"vp_{x}") for x, y in parts if y == name], axis=0)
        return total

    keys = [_array(table[name]) for name in ("env", "seed", "deal")]
    key_codes = [np.unique(key, return_inverse=True)[1] for key in keys]
    deal = np.unique(np.stack(key_codes, axis=-1), axis=0, return_inverse=True)[1].reshape(-1)
    return GameTable(
        deal=deal,
        vp=read_list("vp").astype(float),
        place=read_list("place"),
        win=read_list("win"),
        sources=np.stack([sum_source(s) for s in names["source"]], axis=-1),
        faction=encode("faction"),
        order=stack_seats("order"),
        agent=encode("agent"),
        setup={
            name.removeprefix("setup_"): _array(table[name])
            for name in columns
            if name.startswith("setup_")
        },
        names=names,
    )


def _array(column: pa.ChunkedArray) -> np.ndarray:
    """Convert a column to an array: (G,), or (G, L) for lists of L values."""
    array = column.combine_chunks()
    if not pa.types.is_list(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    values = pc.list_flatten(array).to_numpy(zero_copy_only=False)
    return np.asarray(values).reshape(len(array), -1)

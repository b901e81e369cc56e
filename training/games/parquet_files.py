"""Parquet files that are assembled from pieces, the shards of `training.system.jobs`.

The row groups of a file do not depend on its pieces: it has the same bytes, however the work was
interrupted or split.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason

ROW_GROUP = 8192  # games of a row group
UNREADABLE = (OSError, ValueError, pa.ArrowException)
PAGE = 2**24  # bytes: a column of a row group in one piece, which compresses better


def to_bytes(table: pa.Table) -> bytes:
    """A piece of a table as a Parquet file."""
    out = pa.BufferOutputStream()
    pq.write_table(table, out, compression="zstd", compression_level=1)
    return bytes(out.getvalue())


def assemble(path: Path, tables: Iterable[pa.Table], rows: int = ROW_GROUP) -> int:
    """Write tables one after the other as one Parquet file, in row groups of `rows`.

    Only a row group is held in memory. Pages carry checksums.

    Returns:
        The number of rows.
    Raises:
        UserError: it cannot be written. After any error an existing file is unchanged.
    """
    first = next(tables := iter(tables))
    total, buffered = 0, first.slice(0, 0)
    try:
        with (
            outputs.replacing(path) as file,
            pq.ParquetWriter(
                file, first.schema, compression="zstd", compression_level=19, data_page_size=PAGE,
                write_page_checksum=True, write_statistics=False,
            ) as writer,
        ):  # fmt: skip
            for table in itertools.chain([first], tables):
                total, buffered = total + len(table), pa.concat_tables([buffered, table])
                while len(buffered) >= rows:
                    writer.write_table(buffered.slice(0, rows).combine_chunks(), rows)
                    buffered = buffered.slice(rows)
            if len(buffered):
                writer.write_table(buffered.combine_chunks(), rows)
    except OSError as error:
        raise UserError(f"cannot write {path}: {reason(error)}") from error
    return total


def open_file(path: Path) -> pq.ParquetFile:
    """Open a Parquet file by its end; a UserError if it is truncated or not Parquet."""
    try:
        if path.exists() and not path.is_file():  # such as a pipe, which would wait
            raise OSError("it is no file")
        return pq.ParquetFile(path, page_checksum_verification=True)
    except UNREADABLE as error:
        raise UserError(f"{path} is not a Parquet file: {reason(error)}") from error


def check(path: Path, schema: pa.Schema, rows: int) -> None:
    """Raise a UserError for other columns or another number of rows; only the end is read."""
    with open_file(path) as file:
        stored, total = file.schema_arrow, file.metadata.num_rows
    kinds, own_kinds = (dict(zip(x.names, x.types, strict=True)) for x in (stored, schema))
    for name in own_kinds | kinds:
        kind, own = (x.get(name, "missing") for x in (kinds, own_kinds))
        if kind != own:
            raise UserError(f"{path}: column {name!r} is {kind}, in this ruleset it is {own}")
    if total != rows:
        raise UserError(f"{path} has {total} rows, not {rows}")


def row_groups(path: Path, columns: list[str] | None = None) -> Iterator[tuple[int, pa.Table]]:
    """The row groups of a file, each with the number of its first row.

    Raises:
        UserError: a column is missing, or a row group cannot be read; the message names its rows.
    """
    first = 0
    with open_file(path) as file:
        if missing := [name for name in columns or () if name not in file.schema_arrow.names]:
            raise UserError(f"{path} has no column {missing[0]!r}")
        for group in range(file.num_row_groups):
            last = first + file.metadata.row_group(group).num_rows - 1
            try:
                yield first, file.read_row_group(group, columns)
            except UNREADABLE as error:
                damage = f"rows {first} to {last} are damaged: {reason(error)}"
                raise UserError(f"{path}: {damage}") from error
            first = last + 1


def read(paths: Iterable[Path]) -> Iterator[pa.Table]:
    """The row groups of several pieces, one after the other; a UserError names a damaged one."""
    for path in paths:
        try:
            yield from (table for _, table in row_groups(path))
        except UserError as error:
            raise UserError(f"{error}; remove it and run the command again") from error

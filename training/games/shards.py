"""Parquet files that are assembled from pieces, the shards of `training.system.jobs`.

`assemble` joins all pieces into one file whose row groups do not depend on them: it has the same
bytes, however the work was interrupted or split.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason

ROW_GROUP = 8192  # games of a row group
LEVEL = 12  # of zstd
# Higher levels for the two columns that hold nine tenths of the bytes of a game.
LEVELS = {"actions": 18, "setup": 19}
UNREADABLE = (OSError, ValueError, pa.ArrowException)
PAGE = 2**24  # bytes: a column of a row group in one piece, which compresses better


def to_bytes(table: pa.Table) -> bytes:
    """A piece of a table as a Parquet file."""
    out = pa.BufferOutputStream()
    pq.write_table(table, out, compression="zstd", compression_level=1)
    return bytes(out.getvalue())


def read_pieces(paths: Iterable[Path]) -> Iterator[pa.Table]:
    """The pieces of a table, in order; a UserError names one that cannot be read."""
    for path in paths:
        try:
            yield pq.read_table(path)
        except UNREADABLE as error:
            raise UserError(
                f"cannot read {path}: {_first_line(error)}; remove it and run the command again"
            ) from error


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield a file to write, which replaces `path` at the end; an error leaves `path` unchanged."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
        outputs.sync_folder(path.parent)
    except OSError as error:
        raise UserError(f"cannot write {path}: {reason(error)}") from error
    finally:
        part.unlink(missing_ok=True)


def assemble(path: Path, tables: Iterable[pa.Table], rows: int = ROW_GROUP) -> int:
    """Write tables one after the other as one Parquet file, in row groups of `rows`.

    Only a row group is held in memory. Pages carry checksums.

    Returns:
        The number of rows.
    """
    groups = _cut(tables, rows)
    first = next(groups, None)
    if first is None:
        raise UserError(f"nothing to write into {path}")
    total = 0
    with _replacing(path) as part, _writer(part, first.schema) as writer:
        for group in itertools.chain([first], groups):
            writer.write_table(group.combine_chunks(), row_group_size=rows)
            total += len(group)
    return total


def _cut(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The rows of tables as tables of `rows`; the last one may be shorter."""
    rest = None
    for table in tables:
        rest = table if rest is None else pa.concat_tables([rest, table])
        while len(rest) >= rows:
            yield rest.slice(0, rows)
            rest = rest.slice(rows)
    if rest is not None and len(rest):
        yield rest


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    # A dictionary costs more than it saves where nearly every value is new.
    plain = ("setup",)
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level={_leaf(f): LEVELS.get(f.name, LEVEL) for f in schema},
        use_dictionary=[_leaf(f) for f in schema if f.name not in plain],
        data_page_size=PAGE,
        write_page_checksum=True,
        write_statistics=["deal"] if "deal" in schema.names else False,
    )


def _leaf(field: pa.Field) -> str:
    """The path of a column as Parquet calls it."""
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name


def open_file(path: Path) -> pq.ParquetFile:
    """Open a Parquet file by its end; a UserError if it is truncated or not Parquet."""
    try:
        if not path.is_file():
            problem = "not a file" if path.exists() else "not there"
            raise UserError(f"{path} is not a Parquet file: it is {problem}")
        return pq.ParquetFile(path, page_checksum_verification=True)
    except UNREADABLE as error:
        raise UserError(f"{path} is not a Parquet file: {_first_line(error)}") from error


def check(path: Path, schema: pa.Schema, rows: int) -> None:
    """Raise a UserError for other columns or another number of rows; only the end is read."""
    with open_file(path) as file:
        stored, total = file.schema_arrow, file.metadata.num_rows
    kinds, own_kinds = ({field.name: field.type for field in x} for x in (stored, schema))
    for name in own_kinds | kinds:
        kind, own = (x.get(name, "missing") for x in (kinds, own_kinds))
        if kind != own:
            raise UserError(f"{path}: column {name!r} is {kind}, in this ruleset it is {own}")
    if total != rows:
        raise UserError(f"{path} has {total} rows, not {rows}")


def _first_line(error: BaseException) -> str:
    return reason(error) if isinstance(error, OSError) else str(error).splitlines()[0]


def row_groups(path: Path, columns: list[str] | None = None) -> Iterator[tuple[int, pa.Table]]:
    """The row groups of a file, each with the number of its first row.

    Raises:
        UserError: a column is missing, or a row group cannot be read; the message names its rows.
    """
    first = 0
    with open_file(path) as file:
        for name in columns or ():
            if name not in file.schema_arrow.names:
                raise UserError(f"{path} has no column {name!r}")
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            try:
                table = file.read_row_group(group, columns)
            except UNREADABLE as error:
                message = _first_line(error)
                last = first + rows - 1
                raise UserError(f"{path}: rows {first} to {last} are damaged: {message}") from error
            yield first, table
            first += rows


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

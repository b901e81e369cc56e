"""Tables that are written in pieces: a killed process loses at most the current piece.

Each piece is a file. `assemble` joins all of them into one Parquet file whose row groups do not
depend on the pieces: it has the same bytes, however the work was interrupted or split.
"""

from __future__ import annotations

import hashlib
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
# The two columns that make nine tenths of a game are worth more work.
LEVELS = {"actions": 18, "setup": 19}
UNREADABLE = (OSError, ValueError, pa.ArrowException)
PAGE = 2**24  # bytes: a column of a row group in one piece, which compresses better


class Shards:
    """The pieces of one table, in a folder next to it."""

    def __init__(self, folder: Path, alone: bool = True):
        """`alone`: no other process writes there, so files of a killed process are removed."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.part") if alone else ():
            path.unlink()

    def path(self, number: int) -> Path:
        """The path of piece `number`."""
        return self.folder / f"{number:08}.parquet"

    def has(self, number: int, rows: int | None = None) -> bool:
        """Whether a complete piece with `rows` rows exists."""
        path = self.path(number)
        if not path.exists():
            return False
        try:
            with pq.ParquetFile(path) as file:
                return rows is None or file.metadata.num_rows == rows
        except UNREADABLE:
            return False

    def write(self, number: int, table: pa.Table) -> None:
        """Write a piece, completely or not at all."""
        path = self.path(number)
        with _replacing(path) as part:
            pq.write_table(table, part, compression="zstd", compression_level=1)

    def tables(self, count: int) -> Iterator[pa.Table]:
        """The pieces 0 to `count` - 1."""
        for number in range(count):
            yield pq.read_table(self.path(number))

    def remove(self) -> None:
        """Remove the pieces and the folder."""
        for path in self.folder.glob("*"):
            path.unlink()
        self.folder.rmdir()


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
    writer, buffered, total = None, [], 0
    with _replacing(path) as part:
        try:
            for table in tables:
                if writer is None:
                    writer = _writer(part, table.schema)
                buffered.append(table)
                while sum(len(x) for x in buffered) >= rows:
                    joined = pa.concat_tables(buffered)
                    writer.write_table(joined.slice(0, rows).combine_chunks(), row_group_size=rows)
                    total, buffered = total + rows, [joined.slice(rows)]
            if writer is None:
                raise UserError(f"nothing to write into {path}")
            rest = pa.concat_tables(buffered).combine_chunks()
            if len(rest):
                writer.write_table(rest, row_group_size=rows)
        finally:
            if writer is not None:
                writer.close()
    return total + len(rest)


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
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a Parquet file: it is not a file")
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

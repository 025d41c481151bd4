"""New values for some columns of existing rows: files that complete others.

Every file whose rows get new values is completed by one new file with the same row ids, so
the new file has a value for each of its rows: the new one, or the one that was there.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.BaseAppendFileStoreWrite`` (the
columns that a file names) and ``…table.source.DataEvolutionSplitGenerator`` (which files
complete each other).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import ColumnNotFoundError, DataError, UnsupportedError
from paimonlab.scan.split import DataSplit
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.system_fields import ROW_ID
from paimonlab.write.frames import batches_of
from paimonlab.write.rows import align


@dataclass(frozen=True, slots=True)
class NewValues:
    """New values of some columns of n rows."""

    row_ids: npt.NDArray[np.int64]
    """(n,) ascending, each once."""
    values: pa.Table
    """n rows, columns in schema order."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.values.schema.names)

    def between(self, first: int, end: int) -> NewValues:
        """Return the new values of the rows with ids from ``first`` to ``end`` - 1."""
        low, high = np.searchsorted(self.row_ids, [first, end])
        return NewValues(self.row_ids[low:high], self.values.slice(low, high - low))


def new_values(data: Any, schema: TableSchema, *, table: str) -> NewValues:
    """Check new values and bring them into the types of the table.

    Parameters
    ----------
    data
        Anything that speaks Arrow, with ``_ROW_ID`` and at least one column of the table.
    schema
        The table's schema.
    table
        Its name, for messages.

    Raises
    ------
    ColumnNotFoundError
        If ``_ROW_ID`` is missing, or the table lacks a column.
    DataError
        If a row id is null or repeated, no column or a partition column is written, or a
        value does not fit its column.
    """
    known = (*schema.field_names, ROW_ID)
    given = batches_of(data, known, table=table, fields=schema.fields).read_all()
    names = given.schema.names
    if ROW_ID not in names:
        raise ColumnNotFoundError(ROW_ID, table, names)
    columns = [name for name in names if name != ROW_ID]
    for name in columns:
        if name in schema.partition_keys:
            raise DataError(f"{table}: {name!r} is a partition column: rows cannot move")
    wanted = projected(schema, columns, table)
    row_ids = _row_ids(given[ROW_ID], table)
    order = np.argsort(row_ids, kind="stable")
    ordered = row_ids[order]
    if (ordered[1:] == ordered[:-1]).any():
        twice = int(ordered[1:][ordered[1:] == ordered[:-1]][0])
        raise DataError(f"{table}: row id {twice} comes twice")
    rows = given.drop_columns([ROW_ID]).combine_chunks()
    aligned: list[pa.RecordBatch] = []
    for batch in rows.to_batches():
        first_row = sum(rows.num_rows for rows in aligned)
        aligned.append(align(batch, wanted, table=table, first_row=first_row))
    values = pa.Table.from_batches(aligned) if aligned else wanted.arrow_schema.empty_table()
    in_order = values.select(list(wanted.field_names)).combine_chunks().take(arrow_array(order))
    return NewValues(ordered, in_order.combine_chunks())


def projected(schema: TableSchema, columns: Iterable[str], table: str) -> TableSchema:
    """Return the schema with some of its columns, in its order."""
    names = set(columns)
    for name in names:
        schema.field(name, table=table)
    if not names:
        raise DataError(f"{table}: no column is written")
    fields = tuple(field for field in schema.fields if field.name in names)
    keys = tuple(key for key in schema.partition_keys if key in names)
    return replace(schema, fields=fields, partition_keys=keys)


def _row_ids(column: pa.ChunkedArray, table: str) -> npt.NDArray[np.int64]:
    if column.null_count or not pa.types.is_integer(column.type):
        raise DataError(f"{table}: {ROW_ID} must be whole numbers without nulls")
    ids: npt.NDArray[np.int64] = pc.cast(column, pa.int64()).to_numpy()
    return ids


def touched(splits: Sequence[DataSplit], new: NewValues, *, table: str) -> list[DataSplit]:
    """Find the files whose rows get new values.

    Parameters
    ----------
    splits
        One split per group of files with the same row ids.
    new
        All new values.
    table
        Its name, for messages.

    Raises
    ------
    DataError
        If a row id does not exist.
    UnsupportedError
        If rows were compacted in such a way that their ids are in the file.
    """
    changed, count = [], 0
    for split in splits:
        file = split.files[0]
        if file.first_row_id is None:
            raise UnsupportedError(
                f"new columns for {file.file_name} of {table}",
                "its rows have their ids in the file, which no other file can complete",
            )
        rows = len(new.between(file.first_row_id, file.first_row_id + file.row_count).row_ids)
        if rows:
            changed.append(split)
            count += rows
    if count < len(new.row_ids):
        raise DataError(
            f"{table} has no row of {len(new.row_ids) - count} of the {len(new.row_ids)} row ids"
        )
    return changed


def patched(
    current: Iterable[pa.RecordBatch], new: NewValues, first_row_id: int
) -> Iterator[pa.RecordBatch]:
    """Put new values into the rows of a file.

    Parameters
    ----------
    current
        All rows of the file in order, with the columns of ``new`` among others.
    new
        New values.
    first_row_id
        Row id of the file's first row.

    Yields
    ------
    pyarrow.RecordBatch
        As in ``current``, of which the columns of ``new`` have new values.
    """
    start = first_row_id
    for batch in current:
        ours = new.between(start, start + batch.num_rows)
        start += batch.num_rows
        yield _patched(batch, ours, start - batch.num_rows) if len(ours.row_ids) else batch


def _patched(batch: pa.RecordBatch, new: NewValues, first: int) -> pa.RecordBatch:
    source = np.arange(batch.num_rows, dtype=np.int64)
    source[new.row_ids - first] = batch.num_rows + np.arange(len(new.row_ids))
    indices = arrow_array(source)
    for name in new.columns:
        position = batch.schema.get_field_index(name)
        both = pa.chunked_array([batch.column(position), *new.values[name].chunks])
        column = both.combine_chunks().take(indices)
        batch = batch.set_column(position, batch.schema.field(position), column)
    return batch


def completing(message: CommitMessage, split: DataSplit, columns: Sequence[str]) -> CommitMessage:
    """Record in a commit message that its file completes existing rows."""
    (file,) = message.new_files
    head = split.files[0]
    assert file.row_count == head.row_count, "a file completes another row by row"
    named = msgspec.structs.replace(file, first_row_id=head.first_row_id, write_cols=tuple(columns))
    return msgspec.structs.replace(
        message, new_files=(named,), checked_snapshot_id=split.snapshot_id
    )

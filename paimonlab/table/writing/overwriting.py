"""Replacing and dropping whole partitions.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``, overwrite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import null_filled
from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.table.committing.overwrites import to_overwrite_with
from paimonlab.table.committing.users import new_user
from paimonlab.table.compacting.landing import landed
from paimonlab.table.definition import TableDefinition
from paimonlab.table.partition_values import partition_values
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.writing.commits import commit_own
from paimonlab.table.writing.isolation import rows_of_interest
from paimonlab.table.writing.writers import write_files
from paimonlab.workers import Workers, side_by_side
from paimonlab.write.conversion import convert
from paimonlab.write.frames import batches_of


class OverwriteOptions(OptionSlice):
    """The table options that steer an overwrite."""

    is_dynamic: bool = option_field("dynamic-partition-overwrite", "boolean", default=True)
    """``dynamic-partition-overwrite``: replace just the partitions that the data has."""


def overwrite(
    definition: TableDefinition,
    store: TableStore,
    data: Any,
    *,
    partition: Mapping[str, Any] | None,
    dynamic: bool | None,
    read_snapshot: int | None = None,
    properties: Mapping[str, str] | None = None,
    emptied: frozenset[bytes] = frozenset(),
) -> Snapshot:
    """Replace rows by others; see `Table.overwrite`.

    Parameters
    ----------
    emptied
        With ``dynamic``: partitions that are replaced also if ``data`` has no rows of them, as
        serialised BinaryRows.
    """
    if partition is not None and dynamic:
        raise ValueError("give either the partition to overwrite or dynamic=True, not both")
    values = partition_values(partition, definition) if partition else {}
    if values:
        data = _with_partition(data, values, definition.schema, definition.name)
    replaces_all = not values and (partition is not None or not _is_dynamic(definition, dynamic))
    check_overwrite(definition, replaces_all=replaces_all)
    written = write_files(definition, store, data, replaces=True)
    messages = to_overwrite_with(definition, store, written)
    if values:
        scope = OverwriteScope.partitions_with([values])
    elif replaces_all:
        scope = OverwriteScope.whole_table()
    else:
        scope = OverwriteScope.exactly(emptied | {message.partition for message in messages})

    def commit() -> Snapshot:
        reads = _read_set(definition, store.schemas, read_snapshot)
        return _commit(definition, store, messages, scope, reads, properties)

    return commit_own(definition, store, messages, commit)


def check_overwrite(definition: TableDefinition, *, replaces_all: bool) -> None:
    """Check that rows can be replaced.

    Raises
    ------
    UnsupportedError
        If some partitions are, and keys may be in others.
    """
    if definition.bucket_mode is BucketMode.KEY_DYNAMIC and not replaces_all:
        raise UnsupportedError(
            "overwriting some partitions of a table whose primary key lacks a partition column",
            "keys may be in other partitions; overwrite the whole table with dynamic=False, or "
            "delete the rows and write",
        )


def commit_overwrite(
    definition: TableDefinition,
    store: TableStore,
    written: Sequence[CommitMessage],
    *,
    partitions: frozenset[bytes] | None = None,
    properties: Mapping[str, str] | None = None,
    workers: Workers = side_by_side,
) -> Snapshot:
    """Replace rows by files that are written already; they are deleted if that fails.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    written
        What writers of new buckets wrote.
    partitions
        Those that are replaced, beside those of the files, as serialised BinaryRows; None: all of
        the table is.
    properties
        Of the snapshot.
    workers
        What compacts after it.
    """
    messages = to_overwrite_with(definition, store, written)
    scope = OverwriteScope.whole_table()
    if partitions is not None:
        scope = OverwriteScope.exactly(partitions | {message.partition for message in messages})

    def commit() -> Snapshot:
        return _commit(definition, store, messages, scope, None, properties)

    return commit_own(definition, store, messages, commit, workers)


def _read_set(
    definition: TableDefinition, schemas: SchemaManager, read_snapshot: int | None
) -> ReadSet | None:
    """Return what rows were made of; which files is unknown, so all of the table."""
    if read_snapshot is None:
        return None
    every_row = rows_of_interest(definition, schemas, None)
    return ReadSet(snapshot_id=read_snapshot, its_partitions=True, may_match=every_row)


def drop_partitions(
    definition: TableDefinition, store: TableStore, partitions: Sequence[Mapping[str, Any]]
) -> Snapshot:
    """Delete all rows of partitions; see `Table.drop_partitions`."""
    if not partitions or not all(partitions):
        raise ValueError("name at least one partition, each by a value of a partition column")
    values = [partition_values(partition, definition) for partition in partitions]
    scope = OverwriteScope.partitions_with(values)
    return landed(definition, store, [], lambda: _commit(definition, store, [], scope, None))


def _commit(
    definition: TableDefinition,
    store: TableStore,
    messages: Sequence[CommitMessage],
    scope: OverwriteScope,
    reads: ReadSet | None,
    properties: Mapping[str, str] | None = None,
) -> Snapshot:
    return committer_of(definition, store).overwrite(
        messages,
        scope=scope,
        user=new_user(definition.options),
        identifier=BATCH_COMMIT_IDENTIFIER,
        is_new_user=True,
        reads=reads,
        properties=properties,
    )


def _is_dynamic(definition: TableDefinition, dynamic: bool | None) -> bool:  # noqa: FBT001
    if not definition.schema.partition_keys:
        return False
    if dynamic is not None:
        return dynamic
    return definition.options.slice(OverwriteOptions).is_dynamic


def _with_partition(
    data: Any, values: Mapping[str, pa.Scalar], definition: TableSchema, table: str
) -> pa.RecordBatchReader:
    """Add the partition columns to rows, or check those that are there."""
    reader = batches_of(data, definition.field_names, table=table, fields=definition.fields)
    missing = [name for name in values if name not in reader.schema.names]
    fields = [*reader.schema, *(pa.field(name, values[name].type) for name in missing)]
    schema = pa.schema(fields)

    def batches() -> Iterator[pa.RecordBatch]:
        first_row = 0
        for batch in reader:
            try:
                _check_partition(batch, values, definition, first_row)
            except DataError as error:
                raise DataError(f"{table}: {error}") from error
            first_row += batch.num_rows
            added = [pa.repeat(values[name], batch.num_rows) for name in missing]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _check_partition(
    batch: pa.RecordBatch, values: Mapping[str, pa.Scalar], definition: TableSchema, first_row: int
) -> None:
    for name, value in values.items():
        if batch.schema.get_field_index(name) < 0:
            continue
        nullable = with_nullable(definition.field(name).type, nullable=True)
        column = convert(batch.column(name), nullable, name, first_row=first_row)
        same = null_filled(pc.equal(column, value), False)
        if not value.is_valid:
            same = column.is_null()
        if not pc.all(same).as_py() and batch.num_rows:
            raise DataError(
                f"the rows to overwrite partition {name} = {value} with have other "
                f"values in column {name!r}"
            )

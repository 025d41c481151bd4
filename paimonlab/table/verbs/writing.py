"""Verbs of a table that write rows: bound in `paimonlab.table.table.Table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.errors import habits
from paimonlab.spec.schema.upsert_keys import check_appends
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import changing
from paimonlab.table import writing as table_writing
from paimonlab.table.inside import writable
from paimonlab.table.opened import OpenedTable

if TYPE_CHECKING:
    from paimonlab.progress import Progress
    from paimonlab.table.changing.merge import Merge
    from paimonlab.table.reading.conditions import Where


@habits.arguments(habits.WRITE)
def write(
    table: OpenedTable,
    data: Any,
    *,
    row_kinds: str | None = None,
    properties: Mapping[str, str] | None = None,
) -> Snapshot | None:
    """Append rows, or upsert them into a primary-key table, in one commit.

    Parameters
    ----------
    data
        Anything that speaks Arrow: a table, batch or reader, a pandas or polars frame, a
        DuckDB relation; a list of dicts, a dict of lists. A reader is streamed. Missing
        nullable columns become null, with a `PartialUpsertWarning` where that takes values
        from rows of the same key. An index
        of a pandas frame is left out if it has no name, and else the column of that name.
    row_kinds
        Name of a column of ``data`` with ``+I -U +U -D`` or 0..3; it is not stored.
    properties
        Kept with the snapshot.

    Returns
    -------
    Snapshot or None
        None when ``data`` has no rows.

    Raises
    ------
    DataError
        If the rows do not fit the table. Nothing of them is visible then.
    """
    definition, store = writable(table)
    check_appends(definition.name, definition.options)
    return table_writing.writers.write(
        definition, store, data, row_kinds=row_kinds, properties=properties
    )


def write_columns(
    table: OpenedTable, data: Any, *, properties: Mapping[str, str] | None = None
) -> Snapshot | None:
    """Give rows new values in some columns, in one commit, without writing the others again.

    For tables with ``row-tracking.enabled`` and ``data-evolution.enabled``: every file with
    such rows is completed by a file of these columns.

    Parameters
    ----------
    data
        Anything that speaks Arrow: ``_ROW_ID``, as a scan gives it when asked for, and the
        columns to write. Rows that are left out keep their values.
    properties
        Kept with the snapshot.

    Returns
    -------
    Snapshot or None
        None when ``data`` has no rows.

    Raises
    ------
    DataError
        If a row is not there, or a value does not fit its column.
    FilesConflictError
        If others changed the same rows meanwhile: read them again and redo this.
    """
    return table_writing.columns.write_columns(*writable(table), data, properties=properties)


@habits.arguments(habits.OVERWRITE)
def overwrite(
    table: OpenedTable,
    data: Any,
    *,
    partition: Mapping[str, Any] | None = None,
    dynamic: bool | None = None,
    read_snapshot: int | None = None,
    properties: Mapping[str, str] | None = None,
) -> Snapshot:
    """Replace rows in one commit.

    Parameters
    ----------
    data
        As in `write`.
    partition
        Replace the partitions with these values, all or some of the partition columns;
        ``data`` may leave those columns out.
    dynamic
        True: replace just the partitions that ``data`` has rows of; False: replace the
        whole table; None: as the option ``dynamic-partition-overwrite`` says.
    read_snapshot
        The snapshot of this table that ``data`` was made of (0: it was empty); None: it was
        made of something else, and rows that others commit meanwhile are replaced as well.
    properties
        Kept with the snapshot.

    Raises
    ------
    FilesConflictError
        If others changed rows that are replaced, or the schema, since ``read_snapshot``.

    Examples
    --------
    ::

        scan = table.scan(where="amount > 0")
        table.overwrite(scan.to_arrow(), read_snapshot=scan.snapshot.id)
    """
    return table_writing.overwriting.overwrite(
        *writable(table),
        data,
        partition=partition,
        dynamic=dynamic,
        read_snapshot=read_snapshot,
        properties=properties,
    )


@habits.arguments(habits.DELETE)
def delete(
    table: OpenedTable, where: Where, *, progress: Progress | None = None
) -> Snapshot | None:
    """Delete the rows for which a condition is true, in one commit.

    Append tables with ``deletion-vectors.enabled`` mark the rows, others rewrite the files
    that have such rows. Primary-key tables get a ``-D`` row for each key. A condition on
    partition columns drops partitions, unless ``delete.force-produce-changelog`` is set.

    Parameters
    ----------
    where
        As in `scan`; a row for which it is NULL stays.
    progress
        Called with what is done, the total, and the unit: ``progress(3, 10, "files")``.

    Returns
    -------
    Snapshot or None
        None if the condition is true for no row.

    Raises
    ------
    UnsupportedError
        If the merge engine of the table knows no deletes.
    FilesConflictError
        If others changed the same files again and again.
    """
    return changing.verbs.delete(*writable(table), where, progress=progress)


def update(
    table: OpenedTable,
    assignments: Mapping[str, object],
    *,
    where: Where | None = None,
    progress: Progress | None = None,
) -> Snapshot | None:
    """Give columns of rows new values, in one commit.

    Parameters
    ----------
    assignments
        By column: SQL text in Spark's dialect over the old values (``"amount * 1.1"``, a
        text needs its quotes: ``"'new'"``), any other value as it is, ``col("other")``.
    where
        As in `scan`; None: every row.
    progress
        As in `delete`.

    Returns
    -------
    Snapshot or None
        None if the condition is true for no row.

    Raises
    ------
    SchemaError
        If a column of the primary key is given a value, or a text cannot be read.
    DataError
        If a row has no new value: a number overflows, a NOT NULL column would be null. If the
        old row would win over the new one by ``sequence.field`` or a sequence group.
    UnsupportedError
        If an expression, or the merge engine, is not supported.
    FilesConflictError
        If others changed the same files again and again.
    """
    return changing.verbs.update(*writable(table), assignments, where, progress=progress)


@habits.arguments(habits.MERGE_BEGUN)
def merge(table: OpenedTable, source: Any, on: str | Sequence[str]) -> Merge:
    """Begin a merge: update, delete and insert rows by those of a source, in one commit.

    Parameters
    ----------
    source
        What `write` takes, or a `Scan`; it is held in memory. Its columns are called
        ``s.column``, those of this table ``t.column``.
    on
        Which rows match: the columns that are equal in both, ``"id"`` or
        ``["id", "day"]``; or SQL text with at least one equality of both,
        ``"t.id = s.id AND t.day = s.day"``.

    Returns
    -------
    Merge
        Takes clauses; its ``execute()`` runs it.

    Raises
    ------
    ColumnNotFoundError
        If a list names a column that the table lacks.

    Examples
    --------
    ::

        (table.merge(changes, on="t.id = s.id")
            .when_matched_delete(where="s.op = 'd'")
            .when_matched_update()
            .when_not_matched_insert(where="s.op <> 'd'")
            .execute())
    """
    return changing.merge.merge(*writable(table), source, on)


def truncate(table: OpenedTable) -> Snapshot:
    """Delete all rows in one commit, those too that others commit until it happens."""
    return changing.verbs.truncate(*writable(table))


def drop_partitions(table: OpenedTable, partitions: Sequence[Mapping[str, Any]]) -> Snapshot:
    """Delete all rows of partitions in one commit.

    Parameters
    ----------
    partitions
        Values of all or some of the partition columns each.
    """
    return table_writing.overwriting.drop_partitions(*writable(table), partitions)

"""Verbs of a table that read: bound in `paimonlab.table.table.Table`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimonlab.errors import habits
from paimonlab.spec.options.given import OptionValue, text_options
from paimonlab.spec.options.table_options import check_supported
from paimonlab.table import following
from paimonlab.table import reading as table_reading
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.opened import OpenedTable

if TYPE_CHECKING:
    from paimonlab.progress import Progress
    from paimonlab.table.following.follow import Start, Until
    from paimonlab.table.following.follower import Follower
    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.conditions import Where
    from paimonlab.table.reading.incremental import ChangeMode, Moment
    from paimonlab.table.reading.row_history import Key, RowHistory
    from paimonlab.table.reading.scan import Scan


@habits.arguments(habits.SCAN)
def scan(
    table: OpenedTable,
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    limit: int | None = None,
    snapshot: int | None = None,
    tag: str | None = None,
    timestamp: datetime | int | str | None = None,
    watermark: int | None = None,
    version: int | str | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> Scan:
    """Prepare a read.

    Parameters
    ----------
    columns
        Names in the order wanted; None: all.
    where
        SQL text (``amount > 10 AND dt IN ('a', 'b')``, Spark's dialect) or an expression
        (``paimonlab.col("amount") > 10``); or an expression of pyarrow or polars, which means
        what it means there.
    limit
        At most this many rows, any of them.
    snapshot, tag, timestamp, watermark, version
        The point in time to read, one of them at most; see `TravelPoint`.
    options
        Table options for this read only, ``scan.…`` among them.

    Returns
    -------
    Scan
        Reads one snapshot, however often it is asked.

    Raises
    ------
    ColumnNotFoundError
        If a column does not exist.
    SnapshotNotFoundError, TagNotFoundError
        If there is no such point in time.
    SchemaError
        If one of ``options`` is unknown.
    UnsupportedError
        If an option of the table would change the rows and is not implemented.
    """
    if limit is not None and limit < 0:
        raise ValueError(f"limit must not be negative, got {limit}")
    point = table_reading.time_travel.TravelPoint(
        snapshot=snapshot, tag=tag, timestamp=timestamp, watermark=watermark, version=version
    )
    query = table_reading.query.Query(
        columns=columns, where=where, limit=limit, point=point, options=text_options(options or {})
    )
    return table_reading.query.scan_of(definition_of(table), store_of(table), query)


@habits.arguments(habits.SINCE)
@habits.written(
    "changes('yesterday'), changes(3, 5) or changes('v1', '2026-01-31 12:00'): after a snapshot, a "
    "tag or a time, up to another or to the latest",
    most=3,
    least=2,
    known=("table", "start", "end", "mode", "columns", "where"),
)
def changes(
    table: OpenedTable,
    start: Moment,
    end: Moment | None = None,
    *,
    mode: ChangeMode | None = None,
    columns: Sequence[str] | None = None,
    where: Where | None = None,
) -> Changes:
    """Prepare a read of what commits changed, each row with its kind.

    Parameters
    ----------
    start, end
        The commits after ``start`` up to and including ``end``: a snapshot id, the name of a
        tag, a time as text in the process's local zone (``today`` and ``yesterday`` are midnight,
        as in Spark's literals), or a datetime. Without ``end`` up to the latest snapshot.
    mode
        ``delta``: the rows that appends added, as they were written; ``changelog``: the
        changelog files of appends and compactions; ``diff``: how the two states differ;
        ``auto``: ``changelog`` in a table with ``changelog-producer``, else ``delta``.
        None: ``diff`` between two tags, else as ``incremental-between-scan-mode`` says.
    columns, where
        As in `scan`.

    Returns
    -------
    Changes
        The first column is ``rowkind``: ``+I``, ``-U``, ``+U`` or ``-D``.

    Raises
    ------
    SnapshotNotFoundError
        If a snapshot does not exist; `SnapshotExpiredError` if it is gone.
    ValueError
        If ``end`` comes before ``start``.
    """
    definition, store = definition_of(table), store_of(table)
    check_supported(definition.options, definition.schema, "read")
    commits = table_reading.incremental.range_between(start, end, mode, definition, store)
    query = table_reading.query.Query(columns=columns, where=where)
    return table_reading.query.changes_of(definition, store, commits, query)


def follow(
    table: OpenedTable,
    start: Start = "latest-full",
    *,
    until: Until = None,
    consumer_id: str | None = None,
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> Follower:
    """Follow the table: read its rows, then what each commit changes, and wait for more.

    Parameters
    ----------
    start
        A value of ``scan.mode``, ``latest-full`` (all rows, then changes) unless ``scan.…``
        options say otherwise; the id of a snapshot, whose changes come first; a time as text
        in the process's local zone or as an aware datetime; or the position of a follower,
        from which reading continues.
    until
        None: wait for ever; ``latest``: end when nothing is left to read; a snapshot id or
        the name of a tag: end after that snapshot; a time: end before the first later one.
    consumer_id
        Keep progress with the table under this name, whole snapshots, and go on from there
        the next time. Snapshots that were not read yet do not expire.
    columns, where
        As in `scan`; each change counts by its own values.
    options
        Table options for this follower only.

    Returns
    -------
    Follower
        An iterator of `ChangeBatch`.

    Raises
    ------
    SnapshotExpiredError
        If the start is gone; while iterating, if changes expired before they were read.
    SnapshotReplacedError
        While iterating, if the table was rolled back to before what was read.
    SchemaError
        If one of ``options`` is unknown.
    UnsupportedError
        If the rows of commits do not tell what changed, as with the merge engine ``aggregation``
        and no changelog producer.
    """
    request = following.follow.FollowRequest(
        start=start,
        until=until,
        consumer_id=consumer_id,
        columns=columns,
        where=where,
        options=text_options(options or {}),
    )
    return following.follow.follow(definition_of(table), store_of(table), request)


@habits.written(
    "lookup({'id': 5}) or lookup({'id': [5, 7]}), with all columns of the primary key",
    most=2,
    least=2,
    known=("table", "keys", "columns"),
)
def lookup(table: OpenedTable, keys: Any, *, columns: Sequence[str] | None = None) -> pa.Table:
    """Read rows by their full primary key.

    Parameters
    ----------
    keys
        The primary key columns: a dict of values or lists (``{"day": today, "id": [1, 2]}``), or
        anything that speaks Arrow.
    columns
        Names in the order wanted; None: all.

    Returns
    -------
    pyarrow.Table
        One row for each key that was found, in any order.
    """
    return table_reading.lookup.lookup(scan(table, columns), keys)


def history(
    table: OpenedTable,
    key: Key | None = None,
    *,
    last: int | None = None,
    progress: Progress | None = None,
) -> RowHistory:
    """Tell what became of one row: its values, files and levels over snapshots and tags.

    Data files are read only of snapshots whose files for the row are others.

    Parameters
    ----------
    key
        Finds the row: all columns of the primary key with a value each (``{"id": 5}``), or a
        condition on them (``"id = 5"``). In a table without a primary key any columns.
    last
        How many of the newest snapshots to read, counting those that tags keep; None: all.
    progress
        Called with the number of ``snapshots`` read and their total.

    Returns
    -------
    RowHistory
        A `RowVersion` for each snapshot that did something to the row, or has a tag; oldest
        first. Where snapshots before it were not read, or have expired, ``earliest_id`` says which
        may have done it, and a row that is there from the beginning is ``present``.

    Raises
    ------
    ArgumentError
        If the condition finds several rows.
    UnsupportedError
        If it is about columns that are not of the primary key: they change, and the row would
        seem to be deleted; or if the table has ``scan.fallback-branch``.
    ColumnNotFoundError, SchemaError
        If it is not a condition.

    Examples
    --------
    ::

        table.history({"id": 5}).to_pandas()  # snapshot_id, what, changed, files, row, …
    """
    if key is None:
        raise TypeError(
            "history is that of one row, as in table.history({'id': 5}); the commits of a table "
            "are list(table.snapshots)"
        )
    return table_reading.row_history.row_history(
        definition_of(table), store_of(table), key, last=last, progress=progress
    )

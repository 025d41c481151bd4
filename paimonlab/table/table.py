"""The user's object: one table, opened at one schema.

A verb loads what it takes when it is called first: opening a table to read it loads no writer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pyarrow as pa

from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.branches import Branches, BranchOptions
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.time_travel import TravelPoint
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    from paimonlab.commit.callbacks import CommitCallback
    from paimonlab.commit.scope import OverwriteScope
    from paimonlab.maintenance.fsck.report import FsckReport
    from paimonlab.progress import Progress
    from paimonlab.spec.commit_message import CommitMessage
    from paimonlab.spec.statistics.table import Statistics
    from paimonlab.table.compacting.result import CompactResult
    from paimonlab.table.following.follow import Start, Until
    from paimonlab.table.following.follower import Follower
    from paimonlab.table.maintenance import Maintenance
    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.incremental import ChangeMode, Moment
    from paimonlab.table.reading.scan import Scan
    from paimonlab.table.upkeep.consumers import Consumers
    from paimonlab.table.upkeep.tags import Tags
    from paimonlab.table.writing.writers import Writer


class Table:
    """A table of a catalog: `Catalog.table` opens it.

    The object keeps the schema it was opened with; open the table again to see a change.
    Snapshots are always looked up anew.
    """

    _accessors: ClassVar[dict[str, Callable[[Table], Any]]] = {}

    def __init__(
        self, identifier: Identifier, definition: TableDefinition, store: TableStore
    ) -> None:
        self._identifier = identifier
        self._definition = definition
        self._store = store

    def __repr__(self) -> str:
        return f"<paimonlab.Table {self.name}>"

    def __getattr__(self, name: str) -> Any:
        if name in Table._accessors:
            return Table._accessors[name](self)
        raise AttributeError(f"a table has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *Table._accessors]

    @classmethod
    def register_accessor(cls, name: str, accessor: Callable[[Table], Any]) -> None:
        """Let upper layers offer ``table.<name>``: ``accessor`` is called with the table."""
        cls._accessors[name] = accessor

    @property
    def name(self) -> str:
        """The name, ``database.table``."""
        return str(self._identifier)

    @property
    def identifier(self) -> Identifier:
        """The parts of the name."""
        return self._identifier

    @property
    def path(self) -> str:
        """The table's folder."""
        return self._store.layout.table_path

    @property
    def schema(self) -> TableSchema:
        """The schema the table was opened with."""
        return self._definition.schema

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.schema.arrow_schema

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """Columns of the primary key; () in an append table."""
        return self.schema.primary_keys

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Columns that choose the partition; () if there are no partitions."""
        return self.schema.partition_keys

    @property
    def options(self) -> Mapping[str, str]:
        """The options that were set, by Paimon's keys."""
        return self.schema.options

    @property
    def comment(self) -> str | None:
        """The table's comment."""
        return self.schema.comment

    @property
    def snapshot(self) -> Snapshot | None:
        """The latest snapshot; None when nothing was committed yet."""
        return self._store.snapshots.latest()

    @property
    def snapshots(self) -> SnapshotManager:
        """All snapshots: ``.list()``, ``.get(id)``, ``.latest()``."""
        return self._store.snapshots

    @property
    def schemas(self) -> SchemaManager:
        """All schemas: ``.list()``, ``.get(id)``, ``.latest()``."""
        return self._store.schemas

    @property
    def tags(self) -> Tags:
        """Named snapshots: ``.list()``, ``.get(name)``, ``.create(name)``, ``.delete(name)``."""
        from paimonlab.table.upkeep.tags import Tags

        return Tags(self._definition, self._store)

    @property
    def branches(self) -> Branches:
        """Branches: ``.list()``, ``.create(name)``, ``.fast_forward(name)``."""
        definition, store = self._definition, self._store
        options = definition.options.slice(BranchOptions)
        return Branches(store.branches, store.snapshots, store.tags, options)

    @property
    def consumers(self) -> Consumers:
        """Readers that tell where they are: ``.list()``, ``.get(name)``, ``.reset(name, id)``."""
        from paimonlab.table.upkeep.consumers import Consumers

        return Consumers(self._store.consumers)

    @property
    def changelogs(self) -> ChangelogManager:
        """Copies of snapshots that outlive them for their changes: ``.list()``, ``.get(id)``."""
        return self._store.changelogs

    @property
    def statistics(self) -> Statistics | None:
        """What the last ANALYZE found; None: nothing that still holds for the latest snapshot."""
        from paimonlab.metadata.statistics import StatisticsStore

        found = self.snapshot
        if found is None or found.statistics is None:
            return None
        store = StatisticsStore(self._store.file_io, self._store.layout)
        return store.read(found.statistics, referrer=found.file_name)

    @property
    def maintenance(self) -> Maintenance:
        """Keeping the table in order: ``.rollback_to(snapshot=…)``, ``.analyze()``."""
        from paimonlab.table.maintenance import Maintenance

        return Maintenance(self._definition, self._store)

    def on_branch(self, name: str) -> Table:
        """Open another branch of the table; ``main`` is the one without a name.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        definition, store = self._store.on_branch(name)
        return Table(replace(self._identifier, branch=store.layout.branch), definition, store)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        *,
        limit: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: datetime | int | str | None = None,
        watermark: int | None = None,
        version: int | str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Scan:
        """Prepare a read.

        Parameters
        ----------
        columns
            Names in the order wanted; None: all.
        where
            SQL text (``amount > 10 AND dt IN ('a', 'b')``, Spark's dialect) or an expression
            (``paimonlab.col("amount") > 10``).
        limit
            At most so many rows, any of them.
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
            If a column is not there.
        SnapshotNotFoundError, TagNotFoundError
            If there is no such point in time.
        SchemaError
            If one of ``options`` is unknown.
        UnsupportedError
            If an option of the table would change the rows and is not implemented.
        """
        from paimonlab.table.reading.query import Query, scan_of

        if limit is not None and limit < 0:
            raise ValueError(f"limit must not be negative, got {limit}")
        point = TravelPoint(
            snapshot=snapshot, tag=tag, timestamp=timestamp, watermark=watermark, version=version
        )
        query = Query(
            columns=columns, where=where, limit=limit, point=point, options=dict(options or {})
        )
        return scan_of(self._definition, self._store, query)

    def changes(
        self,
        start: Moment,
        end: Moment,
        *,
        mode: ChangeMode | None = None,
        columns: Sequence[str] | None = None,
        where: str | Predicate | None = None,
    ) -> Changes:
        """Prepare a read of what commits changed, each row with its kind.

        Parameters
        ----------
        start, end
            The commits behind ``start`` up to and with ``end``: a snapshot id, the name of a
            tag, a time as text in the process's local zone, or an aware datetime.
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
            If a snapshot is not there; `SnapshotExpiredError` if it is gone.
        ValueError
            If ``end`` comes before ``start``.
        """
        from paimonlab.table.reading.incremental import range_between
        from paimonlab.table.reading.query import Query, changes_of

        definition, store = self._definition, self._store
        check_supported(definition.options, definition.schema, "read")
        query = Query(columns=columns, where=where)
        return changes_of(
            definition, store, range_between(start, end, mode, definition, store), query
        )

    def follow(
        self,
        start: Start = "latest-full",
        *,
        until: Until = None,
        consumer_id: str | None = None,
        columns: Sequence[str] | None = None,
        where: str | Predicate | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Follower:
        """Follow the table: read its rows, then what each commit changes, and wait for more.

        Parameters
        ----------
        start
            A value of ``scan.mode``, ``latest-full`` (all rows, then changes) unless ``scan.…``
            options say otherwise; the id of a snapshot, whose changes come first; a time as text
            in the process's local zone or as an aware datetime; or the position of a follower,
            which goes on behind it.
        until
            None: wait for ever; ``latest``: end when nothing is left to read; a snapshot id or
            the name of a tag: end behind that snapshot; a time: end before the first later one.
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
            While iterating, if the table was rolled back behind what was read.
        SchemaError
            If one of ``options`` is unknown.
        UnsupportedError
            If what commits add is not what changes, as with the merge engine ``aggregation``
            and no changelog producer.
        """
        from paimonlab.table.following.follow import FollowRequest, follow

        request = FollowRequest(
            start=start,
            until=until,
            consumer_id=consumer_id,
            columns=columns,
            where=where,
            options=dict(options or {}),
        )
        return follow(self._definition, self._store, request)

    def lookup(self, keys: Any, *, columns: Sequence[str] | None = None) -> pa.Table:
        """Read rows by their full primary key.

        Parameters
        ----------
        keys
            The primary key columns: a dict of lists, or anything that speaks Arrow.
        columns
            Names in the order wanted; None: all.

        Returns
        -------
        pyarrow.Table
            One row a key that is there, in any order.
        """
        from paimonlab.table.reading.lookup import lookup

        return lookup(self.scan(columns), keys)

    def write(
        self,
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
            DuckDB relation. A reader is streamed. Missing nullable columns become null. An index
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
        from paimonlab.table.writing import writers as writing

        return writing.write(*self._writable(), data, row_kinds=row_kinds, properties=properties)

    def write_columns(
        self, data: Any, *, properties: Mapping[str, str] | None = None
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
        from paimonlab.table.writing import columns as column_files

        return column_files.write_columns(*self._writable(), data, properties=properties)

    def overwrite(
        self,
        data: Any,
        *,
        partition: Mapping[str, Any] | None = None,
        dynamic: bool | None = None,
        read_snapshot: int | None = None,
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
            made of something else, and rows that others commit meanwhile are replaced, too.

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
        from paimonlab.table.writing import overwriting

        return overwriting.overwrite(
            *self._writable(),
            data,
            partition=partition,
            dynamic=dynamic,
            read_snapshot=read_snapshot,
        )

    def delete(
        self, where: str | Predicate, *, progress: Progress | None = None
    ) -> Snapshot | None:
        """Delete the rows for which a condition is true, in one commit.

        Append tables with ``deletion-vectors.enabled`` mark the rows, others rewrite the files
        that have such rows; a condition on partition columns drops partitions. Primary-key
        tables get a ``-D`` row for each key.

        Parameters
        ----------
        where
            As in `scan`; a row for which it is unknown stays.
        progress
            Is called with what is done, of how much, and the unit: ``progress(3, 10, "files")``.

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
        from paimonlab.table.changing import verbs

        return verbs.delete(*self._writable(), where, progress=progress)

    def update(
        self,
        assignments: Mapping[str, object],
        *,
        where: str | Predicate | None = None,
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
            If a row has no new value: a number overflows, a NOT NULL column would be null.
        UnsupportedError
            If an expression, or the merge engine, is not supported.
        FilesConflictError
            If others changed the same files again and again.
        """
        from paimonlab.table.changing import verbs

        return verbs.update(*self._writable(), assignments, where, progress=progress)

    def truncate(self) -> Snapshot:
        """Delete all rows in one commit, those too that others commit until it happens."""
        from paimonlab.table.changing import verbs

        return verbs.truncate(*self._writable())

    def drop_partitions(self, partitions: Sequence[Mapping[str, Any]]) -> Snapshot:
        """Delete all rows of partitions in one commit.

        Parameters
        ----------
        partitions
            Values of all or some of the partition columns each.
        """
        from paimonlab.table.writing import overwriting

        return overwriting.drop_partitions(*self._writable(), partitions)

    def compact(
        self,
        *,
        full: bool = False,
        partitions: Sequence[Mapping[str, Any]] | None = None,
        buckets: Sequence[int] | None = None,
        where: str | Predicate | None = None,
        idle_for: timedelta | None = None,
        order_by: Sequence[str] | None = None,
        strategy: Literal["order", "zorder", "hilbert"] | None = None,
        progress: Progress | None = None,
        dry_run: bool = False,
    ) -> CompactResult:
        """Rewrite files so that reads are cheaper, in one commit; what a reader sees stays.

        In a primary-key table the sorted runs of buckets are merged. In an append table small
        files are put together, and files with many deleted rows are written without them. In a
        table with ``bucket`` = -2 rows that wait get their buckets, where readers see them;
        ``full`` is about the buckets that they come to.

        Parameters
        ----------
        full
            True: everything goes to the highest level, deletes vanish; in an append table small
            files do not wait for more of them. False: only what the table's options ask for, as
            a writer would; buckets with few runs are left alone.
        partitions
            Values of all or some of the partition columns each; None: all partitions.
        buckets
            Numbers of buckets; None: all.
        where
            A condition on partition columns.
        idle_for
            Only partitions that got no file for so long; None: all.
        order_by
            For append tables without buckets: columns to put all rows of each partition in
            order by, so that filters on them skip files; a ``clustering.columns`` of the table
            does so with ``clustering.incremental``, some files at a time.
        strategy
            How several columns make an order: ``order``: one after the other; ``zorder`` and
            ``hilbert``: along a curve, so that a filter on any of them skips files. None: the
            first for one column, z-order for up to four.
        progress
            Is called with what is done, of how much, and the unit: ``progress(3, 8, "buckets")``;
            in an append table, and where rows wait for buckets, the unit is files.
        dry_run
            Only tell what would be compacted.

        Returns
        -------
        CompactResult
            Files and bytes of every bucket that had something to compact, before and after.

        Raises
        ------
        UnsupportedError
            If compacting the table takes what is not built.
        FilesConflictError
            If others replaced files of the same buckets again and again.
        """
        from paimonlab.table.compacting.verb import CompactCall, compact_table

        call = CompactCall(
            full=full,
            partitions=partitions,
            buckets=buckets,
            where=where,
            idle_for=idle_for,
            order_by=order_by,
            strategy=strategy,
            progress=progress,
            dry_run=dry_run,
        )
        return compact_table(*self._writable(), call)

    def new_writer(self, user: str | None = None) -> Writer:
        """Begin to write many batches, for one or many commits; see `Writer`."""
        from paimonlab.table.writing.writers import Writer

        return Writer(*self._writable(), user or new_user(self._definition.options))

    def commit(
        self,
        messages: Sequence[CommitMessage],
        *,
        identifier: int = BATCH_COMMIT_IDENTIFIER,
        user: str | None = None,
        watermark: int | None = None,
        properties: Mapping[str, str] | None = None,
        overwrite: OverwriteScope | None = None,
        statistics: Statistics | None = None,
        callbacks: Sequence[CommitCallback] = (),
    ) -> Snapshot | None:
        """Make what writers wrote visible, all of it or nothing.

        Parameters
        ----------
        messages
            Of `Writer.prepare_commit`, of any number of writers in any processes.
        identifier, user
            The same pair is committed at most once: committing it again returns the snapshot
            it became. Identifiers of a user rise.
        watermark
            Event time, epoch milliseconds.
        properties
            Kept with the snapshot.
        overwrite
            Partitions whose files are replaced; None: none are.
        statistics
            Of the table, committed by themselves: ``messages`` must be empty.
        callbacks
            Called after the commit, and if it happened before; see `CommitCallback`.

        Returns
        -------
        Snapshot or None
            The last one of those it became: what was compacted comes after what was written.
            None when there is nothing to commit.

        Raises
        ------
        CommitError
            If the commit did not happen; `FilesConflictError` if it can never succeed.
        PostCommitError
            If the commit happened, but not all that should follow.
        """
        from paimonlab.table.compacting.after_write import (
            compact_appended,
            compacts_appended,
            landed,
        )
        from paimonlab.table.upkeep.after_commit import committer_of

        committer = committer_of(*self._writable()).with_callbacks(callbacks)
        given_user = user or new_user(self._definition.options)
        if statistics is not None:
            if messages or overwrite or properties or watermark is not None:
                raise ValueError("statistics are committed by themselves")
            return committer.analyze(
                statistics, user=given_user, identifier=identifier, is_new_user=user is None
            )
        request: dict[str, Any] = {
            "user": given_user,
            "identifier": identifier,
            "watermark": watermark,
            "properties": dict(properties) if properties else None,
            "is_new_user": user is None,
        }
        seen = self._store.snapshots.latest() if compacts_appended(self._definition) else None

        def commit() -> Snapshot | None:
            if overwrite is not None:
                return committer.overwrite(messages, scope=overwrite, **request)
            return committer.append(messages, **request)

        written = landed(self._definition, self._store, messages, commit)
        is_old = written is not None and seen is not None and written.id <= seen.id
        # The identifiers of a user rise: nothing may come after an old commit in its name.
        return (
            written
            if is_old
            else compact_appended(self._definition, self._store, messages, written)
        )

    def with_commit_callbacks(self, *callbacks: CommitCallback) -> Table:
        """Return this table, calling these after every commit through it.

        Parameters
        ----------
        *callbacks
            See `paimonlab.commit.callbacks.CommitCallback`.
        """
        store = self._store.with_callbacks(callbacks)
        return Table(self._identifier, self._definition, store)

    def mark_partitions_done(self, partitions: Sequence[Mapping[str, Any]]) -> list[str]:
        """Tell readers of other systems that partitions are complete.

        Parameters
        ----------
        partitions
            The values of all partition columns each.

        Returns
        -------
        list of str
            The marked folders relative to the table: ``dt=2026-01-01/``.

        Raises
        ------
        UnsupportedError
            If ``partition.mark-done-action`` is anything but ``success-file``, which leaves a
            file ``_SUCCESS`` in the folder of the partition.
        """
        from paimonlab.table.writing.mark_done import mark_partitions_done

        return mark_partitions_done(*self._writable(), partitions)

    def compact_manifests(self) -> Snapshot | None:
        """Rewrite small manifests, and those with deletions, so that plans read few files.

        Returns
        -------
        Snapshot or None
            One of kind COMPACT with the same rows; None if there is nothing to rewrite.
        """
        from paimonlab.table.upkeep.after_commit import committer_of

        user = new_user(self._definition.options)
        return committer_of(*self._writable()).compact_manifests(user=user)

    def fsck(self, *, deep: bool = False, progress: Progress | None = None) -> FsckReport:
        """Check every file of the table, of all its branches; change none.

        Parameters
        ----------
        deep
            Whether to read all rows, too, and compare them with what metadata says of them.
        progress
            Called with how much is done, how much there is, and of what.

        Returns
        -------
        FsckReport
            What was found: severity, file, who refers to it, what is wrong, what to do.

        Examples
        --------
        ::

            report = table.fsck(deep=True)
            if not report.is_clean:
                print(report)
        """
        from paimonlab.maintenance.fsck.check import fsck

        store = self._store
        return fsck(self.name, store.file_io, store.layout, deep=deep, progress=progress)

    def sequence_numbers(self) -> pa.Table:
        """Highest sequence number of every bucket, which writers go on from.

        Returns
        -------
        pyarrow.Table
            Columns ``partition`` (serialised BinaryRow), ``bucket``, ``total_buckets``,
            ``max_sequence_number``; one row a bucket with live files.
        """
        from paimonlab.table.writing import writers as writing

        return writing.sequence_numbers(self._store.sequence_memory, self.snapshot)

    def _writable(self) -> tuple[TableDefinition, TableStore]:
        check_supported(self._definition.options, self._definition.schema, "write")
        return self._definition, self._store

"""Cloning tables into another catalog, with a memory of what was done.

Each table is replaced by one commit, which carries the name of the state of the source that it
has. A clone that was killed is called again: tables whose last commit of rows has that name are
done. At the end the rows of both are compared.

Source: apache/paimon@1.4.2 ``org.apache.paimon.flink.action.CloneAction``,
``ClonePaimonTableUtils``, ``ClonePaimonSchemaFunction``: which tables, and what is replaced. Java
gives tables with a primary key postponed buckets; here they keep theirs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from paimonlab.catalog.copying import (
    CopyingCatalog,
    check_condition,
    check_fits,
    definition_like,
    is_same,
    opened,
    rows_to,
)
from paimonlab.catalog.names import parse
from paimonlab.errors import (
    CorruptDataError,
    SnapshotNotFoundError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.progress import Progress
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.options.given import OptionValue, text_options
from paimonlab.spec.row_digest import RowDigest
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.verb import compact_table
from paimonlab.table.inside import store_of, writable
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table
from paimonlab.table.writing.by_workers import digest_of_scan, writes_where_it_reads
from paimonlab.table.writing.overwriting import check_overwrite, commit_overwrite, overwrite
from paimonlab.workers import Workers, side_by_side

STATE = "cloned.state"
"""Property of a snapshot: which rows of which table it has."""
_SOURCE, _SNAPSHOT = "cloned.table", "cloned.snapshot"
_WITHOUT_ROWS = (CommitKind.COMPACT, CommitKind.ANALYZE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClone:
    """What became, or with ``dry_run`` would become, of one table."""

    source: str
    target: str
    creates_target: bool
    """Whether there was no such table."""
    is_done: bool = False
    """Whether the target has these rows already, by an earlier call."""
    is_left: bool = False
    """Whether the target has rows and ``clone_if_exists`` is false."""
    rows: int | None = None
    """How many there are; None: they were not read."""
    source_snapshot: int | None = None
    """Which of the source; None: it is empty."""
    snapshot: Snapshot | None = None
    """What the target has them by; None: nothing was committed."""
    is_compared: bool = False
    """Whether both have the same rows."""
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneRequest:
    """What is asked for, by the names of `paimonlab.catalog.clones.clone_to`."""

    database: str | None = None
    table: str | None = None
    target_database: str | None = None
    target_table: str | None = None
    included_tables: Sequence[str] | None = None
    excluded_tables: Sequence[str] = ()
    where: str | None = None
    snapshot: int | None = None
    tag: str | None = None
    target_options: Mapping[str, OptionValue] | None = None
    prefer_file_format: str | None = None
    meta_only: bool = False
    clone_if_exists: bool = True
    verify: bool = True
    dry_run: bool = False
    progress: Progress | None = None
    workers: Workers = side_by_side
    """What reads and writes rows, and compares them."""


def clone(
    catalog: CopyingCatalog, other: CopyingCatalog, request: CloneRequest
) -> list[TableClone]:
    """Clone tables; see `paimonlab.catalog.clones.clone_to`."""
    named = _names(catalog, request)
    if (request.snapshot is not None or request.tag is not None) and request.table is None:
        raise ValueError("snapshot and tag are for one table: name it")
    work = _Work(other, request)
    planned = [work.planned(opened(catalog, source), target) for source, target in named]
    if request.dry_run:
        counts = not request.meta_only
        return [
            replace(one.clone, is_dry_run=True, rows=one.scan.count() if counts else None)
            for one in planned
        ]
    return [
        work.done(one, _told(request.progress, one.clone.source, number, len(planned)))
        for number, one in enumerate(planned, 1)
    ]


def _names(catalog: CopyingCatalog, request: CloneRequest) -> list[tuple[str, str]]:
    """Return sources and targets."""
    database, table = request.database, request.table
    included, excluded = request.included_tables, request.excluded_tables
    for what, given in (("included_tables", included), ("excluded_tables", excluded)):
        if isinstance(given, str):
            raise TypeError(f"{what} is a list of names: [{given!r}]")
    if database is None and (table or request.target_database or request.target_table):
        raise ValueError("give the database: table, target_database and target_table go with it")
    if table is None and request.target_table is not None:
        raise ValueError("target_table is for one table: name it")
    if table is not None:
        if included is not None or excluded:
            raise ValueError("included_tables and excluded_tables are for more than one table")
        target = f"{request.target_database or database}.{request.target_table or table}"
        return [(f"{database}.{table}", target)]
    databases = catalog.databases() if database is None else [database]
    known = [f"{one}.{name}" for one in databases for name in catalog.tables(one)]
    for name in (*(included or ()), *excluded):
        if name not in known:
            raise TableNotFoundError(name, known)
    chosen = [
        name for name in known if name not in excluded and (included is None or name in included)
    ]
    into = request.target_database
    return [(name, name if into is None else f"{into}.{name.partition('.')[2]}") for name in chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """One table that is looked at."""

    clone: TableClone
    scan: Scan
    state: str
    """Names the rows that the scan reads."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What is done with each table."""

    other: CopyingCatalog
    request: CloneRequest

    def planned(self, read: Table, target: str) -> _Planned:
        named = parse(target)
        if named.branch is not None or named.system_table is not None:
            raise UnsupportedError(f"cloning into {target}", "name a table")
        check_condition(read, self.request.where)
        scan = read.scan(
            where=self.request.where, snapshot=self.request.snapshot, tag=self.request.tag
        )
        state = _state(read, scan.snapshot, self.request.where)
        is_new = not self.other.has_table(target)
        is_done = is_left = False
        if not is_new:
            present = opened(self.other, target)
            if is_same(present, read):
                raise UnsupportedError(f"cloning {read.name} into {target}", "it is the same table")
            check_fits(read.name, scan.schema, present)
            is_done = _last_state(present) == state
            is_left = (
                not self.request.clone_if_exists and not is_done and present.snapshot is not None
            )
        clone = TableClone(
            source=read.name,
            target=target,
            creates_target=is_new,
            is_done=is_done,
            is_left=is_left,
            source_snapshot=None if scan.snapshot is None else scan.snapshot.id,
        )
        return _Planned(clone=clone, scan=scan, state=state)

    def done(self, planned: _Planned, progress: Progress | None) -> TableClone:
        clone, scan = planned.clone, planned.scan
        if clone.is_left:
            return clone
        if clone.creates_target:
            self.other.create_database(parse(clone.target).database, exist_ok=True)
            self.other.create_table(clone.target, self._definition(scan))
        if self.request.meta_only:
            return clone
        target = opened(self.other, clone.target)
        if clone.is_done:
            if not self.request.verify:
                return replace(clone, snapshot=target.snapshot)
            rows = self._read(scan, clone.source, progress)
            if rows == self._rows_of(target, target.snapshot, scan):
                return replace(clone, rows=rows.rows, snapshot=target.snapshot, is_compared=True)
        if self._are_workers(scan):
            rows, committed = self._filled_by_workers(target, planned, progress)
        else:
            rows = _nothing(scan)
            committed = self._filled(target, planned, rows, progress)
        if self.request.verify:
            there = self._rows_of(target, committed, scan)
            if there != rows:
                raise CorruptDataError(
                    store_of(target).layout.table_path,
                    f"{clone.target} has {there.rows:,} rows that are not the {rows.rows:,} of "
                    f"{clone.source}",
                )
        return replace(
            clone,
            is_done=False,
            rows=rows.rows,
            snapshot=committed,
            is_compared=self.request.verify,
        )

    def _definition(self, scan: Scan) -> Schema:
        like = definition_like(scan.schema)
        options = {**like.options, **text_options(self.request.target_options or {})}
        if self.request.prefer_file_format is not None:
            options["file.format"] = self.request.prefer_file_format
        return replace(like, options=options)

    def _filled(
        self, target: Table, planned: _Planned, seen: RowDigest, progress: Progress | None
    ) -> Snapshot | None:
        """Give the target the rows, in one commit; None: there are none, and never were."""
        scan = planned.scan
        if target.snapshot is None and not scan.plan().splits:
            return None
        is_partial = self.request.where is not None
        rows = scan.to_batches(progress=progress)

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in rows:
                seen.add(batch)
                yield batch

        committed = overwrite(
            *writable(target),
            pa.RecordBatchReader.from_batches(rows.schema, counted()),
            partition=None,
            dynamic=is_partial,
            emptied=self._matching(target) if is_partial else frozenset(),
            properties=_properties(planned),
        )
        return with_buckets(target, committed, self.request.workers)

    def _filled_by_workers(
        self, target: Table, planned: _Planned, progress: Progress | None
    ) -> tuple[RowDigest, Snapshot | None]:
        """Do what `_filled` does, with rows that are never here; return which rows there are."""
        scan, source = planned.scan, planned.clone.source
        if target.snapshot is None and not scan.plan().splits:
            return _nothing(scan), None
        definition, store = writable(target)
        is_partial = self.request.where is not None
        check_overwrite(definition, replaces_all=not is_partial)
        emptied = self._matching(target) if is_partial else None
        workers = self.request.workers
        written = rows_to(target, scan, f"cloning {source}", progress, workers)
        committed = commit_overwrite(
            definition,
            store,
            written.messages,
            partitions=emptied,
            properties=_properties(planned),
            workers=workers,
        )
        rows = written.rows
        if self.request.verify and not writes_where_it_reads(definition):
            rows = self._read(scan, source, None)  # rows came from there by way of others
        return rows, with_buckets(target, committed, self.request.workers)

    def _are_workers(self, scan: Scan) -> bool:
        """Whether workers read; splits of two branches are not read alike, and so not by them."""
        return self.request.workers.divides and scan.fallback is None

    def _read(self, scan: Scan, table: str, progress: Progress | None) -> RowDigest:
        if self._are_workers(scan):
            what = f"comparing {table}"
            return digest_of_scan(scan, workers=self.request.workers, what=what)
        seen = _nothing(scan)
        for batch in scan.to_batches(progress=progress):
            seen.add(batch)
        return seen

    def _matching(self, target: Table) -> frozenset[bytes]:
        """Return the partitions of the target for which the condition is true."""
        files = target.scan(where=self.request.where).plan_here().files
        return frozenset(files["partition"].unique().to_pylist())

    def _rows_of(self, target: Table, at: Snapshot | None, source: Scan) -> RowDigest:
        """Read what the target has of the rows of its source."""
        if at is None:
            return _nothing(source)
        there = target.scan(list(source.columns), where=self.request.where, snapshot=at.id)
        return self._read(there, target.name, None)


def _nothing(scan: Scan) -> RowDigest:
    return RowDigest([scan.schema.field(name).type for name in scan.columns])


def _properties(planned: _Planned) -> dict[str, str]:
    return {
        STATE: planned.state,
        _SOURCE: planned.clone.source,
        _SNAPSHOT: str(planned.clone.source_snapshot),
    }


def _state(table: Table, snapshot: Snapshot | None, where: str | None) -> str:
    """Return a name for the rows that a table has at a snapshot."""
    at = (
        None
        if snapshot is None
        else [
            *(snapshot.id, snapshot.commit_user, snapshot.commit_identifier),
            *(snapshot.time_millis, snapshot.schema_id),
        ]
    )
    told = json.dumps([store_of(table).layout.table_path, table.schema.id, at, where])
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def with_buckets(target: Table, committed: Snapshot, workers: Workers) -> Snapshot:
    """Give rows that wait for their buckets these: until then nobody sees them."""
    definition, store = writable(target)
    if definition.bucket_mode is not BucketMode.POSTPONE_MODE:
        return committed
    return compact_table(definition, store, CompactRequest(workers=workers)).snapshot or committed


def last_commit_of_rows(table: Table) -> Snapshot | None:
    """Return the last snapshot that may have changed rows; None: there is none any more."""
    snapshot = table.snapshot
    while snapshot is not None and snapshot.commit_kind in _WITHOUT_ROWS:
        try:
            snapshot = table.snapshots.get(snapshot.id - 1)
        except SnapshotNotFoundError:
            return None
    return snapshot


def _last_state(table: Table) -> str | None:
    """Return which rows a table was given by its last commit of rows; None: others wrote it."""
    snapshot = last_commit_of_rows(table)
    return None if snapshot is None else (snapshot.properties or {}).get(STATE)


def _told(progress: Progress | None, table: str, number: int, total: int) -> Progress | None:
    """Let progress name the table."""
    if progress is None:
        return None

    def told(done: int, of: int, unit: str) -> None:
        progress(done, of, f"{unit} of {table}, table {number} of {total}")

    return told

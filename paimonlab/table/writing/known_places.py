"""Where the keys of a table are that may move from one partition to another.

What is kept on the local disk of an older snapshot is brought up to date by what commits since
wrote; where that cannot be done, the keys of all rows are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.compact.record_expiry import RecordExpiryOptions
from paimonlab.errors import CorruptMetadataError, SnapshotNotFoundError
from paimonlab.read.changed_rows import ROW_KIND, read_change_split
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.streaming import in_threads
from paimonlab.scan.change_splits import ChangeRequest, ChangeSplit, Fate
from paimonlab.scan.changed_files import ChangeKind, commit_changes
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.split import DataSplit
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.row_kind import SYMBOLS, RowKind
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import lookup_store_plan, read_plan
from paimonlab.table.store import TableStore
from paimonlab.table.writing.key_index import all_splits, keys_of_split
from paimonlab.write.key_places.kept import KeptPlaces
from paimonlab.write.key_places.layers import placed
from paimonlab.write.key_places.places import (
    KnownKeys,
    KnownPlaces,
    collected,
    moved,
)
from paimonlab.write.write_plan import WritePlan

_LEAST_ROWS = 20_000
"""The keys of fewer rows are read as fast as they are kept."""
_MOST_SNAPSHOTS = 1_000
_TURN_BYTES_SHARE = 8
"""Rows of commits that are taken note of together have this share of the memory there is."""
_ADDS = arrow_array([SYMBOLS[kind] for kind in (RowKind.INSERT, RowKind.UPDATE_AFTER)], pa.string())


class KnownPlacesOptions(OptionSlice):
    """The table options that steer how keys are found across partitions."""

    threads: int = option_field("cross-partition-upsert.bootstrap-parallelism", "int", 10)
    """``cross-partition-upsert.bootstrap-parallelism``: how many buckets are read at once, at
    most one per CPU, where the keys of all rows are read."""


def nothing_known(definition: TableDefinition, store: TableStore, plan: WritePlan) -> KnownPlaces:
    """Return what is known of a table without rows."""
    return KeptPlaces.of(plan, lookup_store_plan(definition, store)).nothing()


def known_places(
    definition: TableDefinition, store: TableStore, plan: WritePlan, snapshot: Snapshot
) -> KnownPlaces:
    """Find out where the keys of a snapshot are.

    Raises
    ------
    DataError
        If a key is in several partitions.
    """
    kept = KeptPlaces.of(plan, lookup_store_plan(definition, store))
    is_large = (snapshot.total_record_count or 0) >= _LEAST_ROWS
    is_kept = is_large and _may_be_kept(definition)
    if is_kept:
        found = _Follower(definition, store, kept, snapshot).found()
        if found is not None:
            return found
    found = collected(
        _keys_of_all(definition, store, snapshot),
        kept.columns,
        table=plan.table_name,
        most_bytes=kept.most_bytes,
        keep=kept.keep,
    )
    if is_kept:
        kept.save(snapshot, found)
    return found


def _may_be_kept(definition: TableDefinition) -> bool:
    """Whether commits tell what becomes of keys, and keys are the same for every process."""
    if definition.options.slice(RecordExpiryOptions).expire_time_millis is not None:
        return False  # compaction drops rows
    types = (definition.schema.field(name).type for name in definition.primary_keys)
    return not any(
        isinstance(one, AtomicType) and one.root is TypeRoot.TIMESTAMP_LTZ for one in types
    )  # what ORC files of Java have depends on the time zone of the process


def _keys_of_all(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot
) -> Iterator[KnownKeys]:
    """Read the primary keys of all rows, in bounded pieces."""
    schema = definition.schema
    reading = read_plan(definition, store, schema, schema.primary_keys, None, snapshot=snapshot)
    sources = [
        partial(keys_of_split, split, reading, store.file_io)
        for split in all_splits(definition, store, snapshot)
    ]
    wanted = definition.options.slice(KnownPlacesOptions).threads
    threads = max(min(wanted, os.cpu_count() or 1), 1)
    yield from in_threads(sources, threads=threads, size_of=lambda known: known.keys.nbytes)


@dataclass(frozen=True, slots=True)
class _Follower:
    """Brings what is kept up to a snapshot."""

    definition: TableDefinition
    store: TableStore
    kept: KeptPlaces
    snapshot: Snapshot

    def found(self) -> KnownPlaces | None:
        """Return the places of all keys; None: what is kept does not tell."""
        loaded = self.kept.load()
        if loaded is None:
            return None
        before, known = loaded
        if before == self.snapshot:
            return known
        try:
            commits = self._commits_since(before)
            if commits is None or not self._follow(known, commits):
                return None
        except SnapshotNotFoundError:  # expired, and its files with it
            return None
        self.kept.save(self.snapshot, known)
        return known

    def _commits_since(self, before: Snapshot) -> list[Snapshot] | None:
        """Return the commits that added rows; None: there were others, or another table."""
        snapshots = self.store.snapshots
        if not 0 <= self.snapshot.id - before.id <= _MOST_SNAPSHOTS:
            return None
        if snapshots.get(before.id) != before:  # the table was rolled back
            return None
        commits = [snapshots.get(number) for number in range(before.id + 1, self.snapshot.id + 1)]
        if any(commit.commit_kind is CommitKind.OVERWRITE for commit in commits):
            return None
        return [commit for commit in commits if commit.commit_kind is CommitKind.APPEND]

    def _follow(self, known: KnownPlaces, commits: Sequence[Snapshot]) -> bool:
        """Take note of commits; say whether they told what became of all keys."""
        definition, store = self.definition, self.store
        schema = definition.schema
        reading = read_plan(
            definition, store, schema, schema.primary_keys, None, snapshot=self.snapshot
        )
        request = ChangeRequest(schema=schema, options=definition.options.slice(ScanOptions))
        turn = _Turn(known, definition.name, self.kept.most_bytes // _TURN_BYTES_SHARE)
        for commit in commits:
            try:
                changes = commit_changes(
                    commit, ChangeKind.DELTA, request, store.schemas, store.manifests
                )
            except CorruptMetadataError:  # it deleted files
                return False
            # Where keys move, the changes of a bucket are told twice.
            splits = {(one.partition, one.bucket): one for one in map(_after, changes)}
            for split, rows in in_threads(
                [partial(_rows_of, split, reading, store) for split in splits.values()],
                size_of=lambda found: found[1].nbytes,
            ):
                turn.add(split, rows)
                if turn.is_too_large:
                    return False
            if turn.has_deletes and self.kept.plan.options.merge_engine != "deduplicate":
                return False  # whether the key is left is told by all its rows
            turn.end_commit()
        turn.end()
        return True


class _Turn:
    """Rows of some commits that are taken note of together."""

    def __init__(self, known: KnownPlaces, table: str, most_bytes: int) -> None:
        self._known = known
        self._table = table
        self._most_bytes = most_bytes
        self._rows: list[pa.Table] = []
        self._adds: list[npt.NDArray[np.bool_]] = []
        self._size_bytes = 0
        self._commits = 0
        self.has_deletes = False
        """Whether a row is a delete."""

    @property
    def is_too_large(self) -> bool:
        """Whether one commit alone has more rows than there is memory for."""
        return not self._commits and self._size_bytes > self._most_bytes

    def add(self, split: DataSplit, rows: pa.RecordBatch) -> None:
        """Take some rows of a bucket."""
        known = self._known
        number = known.places.number(split.partition, split.bucket)
        adds = numpy_values(pc.is_in(rows.column(ROW_KIND), _ADDS))
        self._rows.append(placed(known.keys.columns.select(rows), number))
        self._adds.append(adds)
        self._size_bytes += rows.nbytes
        self.has_deletes |= not adds.all()

    def end_commit(self) -> None:
        """Take note of what there is if it is much."""
        self._commits += 1
        if self._size_bytes > self._most_bytes:
            self.end()

    def end(self) -> None:
        """Take note of all rows."""
        if self._rows:
            rows = pa.concat_tables(self._rows)
            moved(self._known, rows, np.concatenate(self._adds), table=self._table)
        self._rows, self._adds, self._size_bytes, self._commits = [], [], 0, 0


def _after(change: ChangeSplit) -> DataSplit:
    assert change.after is not None, "a commit that appends only adds files"
    return change.after


def _rows_of(
    split: DataSplit, reading: ReadPlan, store: TableStore
) -> Iterator[tuple[DataSplit, pa.RecordBatch]]:
    """Read kinds and keys of the rows that a commit wrote to a bucket, in their order."""
    change = ChangeSplit(after=split, fate=Fate.ANY)
    for batch in read_change_split(change, reading, store.file_io):
        yield split, batch

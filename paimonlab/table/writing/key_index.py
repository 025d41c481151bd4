"""What writers into dynamic buckets know: the hashes of the keys of each bucket.

Hashes come out of the index files. A bucket that has data files but no index, because another
program wrote it or the table had fixed buckets before, is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from paimonlab.arrow_values import arrow_scalar
from paimonlab.datafile.layout import key_field
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_splits
from paimonlab.scan.live_files import index_files_of
from paimonlab.scan.plan import ScanOptions, ScanRequest, plan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import lookup_store_plan, read_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.write.hash_indexes import HashIndexFiles
from paimonlab.write.key_hashes import Hashes, KnownHashes, StoredHashes
from paimonlab.write.key_places.places import KnownKeys
from paimonlab.write.write_plan import WritePlan


class KeyIndex:
    """The hashes of the keys of a snapshot.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    snapshot
        None: the table is empty.
    live_buckets
        The buckets with data files: columns ``partition`` and ``bucket``.
    """

    def __init__(
        self,
        definition: TableDefinition,
        store: TableStore,
        snapshot: Snapshot | None,
        live: pa.Table,
    ) -> None:
        self._definition = definition
        self._store = store
        self._snapshot = snapshot
        self._live = live

    @cached_property
    def files(self) -> HashIndexFiles:
        """The index files."""
        snapshot, manifests = self._snapshot, self._store.manifests
        entries = [] if snapshot is None else index_files_of(snapshot, manifests)
        return HashIndexFiles(
            self._store.file_io,
            write_plan(self._definition, self._store.layout),
            entries,
            snapshot_id=0 if snapshot is None else snapshot.id,
        )

    def hashes(self, partition: bytes) -> KnownHashes:
        """Return the hashes of each bucket of a partition; those that are stored are not read."""
        stores = lookup_store_plan(self._definition, self._store)
        known: dict[int, Hashes | StoredHashes] = {**self.files.stored(partition, stores)}
        is_ours = pc.equal(self._live["partition"], arrow_scalar(partition, pa.large_binary()))
        with_files = self._live.filter(is_ours)["bucket"].to_pylist()
        missing = frozenset(with_files) - known.keys()
        if missing:
            splits = self._splits(missing)
            parts = [(split.bucket, split) for split in splits if split.partition == partition]
            known |= hashes_of_files(parts, self._reading, self._store.file_io)
        return known

    def stored(self) -> StoredKeyIndex:
        """Return the index as a value that can be sent."""
        indexed = {(entry.partition, entry.bucket) for entry in self.files.entries}
        columns = (self._live[name].to_pylist() for name in ("partition", "bucket"))
        missing = set(zip(*columns, strict=True)) - indexed
        splits: defaultdict[BucketKey, list[DataSplit]] = defaultdict(list)
        if missing:
            for split in self._splits(frozenset(bucket for _, bucket in missing)):
                if (split.partition, split.bucket) in missing:
                    splits[split.partition, split.bucket].append(split)
        return StoredKeyIndex(
            self.files, self._store.file_io, splits, self._reading if missing else None
        )

    @property
    def _reading(self) -> ReadPlan:
        definition = self._definition
        return read_plan(
            definition, self._store, definition.schema, (), None, snapshot=self._snapshot
        )

    def _splits(self, buckets: frozenset[int]) -> list[DataSplit]:
        assert self._snapshot is not None, "without a snapshot there are no files"
        return all_splits(self._definition, self._store, self._snapshot, buckets=buckets)


@dataclass(frozen=True, slots=True)
class StoredKeyIndex:
    """The hashes of the keys of a snapshot, to be read where they are needed; picklable."""

    files: HashIndexFiles
    file_io: FileIO
    unindexed: Mapping[BucketKey, Sequence[DataSplit]]
    """Buckets with data files but no index."""
    reading: ReadPlan | None
    """How to read those; None: there are none."""

    @classmethod
    def empty(cls, plan: WritePlan, file_io: FileIO) -> StoredKeyIndex:
        """Return one that knows no keys: all rows of the partitions are replaced."""
        return cls(HashIndexFiles(file_io, plan), file_io, {}, None)

    def of_bucket(self, partition: bytes, bucket: int) -> Hashes:
        """Return the hashes of the keys in a bucket, each once."""
        return dict(self.of_partition(partition, bucket)).get(bucket, np.zeros(0, np.int32))

    def of_partition(
        self, partition: bytes, bucket: int | None = None
    ) -> Iterator[tuple[int, Hashes]]:
        """Yield the buckets of a partition, or one, with their hashes, one after the other."""
        yield from self.files.each(partition, bucket)
        for (ours, number), splits in self.unindexed.items():
            if ours == partition and bucket in (None, number):
                assert self.reading is not None, "where files have to be read, it is known how"
                parts = [(number, split) for split in splits]
                yield from hashes_of_files(parts, self.reading, self.file_io).items()


def hashes_of_files(
    splits: Iterable[tuple[int, DataSplit]], reading: ReadPlan, file_io: FileIO
) -> dict[int, Hashes]:
    """Hash the keys in the files of buckets, those of deleted rows included."""
    schema = reading.schema
    fields = [key_field(schema.field(name)) for name in schema.trimmed_primary_keys]
    by_bucket: defaultdict[int, list[Hashes]] = defaultdict(list)
    for bucket, split in splits:
        for file in split.files:
            with open_data_file(split, file, reading, file_io) as data:
                for _, rows in data.positioned(fields, batch_rows=reading.bounds.batch_rows):
                    columns = [rows.column(field.name) for field in fields]
                    hashes = hash_codes(columns, [field.type for field in fields])
                    by_bucket[bucket].append(distinct_integers(hashes))
    return {bucket: distinct_integers(np.concatenate(parts)) for bucket, parts in by_bucket.items()}


def all_splits(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    *,
    buckets: frozenset[int] | None = None,
) -> list[DataSplit]:
    """Return the files of a primary-key table, those that wait for compaction included.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    snapshot
        Of which the files are wanted.
    buckets
        None: all.
    """
    options = structs.replace(
        definition.options.slice(ScanOptions), merges_on_read=True, is_first_row=False
    )
    request = ScanRequest(snapshot=snapshot, buckets=buckets)
    return plan(
        request, definition.schema, store.schemas, store.manifests, options, table=definition.name
    ).splits


def keys_of_split(split: DataSplit, reading: ReadPlan, file_io: FileIO) -> Iterator[KnownKeys]:
    """Read the primary keys of the rows of a split, in bounded pieces."""
    for batch in read_splits([split], reading, file_io, threads=1):
        yield KnownKeys(split.partition, split.bucket, pa.Table.from_batches([batch]))

"""What writers into dynamic buckets know: the hashes of the keys of each bucket.

Hashes come out of the index files. A bucket that has data files but no index, because another
program wrote it or the table had fixed buckets before, is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar
from paimonlab.datafile.layout import key_field
from paimonlab.read.merging import open_data_file
from paimonlab.read.splits import read_splits
from paimonlab.scan.live_files import index_files_of
from paimonlab.scan.plan import ScanOptions, ScanRequest, plan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.write.hash_indexes import HashIndexFiles
from paimonlab.write.key_hashes import Hashes
from paimonlab.write.key_router import KnownKeys


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

    def hashes(self, partition: bytes) -> Mapping[int, Hashes]:
        """Return the hashes of each bucket of a partition."""
        stored = self.files.read(partition)
        is_ours = pc.equal(self._live["partition"], arrow_scalar(partition, pa.large_binary()))
        with_files = self._live.filter(is_ours)["bucket"].to_pylist()
        missing = sorted(set(with_files) - set(stored))
        if missing:
            stored |= self._read(partition, missing)
        return stored

    def _read(self, partition: bytes, buckets: list[int]) -> dict[int, Hashes]:
        """Hash the keys in the files of buckets, those of deleted rows included."""
        assert self._snapshot is not None, "without a snapshot there are no files"
        schema = self._definition.schema
        fields = [key_field(schema.field(name)) for name in schema.trimmed_primary_keys]
        reading = read_plan(
            self._definition, self._store, schema, (), None, snapshot=self._snapshot
        )
        by_partition: dict[int, list[Hashes]] = defaultdict(list)
        for split in all_splits(
            self._definition, self._store, self._snapshot, buckets=frozenset(buckets)
        ):
            if split.partition != partition:
                continue
            for file in split.files:
                with open_data_file(split, file, reading, self._store.file_io) as data:
                    for _, rows in data.positioned(fields, batch_rows=reading.bounds.batch_rows):
                        columns = [rows.column(field.name) for field in fields]
                        hashes = hash_codes(columns, [field.type for field in fields])
                        by_partition[split.bucket].append(np.unique(hashes))
        return {bucket: np.unique(np.concatenate(parts)) for bucket, parts in by_partition.items()}


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
    options = replace(
        definition.options.slice(ScanOptions), merges_on_read=True, is_first_row=False
    )
    request = ScanRequest(snapshot=snapshot, buckets=buckets)
    return plan(
        request, definition.schema, store.schemas, store.manifests, options, table=definition.name
    ).splits


def known_keys(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot
) -> Iterator[KnownKeys]:
    """Read the primary keys of all rows, bucket by bucket, in bounded pieces."""
    schema = definition.schema
    reading = read_plan(definition, store, schema, schema.primary_keys, None, snapshot=snapshot)
    for split in all_splits(definition, store, snapshot):
        for batch in read_splits([split], reading, store.file_io):
            yield KnownKeys(split.partition, split.bucket, pa.Table.from_batches([batch]))

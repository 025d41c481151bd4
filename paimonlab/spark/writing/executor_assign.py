"""What finds the buckets of rows on executors: each task has a share of all keys.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.commands.BucketProcessor`` for what a share
is; ``…index.HashBucketAssigner``, ``…crosspartition.GlobalIndexAssigner``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import structs

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.executor_read import as_expected
from paimonlab.spark.writing.executor_packets import gathered
from paimonlab.spark.writing.executor_small_rows import Task
from paimonlab.spark.writing.executor_write import BUCKET_COLUMN, KIND_COLUMN
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.storage import FileIO
from paimonlab.table.writing.key_index import StoredKeyIndex, keys_of_split
from paimonlab.write.buckets import partition_codes, positions_of
from paimonlab.write.key_hashes import (
    DynamicBucketOptions,
    KeyHashes,
    channels_of,
    partition_hash,
)
from paimonlab.write.key_places.places import KnownKeys, collected_in_memory
from paimonlab.write.key_router import KeyRouter
from paimonlab.write.kinds import admitted
from paimonlab.write.rows import align
from paimonlab.write.write_plan import WritePlan

SHARE_COLUMN = "__paimon_share"
"""Column of the share of keys that a row belongs to; not written."""
PARTITION_COLUMN = "__paimon_known_partition"
"""Column of the partition where a key of the table is, as serialised BinaryRow; null: the row is
new."""


@dataclass(frozen=True, slots=True)
class HashShares:
    """Divides rows by the hash of their key and partition; picklable."""

    plan: WritePlan
    count: int

    @property
    def options(self) -> DynamicBucketOptions:
        """The table's options, for that many shares."""
        return structs.replace(self.plan.dynamic, assigner_parallelism=self.count)

    def of(
        self, batch: pa.RecordBatch
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64], list[bytes]]:
        """Return the share and the hash of each row, the code of its partition, the partitions."""
        schema = self.plan.schema
        fields = [schema.field(name) for name in schema.trimmed_primary_keys]
        hashes = hash_codes(
            [batch.column(key.name) for key in fields], [key.type for key in fields]
        )
        codes, partitions = partition_codes(batch, schema)
        starts = np.array([partition_hash(one) for one in partitions], np.int32)
        return channels_of(hashes, starts[codes], self.options), hashes, codes, partitions

    def shares_of(self, rows: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """Return the share of each row."""
        return self.of(rows)[0]


def add_shares(shares: HashShares, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add the share of each row, for keys that Spark has no expression for."""
    for batch in batches:
        yield batch.append_column(SHARE_COLUMN, arrow_array(shares.shares_of(batch)))


def add_key_shares(
    keys: Sequence[DataField], shares: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add the share of each row whose key may be in any partition."""
    for batch in batches:
        columns = [batch.column(key.name) for key in keys]
        hashes = hash_codes(columns, [key.type for key in keys])
        share = np.abs(np.fmod(hashes, np.int32(shares)))
        yield batch.append_column(SHARE_COLUMN, arrow_array(share))


@dataclass(slots=True)
class HashAssignment:
    """Gives rows of a share their buckets, by an index of the hashes of keys."""

    shares: HashShares
    stored: StoredKeyIndex
    _known: dict[tuple[bytes, int], KeyHashes] = field(default_factory=dict)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Add the bucket of each row, in the place of its share where it has a column of that."""
        for batch in gathered(batches):
            share, hashes, codes, partitions = self.shares.of(batch)
            by_row = SHARE_COLUMN in batch.schema.names
            stated = numpy_values(batch.column(SHARE_COLUMN)) if by_row else share[0]
            assert (share == stated).all(), (
                f"{self.shares.plan.table_name}: rows were shuffled by other shares of keys than "
                "they belong to"
            )
            buckets = np.zeros(len(hashes), np.int32)
            channels = self.shares.count
            for code, found in positions_of(codes * channels + share, len(partitions) * channels):
                where = slice(None) if found is None else found
                known = self._of(partitions[code // channels], code % channels)
                buckets[where] = known.assign(hashes[where])
            rows = batch.drop_columns([SHARE_COLUMN]) if by_row else batch
            yield rows.append_column(BUCKET_COLUMN, arrow_array(buckets))

    def _of(self, partition: bytes, share: int) -> KeyHashes:
        if (partition, share) not in self._known:
            options, start = self.shares.options, partition_hash(partition)
            known, counts = {}, {}
            for bucket, hashes in self.stored.of_partition(partition):
                known[bucket] = hashes[channels_of(hashes, start, options) == share]
                if bucket % options.assigners == share % options.assigners:
                    counts[bucket] = len(hashes)
            self._known[partition, share] = KeyHashes(known, start, options, counts)
        return self._known[partition, share]


@dataclass(frozen=True, slots=True)
class Assigning:
    """Finds the buckets of rows of a share and hands them to a task; picklable."""

    assignment: HashAssignment
    task: Task
    """Turns a `PaimonError` of its rows into its outcome."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run the task."""
        return self.task(self.assignment(batches))


@dataclass(frozen=True, slots=True)
class KeyReads:
    """Reads the keys of a table; picklable."""

    splits: Sequence[DataSplit]
    reading: ReadPlan
    file_io: FileIO

    def all(self) -> Iterator[KnownKeys]:
        """Read the keys of all splits, one after the other."""
        for split in self.splits:
            yield from keys_of_split(split, self.reading, self.file_io)

    def rows(
        self, numbers: Iterator[pa.RecordBatch], *, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        """Read the splits of these numbers as rows that have keys only, where they are, and nulls.

        Parameters
        ----------
        numbers
            Batches with one column: numbers of splits.
        schema
            What Spark expects.
        """
        table = self.reading.table_name
        for number in chain.from_iterable(batch.column(0).to_pylist() for batch in numbers):
            for known in keys_of_split(self.splits[number], self.reading, self.file_io):
                count = known.keys.num_rows
                place = {
                    BUCKET_COLUMN: pa.repeat(arrow_scalar(known.bucket, pa.int32()), count),
                    PARTITION_COLUMN: pa.repeat(arrow_scalar(known.partition, pa.binary()), count),
                }
                for keys in known.keys.to_batches():
                    columns = {name: keys.column(name) for name in keys.schema.names} | place
                    arrays = [
                        columns[name]
                        if name in columns
                        else pa.nulls(count, schema.field(name).type)
                        for name in schema.names
                    ]
                    rows = pa.RecordBatch.from_arrays(arrays, names=schema.names)
                    yield as_expected(rows, schema, table, cuts_timestamps=False)


@dataclass(frozen=True, slots=True)
class KeyAssignment:
    """Gives rows of a share their buckets, by the places where their keys are.

    The keys of the share that are in the table come first.
    """

    plan: WritePlan
    shares: int
    snapshot_id: int | None
    schema: pa.Schema
    """What Spark expects: the table's columns, bucket and kind of row."""
    has_kinds: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Leave out the keys; add bucket and kind of each row, and deletes of moved keys."""
        known: list[KnownKeys] = []
        router: KeyRouter | None = None
        for batch in batches:
            if not batch.num_rows:
                continue
            if router is None:
                share = batch.column(SHARE_COLUMN)[0].as_py()
                router = KeyRouter(
                    self.plan,
                    partial(
                        collected_in_memory, known, self.plan.schema, table=self.plan.table_name
                    ),
                    snapshot_id=self.snapshot_id,
                    share=(share, self.shares),
                )
            is_new = batch.column(PARTITION_COLUMN).is_null()
            known += self._known(batch.filter(batch.column(PARTITION_COLUMN).is_valid()))
            rows = batch.filter(is_new)
            if rows.num_rows:
                yield from self._routed(rows, router)
                known.clear()  # the router has them

    def _known(self, rows: pa.RecordBatch) -> Iterator[KnownKeys]:
        if not rows.num_rows:
            return
        table = pa.Table.from_batches([rows.select(list(self.plan.schema.primary_keys))])
        places = pa.Table.from_batches([rows.select([PARTITION_COLUMN, BUCKET_COLUMN])])
        partition = places.column(PARTITION_COLUMN).combine_chunks().dictionary_encode()
        bucket = numpy_values(places.column(BUCKET_COLUMN)).astype(np.int64)
        most = int(bucket.max()) + 1
        codes = numpy_values(partition.indices).astype(np.int64) * most + bucket
        for code in np.unique(codes).tolist():
            keys = table.filter(arrow_array(codes == code))
            yield KnownKeys(partition.dictionary[code // most].as_py(), code % most, keys)

    def _routed(self, batch: pa.RecordBatch, router: KeyRouter) -> Iterator[pa.RecordBatch]:
        plan, kinds = self.plan, KIND_COLUMN if self.has_kinds else None
        names = [*plan.schema.field_names, *filter(None, [kinds])]
        aligned = align(batch.select(names), plan.schema, table=plan.table_name, row_kinds=kinds)
        rows, groups = router.route(pa.Table.from_batches([admitted(aligned, plan)]))
        buckets = np.zeros(rows.num_rows, np.int32)
        for group in groups:
            buckets[slice(None) if group.rows is None else group.rows] = group.bucket
        found = rows.rename_columns(
            [KIND_COLUMN if name == VALUE_KIND else name for name in rows.schema.names]
        ).append_column(BUCKET_COLUMN, arrow_array(buckets))
        for piece in found.combine_chunks().to_batches():
            yield as_expected(piece, self.schema, plan.table_name, cuts_timestamps=False)

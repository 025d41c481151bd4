"""Which bucket each row goes to: a router for every bucket mode.

A router may add rows and remember keys; what it learned is part of the commit messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.write.buckets import Group, grouped, groups, partition_codes, positions_of
from paimonlab.write.key_hashes import DynamicBucketOptions, KeyHashes, KnownHashes, partition_hash

if TYPE_CHECKING:
    from paimonlab.write.hash_indexes import HashIndexFiles

BucketIndexes = Mapping[BucketKey, tuple[IndexManifestEntry, ...]]
"""New index files by partition and bucket."""


class Router(Protocol):
    """Gives rows their buckets."""

    @property
    def remembers(self) -> bool:
        """Whether routing the same rows again may give another result."""

    @property
    def must_be_alone(self) -> bool:
        """Whether concurrent writes by others are a conflict."""

    @property
    def checked_snapshot_id(self) -> int | None:
        """The snapshot that it builds on; None if it needs none."""

    @property
    def index_snapshot_id(self) -> int | None:
        """The snapshot whose index of keys says where rows go; None if there is no index."""

    def route(self, rows: pa.Table) -> tuple[pa.Table, list[Group]]:
        """Return the rows to write, and which of them go where.

        Parameters
        ----------
        rows
            n rows: the table's columns and ``_VALUE_KIND``, in order of arrival.
        """

    def prepare_commit(self) -> BucketIndexes:
        """Write down what was learned since the last call."""


@dataclass(frozen=True, slots=True)
class FixedRouter:
    """Routes by a function of the bucket key, or every row of a partition to one bucket."""

    schema: TableSchema
    buckets: int
    """At least 1; else all rows of a partition go to one bucket."""
    only_bucket: int = 0
    """Which one."""
    remembers: bool = False
    must_be_alone: bool = False
    checked_snapshot_id: int | None = None
    index_snapshot_id: int | None = None

    def route(self, rows: pa.Table) -> tuple[pa.Table, list[Group]]:
        """Return the rows as they are."""
        routed = groups(rows, self.schema, self.buckets)
        if self.buckets < 1:
            return rows, [Group(group.partition, self.only_bucket, group.rows) for group in routed]
        return rows, list(routed)

    def prepare_commit(self) -> BucketIndexes:
        """Return nothing."""
        return {}


class DynamicRouter:
    """Routes by an index of key hashes, which grows.

    Parameters
    ----------
    schema
        The table's schema.
    options
        The table's options.
    files
        The index files of the table.
    known
        Returns the hashes of each bucket of a partition.
    """

    remembers = True
    must_be_alone = False

    def __init__(
        self,
        schema: TableSchema,
        options: DynamicBucketOptions,
        files: HashIndexFiles,
        known: Callable[[bytes], KnownHashes],
    ) -> None:
        self._schema = schema
        self._options = options
        self._files = files
        self._known = known
        self._partitions: dict[bytes, KeyHashes] = {}

    @property
    def checked_snapshot_id(self) -> int | None:
        """The snapshot whose index is extended; 0 if there is none."""
        return self._files.snapshot_id

    @property
    def index_snapshot_id(self) -> int | None:
        """The same."""
        return self._files.snapshot_id

    def route(self, rows: pa.Table) -> tuple[pa.Table, list[Group]]:
        """Return the rows as they are."""
        fields = [self._schema.field(name) for name in self._schema.trimmed_primary_keys]
        columns = [rows.column(field.name) for field in fields]
        hashes = hash_codes(columns, [field.type for field in fields])
        codes, partitions = partition_codes(rows, self._schema)
        buckets = np.zeros(len(hashes), np.int32)
        for code, positions in positions_of(codes, len(partitions)):
            where = slice(None) if positions is None else positions
            buckets[where] = self._index(partitions[code]).assign(hashes[where])
        return rows, list(grouped(codes, partitions, buckets))

    def prepare_commit(self) -> BucketIndexes:
        """Write the index files of buckets with new keys."""
        written: dict[BucketKey, tuple[IndexManifestEntry, ...]] = {}
        try:
            for partition, index in self._partitions.items():
                for bucket, hashes in index.take_changed():
                    written[partition, bucket] = (self._files.write(partition, bucket, hashes),)
        except BaseException:
            for (entry,) in written.values():
                self._files.delete(entry)
            raise
        return written

    def _index(self, partition: bytes) -> KeyHashes:
        if partition not in self._partitions:
            self._partitions[partition] = KeyHashes(
                self._known(partition), partition_hash(partition), self._options
            )
        return self._partitions[partition]

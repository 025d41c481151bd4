"""Writing rows whose buckets others found: many writers share a table with dynamic buckets.

Who finds the bucket of a key has a share of all keys, who writes has whole buckets. The writer of
a bucket also writes the index of its keys.

Source: apache/paimon@1.3.1 ``org.apache.paimon.index.DynamicBucketIndexMaintainer``.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Protocol

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.write.buckets import Group, grouped, partition_codes
from paimonlab.write.hash_indexes import HashIndexFiles
from paimonlab.write.key_hashes import Hashes
from paimonlab.write.routing import BucketIndexes
from paimonlab.write.rows import GIVEN_BUCKET


class StoredHashes(Protocol):
    """The hashes of the keys that are in a table."""

    @property
    def files(self) -> HashIndexFiles:
        """The index files, and where new ones are written."""

    def of_bucket(self, partition: bytes, bucket: int) -> Hashes:
        """Return those of a bucket, each once."""


class GivenRouter:
    """Routes rows by their column ``_BUCKET``.

    Parameters
    ----------
    schema
        The table's schema.
    stored
        The hashes of keys in the table, to be extended; None: it keeps no index.
    alone_since
        The snapshot since which nobody else may have written; None: it does not matter.
    """

    remembers = True
    index_snapshot_id: int | None
    checked_snapshot_id: int | None

    def __init__(
        self,
        schema: TableSchema,
        stored: StoredHashes | None,
        *,
        alone_since: int | None = None,
    ) -> None:
        self._schema = schema
        self._stored = stored
        self._came: defaultdict[BucketKey, list[Hashes]] = defaultdict(list)
        self.must_be_alone = alone_since is not None
        self.index_snapshot_id = None if stored is None else stored.files.snapshot_id
        self.checked_snapshot_id = alone_since if stored is None else self.index_snapshot_id

    def route(self, rows: pa.Table) -> tuple[pa.Table, list[Group]]:
        """Return the rows without ``_BUCKET``."""
        buckets = numpy_values(rows.column(GIVEN_BUCKET))
        rows = rows.drop_columns([GIVEN_BUCKET])
        codes, partitions = partition_codes(rows, self._schema)
        groups = list(grouped(codes, partitions, buckets))
        if self._stored is not None:
            fields = [self._schema.field(name) for name in self._schema.trimmed_primary_keys]
            columns = [rows.column(field.name) for field in fields]
            hashes = hash_codes(columns, [field.type for field in fields])
            for group in groups:
                ours = hashes if group.rows is None else hashes[group.rows]
                self._came[group.key].append(distinct_integers(ours))
        return rows, groups

    def prepare_commit(self) -> BucketIndexes:
        """Write the index files of buckets with new keys."""
        if self._stored is None:
            return {}
        files = self._stored.files
        written: dict[BucketKey, tuple[IndexManifestEntry, ...]] = {}
        try:
            for (partition, bucket), came in self._came.items():
                known = self._stored.of_bucket(partition, bucket)
                hashes = distinct_integers(np.concatenate([known, *came]))
                if len(hashes) > len(known):
                    entry = files.write(partition, bucket, hashes)
                    written[partition, bucket] = (entry,)
        except BaseException:
            for (entry,) in written.values():
                files.delete(entry)
            raise
        self._came.clear()
        return written

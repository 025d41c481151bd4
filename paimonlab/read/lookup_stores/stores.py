"""Lookup stores of the files of a bucket: whether they pay, what they have, when they are dropped.

Source of what the options mean: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.LookupLevels``,
``…LookupFile``. The files are not those of Java.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.read.lazy_file import LazyFile
from paimonlab.read.lookup_stores.kept_stores import KeptStores, StoredColumns
from paimonlab.read.lookup_stores.key_filter import KeyFilter
from paimonlab.read.lookup_stores.store_file import StoreFile, StoreIdentity
from paimonlab.read.lookup_stores.store_writing import combined
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField

_LEAST_ROWS = 20_000
"""A file of fewer rows is read as fast as a store is opened."""
_ROWS_PER_KEY = 8
"""A file that has fewer rows for each key asked for is read as a whole."""


def pays(row_count: int, asked_count: int) -> bool:
    """Whether a store of so many rows is better than reading them all to find so many keys."""
    return row_count >= max(_LEAST_ROWS, _ROWS_PER_KEY * asked_count)


@dataclass(frozen=True, slots=True)
class LookupStores:
    """The stores of the files of one bucket.

    A store has all rows of a file, whatever a deletion vector says of them.
    """

    plan: ReadPlan
    bucket_path: str
    keys: tuple[DataField, ...]
    """All key copies."""
    values: tuple[DataField, ...]
    """Other columns, as files have them; (): stores have keys only."""

    def find(self, file: LazyFile, asked_count: int) -> StoreFile | None:
        """Open the store of a file, after making it if that pays.

        Parameters
        ----------
        file
            Of the bucket; opened only if a store is made.
        asked_count
            How many keys are looked for.

        Returns
        -------
        StoreFile or None
            None if the file itself is better read, or if the store cannot be kept.
        """
        if self.plan.options.legacy_ltz and file.meta.file_name.endswith(".orc"):
            return None  # what it has depends on the time zone of the process
        if not pays(file.meta.row_count, asked_count):
            return None
        kept = self._kept
        return kept.find(self._identity(file, kept.columns), lambda: self._rows(file))

    def drop_others(self, files: Sequence[DataFileMeta]) -> None:
        """Delete the stores of all files of the bucket but some."""
        self._kept.drop_others(file.file_name for file in files)

    @property
    def _kept(self) -> KeptStores:
        options = self.plan.lookup_stores.options
        types = tuple(field.type for field in self.keys)
        columns = StoredColumns(
            arrow_schema(self.keys),
            arrow_schema(self.values) if self.values else None,
            KeyFilter.of(types, options.fpp) if options.has_filters else None,
        )
        # The name tells branches apart, which have the same path and other files.
        group = (self.plan.table_path, self.plan.table_name, self.bucket_path)
        return KeptStores(self.plan.lookup_stores, group, columns)

    def _identity(self, file: LazyFile, columns: StoredColumns) -> StoreIdentity:
        return StoreIdentity(
            table_path=self.plan.table_path,
            bucket_path=self.bucket_path,
            file_name=file.meta.file_name,
            file_size_bytes=file.meta.file_size_bytes,
            columns=repr((self.keys, self.values)),
            compression=self.plan.lookup_stores.options.compression,
            fpp=None if columns.key_filter is None else columns.key_filter.fpp,
        )

    def _rows(self, file: LazyFile) -> Iterator[pa.Table]:
        bounds = self.plan.bounds
        # Twice: as they were read, and put together.
        most_bytes = min(bounds.piece_bytes, self.plan.lookup_stores.options.memory_bytes // 2)
        fields = (*self.keys, *self.values)
        rows = file.data.batches(fields, batch_rows=bounds.batch_rows)
        return combined(rows, bounds.piece_rows, most_bytes)

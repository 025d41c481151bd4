"""Whether the rows of data files are what metadata says of them: every page is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import numpy_values
from paimonlab.datafile.layout import file_columns
from paimonlab.datafile.reader import DataFile
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.statistics import column_stats
from paimonlab.spec.binary_row import rows as binary_row
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.manifest import ManifestEntry
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column
from paimonlab.storage import FileIO

_BATCH_ROWS = 1 << 16
_RESTORE = "Restore the file from a copy, or overwrite its partition."


@dataclass
class _Seen:
    """What the batches of one file had."""

    rows: int = 0
    nulls: dict[str, int] = field(default_factory=dict)
    sequences: list[int] = field(default_factory=list)
    retracts: int = 0
    first_key: pa.RecordBatch | None = None
    last_key: pa.RecordBatch | None = None
    problems: list[str] = field(default_factory=list)

    def add(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class ContentChecker:
    """Reads data files and compares them with their entries."""

    file_io: FileIO
    table: str
    schemas: SchemaManager
    known: Mapping[int, TableSchema]
    notes: Notes

    def check(
        self, entries: pa.Table, paths: Sequence[str], changelog: Collection[str], referrer: str
    ) -> None:
        """Read the files of entries (`ENTRY_SCHEMA`), those of a changelog without key order."""
        for row, (entry, path) in enumerate(zip(table_to_entries(entries), paths, strict=True)):
            schema = self.known.get(entry.file.schema_id)
            if schema is None:
                continue
            is_sorted = (
                bool(schema.primary_keys)
                and entry.bucket != POSTPONE_BUCKET
                and entry.file.file_name not in changelog
            )
            with self.notes.taken(path, referrer=referrer, advice=_RESTORE):
                stats = column_stats(
                    entries.slice(row, 1), "value_stats", schema.field_names, schema, self.schemas
                )
                for problem in self._problems(path, entry, schema, stats, is_sorted):
                    self.notes.add(path, problem, referrer=referrer, advice=_RESTORE)

    def key_hashes(self, path: str, entry: ManifestEntry) -> npt.NDArray[np.int32]:
        """Return the hashes of the keys of a file, as a hash index has them.

        Returns
        -------
        (n,) int32
            Of its n rows.
        """
        schema = self.known[entry.file.schema_id]
        hashes = [np.empty(0, np.int32)]
        types = [schema.field(name).type for name in schema.trimmed_primary_keys]
        with self._opened(path, entry, schema) as file:
            names = _key_names({field.name for field in file.fields}, schema)
            by_name = {field.name: field for field in file.fields}
            wanted = [by_name[name] for name in names]
            hashes += [
                binary_row.hash_codes(batch.columns, types)
                for batch in file.batches(wanted, batch_rows=_BATCH_ROWS)
            ]
        return np.concatenate(hashes)

    def _opened(self, path: str, entry: ManifestEntry, schema: TableSchema) -> DataFile:
        partition = entry.partition
        return DataFile.open(
            self.file_io, path, entry.file, schema, table=self.table, partition=partition
        )

    def _problems(
        self,
        path: str,
        entry: ManifestEntry,
        schema: TableSchema,
        stats: Mapping[str, ColumnStats],
        is_sorted: bool,  # noqa: FBT001
    ) -> list[str]:
        seen, meta = _Seen(), entry.file
        with self._opened(path, entry, schema) as file:
            # In thin files a key column stands for its copy, under one name.
            fields = list({field.name: field for field in file.fields}.values())
            for batch in file.batches(fields, batch_rows=_BATCH_ROWS):
                seen.rows += batch.num_rows
                _look_at_values(batch, stats, seen)
                if VALUE_KIND in batch.schema.names:
                    _look_at_keys(batch, meta, schema, seen, is_sorted)
        self.notes.counts["rows"] += seen.rows
        if seen.rows != meta.row_count:
            seen.add(f"it has {seen.rows:,} rows, expected were {meta.row_count:,}")
        _compare(meta, stats, seen)
        if seen.first_key is not None and seen.last_key is not None and is_sorted:
            keys = file_columns(schema).keys
            types = [key.type for key in keys]
            for what, row, expected in (
                ("smallest", seen.first_key, meta.min_key),
                ("greatest", seen.last_key, meta.max_key),
            ):
                values = [row.column(index)[0] for index in range(row.num_columns)]
                if binary_row.encode_one(values, types) != expected:
                    seen.add(f"its {what} key is not that of its entry")
        return seen.problems


def _look_at_values(batch: pa.RecordBatch, stats: Mapping[str, ColumnStats], seen: _Seen) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name not in stats:
            continue
        seen.nulls[name] = seen.nulls.get(name, 0) + column.null_count
        low, high = stats[name].min[0], stats[name].max[0]
        for bound, compare in ((low, pc.less), (high, pc.greater)):
            if bound.is_valid and pc.any(compare(column, bound)).as_py():
                seen.add(f"column {name!r} has values outside of its statistics")


def _look_at_keys(
    batch: pa.RecordBatch,
    meta: DataFileMeta,
    schema: TableSchema,
    seen: _Seen,
    is_sorted: bool,  # noqa: FBT001
) -> None:
    sequence = pc.min_max(batch.column(SEQUENCE_NUMBER)).as_py()
    if sequence["min"] < meta.min_sequence_number or sequence["max"] > meta.max_sequence_number:
        seen.add("it has sequence numbers outside of those of its entry")
    kinds = numpy_values(batch.column(VALUE_KIND))
    seen.retracts += int(np.isin(kinds, [RowKind.UPDATE_BEFORE, RowKind.DELETE]).sum())
    if not is_sorted:
        return
    keys = batch.select(_key_names(batch.schema.names, schema))
    if seen.first_key is None:
        seen.first_key = keys.slice(0, 1)
    before = keys.slice(0, 0) if seen.last_key is None else seen.last_key
    together = pa.Table.from_batches([before, keys]).combine_chunks()
    if _has_disorder(together):
        seen.add("its keys do not ascend")
    seen.last_key = keys.slice(keys.num_rows - 1, 1)


def _key_names(names: Collection[str], schema: TableSchema) -> list[str]:
    copies = ((key_column(name), name) for name in schema.trimmed_primary_keys)
    return [copy if copy in names else name for copy, name in copies]


def _has_disorder(keys: pa.Table) -> bool:
    """Whether a row is not greater than the one before it."""
    count = keys.num_rows - 1
    if count < 1:
        return False
    is_decided: npt.NDArray[np.bool_] = np.zeros(count, np.bool_)
    is_wrong: npt.NDArray[np.bool_] = np.zeros(count, np.bool_)
    for column in keys.columns:
        before, after = column.slice(0, count), column.slice(1)
        is_wrong |= ~is_decided & numpy_values(pc.greater(before, after))
        is_decided |= numpy_values(pc.not_equal(before, after))
    return bool((is_wrong | ~is_decided).any())


def _compare(meta: DataFileMeta, stats: Mapping[str, ColumnStats], seen: _Seen) -> None:
    for name, nulls in seen.nulls.items():
        expected = stats[name].null_count[0].as_py()
        if expected is not None and expected != nulls:
            seen.add(f"column {name!r} has {nulls:,} nulls, its statistics say {expected:,}")
    if meta.delete_row_count is not None and seen.retracts > meta.delete_row_count:
        seen.add(f"it has {seen.retracts:,} deleted rows, its entry says {meta.delete_row_count:,}")

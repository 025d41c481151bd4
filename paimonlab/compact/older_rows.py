"""Older rows of keys: what the levels below a compaction hold of them.

Both the keys that are looked for and those of a file are sorted, so they are joined as two
sorted lists; the rows themselves are read only where keys met.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.LookupLevels``, ``…LookupUtils``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.record_expiry import RecordExpiry
from paimonlab.datafile.layout import KIND_FIELD, SEQUENCE_FIELD, file_columns
from paimonlab.datafile.masks import Mask
from paimonlab.datafile.reader import DataFile
from paimonlab.merge.groups import Positions
from paimonlab.merge.order import one_array, sort_keys
from paimonlab.read.deletions import surviving_rows, vectors_of
from paimonlab.read.lazy_file import LazyFile
from paimonlab.read.lookup_stores.key_search import find_in
from paimonlab.read.lookup_stores.store_file import StoreFile
from paimonlab.read.lookup_stores.stores import LookupStores
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import (
    Comparator,
    Comparison,
    In,
    Literal,
    Predicate,
    all_of,
)
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import key_column
from paimonlab.storage import FileIO

_FEW_KEYS = 200
"""So many are looked for one by one."""


@dataclass(frozen=True, slots=True)
class OlderRows:
    """Rows that were found, in no order over all files."""

    keys: Positions
    """(m,) which of the keys each is of."""
    levels: npt.NDArray[np.int8]
    """(m,) of the files they are in."""
    places: tuple[tuple[str, Positions], ...]
    """Files by name, and the positions of the rows found in them; m positions in all."""
    rows: pa.Table | None
    """m rows with the columns of data files; None: they were not asked for."""


@dataclass(frozen=True, slots=True)
class OlderFiles:
    """The files of a bucket that may hold older rows than those that are compacted."""

    bucket: BucketFiles
    files: tuple[DataFileMeta, ...]
    """Of levels above 0, in any order; those of a level share no key."""
    plan: ReadPlan
    file_io: FileIO
    with_rows: bool = True
    """Whether the rows themselves are wanted, and not only where they are."""
    expiry: RecordExpiry | None = None
    """Which rows are too old to be found; None: none is."""

    def find(self, keys: pa.Table) -> OlderRows:
        """Find the newest older row of keys.

        Parameters
        ----------
        keys
            k rows of key copies, sorted, no two alike.

        Returns
        -------
        OlderRows
            At most one for each key: that of the first level, going down, that has one. Rows
            that deletion vectors delete are left out.
        """
        self._stores.drop_others(self.bucket.files)
        is_open = np.ones(keys.num_rows, np.bool_)
        parts: list[OlderRows] = []
        files = sorted(self.files, key=lambda file: file.level)
        for file, (start, end) in zip(files, self._ranges(files, keys), strict=True):
            wanted = start + np.flatnonzero(is_open[start:end])
            if len(wanted):
                rows = self._in_file(file, keys, wanted)
                is_open[rows.keys] = False
                parts.append(rows)
        return self._together(parts)

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns of the rows."""
        columns = file_columns(self.plan.schema)
        return (*columns.keys, SEQUENCE_FIELD, KIND_FIELD, *columns.values)

    def _ranges(self, files: Sequence[DataFileMeta], keys: pa.Table) -> list[tuple[int, int]]:
        """Say which keys lie in the range of each file."""
        types = [
            self.plan.schema.field(name).type for name in self.plan.schema.trimmed_primary_keys
        ]
        ends = [file.min_key for file in files] + [file.max_key for file in files]
        bounds = decode(arrow_array(ends, pa.large_binary()), types)
        codes = sort_keys(
            [
                pa.concat_arrays([one_array(column), bound.cast(column.type)])
                for column, bound in zip(keys.columns, bounds, strict=True)
            ]
        )
        ours, low, high = np.split(codes, [keys.num_rows, keys.num_rows + len(files)])
        starts, stops = np.searchsorted(ours, low, "left"), np.searchsorted(ours, high, "right")
        return list(zip(starts.tolist(), stops.tolist(), strict=True))

    @property
    def _stores(self) -> LookupStores:
        keys = file_columns(self.plan.schema).keys
        # Key columns of the table are in the key copies.
        names = {*self.plan.schema.trimmed_primary_keys, *(field.name for field in keys)}
        others = tuple(field for field in self.fields if field.name not in names)
        return LookupStores(self.plan, self.bucket.folder, keys, others if self._reads_rows else ())

    @property
    def _reads_rows(self) -> bool:
        return self.with_rows or self.expiry is not None

    def _in_file(self, file: DataFileMeta, keys: pa.Table, wanted: Positions) -> OlderRows:
        split = self.bucket.split_of([file])
        with LazyFile(split, file, self.plan, self.file_io) as data:
            store = self._stores.find(data, len(wanted))
            rows = None
            if store is None:
                key_numbers, positions = self._in_data(data, split, keys, wanted)
                if self._reads_rows:
                    rows = self._rows_at(data.data, positions, file.row_count)
            else:
                key_numbers, positions = self._in_store(store, split, keys, wanted)
                if self._reads_rows:
                    rows = self._stored_rows(store, positions)
        if self.expiry is not None and rows is not None:
            young = self.expiry.is_young(rows)
            key_numbers, positions, rows = (
                key_numbers[young],
                positions[young],
                rows.filter(arrow_array(young)),
            )
        levels = np.full(len(key_numbers), file.level, np.int8)
        places = ((file.file_name, positions),) if len(positions) else ()
        return OlderRows(key_numbers, levels, places, rows if self.with_rows else None)

    def _in_store(
        self, store: StoreFile, split: DataSplit, keys: pa.Table, wanted: Positions
    ) -> tuple[Positions, Positions]:
        found, positions = find_in(store, keys.take(arrow_array(wanted)))
        (vector,) = vectors_of(split, self.plan, self.file_io)
        if vector is not None:
            is_alive = ~vector.has(positions)
            found, positions = found[is_alive], positions[is_alive]
        return wanted[found], positions

    def _stored_rows(self, store: StoreFile, positions: Positions) -> pa.Table:
        stored = store.rows_at(positions)
        keys = {name: key_column(name) for name in self.plan.schema.trimmed_primary_keys}
        columns = [stored[keys.get(field.name, field.name)] for field in self.fields]
        return pa.table(columns, schema=arrow_schema(self.fields))

    def _in_data(
        self, data: LazyFile, split: DataSplit, keys: pa.Table, wanted: Positions
    ) -> tuple[Positions, Positions]:
        (alive,) = surviving_rows(split, self.plan, self.file_io)
        pairs = list(self._joined(data.data, keys, wanted, alive))
        key_numbers = np.concatenate([wanted[:0], *(one for one, _ in pairs)])
        return key_numbers, np.concatenate([wanted[:0], *(one for _, one in pairs)])

    def _joined(
        self, data: DataFile, keys: pa.Table, wanted: Positions, alive: Mask | None
    ) -> Iterator[tuple[Positions, Positions]]:
        """Yield keys that a file has, and where, both ascending."""
        key_fields = file_columns(self.plan.schema).keys
        asked = keys.take(arrow_array(wanted))
        for start, rows in data.positioned(
            key_fields,
            predicate=_near(asked.column(0), key_fields[0]),
            keep=alive,
            batch_rows=self.plan.bounds.batch_rows,
        ):
            if not rows.num_rows:
                continue
            codes = sort_keys(
                [
                    pa.concat_arrays([one_array(asked[name]), one_array(rows.column(name))])
                    for name in asked.column_names
                ]
            )
            ours, theirs = codes[: len(wanted)], codes[len(wanted) :]
            done = int(np.searchsorted(ours, theirs[-1], "right"))
            at = np.searchsorted(theirs, ours[:done])
            hits = theirs[at] == ours[:done]
            if alive is not None:
                hits &= alive[start + at]
            yield wanted[:done][hits], start + at[hits]
            wanted, asked = wanted[done:], asked.slice(done)
            if not len(wanted):
                return

    def _rows_at(self, data: DataFile, positions: Positions, row_count: int) -> pa.Table:
        mask = np.zeros(row_count, np.bool_)
        mask[positions] = True
        batches = (
            data.batches(self.fields, keep=mask, batch_rows=self.plan.bounds.batch_rows)
            if len(positions)
            else ()
        )
        return pa.Table.from_batches(list(batches), arrow_schema(self.fields))

    def _together(self, parts: Sequence[OlderRows]) -> OlderRows:
        rows = None
        if self.with_rows:
            nothing = empty_table(arrow_schema(self.fields))
            rows = pa.concat_tables([nothing, *(part.rows for part in parts)])
        return OlderRows(
            np.concatenate([np.empty(0, np.int64), *(part.keys for part in parts)]),
            np.concatenate([np.empty(0, np.int8), *(part.levels for part in parts)]),
            tuple(place for part in parts for place in part.places),
            rows,
        )


def _near(values: pa.ChunkedArray, field: DataField) -> Predicate | None:
    """Say what pages of a file may hold sorted values of the first key column."""
    kind = values.type
    if not (pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        return None
    if len(values) <= _FEW_KEYS:
        return In(
            field.name, tuple(Literal(one, field.type) for one in values.unique().to_pylist())
        )
    low, high = (Literal(values[place].as_py(), field.type) for place in (0, -1))
    return all_of(
        Comparison(field.name, Comparator.GE, low),
        Comparison(field.name, Comparator.LE, high),
    )

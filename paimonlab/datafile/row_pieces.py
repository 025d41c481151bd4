"""Which rows of an open data file are read, and in which pieces: row groups, pages, ranges."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
from msgspec import Struct

from paimonlab.datafile.evolution import Evolution
from paimonlab.datafile.masks import Mask, Positioned, contiguous, end_of
from paimonlab.datafile.opening import is_planned, referred_to_by
from paimonlab.datafile.tracking import tracked
from paimonlab.formats.data_format import DataInput
from paimonlab.formats.parquet.cut import RowRanges, count_rows, cut_ranges
from paimonlab.formats.row_group import RowGroup, rows_within
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, doubts
from paimonlab.spec.types.data_types import DataField

FEW_ROWS = 1 << 14
"""Rows of which all columns are read at once: reading twice costs more than what is spared."""
WORTH_DOUBTING_ROWS = 1 << 16
"""Rows of which it is worth finding out by statistics that a predicate is true: fewer are asked
sooner."""
_BATCH_BYTES = 16 << 20
"""What a batch should not be larger than."""


class RowPieces(Struct, frozen=True):
    """Reads rows of an open data file and says where they are in it."""

    table: str
    """For messages."""
    meta: DataFileMeta
    fields: tuple[DataField, ...]
    """What can be read, by the schema the file was written with."""
    content: DataInput
    open_bytes: int | None = None
    """What pages that are open between two pieces may take, of all columns; None: they do not
    count, as with few files at once."""
    in_threads: bool = False
    """Whether columns are decoded in parallel, where the format allows it."""

    def groups(
        self, evolution: Evolution, predicate: Predicate | None, keep: Mask | None
    ) -> list[RowGroup]:
        """Choose the row groups that may hold a wanted row."""
        groups = self.content.row_groups
        if keep is not None:
            groups = tuple(
                one for one in groups if keep[one.first_row : one.first_row + one.row_count].any()
            )
        if predicate is None or not groups or is_planned(self.content, self.fields, predicate):
            return list(groups)
        with referred_to_by(self.table):
            in_file = evolution.in_file(predicate)
            matching = self.content.matching_row_groups(in_file, self.fields)
        return [group for group in groups if group in matching]

    def wanted_rows(
        self, group: RowGroup, evolution: Evolution, predicate: Predicate | None, keep: Mask | None
    ) -> RowRanges:
        """Find the rows of a row group that may be wanted, as far as its pages tell."""
        in_file = None if predicate is None else evolution.in_file(predicate)
        of_group = None
        if keep is not None:
            of_group = keep[group.first_row : group.first_row + group.row_count]
        with referred_to_by(self.table):
            return self.content.wanted_rows(group, in_file, self.fields, of_group)

    def doubtful_groups(self, evolution: Evolution, predicate: Predicate) -> Collection[RowGroup]:
        """Find the row groups that may have a row of which a predicate is not true."""
        groups = self.content.row_groups
        if all(group.row_count <= WORTH_DOUBTING_ROWS for group in groups):
            return groups
        with referred_to_by(self.table):
            in_file = doubts(evolution.in_file(predicate))
            return frozenset(self.content.matching_row_groups(in_file, self.fields))

    def doubtful_rows(
        self, group: RowGroup, evolution: Evolution, predicate: Predicate
    ) -> RowRanges:
        """Find the rows of a row group of which a predicate may not be true, as its pages tell."""
        with referred_to_by(self.table):
            in_file = doubts(evolution.in_file(predicate))
            return self.content.wanted_rows(group, in_file, self.fields, None)

    def of_groups(
        self,
        groups: Sequence[RowGroup],
        evolution: Evolution,
        predicate: Predicate | None,
        keep: Mask | None,
        batch_rows: int,
    ) -> Iterator[Positioned]:
        """Read row groups, of each but the pages that hold no wanted row."""
        end = self.meta.row_count if keep is None else end_of(keep)
        whole_groups: list[RowGroup] = []
        for group in groups:
            ranges = self.wanted_rows(group, evolution, predicate, keep)
            if count_rows(ranges) == group.row_count:
                whole_groups.append(group)
                continue
            yield from self._whole(whole_groups, evolution, batch_rows, end)
            whole_groups = []
            yield from self._ranges(group, ranges, evolution, batch_rows)
        yield from self._whole(whole_groups, evolution, batch_rows, end)

    def of_group(
        self, group: RowGroup, ranges: RowRanges, evolution: Evolution, batch_rows: int
    ) -> Iterator[Positioned]:
        """Read some rows of a row group, or all of them."""
        if count_rows(ranges) == group.row_count:
            end = group.first_row + group.row_count
            return self._whole([group], evolution, batch_rows, end)
        return self._ranges(group, ranges, evolution, batch_rows)

    def rows_within(
        self, fields: Sequence[DataField], groups: Sequence[RowGroup], most_bytes: int
    ) -> int:
        """Choose how many rows to read at once so that columns take so many bytes, about."""
        sizes = [(group, self.content.group_bytes(fields, group.index)) for group in groups]
        return rows_within([(group.row_count, size) for group, size in sizes], most_bytes)

    def _whole(
        self, groups: Sequence[RowGroup], evolution: Evolution, batch_rows: int, end: int
    ) -> Iterator[Positioned]:
        """Read row groups from the first row to the last, but no further than ``end``."""
        for following in contiguous(groups):
            start = following[0].first_row
            with referred_to_by(self.table):
                for batch in self._batches(following, evolution, batch_rows):
                    yield Positioned(start, tracked(evolution.apply(batch), self.meta, start))
                    start += batch.num_rows
                    if start >= end:
                        return

    def _batches(
        self, groups: Sequence[RowGroup], evolution: Evolution, batch_rows: int
    ) -> Iterator[pa.RecordBatch]:
        fields = evolution.file_fields
        at_a_time = self._batch_rows(batch_rows, groups, fields)
        if self.open_bytes is None:
            yield from self.content.batches(
                fields,
                row_groups=[group.index for group in groups],
                batch_rows=at_a_time,
                in_threads=self.in_threads,
            )
            return
        for group in groups:
            stretches = self.content.stretches(fields, group, self.open_bytes)
            if stretches is None:
                indexes = [group.index]
                yield from self.content.batches(fields, row_groups=indexes, batch_rows=at_a_time)
                continue
            for rows in stretches:
                yield from _one_by_one(self.content.read_ranges(fields, group, rows), at_a_time)

    def _ranges(
        self, group: RowGroup, ranges: RowRanges, evolution: Evolution, batch_rows: int
    ) -> Iterator[Positioned]:
        """Read some rows of a row group."""
        fields = evolution.file_fields
        at_a_time = self._batch_rows(batch_rows, [group], fields)
        for piece in cut_ranges(ranges, at_a_time):
            with referred_to_by(self.table):
                rows = self.content.read_ranges(fields, group, piece)
            before = 0
            for first, last in piece.tolist():
                start = group.first_row + first
                for batch in rows.slice(before, last - first).to_batches():
                    yield Positioned(start, tracked(evolution.apply(batch), self.meta, start))
                    start += batch.num_rows
                before += last - first

    def _batch_rows(
        self, wanted: int, groups: Sequence[RowGroup], fields: Sequence[DataField]
    ) -> int:
        """Choose the rows of a batch: fewer where rows are wide."""
        if sum(group.row_count * group.size_bytes for group in groups) <= _BATCH_BYTES:
            return wanted  # even if all values of a column are the same, and stored once
        return min(wanted, self.rows_within(fields, groups, _BATCH_BYTES))


def _one_by_one(rows: pa.Table, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Cut rows into batches, each in memory of its own that is free once it is used.

    Slices would hold all rows until the last is used. A batch is one piece of memory, not one per
    column: hundreds of small ones are given back to the system late.
    """
    schema = rows.schema
    parts = deque(batch.serialize() for batch in rows.to_batches(max_chunksize=batch_rows))
    del rows
    while parts:
        yield pa.ipc.read_record_batch(parts.popleft(), schema)

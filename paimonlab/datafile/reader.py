"""One data file -> its rows, as the reader's schema sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import no_rows
from paimonlab.datafile.evolution import Evolution
from paimonlab.datafile.masks import (
    WHOLE,
    Mask,
    Positioned,
    Share,
    columns_by_name,
    filtered,
    kept_rows,
)
from paimonlab.datafile.opening import (
    PartitionValues,
    fields_of,
    missing,
    other_size,
    partition_values,
    referred_to_by,
    require_size,
    require_supported,
)
from paimonlab.datafile.row_conditions import RowCondition, RowLook
from paimonlab.datafile.row_pieces import FEW_ROWS, WORTH_DOUBTING_ROWS, RowPieces
from paimonlab.errors import CorruptDataError
from paimonlab.formats.data_format import DataInput, open_input
from paimonlab.formats.parquet.cut import RowRanges, count_rows, ranges_of_rows
from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import ColumnStats, Predicate
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_FEW_DOUBTS = 0.5
"""Of the rows that may be wanted, the share whose pages leave that open, up to which what is
decoded for others is worth it."""
_ASKED_BYTES = 64 << 20
"""Of a row group, what the columns of a predicate may take to be read before the others."""


class DataFile(Struct, frozen=True):
    """An open data file; use it as a context manager.

    Columns are asked for as fields of the reader's schema: those of the table, key copies
    (`paimonlab.datafile.layout.key_field`), the sequence number and the row kind.
    """

    table: str
    """For messages."""
    meta: DataFileMeta
    fields: tuple[DataField, ...]
    """What can be read, by the schema the file was written with."""
    content: DataInput
    partition: PartitionValues | None = None
    """Columns that are not in the file; None: all are."""
    explain: Callable[[CorruptDataError], None] | None = None
    """Is called with the error of a file that was missing when rows of it were read; it may raise
    one that says more. None: there is no more to say."""

    @classmethod
    def open(
        cls,
        file_io: FileIO,
        path: str,
        meta: DataFileMeta,
        schema: TableSchema,
        *,
        table: str,
        partition: bytes,
        legacy_ltz: bool = True,
    ) -> Self:
        """Open a file and check that it is what metadata says.

        Parameters
        ----------
        path
            Absolute.
        schema
            The schema the file was written with.
        table
            For messages.
        partition
            Serialised BinaryRow of the partition it is in.
        legacy_ltz
            ``orc.timestamp-ltz.legacy.type`` of the table.

        Raises
        ------
        CorruptDataError
            If the file is missing, damaged, or differs in size or row count.
        UnsupportedError
            If it is of a format or kind that is not implemented.
        """
        require_supported(path, meta, table)
        try:
            with referred_to_by(table):
                content = open_input(
                    file_io,
                    path,
                    expected_rows=meta.row_count,
                    size_bytes=meta.file_size_bytes,
                    legacy_ltz=legacy_ltz,
                )
        except CorruptDataError:
            require_size(file_io, path, meta, table)  # says more of a file that is missing or cut
            raise
        size_bytes = content.size_bytes
        if size_bytes != meta.file_size_bytes:
            content.close()
            raise other_size(path, size_bytes, meta, table)
        fields, values = fields_of(content, schema, meta), None
        if schema.partition_keys:
            values = partition_values(content, schema, partition)
        return cls(table, meta, fields, content, values)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.content.close()
        if isinstance(error, CorruptDataError):
            self._tell(error)

    def _tell(self, error: CorruptDataError) -> None:
        """Say more of a file that a store, asked for its rows, did not have."""
        is_missing = isinstance(error.__cause__, FileNotFoundError)
        if not is_missing or error.path != self.content.path:
            return
        told = missing(error.path, self.table)
        told.__cause__ = error.__cause__
        if self.explain is not None:
            self.explain(told)
        raise told from error.__cause__

    def batches(
        self,
        wanted: Sequence[DataField],
        *,
        predicate: Predicate | None = None,
        condition: RowCondition | None = None,
        keep: Mask | None = None,
        batch_rows: int,
        share: Share = WHOLE,
        open_bytes: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read rows.

        Parameters
        ----------
        wanted
            Columns of the result; may be empty.
        predicate
            Bound to ``wanted``: rows for which it is not true are left out.
        condition
            Over columns of ``wanted``, as ``predicate``; only rows of which that is true, and that
            are kept, are asked.
        keep : (row_count,) bool or None
            Rows to keep; None: all.
        batch_rows
            Rows of a batch before rows are left out.
        share
            Which row groups to read: several threads may read one file.
        open_bytes
            What pages may take that are open between two batches, where that can be chosen: for
            those that read many files side by side. None: it does not matter. Only without
            ``predicate`` and ``condition``.

        Yields
        ------
        pyarrow.RecordBatch
            With the columns ``wanted``; none is empty.
        """
        evolution = self._evolution(wanted)
        if predicate is None and condition is None:
            pieces = self._pieces(open_bytes)
            for groups, is_last in share.of(pieces.groups(evolution, None, keep)):
                reading = replace(pieces, in_threads=True) if is_last else pieces
                yield from self._kept(reading, groups, evolution, keep, batch_rows)
            return
        pieces = self._pieces()
        look = RowLook(predicate, condition)
        doubtful = None  # whatever files tell, a condition is looked at
        if predicate is not None and condition is None:
            doubtful = pieces.doubtful_groups(evolution, predicate)
        for groups, _ in share.of(pieces.groups(evolution, predicate, keep)):
            for group in groups:
                if doubtful is None or group in doubtful:
                    yield from self._matching(group, wanted, look, keep, batch_rows)
                else:
                    yield from self._kept(pieces, [group], evolution, keep, batch_rows)

    @staticmethod
    def _kept(
        pieces: RowPieces,
        groups: Sequence[RowGroup],
        evolution: Evolution,
        keep: Mask | None,
        batch_rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of row groups that are to be kept."""
        for start, rows in pieces.of_groups(groups, evolution, None, keep, batch_rows):
            yield from _decided(rows, None, keep, start)

    def _matching(
        self,
        group: RowGroup,
        wanted: Sequence[DataField],
        look: RowLook,
        keep: Mask | None,
        batch_rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of a row group that are looked for.

        The columns that are looked at come first; of the others only pages with such rows are
        decoded. Where that would take too much memory, all come together, and so they do where
        pages tell that a predicate is true of most rows.
        """
        names, predicate = look.columns, look.predicate
        asked = [field for field in wanted if field.name in names]
        others = [field for field in wanted if field.name not in names]
        asking = self._evolution(asked)
        pieces = self._pieces()
        ranges = pieces.wanted_rows(group, asking, predicate, keep)
        row_count = count_rows(ranges)
        is_few = row_count <= FEW_ROWS
        is_many = row_count > WORTH_DOUBTING_ROWS
        if is_many and predicate is not None and look.condition is None:
            doubtful = pieces.doubtful_rows(group, asking, predicate)
            if count_rows(doubtful) <= _FEW_DOUBTS * row_count:
                evolution = self._evolution(wanted)
                for start, rows in pieces.of_group(group, ranges, evolution, batch_rows):
                    is_asked = _overlaps(doubtful, start - group.first_row, rows.num_rows)
                    yield from _decided(rows, predicate if is_asked else None, keep, start)
                return
        asked_bytes = self.content.group_bytes(asking.file_fields, group.index)
        if is_few or not asked or asked_bytes > _ASKED_BYTES:
            asked, others = list(wanted), []
            asking = self._evolution(asked)
        is_match = np.zeros(self.meta.row_count if others else 0, np.bool_)
        matches = []
        for start, rows in pieces.of_group(group, ranges, asking, batch_rows):
            kept = None if keep is None else keep[start : start + rows.num_rows]
            mask = look.found(rows, kept)
            found = filtered(rows, mask)
            if not others:
                if found.num_rows:
                    yield found
                continue
            is_match[start : start + rows.num_rows] = mask
            matches.append(found)
        if sum(rows.num_rows for rows in matches):
            decided = pa.Table.from_batches(matches)
            yield from self._beside(decided, group, wanted, others, is_match, batch_rows)

    def _beside(
        self,
        decided: pa.Table,
        group: RowGroup,
        wanted: Sequence[DataField],
        others: Sequence[DataField],
        is_match: Mask,
        batch_rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """Read the other columns of rows that match and put them beside those known."""
        schema = arrow_schema(wanted)
        evolution = self._evolution(others)
        done = 0
        for start, rows in self._pieces().of_groups([group], evolution, None, is_match, batch_rows):
            rest = kept_rows(rows, is_match, start)
            if rest.num_rows:
                known = decided.slice(done, rest.num_rows).combine_chunks().to_batches()[0]
                done += rest.num_rows
                columns_of = {**columns_by_name(rest), **columns_by_name(known)}
                arrays = [columns_of[field.name] for field in wanted]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def positioned(
        self,
        wanted: Sequence[DataField],
        *,
        predicate: Predicate | None = None,
        keep: Mask | None = None,
        batch_rows: int,
    ) -> Iterator[Positioned]:
        """Read all rows but those of row groups that ``predicate`` or ``keep`` rules out."""
        evolution = self._evolution(wanted)
        pieces = self._pieces()
        groups = pieces.groups(evolution, predicate, keep)
        yield from pieces.of_groups(groups, evolution, predicate, keep, batch_rows)

    def _evolution(self, wanted: Sequence[DataField]) -> Evolution:
        evolution = Evolution.between(self.fields, wanted, table=self.table)
        if self.partition is None:
            return evolution
        return evolution.with_constants(self.partition.fields, self.partition.values)

    def _pieces(self, open_bytes: int | None = None) -> RowPieces:
        return RowPieces(self.table, self.meta, self.fields, self.content, open_bytes)

    def blocks(
        self, wanted: Sequence[DataField]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], dict[str, ColumnStats]]:
        """Cut the file into blocks of rows of which something is known.

        Parameters
        ----------
        wanted
            Columns to know something of.

        Returns
        -------
        starts, ends : (b,) int64
            First row of each block and the one after its last, ascending from 0.
        stats : dict of str to ColumnStats
            By name in ``wanted``, one value per block; what is unknown is left out.
        """
        evolution = self._evolution(wanted)
        with referred_to_by(self.table):
            starts, ends, stats = self.content.blocks(evolution.file_fields)
        names = {
            field.name: source.field.name
            for field, source in zip(evolution.fields, evolution.sources, strict=True)
            if source is not None and source.is_unchanged
        }
        known = {name: stats[old] for name, old in names.items() if old in stats}
        return starts, ends, known

    def rows_at(
        self, wanted: Sequence[DataField], positions: npt.NDArray[np.int64]
    ) -> pa.RecordBatch:
        """Read a few rows.

        Parameters
        ----------
        wanted
            Columns of the result.
        positions : (n,) int64
            Rows of the file, ascending.

        Returns
        -------
        pyarrow.RecordBatch
            n rows with the columns ``wanted``.
        """
        evolution = self._evolution(wanted)
        tables = []
        with referred_to_by(self.table):
            for group in self.content.row_groups:
                ends = (group.first_row, group.first_row + group.row_count)
                local = positions[slice(*np.searchsorted(positions, ends))] - group.first_row
                if local.size:
                    ranges = ranges_of_rows(local)
                    tables.append(self.content.read_ranges(evolution.file_fields, group, ranges))
        if not tables:
            return no_rows(evolution.arrow_schema)
        (rows,) = pa.concat_tables(tables).combine_chunks().to_batches()
        return evolution.apply(rows)

    def rows_within(self, wanted: Sequence[DataField], most_bytes: int) -> int:
        """Choose how many rows to read at once so that columns take so many bytes, about."""
        evolution = self._evolution(wanted)
        with referred_to_by(self.table):
            groups = self.content.row_groups
            return self._pieces().rows_within(evolution.file_fields, groups, most_bytes)


def _decided(
    rows: pa.RecordBatch, predicate: Predicate | None, keep: Mask | None, start: int
) -> Iterator[pa.RecordBatch]:
    """Yield those of some rows that are kept and for which a predicate is true, if there are any.

    The first of them has the position ``start`` in the mask of the file.
    """
    mask = None if keep is None else keep[start : start + rows.num_rows]
    if predicate is not None:
        mask = RowLook(predicate).found(rows, mask)
    decided = rows if mask is None else filtered(rows, mask)
    if decided.num_rows:
        yield decided


def _overlaps(ranges: RowRanges, start: int, row_count: int) -> bool:
    """Whether ranges have a row of so many from ``start`` on."""
    return bool(((ranges[:, 0] < start + row_count) & (ranges[:, 1] > start)).any())

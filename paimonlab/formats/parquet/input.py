"""A Parquet file -> Arrow batches, whoever wrote it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.arrow_values import arrow_array, empty_table
from paimonlab.errors import CorruptDataError
from paimonlab.formats.open_file import OpenFile
from paimonlab.formats.parquet.columns import Reading, conform, readings
from paimonlab.formats.parquet.cut import (
    RowRanges,
    choose_pages,
    count_rows,
    cuts,
    ranges_of,
    select,
    whole,
)
from paimonlab.formats.parquet.damage import damage_named, open_existing
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.formats.parquet.narrow_ends import gains_from_wide_ends, have_texts
from paimonlab.formats.parquet.pages import PageIndex, PagePlaces
from paimonlab.formats.parquet.sizes import decoded_bytes
from paimonlab.formats.parquet.statistics import PageStats, joined_stats, row_group_stats
from paimonlab.formats.parquet.stretches import page_stretches
from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.predicates.predicate import ColumnStats, Predicate, columns, may_match_stats
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO, RandomFile

_LARGE_GROUP_ROWS = 1 << 18
"""Rows of a row group that are too many for one thread: twice those of a group written here."""
_STREAM_BYTES = 8 << 20
"""Compressed bytes that a streaming read holds, of all columns."""
_LEAST_BUFFER_BYTES = 16 << 10
_MOST_BUFFER_BYTES = 1 << 20
"""Bounds of what it holds of a column."""
_ROW_BYTES = 16
"""Bytes of a column that each row of a batch is worth: for few rows little is read ahead."""

_WORTH = 0.7
"""Share of the rows of a row group below which its pages are read one by one."""
_FEW_ROWS, _FEW_BYTES = 1 << 13, 1 << 20
"""Of a row group that has no more, all is decoded faster than it is said where its pages are."""
_BLOCK_ROWS = 1 << 13
"""Rows that are taken for a page where pages are not looked at."""


_LARGE_BINARY = pa.large_binary()


class _Settings(NamedTuple):
    """What a reader of pyarrow keeps, so that streams of one reader need the same."""

    buffer_bytes: int = 0
    """Of a column that are read at once; 0: all that a row group has of it."""
    batch_rows: int = 0
    in_threads: bool = False
    wide_ends: bool = False
    """Whether texts and bytes have ends of 64 bits: see `narrow_ends`."""


class ParquetInput(OpenFile):
    """An open file. Checksums of pages are verified as they are read.

    Use it as a context manager.

    Parameters
    ----------
    file_io, path
        The file.
    size_bytes
        What metadata says; None: not known. Where a store is far and the footer is known as well,
        nothing is asked for before the first rows.
    """

    def __init__(self, file_io: FileIO, path: str, size_bytes: int | None = None) -> None:
        self.path = path
        self._file = open_existing(file_io, path, size_bytes)
        self._page_index: PageIndex | None = None
        self._readers: dict[str | None, tuple[_Settings, pq.ParquetFile]] = {}
        try:
            with damage_named(path):
                self._footer = shared_footers.footer(path, self._file)
                self._metadata = self._footer.metadata
                self._page_stats = PageStats(self._metadata)
                self._file.seek(0)
            self.row_groups = tuple(self._row_groups())
        except BaseException:
            self._file.close()
            raise

    @property
    def size_bytes(self) -> int:
        """Size of the file."""
        return int(self._file.size())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def num_rows(self) -> int:
        """Rows in the file."""
        return self._metadata.num_rows

    @property
    def column_names(self) -> frozenset[str]:
        """Names of the columns."""
        return self._footer.column_names

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns as pyarrow sees them, names and types as the file has them."""
        return self._footer.arrow_schema

    def _row_groups(self) -> Iterator[RowGroup]:
        first_row = 0
        for index in range(self._metadata.num_row_groups):
            group = self._metadata.row_group(index)
            yield RowGroup(index, first_row, group.num_rows, group.total_byte_size)
            first_row += group.num_rows

    def group_bytes(self, fields: Sequence[DataField], index: int) -> int:
        """Return about how many bytes columns of a row group take in memory."""
        return decoded_bytes(self._metadata.row_group(index), [field.name for field in fields])

    def group_stats(self, fields: Sequence[DataField]) -> Mapping[str, ColumnStats]:
        """Return what is known of columns, one value per row group."""
        with damage_named(self.path):
            return row_group_stats(self._metadata, fields)

    def wanted_rows(
        self,
        group: RowGroup,
        predicate: Predicate | None,
        fields: Sequence[DataField],
        keep: npt.NDArray[np.bool_] | None,
    ) -> RowRanges:
        """Find the rows of a row group that may be wanted, as far as its pages tell.

        Parameters
        ----------
        group
            A row group of the file.
        predicate
            Over columns of the file, as in `matching_row_groups`; None: true of all rows.
        fields
            Columns of the file and their types.
        keep : (row_count,) bool or None
            Rows of the row group; None: all.

        Returns
        -------
        RowRanges
            All rows where leaving some out would not save much.
        """
        everything = whole(group.row_count)
        if predicate is None and (keep is None or _is_dense(keep)):
            return everything
        if group.row_count <= _FEW_ROWS and group.size_bytes <= _FEW_BYTES:
            return everything
        asked = frozenset[str]() if predicate is None else columns(predicate)
        with damage_named(self.path):
            chosen = [field for field in fields if field.name in asked]
            starts, stats = self._page_stats(self._index, self._file, group.index, chosen)
            if len(starts) == 1:
                starts = self._blocks(group)
                stats = {}
        wanted = np.ones(len(starts), np.bool_)
        if stats and predicate is not None:
            wanted &= may_match_stats(predicate, stats, count=len(starts))
        if keep is not None:
            wanted &= np.logical_or.reduceat(keep, starts)
        ranges = ranges_of(starts, group.row_count, wanted)
        return everything if count_rows(ranges) > _WORTH * group.row_count else ranges

    def blocks(
        self, fields: Sequence[DataField]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], dict[str, ColumnStats]]:
        """Cut the file into blocks of rows by what its pages, or row groups, tell of columns.

        Returns
        -------
        starts, ends : (b,) int64
            First row of each block and the one after its last, ascending from 0.
        stats : dict of str to ColumnStats
            By column name, one value per block.
        """
        starts, ends, stats_of_groups = [], [], []
        with damage_named(self.path):
            of_groups = row_group_stats(self._metadata, fields)
            for group in self.row_groups:
                first, stats = self._page_stats(self._index, self._file, group.index, fields)
                if len(first) == 1:
                    row = arrow_array([group.index], pa.int64())
                    stats = {
                        name: ColumnStats(*(column.take(row) for column in one))
                        for name, one in of_groups.items()
                    }
                starts.append(first + group.first_row)
                ends.append(np.append(first[1:], group.row_count) + group.first_row)
                stats_of_groups.append(stats)
        nothing = np.empty(0, np.int64)
        return (
            np.concatenate([nothing, *starts]),
            np.concatenate([nothing, *ends]),
            joined_stats(stats_of_groups),
        )

    @property
    def _index(self) -> PageIndex:
        if self._page_index is None:
            self._page_index = shared_footers.index(self.path, self._file)
        return self._page_index

    def _blocks(self, group: RowGroup) -> npt.NDArray[np.int64]:
        """Return where the pages of the first column begin, as far as that is known."""
        places = self._index.places(group.index, 0, self._file)
        return np.zeros(1, np.int64) if places is None else places.first_rows

    def stretches(
        self, fields: Sequence[DataField], group: RowGroup, most_bytes: int
    ) -> list[RowRanges] | None:
        """Cut a row group where pages begin, unless open ones hold little: `page_stretches`."""
        decoded = self.group_bytes(fields, group.index)
        if decoded <= most_bytes:
            return None
        columns, encoded, chunks = [], 0, self._metadata.row_group(group.index)
        with damage_named(self.path):
            for field in fields:
                leaf = self._index.leaf(field.name)
                places = None if leaf is None else self._index.places(group.index, leaf, self._file)
                if leaf is None or places is None:
                    return None
                columns.append(places)
                encoded += chunks.column(leaf).total_uncompressed_size
        return page_stretches(
            columns,
            group.row_count,
            encoded_bytes=encoded,
            decoded_bytes=decoded,
            most_bytes=most_bytes,
        )

    def read_ranges(
        self, fields: Sequence[DataField], group: RowGroup, ranges: RowRanges
    ) -> pa.Table:
        """Read some rows of a row group, decoding only the pages they are in.

        Parameters
        ----------
        fields
            Which columns, found by name, and of which types.
        group
            A row group of the file.
        ranges
            Which of its rows.

        Returns
        -------
        pyarrow.Table
            Of ``arrow_schema(fields)``, rows in file order.

        Raises
        ------
        CorruptDataError
            If the file is damaged, or a column is missing or not of its type.
        """
        if not fields:
            return _without_columns(count_rows(ranges))
        schema = arrow_schema(fields)
        if not len(ranges):
            return empty_table(schema)
        with damage_named(self.path):
            parts = readings(self._footer, fields, self.path)
            tables = [self._cut_rows(part, group, ranges) for part in parts]
        return conform(fields, parts, tables, schema, self.path)

    def _cut_rows(self, part: Reading, group: RowGroup, ranges: RowRanges) -> pa.Table:
        if count_rows(ranges) == group.row_count:
            return self._whole_columns(part, group, part.column_names)
        index = self._index
        values_by_name: dict[str, pa.ChunkedArray] = {}
        flat: dict[str, tuple[int, PagePlaces]] = {}
        others = []
        for name in part.column_names:
            leaf = index.leaf(name)
            places = None if leaf is None else index.places(group.index, leaf, self._file)
            if leaf is None or places is None:
                others.append(name)
            else:
                flat[name] = leaf, places
        names = list(flat)
        pages = choose_pages(list(flat.values()), group.row_count, ranges)
        for cut, positions in cuts(index, self._file, group.index, pages):
            file = pq.ParquetFile(
                pa.BufferReader(cut.data),
                coerce_int96_timestamp_unit=part.int96_unit,
                page_checksum_verification=True,
            )
            table = file.read_row_group(0, use_threads=False)
            self._require_rows(group.index, table.num_rows, count_rows(cut.rows))
            table = select(table, cut.rows, ranges)
            for position in positions:
                values_by_name[names[position]] = table.column(names[position])
        if others:
            table = self._whole_columns(part, group, others)
            table = select(table, whole(group.row_count), ranges)
            values_by_name |= {name: table.column(name) for name in others}
        return pa.table({name: values_by_name[name] for name in part.column_names})

    def _whole_columns(self, part: Reading, group: RowGroup, names: Sequence[str]) -> pa.Table:
        file = self._reader(part.int96_unit, _Settings())
        table = file.read_row_group(group.index, names, use_threads=False)
        self._require_rows(group.index, table.num_rows)
        return table

    def batches(
        self,
        fields: Sequence[DataField],
        *,
        batch_rows: int,
        row_groups: Sequence[int] | None = None,
        in_threads: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Read columns piece by piece, holding little more than a piece in memory.

        Columns of a large row group are decoded in parallel: threads cannot share it otherwise.

        Parameters
        ----------
        fields
            Which columns, found by name, and of which types.
        batch_rows
            Rows of a batch; fewer at the end and where Arrow has to cut.
        row_groups
            Indexes; None: all.
        in_threads
            Whether columns of smaller row groups are decoded in parallel as well.

        Yields
        ------
        pyarrow.RecordBatch
            Of ``arrow_schema(fields)``, rows in file order.

        Raises
        ------
        CorruptDataError
            If the file is damaged, or a column is missing or not of its type.
        UnsupportedError
            If a TIMESTAMP(7) to (9) lies outside the years 1677 to 2262.
        """
        schema = arrow_schema(fields)
        indexes = self._indexes(row_groups)
        if not fields:
            yield from _without_columns(self._rows_in(indexes)).to_batches(batch_rows)
            return
        with damage_named(self.path):
            parts = readings(self._footer, fields, self.path)
        names = {field.name.split(".")[0] for field in fields}
        leaves = self._footer.leaf_count(names)
        a_leaf = min(_STREAM_BYTES // max(1, leaves), batch_rows * _ROW_BYTES)
        buffer_bytes = min(max(a_leaf, _LEAST_BUFFER_BYTES), _MOST_BUFFER_BYTES)
        texts = have_texts(fields)
        for index in indexes:
            is_shared = in_threads or self._rows_in([index]) > _LARGE_GROUP_ROWS
            if batch_rows >= _FEW_ROWS:
                self._fetch_ahead(index, names)
            is_held = self._is_stored_in(leaves * buffer_bytes, index, names)
            wide_ends = texts and gains_from_wide_ends(self.row_groups[index])
            settings = _Settings(
                0 if is_held else buffer_bytes, batch_rows, is_shared, wide_ends=wide_ends
            )
            with damage_named(self.path):
                streams = [
                    self._reader(part.int96_unit, settings).iter_batches(
                        batch_rows, [index], part.column_names, use_threads=is_shared
                    )
                    for part in parts
                ]
            row_count = 0
            while tables := self._next_pieces(streams):
                row_count += tables[0].num_rows
                yield from conform(fields, parts, tables, schema, self.path).to_batches()
            self._require_rows(index, row_count)

    def _fetch_ahead(self, index: int, names: Collection[str]) -> None:
        """Let a store that is far fetch columns of a row group with few requests."""
        if not isinstance(self._file, RandomFile):
            return
        group = self._metadata.row_group(index)
        chunks = [
            group.column(number)
            for number, name in enumerate(self._footer.leaf_columns)
            if name in names
        ]
        with damage_named(self.path):
            self._file.will_read([_place(chunk) for chunk in chunks])

    def _is_stored_in(self, most_bytes: int, index: int, names: Collection[str]) -> bool:
        """Whether columns of a row group take no more bytes of the file."""
        if self.row_groups[index].size_bytes <= most_bytes:
            return True  # all columns, not compressed
        group = self._metadata.row_group(index)
        sizes = (
            group.column(leaf).total_compressed_size
            for leaf, name in enumerate(self._footer.leaf_columns)
            if name in names
        )
        return all(total <= most_bytes for total in accumulate(sizes))

    def _next_pieces(self, streams: Sequence[Iterator[pa.RecordBatch]]) -> list[pa.Table]:
        with damage_named(self.path):
            pieces = [next(stream, None) for stream in streams]
        return [pa.Table.from_batches([piece]) for piece in pieces if piece is not None]

    def _require_rows(self, index: int, row_count: int, expected: int | None = None) -> None:
        """Refuse a row group of another length than the footer says.

        Checksums do not cover the headers of pages. Row groups are read one by one so that a
        page which claims fewer values cannot take those of the next row group for its own.
        """
        if expected is None:
            expected = self._metadata.row_group(index).num_rows
        if row_count != expected:
            problem = f"row group {index} has {row_count:,} rows, its footer says {expected:,}"
            raise CorruptDataError(self.path, problem)

    def _reader(self, int96_unit: str | None, settings: _Settings) -> pq.ParquetFile:
        """Return the file as pyarrow reads it: the one opened last, or a new one."""
        known = self._readers.get(int96_unit)
        if known is not None and known[0] == settings:
            return known[1]
        file = pq.ParquetFile(
            self._file,
            metadata=self._metadata,
            buffer_size=settings.buffer_bytes,
            pre_buffer=False,
            coerce_int96_timestamp_unit=int96_unit,
            binary_type=_LARGE_BINARY if settings.wide_ends else None,
            page_checksum_verification=True,
        )
        self._readers[int96_unit] = settings, file
        return file

    def _indexes(self, row_groups: Sequence[int] | None) -> list[int]:
        if row_groups is None:
            return list(range(self._metadata.num_row_groups))
        return list(row_groups)

    def _rows_in(self, indexes: Sequence[int]) -> int:
        return sum(self._metadata.row_group(index).num_rows for index in indexes)


def _place(chunk: pq.ColumnChunkMetaData) -> tuple[int, int]:
    """Return where the pages of a column begin and end in the file."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
    return start, start + chunk.total_compressed_size


def _is_dense(keep: npt.NDArray[np.bool_]) -> bool:
    """Whether most pages have a row to keep."""
    starts = np.arange(0, len(keep), _BLOCK_ROWS)
    touched = np.logical_or.reduceat(keep, starts)
    return len(starts) == 1 or bool(touched.mean() > _WORTH)


def _without_columns(rows: int) -> pa.Table:
    return pa.table({"_": pa.nulls(rows)}).select([])

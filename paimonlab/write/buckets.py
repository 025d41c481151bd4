"""Which rows of a batch go where: groups of one partition and one bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.datafile.together import AdjacentRows
from paimonlab.errors import DataError
from paimonlab.merge.sorting import sorted_positions
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.write.gathering import taken

UNAWARE_BUCKET = 0
"""Bucket of all rows of an append table without buckets."""
_FEW_CODES = 1 << 16
"""Groups up to which rows are sorted by numbers of two bytes."""
_COUNTED_CODES = 1 << 12
"""Groups up to which Arrow counts them and puts rows in their places, numpy's radix sort takes
half as long again from 256 on."""
_SOUGHT_CODES = 8
"""Groups up to which looking for the rows of each takes less time than sorting."""
_MOST_CODES = 1 << 62
"""Combinations of values up to which they have a number of their own before they are counted."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one partition and bucket."""

    partition: bytes
    """Serialised BinaryRow."""
    bucket: int
    rows: npt.NDArray[np.int64] | None
    """(m,) positions in the batch, ascending; None: all of them."""

    @property
    def key(self) -> BucketKey:
        """Partition and bucket."""
        return self.partition, self.bucket

    def count_in(self, rows: pa.RecordBatch | pa.Table) -> int:
        """How many of the rows of a batch belong to the group."""
        return rows.num_rows if self.rows is None else len(self.rows)

    @property
    def count(self) -> int:
        """How many rows there are, where the group is one of many."""
        assert self.rows is not None, "a group of many has positions"
        return len(self.rows)


def groups(rows: pa.RecordBatch | pa.Table, schema: TableSchema, buckets: int) -> Iterator[Group]:
    """Split rows by partition and bucket.

    Parameters
    ----------
    rows
        n rows with the columns of the table.
    schema
        The table's schema.
    buckets
        The option ``bucket``: at least 1, or -1 for an append table without buckets.

    Yields
    ------
    Group
        In order of first appearance of the partition, then of the bucket id. The positions
        of all groups together are 0..n-1, each once.
    """
    near = _near_numbers(rows, schema) if buckets <= 1 else None
    if near is not None:
        yield from sorted(grouped(*near, None), key=_first)
        return
    codes, partitions = partition_codes(rows, schema)
    if buckets <= 1:  # in the only one are all rows, whatever the function
        yield from grouped(codes, partitions, None)
    else:
        fields = [schema.field(key) for key in schema.bucket_keys]
        yield from grouped(
            codes, partitions, bucket_ids(rows, fields, buckets, schema.bucket_function), buckets
        )


def grouped(
    codes: npt.NDArray[np.signedinteger[Any]],
    partitions: Sequence[bytes],
    bucket_of: npt.NDArray[np.int32] | None,
    buckets: int | None = None,
) -> Iterator[Group]:
    """Split rows whose partition and bucket are known.

    Parameters
    ----------
    codes : (n,) int64
        Index into ``partitions`` of each row.
    partitions
        Serialised BinaryRows.
    bucket_of : (n,) int32
        Bucket of each row; None: `UNAWARE_BUCKET`.
    buckets
        An upper bound above the highest bucket; None: one more than it.

    Yields
    ------
    Group
        In order of the codes, then of the bucket id; none without rows.
    """
    per_partition = 1
    numbers: npt.NDArray[np.integer[Any]] = codes
    if bucket_of is not None:
        per_partition = int(bucket_of.max(initial=0)) + 1 if buckets is None else buckets
        numbers = bucket_of
        if len(partitions) > 1:
            numbers = codes.astype(np.int64, copy=False) * per_partition + bucket_of
    for code, positions in positions_of(numbers, len(partitions) * per_partition):
        partition, bucket = divmod(code, per_partition)
        yield Group(partitions[partition], bucket, positions)


def largest(groups: list[Group], total: int) -> tuple[list[Group], list[Group]]:
    """Split groups: the largest that together hold at least half of ``total`` rows, the others."""
    if any(group.rows is None for group in groups):
        return groups, []
    by_size = sorted(groups, key=lambda group: -group.count)
    taken = 0
    for number, group in enumerate(by_size, start=1):
        taken += group.count
        if 2 * taken >= total:
            return by_size[:number], by_size[number:]
    raise DataError("groups do not hold all rows")  # unreachable: together they hold them all


def picked_rows(
    rows: pa.Table, groups: Sequence[Group], partition_keys: Sequence[str] = ()
) -> AdjacentRows:
    """Pick the rows of groups: one group after the other, each in its order.

    Columns of ``partition_keys`` are not picked: each group has one value of them.
    """
    positions = [group.rows for group in groups if group.rows is not None]
    if len(positions) < len(groups):
        assert len(groups) == 1, "one of many has positions"
        return AdjacentRows(rows, [rows.num_rows])
    lengths = [*map(len, positions)]
    # Values of floating point that are equal may be stored in two ways.
    repeated = [name for name in partition_keys if not pt.is_floating(rows.schema.field(name).type)]
    if len(repeated) == rows.num_columns:
        repeated = []
    picked = taken(rows, _joined(positions), without=repeated)
    if repeated:
        firsts = rows.select(repeated).take(arrow_array(np.stack([own[0] for own in positions])))
        numbers = arrow_array(np.repeat(np.arange(len(lengths), dtype=np.int32), lengths))
        for name in repeated:
            at = rows.schema.get_field_index(name)
            picked = picked.add_column(at, rows.schema.field(at), firsts.column(name).take(numbers))
    return AdjacentRows(picked, lengths)


def _joined(positions: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Put positions one after the other, without a copy where they are so already."""
    first, base = positions[0], positions[0].base
    if isinstance(base, np.ndarray) and base.dtype == first.dtype and base.ndim == 1:
        end = address = first.ctypes.data
        for own in positions:
            if own.base is not base or own.ctypes.data != end:
                break
            end += own.nbytes
        else:
            start = (address - base.ctypes.data) // base.itemsize
            return base[start : start + (end - address) // base.itemsize]
    return np.concatenate(positions)


def partition_codes(
    rows: pa.RecordBatch | pa.Table, schema: TableSchema
) -> tuple[npt.NDArray[np.int64], list[bytes]]:
    """Give the partitions of rows numbers.

    Returns
    -------
    codes : (n,) int64
        Index into the partitions of each row.
    partitions : list of bytes
        Serialised BinaryRows in order of first appearance.
    """
    if not schema.partition_keys:
        return np.zeros(rows.num_rows, np.int64), [EMPTY_ROW]
    fields = [schema.field(key) for key in schema.partition_keys]
    # Encoding is per distinct combination of values, not per row.
    codes, values = _distinct([rows.column(field.name) for field in fields])
    encoded = encode(values, [field.type for field in fields])
    return codes, encoded.to_pylist()


def _near_numbers(
    rows: pa.RecordBatch | pa.Table, schema: TableSchema
) -> tuple[npt.NDArray[np.signedinteger[Any]], list[bytes]] | None:
    """Give partitions of integers or days that are near each other numbers.

    Returns
    -------
    codes, partitions
        As `partition_codes` does in a third of the time, but in order of the values, and the
        partitions are all from the least value to the greatest. None: there are other columns, few
        rows, nulls, or too many values from one to the other.
    """
    if len(schema.partition_keys) != 1 or rows.num_rows < _COUNTED_CODES:
        return None
    [key] = schema.partition_keys
    column = rows.column(key)
    if not (pt.is_signed_integer(column.type) or pt.is_date32(column.type)) or column.null_count:
        return None
    values = numpy_values(column.cast(pa.int32()) if pt.is_date32(column.type) else column)
    least, greatest = int(values.min()), int(values.max())
    if greatest - least >= _COUNTED_CODES:
        return None
    between = (np.arange(greatest - least + 1) + least).astype(values.dtype)
    encoded = encode([arrow_array(between).view(column.type)], [schema.field(key).type])
    wide = np.promote_types(values.dtype, np.int32)  # the difference of two bytes may be none
    return np.subtract(values, least, dtype=wide), encoded.to_pylist()


def _first(group: Group) -> int:
    return 0 if group.rows is None else int(group.rows[0])


def _distinct(
    columns: Sequence[pa.Array | pa.ChunkedArray],
) -> tuple[npt.NDArray[np.int64], list[pa.Array]]:
    """Give combinations of values numbers in order of appearance; return both, values by column."""
    parts = [_encoded(column) for column in columns]
    if len(parts) == 1:
        return numpy_values(parts[0].indices).astype(np.int64), [parts[0].dictionary]
    codes, count = numpy_values(parts[0].indices).astype(np.int64), len(parts[0].dictionary)
    for part in parts[1:]:
        if count * len(part.dictionary) > _MOST_CODES:
            codes, count = _numbered(codes)
        codes *= max(len(part.dictionary), 1)
        codes += numpy_values(part.indices)
        count *= len(part.dictionary)
    codes, _ = _numbered(codes)
    # Codes are numbered in order of appearance: each new one is larger than all before.
    highest = np.maximum.accumulate(codes)
    firsts = np.flatnonzero(np.concatenate([[True], highest[1:] != highest[:-1]]))[: len(codes)]
    return codes, [part.dictionary.take(part.indices.take(arrow_array(firsts))) for part in parts]


def _encoded(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.dictionary_encode(array, null_encoding="encode")


def _numbered(codes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """Give codes numbers in order of appearance; return how many there are, too."""
    encoded = pc.dictionary_encode(arrow_array(codes))
    return numpy_values(encoded.indices).astype(np.int64), len(encoded.dictionary)


def positions_of(
    codes: npt.NDArray[np.integer[Any]], count: int
) -> Iterator[tuple[int, npt.NDArray[np.int64] | None]]:
    """Yield each code that occurs and its positions, ascending; None: all positions.

    Parameters
    ----------
    codes : (n,) integers
        In ``[0, count)``.
    count
        Number of codes.
    """
    if not len(codes):
        return
    if count == 1 or codes[0] == codes[-1] == codes.max() == codes.min():
        yield int(codes[0]), None
        return
    if count > _FEW_CODES:
        order, is_last = sorted_positions(codes)
        places = np.flatnonzero(is_last)
        present, ends = codes[order[places]].tolist(), (places + 1).tolist()
    else:
        # Small integers are radix sorted, in linear time.
        small = codes.astype(np.uint8 if count <= 1 << 8 else np.uint16)
        if count <= _SOUGHT_CODES:
            found = ((code, np.flatnonzero(small == code)) for code in range(count))
            yield from ((code, positions) for code, positions in found if len(positions))
            return
        if 1 << 8 < count <= _COUNTED_CODES:  # it is stable as well
            order = numpy_values(pc.sort_indices(arrow_array(small))).view(np.int64)
        else:
            order = np.argsort(small, kind="stable")
        lengths = np.bincount(codes, minlength=count)
        occurring = np.flatnonzero(lengths)
        present, ends = occurring.tolist(), np.cumsum(lengths)[occurring].tolist()
    start = 0
    for code, end in zip(present, ends, strict=True):
        yield code, order[start:end]
        start = end

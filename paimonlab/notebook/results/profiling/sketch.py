"""Everything that is known about a column, and of all columns of some rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.notebook.results.column_facts import is_comparable
from paimonlab.notebook.results.profiling.bins import Bins, Scale
from paimonlab.notebook.results.profiling.distinct import Distinct
from paimonlab.notebook.results.profiling.frequent import Frequent
from paimonlab.notebook.results.profiling.lengths import Lengths
from paimonlab.notebook.results.profiling.mixing import mixed
from paimonlab.notebook.results.profiling.moments import Moments
from paimonlab.notebook.results.profiling.sample import Sample

PartT = TypeVar("PartT", Bins, Lengths, Sample)

_CHUNK_ROWS = 65_536
_CHUNK_BYTES = 64_000_000
_STREAM_BITS = np.uint64(40)
_TIMES = {"s": Scale.SECONDS, "ms": Scale.MILLIS, "us": Scale.MICROS, "ns": Scale.NANOS}


def has_facts(kind: pa.DataType) -> bool:
    """Tell whether more than the nulls of a column is counted: nested values are not."""
    return is_comparable(kind)


@dataclass(frozen=True, slots=True)
class ColumnSketch:
    """A column of some rows."""

    null_count: int
    nan_count: int = 0
    infinite_count: int = 0
    ends: pa.Array | None = None
    """The least value and the largest, NaN not among them; None if there are none."""
    moments: Moments = field(default_factory=Moments)
    """Of the finite numbers."""
    distinct: Distinct | None = None
    """None if values cannot be compared."""
    frequent: Frequent | None = None
    sample: Sample | None = None
    """Of finite numbers and times; None if it has no such values."""
    bins: Bins | None = None
    lengths: Lengths | None = None
    """None if there are no texts."""

    @staticmethod
    def of(column: pa.Array, keys: npt.NDArray[np.uint64]) -> ColumnSketch:
        """Sum up a column.

        Parameters
        ----------
        column : (n,)
            Of any type.
        keys : (n,)
            A number for each row that no other row has, well mixed.
        """
        kind, nulls = column.type, column.null_count
        if not has_facts(kind):
            return ColumnSketch(nulls)
        values = column.drop_null() if nulls else column
        keys = keys[numpy_values(column.is_valid())] if nulls else keys
        nans = infinite = 0
        finite, finite_keys = values, keys
        if pa.types.is_floating(kind):
            values = pc.add(values, arrow_scalar(0.0, kind))  # -0.0 becomes 0.0
            is_nan, is_finite = pc.is_nan(values), pc.is_finite(values)
            nans = pc.sum(is_nan).as_py() or 0
            infinite = len(values) - nans - (pc.sum(is_finite).as_py() or 0)
            finite, finite_keys = values, keys
            if nans or infinite:
                finite = values.filter(is_finite)
                finite_keys = keys[numpy_values(is_finite)]
            values = values.filter(pc.invert(is_nan)) if nans else values
        has_order = _is_number(kind) or pa.types.is_temporal(kind)
        is_text = not has_order and not pa.types.is_boolean(kind)
        return ColumnSketch(
            nulls,
            nans,
            infinite,
            _ends(values),
            Moments.of(_floats(finite)) if _is_number(kind) else Moments(),
            Distinct.of(values) + _of_nan(nans),
            Frequent.of(values),
            Sample.of(finite, finite_keys) if has_order else None,
            bins_of(finite) if has_order else None,
            Lengths.of(values) if is_text else None,
        )

    def __add__(self, other: ColumnSketch) -> ColumnSketch:
        if self.distinct is None or other.distinct is None:
            return ColumnSketch(self.null_count + other.null_count)
        assert self.frequent is not None
        assert other.frequent is not None
        ends = [sketch.ends for sketch in (self, other) if sketch.ends is not None]
        return ColumnSketch(
            self.null_count + other.null_count,
            self.nan_count + other.nan_count,
            self.infinite_count + other.infinite_count,
            _ends(pa.concat_arrays(ends)) if ends else None,
            self.moments + other.moments,
            self.distinct + other.distinct,
            self.frequent + other.frequent,
            _sum(self.sample, other.sample),
            _sum(self.bins, other.bins),
            _sum(self.lengths, other.lengths),
        )

    def repeated(self, count: int) -> ColumnSketch:
        """Return the sketch of ``count`` rows that are all like the one row of this."""
        if self.null_count or self.frequent is None:
            return replace(self, null_count=count * self.null_count)
        lengths, bins = self.lengths, self.bins
        counts = pc.multiply(self.frequent.counts, arrow_scalar(count))
        return replace(
            self,
            moments=replace(self.moments, count=count * self.moments.count),
            frequent=replace(self.frequent, counts=counts),
            bins=bins and replace(bins, counts=bins.counts * count),
            lengths=lengths and replace(lengths, total=lengths.total * count),
        )


@dataclass(frozen=True, slots=True)
class RowSketch:
    """All columns of some rows."""

    row_count: int
    columns: tuple[ColumnSketch, ...]

    @staticmethod
    def empty(kinds: Sequence[pa.DataType]) -> RowSketch:
        """Return the sketch of no rows."""
        nothing = np.empty(0, np.uint64)
        return RowSketch(0, tuple(ColumnSketch.of(pa.nulls(0, kind), nothing) for kind in kinds))

    def __add__(self, other: RowSketch) -> RowSketch:
        columns = (
            column + other_column
            for column, other_column in zip(self.columns, other.columns, strict=True)
        )
        return RowSketch(self.row_count + other.row_count, tuple(columns))


def sketch_batches(
    batches: Iterable[pa.RecordBatch], kinds: Sequence[pa.DataType], *, stream: int = 0
) -> RowSketch:
    """Sum up all rows of some batches, in one pass and bounded memory.

    Parameters
    ----------
    batches
        Columns of `kinds`, in their order.
    kinds
        The types.
    stream
        A number below 2^24 that no other part of the same rows has.
    """
    sketch = RowSketch.empty(kinds)
    for chunk in _chunks(batches):
        first = np.uint64(sketch.row_count) + (np.uint64(stream) << _STREAM_BITS)
        keys = mixed(first + np.arange(chunk.num_rows, dtype=np.uint64))
        columns = tuple(ColumnSketch.of(_whole(column), keys) for column in chunk.columns)
        sketch += RowSketch(chunk.num_rows, columns)
    return sketch


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put small batches together: a sum costs the same for any number of rows."""
    collected: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        collected.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield pa.Table.from_batches(collected)
            collected, rows, size = [], 0, 0
    if collected:
        yield pa.Table.from_batches(collected)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _ends(values: pa.Array) -> pa.Array | None:
    if not len(values):
        return None
    kind = values.type
    ordered = values.cast(pa.int64()) if pa.types.is_duration(kind) else values
    extremes = pc.min_max(ordered)
    return arrow_array([extremes["min"], extremes["max"]]).cast(kind)


def _of_nan(count: int) -> Distinct:
    return Distinct.of(arrow_array(np.array([np.nan]))) if count else Distinct()


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    """Return the closest floats; Arrow's own cast of decimals is not as close."""
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.string())
    floats: npt.NDArray[np.float64] = numpy_values(values.cast(pa.float64(), safe=False))
    return floats


def bins_of(values: pa.Array) -> Bins | None:
    """Count finite numbers or times, none of them null, in ranges; None if there are none."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Bins.of(_floats(values), Scale.FLOAT)
    if not pa.types.is_temporal(kind):
        return Bins.of(numpy_values(values.cast(pa.int64())), Scale.WHOLE)
    numbers = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    numbers = numpy_values(numbers.cast(pa.int64()))
    if pa.types.is_date32(kind):
        return Bins.of(numbers, Scale.WHOLE)
    return Bins.of(numbers, Scale.MILLIS if pa.types.is_date64(kind) else _TIMES[kind.unit])


def _sum(left: PartT | None, right: PartT | None) -> PartT | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right

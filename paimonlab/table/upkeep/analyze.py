"""Statistics of the rows of a table, as ANALYZE computes them.

Source: apache/paimon@1.3.1
``org.apache.paimon.spark.commands.PaimonAnalyzeTableColumnCommand``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.interrupts import interrupts_held_back
from paimonlab.spec.statistics.table import ColumnStatistics, Statistics
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.value_text import display_texts
from paimonlab.table.reading.scan import Scan

_TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_LENGTHS = {
    TypeRoot.BOOLEAN: 1,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INT: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.FLOAT: 4,
    TypeRoot.DOUBLE: 8,
    TypeRoot.DATE: 4,
    TypeRoot.TIME: 4,
    TypeRoot.TIMESTAMP: 8,
    TypeRoot.TIMESTAMP_LTZ: 8,
}
_COMPACT_DECIMAL = 18
_MOST_HASHES = 1 << 16
"""Distinct values that are counted one by one; of more the number is estimated, to about 0.4 %."""


def statistics_of(scan: Scan, columns: Sequence[str] | None) -> Statistics | None:
    """Compute statistics in one pass over the rows.

    Parameters
    ----------
    scan
        Of all rows.
    columns
        Names; None: all columns of atomic types.

    Returns
    -------
    Statistics or None
        None when nothing was ever committed.

    Raises
    ------
    ColumnNotFoundError
        If a column does not exist.
    UnsupportedError
        If a column that is named has a nested type.
    """
    snapshot = scan.snapshot
    if snapshot is None:
        return None
    chosen = _chosen(scan, columns)
    gathered = {field.name: _Column(field) for field in chosen}
    narrowed = scan.narrowed([field.name for field in chosen], None)
    row_count = 0
    for batch in narrowed.to_batches():
        row_count += batch.num_rows
        for name, column in gathered.items():
            column.add(batch.column(name))
    if not chosen:
        row_count = narrowed.count()
    total = snapshot.total_record_count or 0
    size = sum(scan.plan_here().files["file_size_bytes"].to_pylist())
    return Statistics(
        snapshot_id=snapshot.id,
        schema_id=snapshot.schema_id,
        merged_record_count=row_count,
        merged_record_size=round(size * row_count / total) if total else 0,
        columns={name: column.statistics() for name, column in gathered.items()},
    )


def _chosen(scan: Scan, columns: Sequence[str] | None) -> list[DataField]:
    fields = {field.name: field for field in scan.schema.fields}
    if columns is None:
        return [field for field in fields.values() if _is_counted(field)]
    for name in columns:
        if name not in fields:
            raise ColumnNotFoundError(name, scan.definition.name, list(fields))
        if not _is_counted(fields[name]):
            raise UnsupportedError(
                f"statistics of the column {name!r}",
                f"{scan.definition.name}: its type {fields[name].type} has no order and no length",
            )
    return [fields[name] for name in columns]


def _is_counted(column: DataField) -> bool:
    if not isinstance(column.type, AtomicType):
        return False
    root = column.type.root
    return root in _LENGTHS or root in _TEXTS or root in _BYTES or root is TypeRoot.DECIMAL


@dataclass(slots=True)
class _Column:
    """What is known of a column after the rows seen so far."""

    column: DataField
    nulls: int = 0
    values: int = 0
    length: int = 0
    longest: int = 0
    low: Any = None
    high: Any = None
    has_nan: bool = False
    hashes: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """The smallest hashes, ascending."""

    @property
    def type(self) -> AtomicType:
        assert isinstance(self.column.type, AtomicType), "only such columns are counted"
        return self.column.type

    def add(self, column: pa.Array) -> None:
        """Take the rows of a batch."""
        self.nulls += column.null_count
        present = column.drop_null()
        if not len(present):
            return
        self.values += len(present)
        self._count(present)
        root = self.type.root
        if root in _TEXTS or root in _BYTES:
            measure = pc.utf8_length if root in _TEXTS else pc.binary_length
            lengths = measure(present)
            self.length += pc.sum(lengths).as_py()
            self.longest = max(self.longest, pc.max(lengths).as_py())
        else:
            self._widen(present)

    def _count(self, present: pa.Array) -> None:
        with interrupts_held_back():
            import polars as pl  # noqa: PLC0415 - 0.1 s to import

        # Hashes first: finding unique values takes threads, which a forked process has not.
        with interrupts_held_back():  # polars makes a panic of one, or nothing
            hashes = pl.Series(pl.from_arrow(present)).hash(seed=0).to_arrow()
        both = np.concatenate([self.hashes, numpy_values(pc.unique(hashes))])
        self.hashes = np.unique(both)[:_MOST_HASHES]

    def _widen(self, present: pa.Array) -> None:
        if pa.types.is_floating(present.type):
            is_nan = pc.is_nan(present)
            self.has_nan |= bool(pc.any(is_nan).as_py())
            present = present.filter(pc.invert(is_nan))
            if not len(present):
                return
        ends = pc.min_max(present)
        low, high = ends["min"], ends["max"]
        self.low = low if self.low is None or low.as_py() < self.low.as_py() else self.low
        self.high = high if self.high is None or high.as_py() > self.high.as_py() else self.high

    def statistics(self) -> ColumnStatistics:
        """Return what is known; lengths of texts are in characters, of all others in bytes."""
        average, longest = self._lengths()
        low = self._text(self.low)
        high = "NaN" if self.has_nan else self._text(self.high)
        if self.has_nan and low is None:
            low = "NaN"
        return ColumnStatistics(
            id=self.column.id,
            distinct_count=self._distinct(),
            min=low,
            max=high,
            null_count=self.nulls,
            average_length=average,
            max_length=longest,
        )

    def _distinct(self) -> int:
        if len(self.hashes) < _MOST_HASHES:
            return len(self.hashes)
        return round((_MOST_HASHES - 1) / (float(self.hashes[-1]) / 2.0**64))

    def _lengths(self) -> tuple[int, int]:
        root = self.type.root
        if root is TypeRoot.DECIMAL:
            is_compact = (self.type.precision or 0) <= _COMPACT_DECIMAL
            return (8, 8) if is_compact else (16, 16)
        if root in _LENGTHS:
            return _LENGTHS[root], _LENGTHS[root]
        return math.ceil(self.length / self.values) if self.values else 0, self.longest

    def _text(self, value: pa.Scalar | None) -> str | None:
        if value is None:
            return None
        return display_texts(arrow_array([value.as_py()], to_arrow(self.type)), self.type)[0]

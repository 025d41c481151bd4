"""Statistics of the rows of a file: minimum, maximum and null count per column.

Source: apache/paimon@1.3.1 ``org.apache.paimon.stats.SimpleStats``,
``org.apache.paimon.statistics``, ``org.apache.paimon.stats.SimpleStatsConverter``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import SimpleStats
from paimonlab.spec.statistics.mode import StatsKind, StatsMode, StatsOptions
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot

__all__ = [
    "ColumnStats",
    "StatsCollector",
    "StatsKind",
    "StatsMode",
    "StatsOptions",
    "collect_stats",
    "truncate_max",
    "truncate_min",
]

_WITHOUT_ORDER = (TypeRoot.VARIANT, TypeRoot.BLOB)
_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of one column."""

    min: pa.Array
    """Of length 1; null: unknown."""
    max: pa.Array
    """Of length 1; null: unknown."""
    null_count: int | None
    """None: unknown."""

    @property
    def is_unknown(self) -> bool:
        """Whether nothing at all is known."""
        return self.null_count is None and not self.min.is_valid()[0].as_py()


class StatsCollector:
    """Collects statistics of rows that come in pieces.

    Parameters
    ----------
    fields
        The columns, found by name.
    modes
        What to keep, one per column.
    """

    def __init__(self, fields: Sequence[DataField], modes: Sequence[StatsMode]) -> None:
        self._fields = tuple(fields)
        self._columns = [
            _ColumnCollector(field.type, mode) for field, mode in zip(fields, modes, strict=True)
        ]

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Take rows into account."""
        for field, column in zip(self._fields, self._columns, strict=True):
            column.add(rows.column(field.name))

    def columns(self) -> list[ColumnStats]:
        """Return the statistics so far, one per column."""
        return [column.stats() for column in self._columns]

    def finish(self, *, dense: bool) -> tuple[SimpleStats, tuple[str, ...] | None]:
        """Return the statistics as metadata stores them.

        Parameters
        ----------
        dense
            Whether columns of which nothing is known are left out.

        Returns
        -------
        stats : SimpleStats
        columns : tuple of str | None
            Names of the columns that ``stats`` covers; None: all of them.
        """
        known = [
            (field, stats)
            for field, stats in zip(self._fields, self.columns(), strict=True)
            if not (dense and stats.is_unknown)
        ]
        types = [field.type for field, _ in known]
        simple = SimpleStats(
            encode([stats.min for _, stats in known], types)[0].as_py(),
            encode([stats.max for _, stats in known], types)[0].as_py(),
            tuple(stats.null_count for _, stats in known),
        )
        if len(known) == len(self._fields):
            return simple, None
        return simple, tuple(field.name for field, _ in known)


def collect_stats(
    rows: pa.RecordBatch | pa.Table,
    fields: Sequence[DataField],
    modes: Sequence[StatsMode],
    *,
    dense: bool,
) -> tuple[SimpleStats, tuple[str, ...] | None]:
    """Collect statistics of rows at once, as `StatsCollector` does."""
    collector = StatsCollector(fields, modes)
    collector.add(rows)
    return collector.finish(dense=dense)


@dataclass(slots=True)
class _ColumnCollector:
    data_type: DataType
    mode: StatsMode
    extremes: list[pa.Scalar] = dataclasses.field(default_factory=list)
    """Smallest and largest values of the pieces, nulls included."""
    null_count: int = 0
    has_nan: bool = False

    def add(self, column: pa.Array | pa.ChunkedArray) -> None:
        if not self._has_order or self.mode.kind is StatsKind.NONE:
            return
        self.null_count += column.null_count
        if self.mode.kind is StatsKind.COUNTS or self.has_nan:
            return
        if pa.types.is_floating(column.type):
            self.has_nan = bool(pc.any(pc.is_nan(column)).as_py())
        low_high = pc.min_max(column)
        self.extremes += [low_high["min"], low_high["max"]]

    def stats(self) -> ColumnStats:
        arrow_type = to_arrow(self.data_type)
        unknown = pa.nulls(1, arrow_type)
        if not self._has_order or self.mode.kind is StatsKind.NONE:
            return ColumnStats(unknown, unknown, None)
        # NaN is larger than any number to some engines and smaller to none.
        if self.mode.kind is StatsKind.COUNTS or self.has_nan or not self.extremes:
            return ColumnStats(unknown, unknown, self.null_count)
        low_high = pc.min_max(pa.array(self.extremes, self.extremes[0].type))
        low, high = _kept(
            low_high["min"].cast(arrow_type), low_high["max"].cast(arrow_type), self.mode
        )
        if low is None or high is None:
            return ColumnStats(unknown, unknown, self.null_count)
        return ColumnStats(low, high, self.null_count)

    @property
    def _has_order(self) -> bool:
        return isinstance(self.data_type, AtomicType) and self.data_type.root not in _WITHOUT_ORDER


def _kept(
    low: pa.Scalar, high: pa.Scalar, mode: StatsMode
) -> tuple[pa.Array, pa.Array] | tuple[None, None]:
    """Cut texts and bytes; make sure that both zeros lie between bounds that are zero."""
    if not low.is_valid:
        return None, None
    if pa.types.is_floating(low.type):
        low = pa.scalar(-0.0, low.type) if low.as_py() == 0 else low
        high = pa.scalar(0.0, high.type) if high.as_py() == 0 else high
    is_cut = pa.types.is_string(low.type) or pa.types.is_binary(low.type)
    if not is_cut or mode.kind is StatsKind.FULL:
        return pa.array([low], low.type), pa.array([high], high.type)
    smallest, largest = low.as_py(), truncate_max(high.as_py(), mode.length)
    if largest is None:
        return None, None
    cut = truncate_min(smallest, mode.length)
    return pa.array([cut], low.type), pa.array([largest], high.type)


def truncate_min(value: str | bytes, length: int) -> str | bytes:
    """Cut a text to code points or bytes to bytes; the result is not larger.

    >>> truncate_min("abcdef", 3), truncate_min(b"ab", 3)
    ('abc', b'ab')
    """
    return value[:length]


def truncate_max(value: str | bytes, length: int) -> str | bytes | None:
    r"""Cut a text to code points or bytes to bytes; the result is not smaller.

    Where something is cut off, the last code point or byte that can be is made one larger.

    Returns
    -------
    str | bytes | None
        None: nothing that short is as large.

    Examples
    --------
    >>> truncate_max("abcdefghijklmnopqrs", 16), truncate_max(b"a\xff\xff", 2)
    ('abcdefghijklmnoq', b'b')
    """
    if len(value) <= length:
        return value
    if isinstance(value, bytes):
        kept = value[:length].rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    kept_text = value[:length].rstrip(chr(_LAST_CODE_POINT))
    return kept_text[:-1] + _next_code_point(kept_text[-1]) if kept_text else None


def _next_code_point(character: str) -> str:
    following = ord(character) + 1
    return chr(_SURROGATES.stop if following in _SURROGATES else following)

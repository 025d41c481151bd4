"""In which order a sorting compaction puts rows.

Source: apache/paimon@1.3.1 ``org.apache.paimon.CoreOptions.OrderType``, ``…#clusteringStrategy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.ordering.order_words import (
    check_can_be_ordered,
    has_any_length,
    ordered_bytes,
    ordered_words,
)
from paimonlab.compact.ordering.space_curves import hilbert, zorder
from paimonlab.errors import SchemaError
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import DataField

_MOST_ZORDER_COLUMNS = 4
_RANK_BITS = 16
_MOST_RANKS = 1 << 12


class OrderType(StrEnum):
    """How several columns make one order."""

    ORDER = "order"
    """By the first column, rows that are equal there by the second, and so on."""
    ZORDER = "zorder"
    """Along the z-order curve: the bits of all columns in turn."""
    HILBERT = "hilbert"
    """Along the Hilbert curve: neighbours on it are neighbours in space."""

    @classmethod
    def of(cls, strategy: str | None, count: int) -> OrderType:
        """Read ``clustering.strategy``; None or ``auto``: the best for so many columns."""
        if strategy is not None and strategy != "auto":
            return cls(strategy)
        if count == 1:
            return cls.ORDER
        return cls.ZORDER if count <= _MOST_ZORDER_COLUMNS else cls.HILBERT


@dataclass(frozen=True, slots=True)
class RowOrder:
    """An order of rows by some columns."""

    fields: tuple[DataField, ...]
    type: OrderType
    text_bytes: int = 32
    """Bytes of a text that count."""

    @classmethod
    def by(
        cls,
        names: Sequence[str],
        strategy: str | None,
        schema: TableSchema,
        *,
        table: str,
    ) -> RowOrder:
        """Make the order that a user asks for.

        Raises
        ------
        ColumnNotFoundError
            If there is no such column.
        SchemaError
            If rows cannot be ordered by a column, or it is a partition column.
        ValueError
            If there are no or too few columns, one is given twice, or the strategy is unknown.
        """
        if isinstance(names, str):
            raise TypeError(f"order_by must be a list of names, not the text {names!r}")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"order_by needs different columns, not {list(names)}")
        fields = tuple(schema.field(name, table=table) for name in names)
        for field in fields:
            check_can_be_ordered(field, table=table)
            if field.name in schema.partition_keys:
                raise SchemaError(
                    f"{table}: there is nothing to order by partition column {field.name!r}: "
                    "all rows of a partition have one value"
                )
        type_ = OrderType.of(strategy, len(fields))
        if type_ is OrderType.HILBERT and len(fields) == 1:
            raise ValueError("the hilbert curve needs at least two columns")
        return cls(fields, type_)

    def __str__(self) -> str:
        """Describe the order in words."""
        return f"{self.type} by {', '.join(self.names)}"

    @property
    def names(self) -> list[str]:
        """The columns."""
        return [field.name for field in self.fields]

    def sorted(self, rows: pa.Table) -> pa.Table:
        """Put rows in order that are all there are; nulls come first."""
        return self.fitted(rows).sorted(rows)

    def fitted(self, sample: pa.Table) -> FittedOrder:
        """Learn how values are spread.

        Parameters
        ----------
        sample
            Some of the rows, with the columns at least.
        """
        if self.type is OrderType.ORDER:
            return FittedOrder(self, ())
        bounds = []
        for field in self.fields:
            ordered_sample = np.sort(self._comparable(sample, field))
            places = np.linspace(0, len(ordered_sample), _MOST_RANKS + 1)[1:-1].astype(np.int64)
            bounds.append(
                np.unique(ordered_sample[places]) if len(ordered_sample) else ordered_sample
            )
        return FittedOrder(self, tuple(bounds))

    def _comparable(self, rows: pa.RecordBatch | pa.Table, field: DataField) -> npt.NDArray[Any]:
        """Return what orders as the values of a column: numbers, or bytes of one width."""
        column = _array(rows.column(field.name))
        if not has_any_length(field):
            return ordered_words(column, field)
        return _as_keys(ordered_bytes(column, field, self.text_bytes))


@dataclass(frozen=True, slots=True)
class FittedOrder:
    """An order of rows whose values are spread as those of a sample.

    Curves use ranks, not values: otherwise a column of large numbers would dominate, as it does in
    Java Paimon.
    """

    order: RowOrder
    bounds: tuple[npt.NDArray[Any], ...]
    """Least values of all ranks of a column but the first, ascending; (): ranks do not matter."""

    def keys(self, rows: pa.RecordBatch | pa.Table) -> npt.NDArray[np.bytes_]:
        """Make a fixed number of bytes of each row that order as the rows.

        Parameters
        ----------
        rows
            n rows with the columns.

        Returns
        -------
        (n,) bytes
            Rows whose texts begin alike may have one key.
        """
        order = self.order
        values = [order._comparable(rows, field) for field in order.fields]  # noqa: SLF001 - its own
        if order.type is OrderType.ORDER:
            return _as_keys(np.concatenate([_as_bytes(value) for value in values], axis=1))
        ranks = [
            (np.searchsorted(bounds, one, side="right") * 2**_RANK_BITS) // (len(bounds) + 1)
            for one, bounds in zip(values, self.bounds, strict=True)
        ]
        if order.type is OrderType.HILBERT:
            return _as_keys(hilbert([rank.astype(np.uint64) for rank in ranks], _RANK_BITS))
        return _as_keys(zorder([_as_bytes(rank.astype(np.uint16)) for rank in ranks]))

    def sorted(self, rows: pa.Table) -> pa.Table:
        """Put rows in order; nulls come first."""
        if self.order.type is OrderType.ORDER:
            indices = _lexical_order(rows.select(self.order.names))
        else:
            indices = arrow_array(_stable_order(self.keys(rows)))
        return rows.take(indices)


def _lexical_order(columns: pa.Table) -> pa.Array:
    """Return what sorts rows by all columns in turn, nulls first."""
    keys = {}
    for number, column in enumerate(columns.columns):
        if column.null_count:
            keys[f"{number} is there"] = pc.is_valid(column)
        keys[str(number)] = column
    return pc.sort_indices(pa.table(keys), sort_keys=[(key, "ascending") for key in keys])


def _stable_order(keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.int64]:
    """Return what sorts keys, eight bytes at a time: much faster than comparing bytes."""
    width = keys.dtype.itemsize
    data = keys.view(np.uint8).reshape(len(keys), width)
    words = np.pad(data, ((0, 0), (0, -width % 8))).view(">u8").astype(np.uint64)
    return np.lexsort(words.T[::-1])


def _array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _as_bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of n values of one width, the most significant ones first."""
    if values.dtype.kind == "u":
        values = values.astype(values.dtype.newbyteorder(">"))
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)


def _as_keys(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.bytes_]:
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}")[:, 0]

"""Which partitions an overwrite replaces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.spec.binary_row import rows as binary_row
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot

_BLANK = " "


@dataclass(frozen=True, slots=True)
class OverwriteScope:
    """The partitions whose files an overwrite deletes. With both fields None: all of them."""

    rows: frozenset[bytes] | None = None
    """Exactly these partitions, as serialised BinaryRows."""
    values: tuple[Mapping[str, pa.Scalar], ...] | None = None
    """The partitions that have all values of at least one of these."""
    ignores_blanks: bool = False
    """Whether trailing blanks of CHAR values are ignored."""

    @classmethod
    def whole_table(cls) -> Self:
        """All partitions."""
        return cls()

    @classmethod
    def exactly(cls, partitions: Iterable[bytes], *, ignores_blanks: bool = False) -> Self:
        """Partitions given as serialised BinaryRows."""
        return cls(rows=frozenset(partitions), ignores_blanks=ignores_blanks)

    @classmethod
    def partitions_with(
        cls, values: Sequence[Mapping[str, pa.Scalar]], *, ignores_blanks: bool = False
    ) -> Self:
        """Partitions with given values of some or all partition columns; null is a value."""
        return cls(values=tuple(values), ignores_blanks=ignores_blanks)

    def covers(self, partitions: pa.Array, fields: Sequence[DataField]) -> npt.NDArray[np.bool_]:
        """Mark the partitions that are replaced.

        Parameters
        ----------
        partitions
            n serialised BinaryRows.
        fields
            The partition columns.

        Returns
        -------
        (n,) bool
        """
        if self.rows is not None:
            wanted = arrow_array(sorted(self.rows), partitions.type)
            if self.ignores_blanks:
                partitions, wanted = _bare_rows(partitions, fields), _bare_rows(wanted, fields)
            return numpy_values(pc.is_in(partitions, wanted), zero_copy_only=False)
        if self.values is None:
            return np.ones(len(partitions), np.bool_)
        columns = partition_columns(partitions, fields)
        chars = (
            {field.name for field in fields if is_char(field.type)}
            if self.ignores_blanks
            else set()
        )
        columns = _without_blanks(columns, chars)
        mask = np.zeros(len(partitions), np.bool_)
        for values in self.values:
            mask |= _has(columns, values, chars)
        return mask


def is_char(data_type: DataType) -> bool:
    """Say whether a type is CHAR(n)."""
    return isinstance(data_type, AtomicType) and data_type.root is TypeRoot.CHAR


def without_blanks(values: pa.Array | pa.ChunkedArray | pa.Scalar) -> Any:
    """Take blanks off the ends of texts; tabs and the like stay.

    Examples
    --------
    >>> without_blanks(pa.array(["de  ", " fr", None])).to_pylist()
    ['de', ' fr', None]
    """
    return pc.utf8_rtrim(values, _BLANK)


def _without_blanks(columns: pa.RecordBatch, chars: Collection[str]) -> pa.RecordBatch:
    if not chars:
        return columns
    bare = [
        without_blanks(column) if name in chars else column
        for name, column in zip(columns.schema.names, columns.columns, strict=True)
    ]
    return pa.record_batch(bare, names=columns.schema.names)


def _bare_rows(rows: pa.Array, fields: Sequence[DataField]) -> pa.Array:
    """Encode partitions without the trailing blanks of CHAR values."""
    chars = {field.name for field in fields if is_char(field.type)}
    if not chars:
        return rows
    bare = _without_blanks(partition_columns(rows, fields), chars)
    return binary_row.encode(bare.columns, [field.type for field in fields])


def _has(
    columns: pa.RecordBatch, values: Mapping[str, pa.Scalar], chars: Collection[str]
) -> npt.NDArray[np.bool_]:
    mask = np.ones(columns.num_rows, np.bool_)
    for name, value in values.items():
        column = columns.column(name)
        wanted = without_blanks(value) if name in chars else value
        same = null_filled(pc.equal(column, wanted), False) if value.is_valid else column.is_null()
        mask &= numpy_values(same, zero_copy_only=False)
    return mask

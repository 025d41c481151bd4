"""Which partitions an overwrite replaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.spec.types import DataField


@dataclass(frozen=True, slots=True)
class OverwriteScope:
    """The partitions whose files an overwrite deletes. With both fields None: all of them."""

    rows: frozenset[bytes] | None = None
    """Exactly these partitions, as serialised BinaryRows."""
    values: tuple[Mapping[str, pa.Scalar], ...] | None = None
    """The partitions that have all values of at least one of these."""

    @classmethod
    def whole_table(cls) -> Self:
        """All partitions."""
        return cls()

    @classmethod
    def exactly(cls, partitions: Iterable[bytes]) -> Self:
        """Partitions given as serialised BinaryRows."""
        return cls(rows=frozenset(partitions))

    @classmethod
    def partitions_with(cls, values: Sequence[Mapping[str, pa.Scalar]]) -> Self:
        """Partitions with given values of some or all partition columns; null is a value."""
        return cls(values=tuple(values))

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
            wanted = pa.array(sorted(self.rows), partitions.type)
            return pc.is_in(partitions, wanted).to_numpy(zero_copy_only=False)
        if self.values is None:
            return np.ones(len(partitions), np.bool_)
        columns = partition_columns(partitions, fields)
        mask = np.zeros(len(partitions), np.bool_)
        for values in self.values:
            mask |= _has(columns, values)
        return mask


def _has(columns: pa.RecordBatch, values: Mapping[str, pa.Scalar]) -> npt.NDArray[np.bool_]:
    mask = np.ones(columns.num_rows, np.bool_)
    for name, value in values.items():
        column = columns.column(name)
        same = pc.equal(column, value).fill_null(False) if value.is_valid else column.is_null()  # noqa: FBT003
        mask &= same.to_numpy(zero_copy_only=False)
    return mask

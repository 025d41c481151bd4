"""What Parquet files of the same columns share, found out once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from paimonlab.formats.parquet.fields import file_schema, has_nanos
from paimonlab.formats.parquet.repetitive import repetitive_columns
from paimonlab.spec.types.data_types import DataField


@dataclass(frozen=True, slots=True)
class FileShape:
    """Columns of files, and which of them have dictionaries by their values."""

    schema: pa.Schema
    """As the file has it."""
    has_nanos: bool
    """Whether a column, or a part of one, has timestamps finer than microseconds."""
    repetitive: tuple[str, ...] | None = None
    """Columns whose values repeat; None: each file tells by its rows."""

    @classmethod
    def of(cls, fields: Sequence[DataField], samples: Sequence[pa.Table] = ()) -> Self:
        """Look at columns, and at rows of some of the files.

        Parameters
        ----------
        fields
            The physical columns, in file order.
        samples
            Rows of some files; without any, each file tells by its rows.
        """
        is_known = any(sample.num_rows for sample in samples)
        return cls(
            schema=file_schema(fields),
            has_nanos=any(has_nanos(field.type) for field in fields),
            repetitive=repetitive_columns(samples) if is_known else None,
        )

    def named(self, rows: pa.Table) -> pa.Table:
        """Give rows the schema of the file, unless that takes a cast or another order."""
        given = rows.schema
        if given.names == self.schema.names and given.types == self.schema.types:
            return pa.table(rows.columns, schema=self.schema)
        return rows

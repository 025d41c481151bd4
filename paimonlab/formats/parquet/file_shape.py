"""What Parquet files of the same columns share, found out once for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import pyarrow as pa

from paimonlab.formats.hidden_nulls import columns_that_may_hide_nulls, without_hidden_nulls
from paimonlab.formats.parquet.fields import file_schema, has_nanos
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.repetitive import may_have_dictionary, repetitive_columns
from paimonlab.formats.parquet.sampled_levels import LEAST_ROWS, sampled_levels
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
    levels: Mapping[str, int | None] = field(default_factory=dict)
    """What `sampled_levels` says of files of few rows; larger ones tell by their rows."""
    constant: tuple[str, ...] = ()
    """Columns of one value in each file. With a dictionary they are a few bytes, which nothing
    makes fewer: they are stored as they are, unless options name a codec."""
    may_hide_nulls: tuple[str, ...] = ()
    """Columns with rows whose fields are NOT NULL."""

    @classmethod
    def of(
        cls,
        fields: Sequence[DataField],
        samples: Sequence[pa.Table] = (),
        options: ParquetOptions | None = None,
        constant: Sequence[str] = (),
    ) -> Self:
        """Look at columns, and at rows of some of the files.

        Parameters
        ----------
        fields
            The physical columns, in file order.
        samples
            Rows of some files; without any, each file tells by its rows.
        options
            How the files are written; None: it is not known, and each tells by its rows.
        constant
            Columns of one value in each file.
        """
        is_known = any(sample.num_rows for sample in samples)
        repetitive = repetitive_columns(samples) if is_known else None
        schema = file_schema(fields)
        # Parts of nested columns have names of their own in files.
        by_column = not (options is None or options.names_codec or _has_nested(schema))
        return cls(
            schema=schema,
            has_nanos=any(has_nanos(field.type) for field in fields),
            repetitive=repetitive,
            levels=_levels(samples, repetitive or (), options),
            constant=tuple(constant) if by_column else (),
            may_hide_nulls=columns_that_may_hide_nulls(schema),
        )

    def named(self, rows: pa.Table) -> pa.Table:
        """Give rows the schema of the file, unless that takes a cast or another order."""
        given = rows.schema
        rows = without_hidden_nulls(rows, self.may_hide_nulls)
        if given.names == self.schema.names and given.types == self.schema.types:
            return pa.table(rows.columns, schema=self.schema)
        return rows


def _has_nested(schema: pa.Schema) -> bool:
    return any(pa.types.is_nested(field.type) for field in schema)


def _levels(
    samples: Sequence[pa.Table], repetitive: Sequence[str], options: ParquetOptions | None
) -> Mapping[str, int | None]:
    """Choose levels of columns, if there are rows enough to tell."""
    if options is None or options.names_codec:
        return {}
    if sum(sample.num_rows for sample in samples) < LEAST_ROWS:
        return {}
    rows = pa.concat_tables(samples)
    names = [field.name for field in rows.schema if may_have_dictionary(field.type)]
    return sampled_levels(rows, options, options.dictionary_columns(names, repetitive))

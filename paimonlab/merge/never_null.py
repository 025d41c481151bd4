"""Columns that are never null, once rows were merged: a row that stays must have a value there.

Java Paimon refuses such a row when it is written: apache/paimon@1.4.2
``org.apache.paimon.format.parquet.writer.ParquetRowDataWriter``.
"""

from __future__ import annotations

import numpy as np

from paimonlab.arrow_values import numpy_values
from paimonlab.errors import DataError
from paimonlab.merge.folds import pick
from paimonlab.merge.key_rows import KeyRows, Merged
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.row_kind import RowKind


def with_values_where_required(merged: Merged, rows: KeyRows, engine: MergeEngine) -> Merged:
    """Give keys that are gone a value in every column that is never null: that of their first row.

    Raises
    ------
    DataError
        If a key that is not gone has no value there; names column and option.
    """
    columns = dict(merged.columns)
    for name in sorted(rows.required & columns.keys()):
        column, given = columns[name], rows.columns[name]
        if not column.null_count or given.null_count:
            continue  # what was null in a file already is not a matter of merging
        is_null = numpy_values(column.is_null(), zero_copy_only=False)
        stays = np.ones(len(column), np.bool_)
        if merged.kinds is not None:
            stays = (merged.kinds == RowKind.INSERT) | (merged.kinds == RowKind.UPDATE_AFTER)
        if (is_null & stays).any():
            raise _without_value(name, engine)
        places = len(given) + np.arange(len(column))
        columns[name] = pick(given, np.where(is_null, rows.members.first(), places), column)
    return Merged(columns, merged.kinds)


def _without_value(name: str, engine: MergeEngine) -> DataError:
    how, group = engine.aggregates.get(name), engine.group_of(name)
    if how is not None and how.ignore_retract:
        why = (
            f"'fields.{name}.ignore-retract' = 'true' leaves keys without a value that have only "
            "rows of kind -U or -D: write a row of kind +I first"
        )
    elif how is not None:
        why = (
            f"'fields.{name}.aggregate-function' = {how.function!r} makes it null for some key, "
            "since rows of kind -U or -D retract its value, or since a result is too large: let "
            f"'fields.{name}.ignore-retract' = 'true' ignore retractions"
        )
    else:
        fields = () if group is None else group.sequence_fields
        option = f"fields.{','.join(fields)}.sequence-group"
        why = f"rows of kind -U or -D make it null by {option!r}: leave it out there"
    return DataError(f"column {name!r} is NOT NULL, and {why}, or let the column be null")

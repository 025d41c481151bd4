"""Rows with a limited life: compaction drops those that are too old.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.RecordLevelExpire``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SchemaError
from paimonlab.merge.order import one_array
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type

_FIRST_MILLIS = 1_000_000_000_000
"""A BIGINT from here on is in milliseconds, a smaller one in seconds."""


class RecordExpiryOptions(OptionSlice):
    """The table options that say how long rows live."""

    expire_time_millis: int | None = option_field("record-level.expire-time", "duration", None)
    """``record-level.expire-time``: None: for ever."""
    time_field: str | None = option_field("record-level.time-field", "string", None)
    """``record-level.time-field``: the column with the time of a row."""


@dataclass(frozen=True, slots=True)
class RecordExpiry:
    """Which rows are too old."""

    field: DataField
    """INT or BIGINT seconds since the epoch, BIGINT milliseconds, or a timestamp."""
    lifetime_seconds: int
    now_seconds: int
    """Seconds since the epoch."""

    @classmethod
    def of(
        cls, options: RecordExpiryOptions, schema: TableSchema, *, table: str, now_seconds: int
    ) -> Self | None:
        """Read the options; None if rows live for ever.

        Raises
        ------
        SchemaError
            If there is no such column, or its type is not a time.
        """
        if options.expire_time_millis is None:
            return None
        if options.time_field is None:
            raise SchemaError(f"{table}: record-level.expire-time needs record-level.time-field")
        field = schema.field(options.time_field, table=table)
        arrow = to_arrow(field.type)
        is_time = pa.types.is_timestamp(arrow) or arrow in (pa.int32(), pa.int64())
        if not is_time:
            raise SchemaError(
                f"{table}: record-level.time-field {field.name!r} is {format_type(field.type)}; "
                "it must be INT, BIGINT or a timestamp"
            )
        return cls(field, options.expire_time_millis // 1000, now_seconds)

    def young(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Leave out the rows that are too old; those without a time stay."""
        alive = self.is_young(rows)
        return rows if alive.all() else rows.filter(arrow_array(alive))

    def is_young(self, rows: pa.RecordBatch | pa.Table) -> npt.NDArray[np.bool_]:
        """Mark the rows that are not too old, those without a time among them."""
        seconds = self._seconds(one_array(rows.column(self.field.name)))
        alive = pc.greater_equal(seconds, self.now_seconds - self.lifetime_seconds)
        mask: npt.NDArray[np.bool_] = alive.fill_null(True).to_numpy(  # noqa: FBT003 - a value
            zero_copy_only=False
        )
        return mask

    def has_old_rows(self, file: DataFileMeta, schema: TableSchema) -> bool:
        """Whether the statistics of a file say that some of its rows are too old.

        Parameters
        ----------
        file
            The file, with its statistics.
        schema
            The schema that the file was written with.
        """
        names = file.value_stats_cols
        fields = schema.fields if names is None else tuple(map(schema.field, names))
        field_index = next((at for at, one in enumerate(fields) if one.id == self.field.id), None)
        if field_index is None or len(file.value_stats.min_values) <= _EMPTY_BYTES:
            return False
        types = [field.type for field in fields]
        smallest = decode(arrow_array([file.value_stats.min_values], pa.large_binary()), types)[
            field_index
        ]
        if smallest.null_count:
            return False
        target = to_arrow(self.field.type)
        seconds = self._seconds(smallest.cast(target, safe=False))
        return bool(seconds[0].as_py() < self.now_seconds - self.lifetime_seconds)

    def _seconds(self, times: pa.Array) -> pa.Array:
        if pa.types.is_timestamp(times.type):
            millis = times.cast(pa.timestamp("ms", times.type.tz), safe=False).cast(pa.int64())
            return pc.divide(millis, 1000)
        numbers = times.cast(pa.int64())
        if times.type == pa.int32():
            return numbers
        is_millis = pc.greater_equal(numbers, _FIRST_MILLIS)
        return pc.if_else(is_millis, pc.divide(numbers, 1000), numbers)


_EMPTY_BYTES = 12
"""Of a serialised row without fields: nothing is known."""

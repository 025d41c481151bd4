"""Rows that cannot be stored, as rows of a table of their own: ``<db>.<job>__dead``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.ingest.changes import KIND_TYPE, Unreadable
from paimonlab.ingest.fitting import BadRow
from paimonlab.spec.row_kind import SYMBOLS

COLUMNS = {
    "ts": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "source_table": "STRING",
    "position": "STRING",
    "kind": "STRING",
    "error": "STRING NOT NULL",
    "row": "STRING",
    "raw": "BYTES",
}
"""Columns of the table: when, from where, what is wrong, the row as JSON, and as it arrived."""
MAX_RAW_BYTES = 1 << 20
"""How much is kept of a record as it arrived."""
_ARROW = pa.schema(
    [
        ("ts", pa.timestamp("ms", tz="UTC")),
        ("source_table", pa.string()),
        ("position", pa.string()),
        ("kind", pa.string()),
        ("error", pa.string()),
        ("row", pa.string()),
        ("raw", pa.binary()),
    ]
)


def table_of(into: str, job: str) -> str:
    """Return the name of the table of a job's dead letters."""
    return f"{into}.{job}__dead"


def of_unreadable(broken: Unreadable, now_millis: int) -> pa.RecordBatch:
    """Make dead letters of what a source could not read."""
    count = broken.count
    kinds = broken.kinds if broken.kinds is not None else pa.nulls(count, KIND_TYPE)
    symbols = arrow_array(list(SYMBOLS), pa.string())
    columns = [
        _times(now_millis, count),
        pa.repeat(arrow_scalar(broken.table, pa.string()), count),
        _texts(broken.positions, count),
        symbols.take(kinds.cast(pa.int32())),
        broken.errors.cast(pa.string()),
        _texts(broken.rows, count),
        pc.binary_slice(broken.raw.cast(pa.binary()), 0, MAX_RAW_BYTES),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)


def of_bad_rows(bad: Sequence[BadRow], now_millis: int) -> pa.RecordBatch:
    """Make dead letters of rows that a table refused."""
    tables, positions, kinds, texts = [], [], [], []
    for row in bad:
        changes, place = row.rows.origin
        tables.append(changes.table)
        at = None if changes.positions is None else changes.positions[place].as_py()
        positions.append(None if at is None else json_text(at))
        values = row.rows.rows.to_pylist()[0]
        kinds.append(SYMBOLS[values.pop(row.rows.kind_column)])
        texts.append(json_text(values))
    count = len(bad)
    columns = [
        _times(now_millis, count),
        arrow_array(tables, pa.string()),
        arrow_array(positions, pa.string()),
        arrow_array(kinds, pa.string()),
        arrow_array([row.error for row in bad], pa.string()),
        arrow_array(texts, pa.string()),
        pa.nulls(count, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)


def json_text(value: object) -> str:
    """Write a value as JSON; what JSON does not have as text, bytes as hexadecimal digits.

    Examples
    --------
    >>> json_text({"id": 1, "raw": b"ab"})
    '{"id": 1, "raw": "6162"}'
    """
    return json.dumps(value, ensure_ascii=False, default=_as_text)


def _as_text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _times(now_millis: int, count: int) -> pa.Array:
    millis = arrow_array([now_millis] * count, pa.int64())
    return millis.cast(pa.timestamp("ms")).cast(pa.timestamp("ms", tz="UTC"))


def _texts(values: pa.Array | None, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, pa.string())
    if pa.types.is_string(values.type):
        return values
    return arrow_array(
        [None if value is None else json_text(value) for value in values.to_pylist()], pa.string()
    )

"""``$snapshots``, ``$schemas``, ``$tags``, ``$options``: what small JSON files say.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.spec.types.json import fields_to_json
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.texts import duration_text

_MILLIS = pa.timestamp("ms")

SNAPSHOTS = pa.schema(
    [
        pa.field("snapshot_id", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("commit_user", pa.string(), nullable=False),
        pa.field("commit_identifier", pa.int64(), nullable=False),
        pa.field("commit_kind", pa.string(), nullable=False),
        pa.field("commit_time", _MILLIS, nullable=False),
        pa.field("base_manifest_list", pa.string(), nullable=False),
        pa.field("delta_manifest_list", pa.string(), nullable=False),
        pa.field("changelog_manifest_list", pa.string()),
        pa.field("total_record_count", pa.int64()),
        pa.field("delta_record_count", pa.int64()),
        pa.field("changelog_record_count", pa.int64()),
        pa.field("watermark", pa.int64()),
        pa.field("next_row_id", pa.int64()),
        pa.field("operation", pa.string()),
        pa.field("writer_version", pa.string()),
    ]
)
"""The last three are those of 2.x: null in what older versions wrote."""
SCHEMAS = pa.schema(
    [
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("fields", pa.string(), nullable=False),
        pa.field("partition_keys", pa.string(), nullable=False),
        pa.field("primary_keys", pa.string(), nullable=False),
        pa.field("options", pa.string(), nullable=False),
        pa.field("comment", pa.string()),
        pa.field("update_time", _MILLIS, nullable=False),
    ]
)
OPTIONS = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string(), nullable=False),
    ]
)
TAGS = pa.schema(
    [
        pa.field("tag_name", pa.string(), nullable=False),
        pa.field("snapshot_id", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("commit_time", _MILLIS, nullable=False),
        pa.field("record_count", pa.int64()),
        pa.field("create_time", _MILLIS),
        pa.field("time_retained", pa.string()),
    ]
)


def snapshots(
    _definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None
) -> pa.Table:
    """``$snapshots``: one row per snapshot, oldest first."""
    return _table(SNAPSHOTS, [_snapshot_row(snapshot) for snapshot in store.snapshots.list()])


def schemas(
    _definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None
) -> pa.Table:
    """``$schemas``: one row per schema, oldest first; lists and maps as JSON."""
    rows = [
        (
            schema.id,
            _json(fields_to_json(schema.fields)),
            _json(schema.partition_keys),
            _json(schema.primary_keys),
            _json(dict(schema.options)),
            schema.comment,
            local_time(schema.time_millis),
        )
        for schema in store.schemas.list()
    ]
    return _table(SCHEMAS, rows)


def options(definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None) -> pa.Table:
    """``$options``: the options of the latest schema."""
    latest = store.schemas.latest() or definition.schema
    return _table(OPTIONS, sorted(latest.options.items()))


def tags(_definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None) -> pa.Table:
    """``$tags``: one row per tag, by name."""
    return _table(TAGS, [_tag_row(name, tag) for name, tag in store.tags.list()])


def _snapshot_row(snapshot: Snapshot) -> tuple[Any, ...]:
    watermark = snapshot.watermark
    return (
        snapshot.id,
        snapshot.schema_id,
        snapshot.commit_user,
        snapshot.commit_identifier,
        snapshot.commit_kind.value,
        local_time(snapshot.time_millis),
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        snapshot.changelog_manifest_list,
        snapshot.total_record_count,
        snapshot.delta_record_count,
        snapshot.changelog_record_count,
        watermark,
        snapshot.next_row_id,
        snapshot.operation,
        snapshot.writer_version,
    )


def _tag_row(name: str, tag: Tag) -> tuple[Any, ...]:
    created = tag.tag_create_time
    retained = tag.tag_time_retained
    return (
        name,
        tag.id,
        tag.schema_id,
        local_time(tag.time_millis),
        tag.total_record_count,
        None if created is None else _create_time(created),
        None if retained is None else duration_text(float(retained)),
    )


def _create_time(parts: Sequence[int]) -> datetime:
    """Trailing zeros may be missing; below a millisecond the column has no digits."""
    year, month, day, hour, minute, second, nano = [*parts, 0, 0, 0, 0][:7]
    micro = nano // 1_000_000 * 1000
    return datetime(year, month, day, hour, minute, second, micro)  # noqa: DTZ001 - local


def local_time(millis: int) -> datetime:
    """Wall clock of the process's zone, without zone, as Java shows commit times."""
    seconds, rest = divmod(millis, 1000)
    return datetime.fromtimestamp(seconds).replace(microsecond=rest * 1000)  # noqa: DTZ006


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _table(schema: pa.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [
        arrow_array(list(column), field.type) for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)

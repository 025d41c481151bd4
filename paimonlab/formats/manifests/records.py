"""The Avro records of all kinds of manifests, as Java Paimon 1.3 writes them.

Java resolves fields by name; a nullable field must be the union of null and its type, in
this order.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest``, ``…format.avro``.
"""

from __future__ import annotations

from typing import Any

_TOP = "org.apache.paimon.avro.generated.record"


def _field(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": type_}


def _nullable(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None}


def _record(path: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": _TOP + path, "fields": fields}


_STRINGS = {"type": "array", "items": "string"}


def _stats(path: str) -> dict[str, Any]:
    fields = [
        _field("_MIN_VALUES", "bytes"),
        _field("_MAX_VALUES", "bytes"),
        _nullable("_NULL_COUNTS", {"type": "array", "items": ["null", "long"]}),
    ]
    return _record(path, fields)


_FILE = _record(
    "__FILE",
    [
        _field("_FILE_NAME", "string"),
        _field("_FILE_SIZE", "long"),
        _field("_ROW_COUNT", "long"),
        _field("_MIN_KEY", "bytes"),
        _field("_MAX_KEY", "bytes"),
        _field("_KEY_STATS", _stats("__FILE__KEY_STATS")),
        _field("_VALUE_STATS", _stats("__FILE__VALUE_STATS")),
        _field("_MIN_SEQUENCE_NUMBER", "long"),
        _field("_MAX_SEQUENCE_NUMBER", "long"),
        _field("_SCHEMA_ID", "long"),
        _field("_LEVEL", "int"),
        _field("_EXTRA_FILES", _STRINGS),
        _nullable("_CREATION_TIME", {"type": "long", "logicalType": "timestamp-millis"}),
        _nullable("_DELETE_ROW_COUNT", "long"),
        _nullable("_EMBEDDED_FILE_INDEX", "bytes"),
        _nullable("_FILE_SOURCE", "int"),
        _nullable("_VALUE_STATS_COLS", _STRINGS),
        _nullable("_EXTERNAL_PATH", "string"),
        _nullable("_FIRST_ROW_ID", "long"),
        _nullable("_WRITE_COLS", _STRINGS),
    ],
)

ENTRY = _record(
    "",
    [
        _field("_VERSION", "int"),
        _field("_KIND", "int"),
        _field("_PARTITION", "bytes"),
        _field("_BUCKET", "int"),
        _field("_TOTAL_BUCKETS", "int"),
        _field("_FILE", _FILE),
    ],
)
"""One entry of a manifest."""

LIST_ENTRY = _record(
    "",
    [
        _field("_VERSION", "int"),
        _field("_FILE_NAME", "string"),
        _field("_FILE_SIZE", "long"),
        _field("_NUM_ADDED_FILES", "long"),
        _field("_NUM_DELETED_FILES", "long"),
        _field("_PARTITION_STATS", _stats("__PARTITION_STATS")),
        _field("_SCHEMA_ID", "long"),
        _nullable("_MIN_BUCKET", "int"),
        _nullable("_MAX_BUCKET", "int"),
        _nullable("_MIN_LEVEL", "int"),
        _nullable("_MAX_LEVEL", "int"),
    ],
)
"""One entry of a manifest list: a manifest."""

LIST_ENTRY_WITH_ROW_IDS: dict[str, Any] = {
    **LIST_ENTRY,
    "fields": [
        *LIST_ENTRY["fields"],
        _nullable("_MIN_ROW_ID", "long"),
        _nullable("_MAX_ROW_ID", "long"),
    ],
}
"""The same in tables whose rows have ids, as Paimon writes it since 1.4."""

_VECTOR_RANGE = _record(
    "__DELETIONS_VECTORS_RANGES",
    [
        _field("f0", "string"),
        _field("f1", "int"),
        _field("f2", "int"),
        _nullable("_CARDINALITY", "long"),
    ],
)

INDEX_ENTRY = _record(
    "",
    [
        _field("_VERSION", "int"),
        _field("_KIND", "int"),
        _field("_PARTITION", "bytes"),
        _field("_BUCKET", "int"),
        _field("_INDEX_TYPE", "string"),
        _field("_FILE_NAME", "string"),
        _field("_FILE_SIZE", "long"),
        _field("_ROW_COUNT", "long"),
        _nullable("_DELETIONS_VECTORS_RANGES", {"type": "array", "items": ["null", _VECTOR_RANGE]}),
        _nullable("_EXTERNAL_PATH", "string"),
    ],
)
"""One entry of an index manifest."""

INDEX_ENTRY_WITH_GLOBAL: dict[str, Any] = {
    **INDEX_ENTRY,
    "fields": [
        *INDEX_ENTRY["fields"],
        _nullable(
            "_GLOBAL_INDEX",
            _record(
                "__GLOBAL_INDEX",
                [
                    _field("_ROW_RANGE_START", "long"),
                    _field("_ROW_RANGE_END", "long"),
                    _field("_INDEX_FIELD_ID", "int"),
                    _nullable("_EXTRA_FIELD_IDS", {"type": "array", "items": "int"}),
                    _nullable("_INDEX_META", "bytes"),
                    _nullable("_SOURCE_META", "bytes"),
                ],
            ),
        ),
    ],
}
"""The same in tables with global indexes, which Paimon has since 1.4."""

"""Compactions to copy: as a procedure of Spark and as Python."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.notebook.views.bucket_lives import BucketKey
from paimonlab.notebook.views.compaction import Call
from paimonlab.spec.schema import TableSchema
from paimonlab.spec.value_text import display_texts

_PLAIN = re.compile(r"[^,;=/'\"\\\x00-\x1f]+")
"""What the text of a partition in a procedure can say."""


def calls(table: str, schema: TableSchema, key: BucketKey) -> tuple[Call, ...]:
    """Write compactions of a table, of a partition and of a bucket.

    Parameters
    ----------
    table
        ``database.table``.
    schema
        Of the table.
    key
        The bucket.

    Notes
    -----
    The procedure of Java Paimon 1.3.1 takes partitions, but no buckets, and a comma or an equals
    sign in a value would be read as another value: then there is no SQL.
    """
    opened = f"catalog.table({table!r})"
    is_plain = _PLAIN.fullmatch(table) is not None
    start = f"CALL sys.compact(table => '{table}'"
    found = [
        Call(
            label="what the options ask for",
            sql=f"{start}, compact_strategy => 'minor')" if is_plain else "",
            python=f"{opened}.compact()",
        ),
        Call(
            label="everything",
            sql=f"{start}, compact_strategy => 'full')" if is_plain else "",
            python=f"{opened}.compact(full=True)",
        ),
    ]
    chosen = ""
    if schema.partition_keys:
        values = _values(key.partition, schema)
        chosen = f", partitions=[{values!r}]"
        text = ",".join(f"{name}={value}" for name, value in values.items())
        can_say = is_plain and all(
            value is not None and _PLAIN.fullmatch(value) and _PLAIN.fullmatch(name)
            for name, value in values.items()
        )
        found.append(
            Call(
                label="this partition",
                sql=f"{start}, partitions => '{text}', compact_strategy => 'full')"
                if can_say
                else "",
                python=f"{opened}.compact(full=True{chosen})",
            )
        )
    if schema.primary_keys or schema.options.get("bucket", "-1") != "-1":
        python = f"{opened}.compact(full=True{chosen}, buckets=[{key.bucket}])"
        found.append(Call(label="this bucket", sql="", python=python))
    return tuple(found)


def _values(partition: bytes, schema: TableSchema) -> Mapping[str, str | None]:
    fields = [schema.field(name) for name in schema.partition_keys]
    columns = partition_columns(pa.array([partition], pa.large_binary()), fields)
    return {field.name: display_texts(columns[field.name], field.type)[0] for field in fields}

"""Compactions to copy: as a procedure and as Python."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from paimonlab.analysis.buckets.bucket_lives import ShownBucket
from paimonlab.analysis.compactions.compaction import Call
from paimonlab.arrow_values import arrow_array
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.sql_text.call_text import call_text, literal, quoted
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataField, TypeRoot
from paimonlab.spec.value_text import display_texts

_NUMBERS = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT})


def calls(table: str, schema: TableSchema, key: ShownBucket) -> tuple[Call, ...]:
    """Write compactions of a table, of a partition and of a bucket.

    Parameters
    ----------
    table
        ``database.table``.
    schema
        The table's schema.
    key
        The bucket.

    Notes
    -----
    The procedure of Java Paimon 1.3.1 takes no buckets: then there is no SQL. Its argument
    ``partitions`` puts values into a condition as they are, without quotes, so a partition is
    chosen by ``where``.
    """
    opened = f"catalog.table({table!r})"
    choices = [
        Call(
            label="what the options ask for",
            sql=call_text("compact", table, compact_strategy="minor"),
            python=f"{opened}.compact()",
        ),
        Call(
            label="everything",
            sql=call_text("compact", table, compact_strategy="full"),
            python=f"{opened}.compact(full=True)",
        ),
    ]
    chosen = ""
    if schema.partition_keys:
        values = _values(key.partition, schema)
        chosen = f", partitions=[{values!r}]"
        where = _condition(values, schema)
        choices.append(
            Call(
                label="this partition",
                sql=call_text("compact", table, where=where, compact_strategy="full")
                if where is not None
                else "",
                python=f"{opened}.compact(full=True{chosen})",
            )
        )
    if schema.primary_keys or schema.options.get("bucket", "-1") != "-1":
        python = f"{opened}.compact(full=True{chosen}, buckets=[{key.bucket}])"
        choices.append(Call(label="this bucket", sql="", python=python))
    return tuple(choices)


def _condition(values: Mapping[str, str | None], schema: TableSchema) -> str | None:
    """Write the condition that is true for one partition; None if a value has no literal."""
    terms = [_equal(schema.field(name), value) for name, value in values.items()]
    return " AND ".join(term for term in terms if term) if all(terms) else None


def _equal(field: DataField, value: str | None) -> str:
    name = quoted(field.name)
    root = field.type.root if isinstance(field.type, AtomicType) else None
    if value is None:
        return f"{name} IS NULL"
    if root in _NUMBERS:
        return f"{name} = {value}"
    if root in TEXT_ROOTS:
        return f"{name} = {literal(value)}"
    return f"{name} = DATE {literal(value)}" if root is TypeRoot.DATE else ""


def _values(partition: bytes, schema: TableSchema) -> Mapping[str, str | None]:
    fields = [schema.field(name) for name in schema.partition_keys]
    columns = partition_columns(arrow_array([partition], pa.large_binary()), fields)
    return {field.name: display_texts(columns[field.name], field.type)[0] for field in fields}

"""The values of a partition, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError, SchemaError
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.table.definition import TableDefinition
from paimonlab.write.conversion import convert


def partition_values(
    partition: Mapping[str, Any], definition: TableDefinition
) -> dict[str, pa.Scalar]:
    """Turn the values of a partition into scalars of the columns' types.

    Raises
    ------
    TypeError
        If it is a condition, or anything else that has no names.
    SchemaError
        If a name is no partition column.
    DataError
        If a value does not fit its column.
    """
    schema = definition.schema
    if not hasattr(partition, "keys"):
        written = ", ".join(f"{name!r}: …" for name in schema.partition_keys)
        raise TypeError(
            f"{definition.name}: a partition is given by its values, as {{{written}}}, not as "
            f"{partition!r}"
        )
    for name in partition:
        if name not in schema.partition_keys:
            keys = ", ".join(schema.partition_keys) or "none"
            raise SchemaError(
                f"{definition.name}: {name!r} is no partition column; they are: {keys}"
            )
    return {name: _scalar(name, value, schema) for name, value in partition.items()}


def _scalar(name: str, value: Any, schema: TableSchema) -> pa.Scalar:
    target = schema.field(name).type
    try:
        given = arrow_array([value])
        if pa.types.is_string(given.type) and not pa.types.is_string(to_arrow(target)):
            given = pc.cast(given, to_arrow(target))  # '2026-01-01' of a DATE column
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"partition column {name!r} does not take {value!r}: {error}") from error
    return convert(given, target, name)[0]

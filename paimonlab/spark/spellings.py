"""Partitions by CHAR(n) with and without blanks behind their values.

Spark pads the values that it writes and takes values that differ by such blanks for one; Flink
and `Table.write` store values as they are given. So one partition for Spark may be several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimonlab.commit.scope import OverwriteScope
from paimonlab.spec.binary_row import decode
from paimonlab.spec.types import AtomicType, TypeRoot
from paimonlab.table.overwriting import partition_values

if TYPE_CHECKING:
    from paimonlab.spec.types import DataType
    from paimonlab.table.table import Table

_BLANK = " "


def spellings(value: Any, data_type: DataType) -> list[Any]:
    """Return the values that Spark takes for one and the same.

    Examples
    --------
    >>> from paimonlab.spec.type_text import parse_type
    >>> spellings("de", parse_type("CHAR(4)")), spellings("de", parse_type("STRING"))
    (['de', 'de ', 'de  '], ['de'])
    """
    if not _is_char(data_type) or value is None:
        return [value]
    assert isinstance(data_type, AtomicType), "CHAR is one"
    bare = value.rstrip(_BLANK)
    return [bare + _BLANK * blanks for blanks in range((data_type.length or 0) - len(bare) + 1)]


def all_spellings(partition: Mapping[str, Any], table: Table) -> list[dict[str, Any]]:
    """Return the partitions that Spark takes for one, by their values."""
    schema = table.schema
    each = [spellings(value, schema.field(name).type) for name, value in partition.items()]
    return [dict(zip(partition, values, strict=True)) for values in product(*each)]


def scope_with(partition: Mapping[str, Any], table: Table) -> OverwriteScope:
    """Return the scope of an overwrite of one partition, however it is spelled."""
    return OverwriteScope.partitions_with(
        [partition_values(values, table.parts) for values in all_spellings(partition, table)]
    )


def scope_of(partitions: Iterable[bytes], table: Table) -> OverwriteScope:
    """Return the scope of an overwrite of the partitions that rows have, however spelled."""
    fields = [table.schema.field(name) for name in table.partition_keys]
    if not any(_is_char(field.type) for field in fields):
        return OverwriteScope.exactly(partitions)
    encoded = pa.array(sorted(partitions), pa.binary())
    columns = decode(encoded, [field.type for field in fields])
    rows = pa.table(columns, names=[field.name for field in fields]).to_pylist()
    return OverwriteScope.partitions_with(
        [
            partition_values(values, table.parts)
            for row in rows
            for values in all_spellings(row, table)
        ]
    )


def _is_char(data_type: DataType) -> bool:
    return isinstance(data_type, AtomicType) and data_type.root is TypeRoot.CHAR

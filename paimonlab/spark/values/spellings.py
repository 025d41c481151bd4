"""Partitions by CHAR(n) with and without trailing blanks.

Spark pads the values that it writes and takes values that differ only in such blanks as equal;
Flink and `Table.write` store values as they are given. So one partition for Spark may be several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from paimonlab.commit.scope import OverwriteScope, is_char
from paimonlab.table.inside import definition_of
from paimonlab.table.partition_values import partition_values

if TYPE_CHECKING:
    from paimonlab.spec.types.data_types import DataType
    from paimonlab.table.table import Table


def bare(value: Any, data_type: DataType) -> Any:
    """Return what is left of a value without the blanks that mean nothing to Spark.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> bare("de  ", parse_type("CHAR(4)")), bare("de  ", parse_type("STRING"))
    ('de', 'de  ')
    """
    return value.rstrip(" ") if value is not None and is_char(data_type) else value


def scope_with(partitions: Iterable[Mapping[str, Any]], table: Table) -> OverwriteScope:
    """Return the scope of an overwrite of partitions by their values, however spelled."""
    schema = table.schema
    values = [
        {name: bare(value, schema.field(name).type) for name, value in partition.items()}
        for partition in partitions
    ]
    return OverwriteScope.partitions_with(
        [partition_values(one, definition_of(table)) for one in values], ignores_blanks=True
    )


def scope_of(partitions: Iterable[bytes]) -> OverwriteScope:
    """Return the scope of an overwrite of the partitions that rows have, however spelled."""
    return OverwriteScope.exactly(partitions, ignores_blanks=True)

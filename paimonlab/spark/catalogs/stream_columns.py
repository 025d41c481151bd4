"""``write.merge-schema`` of a stream: its rows bring their columns and wider types.

Spark changes no columns for the rows of a stream, so the table is altered when a batch is planned:
once, as the rows of a stream have the same columns until it is started anew. What else the rows
lack or have otherwise the writers in the tasks see to: a column without rows is null, a number
takes the wider type of its column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.catalogs.places import place_of
from paimonlab.spark.session_options import exact_name
from paimonlab.spark.values.types import from_spark
from paimonlab.spark.writing.evolution import takes_type_of_rows
from paimonlab.spec.schema.change_kinds import AddColumn, UpdateColumnType
from paimonlab.spec.types.data_types import DataField, RowType, with_nullable
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from paimonlab.spark.jvm.bridge import Bridge


def with_columns_of_rows(
    bridge: Bridge, table: Table, rows: StructType, options: Mapping[str, str], catalog: str
) -> Table:
    """Alter the sink of a stream so that it has the columns of the rows; return it as it is then.

    Parameters
    ----------
    bridge
        The session.
    table
        The sink, maybe as it was when the stream began.
    rows
        The columns of the stream.
    options
        Those of the stream and the session that say how types change.
    catalog
        The name of the sink's catalog in the session that is active.

    Raises
    ------
    UnsupportedError
        If a catalog has no such table any more, or a column differs only in upper and lower case.
    """
    place = place_of(bridge, exact_name(bridge, catalog, table), "a stream into")
    now = None if place is None else place.catalog.table(place.name)
    if place is None or not isinstance(now, Table):
        raise UnsupportedError(f"write.merge-schema = 'true' for a stream into {table.name}")
    wanted = [
        DataField(-1, column.name, from_spark(column.dataType, column=column.name))
        for column in rows
    ]
    changes = list(_changes(now, now.schema.fields, wanted, (), options))
    if not changes:
        return now
    altered = place.catalog.alter_table(place.name, *changes)
    assert isinstance(altered, Table), "a table stays one"
    return altered


def _changes(
    table: Table,
    fields: Sequence[DataField],
    wanted: Sequence[DataField],
    path: tuple[str, ...],
    options: Mapping[str, str],
) -> Iterator[AddColumn | UpdateColumnType]:
    """Return what the columns, or the fields of one, lack of those of the rows."""
    known = {field.name: field for field in fields}
    in_any_case = {field.name.lower(): field.name for field in fields}
    for column in wanted:
        name = ".".join((*path, column.name))
        stored = known.get(column.name)
        if stored is None:
            other = in_any_case.get(column.name.lower())
            if other is not None:
                raise SchemaError(
                    f"{table.name}: the rows of the stream have a column {name!r}, and the table "
                    f"has {other!r}; rename the one of the rows"
                )
            yield AddColumn(name, with_nullable(column.type, nullable=True))
        elif isinstance(stored.type, RowType) and isinstance(column.type, RowType):
            inner = stored.type.fields, column.type.fields, (*path, column.name)
            yield from _changes(table, *inner, options)
        elif takes_type_of_rows(table, name, column.type, options):
            yield UpdateColumnType(name, column.type)

"""What a column of an older (or newer) data file means under the schema that reads it.

Columns and fields of ROWs are matched by field id; their values are found in the file by the
names of the file's own schema. A column the file's schema does not have is null.

Source: apache/paimon@1.3.1 ``org.apache.paimon.schema.SchemaEvolutionUtil``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab import datafile
from paimonlab.clock import is_zone_utc
from paimonlab.errors import DataError
from paimonlab.formats.other_elements import with_elements
from paimonlab.same_objects import MOST_REMEMBERED, SameObjects
from paimonlab.spec.predicates.predicate import Predicate, columns, rename_columns
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS
from paimonlab.spec.types.arrow import arrow_schema, to_arrow
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    with_nullable,
)

if TYPE_CHECKING:
    from paimonlab.datafile.casts import Cast

_NOT_IN_FILE = "\0not in the file"
"""A name that no column has."""


class ColumnSource(Struct, frozen=True):
    """Where the values of a read column come from."""

    field: DataField
    """The column of the file."""
    convert: Cast | None
    """From what the file holds to what the reader sees; may raise ``ValueError``. None: they
    are the same."""
    is_unchanged: bool
    """Whether file and reader agree on the type, so that statistics of one hold for both."""

    def apply(self, array: pa.Array) -> pa.Array:
        """Return what the reader sees of values in the file."""
        return array if self.convert is None else self.convert(array)


class Evolution(Struct, frozen=True):
    """How to read some columns from files of one schema."""

    table: str
    fields: tuple[DataField, ...]
    """What the reader sees."""
    sources: tuple[ColumnSource | None, ...]
    """One per field; None: the file's schema has no such column, all values are null."""
    arrow_schema: pa.Schema
    """Of ``fields``."""
    file_fields: tuple[DataField, ...]
    """The columns to read from the file, in the order of ``fields``, each once.

    Two columns of the reader may be one of the file: without key copies a key is its column.
    """
    constants: Mapping[str, pa.Scalar] = {}
    """Values of columns of the reader that all rows of the file have, and the file does not."""

    @classmethod
    def between(
        cls, file_fields: Sequence[DataField], read_fields: Sequence[DataField], *, table: str
    ) -> Evolution:
        """Match the columns of a reader with those of a file's schema.

        Raises
        ------
        UnsupportedError
            If a column's type changed in a way that has no cast.
        """
        of_file, of_reader = SameObjects(file_fields), SameObjects(read_fields)
        if max(len(of_file), len(of_reader)) <= MOST_REMEMBERED:
            return _known_evolution(of_file, of_reader, table, is_zone_utc())
        return _evolution(of_file, of_reader, table)

    def with_constants(self, fields: Sequence[DataField], values: pa.RecordBatch) -> Evolution:
        """Give columns that are not in the file one value in all rows.

        Parameters
        ----------
        fields
            By the schema the file was written with.
        values
            One row of them.
        """
        here = Evolution.between(fields, self.fields, table=self.table)
        names = [one.name for one in here.file_fields]
        row = here.apply(values.select(names))
        known = {
            field.name: column[0]
            for field, source, column in zip(here.fields, here.sources, row.columns, strict=True)
            if source is not None
        }
        return replace(self, constants=known)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Turn a batch with the columns ``file_fields`` into what the reader sees.

        Raises
        ------
        DataError
            If a value cannot be cast; names the column.
        """
        stored = dict(zip((field.name for field in self.file_fields), batch.columns, strict=True))
        arrays = [
            self._made(arrow_field, batch.num_rows)
            if source is None
            else self._convert(source, stored[source.field.name], field)
            for source, field, arrow_field in zip(
                self.sources, self.fields, self.arrow_schema, strict=True
            )
        ]
        if not arrays:
            return batch
        return pa.RecordBatch.from_arrays(arrays, schema=self.arrow_schema)

    def _made(self, field: pa.Field, count: int) -> pa.Array:
        """Make a column that the file has not."""
        if field.name in self.constants:
            return pa.repeat(self.constants[field.name], count)
        return pa.nulls(count, field.type)

    def _convert(self, source: ColumnSource, array: pa.Array, field: DataField) -> pa.Array:
        try:
            return source.apply(array)
        except ValueError as error:
            raise DataError(
                f"{self.table}, column {field.name}: {error}. The column's type was changed "
                "after these rows were written"
            ) from error

    def in_file(self, predicate: Predicate) -> Predicate:
        """Rename a predicate's columns to those of the file.

        Columns that the file has not, or has with another type, get a name no file has, so
        that a filter made of the result cannot look at them.
        """
        names: Mapping[str, str] = {
            field.name: source.field.name
            for field, source in zip(self.fields, self.sources, strict=True)
            if source is not None
            and source.is_unchanged
            and field.name not in TRACKING_COLUMNS  # nulls in the file stand for other values
        }
        wanted = columns(predicate)
        return rename_columns(predicate, {name: names.get(name, _NOT_IN_FILE) for name in wanted})


def _evolution(
    file_fields: SameObjects[DataField], read_fields: SameObjects[DataField], table: str
) -> Evolution:
    by_id = {field.id: field for field in file_fields}
    sources = [_source(by_id.get(field.id), field, table) for field in read_fields]
    by_name = {source.field.name: source.field for source in sources if source is not None}
    return Evolution(
        table,
        tuple(read_fields),
        tuple(sources),
        arrow_schema(read_fields),
        tuple(by_name.values()),
    )


@lru_cache(maxsize=512)
def _known_evolution(
    file_fields: SameObjects[DataField],
    read_fields: SameObjects[DataField],
    table: str,
    _is_zone_utc: bool,  # noqa: FBT001 - there are casts in this zone alone
) -> Evolution:
    return _evolution(file_fields, read_fields, table)


def _source(found: DataField | None, wanted: DataField, table: str) -> ColumnSource | None:
    if found is None:
        return None
    column_name = f"{table}, column {wanted.name}"
    is_unchanged = with_nullable(found.type, True) == with_nullable(wanted.type, True)  # noqa: FBT003
    convert = None if is_unchanged else converter(found.type, wanted.type, column_name)
    return ColumnSource(found, convert, is_unchanged)


def converter(source: DataType, target: DataType, place: str) -> Cast:
    """Make the function that reads an array of ``source`` as ``target``.

    Parameters
    ----------
    source
        What the file's schema says of the column.
    target
        What the reader's schema says.
    place
        Table and column, for messages.

    Returns
    -------
    function
        From an array of ``to_arrow(source)`` to one of ``to_arrow(target)``.

    Raises
    ------
    UnsupportedError
        If there is no cast.
    """
    match source, target:
        case (AtomicType(), AtomicType()):
            return _atomic(source, target, place)
        case (RowType(), RowType()):
            return _row(source, target, place)
        case (ArrayType(), ArrayType()):
            return _list(to_arrow(target), converter(source.element, target.element, place))
        case (MapType(), MapType()):
            key = converter(source.key, target.key, place)
            return _map(to_arrow(target), key, converter(source.value, target.value, place))
        case (MultisetType(), MultisetType()):
            count = AtomicType(TypeRoot.INT, nullable=False)
            key = converter(source.element, target.element, place)
            return _map(to_arrow(target), key, converter(count, count, place))
    raise datafile.casts.unsupported_cast(source, target, place)


def _atomic(source: AtomicType, target: AtomicType, place: str) -> Cast:
    cast = datafile.casts.atomic_cast(source, target, column=place)
    return (lambda array: array) if cast is None else cast


def _row(source: RowType, target: RowType, place: str) -> Cast:
    by_id = {field.id: field for field in source.fields}
    inner = [
        _source(by_id.get(field.id), field, f"{place}.{field.name}") for field in target.fields
    ]
    arrow_type = to_arrow(target)

    def convert(array: pa.StructArray) -> pa.Array:
        # flatten: a field is null where its row is.
        names = [field.name for field in array.type]
        children = dict(zip(names, array.flatten(), strict=True))
        arrays = [
            pa.nulls(len(array), field.type)
            if found is None
            else found.apply(children[found.field.name])
            for found, field in zip(inner, arrow_type, strict=True)
        ]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(arrays, fields=list(arrow_type), mask=mask)

    return convert


def _list(arrow_type: pa.DataType, element: Cast) -> Cast:
    def convert(array: pa.ListArray) -> pa.Array:
        # values and buffers are those of the whole array; the offset leads into them.
        return with_elements(array, arrow_type, element(array.values))

    return convert


def _map(arrow_type: pa.DataType, key: Cast, value: Cast) -> Cast:
    entries = pa.struct([arrow_type.key_field, arrow_type.item_field])

    def convert(array: pa.MapArray) -> pa.Array:
        pairs = pa.StructArray.from_arrays(
            [key(array.keys), value(array.items)], fields=list(entries)
        )
        return with_elements(array, arrow_type, pairs)

    return convert

"""The definition of a new table, and the first schema it becomes.

Spec: https://paimon.apache.org/docs/master/concepts/spec/schema/
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import pyarrow as pa
from msgspec.structs import replace

from paimonlab.errors import SchemaError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.default_values import check_default
from paimonlab.spec.options.given import OptionValue, text_options
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.schema.rules import check_schema
from paimonlab.spec.schema.table_schema import FIRST_SCHEMA_ID, TableSchema
from paimonlab.spec.types.arrow import data_field
from paimonlab.spec.types.data_types import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    with_nullable,
)
from paimonlab.spec.types.text import UNASSIGNED_ID, parse_type

__all__ = ["Schema", "TableSchema", "assign_ids", "column_type", "new_table_schema"]

GivenType: TypeAlias = str | DataType | pa.DataType | type
Columns: TypeAlias = Mapping[str, GivenType] | pa.Schema | Sequence[DataField]


@hides_secrets
@dataclass(frozen=True, slots=True)
class Schema:
    """The definition of a new table, as a user gives it.

    Examples
    --------
    >>> Schema({"id": "BIGINT", "amount": "DECIMAL(12, 2)"}, primary_keys=["id"]).primary_keys
    ('id',)
    """

    fields: Columns
    """Columns in order: names with types (Paimon's text, Arrow's or Python's), an Arrow schema, or
    fields."""
    partition_keys: Sequence[str] = ()
    """Names, or one name as a text."""
    primary_keys: Sequence[str] = ()
    """Names, or one name as a text."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    comment: str | None = None

    def __post_init__(self) -> None:
        for name in ("partition_keys", "primary_keys"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))


_KEY_OPTIONS = ("primary-key", "partition")


class KeyOptions(OptionSlice):
    """The table options that stand for lists of the schema, and become these."""

    primary_key: tuple[str, ...] | None = option_field("primary-key", "list", None)
    """``primary-key``"""
    partition: tuple[str, ...] | None = option_field("partition", "list", None)
    """``partition``"""


def new_table_schema(schema: Schema, *, time_millis: int, first_id: int = 0) -> TableSchema:
    """Make the first schema of a table out of its definition.

    Fields get their ids, the options ``primary-key`` and ``partition`` become the lists
    they stand for, key columns become NOT NULL.

    Parameters
    ----------
    schema
        What the user wants.
    time_millis
        Now, milliseconds since the epoch.
    first_id
        The id of the first field.

    Raises
    ------
    SchemaError
        If the format does not allow such a table: columns or keys named twice, keys that
        are not columns, nested types as keys, system names, a ``bucket-key`` that does not
        fit, a default that is not a value of its column …
    UnsupportedError
        If a column has a type that paimonlab does not have.

    Notes
    -----
    Values of options are not looked at; that is what
    `paimonlab.spec.options.table_options.check_supported` does.
    """
    options = text_options(schema.options)
    keys = Options(options).slice(KeyOptions)
    primary_keys = _one_of(schema.primary_keys, keys.primary_key, "primary-key")
    partition_keys = _one_of(schema.partition_keys, keys.partition, "partition")
    ids = count(first_id)
    columns = [_with_ids(column, ids) for column in _columns(schema.fields)]
    fields = tuple(_not_null_key(column, primary_keys) for column in columns)
    made = TableSchema(
        id=FIRST_SCHEMA_ID,
        fields=fields,
        highest_field_id=next(ids) - 1,
        partition_keys=partition_keys,
        primary_keys=primary_keys,
        options={key: value for key, value in options.items() if key not in _KEY_OPTIONS},
        comment=schema.comment,
        time_millis=time_millis,
    )
    check_schema(made)
    for column in fields:
        check_default(column)
    return made


def _one_of(keys: Sequence[str], option: tuple[str, ...] | None, name: str) -> tuple[str, ...]:
    if option is not None and keys and tuple(keys) != option:
        raise SchemaError(
            f"option {name!r} = {','.join(option)!r} contradicts the definition: {[*keys]}"
        )
    return tuple(keys) if option is None else option


def _columns(fields: Columns) -> Iterator[DataField]:
    if isinstance(fields, pa.Schema):
        yield from (data_field(UNASSIGNED_ID, column) for column in fields)
    elif isinstance(fields, Mapping):
        for name, given in fields.items():
            yield DataField(UNASSIGNED_ID, name, column_type(name, given))
    elif isinstance(fields, Sequence) and all(isinstance(field, DataField) for field in fields):
        yield from fields
    else:
        raise TypeError(
            f"columns cannot be made of a {type(fields).__name__}: give names with types "
            "({'id': 'BIGINT', …}), an Arrow schema, or a sequence of DataField"
            f"{_of_others(fields)}"
        )


def _of_others(fields: object) -> str:
    module, name = type(fields).__module__, type(fields).__name__
    if module.startswith(("pyiceberg.table", "deltalake.table")) and name.endswith("Table"):
        return "; catalog.migrate_table(table, 'db.t') makes a table of one of Iceberg or Delta"
    if not module.startswith("pyiceberg."):
        return ""
    return "; of a schema of Iceberg write schema.as_arrow() and primary_keys=[…]"


def column_type(name: str, given: GivenType) -> DataType:
    """Return the type of a column: of Paimon's text, of Arrow's or one of Python's types.

    Raises
    ------
    SchemaError
        If the text is no type.
    TypeError
        If it is none of these.
    """
    if isinstance(given, pa.DataType):
        return data_field(UNASSIGNED_ID, pa.field(name, given)).type
    if isinstance(given, type) and given in _PYTHON_TYPES:
        return parse_type(_PYTHON_TYPES[given])
    if isinstance(given, DataType):
        return given
    if not isinstance(given, str):
        told = (
            f"column {name!r}: {given!r} is no type; give Paimon's text ('BIGINT NOT NULL'), an "
            f"Arrow type, or one of {', '.join(known.__name__ for known in _PYTHON_TYPES)}"
        )
        if isinstance(given, list):
            told += ". Rows are taken by catalog.write_table(name, rows), which makes the table"
        raise TypeError(told)
    try:
        return parse_type(given)
    except SchemaError as error:
        raise SchemaError(f"column {name!r}: {error}") from None


_PYTHON_TYPES: Mapping[type, str] = {
    bool: "BOOLEAN",
    int: "BIGINT",
    float: "DOUBLE",
    str: "STRING",
    bytes: "BYTES",
    dt.date: "DATE",
    dt.datetime: "TIMESTAMP(6)",
}
"""Types of Python that say enough: a Decimal has no precision."""


def _not_null_key(column: DataField, primary_keys: Sequence[str]) -> DataField:
    if column.name not in primary_keys:
        return column
    return replace(column, type=with_nullable(column.type, nullable=False))


def _with_ids(column: DataField, ids: Iterator[int]) -> DataField:
    return replace(column, id=next(ids), type=assign_ids(column.type, ids))


def assign_ids(data_type: DataType, ids: Iterator[int]) -> DataType:
    """Give every nested ROW field of a type an id.

    A column takes its own id first; inside it the fields of a ROW are numbered after the
    fields nested in them: ``a ROW<b ROW<c INT>, d INT>`` is a=0, c=1, b=2, d=3.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.types.ReassignFieldId``.
    """
    match data_type:
        case ArrayType(element):
            return replace(data_type, element=assign_ids(element, ids))
        case MultisetType(element):
            return replace(data_type, element=assign_ids(element, ids))
        case MapType(key, value):
            key = assign_ids(key, ids)
            return replace(data_type, key=key, value=assign_ids(value, ids))
        case RowType(fields):
            return replace(data_type, fields=tuple(_nested_ids(child, ids) for child in fields))
    return data_type


def _nested_ids(child: DataField, ids: Iterator[int]) -> DataField:
    data_type = assign_ids(child.type, ids)
    return replace(child, id=next(ids), type=data_type)

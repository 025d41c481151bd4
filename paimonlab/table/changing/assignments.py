"""What an update gives columns: SQL text, values, other columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import pyarrow as pa

from paimonlab.arrow_values import arrow_scalar
from paimonlab.errors import ColumnNotFoundError, DataError
from paimonlab.spec.literals import Exactly, place
from paimonlab.spec.predicates.predicate import Column, Predicate, bind, evaluate
from paimonlab.spec.predicates.sql import parse_predicate
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type
from paimonlab.write.conversion import convert
from paimonlab.write.expressions.coercion import converted
from paimonlab.write.expressions.expression import Expression, column
from paimonlab.write.expressions.sql import parse_expression

Values: TypeAlias = Callable[[pa.RecordBatch], pa.Array]
"""Makes one value a row."""


@dataclass(frozen=True, slots=True)
class BoundAssignments:
    """New values of columns, computed from the old rows."""

    values: Mapping[str, Values]
    """By column: makes one value a row, of the column's Arrow type."""

    @classmethod
    def of(cls, assignments: Mapping[str, object], schema: TableSchema, table: str) -> Self:
        """Bind assignments to the columns of a table.

        Parameters
        ----------
        assignments
            By column: SQL text, a value, `paimonlab.col` of another column, or a predicate.
        schema
            The table's schema.
        table
            Its name, for messages.

        Raises
        ------
        ValueError
            If there is none.
        ColumnNotFoundError
            If a column does not exist.
        SchemaError, UnsupportedError
            If a text cannot be read or evaluated, or its type does not fit the column.
        DataError
            If a value does not fit its column.
        """
        if not assignments:
            raise ValueError(f"{table}: an update needs at least one column to give a value")
        values = {}
        for name, given in assignments.items():
            if name not in schema.field_names:
                raise ColumnNotFoundError(name, table, schema.field_names)
            values[name] = _bound(given, schema.field(name), schema, table)
        return cls(values)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that get new values."""
        return tuple(self.values)

    def applied(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with new values; all are computed from the old ones.

        Raises
        ------
        DataError
            If there is no value for a row: an overflow, a text that is no number, a null where
            none is allowed.
        """
        arrays = [
            self.values[name](rows) if name in self.values else rows.column(name)
            for name in rows.schema.names
        ]
        return pa.RecordBatch.from_arrays(arrays, names=rows.schema.names)


def _bound(given: object, field: DataField, schema: TableSchema, table: str) -> Values:
    if isinstance(given, Predicate):
        predicate = bind(given, schema.fields, table)
        truth = Expression(pa.bool_(), lambda rows: evaluate(predicate, rows), str(given))
        return _stored(truth, field)
    return new_value(given, field, schema.arrow_schema, table)


def new_value(
    given: object, field: DataField, schema: pa.Schema, table: str, sides: Sequence[str] = ()
) -> Values:
    """Bind what a column is given to the columns it is computed from.

    Parameters
    ----------
    given
        SQL text, `paimonlab.col` of a column, or a value.
    field
        The column.
    schema, table, sides
        As `parse_expression` takes them.
    """
    if isinstance(given, str):
        constant = _constant_of(given, field)
        if constant is not None:
            return constant
        return _stored(parse_expression(given, schema, table, sides), field)
    if isinstance(given, Column):
        return _stored(column(given.name, schema, table), field)
    if isinstance(given, Predicate):
        raise TypeError(f"{table}: write the condition for column {field.name!r} as SQL text")
    return _constant(given, field)


def _stored(value: Expression, field: DataField) -> Values:
    target = to_arrow(field.type)
    if pa.types.is_nested(target) and value.type == target:
        return value.evaluate
    ready = converted(value, target, is_explicit=False)
    return lambda rows: convert(ready.evaluate(rows), field.type, field.name)


def _constant_of(text: str, field: DataField) -> Values | None:
    """Read a text that is a date, a time or bytes, which need no more than their column."""
    types = pa.types
    target = to_arrow(field.type)
    is_moment = types.is_timestamp(target) or types.is_date(target) or types.is_time(target)
    if not is_moment and not types.is_binary(target):
        return None
    try:
        predicate = parse_predicate(f"`{_ANY}` = {text}")
    except Exception:  # noqa: BLE001 - it is no constant, and may be an expression
        return None
    literal: Any = getattr(predicate, "literal", None)
    return None if literal is None else _constant(literal.value, field)


_ANY = "any column"


def _constant(value: object, field: DataField) -> Values:
    target = to_arrow(field.type)
    if value is None or pa.types.is_nested(target):
        scalar = arrow_scalar(value, target)
    else:
        constant = place(value, field.type)
        if not isinstance(constant, Exactly):
            raise DataError(
                f"column {field.name!r} is {format_type(field.type)}: it cannot hold {value!r}"
            )
        scalar = arrow_scalar(constant.value, target)
    return lambda rows: convert(pa.repeat(scalar, rows.num_rows), field.type, field.name)

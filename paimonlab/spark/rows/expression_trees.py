"""Spark's expressions as values that tasks evaluate themselves, with its meaning.

A row that passes from Python to Spark and back to be looked at costs more than to look at it. So
what conditions and new values mostly consist of is known here: comparisons, truth values, whole
numbers and doubles, choices. Whatever else a statement says is Spark's to evaluate.

Source: apache/spark@v4.3.0 ``org.apache.spark.sql.catalyst.expressions``, with ANSI mode on;
https://spark.apache.org/docs/latest/sql-ref-ansi-compliance.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.write.expressions import arithmetic, conditions, texts
from paimonlab.write.expressions.coercion import converted
from paimonlab.write.expressions.expression import Expression, column


@dataclass(frozen=True, slots=True)
class Tree:
    """An expression of Spark's."""

    kind: str
    """Its class."""
    type: str
    """Of its values, as Spark writes it."""
    detail: str | None = None
    """Of a literal its value, None if that is NULL; of a column its id; how errors are met."""
    children: tuple[Tree, ...] = ()

    @classmethod
    def of(cls, parts: Sequence[Any]) -> Tree:
        """Take what `catalyst_trees` gets from Spark.

        What an expression names because it has it several times is put where it is meant.
        """
        return cls._of(parts, {})

    @classmethod
    def _of(cls, parts: Sequence[Any], named: Mapping[str, Tree]) -> Tree:
        kind, data_type, detail, children = parts
        if kind == _REFERENCE and detail in named:
            return named[detail]
        if kind == _WITH:
            meant, *definitions = children
            known = {one[2]: cls._of(one[3][0], named) for one in definitions}
            return cls._of(meant, {**named, **known})
        return cls(kind, data_type, detail, tuple(cls._of(child, named) for child in children))


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of trees are; picklable."""

    names: Mapping[str, str]
    """By their ids."""
    schema: pa.Schema
    """Of the rows; it has all of them."""
    table: str
    """For messages."""


def bound(tree: Tree, columns: Columns) -> Expression:
    """Make an expression that is evaluated over Arrow batches.

    Raises
    ------
    UnsupportedError
        If Spark has to evaluate it. A value that is impossible is a `DataError` in the end.
    """
    build = _BUILDERS.get(tree.kind)
    if build is None:
        raise UnsupportedError(f"{tree.kind} as an expression", "Spark evaluates it")
    made = build(tree, columns)
    if made.type != arrow_type(tree.type):
        raise UnsupportedError(f"{tree.kind} of {made.type} as {tree.type}", "Spark evaluates it")
    return made


def names_of(tree: Tree, columns: Columns) -> frozenset[str]:
    """Name the columns that a tree looks at."""
    if tree.kind == COLUMN:
        return frozenset([name_of(tree, columns)])
    return frozenset().union(*(names_of(child, columns) for child in tree.children))


def conjuncts(tree: Tree) -> tuple[Tree, ...]:
    """Return the conditions all of which are true where a condition is; at least one."""
    if tree.kind in SAME_AS_CHILD:
        return conjuncts(tree.children[0])
    if tree.kind == "And":
        return tuple(part for child in tree.children for part in conjuncts(child))
    return (tree,)


def bare(tree: Tree) -> Tree:
    """Return a value without its name, and without the test of NOT NULL, which writers do, too."""
    return bare(tree.children[0]) if tree.kind in _NAMED else tree


_NAMED = ("Alias", "AssertNotNull")
_WITH, _REFERENCE = "With", "CommonExpressionRef"
COLUMN, CAST, LITERAL = "AttributeReference", "Cast", "Literal"
_STRICT = "ANSI"
DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
INTEGERS = {"tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64()}
_TYPES: Mapping[str, pa.DataType] = {
    **INTEGERS,
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "double": pa.float64(),
    "float": pa.float32(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}
_COARSER = ("s", "ms", "us")


def arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of values of a type, as Spark writes it.

    Raises
    ------
    UnsupportedError
        If Spark has to evaluate such values.
    """
    found = _TYPES.get(name)
    if found is not None:
        return found
    decimal = DECIMAL.fullmatch(name)
    if decimal is None:
        raise UnsupportedError(f"values of {name}", "Spark evaluates them")
    return pa.decimal128(int(decimal[1]), int(decimal[2]))


def name_of(tree: Tree, columns: Columns) -> str:
    """Return the name of a column; `UnsupportedError` if it is not one of the table."""
    name = columns.names.get(str(tree.detail))
    if name is None:
        raise UnsupportedError(f"the column {tree.detail}", "it is not one of the table")
    return name


def _column(tree: Tree, columns: Columns) -> Expression:
    found = column(name_of(tree, columns), columns.schema, columns.table)
    if pa.types.is_timestamp(found.type) and found.type.unit in _COARSER:
        return converted(found, arrow_type(tree.type), is_explicit=False)
    return found


def _literal(tree: Tree, columns: Columns) -> Expression:
    del columns
    kind = arrow_type(tree.type)
    if tree.detail is None or pa.types.is_null(kind):
        return Expression(kind, lambda rows: pa.nulls(rows.num_rows, kind), "NULL")
    (scalar,) = _stored(tree.detail, kind)
    return Expression(kind, lambda rows: pa.repeat(scalar, rows.num_rows), tree.detail)


def _stored(text: str, kind: pa.DataType) -> pa.Array:
    """Make an array of one value, as Spark writes those that it holds: days, microseconds."""
    types = pa.types
    if types.is_integer(kind) or types.is_timestamp(kind):
        whole = kind if types.is_integer(kind) else pa.int64()
        return arrow_array(np.array([int(text)]), whole).cast(kind)
    if types.is_date(kind):
        return arrow_array(np.array([int(text)], np.int32)).cast(kind)
    if types.is_boolean(kind):
        return arrow_array(np.array([text == "true"]))
    if types.is_floating(kind):
        return arrow_array(np.array([text], kind.to_pandas_dtype()))
    return arrow_array([text], pa.string()).cast(kind)


def _children(tree: Tree, columns: Columns) -> list[Expression]:
    return [bound(child, columns) for child in tree.children]


def _arithmetic(operator: str) -> Callable[[Tree, Columns], Expression]:
    def build(tree: Tree, columns: Columns) -> Expression:
        sides = _children(tree, columns)
        if tree.detail != _STRICT or any(pa.types.is_decimal(side.type) for side in sides):
            raise UnsupportedError(f"{operator} of {tree.type}", "Spark evaluates it")
        return arithmetic.arithmetic(operator, *sides)

    return build


def _compare(operator: str) -> Callable[[Tree, Columns], Expression]:
    def build(tree: Tree, columns: Columns) -> Expression:
        return conditions.comparison(operator, *_children(tree, columns))

    return build


def _join(operator: str) -> Callable[[Tree, Columns], Expression]:
    return lambda tree, columns: conditions.joined(operator, _children(tree, columns))


def _cast(tree: Tree, columns: Columns) -> Expression:
    (value,) = _children(tree, columns)
    target = arrow_type(tree.type)
    if pa.types.is_null(value.type):
        return converted(value, target, is_explicit=False)
    types = pa.types
    is_wider = (
        types.is_integer(value.type)
        and types.is_integer(target)
        and target.bit_width >= value.type.bit_width
    )
    are_numbers = types.is_integer(value.type) and (
        types.is_integer(target) or types.is_decimal(target) or types.is_floating(target)
    )
    are_decimals = types.is_decimal(value.type) and types.is_decimal(target)
    are_floats = value.type == pa.float32() and target == pa.float64()
    is_float = types.is_integer(value.type) and types.is_floating(target)
    can_fail = not (is_wider or are_floats or is_float)
    if not (are_numbers or are_decimals or are_floats) or (can_fail and tree.detail != _STRICT):
        raise UnsupportedError(f"the cast to {tree.type}", "Spark evaluates it")
    return converted(value, target, is_explicit=True)


def _negative(tree: Tree, columns: Columns) -> Expression:
    (value,) = _children(tree, columns)
    if tree.detail != _STRICT or pa.types.is_decimal(value.type):
        raise UnsupportedError(f"- of {tree.type}", "Spark evaluates it")
    return arithmetic.negative(value)


def _is_null(tree: Tree, columns: Columns) -> Expression:
    (value,) = _children(tree, columns)
    return conditions.is_null(value)


def _in(tree: Tree, columns: Columns) -> Expression:
    value, *listed = _children(tree, columns)
    constants = [child for child in tree.children[1:] if child.kind == LITERAL]
    is_plain = len(constants) == len(listed) and all(child.detail for child in constants)
    if not is_plain or pa.types.is_floating(value.type):
        looks = [conditions.comparison("=", value, one) for one in listed]
        return conditions.joined("OR", looks)
    kind = value.type
    if any(one.type != kind for one in listed):
        raise UnsupportedError("IN of several types", "Spark evaluates it")
    members = pa.concat_arrays([_stored(str(child.detail), kind) for child in constants])

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        values = value.evaluate(rows)
        found = pc.is_in(values, value_set=members)
        return pc.if_else(values.is_valid(), found, pa.nulls(len(values), pa.bool_()))

    return Expression(pa.bool_(), evaluate, f"({value.text} IN (…))")


def _like(tree: Tree, columns: Columns) -> Expression:
    value, pattern = tree.children
    if pattern.kind != LITERAL or pattern.detail is None or tree.detail != "\\":
        raise UnsupportedError("LIKE of a pattern that is no constant", "Spark evaluates it")
    try:
        return conditions.like(bound(value, columns), pattern.detail)
    except SchemaError as error:
        raise UnsupportedError(f"LIKE {pattern.detail!r}", str(error)) from None


def _case(tree: Tree, columns: Columns) -> Expression:
    parts = _children(tree, columns)
    has_else = len(parts) % 2 == 1
    kind = arrow_type(tree.type)
    nothing = Expression(kind, lambda rows: pa.nulls(rows.num_rows, kind), "NULL")
    otherwise = parts.pop() if has_else else nothing
    branches = list(zip(parts[::2], parts[1::2], strict=True))
    return conditions.case(branches, otherwise, "CASE")


def _coalesce(tree: Tree, columns: Columns) -> Expression:
    return conditions.coalesce(_children(tree, columns))


def _bare(tree: Tree, columns: Columns) -> Expression:
    (value,) = _children(tree, columns)
    return value


def _concat(tree: Tree, columns: Columns) -> Expression:
    parts = _children(tree, columns)
    if not parts or not all(pa.types.is_string(part.type) for part in parts):
        raise UnsupportedError(f"concat of {tree.type}", "Spark evaluates it")
    return texts.concat(parts)


SAME_AS_CHILD = ("Alias", "Between", "Nvl")
"""What stands for its only child: names, and functions that Spark replaces by others."""
_COMPARISONS = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_ARITHMETIC = {"Add": "+", "Divide": "/", "Multiply": "*", "Remainder": "%", "Subtract": "-"}
_BUILDERS: Mapping[str, Callable[[Tree, Columns], Expression]] = {
    CAST: _cast,
    COLUMN: _column,
    LITERAL: _literal,
    "And": _join("AND"),
    **dict.fromkeys(SAME_AS_CHILD, _bare),
    "CaseWhen": _case,
    "Coalesce": _coalesce,
    "Concat": _concat,
    "EqualNullSafe": lambda tree, columns: conditions.null_safe_equal(*_children(tree, columns)),
    "If": _case,
    "In": _in,
    "IsNotNull": lambda tree, columns: conditions.negated(_is_null(tree, columns)),
    "IsNull": _is_null,
    "Like": _like,
    "Not": lambda tree, columns: conditions.negated(*_children(tree, columns)),
    "Or": _join("OR"),
    "UnaryMinus": _negative,
    **{kind: _compare(operator) for kind, operator in _COMPARISONS.items()},
    **{kind: _arithmetic(operator) for kind, operator in _ARITHMETIC.items()},
}

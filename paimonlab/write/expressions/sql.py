"""Expressions as SQL text: ``CASE WHEN amount > 10 THEN amount * 1.1 ELSE 0 END``.

The dialect is Spark's: names in back-quotes, texts in quotes, ``1.5`` a decimal and ``1.5e0`` a
double.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import exp

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.sql_text import trees
from paimonlab.spec.sql_text.trees import Node
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from paimonlab.write.expressions import conditions, functions, texts
from paimonlab.write.expressions.arithmetic import arithmetic, negative
from paimonlab.write.expressions.coercion import converted
from paimonlab.write.expressions.expression import Expression, column, literal

_ARITHMETIC: Mapping[type[Any], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
}
_COMPARISONS: Mapping[type[Any], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_INT, _LONG = 2**31, 2**63
_TRY_CAST = re.compile(r"\btry_cast\s*\(", re.IGNORECASE)


def parse_expression(
    text: str, schema: pa.Schema, table: str, sides: Sequence[str] = ()
) -> Expression:
    """Parse an expression and bind it to columns.

    Parameters
    ----------
    text
        SQL in Spark's dialect.
    schema
        The columns; names are case-sensitive.
    table
        Its name, for messages.
    sides
        Of two rows that meet; their columns are called ``side.column`` in the schema. A column
        that only one of them has needs no side in the text.

    Raises
    ------
    SchemaError
        If the text is not an expression, or a name may be that of two columns.
    ColumnNotFoundError
        If a column does not exist.
    UnsupportedError
        If it cannot be evaluated; the message names functions.

    Examples
    --------
    >>> rows = pa.record_batch({"a": [1, 2]})
    >>> parse_expression("a * 2 + 1", rows.schema, "db.t").evaluate(rows).to_pylist()
    [3, 5]
    """
    return bound_to(Names(schema, table, sides), parsed(text))


def columns_of(text: str) -> frozenset[str]:
    """Name the columns of an expression of one table."""
    return frozenset(node.name for node in parsed(text).find_all(exp.Column))


def parsed(text: str) -> Node:
    """Parse an expression, without binding it."""
    if _TRY_CAST.search(text):  # in sqlglot's tree it is a CAST
        raise UnsupportedError("the function try_cast", f"in {text!r}")
    try:
        return trees.parsed(text)
    except (sqlglot.ParseError, sqlglot.errors.TokenError):
        raise SchemaError(f"cannot read the expression {text!r}") from None
    except RecursionError:
        raise SchemaError("cannot read the expression: it is nested too deep") from None


@dataclass(frozen=True, slots=True)
class Names:
    """What columns are called; see `parse_expression`."""

    schema: pa.Schema
    table: str
    sides: Sequence[str] = ()

    def of(self, node: Node) -> str:
        """Return what a parsed column is called in the schema."""
        side = node.args.get("table")
        if side is None:
            found = [f"{each}.{node.name}" for each in self.sides]
            there = [name for name in found if name in self.schema.names]
            if len(there) > 1:
                raise SchemaError(f"{node.name!r} may be {' or '.join(there)}: say which")
            return there[0] if there else str(node.name)
        if self.sides and side.name not in self.sides:
            known = " and ".join(f"{each}.column" for each in self.sides)
            raise SchemaError(f"{node.sql('spark')!r} is not known here, only {known}")
        if not self.sides or node.args.get("db") is not None:
            raise UnsupportedError(f"{node.sql('spark')!r}", "a field inside a column")
        return f"{side.name}.{node.name}"

    def side_of(self, node: Node) -> str:
        """Return the side that a parsed column is of."""
        return self.of(node).partition(".")[0]


def bound_to(names: Names, node: Node) -> Expression:
    """Bind a parsed expression to columns."""
    return _Reader(names).expression(node)


class _Reader:
    def __init__(self, names: Names) -> None:
        self._names = names

    def expression(self, node: Node) -> Expression:
        node = node.unnest()
        if type(node) in _ARITHMETIC:
            sides = self.expression(node.this), self.expression(node.expression)
            return arithmetic(_ARITHMETIC[type(node)], *sides)
        if type(node) in _COMPARISONS:
            sides = self.expression(node.this), self.expression(node.expression)
            return conditions.comparison(_COMPARISONS[type(node)], *sides)
        read = _READERS.get(type(node))
        if read is None:
            what = node.sql("spark")
            if isinstance(node, exp.Anonymous):
                raise UnsupportedError(f"the function {node.name}", f"in {what!r}")
            if isinstance(node, exp.Func):
                name = node.sql_name().lower()
                raise UnsupportedError(f"the function {name}", f"in {what!r}")
            raise UnsupportedError(f"{what!r} as a value", "it cannot be evaluated")
        return read(self, node)

    def column(self, node: Node) -> Expression:
        name = self._names.of(node)
        is_word = node.args.get("table") is None and not node.this.args.get("quoted")
        hint = f"A text is quoted: '{name}'" if is_word else ""
        return column(name, self._names.schema, self._names.table, hint)

    def constant(self, node: Node) -> Expression:
        text = str(node.this)
        if node.is_string:
            return literal(text, pa.string(), node.sql("spark"))
        if "e" in text.lower():
            return literal(float(text), pa.float64(), text)
        if "." in text:
            return literal(Decimal(text), _decimal_type(text), text)
        number = int(text)
        if number >= _LONG:
            return literal(Decimal(number), pa.decimal128(len(text), 0), text)
        return literal(number, pa.int32() if number < _INT else pa.int64(), text)

    def null(self, _node: Node) -> Expression:
        return literal(None, pa.null(), "NULL")

    def boolean(self, node: Node) -> Expression:
        return literal(bool(node.this), pa.bool_(), node.sql("spark"))

    def negative(self, node: Node) -> Expression:
        inner = node.this.unnest()
        if isinstance(inner, exp.Literal) and not inner.is_string:
            digits = str(inner.this)
            if digits.isdigit() and int(digits) in (_INT, _LONG):  # the smallest INT and BIGINT
                wide = pa.int32() if int(digits) == _INT else pa.int64()
                return literal(-int(digits), wide, f"-{digits}")
        return negative(self.expression(node.this))

    def joined(self, node: Node) -> Expression:
        operator = "AND" if isinstance(node, exp.And) else "OR"
        return conditions.joined(
            operator, [self.expression(node.left), self.expression(node.right)]
        )

    def negated(self, node: Node) -> Expression:
        return conditions.negated(self.expression(node.this))

    def is_(self, node: Node) -> Expression:
        value = self.expression(node.this)
        if isinstance(node.expression, exp.Null):
            return conditions.is_null(value)
        if isinstance(node.expression, exp.Boolean):
            wanted = self.boolean(node.expression)
            return conditions.null_safe_equal(conditions.truth(value), wanted)
        raise UnsupportedError(f"{node.sql('spark')!r} as a condition", "it cannot be evaluated")

    def null_safe(self, node: Node) -> Expression:
        return conditions.null_safe_equal(
            self.expression(node.this), self.expression(node.expression)
        )

    def between(self, node: Node) -> Expression:
        value = self.expression(node.this)
        low, high = (self.expression(node.args[end]) for end in ("low", "high"))
        return conditions.joined(
            "AND",
            [
                conditions.comparison(">=", value, low),
                conditions.comparison("<=", value, high),
            ],
        )

    def in_(self, node: Node) -> Expression:
        if node.args.get("query") is not None or not node.expressions:
            raise UnsupportedError(f"{node.sql('spark')!r}", "IN takes values in parentheses")
        value = self.expression(node.this)
        looks = [
            conditions.comparison("=", value, self.expression(each)) for each in node.expressions
        ]
        return conditions.joined("OR", looks)

    def like(self, node: Node) -> Expression:
        pattern = node.expression.unnest()
        if not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise UnsupportedError(f"{node.sql('spark')!r}", "LIKE takes a text as its pattern")
        return conditions.like(self.expression(node.this), str(pattern.this))

    def case(self, node: Node) -> Expression:
        subject = node.args.get("this")
        branches = []
        for branch in node.args["ifs"]:
            condition = self.expression(branch.this)
            if subject is not None:
                condition = conditions.comparison("=", self.expression(subject), condition)
            branches.append((condition, self.expression(branch.args["true"])))
        return conditions.case(branches, self._otherwise(node, "default"), node.sql("spark"))

    def if_(self, node: Node) -> Expression:
        branch = (self.expression(node.this), self.expression(node.args["true"]))
        return conditions.case([branch], self._otherwise(node, "false"), node.sql("spark"))

    def _otherwise(self, node: Node, part: str) -> Expression:
        given = node.args.get(part)
        return self.null(node) if given is None else self.expression(given)

    def coalesce(self, node: Node) -> Expression:
        parts = [node.this, *node.expressions]
        return conditions.coalesce([self.expression(part) for part in parts])

    def null_if(self, node: Node) -> Expression:
        value = self.expression(node.this)
        same = conditions.comparison("=", value, self.expression(node.expression))
        return conditions.case([(same, self.null(node))], value, node.sql("spark"))

    def concat(self, node: Node) -> Expression:
        return texts.concat([self.expression(part) for part in node.expressions])

    def pipes(self, node: Node) -> Expression:
        return texts.concat([self.expression(node.this), self.expression(node.expression)])

    def upper(self, node: Node) -> Expression:
        return texts.upper(self.expression(node.this))

    def lower(self, node: Node) -> Expression:
        return texts.lower(self.expression(node.this))

    def part_of_date(self, node: Node) -> Expression:
        inner = node.this
        if isinstance(inner, exp.TsOrDsToDate):  # sqlglot's own
            inner = inner.this
        name = "day" if isinstance(node, exp.Day | exp.DayOfMonth) else type(node).__name__.lower()
        return functions.part_of_date(name, self.expression(inner))

    def length(self, node: Node) -> Expression:
        return functions.length(self.expression(node.this))

    def trim(self, node: Node) -> Expression:
        if node.args.get("expression") is not None:
            raise UnsupportedError(f"{node.sql('spark')!r}", "blanks alone can be trimmed")
        side = str(node.args.get("position") or "").upper()
        return functions.trimmed(self.expression(node.this), side)

    def substring(self, node: Node) -> Expression:
        start, count = self._number(node, "start"), self._number(node, "length")
        return functions.substring(self.expression(node.this), 1 if start is None else start, count)

    def _number(self, node: Node, part: str) -> int | None:
        given = node.args.get(part)
        if given is None:
            return None
        constant = self.expression(given).constant
        if not isinstance(constant, int) or isinstance(constant, bool):
            raise UnsupportedError(f"{node.sql('spark')!r}", f"its {part} is not a whole number")
        return constant

    def absolute(self, node: Node) -> Expression:
        return functions.absolute(self.expression(node.this))

    def like_in_any_case(self, node: Node) -> Expression:
        pattern = node.expression.unnest()
        if not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise UnsupportedError(f"{node.sql('spark')!r}", "ILIKE takes a text as its pattern")
        return functions.like_in_any_case(self.expression(node.this), str(pattern.this))

    def cast(self, node: Node) -> Expression:
        text = node.args["to"].sql("spark")
        try:
            target = to_arrow(parse_type(text))
        except SchemaError as error:
            raise UnsupportedError(f"the cast {node.sql('spark')}", str(error)) from None
        if pa.types.is_nested(target) or (pa.types.is_timestamp(target) and target.tz):
            raise UnsupportedError(f"the cast {node.sql('spark')}", "it depends on a time zone")
        return converted(self.expression(node.this), target, is_explicit=True)


def _decimal_type(text: str) -> pa.DataType:
    whole, _, fraction = text.partition(".")
    digits = (whole + fraction).lstrip("0")
    return pa.decimal128(max(len(digits), len(fraction), 1), len(fraction))


_READERS: Mapping[type[Any], Callable[[_Reader, Node], Expression]] = {
    exp.Column: _Reader.column,
    exp.Literal: _Reader.constant,
    exp.Null: _Reader.null,
    exp.Boolean: _Reader.boolean,
    exp.Neg: _Reader.negative,
    exp.And: _Reader.joined,
    exp.Or: _Reader.joined,
    exp.Not: _Reader.negated,
    exp.Is: _Reader.is_,
    exp.NullSafeEQ: _Reader.null_safe,
    exp.Between: _Reader.between,
    exp.In: _Reader.in_,
    exp.Like: _Reader.like,
    exp.Case: _Reader.case,
    exp.If: _Reader.if_,
    exp.Coalesce: _Reader.coalesce,
    exp.Nullif: _Reader.null_if,
    exp.Concat: _Reader.concat,
    exp.DPipe: _Reader.pipes,
    exp.Upper: _Reader.upper,
    exp.Lower: _Reader.lower,
    exp.Year: _Reader.part_of_date,
    exp.Month: _Reader.part_of_date,
    exp.Day: _Reader.part_of_date,
    exp.DayOfMonth: _Reader.part_of_date,
    exp.Length: _Reader.length,
    exp.Trim: _Reader.trim,
    exp.Substring: _Reader.substring,
    exp.Abs: _Reader.absolute,
    exp.ILike: _Reader.like_in_any_case,
    exp.Cast: _Reader.cast,
    exp.TryCast: _Reader.cast,
}

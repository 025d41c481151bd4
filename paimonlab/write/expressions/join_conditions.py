"""When a row of one table and a row of another belong together: ``t.id = s.id AND s.op = 'u'``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.trees import Node
from paimonlab.write.expressions import conditions
from paimonlab.write.expressions.expression import Expression
from paimonlab.write.expressions.sql import Names, bound_to, parsed


@dataclass(frozen=True, slots=True)
class JoinKey:
    """Two values that are equal, and not null, in rows that belong together."""

    left: Expression
    right: Expression
    """Of the same type as ``left``."""
    column: str | None
    """The column of the left table that ``left`` is, as it is stored; None: it is computed."""
    names: tuple[str, str] | None
    """Both sides, if they are columns."""


@dataclass(frozen=True, slots=True)
class JoinCondition:
    """The condition of a join, divided into what rows are looked up by, and the rest."""

    keys: tuple[JoinKey, ...]
    rest: Expression | None
    """Must be true as well, of both rows; None: nothing."""


def parse_join(text: str, schema: pa.Schema, sides: tuple[str, str], table: str) -> JoinCondition:
    """Parse the condition of a join.

    Parameters
    ----------
    text
        SQL in Spark's dialect.
    schema
        The columns of both sides, each called ``side.column``.
    sides
        Names of the left and the right side.
    table
        Its name, for messages.

    Raises
    ------
    UnsupportedError
        If no part of it is an equality of both sides: every row would meet every row.
    SchemaError
        If the text cannot be read, or a name without its side is one of both sides.
    ColumnNotFoundError
        If a column does not exist.
    """
    names = Names(schema, table, sides)
    keys, rest = [], []
    for part in _parts(parsed(text)):
        key = _key(part, names)
        if key is None:
            rest.append(bound_to(names, part))
        else:
            keys.append(key)
    if not keys:
        left, right = sides
        raise UnsupportedError(
            f"the merge condition {text!r}",
            f"{table}: it needs an equality of both sides, such as {left}.id = {right}.id",
        )
    joined = conditions.joined("AND", rest) if rest else None
    return JoinCondition(tuple(keys), joined)


def _parts(node: Node) -> Iterator[Node]:
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from _parts(node.left)
        yield from _parts(node.right)
    else:
        yield node


def _key(node: Node, names: Names) -> JoinKey | None:
    if not isinstance(node, exp.EQ):
        return None
    first, second = node.this.unnest(), node.expression.unnest()
    of_first, of_second = _sides(first, names), _sides(second, names)
    left, right = ({side} for side in names.sides)
    if (of_first, of_second) == (right, left):
        first, second = second, first
    elif (of_first, of_second) != (left, right):
        return None
    stored = bound_to(names, first)
    one, two = conditions.comparable("=", stored, bound_to(names, second))
    is_stored = isinstance(first, exp.Column) and stored.type == one.type
    are_columns = isinstance(first, exp.Column) and isinstance(second, exp.Column)
    return JoinKey(
        one,
        two,
        column=first.name if is_stored else None,
        names=(first.name, second.name) if are_columns else None,
    )


def _sides(node: Node, names: Names) -> set[str]:
    """Which sides the columns of a node are of."""
    return {names.side_of(found) for found in node.find_all(exp.Column)}

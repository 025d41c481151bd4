"""Evaluating bound predicates on Arrow data: exact, with three truth values."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from paimonlab.arrow_values import arrow_scalar
from paimonlab.spec.predicates.like import like_regex
from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    AlwaysTrue,
    And,
    Comparator,
    Comparison,
    In,
    IsNan,
    IsNotNull,
    IsNull,
    Matches,
    Not,
    Or,
    Predicate,
    Settled,
    TextMatch,
)

_CONSTANTS = {AlwaysTrue: True, AlwaysFalse: False, AlwaysNull: None}
_COMPARE = {
    Comparator.EQ: pc.equal,
    Comparator.NE: pc.not_equal,
    Comparator.LT: pc.less,
    Comparator.LE: pc.less_equal,
    Comparator.GT: pc.greater,
    Comparator.GE: pc.greater_equal,
}
_MATCH: dict[TextMatch, Callable[[pa.Array, str], pa.Array]] = {
    TextMatch.STARTS_WITH: lambda values, text: pc.starts_with(values, pattern=text),
    TextMatch.ENDS_WITH: lambda values, text: pc.ends_with(values, pattern=text),
    TextMatch.CONTAINS: lambda values, text: pc.match_substring(values, pattern=text),
    TextMatch.LIKE: lambda values, text: pc.match_substring_regex(values, pattern=like_regex(text)),
}


def evaluate(predicate: Predicate, batch: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
    """Decide for every row.

    Parameters
    ----------
    predicate
        Bound to the columns of ``batch`` (`paimonlab.spec.predicates.predicate.bind`).
    batch
        n rows with at least the predicate's columns, of the types of
        `paimonlab.spec.types.arrow`.

    Returns
    -------
    (n,) bool
        True, false or null; a filter keeps what is true. Chunked for a Table.

    Examples
    --------
    >>> from paimonlab.spec.predicates.predicate import bind, col
    >>> from paimonlab.spec.schema.definition import Schema, new_table_schema
    >>> schema = new_table_schema(Schema({"a": "DOUBLE"}), time_millis=0)
    >>> rows = pa.table({"a": [1.0, None, float("nan")]})
    >>> evaluate(bind(col("a") > 1, schema.fields, "t"), rows).to_pylist()
    [False, None, True]
    """
    decided = _evaluate(predicate, batch)
    if isinstance(decided, pa.Scalar):
        decided = pa.repeat(decided, batch.num_rows)
    if isinstance(batch, pa.Table) and not isinstance(decided, pa.ChunkedArray):
        return pa.chunked_array([decided])
    return decided


def _evaluate(predicate: Predicate, batch: pa.RecordBatch | pa.Table) -> pa.Array | pa.Scalar:
    match predicate:
        case And(parts):
            return functools.reduce(pc.and_kleene, (_evaluate(part, batch) for part in parts))
        case Or(parts):
            return functools.reduce(pc.or_kleene, (_evaluate(part, batch) for part in parts))
        case Not(part):
            return pc.invert(_evaluate(part, batch))
        case AlwaysTrue() | AlwaysFalse() | AlwaysNull():
            return arrow_scalar(_CONSTANTS[type(predicate)], pa.bool_())
    column: str = predicate.column  # type: ignore[attr-defined]
    return _leaf(predicate, batch.column(column))


def _leaf(predicate: Predicate, values: pa.Array) -> pa.Array:  # noqa: PLR0911 - one return a case
    match predicate:
        case Comparison():
            return _comparison(predicate, values)
        case In():
            return _membership(predicate, values)
        case Matches(_, match, pattern):
            return _MATCH[match](values, pattern)
        case IsNan():
            return pc.is_nan(values)
        case IsNull():
            return values.is_null()
        case IsNotNull():
            return values.is_valid()
        case Settled(_, value):
            return pc.if_else(
                values.is_valid(), arrow_scalar(value), arrow_scalar(None, pa.bool_())
            )
    raise AssertionError(f"{predicate!r} is not a leaf")


def _comparison(predicate: Comparison, values: pa.Array) -> pa.Array:
    literal = predicate.literal.scalar
    decided = _COMPARE[predicate.comparator](_typed(values, literal.type), literal)
    if pt.is_floating(literal.type) and predicate.comparator in (Comparator.GT, Comparator.GE):
        return pc.or_kleene(decided, pc.is_nan(values))  # NaN is above all numbers
    return decided


def _membership(predicate: In, values: pa.Array) -> pa.Array:
    literals = predicate.members
    values = _typed(values, literals.type)
    if pt.is_floating(literals.type):
        values = pc.add(values, arrow_scalar(0.0, literals.type))  # -0.0 hashes unlike 0.0
    is_member = pc.is_in(values, value_set=literals)
    return pc.if_else(values.is_valid(), is_member, arrow_scalar(None, pa.bool_()))


def _typed(values: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    return values if values.type == arrow_type else values.cast(arrow_type)

"""Predicates of Spark's connectors as text of SQL, for messages.

Source: apache/spark@v4.2.0 and v4.3.0 ``V2ExpressionSQLBuilder``, ``ToStringSQLBuilder``,
``catalyst.expressions.Literal.sql``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.compiled import new

_BUILDER = "org.apache.spark.sql.catalyst.util.V2ExpressionBuilder"
_SOURCE = """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.internal.connector.ToStringSQLBuilder;
import org.apache.spark.sql.types.NumericType;

/** Spark itself shows a date as a number of days, and a time as one of microseconds. */
public final class Predicates extends ToStringSQLBuilder {
  public Predicates() {}

  public String visitLiteral(org.apache.spark.sql.connector.expressions.Literal literal) {
    if (literal.value() == null) return "NULL";
    if (literal.dataType() instanceof NumericType) return literal.toString();
    return new Literal(literal.value(), literal.dataType()).sql();
  }
}
"""


def predicates_text(bridge: Bridge, predicates: Sequence[Any]) -> str:
    """Return predicates that hold together as they are written in SQL: ``day = DATE '2026-01-02'``.

    Parameters
    ----------
    bridge
        The session, whose time zone says how timestamps are written.
    predicates
        Spark's ``connector.expressions.filter.Predicate``.
    """
    builder = new(bridge, _SOURCE, "Predicates")
    return " AND ".join(str(builder.build(predicate)) for predicate in predicates)


def condition_text(bridge: Bridge, condition: Any) -> str:
    """Return a resolved Catalyst expression as `predicates_text` would, as far as that goes."""
    builder = bridge.java_class(_BUILDER)(condition, True)  # noqa: FBT003 - py4j
    predicate = builder.buildPredicate()
    if predicate.isDefined():
        return predicates_text(bridge, [predicate.get()])
    return str(condition.sql())

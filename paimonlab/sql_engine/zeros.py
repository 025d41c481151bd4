"""Zeros with a sign, which Spark makes zeros without one wherever it groups equal values.

Source: apache/spark@v4.3.0 ``org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.aggregates import AGGREGATES
from paimonlab.sql_engine.kinds import Kind, duck_type
from paimonlab.sql_engine.value import Value

_GROUPING = ("grouping", "grouping_id")


def has_sign(kind: Kind | None) -> bool:
    """Tell whether a zero of the type may have a sign."""
    return kind in (kinds.DOUBLE, kinds.FLOAT)


def without_sign(text: str, kind: Kind) -> str:
    """Write a number whose zero has no sign."""
    return f"({text} + CAST(0 AS {duck_type(kind)}))"


def of_group(value: Value, part: exp.Expression | None, keys: Sequence[Value]) -> str:
    """Write a value of the select list of a query with groups.

    Parameters
    ----------
    value
        The value.
    part
        What it was translated from; None: a column of ``*``.
    keys
        Of the groups.
    """
    text = value.text
    calls = [] if part is None else part.find_all(exp.Anonymous)
    if any(str(one.this).lower() in (*AGGREGATES, *_GROUPING) for one in calls):
        return text
    for key in keys:
        if has_sign(key.kind):
            plain = without_sign(key.text, key.kind)
            text = plain.join(re.split(rf"{re.escape(key.text)}(?!\w)", text))
    return text

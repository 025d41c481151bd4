"""Values of columns made up at random, and how Spark's SQL writes them."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
"""Values by the names of columns: structs as dictionaries, timestamps without zone, in UTC."""

STRUCT, ARRAY = "STRUCT<a: INT, c: STRING>", "ARRAY<INT>"
_TEXTS = ("", "a", "A", "b", "ab", "ä", "a%", "b_c", "O'Hara", "😀", "z" * 40, "\\", "a b ")
_WHOLE = (0, 1, 2, 3, 5, 8, -1, -7, 100)
_LONG = (*_WHOLE, 2**40, -(2**40))
_DOUBLES = (0.0, -0.0, 0.5, 1.25, -3.75, 1e10, math.nan, math.inf, -math.inf)
_DECIMALS = tuple(Decimal(text) for text in ("0.00", "1.25", "-1.25", "0.01", "99.99", "54321.00"))
_DAYS = tuple(map(dt.date.fromisoformat, ("1970-01-01", "1969-12-31", "2026-02-28")))
_TIMES = tuple(
    map(
        dt.datetime.fromisoformat,
        ("1970-01-01 00:00:00", "1969-12-31 23:59:59", "2026-02-28 01:02:03.000004"),
    )
)
_CHOICES: dict[str, tuple[Any, ...]] = {
    "INT": _WHOLE,
    "BIGINT": _LONG,
    "STRING": _TEXTS,
    "DECIMAL(10, 2)": _DECIMALS,
    "DOUBLE": _DOUBLES,
    "DATE": _DAYS,
    "TIMESTAMP": _TIMES,
    "BOOLEAN": (True, False),
}
TYPES = (*_CHOICES, STRUCT, ARRAY)


def some_value(kind: str, rng: random.Random, nulls: float = 0.15) -> Any:
    """Make up a value of a type."""
    if rng.random() < nulls:
        return None
    if kind == STRUCT:
        return {"a": some_value("INT", rng, 0.2), "c": some_value("STRING", rng, 0.2)}
    if kind == ARRAY:
        return [some_value("INT", rng, 0.2) for _ in range(rng.randrange(3))]
    return rng.choice(_CHOICES[kind])


def literal(kind: str, value: Any) -> str:  # noqa: PLR0911 - one return a type
    """Write a value as Spark reads it, with this type."""
    if value is None:
        return f"CAST(NULL AS {kind})"
    match kind:
        case "INT" | "BOOLEAN":
            return str(value).lower()
        case "STRING":
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case "DOUBLE":
            return f"CAST('{value}' AS DOUBLE)"
        case "DATE":
            return f"DATE'{value.isoformat()}'"
        case "TIMESTAMP":
            return f"TIMESTAMP'{value.isoformat(' ')}'"
        case _ if kind == STRUCT:
            a, c = literal("INT", value["a"]), literal("STRING", value["c"])
            return f"named_struct('a', {a}, 'c', {c})"
        case _ if kind == ARRAY:
            return f"CAST(array({', '.join(literal('INT', one) for one in value)}) AS {ARRAY})"
    return f"CAST({value} AS {kind})"


def order_of(value: Any) -> Any:
    """Return what to compare a value by: NaN equals itself and is greater than all others."""
    return (math.isnan(value), 0.0 if math.isnan(value) else value) if is_double(value) else value


def is_double(value: Any) -> bool:
    """Whether it is a double."""
    return isinstance(value, float)

"""Rows of every kind with awkward values, what may be typed over them, and a slow model of it."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.notebook.kernel.selection import RowQuery
from paimonlab.notebook.results.row_query import literals
from tests.notebook.results.test_result import make

TEXTS = [
    "",
    " a",
    "A",
    "aB",
    "null",
    "it's",
    "\\",
    "${x}",
    "😀",
    "\uffee",
    "ÄÖ",
    "äö",
    "\u202ex",
    "%_",
]
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "byte": (pa.int8(), [-128, -1, 0, 5, 127]),
    "long": (pa.int64(), [-(2**63), 2**53, 2**53 + 1, 2**63 - 1, 0, 15]),
    "price": (pa.decimal128(5, 2), [Decimal("-999.99"), Decimal("1.20"), Decimal("0.00")]),
    "huge": (pa.decimal128(38, 0), [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(7)]),
    "x": (pa.float64(), [math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 1e300, 5.0]),
    "f": (pa.float32(), [math.nan, 0.1, 16777216.0, -2.5, math.inf]),
    "s": (pa.string(), TEXTS),
    "b": (pa.bool_(), [True, False]),
    "d": (pa.date32(), [dt.date(1, 1, 1), dt.date(2026, 1, 31), dt.date(9999, 12, 31)]),
    "t": (
        pa.timestamp("us"),
        [
            dt.datetime(2026, 1, 31),
            dt.datetime(2026, 1, 31, 12, 0, 0, 500000),
            dt.datetime(1, 1, 1),
        ],
    ),
    "z": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(2026, 1, 31, tzinfo=dt.UTC), dt.datetime(1969, 12, 31, 23, 59, 59, 1, dt.UTC)],
    ),
    "y": (pa.binary(), [b"", b"\x00\xff", b"a"]),
}
"""Type and values of each column, by its name."""
SQL_TYPES = {
    "byte": "tinyint",
    "long": "bigint",
    "price": "decimal(5,2)",
    "huge": "decimal(38,0)",
    "x": "double",
    "f": "float",
    "s": "string",
    "b": "boolean",
    "d": "date",
    "t": "timestamp_ntz",
    "z": "timestamp",
    "y": "binary",
}
LITERALS = [
    "0",
    "5",
    "-1",
    "5.0",
    "5.5",
    ".1",
    "0.1",
    "1e2",
    "1e300",
    "9007199254740992",
    "9" * 40,
    "-" + "9" * 38,
    "1.205",
    "NaN",
    "-infinity",
    "16777217",
    "true",
    "2026-01-31",
    "2026-02-30",
    "2026-01-31 12:00",
    "2026-01-31T12:00:00.5",
    "0x",
    "0x00FF",
    "0x0",
    "''",
    "' a'",
    "it's",
    "a",
    "A",
    "\\",
    "😀",
    "\uffee",
    "ÄÖ",
    "null",
    "0001-01-01",
]
PIECES = [
    "a",
    "A",
    "0",
    "5",
    "1.2",
    "'",
    "\\",
    "$",
    "${x}",
    "nul",
    "NULL",
    "not  null",
    "nan",
    "E",
    "äö",
    "-",
    ":",
    "x",
    "ff",
    "%",
    "_",
    "😀",
    "true",
]


def rows(random_: random.Random, count: int) -> pa.Table:
    """Make rows with every column; about one value of eight is NULL."""
    columns = {
        name: pa.array(
            [None if random_.random() < 0.12 else random_.choice(values) for _ in range(count)],
            kind,
        )
        for name, (kind, values) in VALUES.items()
    }
    return pa.table(columns)


def result(table: pa.Table, sql: str = "SELECT 1") -> Any:
    """Return a result of such rows, as Spark would name their types."""
    made = make(table)
    made._types = tuple(SQL_TYPES[name] for name in table.column_names)
    made.sql = sql
    return made


def query(random_: random.Random, columns: int) -> RowQuery:
    """Make up what somebody types."""
    filters = []
    for place in range(columns):
        if random_.random() < 1.5 / columns:
            operator = random_.choice(["", "", "<", "<= ", ">", ">=", "=  ", "!="])
            text = random_.choice(LITERALS) if operator else random_.choice(PIECES)
            filters.append((place, operator + text))
    return RowQuery(
        by=random_.choice([None, *range(columns)]),
        descending=random_.random() < 0.5,
        search=random_.choice(PIECES) if random_.random() < 0.2 else "",
        filters=tuple(filters),
    )


def places(table: pa.Table, asked: RowQuery) -> list[int]:
    """Return the rows that pass, in order: value by value, in the plainest way there is."""
    values = [_values(table, name) for name in table.column_names]
    found = []
    for place in range(table.num_rows):
        row = [column[place] for column in values]
        texts = [
            None if value is None else _text(value, name)
            for value, name in zip(row, table.column_names, strict=True)
        ]
        passes = all(
            _passes(row[at], texts[at], table.column_names[at], text) for at, text in asked.filters
        )
        piece = asked.search.strip().lower()
        if passes and (
            not piece or any(text is not None and piece in text.lower() for text in texts)
        ):
            found.append(place)
    if asked.by is not None:
        column = values[asked.by]
        here = [place for place in found if column[place] is not None]
        here.sort(key=lambda place: key(column[place]))
        if asked.descending:
            here = [
                place
                for _, some in sorted(_equal(here, column).items(), reverse=True)
                for place in some
            ]
        found = here + [place for place in found if column[place] is None]
    return found


def insert_literal(value: Any, name: str) -> str:
    """Return the literal that a copied INSERT has for a value."""
    if value is None:
        return "NULL"
    value = np.float32(value) if name == "f" else value
    text = _text(value, name)
    forms = {
        "byte": f"{text}Y",
        "long": f"{text}L",
        "price": f"{text}BD",
        "huge": f"{text}BD",
        "x": f"CAST('{text}' AS DOUBLE)",
        "f": f"CAST('{text}' AS FLOAT)",
        "s": literals.text(text),
        "d": f"DATE'{text}'",
        "t": f"TIMESTAMP_NTZ'{text}'",
        "z": f"TIMESTAMP'{text} UTC'",
        "y": f"X'{text[2:]}'",
    }
    return forms.get(name, text)


def _equal(here: list[int], column: list[Any]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = {}
    for place in here:
        groups.setdefault(key(column[place]), []).append(place)
    return groups


def _values(table: pa.Table, name: str) -> list[Any]:
    values = table[name].to_pylist()
    return [np.float32(value) if name == "f" and value is not None else value for value in values]


def key(value: Any) -> Any:
    """Return what a value is compared by."""
    if isinstance(value, float | np.float32):
        return (1, 0.0) if math.isnan(value) else (0, float(value) + 0.0)
    if isinstance(value, str):
        return tuple(map(ord, value))
    return value


def _text(value: Any, name: str) -> str:  # noqa: PLR0911 - a line for each kind
    if name in {"x", "f"}:
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return str(value) if name == "f" else repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(sep=" ")
        return text.rstrip("0") if "." in text else text
    return str(value)


def _passes(value: Any, text: str | None, name: str, typed: str) -> bool:
    words = typed.lower().split()
    if words == ["null"]:
        return value is None
    if words == ["not", "null"]:
        return value is not None
    if value is None:
        return False
    for operator in (">=", "<=", "!=", "=", ">", "<"):
        if typed.startswith(operator):
            wanted = _wanted(typed[len(operator) :].lstrip(), name)
            if wanted is None:
                break
            one, two = key(value), key(wanted)
            if isinstance(value, dt.datetime):
                one = value.replace(tzinfo=None)
            return {
                ">=": one >= two,
                "<=": one <= two,
                "!=": one != two,
                "=": one == two,
                ">": one > two,
                "<": one < two,
            }[operator]
    assert text is not None
    return typed.strip().lower() in text.lower()


def _wanted(literal: str, name: str) -> Any:  # noqa: PLR0911 - a line for each kind
    if name == "s":
        quoted = len(literal) > 1 and literal[0] == literal[-1] == "'"
        return literal[1:-1].replace("''", "'") if quoted else literal
    try:
        if name in {"byte", "long", "price", "huge"}:
            return Fraction(literal)
        if name in {"x", "f"}:
            number = float(literal)
            with np.errstate(over="ignore"):
                return np.float32(number) if name == "f" else number
        if name == "b":
            return {"true": True}.get(literal)
        if name == "d":
            return dt.date.fromisoformat(literal) if len(literal) == 10 else None
        if name == "y":
            return bytes.fromhex(literal[2:]) if literal.startswith("0x") else None
        return dt.datetime.fromisoformat(literal) if literal[4:5] == "-" else None
    except ValueError:
        return None

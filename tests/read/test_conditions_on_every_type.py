"""Random conditions on columns of every type, beside plain Python.

Values are few and odd: ends of ranges, NaN, zeros with signs, texts longer than statistics,
bytes from 0x80 on. Rows come in slices and chunks, and pages have few of them.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.spec.predicates.predicate import Predicate
from tests.repetitions import times

Row: TypeAlias = dict[str, Any]
Decide: TypeAlias = Callable[[Row], bool | None]

COMPARE: list[Callable[[Any, Any], Any]] = [
    *(operator.eq, operator.ne, operator.lt),
    *(operator.le, operator.gt, operator.ge),
]
EPOCH = dt.datetime(1970, 1, 1)
MICRO = dt.timedelta(microseconds=1)
FLOATS = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5, -1.5]
TEXTS = ["", "a", "ab", "ab ", "é", "x" * 70 + "a", "x" * 70 + "b", "\U0010ffff" * 20, "\uffff"]
BYTES = [b"", b"\x00", b"\x7f", b"\x80", b"\xff" * 70, b"\xff" * 70 + b"\x01", b"a" * 64]
CENT = Decimal("0.01")
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "TINYINT": (pa.int8(), [0, 1, -1, 127, -128]),
    "SMALLINT": (pa.int16(), [0, 1, -1, 2**15 - 1, -(2**15)]),
    "INT": (pa.int32(), [0, 1, -1, 2**31 - 1, -(2**31)]),
    "BIGINT": (pa.int64(), [0, 1, -1, 2**63 - 1, -(2**63)]),
    "BOOLEAN": (pa.bool_(), [True, False]),
    "FLOAT": (pa.float32(), FLOATS),
    "DOUBLE": (pa.float64(), [*FLOATS, 5e-324]),
    "DECIMAL(5, 2)": (pa.decimal128(5, 2), [Decimal(0), CENT, -CENT, Decimal("999.99")]),
    "DECIMAL(18, 2)": (pa.decimal128(18, 2), [Decimal(0), CENT, -CENT, Decimal(10**15)]),
    "DECIMAL(38, 2)": (pa.decimal128(38, 2), [Decimal(0), CENT, -CENT, Decimal(10**35)]),
    "STRING": (pa.string(), TEXTS),
    "BYTES": (pa.binary(), BYTES),
    "DATE": (pa.date32(), [EPOCH.date(), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "TIME(3)": (pa.time32("ms"), [dt.time(0), dt.time(23, 59, 59, 999000)]),
    "TIMESTAMP(6)": (pa.timestamp("us"), [EPOCH, EPOCH - MICRO, EPOCH + MICRO]),
    "TIMESTAMP(3)": (pa.timestamp("ms"), [EPOCH, EPOCH - 1000 * MICRO, EPOCH + 1000 * MICRO]),
}


def order(value: Any) -> Any:
    """Return what compares as the value does: NaN is equal to itself and the greatest."""
    if isinstance(value, float):
        return (1, 0.0) if value != value else (0, value)  # noqa: PLR0124 - NaN
    return value.encode() if isinstance(value, str) else value


class Draw:
    """Random values, rows and conditions over some columns."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        chosen = rng.choice(list(POOLS), 3, replace=False).tolist()
        self.columns: dict[str, str] = {f"c{at}": text for at, text in enumerate(chosen)}

    def one_of(self, values: list[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def value(self, name: str) -> Any:
        return self.one_of(POOLS[self.columns[name]][1])

    def values(self, name: str, count: int) -> list[Any]:
        """Nulls, one value, sorted ones, or any."""
        pool = POOLS[self.columns[name]][1]
        how = self.rng.integers(4)
        if how == 0:
            return [None] * count
        if how == 1:
            return [self.one_of(pool)] * count
        if how == 2:
            return sorted((self.one_of(pool) for _ in range(count)), key=order)
        return [self.one_of([*pool, None]) for _ in range(count)]

    def column(self, name: str, values: list[Any]) -> pa.ChunkedArray:
        """Values in slices of longer arrays."""
        kind, pool = POOLS[self.columns[name]]
        cut = int(self.rng.integers(len(values) + 1))
        parts = [values[:cut], values[cut:]]
        chunks = [pa.array([pool[0], *part, pool[-1]], kind).slice(1, len(part)) for part in parts]
        return pa.chunked_array(chunks, kind)

    def condition(self, depth: int = 2) -> tuple[Predicate, Decide]:
        if depth and self.rng.random() < 0.5:
            left, first = self.condition(depth - 1)
            right, second = self.condition(depth - 1)
            how = self.rng.integers(3)
            if how == 0:
                return left & right, lambda row: both(first(row), second(row))
            if how == 1:
                return left | right, lambda row: negated(
                    both(negated(first(row)), negated(second(row)))
                )
            return ~left, lambda row: negated(first(row))
        return self.leaf()

    def leaf(self) -> tuple[Predicate, Decide]:
        name = self.one_of(list(self.columns))
        how = int(self.rng.integers(9))
        if how < 6:
            value = self.value(name)
            compare = COMPARE[how]
            return compare(pl.col(name), value), known(
                name, lambda other: compare(order(other), order(value))
            )
        if how == 6:
            return pl.col(name).is_null(), lambda row: row[name] is None
        if how == 7:
            return pl.col(name).is_not_null(), lambda row: row[name] is not None
        members = [self.value(name) for _ in range(3)]
        wanted = {order(member) for member in members}
        return pl.col(name).is_in(members), known(name, lambda other: order(other) in wanted)


def known(name: str, decide: Callable[[Any], bool]) -> Decide:
    return lambda row: None if row[name] is None else decide(row[name])


def both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def negated(value: bool | None) -> bool | None:
    return None if value is None else not value


@pytest.mark.parametrize("number", range(times(4)))
def test_a_condition_keeps_the_rows_for_which_it_is_true(
    number: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    draw = Draw(rng)
    options = {
        "parquet.page.row.count.limit": str(draw.one_of([1, 3, 10, 100])),
        "metadata.stats-mode": draw.one_of(["full", "truncate(16)", "none"]),
    }
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT", **draw.columns}, options=options)
    rows: list[Row] = []
    for count in (40, 1, 250):
        values = {name: draw.values(name, count) for name in draw.columns}
        keys = range(len(rows), len(rows) + count)
        rows += [
            {"k": key, **{name: values[name][at] for name in values}} for at, key in enumerate(keys)
        ]
        columns = {name: draw.column(name, values[name]) for name in values}
        table.write(pa.table({"k": pa.array(keys, pa.int32()), **columns}))

    for _ in range(8):
        condition, decide = draw.condition()
        expected = [row["k"] for row in rows if decide(row) is True]
        found = table.scan(where=condition, columns=["k"]).to_arrow()["k"].to_pylist()
        assert sorted(found) == expected, f"{number}: {condition}"
        assert table.scan(where=condition).count() == len(expected), f"{number}: {condition}"

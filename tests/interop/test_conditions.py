"""Random conditions on tables whose files Java wrote, against Python's own comparisons.

What leaves out files, row groups and pages looks at what Java says of them: bounds of columns, cut
texts, file indexes, pages of a few rows and dictionaries.
"""

from __future__ import annotations

import datetime as dt
import operator
import random
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.interop.pair import Pair, random_rows
from tests.repetitions import times

pytestmark = pytest.mark.interop

TABLES = times(4)
CONDITIONS = 25
TYPES = (
    *("INT", "TINYINT", "SMALLINT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "BYTES", "DATE"),
    *("DECIMAL(9, 2)", "DECIMAL(18, 4)", "DECIMAL(22, 3)", "STRING", "CHAR(5)", "VARCHAR(10)"),
    *("TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)"),
    "TIMESTAMP_LTZ(3)",
)
INDEXED = ("INT", "SMALLINT", "BIGINT", "DATE", "STRING", "VARCHAR(10)")
INDEXES = ("bloom-filter", "bitmap", "range-bitmap")
COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
KEYS = 200
OLDEST = dt.date(1000, 1, 1)
"""Calendars of earlier days differ."""


@dataclass(frozen=True)
class Condition:
    """A condition, and whether it holds for each row; None: unknown."""

    text: str
    holds: Sequence[bool | None]


class Conditions:
    """Makes conditions on the rows of a table."""

    def __init__(self, random_: random.Random, types: dict[str, str], rows: pa.Table) -> None:
        self.random = random_
        self.types = types
        self.values = {name: values_of(rows[name]) for name in types}
        self.units = {name: rows[name].type for name in types}

    def make(self, depth: int = 2) -> Condition:
        """Make one of at most 2**depth comparisons."""
        if not depth or self.random.random() < 0.5:
            return self.comparison()
        left = self.make(depth - 1)
        if (how := self.random.choice(["NOT", "AND", "OR"])) == "NOT":
            return Condition(
                f"NOT ({left.text})", [None if x is None else not x for x in left.holds]
            )
        right, decisive = self.make(depth - 1), how == "OR"
        both = zip(left.holds, right.holds, strict=True)
        holds = [
            decisive if decisive in pair else None if None in pair else not decisive
            for pair in both
        ]
        return Condition(f"({left.text}) {how} ({right.text})", holds)

    def comparison(self) -> Condition:
        """Compare a column with values of it, and with some that it does not have."""
        name = self.random.choice([*self.types])
        values = self.values[name]
        known = [value for value in values if value is not None]
        chosen = [self.near(self.random.choice(known)) for _ in range(3)] if known else []
        literals = [self.literal(value, name) for value in chosen]
        kind = self.random.choice(["IS NULL", "IN", "NOT IN", "BETWEEN", *COMPARE, *COMPARE])
        if kind == "IS NULL" or not chosen or None in literals or has_nan(known):
            return Condition(f"{name} IS NULL", [value is None for value in values])
        if kind in ("IN", "NOT IN"):
            found = [None if one is None else (one in chosen) == (kind == "IN") for one in values]
            return Condition(f"{name} {kind} ({', '.join(map(str, literals))})", found)
        if kind == "BETWEEN":
            low, high = chosen[:2]
            found = [None if one is None else low <= one <= high for one in values]
            return Condition(f"{name} BETWEEN {literals[0]} AND {literals[1]}", found)
        compare = COMPARE[kind]
        found = [None if one is None else compare(one, chosen[0]) for one in values]
        return Condition(f"{name} {kind} {literals[0]}", found)

    def near(self, value: Any) -> Any:
        """Return a value, or one beside it."""
        if self.random.random() < 0.7:
            return value
        if isinstance(value, str):
            return value[:1]
        small = type(value) is int and abs(value) < 100
        return value + self.random.choice([-1, 1]) if small else value

    def literal(self, value: Any, name: str) -> str | None:
        """Write a value in SQL; None: it is not written."""
        type_ = self.types[name].removesuffix(" NOT NULL")
        text: str | None = None
        match value:
            case bool():
                text = str(value).lower()
            case int() if pa.types.is_timestamp(self.units[name]):
                text = nanoseconds(value)
            case int():
                text = str(value)
            case float() | Decimal():
                text = f"CAST('{value}' AS {type_})"
            case bytes():
                text = f"X'{value.hex()}'"
            case str():
                text = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
            case dt.datetime() if value.tzinfo is None and value.date() >= OLDEST:
                text = f"TIMESTAMP '{value}'"
            case dt.date() if not isinstance(value, dt.datetime) and value >= OLDEST:
                text = f"DATE '{value}'"
        return text


def nanoseconds(since_epoch: int) -> str | None:
    seconds, rest = divmod(since_epoch, 10**9)
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
    return f"TIMESTAMP '{moment}.{rest:09d}'" if moment.date() >= OLDEST else None


def has_nan(values: Sequence[Any]) -> bool:
    """Whether one of them is not equal to itself."""
    return any(value != value for value in values)  # noqa: PLR0124


def values_of(column: pa.ChunkedArray) -> list[Any]:
    """Return values of Python; nanoseconds since 1970 of a time that has such."""
    is_fine = pa.types.is_timestamp(column.type) and column.type.unit == "ns"
    found: list[Any] = (column.cast(pa.int64()) if is_fine else column).to_pylist()
    return found


def shown(rows: pa.Table) -> list[str]:
    return sorted(map(repr, zip(*map(values_of, rows.columns), strict=True)))


def columns_and_options(
    random_: random.Random, *, is_keyed: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Choose columns, and how Java writes them."""
    columns = {"k": random_.choice(["INT NOT NULL", "BIGINT NOT NULL"])}
    columns |= {f"c{number}": random_.choice(TYPES) for number in range(random_.randint(2, 6))}
    format_ = random_.choice(["parquet", "parquet", "parquet", "orc", "avro"])
    options = {"file.format": format_, "write-only": random_.choice(["true", "false"])}
    if format_ == "avro":
        columns = {name: text.replace("(9)", "(6)") for name, text in columns.items()}
    options |= {"bucket": str(random_.randint(1, 2))} if is_keyed else {}
    layouts = {
        "parquet.page.size": ["64", "200", "1000"],
        "parquet.enable.dictionary": ["false"],
        "parquet.writer.version": ["PARQUET_1_0", "PARQUET_2_0"],
        "parquet.page.row.count.limit": ["5", "20"],
        "parquet.block.size": ["200", "1000", "5000"],
        "metadata.stats-mode": ["full", "truncate(2)", "counts", "none"],
    }
    options |= {key: random_.choice(of) for key, of in layouts.items() if random_.random() < 0.4}
    may_have = [name for name, text in columns.items() if text in INDEXED]
    for kind in INDEXES if may_have and not is_keyed else ():
        if random_.random() < 0.3:
            options[f"file-index.{kind}.columns"] = random_.choice(may_have)
    return columns, options


@pytest.mark.in_turn(TABLES)
def test_conditions_on_files_of_java(pair: Pair, number: int, seed: int) -> None:
    random_ = random.Random(f"{seed}, {number}")
    rng = np.random.default_rng(random_.randrange(2**32))
    is_keyed = random_.random() < 0.5
    columns, options = columns_and_options(random_, is_keyed=is_keyed)
    pair.create("java", "db.t", columns, pk=["k"] if is_keyed else [], options=options)
    few = random_rows(columns, 12, rng)
    for _ in range(random_.randint(1, 3)):
        count = random_.choice([5, 60, 200])
        rows = pa.table(
            [column.take(pa.array(rng.integers(0, 12, count))) for column in few.columns],
            schema=few.schema,
        )
        keys = pa.array(rng.integers(0, KEYS, count)).cast(few.schema.field("k").type)
        pair.write("java", "db.t", rows.set_column(0, few.schema.field("k"), keys))
    pair.assert_same("db.t")
    table = pair.open("db.t")
    whole = table.scan().to_arrow()
    make = Conditions(random_, columns, whole).make
    for _ in range(CONDITIONS):
        condition = make()
        chosen = random_.sample([*columns], random_.randint(1, len(columns)))
        mask = pa.array([holds is True for holds in condition.holds], pa.bool_())
        told = f"{columns} {options} {condition.text}"
        scan = table.scan(chosen, condition.text)
        assert shown(scan.to_arrow()) == shown(whole.filter(mask).select(chosen)), told
        assert scan.count() == sum(mask.to_pylist()), told

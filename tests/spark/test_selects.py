"""Queries over tables of every kind find what Spark finds in plain Parquet files of the same rows.

The rows are those that dictionaries are left with, merged by the rules of each kind.
``PAIMONLAB_SELECTS`` says how many queries are asked, each of one table; 3,000 ask all.
Some are asked with plans that Spark compiles, the others with interpreted ones.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from paimonlab import AddColumn, UpdateColumnType
from paimonlab.catalog import Catalog
from paimonlab.table.table import Table
from tests.spark.interpreting import INTERPRETED
from tests.spark.test_sql_without_spark import are_alike
from tests.sql_engine.statements import statements

Row: TypeAlias = dict[str, Any]

ASKED = int(os.environ.get("PAIMONLAB_SELECTS", "8"))
NOT_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
COLUMNS = {
    "id": "INT NOT NULL",
    "p": "STRING",
    "small": "SMALLINT",
    "w": "INT",
    "n": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "m": "DECIMAL(10, 2)",
    "big": "DECIMAL(25, 5)",
    "v": "STRING",
    "vc": "VARCHAR(10)",
    "b": "BOOLEAN",
    "day": "DATE",
    "ts": "TIMESTAMP_LTZ(6)",
    "nt": "TIMESTAMP(6)",
    "bin": "BYTES",
    "l": "ARRAY<INT>",
    "k": "MAP<STRING, INT>",
    "x": "ROW<a INT, c STRING>",
}
"""``w`` becomes ``BIGINT`` and ``extra`` is added while the table is written."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a table is made, and what can be done with it."""

    keys: Sequence[str] = ()
    partitions: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    deletes: bool = True
    moves: bool = False
    """Whether a key that is written again is in another partition."""

    @property
    def engine(self) -> str:
        """Its merge engine, or what else says which of two rows is newer."""
        sequence = "sequence" if "sequence.field" in self.options else "deduplicate"
        return self.options.get("merge-engine", sequence)

    @property
    def has_places(self) -> bool:
        """Whether each row lies in one file."""
        apart = self.options.get("data-evolution.enabled") == "true"
        return not apart and self.engine not in ("partial-update", "aggregation")


_VECTORS = {"deletion-vectors.enabled": "true"}
_IDS = {"row-tracking.enabled": "true"}
_TWO = {"bucket": "2"}
_SUMS = {
    "merge-engine": "aggregation",
    "fields.w.aggregate-function": "sum",
    "fields.m.aggregate-function": "max",
    "fields.day.aggregate-function": "min",
    "fields.default-aggregate-function": "last_non_null_value",
}
_PARTIAL = {"merge-engine": "partial-update"}
KINDS = {
    "append": Kind(),
    "append_vectors": Kind(options=_VECTORS),
    "append_p": Kind(partitions=["p"]),
    "append_day_vectors": Kind(partitions=["day"], options=_VECTORS),
    "append_b_p": Kind(partitions=["b", "p"]),
    "append_buckets": Kind(options={"bucket": "3", "bucket-key": "id"}),
    "append_orc_vectors": Kind(options=_VECTORS | {"file.format": "orc"}),
    "ids": Kind(options=_IDS),
    "ids_p_vectors": Kind(partitions=["p"], options=_IDS | _VECTORS),
    "evolution": Kind(options=_IDS | {"data-evolution.enabled": "true"}, deletes=False),
    "keyed": Kind(["id"], options=_TWO),
    "keyed_vectors": Kind(["id"], options=_TWO | _VECTORS),
    "keyed_p": Kind(["id", "p"], ["p"], _TWO),
    "keyed_day_vectors": Kind(["id", "day"], ["day"], _TWO | _VECTORS),
    "keyed_sequence": Kind(["id"], options=_TWO | {"sequence.field": "n"}, deletes=False),
    "keyed_avro": Kind(["id"], options={"bucket": "1", "file.format": "avro"}),
    "keyed_lookup": Kind(["id"], options=_TWO | {"changelog-producer": "lookup"}),
    "partial": Kind(["id"], options=_TWO | _PARTIAL, deletes=False),
    "partial_p": Kind(["id", "p"], ["p"], _PARTIAL, deletes=False),
    "sums": Kind(["id"], options=_TWO | _SUMS, deletes=False),
    "first": Kind(["id"], options=_TWO | {"merge-engine": "first-row"}, deletes=False),
    "dynamic": Kind(["id"]),
    "dynamic_p": Kind(["id", "p"], ["p"], {"dynamic-bucket.target-row-num": "40"}),
    "across": Kind(["id"], ["p"], moves=True),
    "postponed": Kind(["id"], options={"bucket": "-2"}),
    "postponed_p": Kind(["id", "p"], ["p"], {"bucket": "-2"}),
}
DAY, HOUR = dt.date(2026, 1, 1), dt.datetime(2026, 1, 1)


def some_value(name: str, i: int, rng: random.Random) -> Any:
    """Make up a value of a column."""
    choose = rng.choice
    if name != "id" and rng.random() < 0.12:
        return None
    makers: dict[str, Callable[[], Any]] = {
        "id": lambda: i,
        "small": lambda: choose([0, 1, -11, 31, 32767, -32768, i % 50]),
        "w": lambda: choose([i * 3, i, 0, -5, 2147483647, 7]),
        "n": lambda: choose([i, 0, -i, 2**40 + i, 2]),
        "f": lambda: choose([0.0, -0.0, 1.25, 2.5, 0.10000000149011612, 39.75, -7.5, math.inf]),
        "d": lambda: choose([0.0, -0.0, 0.5, -3.75, 1e10, math.nan, i / 4, i / 4]),
        "m": lambda: Decimal(choose([0, 125, -125, 9999, 25 * i, 5432101])).scaleb(-2),
        "big": lambda: Decimal(choose([0, 1, 10**24 + i, -(10**25) + 1, i * 10**5])).scaleb(-5),
        "v": lambda: choose(
            ["", "a", "A", "ab", "ä", "a%", "b_c", "O'Hara", "😀", "z" * 40, f"t{i}", "a b "]
        ),
        "vc": lambda: choose(["ab", "ab ", "x", "yy", "", f"q{i}"]),
        "b": lambda: choose([True, False]),
        "day": lambda: choose([dt.date(1969, 12, 31), *3 * [DAY + dt.timedelta(7 * (i % 11))]]),
        "ts": lambda: choose(
            [dt.datetime(1969, 12, 31, 23, 59, 59), HOUR + dt.timedelta(hours=5 * i, seconds=2e-6)]
        ).replace(tzinfo=dt.UTC),
        "nt": lambda: choose(
            [dt.datetime(1970, 1, 1), HOUR + dt.timedelta(19, 1e-6), HOUR + dt.timedelta(i / 8)]
        ),
        "bin": lambda: choose([b"", b"\x00\xff", b"\x81", b"abc"]),
        "l": lambda: [choose([1, 2, 3, None]) for _ in range(rng.randrange(4))],
        "k": lambda: [(key, choose([1, 2, 3])) for key in "abc"[: rng.randrange(4)]],
        "x": lambda: {"a": choose([None, 1, 6, 9]), "c": choose([None, "s", "t"])},
        "extra": lambda: i,
    }
    return makers[name]()


def some_rows(
    kind: Kind, ids: Iterable[int], names: Sequence[str], phase: int, rng: random.Random
) -> list[Row]:
    """Make up rows; keys of a table whose keys move are in other partitions in each phase."""
    made = []
    for i in ids:
        row = {name: some_value(name, i, rng) for name in names if name != "p"}
        place = f"p{(i + phase * kind.moves) % 3}"
        row["p"] = place if kind.keys or rng.random() > 0.1 else None
        if "day" in kind.keys:
            row["day"] = DAY + dt.timedelta(7 * (i % 4))
        if kind.engine == "aggregation" and row["w"] is not None:
            row["w"] = min(row["w"], 1_000_000)
        made.append(row)
    return made


def merged(kind: Kind, old: Row, new: Row) -> Row:
    """Return the row of a key of which there was one."""
    match kind.engine:
        case "first-row":
            return old
        case "sequence":
            is_older = old["n"] is not None and (new["n"] is None or new["n"] < old["n"])
            return old if is_older else new
        case "partial-update" | "aggregation":
            both = old | {name: value for name, value in new.items() if value is not None}
            if kind.engine == "aggregation":
                functions: dict[str, Callable[..., Any]] = {"w": _plus, "m": max, "day": min}
                for name, function in functions.items():
                    if old[name] is not None and new[name] is not None:
                        both[name] = function(old[name], new[name])
            return both
    return new


def _plus(left: int, right: int) -> int:
    return left + right


class Filled:
    """A table, and the rows that it has by its rules."""

    def __init__(self, catalog: Catalog, name: str, rng: random.Random) -> None:
        self.kind, self.name, self.rng = KINDS[name], f"db.{name}", rng
        self.rows: list[Row] = []
        self.names = [*COLUMNS]
        self.table: Table = catalog.create_table(
            self.name,
            {
                column: f"{kind} NOT NULL" if column in self.kind.keys and column != "id" else kind
                for column, kind in COLUMNS.items()
            },
            primary_keys=self.kind.keys,
            partition_keys=self.kind.partitions,
            options=self.kind.options,
        )
        self.write(range(200))
        self.write(range(150, 300))
        self.settle()
        self.table.tags.create("mid")
        self.old = self.as_arrow()
        self.delete("id % 10 = 3", lambda row: row["id"] % 10 == 3)
        self.table = catalog.alter_table(
            self.name, AddColumn("extra", "INT"), UpdateColumnType("w", "BIGINT")
        )
        self.names.append("extra")
        self.rows = [row | {"extra": None} for row in self.rows]
        self.write(range(250, 400), 1)
        if rng.randrange(2):
            self.table.compact(full=True)
        self.write(range(41), 2)
        self.write(range(380, 420), 2)
        self.delete("v = 'ab' AND id > 100", lambda row: row["v"] == "ab" and row["id"] > 100)
        self.settle()

    def write(self, ids: Iterable[int], phase: int = 0) -> None:
        """Commit rows."""
        new = some_rows(self.kind, ids, self.names, phase, self.rng)
        self.table.write(pa.Table.from_pylist(new, self.table.arrow_schema))
        if not self.kind.keys:
            self.rows = [*self.rows, *new]
            return
        found = {self.key(row): row for row in self.rows}
        for row in new:
            old = found.get(self.key(row))
            found[self.key(row)] = row if old is None else merged(self.kind, old, row)
        self.rows = [*found.values()]

    def key(self, row: Row) -> tuple[Any, ...]:
        """Return the primary key of a row."""
        return tuple(row[name] for name in self.kind.keys)

    def delete(self, where: str, is_gone: Callable[[Row], bool]) -> None:
        """Delete rows, where that can be done."""
        if self.kind.deletes:
            self.settle()
            self.table.delete(where)
            self.rows = [row for row in self.rows if not is_gone(row)]

    def settle(self) -> None:
        """Give rows that wait for buckets theirs."""
        if self.kind.options.get("bucket") == "-2":
            self.table.compact(full=True)

    def as_arrow(self) -> pa.Table:
        """Return the rows."""
        return pa.Table.from_pylist(self.rows, self.table.arrow_schema)


DIM = pa.table(
    {
        "p": ["p0", "p1", "p2"],
        "name": ["n0", "other", "n2"],
        "kept": [True, False, True],
        "day": [DAY + dt.timedelta(7), DAY, dt.date(1969, 12, 31)],
    }
)
PLACES = {
    "SELECT count(DISTINCT __paimon_file_path, __paimon_row_index), count(*) FROM {t}": (
        "SELECT count(*), count(*) FROM {t}"
    ),
    (
        "SELECT id, v FROM {t} WHERE __paimon_row_index >= 0 "
        "AND __paimon_file_path LIKE '%bucket-%' AND id > 200"
    ): "SELECT id, v FROM {t} WHERE id > 200",
    (
        "SELECT one.id FROM {t} one JOIN {t} two ON one.__paimon_row_index = "
        "two.__paimon_row_index AND one.__paimon_file_path = two.__paimon_file_path"
    ): "SELECT id FROM {t}",
    "SELECT id FROM {t} WHERE __paimon_bucket >= 0 AND b": "SELECT id FROM {t} WHERE b",
}
"""Queries about where rows lie, and what asks plain files the same."""


@pytest.fixture
def seed() -> int:
    """Return what the rows and the choice of queries are made of."""
    found = int(os.environ.get("PAIMONLAB_SEED", random.randrange(1 << 30)))
    print(f"PAIMONLAB_SEED={found}")  # noqa: T201
    return found


def test_queries_find_what_they_find_in_plain_files(
    catalog: Catalog, spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    names = rng.sample([*KINDS], min(len(KINDS), max(3, ASKED // 20)))
    made = {name: Filled(catalog, name, rng) for name in names}
    catalog.write_table("db.dim", DIM)
    plain(spark, tmp_path, "dim", DIM)
    for name, filled in made.items():
        plain(spark, tmp_path, name, filled.as_arrow())
        plain(spark, tmp_path, f"{name}_old", filled.old)
    texts = {text: text for _, text in statements("selects")} | PLACES
    pairs = [(text, name) for name in names for text in texts]
    asked = rng.sample(pairs, min(ASKED, len(pairs)))

    wrong = []
    for text, name in asked:
        if "__paimon" in text and not made[name].kind.has_places:
            continue
        other = names[names.index(name) - 1]
        version = {"old": f"{name} VERSION AS OF 'mid'"}
        ours = {"t": name, "u": other, "dim": "dim"} | version
        with settings(spark, rng):
            left = spark.sql(named(text, "paimon.db.", ours)).toArrow()
            right = spark.sql(named(texts[text], "plain_", ours | {"old": f"{name}_old"})).toArrow()
        if not are_alike(left, right, is_ordered=" ORDER BY " in text and " LIMIT " in text):
            more, fewer = (rows_of(one) - rows_of(two) for one, two in twice(left, right))
            some = f"wrong: {[*more][:3]}\nmissing: {[*fewer][:3]}"
            wrong.append(f"{name} and {other}: {text}\n{some}")
    assert not wrong, f"{len(wrong)} of {len(asked)}\n" + "\n".join(wrong)


def named(text: str, before: str, names: Mapping[str, str]) -> str:
    """Put names of tables into a query."""
    for key, name in names.items():
        text = text.replace(f"{{{key}}}", before + name)
    return text


def twice(left: pa.Table, right: pa.Table) -> list[tuple[pa.Table, pa.Table]]:
    """Return two results in both orders."""
    return [(left, right), (right, left)]


def rows_of(table: pa.Table) -> Counter[str]:
    """Count the rows of a result, as texts."""
    return Counter(map(str, zip(*(one.to_pylist() for one in table.columns), strict=True)))


def plain(spark: SparkSession, folder: Path, name: str, rows: pa.Table) -> None:
    """Write rows into a file of Parquet, and make a view of it."""
    pq.write_table(rows, folder / f"{name}.parquet")
    frame = spark.read.parquet(str(folder / f"{name}.parquet"))
    frame.createOrReplaceTempView(f"plain_{name}")


@contextmanager
def settings(spark: SparkSession, rng: random.Random) -> Iterator[None]:
    """Let Spark plan and run queries in one of its ways."""
    chosen = dict(NOT_BROADCAST) if rng.randrange(2) else {}
    if rng.randrange(5):
        chosen |= INTERPRETED
    for key, value in chosen.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in chosen:
            spark.conf.unset(key)

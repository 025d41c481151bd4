"""Statements that write without Spark leave the rows that they leave with Spark."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")

SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
COUNT = int(os.environ.get("PAIMONLAB_SQL_CHANGES", "2"))
TYPES = {
    "id": "INT NOT NULL",
    "p": "INT NOT NULL",
    "v": "STRING",
    "m": "DECIMAL(10, 2)",
    "n": "BIGINT",
    "d": "DATE",
    "b": "BOOLEAN",
    "x": "DOUBLE",
    "t": "TIMESTAMP(6)",
}
_KEYED = {"bucket": "1"}
_KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"partition_keys": ["p"]},
    {"options": {"deletion-vectors.enabled": "true", "bucket": "-1"}},
    {"primary_keys": ["id"], "options": _KEYED},
    {"primary_keys": ["id"], "options": {"bucket": "2", "write-only": "true"}},
    {"primary_keys": ["id", "p"], "partition_keys": ["p"], "options": _KEYED},
    {"primary_keys": ["id"], "options": _KEYED | {"deletion-vectors.enabled": "true"}},
)
_OF_TYPE = {
    "v": ("{s}.v", "upper({s}.v)", "concat({s}.v, '-', {s}.v)", "'new'", "'it''s'", "NULL",
          "coalesce({s}.v, 'none')", "CAST({s}.n AS STRING)", "substring({s}.v, 1, 1)",
          "CASE WHEN {s}.n > 3 THEN 'big' ELSE {s}.v END", "trim({s}.v)", "concat({s}.v, {s}.id)",
          "{s}.n", "{s}.d", "{s}.m", "7"),
    "m": ("{s}.m", "1.25", "CAST({s}.m + {s}.id AS DECIMAL(10, 2))", "-{s}.m", "NULL", "{s}.n",
          "0", "coalesce({s}.m, 0)", "round({s}.m, 1)", "abs({s}.m)",
          "CASE WHEN {s}.b THEN {s}.m END"),
    "n": ("{s}.n", "{s}.n + 1", "{s}.id", "{s}.n * {s}.id", "coalesce({s}.n, 7)", "NULL", "-3",
          "length({s}.v)", "{s}.n % 3", "{s}.n div 2", "if({s}.b, {s}.n, 0)", "year({s}.d)",
          "nullif({s}.n, 3)", "greatest({s}.n, {s}.id)"),
    "d": ("{s}.d", "DATE '2024-02-29'", "date_add({s}.d, {s}.id)", "last_day({s}.d)", "NULL",
          "{s}.d + INTERVAL 1 MONTH", "coalesce({s}.d, DATE '2000-01-01')", "to_date({s}.t)"),
    "b": ("{s}.b", "NOT {s}.b", "true", "{s}.n > 3", "{s}.v IS NULL", "NULL", "{s}.v LIKE 'a%'"),
    "x": ("{s}.x", "1.5e0", "{s}.x * 2e0", "{s}.n", "NULL", "{s}.id / 2", "0.25", "sqrt({s}.id)"),
    "t": ("{s}.t", "NULL", "{s}.t + INTERVAL 1 HOUR", "{s}.t - INTERVAL 2 DAYS"),
}  # fmt: skip
_CONDITIONS = (
    "{s}.id < 12", "{s}.v IS NULL", "{s}.v = 'b'", "{s}.n > 3 OR {s}.m < 4.5", "{s}.b",
    "NOT {s}.b", "{s}.d >= '2024-03-01'", "{s}.v LIKE '%a%'", "{s}.id IN (1, 3, 5, 7, 25)",
    "{s}.v NOT IN ('a', 'ä')", "{s}.x > 1 AND {s}.n IS NOT NULL", "{s}.id BETWEEN 3 AND 9",
    "{s}.id % 2 = 1", "length({s}.v) > 1", "{s}.v <=> NULL", "{s}.n + {s}.id > 8",
    "upper({s}.v) = 'B'", "{s}.p = 1", "{s}.p = 0 AND {s}.n < 5", "year({s}.d) = 2024",
    "coalesce({s}.b, false)", "{s}.t > TIMESTAMP_NTZ '2024-02-01 00:00:00'", "{s}.m = 2.50",
    "{s}.x IS NULL AND {s}.m IS NULL", "{s}.n IN (NULL, 3)", "{s}.id = '4'",
)  # fmt: skip


class Changes:
    """Makes statements; ``{t}`` is the table they change, ``{u}`` their source, ``{c}`` a new one.

    Parameters
    ----------
    rng
        Draws.
    fixed
        Columns that are not set: keys and partitions.
    """

    def __init__(self, rng: random.Random, fixed: Collection[str]) -> None:
        self.rng = rng
        self.is_partitioned = "p" in fixed
        self.free = [name for name in TYPES if name not in {"id", "p", *fixed}]

    def value(self, column: str, *sides: str) -> str:
        """Make an expression of a column's type."""
        side = self.rng.choice(sides)
        made = self.rng.choice(_OF_TYPE[column]).replace("{s}", side)
        if len(sides) > 1 and column == "n" and self.rng.random() < 0.4:
            made = self.rng.choice(("t.n + u.n", "coalesce(u.n, t.n)", "t.n - u.id"))
        return made

    def condition(self, *sides: str) -> str:
        """Make a condition."""
        parts = [self.rng.choice(_CONDITIONS) for _ in range(self.rng.randint(1, 2))]
        word = self.rng.choice((" AND ", " OR "))
        made = word.join(f"({part})".replace("{s}", self.rng.choice(sides)) for part in parts)
        made = f"({made})"
        if len(sides) > 1 and self.rng.random() < 0.4:
            made += self.rng.choice((" AND u.n > t.n", " AND NOT (u.v <=> t.v)", " AND t.m < u.m"))
        return made

    def assigned(self, *sides: str) -> str:
        """Make what follows SET."""
        columns = self.rng.sample(self.free, self.rng.randint(1, 3))
        return ", ".join(f"{column} = {self.value(column, *sides)}" for column in columns)

    def source(self) -> str:
        """Make the source of a MERGE."""
        columns = ", ".join(name for name in TYPES if name != "n")
        return self.rng.choice(
            (
                "{u} u",
                "{u} u",
                f"(SELECT {columns}, n + 1 AS n FROM {{u}} WHERE n IS NOT NULL OR b) u",
                (
                    f"(SELECT {columns}, n FROM (SELECT *, row_number() OVER (PARTITION BY id "
                    "ORDER BY n DESC) AS r FROM {u}) q WHERE r = 1) u"
                ),
            )
        )

    def merge(self, *, is_by_both: bool) -> str:
        """Make a MERGE."""
        both, source, table = ("t", "u"), ("u",), ("t",)
        on = "t.id = u.id AND t.p = u.p" if is_by_both else "t.id = u.id"
        text = f"MERGE INTO {{t}} t USING {self.source()} ON {on}"
        matched = self.rng.choice(("DELETE", f"UPDATE SET {self.assigned(*both)}"))
        if self.rng.random() < 0.5:
            first = self.rng.choice(("DELETE", f"UPDATE SET {self.assigned(*both)}"))
            text += f" WHEN MATCHED AND {self.condition(*both)} THEN {first}"
        if self.rng.random() < 0.8:
            text += f" WHEN MATCHED THEN {matched}"
        if self.rng.random() < 0.7:
            columns = self.rng.sample(self.free, 2)
            values = ", ".join(self.value(column, *source) for column in columns)
            named = f"(id, p, {', '.join(columns)}) VALUES (u.id, u.p, {values})"
            only = f" AND {self.condition(*source)}" if self.rng.random() < 0.5 else ""
            text += f" WHEN NOT MATCHED{only} THEN INSERT {self.rng.choice(('*', named))}"
        if self.rng.random() < 0.4 or "WHEN" not in text:
            what = self.rng.choice(("DELETE", f"UPDATE SET {self.assigned(*table)}"))
            text += f" WHEN NOT MATCHED BY SOURCE AND {self.condition(*table)} THEN {what}"
        return text

    def insert(self) -> str:
        """Make an INSERT."""
        columns = self.rng.sample(self.free, self.rng.randint(1, len(self.free)))
        chosen = ", ".join(self.value(column, "u") for column in columns)
        where = f" WHERE {self.condition('u')}" if self.rng.random() < 0.7 else ""
        first = self.rng.randint(50, 90)
        whole = ", ".join(self.value(name, "u") for name in list(TYPES)[2:])
        if self.is_partitioned and self.rng.random() < 0.5:
            static = self.rng.choice(("p = 1", "P = '0'", "p = 7"))
            return self.rng.choice(
                (
                    (
                        f"INSERT INTO {{t}} PARTITION ({static}) "
                        f"SELECT u.id + 40, {whole} FROM {{u}} u"
                    ),
                    f"INSERT INTO {{t}} PARTITION (p) SELECT u.id + 40, u.p, {whole} FROM {{u}} u",
                    (
                        f"INSERT INTO {{t}} PARTITION ({static}) (id, {', '.join(columns)}) "
                        f"SELECT u.id + 60, {chosen} FROM {{u}} u{where}"
                    ),
                    f"INSERT OVERWRITE {{t}} PARTITION ({static}) SELECT id, {whole} FROM {{u}} u",
                    (
                        f"INSERT OVERWRITE TABLE {{t}} PARTITION ({static}) "
                        f"SELECT id + 1, {', '.join([*TYPES][2:])} FROM {{t}} WHERE n > 3 AND p = 1"
                    ),
                )
            )
        return self.rng.choice(
            (
                (
                    f"INSERT INTO {{t}} (p, {', '.join(columns)}, id) "
                    f"SELECT u.p, {chosen}, u.id + 100 FROM {{u}} u{where}"
                ),
                f"INSERT INTO {{t}} SELECT * FROM {{u}} u{where}",
                f"INSERT INTO {{t}} SELECT u.id + 40, u.p, {whole} FROM {{u}} u{where}",
                f"INSERT INTO {{t}} (id, p, v) VALUES ({first}, 0, 'w'), ({first + 1}, 1, NULL)",
                (
                    f"INSERT INTO {{t}} VALUES ({first}, 1, 'x', 1.5, 7, DATE '2024-01-31', true, "
                    "2.5, NULL)"
                ),
                "INSERT INTO {t} (id, p, n) SELECT max(id) + 1, 0, count(*) FROM {t}",
            )
        )

    def statement(self, *, is_by_both: bool) -> str:
        """Make a statement of some kind."""
        kind = self.rng.choice(
            ("merge", "merge", "update", "update", "delete", "insert", "insert", "over", "create")
        )
        if kind == "merge":
            return self.merge(is_by_both=is_by_both)
        if kind == "update":
            where = f" WHERE {self.condition('t')}" if self.rng.random() < 0.9 else ""
            return f"UPDATE {{t}} SET {self.assigned('t')}{where}".replace("t.", "")
        if kind == "delete":
            return f"DELETE FROM {{t}} WHERE {self.condition('t')}".replace("t.", "")
        if kind == "insert":
            return self.insert()
        if kind == "over":
            whole = ", ".join(self.value(name, "u") for name in list(TYPES)[2:])
            return f"INSERT OVERWRITE {{t}} SELECT u.id, u.p, {whole} FROM {{u}} u WHERE id < 15"
        return self.rng.choice(
            (
                "CREATE TABLE {c} AS SELECT * FROM {t}",
                (
                    f"CREATE TABLE {{c}} AS SELECT id, {self.value('v', 't')} AS w, "
                    f"{self.value('m', 't')} AS y FROM {{t}} t WHERE {self.condition('t')}"
                ),
                (
                    "CREATE TABLE {c} AS SELECT p, count(*) AS n, sum(m) AS s, max(v) AS v, "
                    "avg(x) AS a FROM {t} GROUP BY p"
                ),
                (
                    "CREATE TABLE {c} AS SELECT t.id, u.v, t.n + u.n AS n FROM {t} t "
                    "LEFT JOIN {u} u ON t.id = u.id"
                ),
            )
        )


def _rows(rng: random.Random, ids: range) -> pa.Table:
    chosen = sorted(rng.sample(ids, 12))
    first = datetime(2024, 1, 1)
    types = (
        *(pa.int32(), pa.int32(), pa.string(), pa.decimal128(10, 2), pa.int64()),
        *(pa.date32(), pa.bool_(), pa.float64(), pa.timestamp("us")),
    )
    schema = pa.schema(list(zip(TYPES, types, strict=True)))
    rows = [
        {
            "id": number,
            "p": number % 2,
            "v": rng.choice([None, "a", "b", "ä", " ab "]),
            "m": rng.choice([None, Decimal(rng.randrange(900)) / 100]),
            "n": rng.choice([None, rng.randrange(9)]),
            "d": rng.choice([None, (first + timedelta(rng.randrange(120))).date()]),
            "b": rng.choice([None, True, False]),
            "x": rng.choice([None, rng.randrange(16) / 4]),
            "t": rng.choice([None, first + timedelta(hours=rng.randrange(2000))]),
        }
        for number in chosen
    ]
    return pa.Table.from_pylist(rows, schema)


def test_changes_one_after_another_leave_the_rows_that_spark_leaves(
    spark: SparkSession, catalog: Catalog
) -> None:
    """Make sequences of statements on two tables; with PAIMONLAB_SQL_CHANGES, as many."""
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201
    counts = Counter[str]()
    for number in range(COUNT):
        counts += follow(spark, catalog, SEED + number)

    assert COUNT < 20 or counts["refused"] <= counts["same"] / 2, "most can be done"


def follow(spark: SparkSession, catalog: Catalog, seed: int) -> Counter[str]:
    """Run one sequence with both; return what became of its statements."""
    rng = random.Random(seed)
    kind = rng.choice(_KINDS)
    made = Changes(rng, (*kind.get("primary_keys", ()), *kind.get("partition_keys", ())))
    before, source = _rows(rng, range(20)), _rows(rng, range(20))
    mine, theirs, other = (f"db.{what}{seed}" for what in ("mine", "theirs", "u"))
    for name in (mine, theirs):
        catalog.create_table(name, TYPES, **kind).write(before)
    catalog.create_table(other, TYPES).write(source)
    counts = Counter[str]()
    kept = _read(catalog, mine)
    for step in range(rng.randint(2, 5)):
        text = made.statement(is_by_both="p" in kind.get("primary_keys", ()))
        shown = f"seed {seed}, {kind}: {text}"
        made_by_us, made_by_spark = f"db.cm{seed}{step}", f"db.ct{seed}{step}"
        names = {"t": f"paimon.{theirs}", "u": f"paimon.{other}", "c": f"paimon.{made_by_spark}"}
        try:
            changes.run(text.format(t=mine, u=other, c=made_by_us), Sources(catalog))
        except UnsupportedError:
            counts["refused"] += 1
            assert _read(catalog, mine) == kept, shown
            continue
        except PaimonError:
            counts["failed"] += 1
            assert _read(catalog, mine) == kept, shown
            with pytest.raises(Exception):  # noqa: B017, PT011 - Spark raises of several kinds
                spark.sql(text.format(**names))
            continue
        spark.sql(text.format(**names))
        counts["same"] += 1
        kept = _read(catalog, mine)
        assert kept == _read(catalog, theirs), shown
        if "{c}" in text:
            left, right = catalog.table(made_by_us), catalog.table(made_by_spark)
            assert _read(catalog, made_by_us) == _read(catalog, made_by_spark), shown
            assert left.schema.fields == right.schema.fields, shown
    return counts


def _read(catalog: Catalog, name: str) -> list[Any]:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return _listed(table.scan().to_arrow())


def _listed(rows: pa.Table) -> list[Any]:
    return sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)


def test_rows_inserted_by_name_are_those_of_spark(spark: SparkSession, catalog: Catalog) -> None:
    for name in ("db.named", "db.named_by_spark"):
        catalog.create_table(name, TYPES, partition_keys=["p"])
    for text, is_done in (
        ("INSERT INTO {t} BY NAME SELECT 'a' AS v, 1 AS P, 7 AS id, 1.5D AS x", True),
        ("INSERT INTO {t} BY NAME SELECT 2 AS p, n, id + 1 AS ID FROM {t}", True),
        ("INSERT INTO {t} BY NAME SELECT 3 AS id, 'no such column' AS nope, 1 AS p", False),
        ("INSERT INTO {t} BY NAME SELECT 3 AS id, 1 AS p, 'a' AS v, 'b' AS V", False),
        ("INSERT INTO {t} BY NAME SELECT 1 AS p, 'no key' AS v", False),
        ("INSERT OVERWRITE {t} PARTITION (p = 2) BY NAME SELECT 'new' AS v, 9 AS id", True),
    ):
        outcomes = []
        for run in (
            lambda sql: changes.run(sql.format(t="db.named"), Sources(catalog)),
            lambda sql: spark.sql(sql.format(t="paimon.db.named_by_spark")),
        ):
            try:
                run(text)
                outcomes.append(True)
            except Exception:  # noqa: BLE001 - Spark raises of several kinds
                outcomes.append(False)
        assert outcomes == [is_done, is_done], text
        assert _read(catalog, "db.named") == _read(catalog, "db.named_by_spark"), text


def test_lists_are_those_of_spark(spark: SparkSession, catalog: Catalog) -> None:
    others = {
        "text": "VARCHAR(5)",
        "fixed": "ARRAY<CHAR(3)>",
        "nested": "ROW<`a b` INT NOT NULL, Cc MAP<VARCHAR(2), ARRAY<DOUBLE>>, d TIMESTAMP_LTZ(6)>",
        "bytes": "VARBINARY(7)",
    }
    catalog.create_table("db.shown", {**TYPES, **others}, partition_keys=["p"])
    for sql in ("DESCRIBE {}", "SHOW COLUMNS IN {}", "SHOW TABLES IN paimon.db"):
        text = sql.format("paimon.db.shown")
        mine = engine.run(engine.plan(text, Sources(catalog)))
        assert mine.to_pylist() == spark.sql(text).toArrow().to_pylist(), text


DEFINITIONS = (
    "CREATE DATABASE IF NOT EXISTS {d}",
    """CREATE TABLE {d}.t (id BIGINT NOT NULL COMMENT 'k', `a b` DECIMAL(10, 2),
    s STRUCT<a: INT COMMENT 'inner', `b c`: ARRAY<STRING>, n: INT NOT NULL>, m MAP<STRING, INT>,
    ts TIMESTAMP, n TIMESTAMP_NTZ, c CHAR(3), v VARCHAR(5), b BINARY, f FLOAT, dec DECIMAL,
    dt STRING, PRIMARY KEY (dt, id)) USING paimon PARTITIONED BY (dt) COMMENT 'all of it'
    TBLPROPERTIES ('bucket' = '4', 'write-only' = true)""",
    "CREATE TABLE IF NOT EXISTS {d}.t (other INT)",
    "CREATE TABLE {d}.hive (id INT, x DOUBLE) PARTITIONED BY (day DATE, hour TINYINT)",
    "CREATE TABLE {d}.plain (id INT, b BOOLEAN) TBLPROPERTIES ('comment' = 'said')",
    """CREATE TABLE {d}.filled USING paimon PARTITIONED BY (p) COMMENT 'rows too'
    TBLPROPERTIES ('primary-key' = 'p,id', 'bucket' = '2')
    AS SELECT CAST(1 AS BIGINT) AS id, 'a' AS v, 2 AS p, 1.50 AS m""",
    "CREATE TABLE {d}.bare TBLPROPERTIES ('file.format' = 'orc') AS SELECT 'a' AS v",
    "ALTER TABLE {d}.t ADD COLUMN x INT COMMENT 'new' AFTER id",
    "ALTER TABLE {d}.t ADD COLUMNS (y STRUCT<q: DATE>, z STRING FIRST)",
    "ALTER TABLE {d}.t RENAME COLUMN X TO xx",
    "ALTER TABLE {d}.t DROP COLUMN v",
    "ALTER TABLE {d}.t DROP COLUMNS (c, b)",
    "ALTER TABLE {d}.t ALTER COLUMN xx TYPE BIGINT",
    "ALTER TABLE {d}.t ALTER COLUMN XX COMMENT 'newer'",
    "ALTER TABLE {d}.t ALTER COLUMN z AFTER n",
    "ALTER TABLE {d}.t ALTER COLUMN f FIRST",
    "ALTER TABLE {d}.t SET TBLPROPERTIES ('num-sorted-run.compaction-trigger' = '7')",
    "ALTER TABLE {d}.t UNSET TBLPROPERTIES ('write-only')",
    "COMMENT ON TABLE {d}.t IS 'said later'",
    "ALTER TABLE {d}.plain RENAME TO {d}.renamed",
    "DROP TABLE {d}.hive",
    "DROP TABLE IF EXISTS {d}.hive",
    "TRUNCATE TABLE {d}.t",
)


def test_definitions_are_those_of_spark(spark: SparkSession, catalog: Catalog) -> None:
    for text in DEFINITIONS:
        changes.run(text.format(d="mine"), Sources(catalog))
        spark.sql(text.format(d="paimon.theirs"))
        assert _defined(catalog, "mine") == _defined(catalog, "theirs"), text

    assert catalog.tables("mine") == ["bare", "filled", "renamed", "t"]
    assert [
        catalog.table(f"{database}.filled").scan().to_arrow().to_pylist()
        for database in ("mine", "theirs")
    ] == [[{"id": 1, "v": "a", "p": 2, "m": Decimal("1.50")}]] * 2
    for text in ("DROP TABLE {d}.renamed", "DROP DATABASE {d} CASCADE"):
        changes.run(text.format(d="mine"), Sources(catalog))
        spark.sql(text.format(d="paimon.theirs"))
    assert not {"mine", "theirs"} & {*catalog.databases()}


def _defined(catalog: Catalog, database: str) -> list[Any]:
    opened = [(name, catalog.table(f"{database}.{name}")) for name in catalog.tables(database)]
    return [
        (name, one.schema.fields, one.primary_keys, one.partition_keys, one.options, one.comment)
        for name, one in opened
    ]

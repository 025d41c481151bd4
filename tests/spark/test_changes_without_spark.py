"""Statements that write without Spark leave the rows that they leave with Spark."""

from __future__ import annotations

import os
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.refusal import NotTranslatedError, StatementFailedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table

SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
COUNT = int(os.environ.get("PAIMONLAB_SQL_CHANGES", "2"))
TYPES = {"id": "INT NOT NULL", "v": "STRING", "m": "DECIMAL(10, 2)", "n": "BIGINT"}


class Changes:
    """Makes statements; ``{t}`` is the table they change, ``{u}`` their source."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def value(self, column: str, *sides: str) -> str:
        """Make an expression of a column's type."""
        side = self.rng.choice(sides)
        by_type = {
            "v": ("{s}.v", "upper({s}.v)", "concat({s}.v, '-', {s}.v)", "'new'", "NULL"),
            "m": ("{s}.m", "1.25", "CAST({s}.m + {s}.id AS DECIMAL(10, 2))", "-{s}.m", "NULL"),
            "n": ("{s}.n", "{s}.n + 1", "{s}.id", "{s}.n * {s}.id", "coalesce({s}.n, 7)", "NULL"),
        }
        made = self.rng.choice(by_type[column]).replace("{s}", side)
        if len(sides) > 1 and column == "n" and self.rng.random() < 0.4:
            made = "t.n + u.n"
        return made

    def condition(self, *sides: str) -> str:
        """Make a condition."""
        parts = ("{s}.id < 12", "{s}.v IS NULL", "{s}.v = 'b'", "{s}.n > 3 OR {s}.m < 4.5")
        made = f"({self.rng.choice(parts)})".replace("{s}", self.rng.choice(sides))
        if len(sides) > 1 and self.rng.random() < 0.4:
            made += " AND u.n > t.n"
        return made

    def assigned(self, *sides: str) -> str:
        """Make what follows SET."""
        columns = self.rng.sample(["v", "m", "n"], self.rng.randint(1, 3))
        return ", ".join(f"{column} = {self.value(column, *sides)}" for column in columns)

    def merge(self) -> str:
        """Make a MERGE."""
        text = "MERGE INTO {t} t USING {u} u ON t.id = u.id"
        both, source, table = ("t", "u"), ("u",), ("t",)
        matched = self.rng.choice(("DELETE", "UPDATE SET *", f"UPDATE SET {self.assigned(*both)}"))
        if self.rng.random() < 0.5:
            first = self.rng.choice(("DELETE", f"UPDATE SET {self.assigned(*both)}"))
            text += f" WHEN MATCHED AND {self.condition(*both)} THEN {first}"
        if self.rng.random() < 0.8:
            text += f" WHEN MATCHED THEN {matched}"
        if self.rng.random() < 0.7:
            values = ", ".join(self.value(column, *source) for column in ("m", "v"))
            what = self.rng.choice(("*", f"(id, m, v) VALUES (u.id, {values})"))
            only = f" AND {self.condition(*source)}" if self.rng.random() < 0.5 else ""
            text += f" WHEN NOT MATCHED{only} THEN INSERT {what}"
        if self.rng.random() < 0.5 or "WHEN" not in text:
            what = self.rng.choice(("DELETE", f"UPDATE SET {self.assigned(*table)}"))
            text += f" WHEN NOT MATCHED BY SOURCE AND {self.condition(*table)} THEN {what}"
        return text

    def statement(self) -> str:
        """Make a statement of some kind."""
        kind = self.rng.choice(("merge", "merge", "merge", "update", "delete", "insert", "over"))
        if kind == "merge":
            return self.merge()
        if kind == "update":
            return f"UPDATE {{t}} t SET {self.assigned('t')} WHERE t.id < 9 OR t.v = 'b'".replace(
                "{t} t", "{t}"
            ).replace("t.", "")
        if kind == "delete":
            return "DELETE FROM {t} WHERE id BETWEEN 3 AND 9 AND v IN ('a', 'b')"
        chosen = f"SELECT {self.value('m', 'u')}, u.id + 100 FROM {{u}} u WHERE id > 8"
        if kind == "insert":
            return f"INSERT INTO {{t}} (m, id) {chosen}"
        return "INSERT OVERWRITE {t} SELECT id, upper(v), m, n + 1 FROM {u} WHERE id < 9"


def _rows(rng: random.Random, ids: range) -> pa.Table:
    chosen = sorted(rng.sample(ids, 12))
    schema = pa.schema(
        [("id", "i4"), ("v", pa.string()), ("m", pa.decimal128(10, 2)), ("n", pa.int64())]
    )
    rows = [
        {
            "id": number,
            "v": rng.choice([None, "a", "b", "ä"]),
            "m": rng.choice([None, Decimal(rng.randrange(900)) / 100]),
            "n": rng.choice([None, rng.randrange(9)]),
        }
        for number in chosen
    ]
    return pa.Table.from_pylist(rows, schema)


@pytest.mark.parametrize("keys", [["id"], []], ids=["keyed", "append"])
def test_rows_are_those_that_spark_leaves(
    spark: SparkSession, catalog: Catalog, keys: list[str]
) -> None:
    print(f"PAIMONLAB_SEED={SEED}")  # noqa: T201
    rng = random.Random(SEED + len(keys))
    made = Changes(rng)
    options = {"bucket": "1"} if keys else {}
    refused = 0
    for number in range(COUNT):
        before, source = _rows(rng, range(20)), _rows(rng, range(20))
        names = [f"db.{what}{number}{len(keys)}" for what in ("mine", "theirs", "u")]
        for name, rows in zip(names, (before, before, source), strict=True):
            catalog.create_table(name, TYPES, primary_keys=keys, options=options).write(rows)
        mine, theirs, other = names
        text = made.statement()
        try:
            changes.run(text.format(t=mine, u=other), Sources(catalog))
        except (NotTranslatedError, StatementFailedError):
            refused += 1
            assert _read(catalog, mine) == _listed(before), text
            continue
        spark.sql(text.format(t=f"paimon.{theirs}", u=f"paimon.{other}"))
        assert _read(catalog, mine) == _read(catalog, theirs), text

    assert COUNT < 20 or refused <= COUNT / 3, "most of what is made can be done"


def _read(catalog: Catalog, name: str) -> list[Any]:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return _listed(table.scan().to_arrow())


def _listed(rows: pa.Table) -> list[Any]:
    return sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)


def test_lists_are_those_of_spark(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.shown", TYPES | {"p": "INT"}, partition_keys=["p"])
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

    assert catalog.tables("mine") == ["renamed", "t"]
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

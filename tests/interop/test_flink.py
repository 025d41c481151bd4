"""Flink with Paimon's connector and paimonlab on the tables of one catalog, live.

It takes a JVM with Flink, so it is part of ``make interop`` alone.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from tests.catalog.conftest import hive as hive  # noqa: PLC0414 - fixtures
from tests.catalog.conftest import hive_uri as hive_uri  # noqa: PLC0414
from tests.catalog.conftest import postgres_uri as postgres_uri  # noqa: PLC0414
from tests.catalog.hive.metastores import client_jar
from tests.catalog.jdbc.servers import login_of
from tests.interop.conftest import without_java
from tests.interop.flink.sql import Flink, FlinkError
from tests.interop.java_build import JavaMissingError, JavaTools

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        os.environ.get("PAIMONLAB_INTEROP") != "require", reason="part of make interop"
    ),
]
QUICK = "/*+ OPTIONS('continuous.discovery-interval' = '200ms') */"
COLUMNS = {
    "flag": "BOOLEAN",
    "tiny": "TINYINT",
    "big": "BIGINT",
    "real": "DOUBLE",
    "money": "DECIMAL(12, 2)",
    "day": "DATE",
    "at": "TIMESTAMP(6)",
    "raw": "BYTES",
    "tags": "ARRAY<STRING>",
    "sizes": "MAP<STRING, INT>",
    "spot": "ROW<x INT, y STRING>",
}
TEXTS = ", ".join(f"CAST(`{name}` AS STRING)" for name in COLUMNS)


@pytest.fixture(scope="module")
def flink(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flink]:
    try:
        jars = [client_jar(java_tools)]
        started = Flink(java_tools, tmp_path_factory.mktemp("flink"), more_jars=jars)
    except JavaMissingError as missing:
        without_java(missing)
    with started:
        yield started


@pytest.fixture(params=["filesystem", "jdbc", "rest", "hive"])
def options(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the options of a catalog, which both open."""
    warehouse = str(tmp_path / "warehouse")
    match request.param:
        case "jdbc":
            # Not SQLite: Java leaves results open, and nobody else can change the file then.
            pytest.importorskip("sqlalchemy")
            uri = request.getfixturevalue("postgres_uri")
            key = {"catalog-key": tmp_path.name}
            yield {"metastore": "jdbc", "uri": uri, "warehouse": warehouse} | login_of(uri) | key
        case "hive":
            uri = request.getfixturevalue("hive_uri")
            yield {"metastore": "hive", "uri": uri, "warehouse": warehouse}
        case "rest":
            users = [User(name="flink", token="a-token")]
            with Server(pm.connect(warehouse), users, ServeOptions()) as server:
                yield server.options | {"token": "a-token"}
        case _:
            yield {"warehouse": warehouse}


class Both:
    """Flink and paimonlab on one catalog, in which both have a database ``db``."""

    _count = 0

    def __init__(self, flink: Flink, options: dict[str, str]) -> None:
        self.flink = flink
        self.ours = pm.connect(options)
        Both._count += 1
        name = f"c{Both._count}"
        [statement] = self.ours.statements_for(
            "flink", name=name, properties={"cache-enabled": "false"}, show_secrets=True
        )
        self.sql = flink.sql
        self.sql(statement, f"USE CATALOG {name}")
        self.sql("CREATE DATABASE db", "USE db")

    def our_rows(self, name: str = "t") -> list[list[Any]]:
        """Return the rows that we read, sorted by their first column."""
        rows = self.ours.table(f"db.{name}").scan().to_arrow().to_pylist()
        return sorted([*map(list, (row.values() for row in rows))], key=repr)

    def their_rows(self, name: str = "t") -> list[list[Any]]:
        """Return the rows that Flink reads."""
        return sorted(self.sql(f"SELECT * FROM {name}"), key=repr)


@pytest.fixture
def both(flink: Flink, options: dict[str, str]) -> Both:
    return Both(flink, options)


def test_a_table_of_flink(both: Both) -> None:
    # Its default: buckets are dynamic, and both must agree on where keys are.
    both.sql(
        "CREATE TABLE t (k INT, p STRING, v STRING, PRIMARY KEY (k, p) NOT ENFORCED) "
        "PARTITIONED BY (p)",
        "INSERT INTO t VALUES (1, 'a', 'one'), (2, 'a', 'two'), (1, 'b', 'three')",
    )
    assert both.our_rows() == [[1, "a", "one"], [1, "b", "three"], [2, "a", "two"]]

    ours = both.ours.table("db.t")
    ours.write([{"k": 2, "p": "a", "v": "new"}, {"k": 3, "p": "c", "v": "four"}])
    ours.delete("k = 1 and p = 'b'")
    expected = [[1, "a", "one"], [2, "a", "new"], [3, "c", "four"]]
    assert both.their_rows() == both.our_rows() == expected

    both.sql("UPDATE t SET v = 'theirs' WHERE k = 3", "DELETE FROM t WHERE k = 1")
    both.sql("ALTER TABLE t ADD n INT", "INSERT INTO t VALUES (2, 'a', 'newer', 7)")
    expected = [[2, "a", "newer", 7], [3, "c", "theirs", None]]
    assert both.their_rows() == both.our_rows() == expected

    both.ours.table("db.t").compact(full=True)
    assert both.their_rows() == both.our_rows() == expected
    both.sql("INSERT OVERWRITE t PARTITION (p = 'a') SELECT 9, 'over', 9")
    assert both.our_rows() == [[3, "c", "theirs", None], [9, "a", "over", 9]]


def test_a_table_of_ours(both: Both) -> None:
    ours = both.ours.create_table(
        "db.t",
        {"k": "INT NOT NULL", **COLUMNS},
        primary_keys=["k"],
        options={"bucket": "2", "deletion-vectors.enabled": "true"},
        comment="it's ours",
    )
    both.sql(
        "INSERT INTO t VALUES (1, TRUE, CAST(-7 AS TINYINT), 9007199254740993, 0.1, 12.34, "
        "DATE '2024-02-29', TIMESTAMP '2024-02-29 12:34:56.123456', x'00ff', ARRAY['a', 'ü'], "
        "MAP['x', 1], ROW(5, 'y')), (2, CAST(NULL AS BOOLEAN), CAST(NULL AS TINYINT), "
        "CAST(NULL AS BIGINT), CAST(NULL AS DOUBLE), CAST(NULL AS DECIMAL(12, 2)), "
        "CAST(NULL AS DATE), CAST(NULL AS TIMESTAMP(6)), CAST(NULL AS BYTES), "
        "CAST(NULL AS ARRAY<STRING>), CAST(NULL AS MAP<STRING, INT>), "
        "CAST(NULL AS ROW<x INT, y STRING>))"
    )
    first, second = ours.scan().to_arrow().sort_by("k").to_pylist()
    assert [value for value in second.values() if value is not None] == [2]
    ours.write([first | {"k": 3}, second | {"k": 4}])
    texts = both.sql(f"SELECT {TEXTS} FROM t ORDER BY k")
    assert texts[0] == texts[2]
    assert texts[1] == texts[3]
    assert texts[0][:6] == ["TRUE", "-7", "9007199254740993", "0.1", "12.34", "2024-02-29"]
    assert texts[0][6] == "2024-02-29 12:34:56.123456"
    assert first["spot"] == {"x": 5, "y": "y"}
    assert first["sizes"] == [("x", 1)]

    ours.tags.create("v1")
    ours.delete("k = 3")
    both.sql("DELETE FROM t WHERE k = 4")
    assert [row["k"] for row in ours.refresh().scan().to_arrow().to_pylist()] == [1, 2]
    at = "/*+ OPTIONS('scan.tag-name' = 'v1') */"
    assert both.sql(f"SELECT COUNT(*) FROM t {at}") == [[4]]
    assert both.sql("SELECT tag_name FROM `t$tags`") == [["v1"]]


def test_names_and_changes_of_tables(both: Both) -> None:
    both.sql("CREATE TABLE first_name (k INT)", "ALTER TABLE first_name RENAME TO two")
    both.ours.create_table("db.three", {"k": "INT"})
    both.ours.rename_table("db.three", "db.four")
    assert sorted(both.ours.tables("db")) == ["four", "two"]
    assert sorted(both.sql("SHOW TABLES")) == [["four"], ["two"]]
    both.sql("DROP TABLE four")
    both.ours.drop_table("db.two")
    assert both.sql("SHOW TABLES") == []
    with pytest.raises(FlinkError, match="two"):
        both.sql("SELECT * FROM two")


def test_changes_are_followed(flink: Flink, tmp_path: Path) -> None:
    both = Both(flink, {"warehouse": str(tmp_path)})
    ours = both.ours.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", "changelog-producer": "lookup"},
    )
    ours.write([{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    ours.write([{"k": 1, "v": "c"}])
    ours.delete("k = 2")
    whole = f"SELECT * FROM t {QUICK}".replace("OPTIONS(", "OPTIONS('scan.snapshot-id' = '1', ")
    assert flink.stream(whole, 5) == [
        ["+I", 1, "a"],
        ["+I", 2, "b"],
        ["-U", 1, "a"],
        ["+U", 1, "c"],
        ["-D", 2, "b"],
    ]
    both.sql("INSERT INTO t VALUES (1, 'flink'), (3, 'new')")
    last = ours.refresh().snapshot
    assert last is not None
    found = ours.changes(last.id - 2, last.id).to_arrow().to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [
        ("+I", 3, "new"),
        ("+U", 1, "flink"),
        ("-U", 1, "c"),
    ]


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update", "aggregation"])
def test_random_rows_of_both(flink: Flink, tmp_path: Path, engine: str, seed: int) -> None:
    both = Both(flink, {"warehouse": str(tmp_path)})
    draw = random.Random(f"{seed} {engine}")
    options = {"bucket": "2", "merge-engine": engine, "num-sorted-run.compaction-trigger": "3"}
    if engine == "aggregation":
        options |= {"fields.n.aggregate-function": "sum", "fields.v.aggregate-function": "max"}
    ours = both.ours.create_table(
        "db.t",
        {"k": "INT NOT NULL", "n": "BIGINT", "v": "STRING"},
        primary_keys=["k"],
        options=options,
    )
    model: dict[int, list[Any]] = {}
    for _ in range(8):
        rows: list[list[Any]] = [
            [draw.randrange(12), draw.choice([None, 1, 2]), draw.choice([None, "a", "b"])]
            for _ in range(6)
        ]
        if draw.random() < 0.5:
            ours.write([dict(zip("knv", row, strict=True)) for row in rows])
        else:
            both.sql(f"INSERT INTO t VALUES {', '.join(map(_literal, rows))}")
        for key, number, text in rows:
            model[key] = _merged(engine, model.get(key), number, text)
    expected = [[key, *model[key]] for key in sorted(model)]
    rows_of_both = (both.our_rows(), both.their_rows())
    for found in rows_of_both:
        assert sorted(found, key=lambda row: row[0]) == expected


def _literal(row: list[Any]) -> str:
    key, number, text = row
    said = "CAST(NULL AS STRING)" if text is None else f"'{text}'"
    return f"({key}, {'CAST(NULL AS BIGINT)' if number is None else number}, {said})"


def _merged(engine: str, old: list[Any] | None, number: Any, text: Any) -> list[Any]:
    if old is None or engine == "deduplicate":
        return [number, text]
    if engine == "partial-update":
        return [old[0] if number is None else number, old[1] if text is None else text]
    numbers = [one for one in (old[0], number) if one is not None]
    texts = [one for one in (old[1], text) if one is not None]
    return [sum(numbers) if numbers else None, max(texts, default=None)]

"""SQL without Spark: answered in full, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.notebook import commands
from paimonlab.notebook.query_error import QueryError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a table of two snapshots; the tests only read it."""
    folder = tmp_path_factory.mktemp("warehouse")
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING", "limit": "INT"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    table.write(
        pa.table({"id": [1, 2, 3], "v": ["a", "b", None], "limit": pa.array([1, 2, 3], "i4")})
    )
    table.write(pa.table({"id": [2, 4], "v": ["c", "LIMIT"], "limit": pa.array([2, 4], "i4")}))
    table.tags.create("first", snapshot=1)
    return folder


@pytest.fixture
def native(shell: InteractiveShell, folder: Path) -> InteractiveShell:
    """Return a shell connected to it without Spark."""
    commands.connect(folder, engine="native")
    return shell


def rows(sql: str, **options: Any) -> list[tuple[Any, ...]]:
    found = paimonlab.sql(sql, **options).to_arrow()
    return sorted(map(tuple, (row.values() for row in found.to_pylist())), key=repr)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM db.t", [(1,), (2,), (3,), (4,)]),
        ("select `id`, v from `db`.t where v = 'LIMIT' limit 7;", [(4, "LIMIT")]),
        ("SELECT v FROM paimon.db.t WHERE id = 2", [("c",)]),
        ("SELECT v FROM db.t WHERE v IS NULL OR id < 2", [("a",), (None,)]),
        ("SELECT id FROM db.t WHERE `limit` = 3", [(3,)]),
        ("SELECT v FROM db.t VERSION AS OF 1 WHERE id = 2", [("b",)]),
        ("SELECT v FROM db.t VERSION AS OF 'first' WHERE id = 2", [("b",)]),
        ("SELECT count(*) FROM db.t", [(4,)]),
        ("SELECT count(*) FROM db.t WHERE id > 2 LIMIT 5", [(2,)]),
        ("SELECT snapshot_id FROM db.t$snapshots", [(1,), (2,)]),
        ("-- a comment\nSELECT /* two */ id FROM db.t WHERE v = 'a' -- end", [(1,)]),
    ],
)
def test_a_query_of_one_table_is_answered(sql: str, expected: list[tuple[Any, ...]]) -> None:
    assert rows(sql) == expected


@pytest.mark.usefixtures("native")
def test_an_older_state_can_be_asked_for() -> None:
    query = "SELECT v FROM db.t WHERE id = 2"

    assert rows(query, as_of=1) == rows(query, as_of="first") == [("b",)]
    assert rows(query, as_of="2100-01-01") == [("c",)]


@pytest.mark.usefixtures("native")
def test_it_is_known_whether_there_are_more_rows() -> None:
    cut = paimonlab.sql("SELECT * FROM db.t", limit=3)
    whole = paimonlab.sql("SELECT * FROM db.t LIMIT 3", limit=3)

    assert cut.stats.has_more_rows
    assert cut.stats.row_count == 3
    assert not whole.stats.has_more_rows
    assert "bigint" in repr(whole)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT id + 1 FROM db.t", "id"),
        ("SELECT id AS x FROM db.t", "id"),
        ("SELECT id, id FROM db.t", "a column asked for twice"),
        ("SELECT DISTINCT v FROM db.t", "DISTINCT"),
        ("SELECT 1", "1"),
        ("SELECT * FROM db.t x", "x"),
        ("SELECT * FROM db.t, db.t", "','"),
        ("SELECT * FROM db.t JOIN db.t USING (id)", "JOIN"),
        ("SELECT * FROM db.t ORDER BY id", "ORDER"),
        ("SELECT * FROM db.t WHERE id = 1 GROUP BY id", "GROUP"),
        ("SELECT * FROM db.t WHERE id = 1 UNION SELECT 1", "UNION"),
        ("SELECT * FROM db.t WHERE id = :day", "a parameter"),
        ("SELECT * FROM db.t LIMIT 1 OFFSET 1", "OFFSET"),
        ("SELECT * FROM db.t LIMIT 1 + 1", "'+'"),
        ("SELECT * FROM t", "a table without its database"),
        ("SELECT * FROM db.t TIMESTAMP AS OF '2026-01-01'", "TIMESTAMP"),
        ("SELECT count(*), id FROM db.t", "count"),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "WITH"),
        ("INSERT INTO db.t VALUES (1)", "INSERT"),
        ("DROP TABLE db.t", "DROP"),
    ],
)
def test_what_a_scan_does_not_answer_is_refused_by_name(sql: str, named: str) -> None:
    with pytest.raises(QueryError) as caught:
        paimonlab.sql(sql)

    refusal = caught.value.lines()
    assert refusal[0] == f"{named} without Spark is not supported: connect with --engine spark"
    assert len(refusal) <= 8


@pytest.mark.usefixtures("native")
def test_a_system_table_does_not_travel() -> None:
    with pytest.raises(QueryError, match="A system table is read as it is now"):
        paimonlab.sql("SELECT * FROM db.t$files", as_of=1)


@pytest.mark.usefixtures("native")
def test_what_would_be_read_is_known_without_reading(folder: Path) -> None:
    table: Any = paimonlab.connect(folder).table("db.t")
    files = table.scan().plan().splits

    (read,) = commands.planned("SELECT v FROM db.t WHERE id > 2").to_arrow().to_pylist()

    assert read["snapshot_id"] == 2
    assert read["all_file_count"] == sum(len(split.files) for split in files)
    assert read["all_size_bytes"] == sum(split.size_bytes for split in files)
    assert read["file_count"] <= read["all_file_count"]
    assert read["level_0_count"] == 2
    assert read["merged_split_count"] == read["split_count"] == 1
    assert "id" in read["filters"]

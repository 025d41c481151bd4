"""Format tables in SQL without Spark, on the command line and in the catalog tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from paimonlab.cli import opening
from paimonlab.cli.main import main
from paimonlab.errors import PaimonError
from paimonlab.server import tree
from paimonlab.server.warehouses import Opened
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.tables import Sources
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog

ROWS = [
    {"id": number, "note": None if number % 3 == 0 else f"a,{number}", "day": "ab"[number % 2]}
    for number in range(10)
]


@pytest.fixture
def catalog(tmp_path: Path) -> KeepingCatalog:
    """A format table beside a table."""
    catalog = KeepingCatalog(str(tmp_path), LocalFileIO())
    catalog.create_database("db")
    columns = {"id": "BIGINT", "note": "STRING", "day": "STRING"}
    lines = catalog.create_format_table(
        "db.lines", columns, file_format="csv", partition_keys=["day"]
    )
    lines.write(ROWS)
    table = catalog.create_table("db.t", {"id": "BIGINT", "name": "STRING"})
    table.write([{"id": 4, "name": "four"}, {"id": 5, "name": "five"}])
    return catalog


def answer(catalog: KeepingCatalog, sql: str) -> list[tuple[object, ...]]:
    rows = engine.run(engine.plan(sql, Sources(catalog)))
    return [tuple(row.values()) for row in rows.to_pylist()]


def test_queries_read_them_beside_tables(catalog: KeepingCatalog) -> None:
    assert answer(catalog, "SELECT count(*) AS n FROM db.lines") == [(10,)]
    assert answer(
        catalog, "SELECT id, note FROM db.lines WHERE day = 'b' AND id > 4 ORDER BY id"
    ) == [(n, ROWS[n]["note"]) for n in (5, 7, 9)]
    assert answer(
        catalog,
        "SELECT day, count(note) AS n, sum(id) AS s FROM db.lines GROUP BY day ORDER BY day",
    ) == [("a", 3, 20), ("b", 3, 25)]
    assert answer(
        catalog,
        "SELECT t.name, l.note FROM db.t t JOIN db.lines l ON t.id = l.id ORDER BY 1",
    ) == [("five", "a,5"), ("four", "a,4")]


def test_they_are_listed_and_described(catalog: KeepingCatalog) -> None:
    assert answer(catalog, "SHOW TABLES IN db") == [("db", "lines", False), ("db", "t", False)]
    assert answer(catalog, "DESCRIBE db.lines")[:2] == [
        ("id", "bigint", None),
        ("note", "string", None),
    ]


def test_what_takes_snapshots_says_that_there_are_none(catalog: KeepingCatalog) -> None:
    with pytest.raises(PaimonError, match="files without snapshots"):
        answer(catalog, "SELECT * FROM db.lines VERSION AS OF 1")
    with pytest.raises(PaimonError, match="is a format table"):
        changes.run("INSERT INTO db.lines VALUES (1, 'a', 'b')", Sources(catalog))
    with pytest.raises(PaimonError, match="no system tables"):
        answer(catalog, "SELECT * FROM db.lines$snapshots")


def test_the_command_line_lists_and_reads_them(
    catalog: KeepingCatalog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(opening, "connect", lambda *_, **__: catalog)

    def said(*given: str) -> list[str]:
        found = CliRunner().invoke(main, given)
        assert found.exit_code == 0, found.output
        return found.output.splitlines()

    listed = json.loads("".join(said("tables", str(tmp_path), "db", "--json")))
    assert [(one["table"], one["partition_by"], one["rows"]) for one in listed] == [
        ("db.t", "", 2),
        ("db.lines", "day", None),
    ]
    given = ("scan", str(tmp_path), "db.lines")
    found = json.loads("".join(said(*given, "--where", "id = 5", "--json")))
    assert found == {"id": 5, "note": "a,5", "day": "b"}
    assert said(*given, "--count", "--where", "day = 'a'") == ["5"]
    refused = CliRunner().invoke(main, [*given, "--snapshot", "1"])
    assert "format table, files without snapshots" in refused.output


def test_the_tree_has_their_columns(
    catalog: KeepingCatalog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tree, "opened", lambda *_: Opened(catalog, None))

    below = tree.children(tmp_path, ["k", "db"]).entries
    assert [(one.name, one.detail) for one in below] == [("lines", "format table"), ("t", "")]
    columns = tree.children(tmp_path, ["k", "db", "lines"]).entries
    assert [one.name for one in columns] == ["id", "note", "day"]
    assert "partition" in columns[2].detail
